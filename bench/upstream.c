/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MCP server over stdio that costs next to nothing: every call of every tool answers with a text
 * that was made beforehand. It reads no more of a request than its id and method.
 *
 *   upstream [--tools N] [--tools-file FILE] [--bytes N] [--text FILE] [--list-bytes N]
 *            [--delay-us N] [--modern]
 *
 * --tools       how many tools it has, "tool_0" and on (1)
 * --tools-file  the tools that it has instead: definitions with a comma between
 * --bytes       length of the text that a call answers with (200)
 * --text        that text, as it stands in JSON between the quotes
 * --list-bytes  at least how long its list is; the rest is padding (0)
 * --delay-us    how long a call takes (0)
 * --modern      speaks 2026-07-28 only, instead of the handshake revisions only
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024, ID_BYTES = 64 };

typedef struct text {
    char *ptr;
    size_t len;
    size_t cap;
} text;

static void add(text *to, const char *bytes, size_t len)
{
    if (to->len + len > to->cap) {
        to->cap = 2 * (to->len + len);
        to->ptr = realloc(to->ptr, to->cap);
        if (to->ptr == NULL) {
            abort();
        }
    }
    if (len > 0) {
        memcpy(to->ptr + to->len, bytes, len);
    }
    to->len += len;
}

static void add_text(text *to, const char *string)
{
    add(to, string, strlen(string));
}

/* The whole of a file; none without a path. */
static text read_file(const char *path)
{
    static char block[READ_BYTES];
    text content = {0};
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    size_t got;
    if (path != NULL && file == NULL) {
        perror(path);
        exit(2);
    }
    while (file != NULL && (got = fread(block, 1, sizeof block, file)) > 0) {
        add(&content, block, got);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return content;
}

static text answer_of_call;
static text answer_of_list;
static text input;
static text output;
static long delay_us;
static int is_modern;

static void add_tools(long tools)
{
    for (long i = 0; i < tools; i++) {
        char tool[256];
        (void)snprintf(tool, sizeof tool,
                       "%s{\"name\":\"tool_%ld\",\"description\":\"Answers with a text that it has "
                       "ready.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{"
                       "\"type\":\"string\"}}}}",
                       i > 0 ? "," : "", i);
        add_text(&answer_of_list, tool);
    }
}

static void add_letters(long bytes)
{
    for (long i = 0; i < bytes; i++) {
        add(&answer_of_call, &"abcdefghijklmnopqrstuvwxyz012345"[i % 32], 1);
    }
}

/* The files may be NULL; what they hold counts instead of the numbers. */
static void make_answers(long tools, const char *tools_file, long bytes, const char *text_file,
                         long list_bytes)
{
    text payload = read_file(text_file);
    text definitions = read_file(tools_file);
    const char *type = is_modern ? "\"resultType\":\"complete\"," : "";
    add_text(&answer_of_call, "{");
    add_text(&answer_of_call, type);
    add_text(&answer_of_call, "\"content\":[{\"type\":\"text\",\"text\":\"");
    add_letters(text_file == NULL ? bytes : 0);
    add(&answer_of_call, payload.ptr, payload.len);
    add_text(&answer_of_call, "\"}]}");
    add_text(&answer_of_list, "{");
    add_text(&answer_of_list, type);
    add_text(&answer_of_list, is_modern ? "\"ttlMs\":0,\"cacheScope\":\"private\"," : "");
    add_text(&answer_of_list, "\"tools\":[");
    add_tools(tools_file == NULL ? tools : 0);
    add(&answer_of_list, definitions.ptr, definitions.len);
    add_text(&answer_of_list, "],\"_meta\":{\"bench/padding\":\"");
    for (long left = list_bytes - (long)answer_of_list.len - 4; left > 0; left--) {
        add(&answer_of_list, "a", 1);
    }
    add_text(&answer_of_list, "\"}}");
}

static int has_method(const char *line, size_t len, const char *method)
{
    char member[96];
    int n = snprintf(member, sizeof member, "\"method\":\"%s\"", method);
    size_t head = len < 512 ? len : 512; /* the payload comes later, and is not looked at */
    return memmem(line, head, member, (size_t)n) != NULL;
}

static void answer(const char *id, size_t id_len, const char *result, size_t len)
{
    add_text(&output, "{\"jsonrpc\":\"2.0\",\"id\":");
    add(&output, id, id_len);
    add_text(&output, ",\"result\":");
    add(&output, result, len);
    add_text(&output, "}\n");
}

/* It speaks whatever handshake revision the client asks for: they do not differ in what it does. */
static void answer_initialize(const char *id, size_t id_len, const char *line, size_t len)
{
    static const char MEMBER[] = "\"protocolVersion\":\"";
    const char *asked = memmem(line, len, MEMBER, sizeof MEMBER - 1);
    const char *revision = asked != NULL ? asked + sizeof MEMBER - 1 : "2025-11-25";
    char result[256];
    int n = snprintf(result, sizeof result,
                     "{\"protocolVersion\":\"%.10s\",\"capabilities\":{\"tools\":{}},"
                     "\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}",
                     revision);
    answer(id, id_len, result, (size_t)n);
}

static void take_line(const char *line, size_t len)
{
    const char *id = memmem(line, len < 512 ? len : 512, "\"id\":", 5);
    if (id == NULL) {
        return;
    }
    id += 5;
    size_t id_len = strcspn(id, ",}");
    if (has_method(line, len, "tools/call")) {
        if (delay_us > 0) {
            (void)nanosleep(&(struct timespec){.tv_nsec = delay_us * 1000}, NULL);
        }
        answer(id, id_len, answer_of_call.ptr, answer_of_call.len);
    } else if (has_method(line, len, "tools/list")) {
        answer(id, id_len, answer_of_list.ptr, answer_of_list.len);
    } else if (has_method(line, len, "initialize") && !is_modern) {
        answer_initialize(id, id_len, line, len);
    } else if (has_method(line, len, "server/discover") && is_modern) {
        static const char RESULT[] =
            "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
            "\"capabilities\":{\"tools\":{}},\"ttlMs\":0,\"cacheScope\":\"private\"}";
        answer(id, id_len, RESULT, sizeof RESULT - 1);
    } else if (has_method(line, len, "ping")) {
        answer(id, id_len, "{}", 2);
    } else {
        add_text(&output, "{\"jsonrpc\":\"2.0\",\"id\":");
        add(&output, id, id_len);
        add_text(&output, ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n");
    }
}

static void flush(void)
{
    for (size_t done = 0; done < output.len;) {
        ssize_t put = write(STDOUT_FILENO, output.ptr + done, output.len - done);
        if (put < 0 && errno != EINTR) {
            exit(0);
        }
        done += put > 0 ? (size_t)put : 0;
    }
    output.len = 0;
}

/* Take all complete lines, keep the rest. */
static void take_input(size_t searched)
{
    char *from = input.ptr;
    char *end = input.ptr + input.len;
    char *newline = memchr(input.ptr + searched, '\n', input.len - searched);
    while (newline != NULL) {
        take_line(from, (size_t)(newline - from));
        from = newline + 1;
        newline = memchr(from, '\n', (size_t)(end - from));
    }
    input.len = (size_t)(end - from);
    memmove(input.ptr, from, input.len);
}

int main(int argc, char **argv)
{
    static char block[READ_BYTES];
    long tools = 1;
    long bytes = 200;
    long list_bytes = 0;
    const char *tools_file = NULL;
    const char *text_file = NULL;
    for (int i = 1; i < argc; i++) {
        long value = i + 1 < argc ? strtol(argv[i + 1], NULL, 10) : 0;
        if (strcmp(argv[i], "--modern") == 0) {
            is_modern = 1;
            continue;
        }
        if (strcmp(argv[i], "--tools") == 0) {
            tools = value;
        } else if (strcmp(argv[i], "--tools-file") == 0) {
            tools_file = argv[i + 1];
        } else if (strcmp(argv[i], "--text") == 0) {
            text_file = argv[i + 1];
        } else if (strcmp(argv[i], "--bytes") == 0) {
            bytes = value;
        } else if (strcmp(argv[i], "--list-bytes") == 0) {
            list_bytes = value;
        } else if (strcmp(argv[i], "--delay-us") == 0) {
            delay_us = value;
        } else {
            (void)fprintf(stderr, "upstream: what is %s?\n", argv[i]);
            return 2;
        }
        i++;
    }
    make_answers(tools, tools_file, bytes, text_file, list_bytes);
    for (;;) {
        ssize_t got = read(STDIN_FILENO, block, sizeof block);
        if (got <= 0) {
            return 0;
        }
        size_t before = input.len;
        add(&input, block, (size_t)got);
        take_input(before);
        flush();
    }
}
