/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line per event, as text or as a JSON object, on stderr, in a file of its own, or with
 * its fields in the journal of systemd. An event has a level, a name
 * ("resolver.refused": area first) and fields. Values are escaped, so that no peer can forge a line
 * or send a terminal sequence; they are cut at HUB_LIMIT_LOG_VALUE_BYTES, and a line that would be
 * over HUB_LIMIT_LOG_LINE_BYTES ends early with `cut`. Secrets that are
 * known to the mask (hub_log_mask_by) are masked. Never log arguments, results or secrets: log ids and names. hub_log
 * may be called from any thread; lines never interleave.
 */
#ifndef HUB_BASE_LOG_H
#define HUB_BASE_LOG_H

#include "base/buf.h"
#include "base/err.h"

#define HUB_REDACTED "[redacted]" /* instead of a secret */

typedef enum hub_log_level {
    HUB_LOG_DEBUG,
    HUB_LOG_INFO,
    HUB_LOG_WARNING,
    HUB_LOG_ERROR,
    HUB_LOG_OFF,
} hub_log_level;

typedef struct hub_log_field {
    const char *key; /* NULL ends a list */
    hub_str text;    /* the value; of a number, as JSON has it, or empty: then it is `number` */
    int64_t number;
    bool is_number;
} hub_log_field;

#define HUB_F_STR(k, span)  ((hub_log_field){.key = (k), .text = (span)})
#define HUB_F_TEXT(k, cstr) ((hub_log_field){.key = (k), .text = hub_str_of(cstr)})
#define HUB_F_INT(k, n)     ((hub_log_field){.key = (k), .number = (int64_t)(n), .is_number = true})
/* A number that is text already, and is written as it is: `span` is a JSON number. */
#define HUB_F_NUMBER(k, span) ((hub_log_field){.key = (k), .text = (span), .is_number = true})

/* hub_log(HUB_LOG_INFO, "resolver.loaded", HUB_F_TEXT("module", name), HUB_F_INT("tools", n)); */
#define hub_log(level, event, ...)                                                                 \
    hub_log_fields((level), (event), (const hub_log_field[]){__VA_ARGS__, {.key = NULL}})

void hub_log_fields(hub_log_level level, const char *event, const hub_log_field *fields);

/* Lines go to that file from now on, which is made if it is not there, for its owner alone; NULL: to
 * stderr again.
 * blocks:  yes, opens a file
 * errors:  HUB_ESYSTEM: nothing has changed */
HUB_MUST_CHECK hub_err hub_log_to_file(const char *path, hub_error *reterr);

/* The file was renamed, say: open it again by its path. Without one there is nothing to do.
 * errors:  as hub_log_to_file */
HUB_MUST_CHECK hub_err hub_log_reopen(hub_error *reterr);

/* This thread must not wait for a stderr that is full: what it logs then is owed, up to
 * HUB_LIMIT_LOG_OWED_BYTES, and what is beyond that is lost, counted, and said later ("log.lost").
 * Other threads wait a second, once. */
void hub_log_never_wait(void);

/* Told whenever lines are owed, from any thread and under the log's lock: only wake somebody who
 * calls hub_log_flush when stderr can be written to. NULL: nobody is told. [any] */
void hub_log_on_owed(void (*on_owed)(void *ctx), void *ctx);

/* Write what is owed, for at most so long. False when some is left. [any] */
bool hub_log_flush(unsigned wait_ms);

/* Choose the least level that is written, and JSON lines instead of text. [any] */
void hub_log_setup(hub_log_level least, bool json);

/* Append `text` masked, and say so; false, and nothing appended, when there is nothing to mask.
 * thread:  [any] */
typedef bool hub_log_mask(hub_str text, hub_buf *out);

/* Who masks values before they are written. The log knows no secrets itself. [any] */
void hub_log_mask_by(hub_log_mask *mask);

/* Where finished lines go instead of stderr: for tests. NULL goes back to stderr. */
void hub_log_capture(void (*sink)(void *ctx, hub_str line), void *ctx);

/* Somebody who reads along: told each event from level info on as a JSON object, masked, whatever is
 * written; under the log's lock, in any thread, so it only keeps a copy, and logs nothing. Embed it. */
typedef struct hub_log_watcher {
    void (*on_line)(struct hub_log_watcher *watcher, const char *event, hub_str json);
    struct hub_log_watcher *next;
} hub_log_watcher;

void hub_log_watch(hub_log_watcher *watcher);   /* [any] */
void hub_log_unwatch(hub_log_watcher *watcher); /* [any] one that does not watch is fine */

#endif
