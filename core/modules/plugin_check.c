/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_check.h"

#include "modules/plugin_code.h"
#include "modules/plugin_dynamic.h"
#include "modules/plugin_owner.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    NAME_MAX_BYTES = 64,
    MODE_BITS = 07777,
    TRUSTED_MODE = 0755, /* the widest that passes anywhere */
};

/* What else can be done about an owner or a mode. */
#define OR_TRUST ", or start with --allow-writable-plugins)"

/* What can be done about another ABI. */
#define BUILD_ANEW ": build it with the headers of this hub"

/* The size of the table in ABI 1.0, which every plugin has at least. */
#define TABLE_SIZE_1_0                                                                             \
    (offsetof(patchbay_plugin, destroy) + sizeof(((patchbay_plugin *)NULL)->destroy))

/* The hub's own ELF header, which the linker puts there: what this machine is, on any machine. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Entries without which a plugin is none. */
static const struct {
    const char *name;
    size_t offset;
} ENTRIES[] = {
    {"create", offsetof(patchbay_plugin, create)},
    {"call", offsetof(patchbay_plugin, call)},
    {"destroy", offsetof(patchbay_plugin, destroy)},
};

/* `path` is what is looked at; `what` stands before the reason. */
static hub_err check_owner(const char *what, const char *path, const struct stat *about,
                           hub_error *reterr)
{
    uid_t self = geteuid();
    if (about->st_uid == 0 || about->st_uid == self) {
        return HUB_OK;
    }
    char other[32] = "";
    if (self != 0) {
        (void)snprintf(other, sizeof other, " or uid %u", self); /* fits */
    }
    return hub_fail(reterr, HUB_EDENIED, "%sowned by uid %u, wanted root%s (chown root %s" OR_TRUST,
                    what, about->st_uid, other, path);
}

/* Whether an access list says who else may: the group's bits of the mode are then the most that
 * anybody on the list may. */
static bool has_access_list(const char *path)
{
    ssize_t size = getxattr(path, "system.posix_acl_access", NULL, 0);
    return size > 0 || (size < 0 && errno != ENODATA && errno != ENOTSUP);
}

/* `path` leads to what `about` is of. */
static bool lets_others_write(const char *path, const struct stat *about)
{
    if ((about->st_mode & (S_IWGRP | S_IWOTH)) != S_IWGRP) {
        return (about->st_mode & S_IWOTH) != 0;
    }
    return !hub_plugin_group_is_owners(about->st_uid, about->st_gid) || has_access_list(path);
}

/* `opened` leads to what `about` is of, `path` is its name. */
static hub_err check_mode(const char *what, const char *path, const char *opened,
                          const struct stat *about, hub_error *reterr)
{
    if (!lets_others_write(opened, about)) {
        return HUB_OK;
    }
    return hub_fail(reterr, HUB_EDENIED,
                    "%smode %04o lets others write, wanted at most %04o (chmod go-w %s" OR_TRUST,
                    what, about->st_mode & MODE_BITS, TRUSTED_MODE, path);
}

/* One part of a path: `is_last` for the folder itself. */
static hub_err check_part(const char *part, bool is_last, hub_error *reterr)
{
    char what[PATH_MAX + 16];
    (void)snprintf(what, sizeof what, "folder %s: ", part); /* the part is shorter than PATH_MAX */
    struct stat about;
    if (lstat(part, &about) != 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "%s%s", what, strerrordesc_np(errno));
    }
    hub_err err = check_owner(what, part, &about, reterr);
    bool mode_matters = !S_ISLNK(about.st_mode) && (is_last || (about.st_mode & S_ISVTX) == 0);
    return err != HUB_OK || !mode_matters ? err : check_mode(what, part, part, &about, reterr);
}

/* All parts of an absolute path, from the root down. */
static hub_err check_parts(const char *path, hub_error *reterr)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len >= sizeof part) {
        return hub_fail(reterr, HUB_EINVAL, "folder name of %zu bytes, wanted at most %zu", len,
                        sizeof part - 1);
    }
    hub_err err = check_part("/", len == 1, reterr);
    for (size_t end = 1; err == HUB_OK && end < len;) {
        end += strcspn(path + end, "/");
        memcpy(part, path, end);
        part[end] = '\0';
        err = check_part(part, end == len, reterr);
        end++;
    }
    return err;
}

/* An open file: itself, and the real folder that it is in. */
static hub_err check_file(const char *name, int fd, const struct stat *about, hub_error *reterr)
{
    char link[64];
    char path[PATH_MAX];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd); /* fits */
    hub_err err = check_owner("", name, about, reterr);
    err = err != HUB_OK ? err : check_mode("", name, link, about, reterr);
    if (err != HUB_OK) {
        return err;
    }
    ssize_t len = readlink(link, path, sizeof path);
    if (len <= 0 || (size_t)len == sizeof path || path[0] != '/') {
        return hub_fail(reterr, HUB_ESYSTEM, "the folder of the file cannot be found out");
    }
    path[len] = '\0';
    char *slash = strrchr(path, '/');
    slash[slash == path] = '\0'; /* the root keeps its slash */
    return check_parts(path, reterr);
}

bool hub_plugin_name_is_valid(hub_str name)
{
    static const char FIRST[] = "abcdefghijklmnopqrstuvwxyz";
    static const char REST[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (name.len == 0 || name.len > NAME_MAX_BYTES ||
        memchr(FIRST, name.ptr[0], sizeof FIRST - 1) == NULL) {
        return false;
    }
    for (size_t i = 1; i < name.len; i++) {
        if (memchr(REST, name.ptr[i], sizeof REST - 1) == NULL) {
            return false;
        }
    }
    return true;
}

hub_err hub_plugin_check_folder(const char *path, hub_error *reterr)
{
    hub_err err = check_parts(path, reterr);
    if (err != HUB_OK) {
        return err;
    }
    char *real = realpath(path, NULL);
    if (real == NULL) {
        return hub_fail(reterr, HUB_ESYSTEM, "folder %s: %s", path, strerrordesc_np(errno));
    }
    err = check_parts(real, reterr);
    free(real);
    return err;
}

hub_err hub_plugin_open(const char *path, bool check_trust, int *ret_fd, hub_error *reterr)
{
    /* Non-blocking: a FIFO named x.so must not hang the hub. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "cannot be opened: %s", strerrordesc_np(errno));
    }
    hub_err err = HUB_OK;
    struct stat about;
    if (fstat(fd, &about) != 0) {
        err = hub_fail(reterr, HUB_ESYSTEM, "cannot be looked at: %s", strerrordesc_np(errno));
    } else if (!S_ISREG(about.st_mode)) {
        err = hub_fail(reterr, HUB_EINVAL, "not a regular file");
    } else if (check_trust) {
        err = check_file(path, fd, &about, reterr);
    }
    if (err != HUB_OK) {
        (void)close(fd); /* nothing was written */
        return err;
    }
    *ret_fd = fd;
    return HUB_OK;
}

/* The end of a piece of a file; UINT64_MAX when the sum does not exist. */
static uint64_t end_of(uint64_t offset, uint64_t size)
{
    uint64_t end;
    return __builtin_add_overflow(offset, size, &end) ? UINT64_MAX : end;
}

static hub_err check_size(size_t size, uint64_t wanted, hub_error *reterr)
{
    if (size >= wanted) {
        return HUB_OK;
    }
    return hub_fail(reterr, HUB_EPARSE, "truncated: %zu bytes, wanted at least %llu", size,
                    (unsigned long long)wanted);
}

/* What the header says of the machine, before anything whose layout depends on it is read. */
static hub_err check_ident(const unsigned char *bytes, size_t size, hub_error *reterr)
{
    if (size == 0) {
        return hub_fail(reterr, HUB_EPARSE, "not a shared object: the file is empty");
    }
    if (size < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        return hub_fail(reterr, HUB_EPARSE, "not a shared object: no ELF header");
    }
    static const struct {
        int index;
        const char *values[3];
    } IDENTS[] = {{EI_CLASS, {"of no class", "32-bit", "64-bit"}},
                  {EI_DATA, {"of no byte order", "little-endian", "big-endian"}}};
    for (size_t i = 0; i < sizeof IDENTS / sizeof IDENTS[0]; i++) {
        unsigned found = bytes[IDENTS[i].index];
        unsigned wanted = __ehdr_start.e_ident[IDENTS[i].index];
        if (found != wanted) {
            return hub_fail(reterr, HUB_EPARSE, "not for this machine: %s, wanted %s",
                            IDENTS[i].values[found <= 2 ? found : 0], IDENTS[i].values[wanted]);
        }
    }
    return check_size(size, sizeof(ElfW(Ehdr)), reterr);
}

/* The program headers are inside the file, and so is what they point to. */
static hub_err check_segments(const unsigned char *bytes, size_t size, const ElfW(Ehdr) * header,
                              hub_error *reterr)
{
    uint64_t table_size = (uint64_t)header->e_phnum * sizeof(ElfW(Phdr));
    hub_err err = check_size(size, end_of(header->e_phoff, table_size), reterr);
    bool has_dynamic = false;
    for (size_t i = 0; err == HUB_OK && i < header->e_phnum; i++) {
        ElfW(Phdr) segment; /* copied: the offset need not be aligned */
        memcpy(&segment, bytes + header->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) {
            err = check_size(size, end_of(segment.p_offset, segment.p_filesz), reterr);
        }
        has_dynamic = has_dynamic || segment.p_type == PT_DYNAMIC;
    }
    if (err == HUB_OK && !has_dynamic) {
        return hub_fail(reterr, HUB_EPARSE, "not a shared object: no dynamic section");
    }
    return err;
}

hub_err hub_plugin_check_elf(const unsigned char *bytes, size_t size, hub_error *reterr)
{
    hub_err err = check_ident(bytes, size, reterr);
    if (err != HUB_OK) {
        return err;
    }
    ElfW(Ehdr) header;
    memcpy(&header, bytes, sizeof header);
    if (header.e_machine != __ehdr_start.e_machine) {
        return hub_fail(reterr, HUB_EPARSE, "not for this machine: ELF machine %u, wanted %u",
                        header.e_machine, __ehdr_start.e_machine);
    }
    if (header.e_type != ET_DYN) {
        return hub_fail(reterr, HUB_EPARSE, "not a shared object: ELF type %u, wanted %u",
                        header.e_type, ET_DYN);
    }
    if (header.e_phentsize != sizeof(ElfW(Phdr))) {
        return hub_fail(reterr, HUB_EPARSE, "damaged: program headers of %u bytes, wanted %zu",
                        header.e_phentsize, sizeof(ElfW(Phdr)));
    }
    err = check_segments(bytes, size, &header, reterr);
    if (err != HUB_OK) {
        return err;
    }
    /* Linkers put the section headers last: their end is the end of the file, cut or not. */
    err = check_size(size, end_of(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize),
                     reterr);
    err = err != HUB_OK ? err : hub_plugin_check_dynamic(bytes, size, reterr);
    return err != HUB_OK ? err : hub_plugin_check_code(bytes, size, reterr);
}

static hub_err check_numbers(const patchbay_plugin *table, hub_error *reterr)
{
    if (table->magic != PATCHBAY_MAGIC) {
        return hub_fail(reterr, HUB_EABI, "magic is 0x%08x, wanted 0x%08x", table->magic,
                        PATCHBAY_MAGIC);
    }
    if (PATCHBAY_ABI_MAJOR(table->abi) != PATCHBAY_ABI_MAJOR(PATCHBAY_ABI)) {
        return hub_fail(reterr, HUB_EABI, "built for ABI %u.%u, this hub has %u.%u" BUILD_ANEW,
                        PATCHBAY_ABI_MAJOR(table->abi), PATCHBAY_ABI_MINOR(table->abi),
                        PATCHBAY_ABI_MAJOR(PATCHBAY_ABI), PATCHBAY_ABI_MINOR(PATCHBAY_ABI));
    }
    if (table->abi_min > PATCHBAY_ABI) {
        return hub_fail(reterr, HUB_EABI, "needs ABI %u.%u or newer, this hub has %u.%u" BUILD_ANEW,
                        PATCHBAY_ABI_MAJOR(table->abi_min), PATCHBAY_ABI_MINOR(table->abi_min),
                        PATCHBAY_ABI_MAJOR(PATCHBAY_ABI), PATCHBAY_ABI_MINOR(PATCHBAY_ABI));
    }
    if (table->struct_size < TABLE_SIZE_1_0) {
        return hub_fail(reterr, HUB_EABI, "struct_size is %u, wanted at least %zu",
                        table->struct_size, TABLE_SIZE_1_0);
    }
    return HUB_OK;
}

hub_err hub_plugin_check_table(const patchbay_plugin *table, hub_str stem, hub_error *reterr)
{
    hub_err err = check_numbers(table, reterr);
    if (err != HUB_OK) {
        return err;
    }
    for (size_t i = 0; i < sizeof ENTRIES / sizeof ENTRIES[0]; i++) {
        uintptr_t entry;
        memcpy(&entry, (const char *)table + ENTRIES[i].offset, sizeof entry);
        if (entry == 0) {
            return hub_fail(reterr, HUB_EINVAL, "entry %s is missing", ENTRIES[i].name);
        }
    }
    if (table->name == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "name is missing");
    }
    if (!hub_plugin_name_is_valid(hub_str_of(table->name))) {
        return hub_fail(reterr, HUB_EINVAL, "name is \"%.80s\", wanted [a-z][a-z0-9_-]{0,63}",
                        table->name);
    }
    if (!hub_str_is(stem, table->name)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "name is \"%s\", wanted \"" HUB_STR_FMT "\" as the file says", table->name,
                        HUB_STR_ARG(stem));
    }
    if (table->version == NULL || table->version[0] == '\0') {
        return hub_fail(reterr, HUB_EINVAL, "version is missing");
    }
    return HUB_OK;
}
