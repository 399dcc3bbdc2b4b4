/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of tasks (A16): unique among toolsets, leading back to their own, whatever they look like,
 * and of use to nobody else. MCP 2025-11-25 basic/utilities/tasks (Task ID Requirements, Task
 * Isolation and Access Control); the extension io.modelcontextprotocol/tasks (Security
 * Considerations).
 */
#include "task_support.h"

static task_hub h;

static const client_kind KINDS[] = {LEGACY, MODERN};

static const echo *toolset_of(client_kind kind)
{
    return kind == MODERN ? &h.modern : &h.legacy;
}

static size_t requests_so_far(void)
{
    return h.legacy.count + h.modern.count;
}

/* Whatever a server's id looks like, it comes back as it was; nothing else of the result changes.
 */
static void test_round_trip(void **state)
{
    static const char *const IDS[] = {
        "\"786512e2\"",         "\"1\"",   "\".\"", "\"t.0.1\"", "\"\\u00e9 \\\"q\\\" \\\\ \\/\"",
        "\"\xf0\x9f\x98\x80\"", "\"a b\"",
    };
    (void)state;
    tasks_start(&h);
    for (size_t k = 0; k < 2; k++) {
        client *c = tasks_client(&h, KINDS[k], "a");
        const echo *toolset = toolset_of(KINDS[k]);
        for (size_t i = 0; i < sizeof IDS / sizeof IDS[0]; i++) {
            char *id = tasks_make(&h, c, "1", IDS[i]);
            assert_string_not_equal(id, IDS[i]);
            tasks_request(c, "2", "tasks/get", id);
            const echo_request *seen = echo_last(toolset);
            assert_string_equal(seen->method, "tasks/get");
            assert_string_equal(seen->name_json, id);
            hub_buf own;
            hub_buf_init(&own, 256);
            assert_int_equal(hub_json_decode(hub_str_of(IDS[i]), &own), HUB_OK);
            assert_true(hub_str_is(hub_buf_str(&own), seen->tool));
            hub_buf_fini(&own);
            char result[512];
            (void)snprintf(result, sizeof result,
                           "{ \"x\":[1.10, 1e400],%s \"taskId\" : %s ," STATE("working") "}",
                           KINDS[k] == MODERN ? "\"resultType\":\"complete\"," : "", IDS[i]);
            tasks_answer(toolset, result);
            char want[512];
            (void)snprintf(want, sizeof want,
                           "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{ \"x\":[1.10, 1e400],%s "
                           "\"taskId\" : %s ," STATE("working") "}}",
                           KINDS[k] == MODERN ? "\"resultType\":\"complete\"," : "", id);
            assert_string_equal(client_reply(c, "2"), want);
            free(id);
            client_clear(c);
        }
    }
    fixture_stop(&h.fixture);
}

/* The same id of two toolsets is two tasks, and each leads to its own. */
static void test_two_toolsets(void **state)
{
    (void)state;
    static echo other;
    h.legacy = (echo){.puppet = {.on_call = echo_on_call,
                                 .tools = "[" TASK_TOOL("may", "optional") "]",
                                 .capabilities = LEGACY_TASKS},
                      .holds = true};
    other = h.legacy;
    fixture_init(&h.fixture);
    (void)fixture_toolset(&h.fixture, "t", &h.legacy.puppet, true);
    (void)fixture_toolset(&h.fixture, "u", &other.puppet, true);
    fixture_start(&h.fixture);
    client *c = tasks_client(&h, LEGACY, "a");
    char *first = tasks_make(&h, c, "1", "\"7\"");
    client_request(c, "2", "tools/call", "\"name\":\"u__may\",\"task\":{}");
    tasks_answer(&other, "{\"task\":{\"taskId\":\"7\"," STATE("working") "}}");
    char *second = task_id_in(client_reply(c, "2"));
    assert_string_not_equal(first, second);
    tasks_request(c, "3", "tasks/get", second);
    assert_string_equal(echo_last(&other)->method, "tasks/get");
    assert_string_equal(echo_last(&other)->tool, "7");
    assert_int_equal(echo_count(&h.legacy, "tasks/get"), 0);
    second[1] = 't'; /* the signature says of whom the task is, too */
    client_clear(c);
    tasks_request(c, "4", "tasks/get", second);
    assert_contains(client_reply(c, "4"), "Task not found");
    free(first);
    free(second);
    fixture_stop(&h.fixture);
}

static void expect_unknown(client *c, const char *id)
{
    static const char *const METHODS[2][3] = {
        {"tasks/get", "tasks/result", "tasks/cancel"},
        {"tasks/get", "tasks/update", "tasks/cancel"},
    };
    size_t before = requests_so_far();
    for (size_t i = 0; i < 3; i++) {
        client_clear(c);
        tasks_request(c, "9", METHODS[c->kind == MODERN][i], id);
        assert_contains(client_reply(c, "9"), "\"code\":-32602");
        assert_contains(client_reply(c, "9"), "Task not found");
    }
    assert_int_equal(requests_so_far(), before);
}

/* Another principal, another profile, the other era: the id of no task. */
static void test_foreign(void **state)
{
    (void)state;
    tasks_start(&h);
    for (size_t k = 0; k < 2; k++) {
        client *mine = tasks_client(&h, KINDS[k], "a");
        char *id = tasks_make(&h, mine, "1", "\"7\"");
        expect_unknown(tasks_client(&h, KINDS[k], "b"), id);
        expect_unknown(tasks_client(&h, KINDS[1 - k], "a"), id);
        client *later = tasks_client(&h, KINDS[k], "a"); /* another session, the same principal */
        tasks_request(later, "2", "tasks/get", id);
        assert_string_equal(echo_last(toolset_of(KINDS[k]))->tool, "7");
        free(id);
    }
    fixture_stop(&h.fixture);
}

static void test_another_profile(void **state)
{
    (void)state;
    h.legacy = (echo){.puppet = {.on_call = echo_on_call,
                                 .tools = "[" TASK_TOOL("may", "optional") "]",
                                 .capabilities = LEGACY_TASKS},
                      .holds = true};
    fixture_init(&h.fixture);
    (void)fixture_toolset(&h.fixture, "t", &h.legacy.puppet, true);
    h.fixture.profiles[1] = h.fixture.profiles[0];
    h.fixture.profiles[1].name = "other";
    h.fixture.settings.profile_count = 2;
    fixture_start(&h.fixture);
    client *mine = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, mine, "1", "\"7\"");
    expect_unknown(
        client_open_as(&h.fixture,
                       &(client_options){.kind = LEGACY, .profile = "other", .principal = "a"}),
        id);
    free(id);
    fixture_stop(&h.fixture);
}

/* Every digit of an id counts, and so does its length. */
static void test_tampered(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, c, "1", "\"77\"");
    size_t len = strlen(id);
    for (size_t i = 1; i + 1 < len; i++) {
        char *other = strdup(id);
        other[i] = other[i] == '1' ? '2' : '1';
        expect_unknown(c, other);
        free(other);
        other = strdup(id);
        memmove(other + i, other + i + 1, len - i);
        expect_unknown(c, other);
        free(other);
    }
    static const char *const OTHERS[] = {"\"\"",
                                         "\"7\"",
                                         "\"t\"",
                                         "\"t.\"",
                                         "\"..\"",
                                         "\"t.0123456789abcdef0123456789abcdef.\"",
                                         "\"_meta.0123456789abcdef0123456789abcdef.7\""};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        expect_unknown(c, OTHERS[i]);
    }
    for (char *at = id + 3; at < id + 3 + 32; at++) { /* one spelling of the signature */
        *at = *at >= 'a' && *at <= 'f' ? (char)(*at - 'a' + 'A') : *at;
    }
    expect_unknown(c, id);
    tasks_request(c, "2", "tasks/get", "7");
    assert_contains(client_reply(c, "2"), "params.taskId must be a string");
    client_request(c, "3", "tasks/get", "");
    assert_contains(client_reply(c, "3"), "params.taskId must be a string");
    free(id);
    fixture_stop(&h.fixture);
}

/* HUB_LIMIT_TASK_ID_BYTES, and one more. */
static void test_length(void **state)
{
    (void)state;
    tasks_start(&h);
    for (size_t k = 0; k < 2; k++) {
        client *c = tasks_client(&h, KINDS[k], "a");
        char raw[HUB_LIMIT_TASK_ID_BYTES + 4];
        memset(raw, 'x', sizeof raw);
        raw[0] = '"';
        raw[HUB_LIMIT_TASK_ID_BYTES + 1] = '"';
        raw[HUB_LIMIT_TASK_ID_BYTES + 2] = '\0';
        char *id = tasks_make(&h, c, "1", raw);
        tasks_request(c, "2", "tasks/get", id);
        assert_int_equal(strlen(echo_last(toolset_of(KINDS[k]))->tool), HUB_LIMIT_TASK_ID_BYTES);
        free(id);
        raw[HUB_LIMIT_TASK_ID_BYTES + 1] = 'x';
        raw[HUB_LIMIT_TASK_ID_BYTES + 2] = '"';
        raw[HUB_LIMIT_TASK_ID_BYTES + 3] = '\0';
        static const char *bad[] = {NULL, "\"\"", "7", "null", "{}", ""};
        bad[0] = raw;
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            char result[2048];
            client_clear(c);
            client_request(c, "3", "tools/call",
                           KINDS[k] == MODERN ? "\"name\":\"m__may\""
                                              : "\"name\":\"t__may\",\"task\":{}");
            (void)snprintf(result, sizeof result,
                           KINDS[k] == MODERN ? "{\"resultType\":\"task\"%s%s}"
                                              : "{\"task\":{\"status\":\"working\"%s%s}}",
                           bad[i][0] != '\0' ? ",\"taskId\":" : "", bad[i]);
            tasks_answer(toolset_of(KINDS[k]), result);
            assert_contains(client_reply(c, "3"), "whose id is not a string of 1 to 1024 bytes");
        }
    }
    fixture_stop(&h.fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_two_toolsets),
        cmocka_unit_test(test_foreign),    cmocka_unit_test(test_another_profile),
        cmocka_unit_test(test_tampered),   cmocka_unit_test(test_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
