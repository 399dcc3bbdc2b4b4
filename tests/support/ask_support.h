/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puppets that ask, and clients that are asked. What a puppet asks, and what it does with the
 * answers, is the test's; every answer that it hears is kept, with the call it was for.
 */
#ifndef PATCHBAY_TESTS_ASK_SUPPORT_H
#define PATCHBAY_TESTS_ASK_SUPPORT_H

#include "hub_fixture.h"

#include <patchbay/client.h>

#include <stdio.h>
#include <stdlib.h>

enum { ASKER_ANSWERS = 4096 };

/* One answer that a puppet heard. */
typedef struct asker_answer {
    char name; /* of the question */
    int32_t status;
    uint64_t call;
    char json[160];
} asker_answer;

/* What a test knows of a puppet that asks; its address is puppet.ctx. */
typedef struct asker {
    const patchbay_client_v1 *client;
    puppet_instance *instance;
    patchbay_call call;                                                 /* the newest */
    int32_t result;                                                     /* of the last ask() */
    void (*on_answer)(struct asker *asker, const asker_answer *answer); /* NULL: only kept */
    size_t count;
    asker_answer answers[ASKER_ANSWERS];
} asker;

/* The argument of a question: whose it is, and which. */
typedef struct asker_question {
    asker *asker;
    char name;
} asker_question;

#define ELICIT   "{\"message\":\"who\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}"
#define ELICIT_U "{\"mode\":\"url\",\"message\":\"go\",\"url\":\"https://a.example/\"}"
#define SAMPLE   "{\"messages\":[],\"maxTokens\":1}"
#define ALL      "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},\"roots\":{}}"

static inline void asker_hear(void *arg, patchbay_call call, int32_t status, patchbay_str json)
{
    asker_question *question = arg;
    asker *a = question->asker;
    assert_true(a->count < ASKER_ANSWERS);
    asker_answer *answer = &a->answers[a->count++];
    *answer = (asker_answer){.name = question->name, .status = status, .call = call.id};
    (void)snprintf(answer->json, sizeof answer->json, HUB_STR_FMT, HUB_STR_ARG(json));
    free(question);
    if (a->on_answer != NULL) {
        a->on_answer(a, answer);
    }
}

/* Ask; `name` is remembered with the answer. The key is `key`, or the hub's when it is "". */
static inline int32_t asker_ask(asker *a, uint64_t call, char name, const char *key,
                                const char *method, const char *params)
{
    asker_question *arg = malloc(sizeof *arg);
    assert_non_null(arg);
    *arg = (asker_question){.asker = a, .name = name};
    patchbay_question question = {
        .struct_size = sizeof question,
        .key = puppet_str(key),
        .method = puppet_str(method),
        .params_json = puppet_str(params),
        .on_answer = asker_hear,
        .arg = arg,
    };
    a->result = a->client->ask(a->instance->host, (patchbay_call){.id = call}, &question);
    if (a->result != PATCHBAY_OK) {
        free(arg);
    }
    return a->result;
}

static inline int32_t asker_elicit(asker *a, char name, const char *key)
{
    return asker_ask(a, a->call.id, name, key, "elicitation/create", ELICIT);
}

static inline void asker_finish(asker *a, uint64_t call, const char *result)
{
    assert_int_equal(puppet_finish(a->instance, (patchbay_call){.id = call}, result), PATCHBAY_OK);
}

/* puppet.on_create */
static inline void asker_created(puppet_instance *instance)
{
    asker *a = instance->puppet->ctx;
    a->instance = instance;
    a->client = instance->api->get_interface(instance->host, PATCHBAY_CLIENT_V1);
    assert_non_null(a->client);
}

/* puppet.on_call: keep the call, do nothing. */
static inline void asker_called(puppet_instance *instance, patchbay_call call,
                                const patchbay_request *request)
{
    asker *a = instance->puppet->ctx;
    (void)request;
    a->instance = instance;
    a->call = call;
}

/* puppet.on_call: ask one thing, `k`. */
static inline void asker_called_elicits(puppet_instance *instance, patchbay_call call,
                                        const patchbay_request *request)
{
    asker_called(instance, call, request);
    (void)asker_elicit(instance->puppet->ctx, 'k', "k");
}

/* on_answer: the call's result is what was answered. */
static inline void asker_finish_with_answer(asker *a, const asker_answer *answer)
{
    char result[256];
    if (answer->status != PATCHBAY_NO_ANSWER) {
        (void)snprintf(result, sizeof result, "{\"content\":[],\"got\":%s}", answer->json);
        asker_finish(a, answer->call, result);
    }
}

/* Start a hub with one toolset `t` of one tool `t__a`, or two. */
static inline void asker_start(hub_fixture *f, puppet *master, asker *a)
{
    memset(a, 0, sizeof *a);
    master->tools = "[" TOOL("a") "," TOOL("b") "]";
    master->ctx = a;
    master->on_create = asker_created;
    if (master->on_call == NULL) {
        master->on_call = asker_called;
    }
    fixture_init(f);
    (void)fixture_toolset(f, "t", master, true);
    fixture_start(f);
}

/* The last request that the hub sent to a legacy client: its id, which is > 0, or 0. */
static inline uint64_t client_asked(const client *c, const char **ret_text)
{
    for (size_t i = c->count; i > 0; i--) {
        hub_message message;
        uint64_t id;
        const char *text = c->messages[i - 1];
        if (hub_message_scan(hub_str_of(text), &message, NULL) == HUB_OK &&
            message.kind == HUB_MESSAGE_REQUEST && hub_json_to_u64(message.at[HUB_M_ID], &id)) {
            if (ret_text != NULL) {
                *ret_text = text;
            }
            return id;
        }
    }
    return 0;
}

/* Answer it. */
static inline void client_answer(client *c, uint64_t id, const char *result)
{
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":%s}", (unsigned long long)id,
                result);
}

/* The requestState in a reply, decoded, on the heap. */
static inline char *state_of(const char *reply)
{
    assert_contains(reply, "\"resultType\":\"input_required\"");
    hub_message message;
    hub_str text;
    assert_int_equal(hub_message_scan(hub_str_of(reply), &message, NULL), HUB_OK);
    assert_true(
        hub_json_plain(hub_json_get(message.at[HUB_M_RESULT], HUB_STR("requestState")), &text));
    char *state = hub_str_dup(text);
    assert_non_null(state);
    return state;
}

/* Retry a call of a tool with a state and answers ("": none). */
static inline void client_retry(client *c, const char *id, const char *tool, const char *arguments,
                                const char *state, const char *answers)
{
    char *params = NULL;
    assert_true(asprintf(&params, "\"name\":\"%s\",\"arguments\":%s,\"requestState\":\"%s\"%s%s",
                         tool, arguments, state, answers[0] != '\0' ? ",\"inputResponses\":" : "",
                         answers) > 0);
    client_request(c, id, "tools/call", params);
    free(params);
}

#endif
