/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay top: how a running hub fares, as it goes: twice a picture, and what happened in between. At a
 * terminal it is drawn anew each second; otherwise once, as text. */
#include "cli/running.h"

#include "base/clock.h"
#include "base/limits.h"
#include "cli/columns.h"
#include "tools/suspects.h"
#include "wire/json.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    PERIOD_MS = 1000,
    MOST_TOOLSETS = 4096, /* more are not shown */
    WHY_BYTES = 200,
    FRAME_BYTES = 4 * 1024 * 1024,
    USUAL_ROWS = 24,
    USUAL_COLUMNS = 80,
    HEAD_ROWS = 2,
};

/* One toolset, in two pictures. */
typedef struct row {
    char *key;
    char state[16];
    char why[WHY_BYTES];
    int64_t calls;
    int64_t errors;
    int64_t in_flight;
    int64_t queued;
    int64_t mean_ms;
    int64_t max_ms;
    double calls_rate; /* per second, since the picture before */
    double errors_rate;
} row;

typedef struct picture {
    uint64_t at_ms; /* monotonic; 0: there is none */
    row *rows;
    size_t count;
    char head[HUB_LIMIT_LOG_LINE_BYTES]; /* the hub's name and version */
    int64_t up_ms;
    int64_t servers;
} picture;

/* ---- reading --------------------------------------------------------------------------------- */

static int64_t number_of(hub_str object, const char *name)
{
    int64_t number = 0;
    return hub_json_to_i64(hub_json_get(object, hub_str_of(name)), &number) ? number : 0;
}

/* A member as text without anything that moves a cursor; cut to the room. */
static void read_text(hub_str object, const char *name, char *ret_text, size_t room)
{
    hub_buf text;
    hub_buf shown;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&shown, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    if (hub_json_decode(hub_json_get(object, hub_str_of(name)), &text) == HUB_OK) {
        hub_suspects_add_visible(hub_buf_str(&text), &shown);
    }
    size_t len = shown.len < room ? shown.len : room - 1;
    while (len < shown.len && len > 0 && ((unsigned char)shown.ptr[len] & 0xc0) == 0x80) {
        len--; /* within a character */
    }
    for (size_t i = 0; i < len; i++) {
        ret_text[i] = (unsigned char)shown.ptr[i] < 0x20 ? ' ' : shown.ptr[i];
    }
    ret_text[len] = '\0';
    hub_buf_fini(&shown);
    hub_buf_fini(&text);
}

static bool read_row(hub_str toolset, row *ret_row)
{
    char key[HUB_LIMIT_TOOL_NAME_BYTES + 1];
    hub_str status = hub_json_get(toolset, HUB_STR("status"));
    hub_str latency = hub_json_get(status, HUB_STR("latencyMs"));
    read_text(toolset, "key", key, sizeof key);
    *ret_row = (row){.key = hub_str_dup(hub_str_of(key)),
                     .calls = number_of(status, "calls"),
                     .errors = number_of(status, "errors"),
                     .in_flight = number_of(status, "inFlight"),
                     .queued = number_of(status, "queued"),
                     .mean_ms = number_of(latency, "mean"),
                     .max_ms = number_of(latency, "max")};
    read_text(status, "state", ret_row->state, sizeof ret_row->state);
    read_text(status, "lastError", ret_row->why, sizeof ret_row->why);
    return ret_row->key != NULL;
}

static void drop(picture *one)
{
    for (size_t i = 0; i < one->count; i++) {
        free(one->rows[i].key);
    }
    free(one->rows);
    *one = (picture){.at_ms = 0};
}

/* False: out of memory. */
static bool read_picture(hub_str status, picture *ret_picture)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(status, HUB_STR("toolsets")));
    hub_str hub = hub_json_get(status, HUB_STR("hub"));
    hub_str key;
    hub_str toolset;
    *ret_picture = (picture){.at_ms = hub_clock_now_ms(),
                             .rows = calloc(MOST_TOOLSETS, sizeof *ret_picture->rows),
                             .up_ms = number_of(hub, "upMs"),
                             .servers = number_of(hub, "servers")};
    read_text(hub, "name", ret_picture->head, sizeof ret_picture->head);
    bool is_good = ret_picture->rows != NULL;
    while (is_good && ret_picture->count < MOST_TOOLSETS && hub_json_next(&it, &key, &toolset)) {
        is_good = read_row(toolset, &ret_picture->rows[ret_picture->count]);
        ret_picture->count += is_good;
    }
    return is_good;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const row *find_row(const picture *one, const char *key)
{
    size_t at = 0;
    while (at < one->count && strcmp(one->rows[at].key, key) != 0) {
        at++;
    }
    return at < one->count ? &one->rows[at] : NULL;
}

/* A hub that was started anew counts from zero: what it has is what happened. */
static double rate_of(int64_t now, int64_t before, double seconds)
{
    int64_t more = now >= before ? now - before : now;
    return seconds > 0 ? (double)more / seconds : 0;
}

static void compare(picture *now, const picture *before)
{
    double seconds = before->at_ms > 0 ? (double)(now->at_ms - before->at_ms) / 1000 : 0;
    for (size_t i = 0; i < now->count; i++) {
        row *one = &now->rows[i];
        const row *old = find_row(before, one->key);
        if (old != NULL) {
            one->calls_rate = rate_of(one->calls, old->calls, seconds);
            one->errors_rate = rate_of(one->errors, old->errors, seconds);
        }
    }
}

/* What is down comes first, then what is busy. */
static int order(const void *a, const void *b)
{
    const row *left = a;
    const row *right = b;
    int failed = (strcmp(right->state, "failed") == 0) - (strcmp(left->state, "failed") == 0);
    int busy = (right->calls_rate > left->calls_rate) - (right->calls_rate < left->calls_rate);
    return failed != 0 ? failed : busy != 0 ? busy : strcmp(left->key, right->key);
}

/* ---- drawing --------------------------------------------------------------------------------- */

typedef struct sheet {
    hub_buf text;
    size_t columns; /* 0: as many as there are */
    size_t rows;
    bool has_colours;
} sheet;

/* A line, cut to the width; characters as far as UTF-8 tells. */
static void add_line(sheet *to, const char *text, const char *colour)
{
    size_t width = 0;
    hub_buf_add(&to->text, to->has_colours ? hub_str_of(colour) : HUB_STR_EMPTY);
    for (const char *at = text; *at != '\0'; at++) {
        width += ((unsigned char)*at & 0xc0) != 0x80;
        if (to->columns > 0 && width > to->columns) {
            break;
        }
        hub_buf_add_char(&to->text, *at);
    }
    hub_buf_add(&to->text, to->has_colours && colour[0] != '\0' ? HUB_STR("\033[0m") : HUB_STR(""));
    hub_buf_add(&to->text, to->columns > 0 ? HUB_STR("\033[K\r\n") : HUB_STR("\n"));
}

static const char *colour_of(const char *state)
{
    return strcmp(state, "failed") == 0       ? "\033[31m"
           : strcmp(state, "connecting") == 0 ? "\033[33m"
                                              : "";
}

static void draw_head(sheet *to, const picture *now)
{
    char line[2 * HUB_LIMIT_LOG_LINE_BYTES];
    double calls = 0;
    double errors = 0;
    long long in_flight = 0;
    size_t failed = 0;
    for (size_t i = 0; i < now->count; i++) {
        calls += now->rows[i].calls_rate;
        errors += now->rows[i].errors_rate;
        in_flight += now->rows[i].in_flight;
        failed += strcmp(now->rows[i].state, "failed") == 0;
    }
    (void)snprintf(line, sizeof line, /* cut */
                   "%s  up %llds  toolsets %zu, failed %zu  servers %lld  in flight %lld  "
                   "calls/s %.1f  errors/s %.1f%s",
                   now->head, (long long)(now->up_ms / 1000), now->count, failed,
                   (long long)now->servers, in_flight, calls, errors,
                   to->columns > 0 ? "  (q: quit)" : "");
    add_line(to, line, "\033[1m");
    (void)snprintf(line, sizeof line, "%-24s %-11s %9s %9s %9s %7s %8s %8s  %s", "TOOLSET", "STATE",
                   "CALLS/S", "ERRORS/S", "IN FLIGHT", "QUEUED", "MEAN MS", "MAX MS", "LAST ERROR");
    add_line(to, line, "\033[7m");
}

static void draw(sheet *to, const picture *now)
{
    char line[HUB_LIMIT_LOG_LINE_BYTES];
    draw_head(to, now);
    size_t room =
        to->columns > 0 ? (to->rows > HEAD_ROWS + 1 ? to->rows - HEAD_ROWS - 1 : 0) : now->count;
    for (size_t i = 0; i < now->count && i < room; i++) {
        const row *one = &now->rows[i];
        (void)snprintf(line, sizeof line, /* cut */
                       "%-24s %-11s %9.1f %9.1f %9lld %7lld %8lld %8lld  %s", one->key, one->state,
                       one->calls_rate, one->errors_rate, (long long)one->in_flight,
                       (long long)one->queued, (long long)one->mean_ms, (long long)one->max_ms,
                       one->why);
        add_line(to, line, colour_of(one->state));
    }
    if (now->count > room) {
        (void)snprintf(line, sizeof line, "and %zu more", now->count - room);
        hub_buf_add(&to->text, hub_str_of(line));
    }
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static volatile sig_atomic_t is_over;
static struct termios found; /* as the terminal was */

static void on_signal(int number)
{
    (void)number;
    is_over = 1;
}

static void on_resize(int number)
{
    (void)number; /* poll ends, and the next picture is of the new size */
}

static void write_all(hub_str text)
{
    while (text.len > 0) {
        ssize_t count = write(STDOUT_FILENO, text.ptr, text.len);
        if (count <= 0) {
            is_over = 1; /* nobody looks any more */
            return;
        }
        text = hub_str_from(text, (size_t)count);
    }
}

/* Another screen, without a cursor, and keys as they are pressed. */
static void begin_terminal(void)
{
    struct sigaction ends = {.sa_handler = on_signal};
    struct sigaction resizes = {.sa_handler = on_resize};
    (void)sigaction(SIGINT, &ends, NULL); /* of these numbers none is refused */
    (void)sigaction(SIGTERM, &ends, NULL);
    (void)sigaction(SIGHUP, &ends, NULL);
    (void)sigaction(SIGWINCH, &resizes, NULL);
    if (tcgetattr(STDIN_FILENO, &found) == 0) {
        struct termios raw = found;
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw); /* else q needs a newline */
    }
    write_all(HUB_STR("\033[?1049h\033[?25l"));
}

static void end_terminal(void)
{
    write_all(HUB_STR("\033[?25h\033[?1049l"));
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &found); /* the process ends */
}

static void measure(sheet *to)
{
    struct winsize size = {.ws_col = 0};
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    to->columns = is_known ? size.ws_col : USUAL_COLUMNS;
    to->rows = is_known ? size.ws_row : USUAL_ROWS;
}

/* Wait for the next picture; false: that was enough. */
static bool wait_for_next(bool is_terminal)
{
    struct pollfd keys = {.fd = is_terminal ? STDIN_FILENO : -1, .events = POLLIN};
    char key = '\0';
    if (poll(&keys, 1, PERIOD_MS) > 0 && (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q')) {
        is_over = 1;
    }
    return is_over == 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int take(cli_running *hub, picture *now, const picture *before)
{
    hub_buf answer;
    hub_str body;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = cli_running_api(hub, &(cli_api_request){.path = "/status"}, &answer, &body);
    if (status == EXIT_OK && !read_picture(body, now)) {
        cli_complain("out of memory");
        status = EXIT_INTERNAL;
    }
    if (status == EXIT_OK) {
        compare(now, before);
        qsort(now->rows, now->count, sizeof *now->rows, order);
    }
    hub_buf_fini(&answer);
    return status;
}

static void show(const picture *now, bool is_terminal)
{
    sheet to = {.has_colours = cli_has_colours(STDOUT_FILENO)};
    hub_buf_init(&to.text, FRAME_BYTES);
    if (is_terminal) {
        measure(&to);
        hub_buf_add(&to.text, HUB_STR("\033[H"));
    }
    draw(&to, now);
    hub_buf_add(&to.text, is_terminal ? HUB_STR("\033[J") : HUB_STR_EMPTY);
    write_all(hub_buf_str(&to.text));
    hub_buf_fini(&to.text);
}

static int watch(cli_running *hub, bool is_terminal)
{
    picture before = {.at_ms = 0};
    picture now;
    int status = take(hub, &now, &before);
    while (status == EXIT_OK) {
        bool is_second = before.at_ms > 0;
        if (is_terminal || is_second) {
            show(&now, is_terminal);
        }
        drop(&before);
        before = now;
        if ((!is_terminal && is_second) || !wait_for_next(is_terminal)) {
            break;
        }
        status = take(hub, &now, &before);
    }
    drop(&before);
    return status;
}

int cli_top(cli_options *options)
{
    cli_running *hub = NULL;
    bool is_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    if (options->json) {
        cli_complain("top is for people: see `patchbay status --json`");
        return EXIT_USAGE;
    }
    int status = cli_running_open(options, &hub);
    if (status == EXIT_OK && is_terminal) {
        begin_terminal();
    }
    if (status == EXIT_OK) {
        status = watch(hub, is_terminal);
    }
    if (hub != NULL && is_terminal) {
        end_terminal();
    }
    cli_running_close(hub);
    return status;
}
