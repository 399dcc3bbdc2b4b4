/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/input_request.h"

static const struct {
    const char *method;
    const char *capability;
    bool needs_params;
} KINDS[] = {
    [HUB_INPUT_SAMPLING] = {"sampling/createMessage", "sampling", true},
    [HUB_INPUT_ELICITATION] = {"elicitation/create", "elicitation", true},
    [HUB_INPUT_ROOTS] = {"roots/list", "roots", false},
};

enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

const char *hub_input_method(hub_input_kind kind)
{
    return KINDS[kind].method;
}

static bool is_present(hub_str object, const char *key)
{
    return hub_json_get(object, hub_str_of(key)).len > 0;
}

static hub_err read_mode(hub_str params, bool *ret_is_url, hub_error *reterr)
{
    hub_str mode = hub_json_get(params, HUB_STR("mode"));
    *ret_is_url = hub_json_string_is(mode, HUB_STR("url"));
    if (mode.len > 0 && !*ret_is_url && !hub_json_string_is(mode, HUB_STR("form"))) {
        return hub_fail(reterr, HUB_EINVAL,
                        "elicitation/create: params.mode must be \"form\" or \"url\"");
    }
    return HUB_OK;
}

hub_err hub_input_request_read(hub_str method, hub_str params, hub_input_request *ret_request,
                               hub_error *reterr)
{
    int kind = 0;
    while (kind < KIND_COUNT && !hub_str_is(method, KINDS[kind].method)) {
        kind++;
    }
    if (kind == KIND_COUNT) {
        return hub_fail(reterr, HUB_EINVAL,
                        "a client can be asked sampling/createMessage, elicitation/create or "
                        "roots/list, not \"%.*s\"",
                        (int)(method.len < 100 ? method.len : 100), method.ptr);
    }
    hub_json_type type = hub_json_type_of(params);
    if (type != HUB_JSON_OBJECT && (type != HUB_JSON_NONE || KINDS[kind].needs_params)) {
        return hub_fail(reterr, HUB_EINVAL, "%s: params must be an object", KINDS[kind].method);
    }
    *ret_request = (hub_input_request){.kind = (hub_input_kind)kind};
    switch (ret_request->kind) {
    case HUB_INPUT_ELICITATION:
        return read_mode(params, &ret_request->is_url, reterr);
    case HUB_INPUT_SAMPLING:
        ret_request->has_tools = is_present(params, "tools") || is_present(params, "toolChoice");
        return HUB_OK;
    default:
        return HUB_OK;
    }
}

bool hub_input_request_fits(const hub_input_request *request, hub_revision revision,
                            hub_str capabilities)
{
    hub_str declared = hub_json_get(capabilities, hub_str_of(KINDS[request->kind].capability));
    if (hub_json_type_of(declared) != HUB_JSON_OBJECT) {
        return false;
    }
    switch (request->kind) {
    case HUB_INPUT_SAMPLING:
        return !request->has_tools ||
               (revision >= HUB_REVISION_2025_11_25 && is_present(declared, "tools"));
    case HUB_INPUT_ELICITATION:
        if (revision < HUB_REVISION_2025_11_25) { /* forms are all there is, since 2025-06-18 */
            return !request->is_url && revision >= HUB_REVISION_2025_06_18;
        }
        /* Neither mode declared means forms. */
        return is_present(declared, "url") ? request->is_url || is_present(declared, "form")
                                           : !request->is_url;
    default:
        return true;
    }
}

bool hub_input_is_possible(hub_str capabilities)
{
    hub_json_iter it = hub_json_iterate(capabilities);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            if (hub_json_string_is(key, hub_str_of(KINDS[kind].capability))) {
                return true;
            }
        }
    }
    return false;
}
