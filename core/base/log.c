/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log_journal.h"
#include "base/log_out.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static const char *const LEVEL_NAMES[] = {"debug", "info", "warning", "error", "off"};

enum { TAIL_BYTES = 16 }; /* of a line: kept free for what ends it */

static struct {
    _Atomic(hub_log_level) least;
    atomic_bool json;
    _Atomic(hub_log_mask *) mask; /* NULL: there are no secrets */
    pthread_mutex_t lock;         /* guards everything below, and the order of lines */
    void (*sink)(void *ctx, hub_str line);
    void *sink_ctx;
    atomic_bool is_watched;
    hub_log_watcher *watchers;
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

/* As in JSON: what is beyond 16 bits is two halves. */
static void add_escape(hub_buf *line, uint32_t character)
{
    if (character > 0xffff) {
        hub_buf_printf(line, "\\u%04x", (unsigned)(0xd7c0 + (character >> 10)));
        character = 0xdc00 + (character & 0x3ff);
    }
    hub_buf_printf(line, "\\u%04x", (unsigned)character);
}

/* One JSON string, always valid UTF-8: characters that are not seen are escaped, and each byte that
 * is not UTF-8 is U+FFFD. Who reads the log at a terminal reads what is in it. */
static void add_quoted(hub_buf *line, hub_str text)
{
    hub_buf_add_char(line, '"');
    while (text.len > 0) {
        size_t length = hub_str_utf8_length(text);
        char c = text.ptr[0];
        if (length == 0) {
            hub_buf_add(line, HUB_STR("\\ufffd"));
            length = 1;
        } else if (hub_char_is_unseen(hub_str_character(text, length))) {
            add_escape(line, hub_str_character(text, length));
        } else {
            hub_buf_add(line, c == '"' || c == '\\' ? HUB_STR("\\") : HUB_STR_EMPTY);
            hub_buf_add(line, (hub_str){.ptr = text.ptr, .len = length});
        }
        text = hub_str_from(text, length);
    }
    hub_buf_add_char(line, '"');
}

static hub_str cut(hub_str text)
{
    return hub_str_cut(text, HUB_LIMIT_LOG_VALUE_BYTES);
}

static void add_time(hub_buf *line)
{
    int64_t now_ms = hub_clock_wall_ms();
    char text[HUB_CLOCK_TEXT_BYTES];
    hub_buf_printf(line, "%s.%03dZ", hub_clock_text(now_ms / 1000, text), (int)(now_ms % 1000));
}

/* The value as it may be shown. `masked` holds it, if it has a secret. */
static hub_str shown_value(const hub_log_field *field, hub_buf *masked)
{
    hub_log_mask *mask = state.mask;
    bool is_text = !field->is_number || field->text.len > 0;
    if (!is_text || mask == NULL || !mask(field->text, masked)) { /* before it is cut: nobody */
        return cut(field->text);                                  /* knows a part of a secret */
    }
    return cut(hub_buf_ok(masked) ? hub_buf_str(masked) : HUB_STR(HUB_REDACTED));
}

static void add_field(hub_buf *line, const hub_log_field *field, bool json)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    bool is_text = !field->is_number || field->text.len > 0;
    hub_str text = shown_value(field, &masked);
    hub_buf_printf(line, json ? ",\"%s\":" : " %s=", field->key);
    bool is_whole = masked.len == 0 && hub_buf_ok(&masked) && text.len == field->text.len;
    if (!is_text) {
        hub_buf_printf(line, "%" PRId64, field->number);
    } else if ((field->is_number && is_whole) || (!json && is_plain(text))) {
        hub_buf_add(line, text);
    } else {
        add_quoted(line, text);
    }
    hub_buf_fini(&masked);
}

/* Escapes can make a line longer than a line may be: then it says so and goes without the field
 * that does not fit and those behind it. */
static void format_line(hub_buf *line, hub_log_level level, const char *event,
                        const hub_log_field *fields, bool json)
{
    hub_buf_add(line, json ? HUB_STR("{\"time\":\"") : HUB_STR_EMPTY);
    add_time(line);
    hub_buf_printf(line, json ? "\",\"level\":\"%s\",\"event\":\"%s\"" : " %s %s",
                   LEVEL_NAMES[level], event);
    for (; fields->key != NULL && hub_buf_ok(line); fields++) {
        size_t before = line->len;
        add_field(line, fields, json);
        if (line->failed == HUB_ELIMIT) {
            hub_buf_clear(line);
            line->len = before;
            line->max = HUB_LIMIT_LOG_LINE_BYTES;
            hub_buf_add(line, json ? HUB_STR(",\"cut\":true") : HUB_STR(" cut=true"));
            break;
        }
    }
    line->max = HUB_LIMIT_LOG_LINE_BYTES;
    hub_buf_add(line, json ? HUB_STR("}\n") : HUB_STR("\n"));
}

/* Where the line goes. */
static void put_line(hub_log_level level, const char *event, const hub_log_field *fields,
                     hub_str line)
{
    if (state.sink != NULL) {
        state.sink(state.sink_ctx, line);
    } else if (!hub_log_journal_put(level, event, fields, shown_value, line)) {
        hub_log_out_put(line);
    }
}

/* Tell those who read along. */
static void tell_watchers(hub_log_level level, const char *event, const hub_log_field *fields)
{
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_LOG_LINE_BYTES - TAIL_BYTES);
    format_line(&line, level, event, fields, true);
    (void)pthread_mutex_lock(&state.lock);
    for (hub_log_watcher *at = state.watchers; at != NULL && hub_buf_ok(&line); at = at->next) {
        at->on_line(at, event, hub_str_trim(hub_buf_str(&line)));
    }
    (void)pthread_mutex_unlock(&state.lock);
    hub_buf_fini(&line);
}

void hub_log_fields(hub_log_level level, const char *event, const hub_log_field *fields)
{
    int saved_errno = errno; /* callers log before they look at it */
    if (state.is_watched && level >= HUB_LOG_INFO) {
        tell_watchers(level, event, fields);
    }
    if (level < state.least) {
        errno = saved_errno;
        return;
    }
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_LOG_LINE_BYTES - TAIL_BYTES);
    format_line(&line, level, event, fields, state.json);
    (void)pthread_mutex_lock(&state.lock); /* a static mutex: cannot fail */
    if (hub_buf_ok(&line)) {
        put_line(level, event, fields, hub_buf_str(&line));
    }
    (void)pthread_mutex_unlock(&state.lock);
    hub_buf_fini(&line);
    errno = saved_errno;
}

void hub_log_watch(hub_log_watcher *watcher)
{
    (void)pthread_mutex_lock(&state.lock);
    watcher->next = state.watchers;
    state.watchers = watcher;
    state.is_watched = true;
    (void)pthread_mutex_unlock(&state.lock);
}

void hub_log_unwatch(hub_log_watcher *watcher)
{
    (void)pthread_mutex_lock(&state.lock);
    hub_log_watcher **at = &state.watchers;
    while (*at != NULL && *at != watcher) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = watcher->next;
    }
    state.is_watched = state.watchers != NULL;
    (void)pthread_mutex_unlock(&state.lock);
}

hub_err hub_log_to_file(const char *path, hub_error *reterr)
{
    (void)pthread_mutex_lock(&state.lock);
    hub_err err = hub_log_out_open(path, reterr);
    (void)pthread_mutex_unlock(&state.lock);
    return err;
}

hub_err hub_log_reopen(hub_error *reterr)
{
    (void)pthread_mutex_lock(&state.lock);
    hub_err err = hub_log_out_reopen(reterr);
    (void)pthread_mutex_unlock(&state.lock);
    return err;
}

void hub_log_on_owed(void (*on_owed)(void *ctx), void *ctx)
{
    (void)pthread_mutex_lock(&state.lock);
    hub_log_out_on_owed(on_owed, ctx);
    (void)pthread_mutex_unlock(&state.lock);
}

bool hub_log_flush(unsigned wait_ms)
{
    (void)pthread_mutex_lock(&state.lock);
    bool is_done = hub_log_out_flush((int)wait_ms);
    (void)pthread_mutex_unlock(&state.lock);
    return is_done;
}

void hub_log_add_lost(hub_buf *line, uint64_t lines)
{
    const hub_log_field fields[] = {HUB_F_INT("lines", lines), {.key = NULL}};
    format_line(line, HUB_LOG_WARNING, "log.lost", fields, state.json);
}

void hub_log_setup(hub_log_level least, bool json)
{
    state.least = least;
    state.json = json;
}

void hub_log_mask_by(hub_log_mask *mask)
{
    state.mask = mask;
}

void hub_log_capture(void (*sink)(void *ctx, hub_str line), void *ctx)
{
    (void)pthread_mutex_lock(&state.lock);
    state.sink = sink;
    state.sink_ctx = ctx;
    (void)pthread_mutex_unlock(&state.lock);
}
