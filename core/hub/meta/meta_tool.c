/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/meta/meta_tool.h"

#include "base/limits.h"
#include "hub/kernel/call.h"
#include "hub/kernel/respond.h"

void hub_meta_reply(hub_call *call, hub_buf *structured, bool is_error)
{
    hub_buf result;
    hub_buf_init(&result, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&result, HUB_STR("{\"content\":[{\"type\":\"text\",\"text\":"));
    hub_json_add_string(&result, hub_buf_str(structured));
    hub_buf_add(&result, HUB_STR("}],\"structuredContent\":"));
    hub_buf_add(&result, hub_buf_str(structured));
    hub_buf_add(&result, is_error ? HUB_STR(",\"isError\":true}") : HUB_STR("}"));
    if (hub_buf_ok(structured) && hub_buf_ok(&result)) {
        hub_outcome outcome = {.status = PATCHBAY_RESULT, .json = hub_buf_str(&result)};
        hub_call_finish(call, &outcome);
    } else {
        bool is_short = structured->failed == HUB_ENOMEM || result.failed == HUB_ENOMEM;
        hub_call_fail(call, PATCHBAY_FAILED,
                      is_short ? HUB_STR("out of memory") : HUB_STR("the answer became too large"));
    }
    hub_buf_fini(&result);
    hub_buf_fini(structured);
}

const char *hub_meta_code_of(hub_err err)
{
    switch (err) {
    case HUB_EINVAL:
    case HUB_ENOTFOUND:
    case HUB_EEXIST:
        return "E_VALIDATION";
    case HUB_EDENIED:
        return "E_POLICY_DENIED";
    case HUB_ELIMIT:
        return "E_POLICY_MAX_ACTIVE";
    case HUB_EUNAVAILABLE:
        return "E_UNAVAILABLE";
    case HUB_EBUSY:
        return "E_BUSY";
    default:
        return "E_INTERNAL";
    }
}

bool hub_meta_is_retryable(hub_err err)
{
    return err == HUB_EBUSY || err == HUB_EUNAVAILABLE || err == HUB_ENOMEM;
}

void hub_meta_reply_failure(hub_call *call, hub_err err, const char *why)
{
    hub_buf result;
    hub_buf_init(&result, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_respond_add_tool_error(&result, hub_meta_code_of(err), hub_str_of(why),
                               hub_meta_is_retryable(err), true);
    if (hub_buf_ok(&result)) {
        hub_outcome outcome = {.status = PATCHBAY_RESULT, .json = hub_buf_str(&result)};
        hub_call_finish(call, &outcome);
    } else {
        hub_call_fail(call, PATCHBAY_FAILED, HUB_STR("out of memory"));
    }
    hub_buf_fini(&result);
}
