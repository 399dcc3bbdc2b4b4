/* SPDX-License-Identifier: Apache-2.0 */
/* Host interface client/1: what a toolset says to the client behind a call, and asks of it. */
#include "modules/instance_internal.h"

#include "base/limits.h"
#include "wire/input_request.h"

/* Say something about a call from another thread. */
static int32_t mail_about(patchbay_host *host, hub_mail_kind kind, patchbay_call call, hub_str text)
{
    hub_mail *mail = hub_mail_create(host, kind, text);
    if (mail != NULL) {
        mail->call = call.id;
    }
    return hub_mail_send(mail);
}

/* Whether `json` is an object as MCP's notifications/message wants it. */
static bool check_message(hub_str json, hub_str *ret_value)
{
    return json.len <= HUB_LIMIT_CLIENT_MESSAGE_BYTES &&
           hub_json_check(json, ret_value, NULL) == HUB_OK &&
           hub_json_type_of(*ret_value) == HUB_JSON_OBJECT &&
           hub_level_read(hub_json_get(*ret_value, HUB_STR("level"))) != HUB_LEVEL_NONE &&
           hub_json_type_of(hub_json_get(*ret_value, HUB_STR("data"))) != HUB_JSON_NONE;
}

static int32_t client_message(patchbay_host *host, patchbay_call call, patchbay_str params_json)
{
    hub_str value;
    if (!check_message(params_json, &value)) {
        return PATCHBAY_EINVAL;
    }
    if (hub_env_on_loop(host->env)) {
        bool known = !host->closing && host->events->on_message(host->ctx, call.id, value);
        return known                           ? PATCHBAY_OK
               : call.id == PATCHBAY_SOME_CALL ? PATCHBAY_ESTATE
                                               : PATCHBAY_ESTALE;
    }
    return mail_about(host, HUB_MAIL_MESSAGE, call, value);
}

static int32_t client_release(patchbay_host *host, patchbay_call call)
{
    if (hub_env_on_loop(host->env)) {
        bool known = !host->closing && host->events->on_release(host->ctx, call.id);
        return known ? PATCHBAY_OK : PATCHBAY_ESTALE;
    }
    return mail_about(host, HUB_MAIL_RELEASE, call, HUB_STR_EMPTY);
}

static patchbay_str client_get_capabilities(patchbay_host *host, patchbay_call call)
{
    const hub_request_context *context =
        host->closing ? NULL : host->events->get_context(host->ctx, call.id);
    return context != NULL ? context->capabilities : HUB_STR("{}");
}

static bool is_utf8(hub_str text)
{
    while (text.len > 0) {
        size_t len = hub_str_utf8_length(text);
        if (len == 0) {
            return false;
        }
        text = hub_str_from(text, len);
    }
    return true;
}

/* Check what can be known of a question without its call. `ret_question` is the same, its params
 * without white space around them. */
static int32_t check_question(const patchbay_question *question, patchbay_question *ret_question)
{
    hub_input_request what;
    hub_str params = question->params_json;
    if (question->struct_size < sizeof *question || question->on_answer == NULL ||
        question->key.len > HUB_LIMIT_ID_BYTES || !is_utf8(question->key) ||
        params.len > HUB_LIMIT_CLIENT_MESSAGE_BYTES) {
        return PATCHBAY_EINVAL;
    }
    *ret_question = *question;
    if ((params.len > 0 && hub_json_check(params, &ret_question->params_json, NULL) != HUB_OK) ||
        hub_input_request_read(question->method, ret_question->params_json, &what, NULL) !=
            HUB_OK) {
        return PATCHBAY_EINVAL;
    }
    return PATCHBAY_OK;
}

/* A copy of the question, on its way to the loop. */
static hub_mail *mail_question(patchbay_host *host, patchbay_call call,
                               const patchbay_question *question)
{
    hub_buf text;
    hub_mail *mail = NULL;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, question->key);
    hub_buf_add(&text, question->method);
    hub_buf_add(&text, question->params_json);
    if (hub_buf_ok(&text)) {
        mail = hub_mail_create(host, HUB_MAIL_ASK, hub_buf_str(&text));
    }
    if (mail != NULL) {
        mail->call = call.id;
        mail->key_len = question->key.len;
        mail->method_len = question->method.len;
        mail->on_answer = question->on_answer;
        mail->arg = question->arg;
    }
    hub_buf_fini(&text);
    return mail;
}

static const char *reason_of(int32_t result)
{
    switch (result) {
    case PATCHBAY_ESTATE:
        return "the client did not declare the capability, or there is no single client";
    case PATCHBAY_ESTALE:
        return "the call is over";
    case PATCHBAY_ELIMIT:
        return "too many questions are open";
    case PATCHBAY_EINVAL:
        return "the key of the question is used already";
    default:
        return "out of memory";
    }
}

void hub_instance_open_question(const hub_mail *mail)
{
    hub_instance *instance = mail->instance;
    hub_str text = {.ptr = mail->json, .len = mail->len};
    hub_str rest = hub_str_from(text, mail->key_len);
    patchbay_question question = {
        .struct_size = sizeof question,
        .key = {.ptr = text.ptr, .len = mail->key_len},
        .method = {.ptr = rest.ptr, .len = mail->method_len},
        .params_json = hub_str_from(rest, mail->method_len),
        .on_answer = mail->on_answer,
        .arg = mail->arg,
    };
    int32_t result = instance->closing
                         ? PATCHBAY_ESTALE
                         : instance->events->on_ask(instance->ctx, mail->call, &question);
    if (result != PATCHBAY_OK) {
        hub_instance_answer(instance, mail->on_answer, mail->arg, mail->call, PATCHBAY_NO_ANSWER,
                            hub_str_of(reason_of(result)));
    }
}

static int32_t client_ask(patchbay_host *host, patchbay_call call,
                          const patchbay_question *question)
{
    patchbay_question checked;
    int32_t result = check_question(question, &checked);
    if (result != PATCHBAY_OK) {
        return result;
    }
    if (!hub_env_on_loop(host->env)) {
        return hub_mail_send(mail_question(host, call, &checked));
    }
    return host->closing ? PATCHBAY_ESTATE : host->events->on_ask(host->ctx, call.id, &checked);
}

static int32_t client_withdraw(patchbay_host *host, patchbay_call call, patchbay_str key)
{
    if (key.len == 0) {
        return PATCHBAY_EINVAL;
    }
    if (!hub_env_on_loop(host->env)) {
        return mail_about(host, HUB_MAIL_WITHDRAW, call, key);
    }
    return host->closing ? PATCHBAY_ENOTFOUND : host->events->on_withdraw(host->ctx, call.id, key);
}

static int32_t client_elicitation_complete(patchbay_host *host, patchbay_call call,
                                           patchbay_str params_json)
{
    hub_str value;
    if (params_json.len > HUB_LIMIT_CLIENT_MESSAGE_BYTES ||
        hub_json_check(params_json, &value, NULL) != HUB_OK ||
        hub_json_type_of(value) != HUB_JSON_OBJECT ||
        hub_json_type_of(hub_json_get(value, HUB_STR("elicitationId"))) != HUB_JSON_STRING) {
        return PATCHBAY_EINVAL;
    }
    if (!hub_env_on_loop(host->env)) {
        return mail_about(host, HUB_MAIL_ELICITED, call, value);
    }
    return host->closing ? PATCHBAY_ENOTFOUND
                         : host->events->on_elicitation_complete(host->ctx, call.id, value);
}

static void client_expect_input_required(patchbay_host *host, uint32_t is_expected)
{
    if (!host->closing) {
        host->events->on_expect_input(host->ctx, is_expected != 0);
    }
}

static patchbay_str client_get_header(patchbay_host *host, patchbay_call call, patchbay_str name)
{
    return host->closing ? HUB_STR_EMPTY : host->events->get_header(host->ctx, call.id, name);
}

static int32_t client_task_changed(patchbay_host *host, patchbay_str params_json)
{
    hub_str value;
    if (params_json.len > HUB_LIMIT_CLIENT_MESSAGE_BYTES ||
        hub_json_check(params_json, &value, NULL) != HUB_OK ||
        hub_json_type_of(value) != HUB_JSON_OBJECT ||
        hub_json_type_of(hub_json_get(value, HUB_STR("taskId"))) != HUB_JSON_STRING) {
        return PATCHBAY_EINVAL;
    }
    if (!host->closing) {
        host->events->on_task(host->ctx, value);
    }
    return PATCHBAY_OK;
}

const patchbay_client_v1 HUB_HOST_CLIENT = {
    .struct_size = sizeof(patchbay_client_v1),
    .get_capabilities = client_get_capabilities,
    .ask = client_ask,
    .message = client_message,
    .release = client_release,
    .expect_input_required = client_expect_input_required,
    .get_header = client_get_header,
    .task_changed = client_task_changed,
    .withdraw = client_withdraw,
    .elicitation_complete = client_elicitation_complete,
};
