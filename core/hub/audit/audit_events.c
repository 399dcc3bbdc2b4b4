/* SPDX-License-Identifier: Apache-2.0 */
/* What changed for clients without anybody's call or request: a server or a file did it. */
#include "base/limits.h"
#include "base/log_reader.h"
#include "hub/audit/audit_internal.h"
#include "wire/json.h"

/* Events of the log that are records, too. Other changes are asked for by somebody, whose call or request
 * is one. */
static const char *const EVENTS[] = {"config.reloaded", "pins.changed",  "pins.missing",
                                     "pins.new",        "tools.changed", "tools.dropped",
                                     "tools.redefined", "toolset.failed"};

static bool is_noted(hub_str event)
{
    for (size_t i = 0; i < sizeof EVENTS / sizeof EVENTS[0]; i++) {
        if (hub_json_string_is(event, hub_str_of(EVENTS[i]))) {
            return true;
        }
    }
    return false;
}

static hub_str text_of(hub_str line, const char *key, hub_buf *text)
{
    hub_buf_init(text, line.len);
    return hub_json_decode(hub_json_get(line, hub_str_of(key)), text) == HUB_OK ? hub_buf_str(text)
                                                                                : HUB_STR_EMPTY;
}

static void on_line(void *ctx, hub_str line)
{
    hub_audit *audit = ctx;
    hub_buf event;
    hub_buf by;
    hub_buf toolset;
    if (!is_noted(hub_json_get(line, HUB_STR("event")))) {
        return;
    }
    const hub_audit_look change = {
        .who = text_of(line, "by", &by),
        .method = HUB_STR("event"),
        .toolset = text_of(line, "toolset", &toolset),
        .what = text_of(line, "event", &event),
    };
    hub_audit_note_change(audit, &change);
    hub_buf_fini(&event);
    hub_buf_fini(&by);
    hub_buf_fini(&toolset);
}

void hub_audit_follow_events(hub_audit *audit, bool is_wanted)
{
    if (!is_wanted) {
        hub_log_reader_destroy(audit->events);
        audit->events = NULL;
    } else if (audit->events == NULL) {
        audit->events = hub_log_reader_create(audit->loop, HUB_LIMIT_AUDIT_RECORDS, on_line, audit);
    }
}
