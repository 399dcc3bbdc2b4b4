/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load generator: asks one thing as often as it can, and measures every answer.
 *
 *   loadgen [OPTION]… stdio COMMAND [ARGUMENT]…    a server per client, over its pipes
 *   loadgen [OPTION]… http PORT PATH               a connection per client, kept
 *   loadgen [OPTION]… sse PORT PATH                a stream and a connection per client, kept
 *   loadgen [OPTION]… websocket PORT PATH          a connection per client, kept
 *   loadgen [OPTION]… unix SOCKET                  likewise
 *
 *   --clients N      clients (1)
 *   --outstanding N  calls that one client has in flight; over HTTP always 1 (1)
 *   --calls N        calls in all (10000)
 *   --warm-up N      calls before these, which are not measured (a tenth as many)
 *   --bytes N        length of the text in the arguments (200)
 *   --text FILE      the text in the arguments, as it stands in JSON between the quotes
 *   --tool NAME      (tool_0)
 *   --list           ask for tools/list instead
 *   --start          start a server per measurement, up to the answer of its first tools/list
 *   --modern         2026-07-28 instead of 2025-11-25
 *   --raw            no opening, and no session: for servers that are none
 *
 * Prints one JSON object: calls per second, the quantiles of the latency in microseconds, the
 * length of an answer in bytes, and how much of a processor the load generator itself took (1 is
 * all).
 */
#include "load_client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, IDS_PER_CLIENT = 1 << 20 };

static client *clients;
static double *latencies;
static long measured;
static long started;
static long finished;
static long warm_up = -1;
static long answer_bytes;
static double begun_at;
static double begun_busy; /* processor time by then */
static int is_start;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double processor_time(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void watch(int epoll, int operation, client *of)
{
    int wants_out = of->pending_done < of->pending_len;
    if (of->in == of->out) {
        struct epoll_event event = {.events = EPOLLIN | (wants_out ? EPOLLOUT : 0), .data.ptr = of};
        (void)epoll_ctl(epoll, operation, of->in, &event);
        return;
    }
    struct epoll_event read_event = {.events = EPOLLIN, .data.ptr = of};
    struct epoll_event write_event = {
        .events = (opt.is_sse ? EPOLLIN : 0) | (wants_out ? EPOLLOUT : 0), .data.ptr = of};
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
        (void)snprintf(id, sizeof id, "%010ld", (long)FIRST_ID + to->next_id);
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
    long id = opt.is_raw && opt.is_http ? FIRST_ID + from->next_id - 1 : id_of(answer, len);
    double time = now();
    if (id < FIRST_ID) {
        return; /* a notification */
    }
    if (is_error(answer, len)) {
        (void)fprintf(stderr, "loadgen: the call failed: %.*s\n", (int)(len < 400 ? len : 400),
                      answer);
        exit(1);
    }
    if (finished == warm_up) {
        begun_at = time;
        begun_busy = processor_time();
    }
    answer_bytes = (long)len;
    if (finished++ >= warm_up) {
        latencies[measured++] = time - from->sent_at[(id - FIRST_ID) % MAX_OUTSTANDING];
    }
    from->in_flight--;
}

static void take_answers(client *from)
{
    size_t at = 0;
    ssize_t got = client_read(from);
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
        size_t used = from->input_len > 0 ? client_answer_length(from, &answer, &answer_len) : 0;
        if (used == 0) {
            break;
        }
        take_answer(from, answer, answer_len);
        at += used;
    }
    from->input = base;
    from->input_len = len;
    client_use_up(from, at);
}

static void run(void)
{
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (long i = 0; i < opt.clients; i++) {
        send_calls(&clients[i]);
        watch(epoll, EPOLL_CTL_ADD, &clients[i]);
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
    (void)printf(
        "{\"calls\":%ld,\"seconds\":%.6f,\"calls_per_second\":%.1f,\"p50_us\":%.2f,"
        "\"p90_us\":%.2f,\"p99_us\":%.2f,\"p999_us\":%.2f,\"answer_bytes\":%ld,\"busy\":%.3f}\n",
        measured, seconds, (double)(measured - 1) / seconds, quantile(.5), quantile(.9),
        quantile(.99), quantile(.999), answer_bytes, (processor_time() - begun_busy) / seconds);
}

/* The text of the arguments, and how long it is. */
static void read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    char *text = allocate(size > 0 ? (size_t)size : 1);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0 ||
        fread(text, 1, (size_t)size, file) != (size_t)size) {
        die(path);
    }
    (void)fclose(file);
    opt.text = text;
    opt.bytes = size;
}

static void read_options(int argc, char **argv)
{
    static const struct {
        const char *name;
        long *value;
    } NUMBERS[] = {{"--clients", &opt.clients},
                   {"--outstanding", &opt.outstanding},
                   {"--calls", &opt.calls},
                   {"--warm-up", &warm_up},
                   {"--bytes", &opt.bytes}};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        opt.is_modern |= strcmp(argv[i], "--modern") == 0;
        opt.is_raw |= strcmp(argv[i], "--raw") == 0;
        opt.is_list |= strcmp(argv[i], "--list") == 0;
        is_start |= strcmp(argv[i], "--start") == 0;
        if (strcmp(argv[i], "--tool") == 0 && i + 1 < argc) {
            opt.tool = argv[++i];
            continue;
        }
        if (strcmp(argv[i], "--text") == 0 && i + 1 < argc) {
            read_text(argv[++i]);
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
        (void)fputs("usage: loadgen [OPTION]… stdio COMMAND… | http|sse|websocket PORT PATH | "
                    "unix SOCKET\n",
                    stderr);
        exit(2);
    }
    opt.is_sse = strcmp(argv[i], "sse") == 0;
    opt.is_http = opt.is_sse || strcmp(argv[i], "http") == 0;
    opt.is_websocket = strcmp(argv[i], "websocket") == 0;
    opt.is_unix = strcmp(argv[i], "unix") == 0;
    opt.outstanding = opt.is_http ? 1 : opt.outstanding;
    opt.target = argv + i + 1;
}

/* From before the server is started to the answer of its first tools/list, again and again. */
static void run_starts(void)
{
    begun_at = now();
    for (long i = 0; i < warm_up + opt.calls; i++) {
        client one = {.in = -1, .out = -1};
        double began = now();
        client_start_and_list(&one);
        if (i >= warm_up) {
            latencies[measured++] = now() - began;
        }
        client_close(&one);
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    (void)signal(SIGPIPE, SIG_IGN);
    warm_up = warm_up >= 0 ? warm_up : opt.calls / 10;
    latencies = allocate((size_t)opt.calls * sizeof *latencies);
    clients = allocate((size_t)opt.clients * sizeof *clients);
    if (is_start) {
        run_starts();
        report(now() - begun_at);
        return 0;
    }
    for (long i = 0; i < opt.clients; i++) {
        clients[i].next_id = i * IDS_PER_CLIENT; /* over HTTP they share a session */
        client_open(&clients[i], i == 0);
    }
    run();
    report(now() - begun_at);
    for (long i = 0; i < opt.clients; i++) {
        client_close(&clients[i]);
    }
    return 0;
}
