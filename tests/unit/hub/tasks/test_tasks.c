/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks through the hub: what a client may ask for, what it is told that it may, and what becomes
 * of it. MCP 2025-11-25 basic/utilities/tasks; the extension io.modelcontextprotocol/tasks.
 */
#include "task_support.h"

#include "hub/kernel/call_kept.h"

static task_hub h;

static size_t requests_so_far(void)
{
    return h.legacy.count + h.modern.count;
}

/* ---- what is announced ----------------------------------------------------------------------- */

/* The capabilities that a client of a revision is told. */
static const char *announced(client *c, const char *revision)
{
    char params[64];
    if (revision == NULL) {
        client_request(c, "1", "server/discover", "");
    } else {
        (void)snprintf(params, sizeof params, "\"protocolVersion\":\"%s\"", revision);
        client_request(c, "1", "initialize", params);
    }
    return client_reply(c, "1");
}

static void test_announced(void **state)
{
    static const char core[] = "\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}";
    static const char extension[] = "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}";
    (void)state;
    tasks_start(&h);
    const char *newest = announced(client_open(&h.fixture, BARE), "2025-11-25");
    assert_contains(newest, core);
    assert_lacks(newest, "io.modelcontextprotocol/tasks");
    const char *older = announced(client_open(&h.fixture, BARE), "2025-06-18");
    assert_lacks(older, "tasks");
    const char *modern = announced(client_open(&h.fixture, MODERN), NULL);
    assert_contains(modern, extension);
    assert_lacks(modern, core);
    fixture_stop(&h.fixture);
}

/* Only what an active toolset can do. */
static void test_not_announced(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = client_open(&h.fixture, LEGACY);
    (void)client_ask(c, "1", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_lacks(announced(client_open(&h.fixture, BARE), "2025-11-25"), "tasks");
    assert_contains(announced(client_open(&h.fixture, MODERN), NULL), "tasks");
    tasks_request(c, "2", "tasks/get", "\"x\"");
    assert_contains(client_reply(c, "2"), "\"code\":-32601");
    (void)client_ask(c, "3", "disable_toolset", "{\"toolset\":\"m\"}");
    client *modern = client_open(&h.fixture, MODERN);
    assert_lacks(announced(modern, NULL), "tasks");
    tasks_request(modern, "2", "tasks/get", "\"x\"");
    assert_contains(client_reply(modern, "2"), "\"code\":-32601");
    fixture_stop(&h.fixture);
}

/* Methods of one generation alone, and tasks/list, which is never there. */
static void test_methods(void **state)
{
    static const struct {
        client_kind kind;
        const char *revision;
        const char *method;
        const char *code;
    } CASES[] = {
        {LEGACY, NULL, "tasks/get", "-32602"},
        {LEGACY, NULL, "tasks/result", "-32602"},
        {LEGACY, NULL, "tasks/cancel", "-32602"},
        {LEGACY, NULL, "tasks/update", "-32601"},
        {LEGACY, NULL, "tasks/list", "-32601"},
        {LEGACY, "2025-06-18", "tasks/get", "-32601"},
        {LEGACY, "2025-06-18", "tasks/result", "-32601"},
        {MODERN, NULL, "tasks/get", "-32602"},
        {MODERN, NULL, "tasks/update", "-32602"},
        {MODERN, NULL, "tasks/cancel", "-32602"},
        {MODERN, NULL, "tasks/result", "-32601"},
        {MODERN, NULL, "tasks/list", "-32601"},
    };
    (void)state;
    tasks_start(&h);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        client *c = client_open_as(&h.fixture, &(client_options){.kind = CASES[i].kind,
                                                                 .revision = CASES[i].revision,
                                                                 .capabilities = KNOWS_TASKS});
        tasks_request(c, "1", CASES[i].method, "\"t.0123\"");
        assert_contains(client_reply(c, "1"), CASES[i].code);
        client_close(c);
    }
    assert_int_equal(requests_so_far(), 0);
    fixture_stop(&h.fixture);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Which tools run as tasks, for whom, and what the toolset sees of it. */
static void test_wishes(void **state)
{
    static const char TASK[] = "\"task\"";
    static const struct {
        const char *tool;
        bool asks;
        const char *want; /* in the answer; NULL: the toolset is asked … */
        bool shows_task;  /* … and sees params.task */
        const char *revision;
    } CASES[] = {
        {"t__may", true, NULL, true, NULL},
        {"t__must", true, NULL, true, NULL},
        {"t__may", false, NULL, false, NULL},
        {"t__must", false, NULL, false, NULL}, /* the server's own refusal is passed on */
        {"t__never", true, "\"code\":-32601", false, NULL},
        {"t__plain", true, "\"code\":-32601", false, NULL},
        {"m__may", true, "\"code\":-32601", false, NULL},
        {"list_toolsets", true, "\"code\":-32601", false, NULL},
        {"t__may", true, NULL, false, "2025-06-18"},
        {"t__must", true, "runs as a task only", false, "2025-06-18"},
        {"t__must", false, "runs as a task only", false, "2025-06-18"},
        {"m__must", false, NULL, false, "2025-06-18"},
        {"m__may", true, NULL, true, "2025-06-18"}, /* a word that means nothing there */
        {"t__may", true, NULL, false, "2026-07-28"},
        {"t__must", true, "runs as a task only", false, "2026-07-28"},
        {"m__must", false, NULL, false, "2026-07-28"},
    };
    (void)state;
    tasks_start(&h);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        bool modern = CASES[i].revision != NULL && strcmp(CASES[i].revision, "2026-07-28") == 0;
        client *c = client_open_as(&h.fixture, &(client_options){.kind = modern ? MODERN : LEGACY,
                                                                 .revision = CASES[i].revision});
        char params[256];
        size_t before = requests_so_far();
        (void)snprintf(params, sizeof params,
                       "%s\"x-first\":1.0, \"name\":\"%s\" ,\"arguments\":{\"a\":[1.10]},\"z\":{}",
                       CASES[i].asks ? "\"task\":{\"ttl\":1}," : "", CASES[i].tool);
        client_request(c, "1", "tools/call", params);
        if (CASES[i].want != NULL) {
            assert_contains(client_reply(c, "1"), CASES[i].want);
            assert_int_equal(requests_so_far(), before);
        } else {
            const echo *toolset = CASES[i].tool[0] == 'm' ? &h.modern : &h.legacy;
            assert_int_equal(requests_so_far(), before + 1);
            const echo_request *seen = echo_last(toolset);
            assert_int_equal(strstr(seen->params, TASK) != NULL, CASES[i].shows_task);
            assert_contains(seen->params, "\"x-first\":1.0");
            assert_contains(seen->params, "\"z\":{}");
            assert_string_equal(seen->args, "{\"a\":[1.10]}");
            assert_string_equal(seen->tool, strstr(CASES[i].tool, "__") + 2);
            tasks_answer(toolset, "{\"content\":[]}");
            assert_contains(client_reply(c, "1"), "\"content\":[]");
        }
        client_close(c);
    }
    client *c = client_open(&h.fixture, LEGACY);
    client_request(c, "1", "tools/call", "\"name\":\"t__may\",\"task\":true");
    assert_contains(client_reply(c, "1"), "params.task must be an object");
    fixture_stop(&h.fixture);
}

/* Where no toolset has tasks, the word means nothing (Task Support and Handling, 1). */
static void test_nobody_has_tasks(void **state)
{
    (void)state;
    h.legacy =
        (echo){.puppet = {.on_call = echo_on_call, .tools = "[" TASK_TOOL("may", "optional") "]"},
               .holds = true};
    fixture_init(&h.fixture);
    (void)fixture_toolset(&h.fixture, "t", &h.legacy.puppet, true);
    fixture_start(&h.fixture);
    client *c = client_open(&h.fixture, LEGACY);
    client_request(c, "1", "tools/call", "\"name\":\"t__may\",\"task\":true");
    tasks_answer(&h.legacy, "{\"content\":[],\"task\":{\"taskId\":\"7\"}}");
    assert_contains(client_reply(c, "1"), "\"task\":{\"taskId\":\"7\"}}");
    fixture_stop(&h.fixture);
}

/* A call that fails to become a task has no tool result: it ends with a JSON-RPC error. */
static void test_failure_to_make_one(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = client_open(&h.fixture, LEGACY);
    client_request(c, "1", "tools/call", "\"name\":\"t__may\",\"task\":{}");
    const puppet_instance *t = h.legacy.puppet.latest;
    (void)t->api->finish(t->host, echo_last(&h.legacy)->call, PATCHBAY_UNAVAILABLE,
                         puppet_str("it is gone"));
    assert_contains(client_reply(c, "1"), "\"error\":{\"code\":-31002");
    client_call(c, "2", "t__may", "{}");
    (void)t->api->finish(t->host, echo_last(&h.legacy)->call, PATCHBAY_UNAVAILABLE,
                         puppet_str("it is gone"));
    assert_contains(client_reply(c, "2"), "\"isError\":true");
    fixture_stop(&h.fixture);
}

/* A server may not make a task for a client that does not know what that is. */
static void test_task_unasked(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c =
        client_open_as(&h.fixture, &(client_options){.kind = LEGACY, .capabilities = KNOWS_TASKS});
    assert_string_equal(c->session->capabilities, "{\"extensions\":{}}");
    client_call(c, "1", "m__may", "{}");
    const puppet_instance *m = h.modern.puppet.latest;
    (void)m->api->finish(m->host, echo_last(&h.modern)->call, PATCHBAY_RESULT,
                         puppet_str("{\"resultType\":\"task\",\"taskId\":\"7\"}"));
    assert_contains(client_reply(c, "1"), "did not ask for");
    fixture_stop(&h.fixture);
}

/* What a legacy client declares is passed on without what it could not follow, and else as it is.
 */
static void test_declared(void **state)
{
    static const struct {
        const char *declares;
        const char *want;
    } CASES[] = {
        {"{ \"roots\":{}}", "{ \"roots\":{}}"},
        {"{\"extensions\":{\"a\":1.0},\"x\":[]}", "{\"extensions\":{\"a\":1.0},\"x\":[]}"},
        {"{\"a\":1, \"extensions\" : {\"io.modelcontextprotocol/tasks\":{},\"b\":{}} ,\"x\":[1.0]}",
         "{\"a\":1, \"extensions\" : {\"b\":{}} ,\"x\":[1.0]}"},
        {"{\"extensions\":[]}", "{\"extensions\":[]}"},
    };
    (void)state;
    tasks_start(&h);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        client *c = client_open_as(
            &h.fixture, &(client_options){.kind = LEGACY, .capabilities = CASES[i].declares});
        assert_string_equal(c->session->capabilities, CASES[i].want);
        client_close(c);
    }
    fixture_stop(&h.fixture);
}

/* The extension, Protocol Errors: -32021 for clients that did not declare it. */
static void test_undeclared(void **state)
{
    static const char *const METHODS[] = {"tasks/get", "tasks/update", "tasks/cancel"};
    static const char want[] = "\"data\":{\"requiredCapabilities\":{\"extensions\":{"
                               "\"io.modelcontextprotocol/tasks\":{}}}}";
    (void)state;
    tasks_start(&h);
    client *c = client_open(&h.fixture, MODERN);
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++) {
        client_clear(c);
        tasks_request(c, "1", METHODS[i], "\"x\"");
        assert_contains(client_reply(c, "1"), "\"code\":-32021");
        assert_contains(client_reply(c, "1"), want);
    }
    client_clear(c);
    client_request(c, "2", "subscriptions/listen", "\"notifications\":{\"taskIds\":[\"x\"]}");
    assert_contains(client_reply(c, "2"), "\"code\":-32021");
    assert_contains(client_reply(c, "2"), want);
    client *knows = tasks_client(&h, MODERN, "a");
    client_request(knows, "3", "subscriptions/listen",
                   "\"notifications\":{\"toolsListChanged\":true,\"taskIds\":[\"x\"]}");
    assert_int_equal(client_count(knows, "notifications/subscriptions/acknowledged"), 1);
    assert_int_equal(client_count(knows, "taskIds"), 0); /* none is promised */
    fixture_stop(&h.fixture);
}

/* ---- results --------------------------------------------------------------------------------- */

/* The result of a task: its `_meta` names the task, the rest is the tool's. */
static void test_result(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, c, "1", "\"7\"");
    tasks_request(c, "2", "tasks/result", id);
    assert_string_equal(echo_last(&h.legacy)->method, "tasks/result");
    assert_string_equal(echo_last(&h.legacy)->tool, "7");
    tasks_answer(&h.legacy, "{\"content\":[],\"taskId\":\"7\",\"task\":{\"taskId\":\"7\"},"
                            "\"isError\":true," RELATED("\"7\"") ",\"n\":1.10}");
    char want[512];
    (void)snprintf(want, sizeof want,
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[],\"taskId\":\"7\","
                   "\"task\":{\"taskId\":\"7\"},\"isError\":true," RELATED("%s") ",\"n\":1.10}}",
                   id);
    assert_string_equal(client_reply(c, "2"), want);
    tasks_request(c, "3", "tasks/result", id); /* a JSON-RPC error is the same error */
    const puppet_instance *t = h.legacy.puppet.latest;
    (void)t->api->finish(t->host, echo_last(&h.legacy)->call, PATCHBAY_RPC_ERROR,
                         puppet_str("{\"code\":-5,\"message\":\"no\",\"data\":1.0}"));
    assert_contains(client_reply(c, "3"),
                    "\"error\":{\"code\":-5,\"message\":\"no\",\"data\":1.0}");
    free(id);
    fixture_stop(&h.fixture);
}

/* Both places of an id in one result, in either order. */
static void test_two_places(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, c, "1", "\"7\"");
    for (int form = 0; form < 2; form++) {
        const char *ids[] = {"\"7\"", id};
        char texts[2][512];
        for (size_t i = 0; i < 2; i++) {
            (void)(form == 0
                       ? snprintf(texts[i], sizeof texts[i],
                                  "{\"taskId\":%s,\"x\":1.0," RELATED("%s") "}", ids[i], ids[i])
                       : snprintf(texts[i], sizeof texts[i],
                                  "{" RELATED("%s") ",\"x\":1.0,\"taskId\":%s}", ids[i], ids[i]));
        }
        client_clear(c);
        tasks_request(c, "2", "tasks/cancel", id);
        tasks_answer(&h.legacy, texts[0]);
        assert_contains(client_reply(c, "2"), texts[1]);
    }
    free(id);
    fixture_stop(&h.fixture);
}

/* The acknowledgements of the extension have no id; tasks/update brings the answers along. */
static void test_update(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = tasks_client(&h, MODERN, "a");
    char *id = tasks_make(&h, c, "1", "\"7\"");
    char *params = NULL;
    assert_true(asprintf(&params,
                         "\"taskId\":%s,\"inputResponses\":{\"k\":{\"action\":\"accept\"}}",
                         id) > 0);
    client_request(c, "2", "tasks/update", params);
    assert_string_equal(echo_last(&h.modern)->method, "tasks/update");
    assert_string_equal(echo_last(&h.modern)->tool, "7");
    assert_contains(echo_last(&h.modern)->params,
                    "\"inputResponses\":{\"k\":{\"action\":\"accept\"}}");
    tasks_answer(&h.modern, "{}");
    assert_contains(client_reply(c, "2"), "\"result\":{\"resultType\":\"complete\"}");
    free(params);
    free(id);
    fixture_stop(&h.fixture);
}

/* Whatever the toolset's calls in flight: who has a task gets at it. */
static void test_a_full_toolset(void **state)
{
    (void)state;
    h.legacy = (echo){.puppet = {.on_call = echo_on_call,
                                 .tools = "[" TASK_TOOL("may", "optional") "]",
                                 .capabilities = LEGACY_TASKS},
                      .holds = true};
    fixture_init(&h.fixture);
    fixture_toolset(&h.fixture, "t", &h.legacy.puppet, true)->max_calls = 1;
    fixture_start(&h.fixture);
    client *c = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, c, "1", "\"7\"");
    client_call(c, "2", "t__may", "{}");
    client_call(c, "3", "t__may", "{}");
    assert_contains(client_reply(c, "3"), "as many calls in flight");
    tasks_request(c, "4", "tasks/cancel", id);
    assert_string_equal(echo_last(&h.legacy)->method, "tasks/cancel");
    free(id);
    fixture_stop(&h.fixture);
}

/* A call about a task takes no place of others; one at a time may wait for a session's result of
 * it. */
static void test_results_take_no_place(void **state)
{
    (void)state;
    h.legacy = (echo){.puppet = {.on_call = echo_on_call,
                                 .tools = "[" TASK_TOOL("may", "optional") "]",
                                 .capabilities = LEGACY_TASKS},
                      .holds = true};
    fixture_init(&h.fixture);
    fixture_toolset(&h.fixture, "t", &h.legacy.puppet, true)->max_calls = 1;
    fixture_start(&h.fixture);
    client *c = tasks_client(&h, LEGACY, "a");
    client *d = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, c, "1", "\"7\"");
    char *other = tasks_make(&h, c, "2", "\"77\"");
    tasks_request(c, "3", "tasks/result", id);
    tasks_request(c, "4", "tasks/result", id);
    assert_contains(client_reply(c, "4"), "\"code\":-32600");
    assert_contains(client_reply(c, "4"), "already");
    size_t asked = h.legacy.count;
    tasks_request(c, "5", "tasks/result", other);
    tasks_request(d, "3", "tasks/result", id); /* another session of the same principal */
    tasks_request(c, "6", "tasks/get", id);
    assert_int_equal(h.legacy.count, asked + 3);
    client_call(d, "9", "t__may", "{}");
    assert_null(client_reply(d, "9"));
    client_call(d, "10", "t__may", "{}");
    assert_contains(client_reply(d, "10"), "as many calls in flight");
    client_cancel(c, "3");
    tasks_request(c, "7", "tasks/result", id);
    assert_null(client_reply(c, "7"));
    assert_string_equal(echo_last(&h.legacy)->method, "tasks/result");
    free(other);
    free(id);
    fixture_stop(&h.fixture);
}

/* Not limits.call_timeout: the result of a task takes as long as the task, up to the ceiling. */
static void test_patience(void **state)
{
    (void)state;
    h.legacy = (echo){.puppet = {.on_call = echo_on_call,
                                 .tools = "[" TASK_TOOL("may", "optional") "]",
                                 .capabilities = LEGACY_TASKS},
                      .holds = true};
    fixture_init(&h.fixture);
    fixture_toolset(&h.fixture, "t", &h.legacy.puppet, true)->call_timeout_ms = 5000;
    h.fixture.settings.limits.call_ceiling_ms = 70000;
    fixture_start(&h.fixture);
    client *c = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, c, "1", "\"7\"");
    tasks_request(c, "2", "tasks/result", id);
    assert_int_equal(hub_session_find_call(c->session, HUB_STR("2"))->timeout_ms, 70000);
    tasks_request(c, "3", "tasks/get", id);
    assert_int_equal(hub_session_find_call(c->session, HUB_STR("3"))->timeout_ms, 5000);
    free(id);
    fixture_stop(&h.fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_announced),
        cmocka_unit_test(test_not_announced),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_nobody_has_tasks),
        cmocka_unit_test(test_failure_to_make_one),
        cmocka_unit_test(test_task_unasked),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_undeclared),
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_two_places),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_a_full_toolset),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_results_take_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
