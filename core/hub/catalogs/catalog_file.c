/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/catalog_file.h"

#include "base/digest.h"
#include "base/io.h"
#include "base/limits.h"
#include "wire/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    VERSION = 1,
    HALF_WRITTEN_S = 3600, /* nobody writes a file for that long */
    DAY_S = 86400,
};

/* The frame: PREFIX version SHA digest CONTENT … END. Not a byte of it may differ, so that damage
 * anywhere shows. */
#define PREFIX  "{\"patchbayCatalog\":"
#define SHA     ",\"sha256\":\""
#define CONTENT "\",\"content\":"
#define END     "}\n"

#define SUFFIX    ".json"
#define TEMPORARY ".tmp"

static const char *const LISTS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = "tools",
    [HUB_KIND_RESOURCE] = "resources",
    [HUB_KIND_TEMPLATE] = "resourceTemplates",
    [HUB_KIND_PROMPT] = "prompts",
};

/* ---- the text -------------------------------------------------------------------------------- */

static void digest(hub_str text, char ret_hex[HUB_DIGEST_HEX_BYTES])
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    hub_digest_of(text, bytes);
    hub_digest_hex(bytes, ret_hex);
}

static void add_content(const hub_catalog_record *record, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"id\":"));
    hub_json_add_string(out, record->id);
    hub_buf_printf(out, ",\"learned\":%lld,\"era\":\"%s\"", (long long)record->learned_at_ms,
                   record->is_modern ? "modern" : "legacy");
    if (record->capabilities.len > 0) {
        hub_json_add_key(out, HUB_STR("capabilities"));
        hub_buf_add(out, record->capabilities);
    }
    if (record->about.len > 0) {
        hub_json_add_key(out, HUB_STR("about"));
        hub_buf_add(out, record->about);
    }
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (record->lists[kind].len > 0) {
            hub_json_add_key(out, hub_str_of(LISTS[kind]));
            hub_buf_add(out, record->lists[kind]);
        }
    }
    hub_buf_add_char(out, '}');
}

void hub_catalog_file_write(const hub_catalog_record *record, hub_buf *out)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_buf content;
    hub_buf_init(&content, out->max);
    add_content(record, &content);
    if (hub_buf_ok(&content)) {
        digest(hub_buf_str(&content), hex);
        hub_buf_printf(out, PREFIX "%d" SHA "%s" CONTENT, VERSION, hex);
        hub_buf_add(out, hub_buf_str(&content));
        hub_buf_add(out, HUB_STR(END));
    } else {
        out->failed = content.failed;
    }
    hub_buf_fini(&content);
}

/* Take `part` off the beginning of *text. */
static bool take(hub_str *text, hub_str part)
{
    bool is_there = hub_str_starts(*text, part);
    if (is_there) {
        *text = hub_str_from(*text, part.len);
    }
    return is_there;
}

/* The version at the beginning of *text, of which it is taken off; 0 when there is none. */
static unsigned take_version(hub_str *text)
{
    unsigned version = 0;
    for (int digits = 0; digits < 6 && text->len > 0; digits++) {
        char c = text->ptr[0];
        if (c < '0' || c > '9') {
            break;
        }
        version = version * 10 + (unsigned)(c - '0');
        *text = hub_str_from(*text, 1);
    }
    return version;
}

/* Take the frame off; the content is whole then. */
static hub_err unwrap(hub_str text, hub_str *ret_content, hub_error *reterr)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    if (!take(&text, HUB_STR(PREFIX))) {
        return hub_fail(reterr, HUB_EINVAL, "it is not a catalog that a hub remembered");
    }
    unsigned version = take_version(&text);
    if (version != VERSION) {
        return hub_fail(reterr, HUB_EINVAL, "it is of version %u, and this hub reads version %d",
                        version, VERSION);
    }
    if (!take(&text, HUB_STR(SHA)) || text.len < 2 * HUB_DIGEST_BYTES) {
        return hub_fail(reterr, HUB_EINVAL, "it is damaged");
    }
    hub_str told = {.ptr = text.ptr, .len = 2 * HUB_DIGEST_BYTES};
    text = hub_str_from(text, told.len);
    size_t end = sizeof END - 1;
    if (!take(&text, HUB_STR(CONTENT)) || text.len < end ||
        !hub_str_is(hub_str_from(text, text.len - end), END)) {
        return hub_fail(reterr, HUB_EINVAL, "it is cut off, or damaged");
    }
    text.len -= end;
    digest(text, hex);
    if (!hub_str_is(told, hex)) {
        return hub_fail(reterr, HUB_EINVAL, "it is damaged: its digest is another one");
    }
    *ret_content = text;
    return HUB_OK;
}

static bool read_time(hub_str raw, int64_t *ret_ms)
{
    return hub_json_to_i64(raw, ret_ms) && *ret_ms >= 0;
}

/* The members of the content, which is gone through once: a list can be long. */
typedef struct content_members {
    hub_str id;
    hub_str learned;
    hub_str era;
    hub_str capabilities;
    hub_str about;
    hub_str lists[HUB_KINDS];
} content_members;

static void find_members(hub_str whole, content_members *members)
{
    const struct {
        const char *key;
        hub_str *value;
    } wanted[] = {
        {"id", &members->id},
        {"learned", &members->learned},
        {"era", &members->era},
        {"capabilities", &members->capabilities},
        {"about", &members->about},
        {LISTS[HUB_KIND_TOOL], &members->lists[HUB_KIND_TOOL]},
        {LISTS[HUB_KIND_RESOURCE], &members->lists[HUB_KIND_RESOURCE]},
        {LISTS[HUB_KIND_TEMPLATE], &members->lists[HUB_KIND_TEMPLATE]},
        {LISTS[HUB_KIND_PROMPT], &members->lists[HUB_KIND_PROMPT]},
    };
    hub_str key;
    hub_str value;
    for (hub_json_iter it = hub_json_iterate(whole); hub_json_next(&it, &key, &value);) {
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            if (hub_json_string_is(key, hub_str_of(wanted[i].key))) {
                *wanted[i].value = value;
            }
        }
    }
}

static bool is_object_or_none(hub_str raw)
{
    return raw.len == 0 || hub_json_type_of(raw) == HUB_JSON_OBJECT;
}

static hub_err read_content(hub_str content, hub_str id, hub_catalog_record *record,
                            hub_error *reterr)
{
    hub_str whole;
    content_members found = {.id = HUB_STR_EMPTY};
    hub_err err = hub_json_check(content, &whole, reterr);
    if (err != HUB_OK) {
        return err;
    }
    bool fits = hub_json_type_of(whole) == HUB_JSON_OBJECT;
    if (fits) {
        find_members(whole, &found);
    }
    record->id = id;
    record->is_modern = hub_json_string_is(found.era, HUB_STR("modern"));
    record->capabilities = found.capabilities;
    record->about = found.about;
    fits = fits && read_time(found.learned, &record->learned_at_ms) &&
           (record->is_modern || hub_json_string_is(found.era, HUB_STR("legacy"))) &&
           is_object_or_none(found.capabilities) && is_object_or_none(found.about);
    for (int kind = 0; fits && kind < HUB_KINDS; kind++) {
        record->lists[kind] = found.lists[kind];
        fits = found.lists[kind].len == 0 || hub_json_type_of(found.lists[kind]) == HUB_JSON_ARRAY;
    }
    if (!fits || found.lists[HUB_KIND_TOOL].len == 0) {
        return hub_fail(reterr, HUB_EINVAL, "a member is missing, or of another type than it has");
    }
    if (!hub_json_string_is(found.id, id)) {
        return hub_fail(reterr, HUB_EINVAL, "it is the catalog of another configuration");
    }
    return HUB_OK;
}

hub_err hub_catalog_file_read(hub_str text, hub_str id, hub_catalog_record *ret_record,
                              hub_error *reterr)
{
    hub_str content;
    hub_catalog_record record = {.learned_at_ms = 0};
    hub_err err = unwrap(text, &content, reterr);
    if (err == HUB_OK) {
        err = read_content(content, id, &record, reterr);
    }
    if (err == HUB_OK) {
        *ret_record = record;
    }
    return err;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static hub_err fail_errno(const char *what, hub_error *reterr)
{
    int cause = errno;
    char text[128];
    return hub_fail(reterr, cause == ENOENT || cause == ENOTDIR ? HUB_ENOTFOUND : HUB_ESYSTEM,
                    "%s: %s", what, strerror_r(cause, text, sizeof text));
}

/* Whether only this user can have written what is there. */
static hub_err check_owner(const struct stat *status, const char *what, hub_error *reterr)
{
    if (status->st_uid != geteuid()) {
        return hub_fail(reterr, HUB_EDENIED, "%s belongs to user %u, and this process is user %u",
                        what, (unsigned)status->st_uid, (unsigned)geteuid());
    }
    if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return hub_fail(reterr, HUB_EDENIED,
                        "%s can be written to by others (mode %04o): chmod go-w", what,
                        (unsigned)status->st_mode & 07777u);
    }
    return HUB_OK;
}

static hub_err open_folder(const char *folder, int *ret_fd, hub_error *reterr)
{
    struct stat status;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(folder, reterr);
    }
    hub_err err =
        fstat(fd, &status) == 0 ? check_owner(&status, folder, reterr) : fail_errno(folder, reterr);
    if (err != HUB_OK) {
        (void)close(fd); /* read only */
        return err;
    }
    *ret_fd = fd;
    return HUB_OK;
}

/* Make the folder and those above it. */
static hub_err make_folder(const char *folder, hub_error *reterr)
{
    char *path = hub_str_dup(hub_str_of(folder));
    hub_err err = path != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    for (char *at = path; err == HUB_OK && at != NULL;) {
        at = strchr(at + 1, '/');
        if (at != NULL) {
            *at = '\0';
        }
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            err = fail_errno(path, reterr);
        }
        if (at != NULL) {
            *at = '/';
        }
    }
    free(path);
    return err;
}

/* ---- reading --------------------------------------------------------------------------------- */

static hub_err read_all(int fd, const char *name, size_t size, hub_buf *out, hub_error *reterr)
{
    size_t begin = out->len;
    char *into = size > out->max - out->len ? NULL : hub_buf_reserve(out, size);
    if (into == NULL) {
        return size > out->max - out->len
                   ? hub_fail(reterr, HUB_ELIMIT, "%s is longer than %zu bytes", name, out->max)
                   : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    while (out->len - begin < size) {
        ssize_t count = read(fd, into + (out->len - begin), size - (out->len - begin));
        if (count < 0 && errno != EINTR) {
            return fail_errno(name, reterr);
        }
        if (count == 0) {
            break; /* it shrinks while it is read: its digest will say so */
        }
        out->len += count > 0 ? (size_t)count : 0;
    }
    return HUB_OK;
}

static hub_err load(int folder_fd, const char *name, hub_buf *out, hub_error *reterr)
{
    struct stat status;
    int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(name, reterr);
    }
    hub_err err = HUB_OK;
    if (fstat(fd, &status) != 0) {
        err = fail_errno(name, reterr);
    } else if (!S_ISREG(status.st_mode)) {
        err = hub_fail(reterr, HUB_EINVAL, "%s is not a regular file", name);
    } else {
        err = check_owner(&status, name, reterr);
    }
    if (err == HUB_OK) {
        err = read_all(fd, name, (size_t)status.st_size, out, reterr);
    }
    (void)close(fd); /* read only */
    return err;
}

hub_err hub_catalog_file_load(const char *folder, const char *name, hub_buf *out, hub_error *reterr)
{
    int folder_fd;
    hub_err err = open_folder(folder, &folder_fd, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = load(folder_fd, name, out, reterr);
    (void)close(folder_fd); /* read only */
    return err;
}

/* ---- writing --------------------------------------------------------------------------------- */

static hub_err replace(int folder_fd, const char *name, hub_str text, hub_error *reterr)
{
    uint64_t number;
    char temporary[HUB_CATALOG_NAME_BYTES + 32];
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        return hub_fail(reterr, HUB_ESYSTEM, "no random numbers can be had");
    }
    (void)snprintf(temporary, sizeof temporary, "%s.%016llx" TEMPORARY, name,
                   (unsigned long long)number);
    int fd = openat(folder_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return fail_errno(temporary, reterr);
    }
    hub_err err = hub_write_all(fd, text) == text.len && fsync(fd) == 0
                      ? HUB_OK
                      : fail_errno(temporary, reterr);
    if (close(fd) != 0 && err == HUB_OK) {
        err = fail_errno(temporary, reterr);
    }
    if (err == HUB_OK && renameat(folder_fd, temporary, folder_fd, name) != 0) {
        err = fail_errno(name, reterr);
    }
    if (err != HUB_OK) {
        (void)unlinkat(folder_fd, temporary, 0); /* if not, it is swept one day */
        return err;
    }
    return fsync(folder_fd) == 0 ? HUB_OK : fail_errno(name, reterr);
}

hub_err hub_catalog_file_store(const char *folder, const char *name, hub_str text,
                               hub_error *reterr)
{
    int folder_fd;
    hub_err err = open_folder(folder, &folder_fd, reterr);
    if (err == HUB_ENOTFOUND) {
        err = make_folder(folder, reterr);
        if (err == HUB_OK) {
            err = open_folder(folder, &folder_fd, reterr);
        }
    }
    if (err != HUB_OK) {
        return err;
    }
    err = replace(folder_fd, name, text, reterr);
    (void)close(folder_fd); /* it was synchronised */
    return err;
}

/* ---- sweeping -------------------------------------------------------------------------------- */

static bool ends_with(hub_str text, hub_str end)
{
    return text.len >= end.len && hub_str_eq(hub_str_from(text, text.len - end.len), end);
}

/* For how many seconds a file of that name is left alone; 0: for ever, it is not ours. */
static int64_t lifetime_of(hub_str name)
{
    size_t id = HUB_CATALOG_ID_BYTES - 1;
    size_t dash = hub_str_find(name, HUB_STR(SUFFIX));
    if (dash == SIZE_MAX || dash <= id || name.ptr[dash - id - 1] != '-' ||
        strspn(name.ptr + dash - id, "0123456789abcdef") != id) {
        return 0;
    }
    if (dash + sizeof SUFFIX - 1 == name.len) {
        return (int64_t)HUB_LIMIT_CATALOG_FILE_DAYS * DAY_S;
    }
    return ends_with(name, HUB_STR(TEMPORARY)) ? HALF_WRITTEN_S : 0;
}

static bool sweep_entry(int folder_fd, const char *name, int64_t now_s)
{
    struct stat status;
    int64_t lifetime_s = lifetime_of(hub_str_of(name));
    return lifetime_s > 0 && fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && status.st_mtime + lifetime_s < now_s &&
           unlinkat(folder_fd, name, 0) == 0;
}

size_t hub_catalog_file_sweep(const char *folder, int64_t now_s)
{
    int folder_fd;
    size_t removed = 0;
    if (open_folder(folder, &folder_fd, NULL) != HUB_OK) {
        return 0;
    }
    DIR *entries = fdopendir(folder_fd);
    if (entries == NULL) {
        (void)close(folder_fd); /* read only */
        return 0;
    }
    const struct dirent *entry;
    for (int seen = 0; seen < HUB_LIMIT_CATALOG_FILES && (entry = readdir(entries)) != NULL;
         seen++) {
        removed += sweep_entry(folder_fd, entry->d_name, now_s);
    }
    (void)closedir(entries); /* read only */
    return removed;
}
