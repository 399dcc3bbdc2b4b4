/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the log as OTLP's log records. Thread: [loop].
 * spec: OTLP 1.x logs.proto, LogRecord
 */
#ifndef HUB_HUB_TELEMETRY_LOG_FEED_H
#define HUB_HUB_TELEMETRY_LOG_FEED_H

#include "hub/telemetry/exporter.h"

typedef struct hub_log_feed hub_log_feed;

/* Give the exporter what is logged from now on. NULL when out of memory. */
hub_log_feed *hub_log_feed_create(struct ev_loop *loop, hub_exporter *exporter);
void hub_log_feed_destroy(hub_log_feed *feed); /* NULL is fine */

#endif
