/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the audit's file. The thread reads it. */
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "web/api/later.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TAIL_BYTES = 1024 * 1024, /* of the file are looked at */
    USUAL_LINES = 100,
    MOST_LINES = 1000,
};

typedef struct job {
    hub_api_later later;
    char *path;
    uint64_t limit;
    hub_buf tail;  /* whole lines */
    int error;     /* errno; 0: none */
    bool is_whole; /* it is all of the file */
} job;

/* [worker] */
static void read_tail(hub_api_later *later)
{
    job *one = (job *)later;
    struct stat is;
    int fd = open(one->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &is) != 0 || !S_ISREG(is.st_mode)) {
        one->error = errno == ENOENT ? 0 : EINVAL; /* nothing was recorded yet */
        one->is_whole = true;
        if (fd >= 0) {
            (void)close(fd); /* nothing was written */
        }
        return;
    }
    off_t begin = is.st_size > TAIL_BYTES ? is.st_size - TAIL_BYTES : 0;
    char *text = malloc(TAIL_BYTES);
    ssize_t got = text != NULL ? pread(fd, text, TAIL_BYTES, begin) : -1;
    one->error = got < 0 ? ENOMEM : 0;
    one->is_whole = begin == 0;
    if (got > 0) {
        hub_buf_add(&one->tail, (hub_str){.ptr = text, .len = (size_t)got});
    }
    free(text);
    (void)close(fd); /* nothing was written */
}

/* Where the last `limit` lines begin. */
static size_t find_begin(hub_str tail, uint64_t limit, bool is_whole)
{
    size_t at = tail.len;
    uint64_t lines = 0;
    size_t begin = tail.len;
    while (at > 0 && lines < limit) {
        const char *newline = at > 1 ? memrchr(tail.ptr, '\n', at - 1) : NULL;
        if (newline == NULL) {
            return is_whole ? 0 : begin; /* the first of a tail may be a part of a line */
        }
        at = (size_t)(newline - tail.ptr) + 1;
        begin = at;
        lines++;
    }
    return begin;
}

/* A line that is no JSON object was not written by the hub, or was torn. */
static void add_lines(hub_str rest, hub_buf *out)
{
    while (rest.len > 0) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        hub_str line = newline != NULL ? hub_str_between(rest.ptr, newline) : rest;
        rest = hub_str_from(rest, line.len + (newline != NULL));
        if (hub_json_check(line, NULL, NULL) == HUB_OK &&
            hub_json_type_of(line) == HUB_JSON_OBJECT) {
            hub_json_add_comma(out);
            hub_buf_add(out, line);
        }
    }
}

static void finish(hub_api_later *later)
{
    job *one = (job *)later;
    hub_web_exchange *exchange = hub_api_later_exchange(later);
    hub_str tail = hub_buf_str(&one->tail);
    if (exchange != NULL && one->error != 0) {
        hub_api_fail(exchange, 503, "unavailable", "the audit's file cannot be read: %s",
                     strerror(one->error));
    } else if (exchange != NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        hub_buf_add(&out, HUB_STR("{\"records\":["));
        add_lines(hub_str_from(tail, find_begin(tail, one->limit, one->is_whole)), &out);
        hub_buf_add(&out, HUB_STR("]}"));
        hub_api_answer(exchange, 200, &out);
    }
    hub_buf_fini(&one->tail);
    free(one->path);
    hub_api_later_free(later);
}

static void serve_audit(hub_api_asked *asked)
{
    const hub_audit_settings *settings = &hub_settings_of(asked->hub)->audit;
    uint64_t limit;
    if (!hub_api_query_number(asked, "limit", USUAL_LINES, MOST_LINES, &limit)) {
        return;
    }
    if (!settings->is_on || settings->file == NULL) {
        hub_api_fail(asked->exchange, 409, "conflict",
                     settings->is_on ? "the audit goes to the hub's log: name a file with log: "
                                       "{audit: PATH} to see it here"
                                     : "there is no audit: switch it on with log: {audit: PATH}");
        return;
    }
    job *one = calloc(1, sizeof *one);
    char *path = one != NULL ? hub_str_dup(hub_str_of(settings->file)) : NULL;
    if (path == NULL) {
        free(one);
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        return;
    }
    one->path = path;
    one->limit = limit;
    hub_buf_init(&one->tail, TAIL_BYTES);
    hub_api_work(asked, &one->later, read_tail, finish);
}

static const hub_api_param PARAMS[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000}", "How many at most."},
    {NULL, NULL, NULL},
};

const hub_api_route HUB_API_AUDIT_ROUTES[] = {
    {.method = "GET",
     .path = "/audit",
     .scope = HUB_API_READ,
     .summary = "The last records of the audit's file, oldest first.",
     .params = PARAMS,
     .handle = serve_audit},
    {.method = NULL},
};
