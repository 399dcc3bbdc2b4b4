/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the log from level info on, brought from whichever thread logs them to the loop, for
 * somebody who does more with them than to write them. So many are on their way at most; what is beyond
 * that is lost, and counted. Thread: [loop].
 */
#ifndef HUB_BASE_LOG_READER_H
#define HUB_BASE_LOG_READER_H

#include "base/str.h"

#include <stdint.h>

struct ev_loop;

typedef struct hub_log_reader hub_log_reader;

/* `json` is one object: time, level, event, and the event's fields, masked. Borrowed for the call. It
 * may log. */
typedef void hub_log_reader_on_line(void *ctx, hub_str json);

/* owns:    the result, hub_log_reader_destroy; not from within `on_line`. NULL when out of memory */
hub_log_reader *hub_log_reader_create(struct ev_loop *loop, size_t most,
                                      hub_log_reader_on_line *on_line, void *ctx);
void hub_log_reader_destroy(hub_log_reader *reader); /* NULL is fine */

/* Events that were lost. */
uint64_t hub_log_reader_lost(hub_log_reader *reader);

#endif
