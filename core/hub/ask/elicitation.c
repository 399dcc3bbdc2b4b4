/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/elicitation.h"

#include "base/limits.h"
#include "hub/ask/ask_internal.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"

#include <stdio.h>
#include <stdlib.h>

/* One that a session knows of. */
struct hub_elicitation {
    struct hub_elicitation *next; /* older */
    const hub_toolset *toolset;
    uint64_t call; /* on whose port its client was told of it */
    size_t id_len;
    char id[]; /* decoded */
};

/* ---- what clients know of -------------------------------------------------------------------- */

static hub_str id_of(const struct hub_elicitation *elicitation)
{
    return (hub_str){.ptr = elicitation->id, .len = elicitation->id_len};
}

static struct hub_elicitation *take_out(struct hub_elicitation **link)
{
    struct hub_elicitation *taken = *link;
    *link = taken->next;
    return taken;
}

/* Where the session has that one, or where its list ends. */
static struct hub_elicitation **find(hub_session *session, const hub_toolset *toolset, hub_str id)
{
    struct hub_elicitation **link = &hub_ask_in(session)->elicitations;
    while (*link != NULL && ((*link)->toolset != toolset || !hub_str_eq(id_of(*link), id))) {
        link = &(*link)->next;
    }
    return link;
}

/* Forget what is more than there may be. */
static void forget_oldest(hub_session *session)
{
    struct hub_elicitation **link = &hub_ask_in(session)->elicitations;
    for (size_t i = 0; i < HUB_LIMIT_ELICITATIONS && *link != NULL; i++) {
        link = &(*link)->next;
    }
    while (*link != NULL) {
        free(take_out(link));
    }
}

void hub_elicitation_note(const hub_call *call, hub_str params)
{
    hub_session *session = hub_call_session(call);
    hub_str raw = hub_json_get(params, HUB_STR("elicitationId"));
    hub_buf id;
    if (session == NULL || hub_call_context(call)->revision != HUB_REVISION_2025_11_25 ||
        raw.len > HUB_LIMIT_ID_BYTES) {
        return;
    }
    hub_buf_init(&id, HUB_LIMIT_ID_BYTES);
    struct hub_elicitation *known = NULL;
    if (hub_json_decode(raw, &id) == HUB_OK) {
        const hub_toolset *toolset = hub_binding_toolset(hub_call_binding(call));
        struct hub_elicitation **link = find(session, toolset, hub_buf_str(&id));
        known = *link != NULL ? take_out(link) : malloc(sizeof *known + id.len);
        if (known != NULL) {
            *known = (struct hub_elicitation){
                .next = hub_ask_in(session)->elicitations,
                .toolset = toolset,
                .call = hub_call_id(call),
                .id_len = id.len,
            };
            if (id.len > 0) { /* it may be empty: then there is no memory to copy from */
                memcpy(known->id, id.ptr, id.len);
            }
            hub_ask_in(session)->elicitations = known;
            forget_oldest(session);
        }
    }
    hub_buf_fini(&id);
}

static void forget_of(hub_session *session, const hub_toolset *toolset)
{
    struct hub_elicitation **link = &hub_ask_in(session)->elicitations;
    while (*link != NULL) {
        if ((*link)->toolset == toolset) {
            free(take_out(link));
        } else {
            link = &(*link)->next;
        }
    }
}

void hub_elicitation_forget_toolset(hub_toolset *toolset)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_session *at = hub_profile_sessions(hub_profile_at(hub, i)); at != NULL;
             at = hub_session_next(at)) {
            forget_of(at, toolset);
        }
    }
}

void hub_elicitation_forget(hub_session *session)
{
    while (hub_ask_in(session)->elicitations != NULL) {
        free(take_out(&hub_ask_in(session)->elicitations));
    }
}

/* ---- what toolsets are done with ------------------------------------------------------------- */

/* The port of a call of the session that is still in flight, or NULL. */
static hub_port *port_of(const hub_session *session, uint64_t id)
{
    const hub_call *call = hub_call_at(hub_calls_of(hub_session_hub(session)), id);
    return call != NULL && hub_call_session(call) == session ? hub_call_port(call) : NULL;
}

/* Tell a session that knows of it, once. */
static bool tell(hub_session *session, const hub_toolset *toolset, hub_str id, uint64_t call,
                 hub_str params)
{
    struct hub_elicitation **link = find(session, toolset, id);
    if (*link == NULL || hub_session_is_closing(session)) {
        return false;
    }
    struct hub_elicitation *done = take_out(link);
    hub_port *port = port_of(session, done->call);
    port = port != NULL ? port : port_of(session, call);
    hub_respond_notify(port != NULL ? port : hub_session_port(session),
                       HUB_STR("notifications/elicitation/complete"), params);
    free(done);
    return true;
}

int32_t hub_elicitation_complete(const hub_binding *binding, uint64_t call, hub_str params)
{
    const hub_orchestrator *hub = hub_toolset_hub(hub_binding_toolset(binding));
    hub_buf id;
    bool is_known = false;
    hub_buf_init(&id, params.len);
    if (hub_json_decode(hub_json_get(params, HUB_STR("elicitationId")), &id) == HUB_OK) {
        for (size_t i = 0; i < hub_profile_total(hub); i++) {
            for (hub_session *at = hub_profile_sessions(hub_profile_at(hub, i)); at != NULL;
                 at = hub_session_next(at)) {
                is_known = tell(at, hub_binding_toolset(binding), hub_buf_str(&id), call, params) ||
                           is_known;
            }
        }
    }
    hub_buf_fini(&id);
    return is_known ? PATCHBAY_OK : PATCHBAY_ENOTFOUND;
}

/* ---- the error ------------------------------------------------------------------------------- */

static hub_str elicitations_of(hub_str error)
{
    return hub_json_get(hub_json_get(error, HUB_STR("data")), HUB_STR("elicitations"));
}

static void note_all(const hub_call *call, hub_str elicitations)
{
    hub_json_iter it = hub_json_iterate(elicitations);
    hub_str key;
    hub_str params;
    while (hub_json_next(&it, &key, &params)) {
        hub_elicitation_note(call, params);
    }
}

/* Whether there are elicitations, all of which a client can be asked. */
static bool are_good(hub_str elicitations)
{
    hub_input_request what;
    hub_json_iter it = hub_json_iterate(elicitations);
    hub_str key;
    hub_str params;
    size_t count = 0;
    while (hub_json_next(&it, &key, &params)) {
        if (hub_input_request_read(HUB_STR("elicitation/create"), params, &what, NULL) != HUB_OK ||
            !what.is_url) {
            return false;
        }
        count++;
    }
    return count > 0 && count <= HUB_LIMIT_ASKS_PER_CALL;
}

/* The key of the elicitation at that place: the same in each round. */
static hub_str key_at(size_t place, char *text, size_t size)
{
    return (hub_str){.ptr = text, .len = (size_t)snprintf(text, size, "url-%zu", place + 1)};
}

/* Whether the request came with the answer that the user will not go there. */
static bool is_declined(const hub_call *call, size_t count)
{
    char text[32];
    hub_str answers =
        hub_asking_find(call) != NULL ? hub_asking_find(call)->supplied : HUB_STR_EMPTY;
    for (size_t i = 0; i < count; i++) {
        hub_str answer = hub_json_get(answers, key_at(i, text, sizeof text));
        hub_str action = hub_json_get(answer, HUB_STR("action"));
        if (action.len > 0 && !hub_json_string_is(action, HUB_STR("accept"))) {
            return true;
        }
    }
    return false;
}

static void add_input_required(hub_str elicitations, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(elicitations);
    hub_str key;
    hub_str params;
    char text[32];
    hub_buf_add(out, HUB_STR("{\"resultType\":\"input_required\",\"inputRequests\":{"));
    for (size_t i = 0; hub_json_next(&it, &key, &params); i++) {
        hub_json_add_key(out, key_at(i, text, sizeof text));
        hub_buf_add(out, HUB_STR("{\"method\":\"elicitation/create\",\"params\":"));
        hub_buf_add(out, params);
        hub_buf_add_char(out, '}');
    }
    hub_buf_add(out, HUB_STR("}}"));
}

/* Append the error with another code, and other data if there are. */
static void add_error(hub_str error, int code, hub_str data, hub_buf *out)
{
    hub_str message = hub_json_get(error, HUB_STR("message"));
    hub_str kept = data.len > 0 ? data : hub_json_get(error, HUB_STR("data"));
    hub_buf_printf(out, "{\"code\":%d,\"message\":", code);
    hub_buf_add(out, message.len > 0 ? message : HUB_STR("\"URL elicitation required\""));
    if (kept.len > 0) {
        hub_buf_add(out, HUB_STR(",\"data\":"));
        hub_buf_add(out, kept);
    }
    hub_buf_add_char(out, '}');
}

static hub_outcome translate(const hub_call *call, hub_str error, hub_buf *text)
{
    static const hub_input_request BY_URL = {.kind = HUB_INPUT_ELICITATION, .is_url = true};
    hub_str elicitations = elicitations_of(error);
    if (!hub_call_may_ask(call) || !are_good(elicitations)) {
        add_error(error, HUB_RPC_INTERNAL_ERROR, HUB_STR_EMPTY, text);
    } else if (!hub_input_request_fits(&BY_URL, hub_call_context(call)->revision,
                                       hub_call_context(call)->capabilities)) {
        add_error(error, HUB_RPC_MISSING_CAPABILITY,
                  HUB_STR("{\"requiredCapabilities\":{\"elicitation\":{\"url\":{}}}}"), text);
    } else if (is_declined(call, hub_json_count(elicitations))) {
        return (hub_outcome){.status = PATCHBAY_FAILED,
                             .json = HUB_STR("the server needs the user to open a URL first, and "
                                             "the user did not agree to")};
    } else {
        add_input_required(elicitations, text);
        return (hub_outcome){
            .status = PATCHBAY_RESULT, .json = hub_buf_str(text), .has_type = true};
    }
    return (hub_outcome){.status = PATCHBAY_RPC_ERROR, .json = hub_buf_str(text)};
}

void hub_elicitation_translate(const hub_call *call, hub_outcome *outcome, hub_buf *text)
{
    int64_t code;
    if (outcome->status != PATCHBAY_RPC_ERROR || hub_call_is_internal(call) ||
        !hub_json_to_i64(hub_json_get(outcome->json, HUB_STR("code")), &code) ||
        code != HUB_RPC_URL_ELICITATION) {
        return;
    }
    if (hub_call_context(call)->era == HUB_ERA_LEGACY) {
        note_all(call, elicitations_of(outcome->json));
        return;
    }
    hub_outcome other = translate(call, outcome->json, text);
    *outcome = hub_buf_ok(text)
                   ? other
                   : (hub_outcome){.status = PATCHBAY_FAILED,
                                   .json = HUB_STR("the server's answer is too large")};
}
