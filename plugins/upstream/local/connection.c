/* SPDX-License-Identifier: Apache-2.0 */
#include "pipes.h"

#include <errno.h>
#include <strings.h>

static patchbay_str trim(patchbay_str text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL) {
        text.len--;
    }
    return text;
}

/* Take the last line off; empty lines are none. */
static patchbay_str take_last_line(patchbay_str *text)
{
    *text = trim(*text);
    size_t begin = text->len;
    while (begin > 0 && text->ptr[begin - 1] != '\n') {
        begin--;
    }
    patchbay_str line = patchbay_str_make(text->ptr + begin, text->len - begin);
    text->len = begin;
    return line;
}

/* Whether it looks like what went wrong, and not like a place where it did (those are indented). */
static int names_error(patchbay_str line)
{
    static const char WORD[] = "error";
    int is_indented = line.len > 0 && (line.ptr[0] == ' ' || line.ptr[0] == '\t');
    for (size_t i = 0; !is_indented && i + sizeof WORD - 1 <= line.len; i++) {
        if (strncasecmp(line.ptr + i, WORD, sizeof WORD - 1) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The last lines that the server wrote to stderr: most servers say there why they end. Where that
 * is followed by more (node ends with its version, after a trace), the line that names an error
 * takes the place of the first. */
static void quote_stderr(mcp_server *server, char *ret_text, size_t size)
{
    const line_server *lines = lines_of(server);
    patchbay_str tail = lines->process != NULL ? lines->processes->stderr_tail(lines->process)
                                               : patchbay_str_make(NULL, 0);
    patchbay_str last[UPSTREAM_STDERR_LINES];
    size_t first = UPSTREAM_STDERR_LINES;
    int has_error = 0;
    while (first > 0 && trim(tail).len > 0) {
        last[--first] = take_last_line(&tail);
        has_error = has_error || names_error(last[first]);
    }
    while (!has_error && first == 0 && trim(tail).len > 0) {
        patchbay_str line = take_last_line(&tail);
        has_error = names_error(line);
        last[0] = has_error ? line : last[0];
    }
    size_t len = 0;
    ret_text[0] = '\0';
    for (size_t i = first; i < UPSTREAM_STDERR_LINES && len + 8 < size; i++) {
        size_t left = UPSTREAM_STDERR_LINES - i; /* each has its share, and what others leave */
        len += len > 0 ? (size_t)snprintf(ret_text + len, size - len, " | ") : 0;
        upstream_quote(last[i], ret_text + len, (size - len) / left);
        len += strlen(ret_text + len);
    }
}

static void end_with(line_server *lines, patchbay_str how, upstream_cause cause)
{
    char reason[UPSTREAM_REASON_BYTES];
    char words[UPSTREAM_QUOTE_BYTES];
    quote_stderr(&lines->server, words, sizeof words);
    if (words[0] == '\0' && lines->server.phase != PHASE_READY) {
        (void)snprintf(words, sizeof words, "%s", lines->server.refusal);
    }
    (void)snprintf(reason, sizeof reason, "%s \"%.128s\" %.*s%s%s",
                   lines->server.is_module ? "plugin" : "server", lines->server.name, (int)how.len,
                   how.ptr, words[0] != '\0' ? "; it said: " : "", words);
    upstream_disconnect(&lines->server, reason, cause);
}

/* The process has exited, or said its last, or both. */
static void end_as_it_did(void *ctx)
{
    line_server *lines = ctx;
    if (!duplex_retry_as_legacy(&lines->server)) {
        int is_size = lines->exited[0] == '\0' && lines->is_too_large;
        end_with(lines, patchbay_str_of(lines->exited[0] != '\0' ? lines->exited : lines->ended),
                 is_size ? upstream_cause_of_size(&lines->server) : CAUSE_FAILURE);
    }
}

/* One of the two was seen: the other should follow. */
static void await_the_rest(line_server *lines)
{
    mcp_server *server = &lines->server;
    server->is_ending = 1;
    lines->last_words = server->loop->timer(server->host, end_as_it_did, lines);
    if (lines->last_words == NULL) {
        end_as_it_did(lines);
    } else {
        server->loop->timer_start(lines->last_words, UPSTREAM_LAST_WORDS_MS);
    }
}

/* A process that closes its pipes has exited, as a rule: how is a better reason. */
static void on_stream_end(void *ctx, patchbay_str reason)
{
    line_server *lines = ctx;
    int is_eof = patchbay_str_eq(reason, patchbay_str_of("end of file"));
    if (is_eof) {
        (void)snprintf(lines->ended, sizeof lines->ended, "closed its output");
    } else {
        lines_describe_end(lines, reason, lines->ended, sizeof lines->ended);
    }
    if (lines->exited[0] == '\0' &&
        (is_eof || patchbay_str_eq(reason, patchbay_str_of(strerror(EPIPE))))) {
        await_the_rest(lines);
    } else {
        end_as_it_did(lines);
    }
}

/* What it wrote before is read first: its last answers may be there. The end of its output follows,
 * unless somebody else holds the pipe. */
static void on_process_exit(void *ctx, patchbay_str status)
{
    line_server *lines = ctx;
    (void)snprintf(lines->exited, sizeof lines->exited, "%.*s", (int)status.len, status.ptr);
    if (lines->ended[0] != '\0') {
        end_as_it_did(lines);
    } else {
        await_the_rest(lines);
    }
}

/* ---- the channel --------------------------------------------------------------------------- */

static int open_pipes(mcp_server *server)
{
    line_server *lines = lines_of(server);
    union {
        char **from;
        const char *const *to;
    } argv = {.from = lines->config.argv}, env = {.from = lines->config.env};
    patchbay_spawn_options options = {
        .struct_size = sizeof options,
        .flags = lines->config.spawn_flags,
        .argv = argv.to,
        .env = env.to,
        .cwd = lines->config.cwd,
        .on_exit = on_process_exit,
        .ctx = lines,
    };
    patchbay_error why = {.struct_size = sizeof why, .text = "out of memory"};
    int in = -1;
    int out = -1;
    int32_t spawned =
        lines->processes->spawn(server->host, &options, &lines->process, &in, &out, NULL, &why);
    if (spawned != PATCHBAY_OK) {
        /* There is no such program, or it is none. */
        int is_config = spawned == PATCHBAY_ENOTFOUND || spawned == PATCHBAY_EINVAL;
        upstream_disconnect(server, why.text, is_config ? CAUSE_CONFIG : CAUSE_FAILURE);
        return 0;
    }
    if (!lines_open(lines, out, in, on_stream_end)) {
        upstream_disconnect(server, "the pipes of the server cannot be used: out of memory",
                            CAUSE_FAILURE);
        return 0;
    }
    if (lines->config.first_line != NULL) {
        const patchbay_str line = patchbay_str_of(lines->config.first_line);
        /* What fails here fails again at once: the handshake follows. */
        (void)lines->streams->send(lines->stream, &line, 1);
    }
    return 1;
}

static void close_pipes(mcp_server *server)
{
    line_server *lines = lines_of(server);
    duplex_forget_guess(server);
    lines->exited[0] = '\0';
    lines->ended[0] = '\0';
    lines->is_too_large = 0;
    server->is_ending = 0;
    server->loop->timer_free(lines->last_words);
    lines->last_words = NULL;
    lines->streams->close(lines->stream); /* closes the server's stdin: it should end */
    if (lines->process != NULL) {
        lines->processes->stop(lines->process, UPSTREAM_STOP_GRACE_MS);
        lines->processes->free(lines->process);
    }
    lines->stream = NULL;
    lines->process = NULL;
}

static uint32_t pid_of(mcp_server *server)
{
    const line_server *lines = lines_of(server);
    return lines->process != NULL ? (uint32_t)lines->processes->pid(lines->process) : 0;
}

const upstream_channel upstream_pipes = {
    .open = open_pipes,
    .send = lines_send,
    .cancel = duplex_cancel,
    .close = close_pipes,
    .pid = pid_of,
    .quote = quote_stderr,
};
