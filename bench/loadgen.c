/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load generator: calls one tool as often as it can, and measures every call.
 *
 *   loadgen [OPTION]… stdio COMMAND [ARGUMENT]…    a server per client, over its pipes
 *   loadgen [OPTION]… http PORT PATH               a connection per client, kept
 *
 *   --clients N      clients (1)
 *   --outstanding N  calls that one client has in flight; over HTTP always 1 (1)
 *   --calls N        calls in all, after a tenth as many to warm up (10000)
 *   --bytes N        length of the text in the arguments (200)
 *   --tool NAME      (tool_0)
 *   --modern         2026-07-28 instead of 2025-11-25
 *   --raw            no opening, and no session: for servers that are none
 *
 * Prints one JSON object: calls per second, and the quantiles of the latency in microseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CLIENTS = 4096, MAX_OUTSTANDING = 1024, READ_BYTES = 1 << 20, EVENTS = 256 };

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

typedef struct options {
    long clients;
    long outstanding;
    long calls;
    long bytes;
    const char *tool;
    int is_modern;
    int is_raw;
    int is_http;
    char **target; /* the command, or port and path */
} options;

typedef struct client {
    pid_t pid;
    int in;  /* where requests go */
    int out; /* where answers come from; the same over HTTP */
    char *request;
    size_t request_len;
    size_t id_at;  /* where the id stands in the request: ten digits */
    char *pending; /* of a request: what the server has not taken */
    size_t pending_len;
    size_t pending_done;
    char *input;
    size_t input_len;
    size_t input_cap;
    size_t searched;
    double sent_at[MAX_OUTSTANDING];
    long next_id;
    long in_flight;
} client;

static options opt = {
    .clients = 1, .outstanding = 1, .calls = 10000, .bytes = 200, .tool = "tool_0"};
static client *clients;
static char session[256]; /* header line of the legacy HTTP session */
static double *latencies;
static long measured;
static long started;
static long finished;
static long warm_up;
static double begun_at;

static void die(const char *what)
{
    (void)fprintf(stderr, "loadgen: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        die("memory");
    }
    return memory;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

/* A message, with the head of its HTTP request when there is one. */
static char *frame(const char *message, const char *method, const char *name, size_t *ret_len)
{
    size_t len = strlen(message);
    char *request = allocate(len + 1024);
    int head = 0;
    if (opt.is_http) {
        char modern[256] = "";
        if (opt.is_modern) {
            (void)snprintf(modern, sizeof modern,
                           "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%s%s%s", method,
                           name != NULL ? "Mcp-Name: " : "", name != NULL ? name : "",
                           name != NULL ? "\r\n" : "");
        }
        head = sprintf(request,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Accept: application/json, text/event-stream\r\n%s%sContent-Length: "
                       "%zu\r\n\r\n",
                       opt.target[1], modern, session, len);
    }
    memcpy(request + head, message, len);
    *ret_len = (size_t)head + len;
    if (!opt.is_http) {
        request[(*ret_len)++] = '\n';
    }
    return request;
}

static void make_call(client *to)
{
    char *message = allocate((size_t)opt.bytes + 1024);
    int len =
        sprintf(message,
                "{\"jsonrpc\":\"2.0\",\"id\":1000000000,\"method\":\"tools/call\",\"params\":{"
                "\"name\":\"%s\",%s\"arguments\":{\"text\":\"",
                opt.tool, opt.is_modern ? META "," : "");
    memset(message + len, 'a', (size_t)opt.bytes);
    (void)strcpy(message + len + opt.bytes, "\"}}}");
    to->request = frame(message, "tools/call", opt.tool, &to->request_len);
    to->id_at = (size_t)(strstr(to->request, "1000000000") - to->request);
    free(message);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

/* The id of an answer: most print it second, JavaScript often last. */
static long id_of(const char *answer, size_t len)
{
    const char *id = memmem(answer, len < 64 ? len : 64, "\"id\":", 5);
    if (id == NULL && len > 64) {
        id = memmem(answer + len - 64, 64, "\"id\":", 5);
    }
    return id != NULL ? strtol(id + 5, NULL, 10) : -1;
}

static int is_error(const char *answer, size_t len)
{
    return memmem(answer, len < 128 ? len : 128, "\"error\":", 8) != NULL ||
           memmem(answer, len, "\"isError\":true", 14) != NULL;
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

/* The length of what is at the front, or 0; the answer within it. */
static size_t answer_length(client *from, const char **ret_answer, size_t *ret_len)
{
    if (opt.is_http) {
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

static ssize_t read_some(client *from)
{
    if (from->input_cap - from->input_len < READ_BYTES) {
        from->input_cap = 2 * from->input_cap + 2 * READ_BYTES;
        from->input = realloc(from->input, from->input_cap);
        if (from->input == NULL) {
            die("memory");
        }
    }
    ssize_t got = read(from->out, from->input + from->input_len, READ_BYTES);
    if (got > 0) {
        from->input_len += (size_t)got;
    }
    return got;
}

static void use_up(client *from, size_t used)
{
    from->input_len -= used;
    memmove(from->input, from->input + used, from->input_len);
}

/* ---- the conversation ---------------------------------------------------------------------------
 */

static void connect_http(client *to)
{
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(opt.target[0])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    to->in = to->out = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(to->in, (struct sockaddr *)&there, sizeof there) != 0) {
        die("connect");
    }
    (void)setsockopt(to->in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
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
    if (!has_answer && !opt.is_http) {
        return NULL;
    }
    for (;;) {
        const char *answer;
        size_t answer_len;
        size_t used = with->input_len > 0 ? answer_length(with, &answer, &answer_len) : 0;
        if (used > 0 && (opt.is_http || id_of(answer, answer_len) >= 0)) {
            char *copy = strndup(with->input, used);
            use_up(with, used);
            return copy;
        }
        if (used > 0) {
            use_up(with, used); /* a notification */
        } else if (read_some(with) <= 0) {
            die("the server ended during the opening");
        }
    }
}

/* Legacy clients shake hands first; over HTTP one session serves all connections. */
static void open_client(client *to, int is_first)
{
    if (opt.is_http) {
        connect_http(to);
    } else {
        start_server(to);
    }
    if (!opt.is_raw && !opt.is_modern && (is_first || !opt.is_http)) {
        char *answer =
            converse(to,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                     "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                     "\"clientInfo\":{\"name\":\"loadgen\",\"version\":\"1\"}}}",
                     "initialize", 1);
        const char *id = strcasestr(answer, "mcp-session-id:");
        if (opt.is_http && id != NULL) {
            (void)snprintf(session, sizeof session, "Mcp-Session-Id:%.*s\r\n",
                           (int)strcspn(id + 15, "\r"), id + 15);
        }
        free(answer);
        free(converse(to, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
                      "notifications/initialized", 0));
    }
    if (!opt.is_raw && !opt.is_http) { /* the tools are known from here on */
        free(converse(to,
                      opt.is_modern ? "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\","
                                      "\"params\":{" META "}}"
                                    : "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}",
                      "tools/list", 1));
    }
    make_call(to);
    (void)fcntl(to->in, F_SETFL, fcntl(to->in, F_GETFL) | O_NONBLOCK);
    (void)fcntl(to->out, F_SETFL, fcntl(to->out, F_GETFL) | O_NONBLOCK);
}

/* ---- the load ----------------------------------------------------------------------------------
 */

static void watch(int epoll, int operation, client *of)
{
    int wants_out = of->pending_done < of->pending_len;
    if (opt.is_http) {
        struct epoll_event event = {.events = EPOLLIN | (wants_out ? EPOLLOUT : 0), .data.ptr = of};
        (void)epoll_ctl(epoll, operation, of->in, &event);
        return;
    }
    struct epoll_event read_event = {.events = EPOLLIN, .data.ptr = of};
    struct epoll_event write_event = {.events = wants_out ? EPOLLOUT : 0, .data.ptr = of};
    (void)epoll_ctl(epoll, operation, of->out, &read_event);
    (void)epoll_ctl(epoll, operation, of->in, &write_event);
}

static void push(client *to)
{
    while (to->pending_done < to->pending_len) {
        ssize_t put =
            write(to->in, to->pending + to->pending_done, to->pending_len - to->pending_done);
        if (put < 0 && errno == EAGAIN) {
            return;
        }
        if (put < 0 && errno != EINTR) {
            die("write");
        }
        to->pending_done += put > 0 ? (size_t)put : 0;
    }
}

/* As many calls as may be in flight. They leave together. */
static void send_calls(client *to)
{
    if (to->pending == NULL) {
        to->pending = allocate(to->request_len * (size_t)opt.outstanding);
    }
    if (to->pending_done < to->pending_len) {
        return;
    }
    to->pending_len = to->pending_done = 0;
    while (to->in_flight < opt.outstanding && started < warm_up + opt.calls) {
        char id[24];
        (void)snprintf(id, sizeof id, "%010ld", 1000000000 + to->next_id);
        memcpy(to->request + to->id_at, id, 10);
        memcpy(to->pending + to->pending_len, to->request, to->request_len);
        to->pending_len += to->request_len;
        to->sent_at[to->next_id % MAX_OUTSTANDING] = now();
        to->next_id++;
        to->in_flight++;
        started++;
    }
    push(to);
}

static void take_answer(client *from, const char *answer, size_t len)
{
    long id = opt.is_raw && opt.is_http ? 1000000000 + from->next_id - 1 : id_of(answer, len);
    double time = now();
    if (id < 1000000000) {
        return; /* a notification */
    }
    if (is_error(answer, len)) {
        (void)fprintf(stderr, "loadgen: the call failed: %.*s\n", (int)(len < 400 ? len : 400),
                      answer);
        exit(1);
    }
    if (finished == warm_up) {
        begun_at = time;
    }
    if (finished++ >= warm_up) {
        latencies[measured++] = time - from->sent_at[(id - 1000000000) % MAX_OUTSTANDING];
    }
    from->in_flight--;
}

static void take_answers(client *from)
{
    size_t at = 0;
    ssize_t got = read_some(from);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        die("the server ended");
    }
    char *base = from->input;
    size_t len = from->input_len;
    for (;;) {
        const char *answer;
        size_t answer_len;
        from->input = base + at;
        from->input_len = len - at;
        size_t used = from->input_len > 0 ? answer_length(from, &answer, &answer_len) : 0;
        if (used == 0) {
            break;
        }
        take_answer(from, answer, answer_len);
        at += used;
    }
    from->input = base;
    from->input_len = len;
    use_up(from, at);
}

static void run(void)
{
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (long i = 0; i < opt.clients; i++) {
        watch(epoll, EPOLL_CTL_ADD, &clients[i]);
        send_calls(&clients[i]);
    }
    while (finished < warm_up + opt.calls) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            client *one = events[i].data.ptr;
            int waited = one->pending_done < one->pending_len;
            if ((events[i].events & EPOLLOUT) != 0) {
                push(one);
            }
            if ((events[i].events & (EPOLLIN | EPOLLHUP)) != 0) {
                take_answers(one);
            }
            send_calls(one);
            if (waited != (one->pending_done < one->pending_len)) {
                watch(epoll, EPOLL_CTL_MOD, one);
            }
        }
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double q)
{
    return 1e6 * latencies[(long)(q * (double)(measured - 1))];
}

static void report(double seconds)
{
    qsort(latencies, (size_t)measured, sizeof *latencies, compare);
    (void)printf("{\"calls\":%ld,\"seconds\":%.6f,\"calls_per_second\":%.1f,\"p50_us\":%.2f,"
                 "\"p90_us\":%.2f,\"p99_us\":%.2f,\"p999_us\":%.2f}\n",
                 measured, seconds, (double)(measured - 1) / seconds, quantile(.5), quantile(.9),
                 quantile(.99), quantile(.999));
}

static void read_options(int argc, char **argv)
{
    static const struct {
        const char *name;
        long *value;
    } NUMBERS[] = {{"--clients", &opt.clients},
                   {"--outstanding", &opt.outstanding},
                   {"--calls", &opt.calls},
                   {"--bytes", &opt.bytes}};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        opt.is_modern |= strcmp(argv[i], "--modern") == 0;
        opt.is_raw |= strcmp(argv[i], "--raw") == 0;
        if (strcmp(argv[i], "--tool") == 0 && i + 1 < argc) {
            opt.tool = argv[++i];
            continue;
        }
        for (size_t n = 0; n < sizeof NUMBERS / sizeof NUMBERS[0]; n++) {
            if (strcmp(argv[i], NUMBERS[n].name) == 0 && i + 1 < argc) {
                *NUMBERS[n].value = strtol(argv[++i], NULL, 10);
                break;
            }
        }
    }
    if (i + 1 >= argc || opt.clients < 1 || opt.clients > MAX_CLIENTS || opt.outstanding < 1 ||
        opt.outstanding > MAX_OUTSTANDING || opt.calls < 2) {
        (void)fputs("usage: loadgen [OPTION]… stdio COMMAND… | http PORT PATH\n", stderr);
        exit(2);
    }
    opt.is_http = strcmp(argv[i], "http") == 0;
    opt.outstanding = opt.is_http ? 1 : opt.outstanding;
    opt.target = argv + i + 1;
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    (void)signal(SIGPIPE, SIG_IGN);
    warm_up = opt.calls / 10;
    latencies = allocate((size_t)opt.calls * sizeof *latencies);
    clients = allocate((size_t)opt.clients * sizeof *clients);
    for (long i = 0; i < opt.clients; i++) {
        open_client(&clients[i], i == 0);
    }
    run();
    report(now() - begun_at);
    for (long i = 0; i < opt.clients && !opt.is_http; i++) {
        (void)close(clients[i].in);
        (void)waitpid(clients[i].pid, NULL, 0);
    }
    return 0;
}
