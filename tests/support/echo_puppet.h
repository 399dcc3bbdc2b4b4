/* SPDX-License-Identifier: Apache-2.0 */
/* A puppet that keeps the requests it gets and answers each as its method demands. */
#ifndef PATCHBAY_TESTS_ECHO_PUPPET_H
#define PATCHBAY_TESTS_ECHO_PUPPET_H

#include "hub_fixture.h"

#include <stdio.h>

enum { ECHO_KEPT = 64 };

/* What a request looked like. */
typedef struct echo_request {
    patchbay_call call;
    char method[64];
    char tool[4096];
    char params[8192];
    char name_json[4096];
    char args[512];
} echo_request;

/* The puppet comes first: its on_call finds the rest. */
typedef struct echo {
    puppet puppet;
    bool holds; /* answer nothing: the test does */
    size_t count;
    echo_request requests[ECHO_KEPT];
} echo;

static inline void echo_copy(char *to, size_t size, patchbay_str text)
{
    assert_true(text.len < size);
    if (text.len > 0) {
        memcpy(to, text.ptr, text.len);
    }
    to[text.len] = '\0';
}

static inline void echo_answer(puppet_instance *instance, const echo_request *request)
{
    char result[9000] = "{}";
    if (strcmp(request->method, "resources/read") == 0) {
        (void)snprintf(result, sizeof result, "{\"contents\":[{\"uri\":\"%s\",\"text\":\"T\"}]}",
                       request->tool);
    } else if (strcmp(request->method, "prompts/get") == 0) {
        (void)snprintf(result, sizeof result,
                       "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
                       "\"text\":\"%s\"}}]}",
                       request->tool);
    } else if (strcmp(request->method, "completion/complete") == 0) {
        (void)snprintf(result, sizeof result, "{\"completion\":{\"values\":[\"%s\"]}}",
                       request->tool);
    } else if (strcmp(request->method, "tools/call") == 0) {
        (void)snprintf(result, sizeof result, "{\"content\":[]}");
    }
    (void)puppet_finish(instance, request->call, result);
}

static inline void echo_on_call(puppet_instance *instance, patchbay_call call,
                                const patchbay_request *request)
{
    echo *self = (echo *)instance->puppet;
    assert_true(self->count < ECHO_KEPT);
    echo_request *kept = &self->requests[self->count++];
    kept->call = call;
    echo_copy(kept->method, sizeof kept->method, request->method);
    echo_copy(kept->tool, sizeof kept->tool, request->tool);
    echo_copy(kept->params, sizeof kept->params, request->params_json);
    echo_copy(kept->name_json, sizeof kept->name_json, request->name_json);
    echo_copy(kept->args, sizeof kept->args, request->args_json);
    if (!self->holds) {
        echo_answer(instance, kept);
    }
}

/* The request that came last. */
static inline const echo_request *echo_last(const echo *self)
{
    assert_true(self->count > 0);
    return &self->requests[self->count - 1];
}

/* How often a method was asked for. */
static inline size_t echo_count(const echo *self, const char *method)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        count += strcmp(self->requests[i].method, method) == 0;
    }
    return count;
}

#define RESOURCE(uri)     "{\"uri\":\"" uri "\",\"name\":\"r\"}"
#define TEMPLATE(pattern) "{\"uriTemplate\":\"" pattern "\",\"name\":\"t\"}"
#define PROMPT(name)      "{\"name\":\"" name "\"}"

#endif
