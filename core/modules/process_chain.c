/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/process_chain.h"

#include "base/digest.h"
#include "base/encoding.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIGEST_CHARS = 16,                  /* 64 bits: nobody looks for two paths that collide */
    ENTRY_BYTES = 2 * DIGEST_CHARS + 2, /* "FILES+TOOL" and its NUL */
    CHAIN_BYTES = HUB_LIMIT_CHAIN * ENTRY_BYTES + 1,
    MOST_ANCESTORS = 64,            /* processes between a hub and the one that started it */
    ENVIRONMENT_BYTES = 256 * 1024, /* of an ancestor; what is longer is not searched */
    STAT_BYTES = 512,
    MOST_FILES = 256, /* on one command line */
};

static const char UNKNOWN[] = "-";

/* Whether the last entry of the environment's chain is this process, like the environment itself a
 * fact of the whole process. */
static bool has_joined;

typedef struct chain {
    char text[CHAIN_BYTES];
    size_t count;
} chain;

/* ---- who a hub is ---------------------------------------------------------------------------- */

/* The real path of a file that a process in `cwd` (NULL: here) calls `name`. False: it has none. */
static bool find_real_path(const char *name, const char *cwd, char ret_path[PATH_MAX])
{
    char joined[PATH_MAX];
    if (cwd == NULL || name[0] == '/') {
        return realpath(name, ret_path) != NULL;
    }
    int len = snprintf(joined, sizeof joined, "%s/%s", cwd, name);
    return len > 0 && (size_t)len < sizeof joined && realpath(joined, ret_path) != NULL;
}

/* Write the entry of a hub. */
static void identify(const char *const *files, size_t file_count, const char *cwd, const char *tool,
                     char ret_entry[ENTRY_BYTES])
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    char path[PATH_MAX];
    hub_digest digest;
    hub_digest_init(&digest);
    memcpy(ret_entry, UNKNOWN, sizeof UNKNOWN);
    for (size_t i = 0; i < file_count; i++) {
        if (!find_real_path(files[i], cwd, path)) {
            return;
        }
        hub_digest_add(&digest, path, strlen(path) + 1);
    }
    if (file_count == 0) {
        return;
    }
    hub_digest_end(&digest, bytes);
    hub_hex_write(bytes, DIGEST_CHARS / 2, ret_entry);
    ret_entry[DIGEST_CHARS] = '\0';
    if (tool != NULL) {
        hub_digest_of(hub_str_of(tool), bytes);
        ret_entry[DIGEST_CHARS] = '+';
        hub_hex_write(bytes, DIGEST_CHARS / 2, ret_entry + DIGEST_CHARS + 1);
        ret_entry[2 * DIGEST_CHARS + 1] = '\0';
    }
}

/* Whether a text that has so many characters begins with those of a digest. */
static bool is_digest(const char *text)
{
    return hub_hex_is((hub_str){.ptr = text, .len = DIGEST_CHARS});
}

/* The length of the entry at the beginning of `text`; 0: there is none. */
static size_t measure_entry(const char *text)
{
    size_t len = strcspn(text, ".");
    bool is_plain = len == DIGEST_CHARS && is_digest(text);
    bool is_call = len == ENTRY_BYTES - 1 && is_digest(text) && text[DIGEST_CHARS] == '+' &&
                   is_digest(text + DIGEST_CHARS + 1);
    bool is_unknown = len == 1 && text[0] == UNKNOWN[0];
    return is_plain || is_call || is_unknown ? len : 0;
}

/* Take a chain over from text. What no hub has written is no chain. */
static void read_chain(const char *text, chain *ret_chain)
{
    *ret_chain = (chain){.count = 0};
    chain found = {.count = 0};
    size_t len = text != NULL ? strlen(text) : 0;
    if (len == 0 || len >= sizeof found.text) {
        return;
    }
    memcpy(found.text, text, len);
    for (const char *at = found.text;; at++) {
        size_t entry = measure_entry(at);
        if (entry == 0) {
            return;
        }
        found.count++;
        at += entry;
        if (*at == '\0') {
            break;
        }
    }
    *ret_chain = found;
}

/* How many hubs ago a hub of the same configuration began; 0: there is none. One that makes a call
 * repeats itself only when it makes the same call: a tool may well use `patchbay call`. */
static size_t find_in_chain(const chain *all, const char *entry)
{
    bool is_call = strchr(entry, '+') != NULL;
    size_t wanted = is_call ? ENTRY_BYTES - 1 : DIGEST_CHARS;
    size_t place = 0;
    if (strcmp(entry, UNKNOWN) == 0) {
        return 0;
    }
    for (const char *at = all->text; place < all->count; place++) {
        size_t len = strcspn(at, ".");
        if (len >= wanted && strncmp(at, entry, wanted) == 0) {
            return all->count - place;
        }
        at += len + (at[len] == '.');
    }
    return 0;
}

/* ---- who is above ---------------------------------------------------------------------------- */

/* Read a file of /proc, up to size - 1 bytes, and end it with a NUL. Returns how many there are. */
static size_t read_proc(pid_t pid, const char *name, char *ret_text, size_t size)
{
    char path[64];
    size_t len = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && len + 1 < size) {
        ssize_t n = read(fd, ret_text + len, size - 1 - len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    ret_text[len] = '\0';
    return len;
}

static pid_t find_parent(pid_t pid)
{
    char text[STAT_BYTES];
    (void)read_proc(pid, "stat", text, sizeof text);
    const char *end = strrchr(text, ')'); /* of the name, which may have some */
    return end != NULL && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

/* The value of the chain's variable in the environment of a process: NAME=value strings. */
static const char *find_variable(const char *environment, size_t size)
{
    static const char WANTED[] = HUB_CHAIN_VARIABLE "=";
    for (size_t at = 0; at < size; at += strlen(environment + at) + 1) {
        if (strncmp(environment + at, WANTED, sizeof WANTED - 1) == 0) {
            return environment + at + sizeof WANTED - 1;
        }
    }
    return NULL;
}

/* The chain in the environment of the nearest process above this one that has one. */
static void find_chain_above(chain *ret_chain)
{
    char *environment = malloc(ENVIRONMENT_BYTES);
    pid_t pid = getppid();
    ret_chain->count = 0;
    for (unsigned i = 0; environment != NULL && pid > 1 && i < MOST_ANCESTORS; i++) {
        size_t size = read_proc(pid, "environ", environment, ENVIRONMENT_BYTES);
        read_chain(find_variable(environment, size), ret_chain);
        if (ret_chain->count > 0) {
            break;
        }
        pid = find_parent(pid);
    }
    free(environment);
}

static void find_chain(chain *ret_chain)
{
    read_chain(getenv(HUB_CHAIN_VARIABLE), ret_chain);
    if (ret_chain->count == 0) {
        find_chain_above(ret_chain);
    }
}

/* ---- public ---------------------------------------------------------------------------------- */

hub_err hub_chain_join(const char *const *files, size_t file_count, const char *tool,
                       hub_error *reterr)
{
    chain above;
    char entry[ENTRY_BYTES];
    char text[CHAIN_BYTES + ENTRY_BYTES];
    find_chain(&above);
    identify(files, file_count, NULL, tool, entry);
    size_t ago = find_in_chain(&above, entry);
    if (ago > 0) {
        return hub_fail(reterr, HUB_EEXIST,
                        "%s: a hub with this configuration started this one (%zu %s above it), so "
                        "each would start the next: remove the server entry that starts patchbay "
                        "with this file",
                        files[0], ago, ago == 1 ? "level" : "levels");
    }
    if (above.count >= HUB_LIMIT_CHAIN) {
        return hub_fail(reterr, HUB_ELIMIT,
                        "more than %d hubs, each started by the one before: look for a server "
                        "entry that starts patchbay again and again, or connect to an inner hub "
                        "by its `url`",
                        HUB_LIMIT_CHAIN);
    }
    (void)snprintf(text, sizeof text, "%s%s%s", above.text, above.count > 0 ? "." : "",
                   entry); /* fits */
    if (setenv(HUB_CHAIN_VARIABLE, text, 1) != 0) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    has_joined = true;
    return HUB_OK;
}

bool hub_chain_is_below(void)
{
    const char *value = getenv(HUB_CHAIN_VARIABLE);
    return value != NULL && (!has_joined || strchr(value, '.') != NULL);
}

/* Whether a file is the program of this process. */
static bool is_this_program(const char *program)
{
    struct stat theirs;
    struct stat ours;
    return stat(program, &theirs) == 0 && stat("/proc/self/exe", &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/* The configuration files that a command line of this program names. Returns how many. */
static size_t list_files(const char *const *argv, const char *ret_files[MOST_FILES])
{
    static const char LONG[] = "--config";
    size_t count = 0;
    for (size_t i = 1; argv[i] != NULL && count < MOST_FILES; i++) {
        const char *word = argv[i];
        bool is_short = strncmp(word, "-c", 2) == 0;
        bool is_long = strncmp(word, LONG, sizeof LONG - 1) == 0;
        const char *rest = word + (is_short ? 2 : is_long ? sizeof LONG - 1 : 0);
        if ((is_short || is_long) && *rest == '=') {
            ret_files[count++] = rest + 1;
        } else if ((is_short || is_long) && *rest == '\0' && argv[i + 1] != NULL) {
            ret_files[count++] = argv[++i];
        }
    }
    return count;
}

hub_err hub_chain_admit(const char *program, const char *const *argv, const char *cwd,
                        hub_error *reterr)
{
    const char *files[MOST_FILES];
    char entry[ENTRY_BYTES];
    chain above;
    if (!is_this_program(program) || (argv[1] != NULL && strcmp(argv[1], "call") == 0)) {
        return HUB_OK; /* a call is judged by its tool, which the process itself knows best */
    }
    size_t count = list_files(argv, files);
    identify(files, count, cwd, NULL, entry);
    read_chain(getenv(HUB_CHAIN_VARIABLE), &above);
    if (find_in_chain(&above, entry) == 0) {
        return HUB_OK;
    }
    return hub_fail(reterr, HUB_EEXIST,
                    "this entry would start the hub itself again, with its own configuration %s: "
                    "remove the entry",
                    files[0]);
}
