/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/tasks/tasks.h"

#include "base/digest.h"
#include "base/limits.h"
#include "hub/catalogs/announce.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/tasks/tasks_internal.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAC_BYTES = 16,
    MAC_DIGITS = 2 * MAC_BYTES,
    CLIENT_ID_BYTES = HUB_LIMIT_TOOLSET_KEY_BYTES + 1 + MAC_DIGITS + 1 + HUB_LIMIT_TASK_ID_BYTES,
};

/* ---- ids ------------------------------------------------------------------------------------- */

/* Whom a task is for, and of whom. */
typedef struct task_owner {
    const hub_toolset *toolset;
    const hub_session *session;
    hub_era era;
} task_owner;

toolset_tasks *hub_tasks_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_TASKS_STATION);
}

session_tasks *hub_tasks_in(const hub_session *session)
{
    return hub_session_part(session, &HUB_TASKS_STATION);
}

size_t *hub_tasks_count(const hub_toolset *toolset)
{
    return hub_hub_part(hub_toolset_hub(toolset), &HUB_TASKS_STATION);
}

/* What a call has to do with tasks; NULL: nothing so far. */
static const call_task *task_of(const hub_call *call)
{
    return hub_call_find_part(call, &HUB_TASKS_STATION);
}

static task_role role_of(const hub_call *call)
{
    const call_task *part = task_of(call);
    return part != NULL ? part->role : TASK_NONE;
}

static hub_str id_of(const call_task *part)
{
    return (hub_str){.ptr = part->task, .len = part->task_len};
}

bool hub_tasks_is_result(const hub_call *call)
{
    return role_of(call) == TASK_RESULT;
}

static task_owner owner_of(const hub_call *call)
{
    return (task_owner){.toolset = hub_binding_toolset(hub_call_binding(call)),
                        .session = hub_call_session(call),
                        .era = hub_call_context(call)->era};
}

/* With its length in front, so that no two lists of texts are the same bytes. */
static void add_signed(hub_buf *out, hub_str text)
{
    hub_buf_add_u64(out, text.len);
    hub_buf_add_char(out, ':');
    hub_buf_add(out, text);
}

static bool sign(const task_owner *owner, hub_str id, char ret_digits[MAC_DIGITS + 1])
{
    const hub_key *key = hub_key_of(hub_toolset_hub(owner->toolset));
    unsigned char mac[HUB_DIGEST_BYTES];
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, owner->era == HUB_ERA_MODERN ? HUB_STR("task/2:") : HUB_STR("task/1:"));
    add_signed(&text, hub_str_of(hub_session_who(owner->session)));
    add_signed(&text,
               hub_str_of(hub_profile_settings_of(hub_session_profile(owner->session))->name));
    add_signed(&text, hub_str_of(hub_toolset_settings_of(owner->toolset)->key));
    add_signed(&text, id);
    bool ok = hub_buf_ok(&text);
    if (ok) {
        hub_hmac(key->bytes, sizeof key->bytes, hub_buf_str(&text), mac);
    }
    hub_buf_fini(&text);
    for (size_t i = 0; ok && i < MAC_BYTES; i++) {
        (void)snprintf(ret_digits + 2 * i, 3, "%02x", mac[i]);
    }
    return ok;
}

/* Decode a raw string of 1 to `max_bytes` bytes; `text` is initialised here. */
static bool read_id(hub_str raw, size_t max_bytes, hub_buf *text)
{
    hub_buf_init(text, max_bytes);
    return hub_json_decode(raw, text) == HUB_OK && text->len > 0;
}

/* Append the client's id for the toolset's own, both raw strings. */
static bool add_client_id(const task_owner *owner, hub_str raw, hub_buf *out)
{
    char digits[MAC_DIGITS + 1];
    hub_buf id;
    bool ok = read_id(raw, HUB_LIMIT_TASK_ID_BYTES, &id) && sign(owner, hub_buf_str(&id), digits);
    hub_buf_fini(&id);
    if (ok) {
        hub_buf_printf(out, "\"%s.%s.", hub_toolset_settings_of(owner->toolset)->key, digits);
        hub_buf_add(out, hub_str_from(raw, 1));
    }
    return ok;
}

/* The task that a client means, decoded: whose it is, and its own id there (a slice of `text`).
 * NULL when it is the id of no task of this client's. */
static hub_toolset *find_task(const hub_session *session, hub_era era, hub_str text,
                              hub_str *ret_id)
{
    char digits[MAC_DIGITS + 1];
    size_t dot = hub_str_find(text, HUB_STR("."));
    if (dot == SIZE_MAX || text.len < dot + 1 + MAC_DIGITS + 2 ||
        text.ptr[dot + 1 + MAC_DIGITS] != '.') {
        return NULL;
    }
    const hub_source *source =
        hub_exposure_source(hub_session_exposure(session), (hub_str){.ptr = text.ptr, .len = dot});
    if (source == NULL || source->bare) {
        return NULL;
    }
    task_owner owner = {.toolset = source->owner, .session = session, .era = era};
    hub_str id = hub_str_from(text, dot + 1 + MAC_DIGITS + 1);
    if (!sign(&owner, id, digits) || CRYPTO_memcmp(digits, text.ptr + dot + 1, MAC_DIGITS) != 0) {
        return NULL;
    }
    *ret_id = id;
    return source->owner;
}

/* ---- ids in messages ------------------------------------------------------------------------- */

hub_str hub_tasks_related_id(hub_str object)
{
    hub_str meta = hub_json_get(object, HUB_STR("_meta"));
    return hub_json_get(hub_json_get(meta, HUB_STR(HUB_META_RELATED_TASK)), HUB_STR("taskId"));
}

/* Append `json` with the client's ids in the place of the toolset's: of `id`, and of that in
 * `_meta`. Both may be empty. False when one of them is no id. */
static bool add_for_client(const task_owner *owner, hub_str json, hub_str id, hub_buf *out)
{
    hub_str related = hub_tasks_related_id(json);
    hub_str spots[2] = {id, related};
    const char *from = json.ptr;
    if (id.len > 0 && related.len > 0 && related.ptr < id.ptr) {
        spots[0] = related;
        spots[1] = id;
    }
    for (size_t i = 0; i < 2; i++) {
        if (spots[i].len == 0) {
            continue;
        }
        hub_buf_add(out, hub_str_between(from, spots[i].ptr));
        if (!add_client_id(owner, spots[i], out)) {
            return false;
        }
        from = spots[i].ptr + spots[i].len;
    }
    hub_buf_add(out, hub_str_between(from, json.ptr + json.len));
    return hub_buf_ok(out);
}

/* Append an object without one of its members. */
static void add_without(hub_str object, hub_str member, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(object);
    hub_str key;
    hub_str value;
    hub_buf_add_char(out, '{');
    while (hub_json_next(&it, &key, &value)) {
        if (!hub_json_string_is(key, member)) {
            hub_json_add_comma(out);
            hub_buf_add(out, key);
            hub_buf_add_char(out, ':');
            hub_buf_add(out, value);
        }
    }
    hub_buf_add_char(out, '}');
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What a tools/call has to do with tasks. */
typedef enum task_wish {
    UNWANTED, /* nothing */
    WANTED,   /* it asks for one, and may */
    HIDDEN,   /* it says `task`, but its toolset is not to see that */
    REQUIRED, /* the tool runs as a task only, and this client cannot ask for one */
    ILL_MADE, /* it asks for one in the wrong way … */
    MISTAKEN, /* … or of a tool that has none */
} task_wish;

static bool is_support(const hub_item *tool, const char *word)
{
    hub_str execution = hub_json_get(tool->json, HUB_STR("execution"));
    return hub_json_string_is(hub_json_get(execution, HUB_STR("taskSupport")), hub_str_of(word));
}

static task_wish read_wish(const hub_call *call, const hub_way *way)
{
    hub_str task = way->message->at[HUB_M_TASK];
    bool may = hub_call_context(call)->revision == HUB_REVISION_2025_11_25;
    bool offered = hub_toolset_capabilities(way->toolset)->runs_tasks;
    if (task.len == 0 || !may) {
        if (offered && !may && is_support(way->item, "required")) {
            return REQUIRED;
        }
        return task.len > 0 && offered ? HIDDEN : UNWANTED;
    }
    if (!hub_capabilities_has_tasks(hub_session_profile(hub_call_session(call)), HUB_ERA_LEGACY)) {
        return UNWANTED; /* nobody was promised anything: the word means nothing */
    }
    if (hub_json_type_of(task) != HUB_JSON_OBJECT) {
        return ILL_MADE;
    }
    bool may_run = is_support(way->item, "optional") || is_support(way->item, "required");
    return offered && may_run ? WANTED : MISTAKEN;
}

/* Have the toolset see the request without its member `task`. */
static bool hide(call_task *part, hub_way *way)
{
    const hub_message *message = way->message;
    hidden_request *hidden = calloc(1, sizeof *hidden);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":"));
    hub_buf_add(&text, message->at[HUB_M_ID]);
    hub_buf_add(&text, HUB_STR(",\"method\":\"tools/call\",\"params\":"));
    add_without(message->at[HUB_M_PARAMS], HUB_STR("task"), &text);
    hub_buf_add_char(&text, '}');
    bool done = hidden != NULL && hub_buf_ok(&text) &&
                hub_message_scan(hub_buf_str(&text), &hidden->message, NULL) == HUB_OK;
    if (done) {
        hub_str before = message->at[HUB_M_ARGUMENTS];
        hidden->text = hub_buf_take(&text);
        part->hidden = hidden;
        way->message = &hidden->message;
        way->name_json = hidden->message.at[HUB_M_NAME];
        way->arguments =
            way->arguments.ptr == before.ptr ? hidden->message.at[HUB_M_ARGUMENTS] : way->arguments;
    } else {
        free(hidden);
    }
    hub_buf_fini(&text);
    return done;
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    if (way->is_aside || !hub_call_is_of_tool(call) || way->item == NULL) {
        return HUB_GO_ON;
    }
    switch (read_wish(call, way)) {
    case UNWANTED:
        return HUB_GO_ON;
    case WANTED:
        ((call_task *)hub_call_part_of(call, &HUB_TASKS_STATION))->role = TASK_MADE;
        hub_call_set_of_tool(call, false, false); /* what fails to become a task has no result */
        return HUB_GO_ON;
    case HIDDEN:
        if (hide(hub_call_part_of(call, &HUB_TASKS_STATION), way)) {
            return HUB_GO_ON;
        }
        hub_call_fail(call, PATCHBAY_FAILED, HUB_STR("out of memory"));
        return HUB_ANSWERED;
    case REQUIRED:
        hub_call_fail(call, PATCHBAY_NOT_IMPLEMENTED,
                      HUB_STR("this tool runs as a task only, which takes a client of MCP "
                              "2025-11-25 that supports tasks"));
        return HUB_ANSWERED;
    case ILL_MADE:
        hub_call_refuse_rpc(call, HUB_RPC_INVALID_PARAMS, HUB_STR("params.task must be an object"));
        return HUB_ANSWERED;
    case MISTAKEN:
        break;
    }
    hub_call_refuse_rpc(call, HUB_RPC_METHOD_NOT_FOUND,
                        HUB_STR("this tool does not run as a task: call it without params.task"));
    return HUB_ANSWERED;
}

/* ---- requests about tasks -------------------------------------------------------------------- */

static void refuse_call(const hub_request *request, int code, const char *text)
{
    hub_request_refuse(request);
    hub_respond_error(request, code, hub_str_of(text), HUB_STR_EMPTY);
}

#define CAPABILITY "{\"extensions\":{\"" HUB_EXTENSION_TASKS "\":{}}}"

/* Whether a modern client knows what tasks are; if not, it has been answered. */
static bool check_client(const hub_request *request)
{
    hub_str extensions = hub_json_get(request->context.capabilities, HUB_STR("extensions"));
    if (request->context.era != HUB_ERA_MODERN ||
        hub_json_type_of(hub_json_get(extensions, HUB_STR(HUB_EXTENSION_TASKS))) ==
            HUB_JSON_OBJECT) {
        return true;
    }
    hub_respond_error(request, HUB_RPC_MISSING_CAPABILITY,
                      HUB_STR("Missing required client capability: " HUB_EXTENSION_TASKS),
                      HUB_STR("{\"requiredCapabilities\":" CAPABILITY "}"));
    return false;
}

bool hub_tasks_refuse_listen(const hub_request *request)
{
    hub_str filter = request->message->at[HUB_M_NOTIFICATIONS];
    return hub_json_get(filter, HUB_STR("taskIds")).len > 0 && !check_client(request);
}

static void respond_unknown(const hub_request *request)
{
    hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                      HUB_STR("Task not found: the id was not given to this client, or the toolset "
                              "behind it is not active any more"),
                      HUB_STR_EMPTY);
}

/* Whether the session has a call that waits for the result of the task. */
static bool is_awaited(const hub_session *session, const hub_toolset *toolset, hub_str id)
{
    for (const hub_call *call = hub_session_calls(session); call != NULL;
         call = hub_call_next_of_session(call)) {
        if (hub_tasks_is_result(call) && hub_call_toolset(call) == toolset &&
            hub_str_eq(id_of(task_of(call)), id)) {
            return true;
        }
    }
    return false;
}

/* Make the request a call of the toolset that has the task. */
static void call_toolset(const hub_request *request, hub_toolset *toolset, hub_str id)
{
    const hub_message *message = request->message;
    bool is_result = hub_str_is(message->method, "tasks/result");
    hub_call *call;
    if (is_result && is_awaited(request->session, toolset, id)) {
        refuse_call(request, HUB_RPC_INVALID_REQUEST,
                    "a tasks/result for this task is in flight already: wait for its answer, or "
                    "cancel it");
        return;
    }
    call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    call_task *part = hub_call_part_of(call, &HUB_TASKS_STATION);
    part->task = hub_str_dup(id);
    part->task_len = id.len;
    part->role = is_result ? TASK_RESULT : TASK_STATE;
    if (part->task == NULL) {
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return;
    }
    /* The result of a task takes as long as the task. */
    uint32_t ceiling_ms = hub_settings_of(hub_toolset_hub(toolset))->limits.call_ceiling_ms;
    hub_way way = {.toolset = toolset,
                   .name = id,
                   .name_json = message->at[HUB_M_TASK_ID],
                   .arguments = HUB_STR("{}"),
                   .message = message,
                   .timeout_ms = is_result ? ceiling_ms : 0,
                   .is_aside = true};
    hub_call_send(call, &way);
}

void hub_tasks_forward(const hub_request *request)
{
    const hub_session *session = request->session;
    hub_str raw = request->message->at[HUB_M_TASK_ID];
    hub_buf text;
    hub_str id;
    if (!hub_capabilities_has_tasks(hub_session_profile(session), request->context.era)) {
        refuse_call(request, HUB_RPC_METHOD_NOT_FOUND, "no active toolset has tasks");
        return;
    }
    if (!check_client(request)) {
        return;
    }
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        refuse_call(request, HUB_RPC_INVALID_PARAMS, "params.taskId must be a string");
        return;
    }
    hub_toolset *toolset = read_id(raw, CLIENT_ID_BYTES, &text)
                               ? find_task(session, request->context.era, hub_buf_str(&text), &id)
                               : NULL;
    if (toolset == NULL) {
        respond_unknown(request);
    } else {
        call_toolset(request, toolset, id);
    }
    hub_buf_fini(&text);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

bool hub_tasks_has_ended(hub_str state)
{
    hub_str status = hub_json_get(state, HUB_STR("status"));
    return hub_json_string_is(status, HUB_STR("completed")) ||
           hub_json_string_is(status, HUB_STR("failed")) ||
           hub_json_string_is(status, HUB_STR("cancelled"));
}

/* Whether a result of a call that did not ask for a task is one. */
static bool is_unasked(const hub_call *call, const hub_outcome *outcome)
{
    hub_str type =
        outcome->has_type &&
                hub_toolset_capabilities(hub_binding_toolset(hub_call_binding(call)))->extends_tasks
            ? hub_json_get(outcome->json, HUB_STR("resultType"))
            : HUB_STR_EMPTY;
    return hub_json_string_is(type, HUB_STR("task"));
}

/* Hear of a task from now on, or no longer. */
static void watch(const hub_call *call, hub_str state)
{
    hub_toolset *toolset = hub_binding_toolset(hub_call_binding(call));
    hub_buf id;
    const call_task *part = task_of(call);
    if (role_of(call) == TASK_MADE && hub_call_context(call)->era == HUB_ERA_LEGACY) {
        if (read_id(hub_json_get(state, HUB_STR("taskId")), HUB_LIMIT_TASK_ID_BYTES, &id)) {
            hub_task_watch_begin(call, hub_buf_str(&id));
        }
        hub_buf_fini(&id);
    } else if (part != NULL && part->task != NULL &&
               (part->role == TASK_RESULT || hub_tasks_has_ended(state))) {
        hub_task_watch_end(toolset, id_of(task_of(call)));
    }
}

static void translate(const hub_call *call, hub_outcome *outcome, hub_buf *text)
{
    hub_str state = outcome->json;
    if (role_of(call) == TASK_NONE) {
        if (!is_unasked(call, outcome)) {
            return;
        }
    } else if (role_of(call) == TASK_MADE) {
        state = hub_json_get(outcome->json, HUB_STR("task"));
        if (state.len == 0) {
            return; /* it was answered at once: the client can tell */
        }
    }
    hub_str id = hub_tasks_is_result(call) ? HUB_STR_EMPTY : hub_json_get(state, HUB_STR("taskId"));
    bool needs_id = role_of(call) == TASK_NONE || role_of(call) == TASK_MADE;
    bool is_followed =
        hub_call_session(call) != NULL &&
        (role_of(call) != TASK_NONE || hub_call_context(call)->era == HUB_ERA_MODERN);
    task_owner owner = owner_of(call);
    if (!is_followed) {
        *outcome = (hub_outcome){
            .status = PATCHBAY_FAILED,
            .json = HUB_STR("the server answered with a task, which the client did not ask for")};
    } else if ((needs_id && id.len == 0) || !add_for_client(&owner, outcome->json, id, text)) {
        *outcome = (hub_outcome){
            .status = PATCHBAY_FAILED,
            .json = HUB_STR("the server answered with a task whose id is not a string of 1 to 1024 "
                            "bytes")};
    } else {
        watch(call, state);
        outcome->json = hub_buf_str(text);
    }
}

/* ---- questions and notifications ------------------------------------------------------------- */

bool hub_tasks_find_waiting(const hub_binding *binding, hub_str params, hub_call **ret_call)
{
    hub_str related = hub_toolset_capabilities(hub_binding_toolset(binding))->runs_tasks
                          ? hub_tasks_related_id(params)
                          : HUB_STR_EMPTY;
    if (related.len == 0) {
        return false;
    }
    *ret_call = NULL;
    for (hub_call *call = hub_binding_calls(binding); call != NULL;
         call = hub_call_next_of_binding(call)) {
        if (hub_tasks_is_result(call) && hub_json_string_is(related, id_of(task_of(call)))) {
            *ret_call = call;
            break;
        }
    }
    return true;
}

hub_str hub_tasks_question(const hub_call *call, hub_str params, hub_buf *text)
{
    task_owner owner = owner_of(call);
    hub_str known = params;
    hub_buf without;
    hub_buf_init(&without, SIZE_MAX / 2);
    if (hub_json_get(params, HUB_STR("task")).len > 0) {
        add_without(params, HUB_STR("task"), &without);
        known = hub_buf_str(&without);
    }
    if (hub_call_session(call) != NULL && hub_buf_ok(&without) &&
        (without.len > 0 || hub_tasks_related_id(params).len > 0) &&
        add_for_client(&owner, known, HUB_STR_EMPTY, text)) {
        params = hub_buf_str(text);
    }
    hub_buf_fini(&without);
    return params;
}

hub_str hub_tasks_answer(const hub_call *call, hub_str result, hub_buf *text)
{
    hub_str related = hub_tasks_related_id(result);
    hub_str id;
    hub_buf client_id;
    if (related.len == 0 || hub_call_session(call) == NULL) {
        return result;
    }
    if (read_id(related, CLIENT_ID_BYTES, &client_id) &&
        find_task(hub_call_session(call), hub_call_context(call)->era, hub_buf_str(&client_id),
                  &id) == hub_binding_toolset(hub_call_binding(call))) {
        hub_buf_add(text, hub_str_between(result.ptr, related.ptr));
        hub_json_add_string(text, id);
        hub_buf_add(text, hub_str_between(related.ptr + related.len, result.ptr + result.len));
        result = hub_buf_ok(text) ? hub_buf_str(text) : result;
    }
    hub_buf_fini(&client_id);
    return result;
}

hub_str hub_tasks_notification(const hub_toolset *toolset, const hub_session *session,
                               hub_str params, bool is_state, hub_buf *text)
{
    task_owner owner = {.toolset = toolset, .session = session, .era = HUB_ERA_LEGACY};
    hub_str id = is_state ? hub_json_get(params, HUB_STR("taskId")) : HUB_STR_EMPTY;
    if (id.len == 0 && hub_tasks_related_id(params).len == 0) {
        return params;
    }
    return add_for_client(&owner, params, id, text) ? hub_buf_str(text) : HUB_STR_EMPTY;
}

char *hub_tasks_dup_capabilities(hub_str capabilities)
{
    hub_str extensions = hub_json_get(capabilities, HUB_STR("extensions"));
    hub_buf text;
    if (hub_json_get(extensions, HUB_STR(HUB_EXTENSION_TASKS)).len == 0) {
        return hub_str_dup(capabilities);
    }
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, hub_str_between(capabilities.ptr, extensions.ptr));
    hub_buf rest;
    hub_buf_init(&rest, SIZE_MAX / 2);
    add_without(extensions, HUB_STR(HUB_EXTENSION_TASKS), &rest);
    hub_buf_add(&text, hub_buf_str(&rest));
    hub_buf_add(&text, hub_str_between(extensions.ptr + extensions.len,
                                       capabilities.ptr + capabilities.len));
    bool ok = hub_buf_ok(&rest);
    hub_buf_fini(&rest);
    char *copy = ok ? hub_buf_take(&text) : NULL;
    hub_buf_fini(&text);
    return copy;
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    if (outcome->status != PATCHBAY_RESULT || hub_call_binding(call) == NULL) {
        return HUB_GO_ON;
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    translate(call, outcome, &text);
    if (text.len > 0) {
        call_task *part = hub_call_part_of(call, &HUB_TASKS_STATION);
        part->translated = text;
    } else {
        hub_buf_fini(&text);
    }
    return HUB_GO_ON;
}

static void drop(hub_call *call)
{
    call_task *part = hub_call_find_part(call, &HUB_TASKS_STATION);
    if (part != NULL) {
        free(part->task);
        if (part->hidden != NULL) {
            free(part->hidden->text);
        }
        free(part->hidden);
        hub_buf_fini(&part->translated);
    }
}

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_capabilities *can = hub_toolset_capabilities(toolset);
    return can->runs_tasks || can->extends_tasks;
}

static hub_station_place place;

const hub_station HUB_TASKS_STATION = {
    .name = "tasks",
    .place = &place,
    .triggers = HUB_ON_TASK | HUB_ON_TYPED,
    .bytes = {[HUB_PART_HUB] = sizeof(size_t),
              [HUB_PART_TOOLSET] = sizeof(toolset_tasks),
              [HUB_PART_SESSION] = sizeof(session_tasks),
              [HUB_PART_CALL] = sizeof(call_task)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .answer = answer,
    .drop = drop,
    .session_ends = hub_task_watch_forget_session,
    .toolset_unbound = hub_task_watch_forget_toolset,
    .toolset_ends = hub_task_watch_forget_toolset,
};
