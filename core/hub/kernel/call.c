/* SPDX-License-Identifier: Apache-2.0 */
/* What a call is. Its table: call_table.c; its beginning: call_begin.c; its time: call_clock.c; its
 * end: call_end.c. */
#include "hub/kernel/call.h"

#include "hub/kernel/objects.h"

uint64_t hub_call_id(const hub_call *call)
{
    return call->id;
}

hub_call_table *hub_call_table_of(const hub_call *call)
{
    return call->table;
}

hub_session *hub_call_session(const hub_call *call)
{
    return call->session;
}

hub_port *hub_call_port(const hub_call *call)
{
    return call->port;
}

hub_binding *hub_call_binding(const hub_call *call)
{
    return call->binding;
}

hub_toolset *hub_call_toolset(const hub_call *call)
{
    return call->binding != NULL ? call->binding->toolset : NULL;
}

const hub_request_context *hub_call_context(const hub_call *call)
{
    return &call->context;
}

hub_call *hub_call_next_of_session(const hub_call *call)
{
    return call->session_next;
}

hub_call *hub_call_next_of_binding(const hub_call *call)
{
    return call->binding_next;
}

bool hub_call_has_place(const hub_call *call)
{
    return call->binding != NULL && call->takes_place;
}

bool hub_call_is_internal(const hub_call *call)
{
    return call->on_outcome != NULL;
}

bool hub_call_is_unasked(const hub_call *call)
{
    return call->is_unasked;
}

bool hub_call_is_idle(const hub_call *call)
{
    return call->is_idle;
}

bool hub_call_is_of_tool(const hub_call *call)
{
    return call->is_tool_call;
}

bool hub_call_may_ask(const hub_call *call)
{
    return call->may_ask;
}

bool hub_call_is_ending(const hub_call *call)
{
    return call->is_ending;
}

uint64_t hub_call_begin_us(const hub_call *call)
{
    return call->begin_us;
}

uint64_t hub_call_begin_ms(const hub_call *call)
{
    return call->begin_ms;
}

const hub_trace *hub_call_trace(const hub_call *call)
{
    return call->trace;
}

void hub_call_set_trace(hub_call *call, const hub_trace *trace)
{
    call->trace = trace;
}

void hub_call_set_idle(hub_call *call, bool is_idle)
{
    call->is_idle = is_idle;
}

void hub_call_set_of_tool(hub_call *call, bool is_tool_call, bool structured_errors)
{
    call->is_tool_call = is_tool_call;
    call->structured_errors = structured_errors;
}

void hub_call_set_reading(hub_call *call)
{
    call->is_reading = true;
}

bool hub_call_names(const hub_call *call, hub_str *ret_name, hub_str *ret_name_json)
{
    *ret_name = (hub_str){.ptr = call->names, .len = call->name_len};
    *ret_name_json = (hub_str){.ptr = call->names + call->name_len, .len = call->name_json_len};
    return call->name_json_len > 0;
}

void *hub_call_part_of(hub_call *call, const hub_station *station)
{
    const hub_station_place *place = station->place;
    hub_assert(station->bytes[HUB_PART_CALL] > 0);
    char *part = call->parts + place->offset[HUB_PART_CALL];
    if ((call->used & place->bit) == 0) {
        call->used |= place->bit;
        memset(part, 0, station->bytes[HUB_PART_CALL]);
    }
    return part;
}

void *hub_call_find_part(const hub_call *call, const hub_station *station)
{
    const hub_station_place *place = station->place;
    return (call->used & place->bit) != 0
               ? (char *)(uintptr_t)call->parts + place->offset[HUB_PART_CALL]
               : NULL;
}
