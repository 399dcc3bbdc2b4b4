/* SPDX-License-Identifier: Apache-2.0 */
#include "web/rest/rest.h"

#include "base/encoding.h"
#include "base/limits.h"
#include "export/export.h"
#include "hub/kernel/settings.h"
#include "web/conversation/conversation.h"
#include "wire/json.h"

#include <stdlib.h>

static bool is_served(const hub_listen_settings *listen)
{
    return listen->rest;
}

static void free_nothing(void *ctx)
{
    (void)ctx;
}

/* ---- the document ---------------------------------------------------------------------------- */

/* Tools that have no place in the document stand in it by name. */
static void on_note(void *ctx, bool is_left_out, hub_str text)
{
    hub_buf *notes = ctx;
    if (is_left_out) {
        hub_json_add_comma(notes);
        hub_json_add_string(notes, text);
    }
}

static void answer_document(hub_web_conversation *talk, void *ctx, hub_str tools)
{
    (void)ctx;
    hub_buf document;
    hub_buf notes;
    hub_buf_init(&document, 2 * HUB_LIMIT_WEB_TOOLS_BYTES);
    hub_buf_init(&notes, HUB_LIMIT_WEB_TOOLS_BYTES);
    hub_buf_add_char(&notes, '[');
    hub_err err = hub_export_tools(hub_export_find(HUB_STR("openapi")), tools, false, on_note,
                                   &notes, &document);
    if (err == HUB_OK && notes.len > 1) {
        document.len--; /* the brace of the whole */
        hub_json_add_key(&document, HUB_STR("x-patchbay-left-out"));
        hub_buf_add(&document, hub_buf_str(&notes));
        hub_buf_add(&document, HUB_STR("]}"));
    }
    bool is_good = err == HUB_OK && hub_buf_ok(&document) && hub_buf_ok(&notes);
    const hub_str text =
        is_good ? hub_buf_str(&document) : HUB_STR("{\"error\":{\"message\":\"out of memory\"}}");
    const hub_web_header fresh = {HUB_STR("Cache-Control"), HUB_STR("no-cache")};
    hub_web_conversation_answer(talk, &(hub_web_answer){.status = is_good ? 200 : 503,
                                                        .type = "application/json",
                                                        .headers = &fresh,
                                                        .header_count = 1,
                                                        .parts = &text,
                                                        .count = 1});
    hub_buf_fini(&notes);
    hub_buf_fini(&document);
}

static void serve_document(void *instance, const hub_web_request *request,
                           hub_web_exchange *exchange)
{
    hub_web_conversation *talk =
        hub_web_conversation_create(instance, request, exchange, free_nothing, NULL);
    if (talk != NULL) {
        hub_web_ask_tools(talk, answer_document);
    }
}

/* ---- a call ---------------------------------------------------------------------------------- */

typedef struct rest_call {
    hub_buf name;      /* as the path has it, decoded */
    hub_buf arguments; /* an object */
} rest_call;

static void destroy_call(void *ctx)
{
    rest_call *call = ctx;
    hub_buf_fini(&call->name);
    hub_buf_fini(&call->arguments);
    free(call);
}

/* A tool that there is not, for this caller, is a place that there is not. */
static void on_answer(hub_web_conversation *talk, void *ctx, const hub_web_heard *heard)
{
    const rest_call *call = ctx;
    if (heard->result.len == 0) {
        bool is_unknown =
            heard->code == HUB_RPC_INVALID_PARAMS &&
            hub_session_find_tool(hub_web_conversation_session(talk), hub_buf_str(&call->name))
                    .len == 0;
        hub_web_conversation_refuse(talk, heard, is_unknown ? 404 : 0);
        return;
    }
    hub_web_conversation_answer(
        talk, &(hub_web_answer){
                  .status = 200, .type = "application/json", .parts = &heard->result, .count = 1});
}

/* `raw`: the tool's name as a JSON string. */
static void call_tool(hub_web_conversation *talk, const rest_call *call, hub_str raw)
{
    hub_buf params;
    hub_buf_init(&params, SIZE_MAX / 4);
    hub_buf_add(&params, HUB_STR("\"name\":"));
    hub_buf_add(&params, raw);
    hub_buf_add(&params, HUB_STR(",\"arguments\":"));
    hub_buf_add(&params, hub_buf_str(&call->arguments));
    if (hub_buf_ok(&params)) {
        hub_web_ask(talk, "tools/call", hub_buf_str(&params), on_answer);
    } else {
        const hub_str text = HUB_STR("{\"error\":{\"message\":\"out of memory\"}}");
        hub_web_conversation_answer(
            talk, &(hub_web_answer){
                      .status = 503, .type = "application/json", .parts = &text, .count = 1});
    }
    hub_buf_fini(&params);
}

static void call_named(hub_web_conversation *talk, const rest_call *call, hub_str name)
{
    hub_buf raw;
    hub_buf_init(&raw, SIZE_MAX / 4);
    hub_json_add_string(&raw, name);
    call_tool(talk, call, hub_buf_ok(&raw) ? hub_buf_str(&raw) : HUB_STR("\"\""));
    hub_buf_fini(&raw);
}

/* A name that the document has made: whose it is. */
static void on_tools(hub_web_conversation *talk, void *ctx, hub_str tools)
{
    rest_call *call = ctx;
    hub_str raw =
        hub_export_find_tool(hub_export_find(HUB_STR("openapi")), tools, hub_buf_str(&call->name));
    hub_buf name;
    hub_buf_init(&name, raw.len + 1);
    if (raw.len > 0 && hub_json_decode(raw, &name) == HUB_OK) {
        hub_buf_clear(&call->name);
        hub_buf_add(&call->name, hub_buf_str(&name));
    }
    hub_buf_fini(&name);
    call_named(talk, call, hub_buf_str(&call->name));
}

static bool is_json(const hub_web_request *request)
{
    static const hub_str JSON = {.ptr = "application/json", .len = 16};
    hub_str type = HUB_STR_EMPTY;
    if (!hub_web_find_header(request, HUB_STR("Content-Type"), &type)) {
        return false;
    }
    size_t end = hub_str_find(type, HUB_STR(";"));
    hub_str name = {.ptr = type.ptr, .len = end < type.len ? end : type.len};
    return hub_str_eq_nocase(hub_str_trim(name), JSON);
}

/* Why a body cannot be the arguments; NULL: it can, and they are. */
static const char *read_body(const hub_web_request *request, rest_call *call, hub_error *why,
                             int *ret_status)
{
    hub_str json = HUB_STR_EMPTY;
    *ret_status = 400;
    if (hub_str_trim(request->body).len == 0) {
        hub_buf_add(&call->arguments, HUB_STR("{}"));
        return NULL;
    }
    if (!is_json(request)) {
        *ret_status = 415;
        return "The Content-Type must be application/json.";
    }
    if (hub_json_check(request->body, &json, why) != HUB_OK) {
        return why->text;
    }
    if (hub_json_type_of(json) != HUB_JSON_OBJECT) {
        return "The body must be an object: the arguments of the tool.";
    }
    hub_buf_add(&call->arguments, json);
    return NULL;
}

static void serve_call(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    hub_error why = {.text = ""};
    int status;
    rest_call *call = calloc(1, sizeof *call);
    if (call == NULL) {
        hub_web_refuse(exchange, 503, "out of memory");
        return;
    }
    hub_buf_init(&call->name, SIZE_MAX / 4);
    hub_buf_init(&call->arguments, SIZE_MAX / 4);
    (void)hub_percent_decode(request->rest, false, &call->name); /* two digits follow each sign */
    const char *wrong = read_body(request, call, &why, &status);
    if (wrong == NULL && (!hub_buf_ok(&call->name) || !hub_buf_ok(&call->arguments))) {
        wrong = "out of memory";
        status = 503;
    }
    if (wrong != NULL) {
        hub_web_refuse(exchange, status, wrong);
        destroy_call(call);
        return;
    }
    hub_web_conversation *talk =
        hub_web_conversation_create(instance, request, exchange, destroy_call, call);
    if (talk == NULL) {
        return;
    }
    hub_str name = hub_buf_str(&call->name);
    bool is_known = hub_session_find_tool(hub_web_conversation_session(talk), name).len > 0;
    if (!is_known && hub_export_is_made_name(name)) {
        hub_web_ask_tools(talk, on_tools);
    } else {
        call_named(talk, call, name);
    }
}

static const hub_web_row ROWS[] = {
    {.method = "GET", .path = "/openapi.json", .need = HUB_WEB_CALLER, .handle = serve_document},
    {.method = "POST",
     .path = "/tools/*",
     .need = HUB_WEB_CALLER,
     .max_body_bytes = SIZE_MAX, /* limits.client_message says how much */
     .handle = serve_call},
};

const hub_web_face HUB_WEB_REST = {
    .name = "rest", .rows = ROWS, .count = sizeof ROWS / sizeof ROWS[0], .is_served = is_served};
