/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/output/output.h"

#include "hub/kernel/call.h"
#include "hub/kernel/way.h"
#include "wire/json.h"

/* With a call. */
typedef struct output_part {
    hub_buf result; /* what its outcome has become */
    bool is_hidden; /* its client is not shown the outputSchema: nothing structured goes there */
} output_part;

static bool goes(hub_str key, hub_str value, bool objects_stay)
{
    return hub_json_string_is(key, HUB_STR("structuredContent")) &&
           !(objects_stay && hub_json_type_of(value) == HUB_JSON_OBJECT);
}

static bool has_some_that_goes(hub_str result, bool objects_stay)
{
    hub_json_iter it = hub_json_iterate(result);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (goes(key, value, objects_stay)) {
            return true;
        }
    }
    return false;
}

bool hub_output_leave_out(hub_str result, bool objects_stay, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(result);
    hub_str key;
    hub_str value;
    const char *at = result.ptr; /* behind the member before this one */
    bool is_first = true;        /* of those that stay */
    if (hub_json_type_of(result) != HUB_JSON_OBJECT || !has_some_that_goes(result, objects_stay)) {
        return false;
    }
    hub_buf_add_char(out, '{');
    for (; hub_json_next(&it, &key, &value); at = it.at) {
        if (!goes(key, value, objects_stay)) {
            hub_buf_add(out, hub_str_between(is_first ? key.ptr : at, it.at));
            is_first = false;
        }
    }
    hub_buf_add(out, hub_str_between(at, result.ptr + result.len));
    return true;
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    (void)way;
    output_part *part = hub_call_part_of(call, &HUB_OUTPUT_STATION);
    part->is_hidden = true;
    return HUB_GO_ON;
}

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    hub_buf result;
    output_part *part = hub_call_find_part(call, &HUB_OUTPUT_STATION);
    bool objects_stay = part == NULL || !part->is_hidden;
    if (outcome->status != PATCHBAY_RESULT) {
        return HUB_GO_ON;
    }
    hub_buf_init(&result, SIZE_MAX / 2);
    if (!hub_output_leave_out(outcome->json, objects_stay, &result)) {
        return HUB_GO_ON;
    }
    if (!hub_buf_ok(&result)) {
        hub_buf_fini(&result);
        outcome->status = PATCHBAY_FAILED;
        outcome->json = HUB_STR("out of memory");
        return HUB_GO_ON;
    }
    part = hub_call_part_of(call, &HUB_OUTPUT_STATION);
    hub_buf_fini(&part->result); /* of an outcome that was not the last */
    part->result = result;
    outcome->json = hub_buf_str(&result);
    return HUB_GO_ON;
}

static void drop(hub_call *call)
{
    output_part *part = hub_call_find_part(call, &HUB_OUTPUT_STATION);
    if (part != NULL) {
        hub_buf_fini(&part->result);
    }
}

static hub_station_place place;

const hub_station HUB_OUTPUT_STATION = {
    .name = "output",
    .place = &place,
    .triggers = HUB_ON_OUTPUT,
    .bytes = {[HUB_PART_CALL] = sizeof(output_part)},
    .begin = begin,
    .answer = answer,
    .drop = drop,
};
