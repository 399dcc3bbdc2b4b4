/* SPDX-License-Identifier: Apache-2.0 */
#include "load_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define INITIALIZE                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"                         \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                                      \
    "\"clientInfo\":{\"name\":\"loadgen\",\"version\":\"1\"}}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

options opt = {.clients = 1, .outstanding = 1, .calls = 10000, .bytes = 200, .tool = "tool_0"};

static char session[256];   /* header line of the legacy HTTP session */
static char endpoint[1024]; /* of the client that is being opened, in HTTP+SSE */

void die(const char *what)
{
    (void)fprintf(stderr, "loadgen: %s: %s\n", what, strerror(errno));
    exit(1);
}

void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        die("memory");
    }
    return memory;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

/* The head of a client's frame (RFC 6455, 5.2), masked with zeros: its message stays readable. */
static size_t frame_head(size_t len, char *head)
{
    static const char MASK[4];
    size_t bytes = len < 126 ? 0 : len <= UINT16_MAX ? 2 : 8;
    head[0] = (char)0x81; /* text, whole */
    head[1] = (char)(0x80 | (bytes == 0 ? len : bytes == 2 ? 126 : 127));
    for (size_t i = 0; i < bytes; i++) {
        head[2 + i] = (char)(len >> (8 * (bytes - 1 - i)));
    }
    memcpy(head + 2 + bytes, MASK, sizeof MASK);
    return 2 + bytes + sizeof MASK;
}

/* A message, with the head of its HTTP request or of its frame when there is one. */
static char *frame(const char *message, const char *method, const char *name, size_t *ret_len)
{
    size_t len = strlen(message);
    char *request = allocate(len + 1024);
    int head = opt.is_websocket ? (int)frame_head(len, request) : 0;
    if (opt.is_http) {
        char modern[256] = "";
        if (opt.is_modern) {
            (void)snprintf(modern, sizeof modern,
                           "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%s%s%s", method,
                           name != NULL ? "Mcp-Name: " : "", name != NULL ? name : "",
                           name != NULL ? "\r\n" : "");
        }
        const char *path = endpoint[0] != '\0' ? endpoint : opt.target[1];
        head = sprintf(request,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Accept: application/json, text/event-stream\r\n%s%sContent-Length: "
                       "%zu\r\n\r\n",
                       path, modern, session, len);
    }
    memcpy(request + head, message, len);
    *ret_len = (size_t)head + len;
    if (!opt.is_http && !opt.is_websocket) {
        request[(*ret_len)++] = '\n';
    }
    return request;
}

/* The request that is sent again and again. */
static void make_request(client *to)
{
    char *message = allocate((size_t)opt.bytes + 1024);
    if (opt.is_list) {
        (void)sprintf(message,
                      "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\",\"params\":{%s}}",
                      FIRST_ID, opt.is_modern ? META : "");
        to->request = frame(message, "tools/list", NULL, &to->request_len);
    } else {
        int len = sprintf(message,
                          "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                          "\"name\":\"%s\",%s\"arguments\":{\"text\":\"",
                          FIRST_ID, opt.tool, opt.is_modern ? META "," : "");
        memset(message + len, 'a', (size_t)opt.bytes);
        if (opt.text != NULL) {
            memcpy(message + len, opt.text, (size_t)opt.bytes);
        }
        (void)strcpy(message + len + opt.bytes, "\"}}}");
        to->request = frame(message, "tools/call", opt.tool, &to->request_len);
    }
    const char *id = memmem(to->request, to->request_len, "1000000000", 10);
    to->id_at = (size_t)(id - to->request);
    free(message);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

/* The id of an answer: most print it second, JavaScript often last. */
long id_of(const char *answer, size_t len)
{
    const char *id = memmem(answer, len < 64 ? len : 64, "\"id\":", 5);
    if (id == NULL && len > 64) {
        id = memmem(answer + len - 64, 64, "\"id\":", 5);
    }
    return id != NULL ? strtol(id + 5, NULL, 10) : -1;
}

int is_error(const char *answer, size_t len)
{
    static const char FAILED[] = "\"isError\":true";
    enum { ENDS_BYTES = 256 }; /* nobody writes it in the middle of the payload */
    size_t head = len < ENDS_BYTES ? len : ENDS_BYTES;
    return memmem(answer, head, "\"error\":", 8) != NULL ||
           memmem(answer, head, FAILED, sizeof FAILED - 1) != NULL ||
           memmem(answer + len - head, head, FAILED, sizeof FAILED - 1) != NULL;
}

/* The length of the HTTP answer at the front, or 0 while it is incomplete. */
static size_t http_length(const char *bytes, size_t len, const char **ret_body,
                          size_t *ret_body_len)
{
    const char *end = memmem(bytes, len, "\r\n\r\n", 4);
    if (end == NULL) {
        return 0;
    }
    size_t head = (size_t)(end - bytes) + 4;
    const char *length = NULL;
    for (const char *line = bytes; line < end; line = (const char *)memchr(line, '\n', len) + 1) {
        if (strncasecmp(line, "content-length:", 15) == 0) {
            length = line + 15;
        }
    }
    *ret_body = bytes + head;
    if (length != NULL) {
        *ret_body_len = strtoul(length, NULL, 10);
        return head + *ret_body_len <= len ? head + *ret_body_len : 0;
    }
    /* Chunked: the call's event stream ends with the empty chunk. */
    const char *last = memmem(bytes + head - 2, len - head + 2, "\r\n0\r\n\r\n", 7);
    if (last == NULL) {
        return 0;
    }
    *ret_body_len = (size_t)(last - *ret_body);
    return (size_t)(last - bytes) + 7;
}

/* The length of the frame at the front, or 0 while it is incomplete. */
static size_t frame_length(const char *bytes, size_t len, const char **ret_payload, size_t *ret_len)
{
    size_t code = len >= 2 ? (unsigned char)bytes[1] : 0;
    size_t more = code < 126 ? 0 : code == 126 ? 2 : 8;
    if (len < 2 + more) {
        return 0;
    }
    *ret_len = more == 0 ? code : 0;
    for (size_t i = 0; i < more; i++) {
        *ret_len = *ret_len << 8 | (unsigned char)bytes[2 + i];
    }
    *ret_payload = bytes + 2 + more;
    return 2 + more + *ret_len <= len ? 2 + more + *ret_len : 0;
}

size_t client_answer_length(client *from, const char **ret_answer, size_t *ret_len)
{
    if (opt.is_websocket) {
        return frame_length(from->input, from->input_len, ret_answer, ret_len);
    }
    if (opt.is_http && !opt.is_sse) {
        size_t used = http_length(from->input, from->input_len, ret_answer, ret_len);
        const char *json = used > 0 ? memchr(*ret_answer, '{', *ret_len) : NULL;
        if (json != NULL) {
            *ret_len -= (size_t)(json - *ret_answer);
            *ret_answer = json;
        }
        return used;
    }
    char *newline = memchr(from->input + from->searched, '\n', from->input_len - from->searched);
    from->searched = newline != NULL ? 0 : from->input_len;
    *ret_answer = from->input;
    *ret_len = newline != NULL ? (size_t)(newline - from->input) : 0;
    return newline != NULL ? *ret_len + 1 : 0;
}

ssize_t client_read(client *from)
{
    if (from->input_cap - from->input_len < READ_BYTES) {
        from->input_cap = 2 * from->input_cap + 2 * READ_BYTES;
        from->input = realloc(from->input, from->input_cap);
        if (from->input == NULL) {
            die("memory");
        }
    }
    if (opt.is_sse) { /* what POST is answered with, says nothing */
        char nothing[4096];
        ssize_t count;
        while ((count = recv(from->in, nothing, sizeof nothing, MSG_DONTWAIT)) > 0) {
        }
        if (count == 0) {
            die("the server closed the connection that requests go over");
        }
    }
    ssize_t got = read(from->out, from->input + from->input_len, READ_BYTES);
    if (got > 0) {
        from->input_len += (size_t)got;
    }
    return got;
}

void client_use_up(client *from, size_t used)
{
    from->input_len -= used;
    memmove(from->input, from->input + used, from->input_len);
}

/* ---- the conversation ---------------------------------------------------------------------------
 */

static int connect_tcp(void)
{
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(opt.target[0])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&there, sizeof there) != 0) {
        die("connect");
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* The next line of an event stream. The lines around its chunks are lines like any other: no server
 * cuts a short event in two. */
static size_t next_line(client *from, const char **ret_line, size_t *ret_len)
{
    for (;;) {
        size_t used = from->input_len > 0 ? client_answer_length(from, ret_line, ret_len) : 0;
        if (used > 0) {
            return used;
        }
        if (client_read(from) <= 0) {
            die("the server ended during the opening");
        }
    }
}

/* HTTP+SSE (MCP 2024-11-05): a stream that answers come over, whose first event says where requests
 * go. */
static void open_events(client *to)
{
    char request[2048];
    int len = snprintf(request, sizeof request,
                       "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
                       opt.target[1]);
    to->out = connect_tcp();
    if (write(to->out, request, (size_t)len) != len) {
        die("opening");
    }
    for (endpoint[0] = '\0'; endpoint[0] == '\0';) {
        const char *line;
        size_t line_len;
        size_t used = next_line(to, &line, &line_len);
        const char *path = memmem(line, line_len, "data: ", 6);
        if (path != NULL && memmem(path, line_len - (size_t)(path - line), "/", 1) != NULL) {
            size_t path_len = line_len - (size_t)(path + 6 - line);
            const char *host = memmem(path + 6, path_len, "://", 3);
            const char *from = host != NULL ? strchr(host + 3, '/') : path + 6;
            (void)snprintf(endpoint, sizeof endpoint, "%.*s", (int)strcspn(from, "\r\n"), from);
        }
        client_use_up(to, used);
    }
}

static void connect_http(client *to)
{
    to->in = connect_tcp();
    to->out = to->in;
    if (opt.is_sse) {
        open_events(to);
    }
}

static void connect_unix(client *to)
{
    struct sockaddr_un there = {.sun_family = AF_UNIX};
    (void)snprintf(there.sun_path, sizeof there.sun_path, "%s", opt.target[0]);
    to->in = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    to->out = to->in;
    if (connect(to->in, (struct sockaddr *)&there, sizeof there) != 0) {
        die(opt.target[0]);
    }
}

/* The opening handshake (RFC 6455, 4.1). */
static void connect_websocket(client *to)
{
    char request[1024];
    int len = snprintf(request, sizeof request,
                       "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                       opt.target[1]);
    to->in = connect_tcp();
    to->out = to->in;
    if (write(to->in, request, (size_t)len) != len) {
        die("opening");
    }
    for (const char *last = NULL; last == NULL;) {
        if (client_read(to) <= 0) {
            die("the server ended during the opening");
        }
        last = memmem(to->input, to->input_len, "\r\n\r\n", 4);
        if (last != NULL && memcmp(to->input, "HTTP/1.1 101", 12) != 0) {
            (void)fprintf(stderr, "loadgen: no WebSocket: %.60s\n", to->input);
            exit(1);
        }
        client_use_up(to, last != NULL ? (size_t)(last + 4 - to->input) : 0);
    }
}

static void start_server(client *to)
{
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        die("pipe");
    }
    to->pid = fork();
    if (to->pid == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        execvp(opt.target[0], opt.target);
        die(opt.target[0]);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    to->in = in[1];
    to->out = out[0];
}

/* Send one message and wait for its answer, if it has one. The memory is the caller's. */
static char *converse(client *with, const char *message, const char *method, int has_answer)
{
    size_t len;
    char *request = frame(message, method, NULL, &len);
    if (write(with->in, request, len) != (ssize_t)len) {
        die("opening");
    }
    free(request);
    if (!has_answer && (!opt.is_http || opt.is_sse)) {
        return NULL;
    }
    for (;;) {
        const char *answer;
        size_t answer_len;
        size_t used = with->input_len > 0 ? client_answer_length(with, &answer, &answer_len) : 0;
        if (used > 0 && ((opt.is_http && !opt.is_sse) || id_of(answer, answer_len) >= 0)) {
            char *copy = strndup(opt.is_http ? with->input : answer, used);
            client_use_up(with, used);
            return copy;
        }
        if (used > 0) {
            client_use_up(with, used); /* a notification */
        } else if (client_read(with) <= 0) {
            die("the server ended during the opening");
        }
    }
}

static const char *list_request(void)
{
    return opt.is_modern
               ? "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{" META "}}"
               : "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}";
}

static void shake_hands(client *with)
{
    char *answer = converse(with, INITIALIZE, "initialize", 1);
    const char *id = strcasestr(answer, "mcp-session-id:");
    if (opt.is_http && id != NULL) {
        (void)snprintf(session, sizeof session, "Mcp-Session-Id:%.*s\r\n",
                       (int)strcspn(id + 15, "\r"), id + 15);
    }
    free(answer);
    free(converse(with, INITIALIZED, "notifications/initialized", 0));
}

void client_open(client *to, int is_first)
{
    if (opt.is_http) {
        connect_http(to);
    } else if (opt.is_websocket) {
        connect_websocket(to);
    } else if (opt.is_unix) {
        connect_unix(to);
    } else {
        start_server(to);
    }
    if (!opt.is_raw && !opt.is_modern && (is_first || !opt.is_http || opt.is_sse)) {
        shake_hands(to);
    }
    if (!opt.is_raw &&
        (is_first || !opt.is_http || opt.is_sse)) { /* the tools are known from here on */
        free(converse(to, list_request(), "tools/list", 1));
    }
    make_request(to);
    (void)fcntl(to->in, F_SETFL, fcntl(to->in, F_GETFL) | O_NONBLOCK);
    (void)fcntl(to->out, F_SETFL, fcntl(to->out, F_GETFL) | O_NONBLOCK);
}

void client_close(client *of)
{
    if (of->in >= 0) {
        (void)close(of->in);
    }
    if (of->out != of->in) {
        (void)close(of->out);
    }
    if (of->pid > 0) {
        (void)waitpid(of->pid, NULL, 0);
    }
    free(of->request);
    free(of->pending);
    free(of->input);
    *of = (client){.in = -1, .out = -1};
}

void client_start_and_list(client *to)
{
    char opening[2048];
    int len = snprintf(opening, sizeof opening, "%s%s\n",
                       opt.is_modern ? "" : INITIALIZE "\n" INITIALIZED "\n", list_request());
    start_server(to);
    if (write(to->in, opening, (size_t)len) != len) {
        die("opening");
    }
    for (long id = -1; id != 2;) {
        const char *answer;
        size_t answer_len;
        size_t used = to->input_len > 0 ? client_answer_length(to, &answer, &answer_len) : 0;
        if (used == 0 && client_read(to) <= 0) {
            die("the server ended before it answered tools/list");
        }
        if (used > 0) {
            id = id_of(answer, answer_len);
            client_use_up(to, used);
        }
    }
}
