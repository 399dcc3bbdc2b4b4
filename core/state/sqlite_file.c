/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite_file.h"

#include "base/digest.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APPLICATION =
        0x50624879, /* "PbHy", in the file's header: file(1) and `check` know it by that */
    MOST_VALUE_BYTES = 1024 * 1024, /* whatever a damaged file says */
};

/* What SQLite calls the files of a write-ahead log. */
static const char LOG[] = "-wal";
static const char SHARED[] = "-shm";

/* The numbers: `changes` is the version of the last change, `records` how many there are,
 * `forgotten` the last deletion that `gone` does not have any more. */
static const char *const SCHEMA[] = {
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    /* In parentheses, since that is one text and no comma is missing. */
    ("CREATE TABLE record (scope TEXT NOT NULL, kind TEXT NOT NULL, owner TEXT NOT NULL,"
     " key TEXT NOT NULL, version INTEGER NOT NULL, secret INTEGER NOT NULL, key_id TEXT NOT NULL,"
     " document BLOB NOT NULL, PRIMARY KEY (scope, kind, owner, key)) WITHOUT ROWID"),
    "CREATE UNIQUE INDEX record_version ON record (version)",
    ("CREATE TABLE gone (version INTEGER PRIMARY KEY, scope TEXT NOT NULL, kind TEXT NOT NULL,"
     " owner TEXT NOT NULL, key TEXT NOT NULL)"),
    "INSERT INTO meta VALUES ('changes', 0), ('records', 0), ('forgotten', 0)",
    "PRAGMA application_id = 1348618361",
    "PRAGMA user_version = 1",
};

/* Little memory: the store is small, and a hub should be. Old frames of the log are taken over into
 * the file early, so that it stays small, too. */
static const char *const SETUP[] = {
    "PRAGMA synchronous = FULL",   "PRAGMA cache_size = -128",
    "PRAGMA temp_store = MEMORY",  "PRAGMA wal_autocheckpoint = 64",
    "PRAGMA mmap_size = 0",        "PRAGMA journal_size_limit = 524288",
    "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON",
};

static hub_err add_epoch(hub_sqlite_file *file, hub_error *reterr)
{
    unsigned char bytes[HUB_DIGEST_BYTES] = {0};
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_sqlite_query query;
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return hub_fail(reterr, HUB_EUNAVAILABLE, "no random numbers can be had");
    }
    hub_digest_hex(bytes, hex);
    hex[HUB_STATE_EPOCH_BYTES - 1] = '\0';
    hub_sqlite_query_begin(&query, file, "INSERT INTO meta VALUES ('epoch', ?)");
    hub_sqlite_bind_text(&query, hub_str_of(hex));
    while (hub_sqlite_query_next(&query)) {
    }
    return hub_sqlite_query_end(&query, reterr);
}

/* What kind of file it is. errors: HUB_EUNAVAILABLE: not one that can be used */
static hub_err recognise(hub_sqlite_file *file, bool *ret_is_empty, hub_error *reterr)
{
    uint64_t schema = 0;
    uint64_t application = 0;
    uint64_t tables = 0;
    hub_err err = hub_sqlite_number(file, "PRAGMA user_version", &schema, reterr);
    if (err == HUB_OK) {
        err = hub_sqlite_number(file, "PRAGMA application_id", &application, reterr);
    }
    if (err == HUB_OK) {
        err = hub_sqlite_number(file, "SELECT count(*) FROM sqlite_schema", &tables, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    *ret_is_empty = schema == 0 && application == 0 && tables == 0;
    if (!*ret_is_empty && application != APPLICATION) {
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s is another program's database: name another place in `state`",
                        file->path);
    }
    if (schema > HUB_SQLITE_SCHEMA) {
        return hub_fail(
            reterr, HUB_EUNAVAILABLE,
            "%s is of a newer version of Patchbay (layout %llu, this one knows %d): use "
            "that version, or name another place in `state`",
            file->path, (unsigned long long)schema, HUB_SQLITE_SCHEMA);
    }
    return HUB_OK;
}

static hub_err make_tables(hub_sqlite_file *file, hub_error *reterr)
{
    bool is_empty = false;
    hub_err err = hub_sqlite_run(file, "BEGIN IMMEDIATE", reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = recognise(file, &is_empty, reterr); /* again: another process may have been faster */
    for (size_t i = 0; err == HUB_OK && is_empty && i < sizeof SCHEMA / sizeof SCHEMA[0]; i++) {
        err = hub_sqlite_run(file, SCHEMA[i], reterr);
    }
    if (err == HUB_OK && is_empty) {
        err = add_epoch(file, reterr);
    }
    return hub_sqlite_end(file, err, reterr);
}

/* A write-ahead log needs memory that is shared with whoever else has the file open. */
static hub_err choose_journal(hub_sqlite_file *file, hub_error *reterr)
{
    const char *wanted = file->place.is_remote ? "delete" : "wal";
    hub_sqlite_query query;
    hub_sqlite_query_begin(&query, file, "PRAGMA journal_mode");
    bool is_so = hub_sqlite_query_next(&query) && hub_str_is(hub_sqlite_column(&query, 0), wanted);
    hub_err err = hub_sqlite_query_end(&query, reterr);
    file->journal = wanted;
    if (err != HUB_OK || is_so) {
        return err;
    }
    hub_sqlite_query_begin(&query, file,
                           file->place.is_remote ? "PRAGMA journal_mode = DELETE"
                                                 : "PRAGMA journal_mode = WAL");
    is_so = hub_sqlite_query_next(&query) && hub_str_is(hub_sqlite_column(&query, 0), wanted);
    err = hub_sqlite_query_end(&query, reterr);
    if (err == HUB_OK && !is_so) {
        err = hub_fail(reterr, HUB_EUNAVAILABLE,
                       "%s cannot be used with journal mode %s: other programs have it open",
                       file->path, wanted);
    }
    return err;
}

static hub_err set_up(hub_sqlite_file *file, hub_error *reterr)
{
    bool is_empty = false;
    hub_err err = recognise(file, &is_empty, reterr);
    if (err == HUB_OK) {
        err = choose_journal(file, reterr);
    }
    for (size_t i = 0; err == HUB_OK && i < sizeof SETUP / sizeof SETUP[0]; i++) {
        err = hub_sqlite_run(file, SETUP[i], reterr);
    }
    return err == HUB_OK && is_empty ? make_tables(file, reterr) : err;
}

static hub_err connect_to(hub_sqlite_file *file, hub_error *reterr)
{
    const hub_sqlite_library *library = file->library;
    int code = library->open_v2(file->path, &file->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                                "unix");
    if (file->db == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", file->path);
    }
    if (code != SQLITE_OK) {
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s cannot be opened: %s (%s)", file->path,
                        library->errmsg(file->db),
                        strerrordesc_np(library->system_errno(file->db)));
    }
    (void)library->extended_result_codes(file->db, 1); /* these fail for a bad handle only */
    (void)library->busy_timeout(file->db, HUB_LIMIT_STATE_BUSY_MS);
    (void)library->limit(file->db, SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES);
    return set_up(file, reterr);
}

/* Changing the journal's mode does not wait for others who are just opening or closing the file. So
 * one process does either at a time: by a lock of the folder, which is none of SQLite's. On a file
 * system that has no such locks there is no write-ahead log either. */
static int lock_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int len = snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    int fd = len > 0 && (size_t)len < sizeof folder
                 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    return fd;
}

static void unlock_folder(int fd)
{
    if (fd >= 0) {
        (void)close(fd); /* and with it the lock */
    }
}

static hub_sqlite_inode inode_of(const char *path, const char *suffix)
{
    char name[PATH_MAX];
    struct stat now;
    int len = snprintf(name, sizeof name, "%s%s", path, suffix);
    if (len < 0 || (size_t)len >= sizeof name || stat(name, &now) != 0) {
        return (hub_sqlite_inode){.number = 0};
    }
    return (hub_sqlite_inode){.device = now.st_dev, .number = now.st_ino};
}

static bool is_same(hub_sqlite_inode a, hub_sqlite_inode b)
{
    return a.device == b.device && a.number == b.number;
}

hub_err hub_sqlite_file_open(const char *path, const hub_state_keys *keys, bool may_make,
                             hub_sqlite_file *ret_file, hub_error *reterr)
{
    hub_sqlite_file file = {.path = path, .keys = keys, .journal = ""};
    hub_err err = hub_sqlite_place_look(path, &file.place, reterr);
    if (err == HUB_OK && !file.place.is_there) {
        if (!may_make) {
            return hub_fail(reterr, HUB_ENOTFOUND, "%s: there is no such file", path);
        }
        err = hub_sqlite_place_make(path, reterr);
        if (err == HUB_OK) {
            err = hub_sqlite_place_look(path, &file.place, reterr);
        }
    }
    if (err == HUB_OK) {
        err = hub_sqlite_library_load(&file.library, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    int lock = lock_folder(path);
    err = connect_to(&file, reterr);
    file.log = inode_of(path, LOG);
    file.shared = inode_of(path, SHARED);
    unlock_folder(lock);
    if (err != HUB_OK) {
        hub_sqlite_file_close(&file);
        return err;
    }
    *ret_file = file;
    return HUB_OK;
}

void hub_sqlite_file_close(hub_sqlite_file *file)
{
    if (file->db != NULL) {
        int lock = lock_folder(file->path);
        (void)file->library->close_v2(file->db); /* no statement is left: it always closes */
        unlock_folder(lock);
    }
    *file = (hub_sqlite_file){.db = NULL};
}

bool hub_sqlite_file_is_there(const hub_sqlite_file *file)
{
    return is_same(inode_of(file->path, ""), file->place.inode) &&
           is_same(inode_of(file->path, LOG), file->log) &&
           is_same(inode_of(file->path, SHARED), file->shared);
}

hub_err hub_sqlite_epoch(hub_sqlite_file *file, char ret_epoch[HUB_STATE_EPOCH_BYTES],
                         hub_error *reterr)
{
    hub_sqlite_query query;
    ret_epoch[0] = '\0';
    hub_sqlite_query_begin(&query, file, "SELECT value FROM meta WHERE name = 'epoch'");
    if (hub_sqlite_query_next(&query)) {
        hub_str epoch = hub_sqlite_column(&query, 0);
        (void)snprintf(ret_epoch, HUB_STATE_EPOCH_BYTES, HUB_STR_FMT, HUB_STR_ARG(epoch));
    }
    return hub_sqlite_query_end(&query, reterr);
}
