/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Toolsets with tasks, as a server of each generation has them: `t` as one of 2025-11-25, `m` as
 * one with the extension of 2026-07-28. They hold every call; the test answers it.
 */
#ifndef PATCHBAY_TESTS_TASK_SUPPORT_H
#define PATCHBAY_TESTS_TASK_SUPPORT_H

#include "echo_puppet.h"

#include "base/limits.h"

#include <stdlib.h>

#define TASK_TOOL(name, support)                                                                   \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"},\"execution\":{\"taskSupport\":" \
    "\"" support "\"}}"

#define LEGACY_TASKS                                                                               \
    "{\"tasks\":{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}},\"logging\":{}" \
    "}"
#define MODERN_TASKS "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"

/* What a modern client declares that knows what tasks are. */
#define KNOWS_TASKS MODERN_TASKS

/* The members of a task's state but for its id. */
#define STATE(status)                                                                              \
    "\"status\":\"" status "\",\"createdAt\":\"2026-01-01T00:00:00Z\",\"lastUpdatedAt\":"          \
    "\"2026-01-01T00:00:00Z\",\"ttl\":60000"

#define RELATED(id) "\"_meta\":{\"io.modelcontextprotocol/related-task\":{\"taskId\":" id "}}"

typedef struct task_hub {
    hub_fixture fixture;
    echo legacy; /* toolset t */
    echo modern; /* toolset m */
} task_hub;

static inline void tasks_start(task_hub *h)
{
    static const char tools[] = "[" TASK_TOOL("may", "optional") "," TASK_TOOL(
        "must", "required") "," TASK_TOOL("never", "forbidden") "," TOOL("plain") "]";
    h->legacy =
        (echo){.puppet = {.on_call = echo_on_call, .tools = tools, .capabilities = LEGACY_TASKS},
               .holds = true};
    h->modern =
        (echo){.puppet = {.on_call = echo_on_call, .tools = tools, .capabilities = MODERN_TASKS},
               .holds = true};
    fixture_init(&h->fixture);
    (void)fixture_toolset(&h->fixture, "t", &h->legacy.puppet, true);
    (void)fixture_toolset(&h->fixture, "m", &h->modern.puppet, true);
    fixture_start(&h->fixture);
}

static inline client *tasks_client(task_hub *h, client_kind kind, const char *principal)
{
    return client_open_as(&h->fixture,
                          &(client_options){.kind = kind,
                                            .principal = principal,
                                            .capabilities = kind == MODERN ? KNOWS_TASKS : NULL});
}

/* Answer the newest call of a toolset. */
static inline void tasks_answer(const echo *toolset, const char *result)
{
    assert_int_equal(puppet_finish(toolset->puppet.latest, echo_last(toolset)->call, result),
                     PATCHBAY_OK);
}

/* The first string after `"taskId":` in a message, raw, on the heap. */
static inline char *task_id_in(const char *message)
{
    static const char key[] = "\"taskId\":\"";
    const char *at = message != NULL ? strstr(message, key) : NULL;
    assert_non_null(at);
    at += sizeof key - 2;
    const char *end = at + 1;
    while (*end != '"') {
        end += *end == '\\' ? 2 : 1;
    }
    return strndup(at, (size_t)(end + 1 - at));
}

/* Have a client make a task; `raw` is the toolset's own id. The client's is returned. */
static inline char *tasks_make(task_hub *h, client *c, const char *request, const char *raw)
{
    char result[8192];
    if (c->kind == MODERN) {
        client_call(c, request, "m__may", "{}");
        (void)snprintf(result, sizeof result,
                       "{\"resultType\":\"task\",\"taskId\":%s," STATE("working") "}", raw);
        tasks_answer(&h->modern, result);
    } else {
        client_request(
            c, request, "tools/call",
            "\"name\":\"t__may\",\"task\":{\"ttl\":1},\"_meta\":{\"progressToken\":\"p\"}");
        (void)snprintf(result, sizeof result, "{\"task\":{\"taskId\":%s," STATE("working") "}}",
                       raw);
        tasks_answer(&h->legacy, result);
    }
    return task_id_in(client_reply(c, request));
}

/* Send a request about a task; `id` is raw. */
static inline void tasks_request(client *c, const char *request, const char *method, const char *id)
{
    char *params = NULL;
    assert_true(asprintf(&params, "\"taskId\":%s", id) > 0);
    client_request(c, request, method, params);
    free(params);
}

#endif
