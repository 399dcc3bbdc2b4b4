/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/buf.h"
#include "base/limits.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *const LEVEL_NAMES[] = {"debug", "info", "warning", "error", "off"};

static struct {
    pthread_mutex_t lock; /* guards everything below, and the order of lines */
    hub_log_level least;
    bool json;
    void (*sink)(void *ctx, hub_str line);
    void *sink_ctx;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .least = HUB_LOG_INFO};

/* Bytes that text format writes without quotes. */
static bool is_plain(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c == '"' || c == '\\' || c == '=' || c >= 0x7f) {
            return false;
        }
    }
    return text.len > 0;
}

/* One JSON string; bytes that are not plain ASCII text are escaped or, when part of UTF-8, kept. */
static void add_quoted(hub_buf *line, hub_str text)
{
    hub_buf_add_char(line, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '"' || c == '\\') {
            hub_buf_add_char(line, '\\');
            hub_buf_add_char(line, (char)c);
        } else if (c < 0x20 || c == 0x7f) {
            hub_buf_printf(line, "\\u%04x", c);
        } else {
            hub_buf_add_char(line, (char)c);
        }
    }
    hub_buf_add_char(line, '"');
}

static hub_str cut(hub_str text)
{
    if (text.len > HUB_LIMIT_LOG_VALUE_BYTES) {
        text.len = HUB_LIMIT_LOG_VALUE_BYTES;
        while (text.len > 0 && ((unsigned char)text.ptr[text.len] & 0xc0) == 0x80) {
            text.len--; /* not in the middle of a character */
        }
    }
    return text;
}

static void add_time(hub_buf *line)
{
    struct timespec now;
    struct tm utc;
    char text[32] = "";
    if (clock_gettime(CLOCK_REALTIME, &now) == 0 && gmtime_r(&now.tv_sec, &utc) != NULL) {
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc); /* fits */
    }
    hub_buf_printf(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void format_text(hub_buf *line, hub_log_level level, const char *event,
                        const hub_log_field *fields)
{
    add_time(line);
    hub_buf_printf(line, " %s %s", LEVEL_NAMES[level], event);
    for (; fields->key != NULL; fields++) {
        hub_buf_printf(line, " %s=", fields->key);
        if (fields->is_number) {
            hub_buf_printf(line, "%" PRId64, fields->number);
        } else if (is_plain(fields->text)) {
            hub_buf_add(line, cut(fields->text));
        } else {
            add_quoted(line, cut(fields->text));
        }
    }
}

static void format_json(hub_buf *line, hub_log_level level, const char *event,
                        const hub_log_field *fields)
{
    hub_buf_add(line, HUB_STR("{\"time\":\""));
    add_time(line);
    hub_buf_printf(line, "\",\"level\":\"%s\",\"event\":\"%s\"", LEVEL_NAMES[level], event);
    for (; fields->key != NULL; fields++) {
        hub_buf_printf(line, ",\"%s\":", fields->key);
        if (fields->is_number) {
            hub_buf_printf(line, "%" PRId64, fields->number);
        } else {
            add_quoted(line, cut(fields->text));
        }
    }
    hub_buf_add_char(line, '}');
}

static void write_line(const hub_buf *line)
{
    if (state.sink != NULL) {
        state.sink(state.sink_ctx, hub_buf_str(line));
        return;
    }
    size_t done = 0;
    while (done < line->len) {
        ssize_t n = write(STDERR_FILENO, line->ptr + done, line->len - done);
        if (n <= 0) {
            return; /* nobody reads the log: there is no one to tell */
        }
        done += (size_t)n;
    }
}

void hub_log_fields(hub_log_level level, const char *event, const hub_log_field *fields)
{
    if (level < state.least) {
        return;
    }
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_LOG_LINE_BYTES);
    if (state.json) {
        format_json(&line, level, event, fields);
    } else {
        format_text(&line, level, event, fields);
    }
    hub_buf_add_char(&line, '\n');
    (void)pthread_mutex_lock(&state.lock); /* a static mutex: cannot fail */
    if (hub_buf_ok(&line)) {
        write_line(&line);
    }
    (void)pthread_mutex_unlock(&state.lock);
    hub_buf_fini(&line);
}

void hub_log_setup(hub_log_level least, bool json)
{
    state.least = least;
    state.json = json;
}

void hub_log_capture(void (*sink)(void *ctx, hub_str line), void *ctx)
{
    state.sink = sink;
    state.sink_ctx = ctx;
}

hub_err hub_log_level_parse(hub_str name, hub_log_level *ret_level)
{
    for (int level = HUB_LOG_DEBUG; level <= HUB_LOG_OFF; level++) {
        if (hub_str_is(name, LEVEL_NAMES[level])) {
            *ret_level = (hub_log_level)level;
            return HUB_OK;
        }
    }
    if (hub_str_is(name, "warn")) {
        *ret_level = HUB_LOG_WARNING;
        return HUB_OK;
    }
    return HUB_EINVAL;
}
