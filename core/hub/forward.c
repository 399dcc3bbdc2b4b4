/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/forward.h"

#include <stdlib.h>

static bool has_name(const hub_names *names, hub_str name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (hub_str_eq_nocase(hub_str_of(names->items[i]), name)) {
            return true;
        }
    }
    return false;
}

static bool add_name(hub_orchestrator *hub, const char *name)
{
    if (has_name(&hub->forwarded, hub_str_of(name))) {
        return true;
    }
    size_t count = hub->forwarded.count;
    const char **grown = realloc(hub->forwarded_items, (count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    grown[count] = name;
    hub->forwarded_items = grown;
    hub->forwarded = (hub_names){.items = grown, .count = count + 1, .set = true};
    return true;
}

hub_err hub_forward_init(hub_orchestrator *hub)
{
    const hub_settings *settings = hub->settings;
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_names *names = &settings->toolsets[i].forward_headers;
        for (size_t k = 0; k < names->count; k++) {
            if (!add_name(hub, names->items[k])) {
                return HUB_ENOMEM;
            }
        }
    }
    return HUB_OK;
}

void hub_forward_fini(hub_orchestrator *hub)
{
    free(hub->forwarded_items);
}

const hub_names *hub_forwarded_names(const hub_orchestrator *hub)
{
    return &hub->forwarded;
}

/* One line each, "NAME:VALUE\n": neither a colon in a name nor a line break in a value can be. */
void hub_forwarded_add(hub_buf *lines, hub_str name, hub_str value)
{
    hub_buf_add(lines, name);
    hub_buf_add_char(lines, ':');
    hub_buf_add(lines, value);
    hub_buf_add_char(lines, '\n');
}

bool hub_forwarded_find(hub_str lines, hub_str name, hub_str *ret_value)
{
    while (lines.len > 0) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        hub_str line = hub_str_between(lines.ptr, end);
        const char *colon = memchr(line.ptr, ':', line.len);
        if (hub_str_eq_nocase(hub_str_between(line.ptr, colon), name)) {
            *ret_value = hub_str_between(colon + 1, end);
            return true;
        }
        lines = hub_str_from(lines, line.len + 1);
    }
    return false;
}

/* The transport bounds what the headers of a request are in all. */
void hub_forward_collect(const hub_orchestrator *hub, hub_port *port, hub_buf *out)
{
    hub_buf value;
    if (port == NULL || port->ops->add_header == NULL) {
        return;
    }
    hub_buf_init(&value, SIZE_MAX / 2);
    for (size_t i = 0; i < hub->forwarded.count; i++) {
        hub_str name = hub_str_of(hub->forwarded.items[i]);
        hub_buf_clear(&value);
        if (port->ops->add_header(port, name, &value)) {
            out->failed = hub_buf_ok(&value) ? out->failed : value.failed;
            hub_forwarded_add(out, name, hub_buf_str(&value));
        }
    }
    hub_buf_fini(&value);
}

hub_str hub_forward_find(const hub_call *call, const hub_names *allowed, hub_str name)
{
    hub_str value = HUB_STR_EMPTY;
    if (call->context.headers.len > 0 && has_name(allowed, name)) {
        (void)hub_forwarded_find(call->context.headers, name, &value); /* else it stays empty */
    }
    return value;
}
