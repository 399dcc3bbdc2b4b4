/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/binding_events.h"

#include "base/limits.h"
#include "hub/ask/ask.h"
#include "hub/ask/elicitation.h"
#include "hub/catalogs/discovery.h"
#include "hub/forward/forward.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#ifdef PATCHBAY_HTTP
#include "hub/login/logins.h"
#endif
#include "hub/notices/logging.h"
#include "hub/kernel/progress.h"
#include "hub/notices/subscription.h"
#include "hub/tasks/task_watch.h"
#include "wire/json.h"

/* ---- its catalog, itself --------------------------------------------------------------------- */

static bool has_list(void *ctx, uint32_t kind, hub_str json)
{
    return hub_binding_has_list(ctx, (hub_kind)kind, json);
}

static void on_list(void *ctx, uint32_t kind, hub_str list_json)
{
    hub_binding_list(ctx, (hub_kind)kind, list_json);
}

static hub_err on_list_part(void *ctx, uint32_t kind, const hub_str *list_json, bool *ret_is_end)
{
    return hub_binding_list_part(ctx, (hub_kind)kind, list_json, ret_is_end);
}

static void on_capabilities(void *ctx, hub_str capabilities_json)
{
    hub_binding_capabilities(ctx, capabilities_json);
}

static void on_about(void *ctx, hub_str result_json)
{
    hub_binding_about(ctx, result_json);
}

static void on_updated(void *ctx, hub_str uri)
{
    const hub_binding *binding = ctx;
    if (!hub_binding_is_retired(binding)) {
        hub_subscription_tell(hub_binding_toolset(binding), uri);
    }
}

static void on_state(void *ctx, uint32_t state, hub_str detail)
{
    hub_binding *binding = ctx;
    hub_toolset *toolset = hub_binding_toolset(binding);
    hub_binding_state(binding, state, detail);
    if (state == PATCHBAY_STATE_READY && hub_binding_is_deferred(binding) &&
        hub_binding_is_current(binding) && !hub_binding_is_retired(binding) &&
        (!hub_toolset_is_own(toolset) || hub_toolset_is_apart(toolset))) {
        hub_discovery_confirm(toolset);
    }
}

static void on_health(void *ctx, const patchbay_health *health)
{
    hub_binding_health(ctx, health);
}

static void on_defer(void *ctx)
{
    hub_binding_defer(ctx);
}

static void on_expect_input(void *ctx, bool is_expected)
{
    hub_binding_expect_input(ctx, is_expected);
}

static void on_task(void *ctx, hub_str params_json)
{
    const hub_binding *binding = ctx;
    if (!hub_binding_is_retired(binding)) {
        hub_task_watch_status(hub_binding_toolset(binding), params_json);
    }
}

static void on_closed(void *ctx)
{
#ifdef PATCHBAY_HTTP
    hub_logins_forget_binding(ctx);
#endif
    hub_binding_closed(ctx);
}

/* ---- its calls ------------------------------------------------------------------------------- */

static hub_call *find(const hub_binding *binding, uint64_t id)
{
    return hub_call_find(hub_calls_of(hub_toolset_hub(hub_binding_toolset(binding))), id, binding);
}

/* Whether the module reports a failure of its own making in the name of a server, which it does not
 * know the toolset's name of. What a server answers, and what a native tool says, is never touched. */
static bool is_of_proxy(const hub_binding *binding, const hub_call *call, int32_t status)
{
    bool is_failure = status == PATCHBAY_UNAVAILABLE || status == PATCHBAY_FAILED ||
                      status == PATCHBAY_INVALID_INPUT;
    return is_failure && !hub_call_is_internal(call) &&
           (status == PATCHBAY_UNAVAILABLE || !hub_binding_is_native(binding));
}

static bool on_finish(void *ctx, uint64_t id, int32_t status, hub_str json, int32_t flags)
{
    const hub_binding *binding = ctx;
    hub_call *call = find(binding, id);
    if (call == NULL) {
        return false;
    }
    hub_outcome outcome = {
        .status = status, .json = json, .has_type = (flags & PATCHBAY_TYPED) != 0};
    if ((flags & (PATCHBAY_IS_ERROR | PATCHBAY_NO_ERROR)) != 0) {
        outcome.judged = json.ptr;
        outcome.is_error = (flags & PATCHBAY_IS_ERROR) != 0;
    }
    outcome.is_partial =
        outcome.has_type &&
        !hub_json_string_is(hub_json_get(json, HUB_STR("resultType")), HUB_STR("complete"));
    if (!is_of_proxy(binding, call, status)) {
        hub_call_finish(call, &outcome);
        return true;
    }
    hub_buf named;
    hub_buf_init(&named, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&named, "toolset \"%s\": ", hub_toolset_key(hub_binding_toolset(binding)));
    hub_buf_add(&named, json);
    outcome.json = hub_buf_ok(&named) ? hub_buf_str(&named) : json;
    hub_call_finish(call, &outcome);
    hub_buf_fini(&named);
    return true;
}

static bool on_message(void *ctx, uint64_t id, hub_str params_json)
{
    const hub_binding *binding = ctx;
    if (hub_task_watch_message(binding, params_json)) {
        return true;
    }
    if (id == 0) {
        hub_logging_broadcast(hub_binding_toolset(binding), params_json);
        return true;
    }
    if (id == PATCHBAY_SOME_CALL) {
        return hub_logging_forward_to_only(binding, params_json);
    }
    const hub_call *call = find(binding, id);
    if (call != NULL) {
        hub_logging_forward(call, params_json);
    }
    return call != NULL;
}

static bool on_release(void *ctx, uint64_t id)
{
    const hub_call *call = find(ctx, id);
    const hub_session *session = call != NULL ? hub_call_session(call) : NULL;
    if (session != NULL && !hub_session_is_closing(session) &&
        hub_call_port(call)->ops->release != NULL) {
        hub_call_port(call)->ops->release(hub_call_port(call));
    }
    return call != NULL;
}

static bool on_progress(void *ctx, uint64_t id, hub_str params_json)
{
    const hub_binding *binding = ctx;
    hub_call *call = find(binding, id);
    if (call == NULL) {
        return hub_task_watch_progress(hub_binding_toolset(binding), id, params_json);
    }
    hub_call_touch(call);
    hub_progress_take(call, params_json);
    return true;
}

static const hub_request_context *get_context(void *ctx, uint64_t id)
{
    const hub_call *call = find(ctx, id);
    return call != NULL ? hub_call_context(call) : NULL;
}

static hub_str get_header(void *ctx, uint64_t id, hub_str name)
{
    const hub_binding *binding = ctx;
    const hub_call *call = find(binding, id);
    const hub_toolset_settings *settings = hub_toolset_settings_of(hub_binding_toolset(binding));
    return call != NULL ? hub_forward_find(call, &settings->forward_headers, name) : HUB_STR_EMPTY;
}

/* ---- its questions --------------------------------------------------------------------------- */

static int32_t on_ask(void *ctx, uint64_t id, const patchbay_question *question)
{
    return hub_ask(ctx, id, question);
}

static int32_t on_withdraw(void *ctx, uint64_t id, hub_str key)
{
    return hub_ask_withdraw(ctx, id, key);
}

static int32_t on_elicitation_complete(void *ctx, uint64_t id, hub_str params_json)
{
    return hub_elicitation_complete(ctx, id, params_json);
}

const hub_instance_events HUB_BINDING_EVENTS = {
    .has_list = has_list,
    .on_list = on_list,
    .on_list_part = on_list_part,
    .on_capabilities = on_capabilities,
    .on_about = on_about,
    .on_updated = on_updated,
    .on_message = on_message,
    .on_release = on_release,
    .on_finish = on_finish,
    .on_progress = on_progress,
    .on_state = on_state,
    .on_health = on_health,
    .on_defer = on_defer,
    .get_context = get_context,
    .get_header = get_header,
    .on_ask = on_ask,
    .on_withdraw = on_withdraw,
    .on_elicitation_complete = on_elicitation_complete,
    .on_task = on_task,
    .on_expect_input = on_expect_input,
#ifdef PATCHBAY_HTTP
    .logins = &HUB_BINDING_LOGINS,
#endif
    .on_closed = on_closed,
};
