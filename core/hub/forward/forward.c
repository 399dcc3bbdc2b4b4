/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/forward/forward.h"

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

/* The headers that the toolsets of some settings name, each once. */
typedef struct wanted_headers {
    hub_names names;    /* borrowed from the settings … */
    const char **items; /* … but for the list itself */
} wanted_headers;

/* With the hub: of its settings, and of those that may come. */
typedef struct forward_part {
    const char *own; /* the hub's own; NULL: none */
    wanted_headers now;
    wanted_headers next;
} forward_part;

static forward_part *part_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_FORWARD_STATION);
}

static hub_err collect_names(const char *own, const hub_settings *settings,
                             wanted_headers *ret_wanted)
{
    size_t most = 2;
    for (size_t i = 0; i < settings->toolset_count; i++) {
        most += settings->toolsets[i].forward_headers.count;
    }
    const char **items = calloc(most, sizeof *items);
    if (items == NULL) {
        return HUB_ENOMEM;
    }
    hub_names found = {.items = items, .set = true};
    if (own != NULL) {
        items[found.count++] = own;
    }
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_names *names = &settings->toolsets[i].forward_headers;
        for (size_t k = 0; k < names->count; k++) {
            if (!has_name(&found, hub_str_of(names->items[k]))) {
                items[found.count++] = names->items[k];
            }
        }
    }
    *ret_wanted = (wanted_headers){.names = found, .items = items};
    return HUB_OK;
}

static hub_err offer(hub_orchestrator *hub, const hub_settings *settings)
{
    wanted_headers *next = &part_of(hub)->next;
    free(next->items);
    *next = (wanted_headers){.items = NULL};
    return collect_names(part_of(hub)->own, settings, next);
}

static void take(hub_orchestrator *hub)
{
    forward_part *part = part_of(hub);
    free(part->now.items);
    part->now = part->next;
    part->next = (wanted_headers){.items = NULL};
}

static hub_err begin(hub_orchestrator *hub, hub_error *reterr)
{
    hub_err err = collect_names(NULL, hub_settings_of(hub), &part_of(hub)->now);
    return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "out of memory");
}

static void drop(hub_orchestrator *hub)
{
    free(part_of(hub)->now.items);
    free(part_of(hub)->next.items);
}

hub_err hub_forward_want(hub_orchestrator *hub, const char *name)
{
    forward_part *part = part_of(hub);
    wanted_headers now;
    hub_err err = collect_names(name, hub_settings_of(hub), &now);
    if (err == HUB_OK) {
        part->own = name;
        free(part->now.items);
        part->now = now;
    }
    return err;
}

const hub_names *hub_forwarded_names(const hub_orchestrator *hub)
{
    return &part_of(hub)->now.names;
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
    const hub_names *names = hub_forwarded_names(hub);
    if (names->count == 0 || port == NULL || port->ops->add_header == NULL) {
        return;
    }
    hub_buf_init(&value, SIZE_MAX / 2);
    for (size_t i = 0; i < names->count; i++) {
        hub_str name = hub_str_of(names->items[i]);
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
    if (hub_call_context(call)->headers.len > 0 && has_name(allowed, name)) {
        (void)hub_forwarded_find(hub_call_context(call)->headers, name,
                                 &value); /* else it stays empty */
    }
    return value;
}

static hub_station_place place;

const hub_station HUB_FORWARD_STATION = {
    .name = "forward",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(forward_part)},
    .hub_begins = begin,
    .hub_drops = drop,
    .settings_offered = offer,
    .settings_changed = take,
};
