/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of systemd, to which a service's stderr is connected: events go there with their fields,
 * so that `journalctl PATCHBAY_TOOLSET=git` finds them. Only log.c uses it, under its lock.
 * spec: systemd, Native Journal Protocol; systemd.exec(5), JOURNAL_STREAM
 */
#ifndef HUB_BASE_LOG_JOURNAL_H
#define HUB_BASE_LOG_JOURNAL_H

#include "base/log.h"

#define HUB_JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Send events to the journal at that socket from now on, if `stream` (the value of JOURNAL_STREAM, or
 * NULL) says that it is what stderr is connected with. Whether it does. [init] */
bool hub_log_journal_open(const char *stream, const char *socket_path);
void hub_log_journal_close(void);

/* A field's value as it may be shown; `masked` is initialised, and may hold it. */
typedef hub_str hub_log_shown(const hub_log_field *field, hub_buf *masked);

/* Send an event, whose line begins with the time. False when the line has to go elsewhere: there is no
 * journal, or it does not take the event now. Never blocks. */
bool hub_log_journal_put(hub_log_level level, const char *event, const hub_log_field *fields,
                         hub_log_shown *shown, hub_str line);

#endif
