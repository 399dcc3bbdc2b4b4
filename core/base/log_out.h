/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where lines of the log are written: stderr, which may be full or stopped, or a file. Only log.c
 * uses it, under its lock.
 */
#ifndef HUB_BASE_LOG_OUT_H
#define HUB_BASE_LOG_OUT_H

#include "base/buf.h"

/* A line, whole or later. */
void hub_log_out_put(hub_str line);

/* See hub_log_to_file, hub_log_reopen, hub_log_on_owed, hub_log_flush. */
HUB_MUST_CHECK hub_err hub_log_out_open(const char *path, hub_error *reterr);
HUB_MUST_CHECK hub_err hub_log_out_reopen(hub_error *reterr);
void hub_log_out_on_owed(void (*on_owed)(void *ctx), void *ctx);
bool hub_log_out_flush(int wait_ms);

/* Append the line that says how many were lost; log.c has it. */
void hub_log_add_lost(hub_buf *line, uint64_t lines);

#endif
