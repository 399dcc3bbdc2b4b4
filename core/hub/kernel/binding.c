/* SPDX-License-Identifier: Apache-2.0 */
/* What the instance behind a binding says: of its catalog, of its calls, of itself. */
#include "base/limits.h"
#include "hub/ask/ask.h"
#include "hub/ask/elicitation.h"
#include "hub/forward/forward.h"
#include "hub/kernel/hub.h"
#include "hub/notices/logging.h"
#include "hub/orchestrator/orchestrator.h"
#include "hub/ask/reissue.h"
#include "hub/notices/progress.h"
#include "hub/kernel/respond.h"
#include "hub/router/router.h"
#include "hub/ask/sealed_state.h"
#include "hub/notices/subscription.h"
#include "hub/tasks/task_watch.h"
#include "hub/tasks/tasks.h"
#include "hub/kernel/toolset.h"

#include <stdio.h>
#include <stdlib.h>

static void on_drop(void *ctx, hub_str reason)
{
    const hub_toolset *toolset = ctx;
    hub_log(HUB_LOG_WARNING, "tools.dropped", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_STR("reason", reason));
}

static void on_list(void *ctx, uint32_t list_kind, hub_str list_json)
{
    hub_binding *binding = ctx;
    hub_toolset *toolset = binding->toolset;
    hub_kind kind = (hub_kind)list_kind;
    hub_error why = {.code = HUB_OK};
    hub_catalog *list = NULL;
    if (binding->retired || toolset->shared != NULL) { /* the shared instance's is shown to all */
        return;
    }
    bool is_first = binding->instance == NULL; /* create() has not returned, and may yet fail */
    const hub_catalog *known = is_first ? binding->first_lists[kind] : toolset->lists[kind];
    if (known != NULL && hub_catalog_is(known, list_json, binding->native)) {
        return;
    }
    hub_err err =
        hub_catalog_parse(kind, list_json, binding->native, on_drop, toolset, &list, &why);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "tools.refused", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_TEXT("reason", why.text));
    } else if (is_first) {
        hub_catalog_unref(binding->first_lists[kind]);
        binding->first_lists[kind] = list;
    } else {
        hub_toolset_set_list(toolset, kind, list);
    }
}

static void on_capabilities(void *ctx, hub_str capabilities_json)
{
    hub_binding *binding = ctx;
    hub_capabilities capabilities;
    if (binding->retired) {
        return;
    }
    if (hub_capabilities_read(capabilities_json, &capabilities) != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "toolset.no_memory",
                HUB_F_TEXT("toolset", binding->toolset->settings->key));
    } else if (binding->instance == NULL) {
        hub_capabilities_fini(&binding->first_capabilities);
        binding->first_capabilities = capabilities;
    } else {
        hub_toolset_set_capabilities(binding->toolset, &capabilities);
    }
}

static void on_updated(void *ctx, hub_str uri)
{
    const hub_binding *binding = ctx;
    if (!binding->retired) {
        hub_subscription_tell(binding->toolset, uri);
    }
}

static bool on_finish(void *ctx, uint64_t id, int32_t status, hub_str json, bool has_type)
{
    const hub_binding *binding = ctx;
    hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call == NULL) {
        return false;
    }
    hub_outcome outcome = {.status = status, .json = json, .has_type = has_type};
    if (has_type && hub_reissue_begin(call, json)) {
        return true;
    }
    hub_buf translated;
    hub_buf_init(&translated, SIZE_MAX / 2);
    hub_tasks_translate(call, &outcome, &translated);
    hub_buf elicited;
    hub_buf_init(&elicited, SIZE_MAX / 2);
    hub_elicitation_translate(call, &outcome, &elicited);
    hub_buf sealed;
    hub_buf_init(&sealed, SIZE_MAX / 2);
    hub_sealed_state_translate(call, &outcome, &sealed);
    hub_buf named; /* who cannot be reached: the plugin does not know its toolset's name */
    hub_buf_init(&named, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (status == PATCHBAY_UNAVAILABLE && call->on_outcome == NULL) {
        hub_buf_printf(&named, "toolset \"%s\": ", binding->toolset->settings->key);
        hub_buf_add(&named, json);
        outcome.json = hub_buf_ok(&named) ? hub_buf_str(&named) : json;
    }
    hub_call_finish(call, &outcome);
    hub_buf_fini(&named);
    hub_buf_fini(&sealed);
    hub_buf_fini(&elicited);
    hub_buf_fini(&translated);
    return true;
}

static bool on_message(void *ctx, uint64_t id, hub_str params_json)
{
    const hub_binding *binding = ctx;
    if (hub_task_watch_message(binding, params_json)) {
        return true;
    }
    if (id == 0) {
        hub_logging_broadcast(binding->toolset, params_json);
        return true;
    }
    if (id == PATCHBAY_SOME_CALL) {
        return hub_logging_forward_to_only(binding, params_json);
    }
    const hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call != NULL) {
        hub_logging_forward(call, params_json);
    }
    return call != NULL;
}

static bool on_release(void *ctx, uint64_t id)
{
    const hub_binding *binding = ctx;
    const hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call != NULL && call->session != NULL && !call->session->closing &&
        call->port->ops->release != NULL) {
        call->port->ops->release(call->port);
    }
    return call != NULL;
}

static bool on_progress(void *ctx, uint64_t id, hub_str params_json)
{
    const hub_binding *binding = ctx;
    hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call == NULL) {
        return hub_task_watch_progress(binding->toolset, id, params_json);
    }
    hub_call_touch(call);
    hub_progress_take(call, params_json);
    return true;
}

/* What a server or its module says of itself is shown to many: without secrets. */
static void keep_text(char *kept, size_t size, hub_str text)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    text = hub_respond_mask(text, &masked);
    (void)snprintf(kept, size, HUB_STR_FMT, HUB_STR_ARG(text));
    hub_buf_fini(&masked);
}

static void on_state(void *ctx, uint32_t state, hub_str detail)
{
    const hub_binding *binding = ctx;
    hub_toolset *toolset = binding->toolset;
    if (binding->retired) {
        return;
    }
    toolset->state = state;
    keep_text(toolset->detail, sizeof toolset->detail, detail);
    if (state == PATCHBAY_STATE_READY && binding->deferred && binding == toolset->binding &&
        toolset->shared == NULL) {
        hub_discovery_confirm(toolset);
    }
    if (state == PATCHBAY_STATE_FAILED) {
        hub_log(HUB_LOG_WARNING, "toolset.failed", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_STR("reason", detail));
    }
}

static void on_health(void *ctx, const patchbay_health *health)
{
    const hub_binding *binding = ctx;
    if (binding->retired) {
        return;
    }
    hub_toolset_health *kept = &binding->toolset->health;
    *kept = (hub_toolset_health){.pid = health->pid,
                                 .restarts = health->restarts,
                                 .failures = health->failures,
                                 .next_attempt_ms = health->next_attempt_ms};
    (void)snprintf(kept->protocol, sizeof kept->protocol, HUB_STR_FMT,
                   HUB_STR_ARG(health->protocol));
    keep_text(kept->last_error, sizeof kept->last_error, health->last_error);
}

static void on_defer(void *ctx)
{
    hub_binding *binding = ctx;
    binding->deferred = true;
}

static const hub_request_context *get_context(void *ctx, uint64_t id)
{
    const hub_binding *binding = ctx;
    const hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    return call != NULL ? &call->context : NULL;
}

static hub_str get_header(void *ctx, uint64_t id, hub_str name)
{
    const hub_binding *binding = ctx;
    const hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    return call != NULL ? hub_forward_find(call, &binding->toolset->settings->forward_headers, name)
                        : HUB_STR_EMPTY;
}

static int32_t on_ask(void *ctx, uint64_t id, const patchbay_question *question)
{
    return hub_ask(ctx, id, question);
}

static void on_task(void *ctx, hub_str params_json)
{
    const hub_binding *binding = ctx;
    if (!binding->retired) {
        hub_task_watch_status(binding->toolset, params_json);
    }
}

static int32_t on_withdraw(void *ctx, uint64_t id, hub_str key)
{
    return hub_ask_withdraw(ctx, id, key);
}

static int32_t on_elicitation_complete(void *ctx, uint64_t id, hub_str params_json)
{
    return hub_elicitation_complete(ctx, id, params_json);
}

static void on_expect_input(void *ctx, bool is_expected)
{
    hub_binding *binding = ctx;
    binding->expects_input = is_expected;
    if (!binding->retired) {
        binding->toolset->is_modern = is_expected;
    }
}

static void on_closed(void *ctx)
{
    hub_binding *binding = ctx;
    hub_toolset *toolset = binding->toolset;
    hub_orchestrator *hub = toolset->hub;
    free(binding);
    hub_toolset_binding_closed(toolset);
    hub_orchestrator_binding_closed(hub);
}

const hub_instance_events HUB_BINDING_EVENTS = {
    .on_list = on_list,
    .on_capabilities = on_capabilities,
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
    .on_closed = on_closed,
};
