/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay-unpack: see protocol.h. All names and sizes are looked at before the first file is made. */
#include "unpack/confine.h"
#include "unpack/names.h"
#include "unpack/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

enum { PIECE_BYTES = 64 * 1024, FOLDER = HUB_UNPACK_FOLDER };

#define UNIX_MODE_SHIFT 16

_Noreturn static void fail(const char *what, const char *why)
{
    char shown[128];
    size_t len = 0;
    for (; what[len] != '\0' && len < sizeof shown - 1; len++) {
        shown[len] = (unsigned char)what[len] < 0x20 || what[len] == 0x7f ? '?' : what[len];
    }
    shown[len] = '\0';
    (void)fprintf(stderr, "\"%s\" %s\n", shown, why);
    _exit(1);
}

/* The kind and rights that a Unix archiver wrote; 0: none. */
static unsigned read_mode(zip_t *archive, zip_uint64_t at)
{
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip_file_get_external_attributes(archive, at, 0, &system, &attributes) != 0 ||
        system != ZIP_OPSYS_UNIX) {
        return 0;
    }
    return attributes >> UNIX_MODE_SHIFT;
}

/* Refuse what is no plain file or folder of a good name. Returns its size. */
static uint64_t check_entry(zip_t *archive, zip_uint64_t at, unpack_names *names)
{
    zip_stat_t about;
    const char *name = zip_get_name(archive, at, ZIP_FL_ENC_RAW);
    if (name == NULL || zip_stat_index(archive, at, 0, &about) != 0) {
        fail("the archive", "has an entry that cannot be read");
    }
    const char *problem = unpack_name_problem(name);
    if (problem != NULL) {
        fail(name, problem);
    }
    zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    bool is_plain = (about.valid & wanted) == wanted && about.encryption_method == ZIP_EM_NONE &&
                    (about.comp_method == ZIP_CM_STORE || about.comp_method == ZIP_CM_DEFLATE);
    if (!is_plain) {
        fail(name, "is encrypted, or neither stored nor deflated");
    }
    bool is_folder = name[strlen(name) - 1] == '/';
    unsigned kind = read_mode(archive, at) & S_IFMT;
    if (kind != 0 && kind != (is_folder ? S_IFDIR : S_IFREG)) {
        fail(name, "is a link, a device or another special file");
    }
    if (!unpack_names_add(names, name)) {
        fail(name, "finds no memory");
    }
    return is_folder ? 0 : about.size;
}

/* Refuse the archive as a whole. Returns how many bytes its files have. */
static uint64_t check_all(zip_t *archive, uint64_t packed)
{
    zip_int64_t count = zip_get_num_entries(archive, 0);
    unpack_names *names = unpack_names_create();
    uint64_t bytes = 0;
    if (count < 1 || count > HUB_UNPACK_FILES) {
        fail("the archive", "has no file, or more than 10000");
    }
    if (names == NULL) {
        fail("the archive", "finds no memory");
    }
    for (zip_uint64_t at = 0; at < (zip_uint64_t)count; at++) {
        uint64_t size = check_entry(archive, at, names);
        if (size > HUB_UNPACK_BYTES - bytes) {
            fail("the archive", "has more than 512 MiB in its files");
        }
        bytes += size;
    }
    if (bytes > packed * HUB_UNPACK_RATIO) {
        fail("the archive", "is packed more than 100 times smaller than its files");
    }
    const char *clash = unpack_names_clash(names);
    if (clash != NULL) {
        fail(clash, "is there twice, differs from another name in capitals alone, or is a file and "
                    "a folder");
    }
    return bytes;
}

static void make_folders(const char *name)
{
    char part[HUB_UNPACK_NAME_BYTES + 1];
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        size_t len = (size_t)(slash - name);
        memcpy(part, name, len);
        part[len] = '\0';
        if (mkdirat(FOLDER, part, 0700) != 0 && errno != EEXIST) {
            fail(part, strerrordesc_np(errno));
        }
    }
}

static void write_piece(int fd, const char *name, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t count = write(fd, bytes, len);
        if (count < 0) {
            fail(name, strerrordesc_np(errno));
        }
        bytes += count;
        len -= (size_t)count;
    }
}

/* Write one file; `most` bytes are left for it. Returns its size. */
static uint64_t write_file(zip_t *archive, zip_uint64_t at, const char *name, uint64_t most)
{
    static char piece[PIECE_BYTES];
    bool is_program = (read_mode(archive, at) & 0111) != 0;
    zip_file_t *file = zip_fopen_index(archive, at, 0);
    int fd = openat(FOLDER, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    is_program ? 0700 : 0600);
    uint64_t size = 0;
    if (file == NULL || fd < 0) {
        fail(name, fd < 0 ? strerrordesc_np(errno) : zip_strerror(archive));
    }
    for (zip_int64_t len; (len = zip_fread(file, piece, sizeof piece)) != 0;) {
        if (len < 0) {
            fail(name, zip_file_strerror(file)); /* a checksum that is wrong, too */
        }
        size += (uint64_t)len;
        if (size > most) {
            fail(name, "is larger than the archive says");
        }
        write_piece(fd, name, piece, (size_t)len);
    }
    if (close(fd) != 0 || zip_fclose(file) != 0) {
        fail(name, "cannot be written, or its checksum is wrong");
    }
    return size;
}

static zip_t *open_archive(uint64_t *ret_packed)
{
    struct stat about;
    zip_error_t why;
    zip_error_init(&why);
    bool is_file = fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode) &&
                   about.st_size > 0 && (uint64_t)about.st_size <= HUB_UNPACK_BYTES;
    FILE *stream = is_file ? fdopen(STDIN_FILENO, "rb") : NULL;
    zip_source_t *source =
        stream != NULL ? zip_source_filep_create(stream, 0, about.st_size, &why) : NULL;
    zip_t *archive =
        source != NULL ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &why) : NULL;
    if (archive == NULL) {
        fail("the file", is_file ? zip_error_strerror(&why) : "is empty, or too large");
    }
    *ret_packed = (uint64_t)about.st_size;
    return archive;
}

int main(void)
{
    int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || (folder != FOLDER && dup3(folder, FOLDER, O_CLOEXEC) < 0)) {
        fail("the folder", strerrordesc_np(errno));
    }
    if (!unpack_confine()) {
        fail("the system", "has no filter of system calls");
    }
    uint64_t packed = 0;
    zip_t *archive = open_archive(&packed);
    uint64_t left = check_all(archive, packed);
    zip_uint64_t count = (zip_uint64_t)zip_get_num_entries(archive, 0);
    for (zip_uint64_t at = 0; at < count; at++) {
        const char *name = zip_get_name(archive, at, ZIP_FL_ENC_RAW);
        make_folders(name);
        if (name[strlen(name) - 1] != '/') {
            left -= write_file(archive, at, name, left);
        }
    }
    _exit(0); /* all is written; nothing is worth being put in order */
}
