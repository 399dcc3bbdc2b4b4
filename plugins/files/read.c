/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <unistd.h>

#define BLOCK_BYTES 65536u /* read at once while lines are counted */

typedef enum read_encoding { ENCODING_AUTO, ENCODING_TEXT, ENCODING_BASE64 } read_encoding;

typedef struct read_request {
    patchbay_tool_call *call;
    files_path path;
    int fd;
    size_t max;
    read_encoding encoding;
    int by_bytes;
    int by_lines;
    int64_t offset; /* by bytes: as asked; by lines: found */
    int64_t length; /* 0: up to the limit */
    int64_t line;   /* from 1 */
    int64_t lines;  /* 0: up to the limit */
    char *bytes;    /* max + 1: one more tells whether there is more */
    size_t len;
    int more; /* the file goes on behind `len` */
    char note[400];
} read_request;

/* ---- arguments ------------------------------------------------------------------------------- */

static int arg_encoding(patchbay_tool_call *call, read_encoding *ret, files_problem *problem)
{
    static const char *const names[] = {"auto", "text", "base64"};
    patchbay_str raw = patchbay_arg(call, "encoding");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (raw.len == 0 || patchbay_json_is(raw, patchbay_str_of(names[i]))) {
            *ret = (read_encoding)i;
            return 0;
        }
    }
    files_refuse(problem, PATCHBAY_INVALID_INPUT, "'encoding' must be auto, text or base64");
    return -1;
}

static int has_arg(patchbay_tool_call *call, const char *key)
{
    return patchbay_arg(call, key).len > 0;
}

static int read_arguments(read_request *request, files_problem *problem)
{
    patchbay_tool_call *call = request->call;
    int64_t max = (int64_t)request->max;
    request->by_bytes = has_arg(call, "offset") || has_arg(call, "length");
    request->by_lines = has_arg(call, "line") || has_arg(call, "lines");
    if (files_arg_path(call, "path", &request->path, problem) != 0 ||
        arg_encoding(call, &request->encoding, problem) != 0 ||
        files_arg_number(call, "offset", 0, 0, INT64_MAX / 2, &request->offset, problem) != 0 ||
        files_arg_number(call, "length", 0, 1, INT64_MAX / 2, &request->length, problem) != 0 ||
        files_arg_number(call, "line", 1, 1, INT64_MAX / 2, &request->line, problem) != 0 ||
        files_arg_number(call, "lines", 0, 1, INT64_MAX / 2, &request->lines, problem) != 0) {
        return -1;
    }
    if (request->by_bytes && request->by_lines) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "say either offset and length (bytes), or line and lines");
        return -1;
    }
    if (request->by_lines && request->encoding == ENCODING_BASE64) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "base64 is read by offset and length, not by lines");
        return -1;
    }
    if (request->length > max) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'length' is %lld, but at most %lld bytes are read at once",
                     (long long)request->length, (long long)max);
        return -1;
    }
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Read until `size` bytes are there, or the file ends. */
static ssize_t read_at(const read_request *request, char *bytes, size_t size, int64_t offset)
{
    size_t len = 0;
    while (len < size) {
        ssize_t n = pread(request->fd, bytes + len, size - len, (off_t)offset + (off_t)len);
        if (n == 0 || patchbay_cancelled(request->call)) {
            break;
        }
        if (n > 0) {
            len += (size_t)n;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return (ssize_t)len;
}

/* Fill `bytes` from `offset`; one byte beyond `want` shows whether there is more. */
static int fill(read_request *request, size_t want, files_problem *problem)
{
    ssize_t n = read_at(request, request->bytes, want + 1, request->offset);
    if (n < 0) {
        char reason[100];
        files_refuse(problem, PATCHBAY_FAILED, "'%s' cannot be read: %s", request->path.shown,
                     strerror_r(errno, reason, sizeof reason));
        return -1;
    }
    request->more = (size_t)n > want;
    request->len = request->more ? want : (size_t)n;
    return 0;
}

static int read_whole(read_request *request, const struct stat *status, files_problem *problem)
{
    if (fill(request, request->max, problem) != 0) {
        return -1;
    }
    if (request->more) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'%s' has %lld bytes, more than the limit of %zu. Read a part of it: with "
                     "offset and length (at most %zu), or with line and lines",
                     request->path.shown, (long long)status->st_size, request->max, request->max);
        return -1;
    }
    return 0;
}

/* Set `offset` to where `line` begins. */
static int find_line(read_request *request, files_problem *problem)
{
    char *block = (char *)patchbay_call_alloc(request->call, BLOCK_BYTES);
    int64_t line = 1;
    int64_t at = 0;
    int ends_in_newline = 0;
    ssize_t n = 0;
    while (block != NULL && line < request->line) {
        n = read_at(request, block, BLOCK_BYTES, at);
        if (n <= 0) {
            break;
        }
        const char *begin = block;
        const char *end = block + n;
        while (line < request->line && begin < end) {
            const char *newline = (const char *)memchr(begin, '\n', (size_t)(end - begin));
            line += newline != NULL;
            begin = newline != NULL ? newline + 1 : end;
        }
        at += begin - block;
        ends_in_newline = begin[-1] == '\n';
    }
    if (block == NULL || n < 0) {
        files_refuse(problem, PATCHBAY_FAILED, "'%s' cannot be read", request->path.shown);
        return -1;
    }
    request->offset = at;
    if (line < request->line) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' has no line %lld: it has %lld",
                     request->path.shown, (long long)request->line,
                     (long long)line - ends_in_newline);
        return -1;
    }
    return 0;
}

/* Keep whole lines, at most `lines` of them. */
static int cut_lines(read_request *request, files_problem *problem)
{
    size_t kept = 0;
    int64_t count = 0;
    while (kept < request->len && (request->lines == 0 || count < request->lines)) {
        const char *begin = request->bytes + kept;
        const char *newline = (const char *)memchr(begin, '\n', request->len - kept);
        if (newline == NULL && request->more) {
            break;
        }
        kept = newline != NULL ? (size_t)(newline + 1 - request->bytes) : request->len;
        count++;
    }
    if (count == 0 && request->more) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "line %lld of '%s' is longer than the limit of %zu bytes; read it in parts, "
                     "beginning with offset %lld",
                     (long long)request->line, request->path.shown, request->max,
                     (long long)request->offset);
        return -1;
    }
    request->more |= kept < request->len;
    request->len = kept;
    if (request->more) {
        (void)snprintf(request->note, sizeof request->note,
                       "[lines %lld to %lld; more follow: read on with line %lld]",
                       (long long)request->line, (long long)(request->line + count - 1),
                       (long long)(request->line + count));
    } else {
        (void)snprintf(request->note, sizeof request->note, "[%lld line%s from line %lld: the end]",
                       (long long)count, count == 1 ? "" : "s", (long long)request->line);
    }
    return 0;
}

static int read_range(read_request *request, const struct stat *status, files_problem *problem)
{
    if (!request->by_lines && !request->by_bytes) {
        return read_whole(request, status, problem);
    }
    if (request->by_bytes) {
        return fill(request, request->length > 0 ? (size_t)request->length : request->max, problem);
    }
    if (find_line(request, problem) != 0 || fill(request, request->max, problem) != 0) {
        return -1;
    }
    return cut_lines(request, problem);
}

/* ---- replies --------------------------------------------------------------------------------- */

static const char *find_image_type(const char *bytes, size_t len)
{
    static const struct {
        const char *magic;
        size_t len;
        size_t at;
        const char *type;
    } images[] = {
        {"\x89PNG\r\n\x1a\n", 8, 0, "image/png"},
        {"\xff\xd8\xff", 3, 0, "image/jpeg"},
        {"GIF87a", 6, 0, "image/gif"},
        {"GIF89a", 6, 0, "image/gif"},
        {"WEBP", 4, 8, "image/webp"},
    };
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        if (len >= images[i].at + images[i].len &&
            memcmp(bytes + images[i].at, images[i].magic, images[i].len) == 0) {
            return images[i].type;
        }
    }
    return NULL;
}

static void out_uri(patchbay_out *out, const files_path *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    const char *parts[] = {path->root->real_path, "/", path->rel};
    patchbay_out_text(out, "file://");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (const char *at = parts[i]; *at != '\0'; at++) {
            if (strchr(plain, *at) != NULL) {
                patchbay_out_raw(out, patchbay_str_make(at, 1));
            } else {
                patchbay_out_printf(out, "%%%02X", (unsigned char)*at);
            }
        }
    }
}

static void add_blob(const read_request *request)
{
    patchbay_out block;
    memset(&block, 0, sizeof block);
    patchbay_out_text(&block, "{\"type\":\"resource\",\"resource\":{\"uri\":\"");
    out_uri(&block, &request->path);
    patchbay_out_text(&block, "\",\"mimeType\":\"application/octet-stream\",\"blob\":\"");
    patchbay_out_base64(&block, request->bytes, request->len);
    patchbay_out_text(&block, "\"}}");
    if (block.failed) {
        patchbay_structured(request->call)->failed = 1; /* patchbay_reply reports it */
    } else {
        patchbay_add_block(request->call, patchbay_str_make(block.ptr, block.len));
    }
    patchbay_out_free(&block);
}

/* Where the text in the buffer begins and ends when a byte range cut characters in two. */
static patchbay_str trim_text(const read_request *request)
{
    const char *begin = request->bytes;
    const char *end = begin + request->len;
    if (request->by_bytes && request->offset > 0) {
        for (int i = 0; i < 3 && begin < end && (*begin & 0xc0) == 0x80; i++) {
            begin++;
        }
    }
    size_t len = (size_t)(end - begin);
    size_t whole = files_utf8_length(begin, len);
    int is_cut = request->by_bytes && request->more && len - whole < 4 && whole > 0;
    return patchbay_str_make(begin, is_cut ? whole : len);
}

static void note_bytes(read_request *request, int64_t begin, size_t len)
{
    if (request->by_bytes) {
        int64_t end = begin + (int64_t)len;
        (void)snprintf(request->note, sizeof request->note,
                       request->more ? "[%zu bytes from offset %lld; more follow: read on with "
                                       "offset %lld]"
                                     : "[%zu bytes from offset %lld: the end at %lld]",
                       len, (long long)begin, (long long)end);
    }
}

static void reply(read_request *request)
{
    patchbay_tool_call *call = request->call;
    patchbay_str text = trim_text(request);
    size_t valid = files_utf8_length(text.ptr, text.len);
    const char *image = find_image_type(request->bytes, request->len);
    int is_part = request->by_bytes || request->by_lines;
    int is_text = valid == text.len && memchr(text.ptr, '\0', text.len) == NULL;
    if (request->encoding == ENCODING_TEXT && valid < text.len) {
        patchbay_reply_error(
            call, PATCHBAY_INVALID_INPUT,
            "'%s' is not UTF-8 text (byte %lld); read it with encoding base64", request->path.shown,
            (long long)(request->offset + (text.ptr - request->bytes)) + (long long)valid);
        return;
    }
    if (request->encoding == ENCODING_AUTO && image != NULL && !is_part) {
        patchbay_add_media(call, "image", image, request->bytes, request->len);
    } else if (request->encoding == ENCODING_TEXT ||
               (request->encoding == ENCODING_AUTO && is_text)) {
        note_bytes(request, request->offset + (text.ptr - request->bytes), text.len);
        patchbay_add_text(call, text);
    } else {
        note_bytes(request, request->offset, request->len);
        add_blob(request);
    }
    if (request->note[0] != '\0') {
        patchbay_add_text(call, patchbay_str_of(request->note));
    }
    patchbay_reply(call);
}

void files_read(patchbay_tool_call *call)
{
    const files_set *set = (const files_set *)patchbay_toolset_data(call);
    read_request request = {.call = call, .fd = -1, .max = set->max_read_bytes};
    files_problem problem = {PATCHBAY_FAILED, "out of memory"};
    struct stat status;
    int done = read_arguments(&request, &problem);
    if (done == 0) {
        request.fd = files_open_regular(set, &request.path, &status, &problem);
        request.bytes = request.fd >= 0 ? (char *)malloc(request.max + 1) : NULL;
        done = request.bytes != NULL ? read_range(&request, &status, &problem) : -1;
    }
    if (request.fd >= 0) {
        (void)close(request.fd);
    }
    if (done == 0) {
        reply(&request);
    } else {
        files_reply_problem(call, &problem);
    }
    free(request.bytes);
}
