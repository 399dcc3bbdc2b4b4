/* SPDX-License-Identifier: Apache-2.0 */
/* The meta-tools: definitions, answers, failures, and what they do not give away. */
#include "hub_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

static hub_fixture fixture;
static puppet masters[3];

/* git is active, docker is not, both have tools; off is switched off. */
static client *start(void)
{
    memset(masters, 0, sizeof masters);
    masters[0].tools = "[" TOOL("status") "," TOOL("log") "]";
    masters[1].tools = "[{\"name\":\"ps\",\"title\":\"T\",\"description\":\"D\\u00e4\","
                       "\"inputSchema\":{\"type\":\"object\"}}]";
    masters[2].tools = "[]";
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "git", &masters[0], false);
    fixture_toolset(&fixture, "docker", &masters[1], true)->active = false;
    fixture_toolset(&fixture, "off", &masters[2], false)->enabled = false;
    return NULL;
}

static client *start_now(void)
{
    (void)start();
    fixture_start(&fixture);
    return client_open(&fixture, LEGACY);
}

/* S1.32, S1.41: names, hints, schemas. */
static void test_definitions(void **state)
{
    static const char *const NAMES[] = {"enable_toolset", "disable_toolset", "list_toolsets",
                                        "describe_toolset", "list_tools"};
    (void)state;
    client *c = start_now();
    hub_message message;
    assert_int_equal(hub_message_scan(hub_str_of(client_list(c, "1")), &message, NULL), HUB_OK);
    hub_json_iter it = hub_json_iterate(hub_json_get(message.at[HUB_M_RESULT], HUB_STR("tools")));
    hub_str key;
    hub_str tool;
    size_t found = 0;
    while (hub_json_next(&it, &key, &tool)) {
        for (size_t i = 0; i < 5; i++) {
            if (!hub_json_string_is(hub_json_get(tool, HUB_STR("name")), hub_str_of(NAMES[i]))) {
                continue;
            }
            hub_str hints = hub_json_get(tool, HUB_STR("annotations"));
            found++;
            assert_int_equal(hub_json_type_of(hub_json_get(tool, HUB_STR("inputSchema"))),
                             HUB_JSON_OBJECT);
            assert_int_equal(hub_json_type_of(hub_json_get(hints, HUB_STR("idempotentHint"))),
                             HUB_JSON_TRUE);
            assert_int_equal(hub_json_type_of(hub_json_get(hints, HUB_STR("readOnlyHint"))),
                             i < 2 ? HUB_JSON_FALSE : HUB_JSON_TRUE);
            assert_int_equal(hub_json_type_of(hub_json_get(hints, HUB_STR("destructiveHint"))),
                             i == 0   ? HUB_JSON_FALSE
                             : i == 1 ? HUB_JSON_TRUE
                                      : HUB_JSON_NONE);
        }
    }
    assert_int_equal(found, 5);
    fixture_stop(&fixture);
}

/* S1.36, S1.37, S1.45: one toolset: what is said, in text and in structure. */
static void test_single(void **state)
{
    (void)state;
    client *c = start_now();
    const char *reply = client_ask(c, "1", "enable_toolset", "{\"toolset\":\"docker\"}");
    assert_contains(reply, "\"structuredContent\":{\"toolset\":\"docker\",\"ok\":true");
    assert_contains(reply, "enabled with 1 tool\"");
    assert_lacks(reply, "isError");
    reply = client_ask(c, "2", "enable_toolset", "{\"toolset\":\"docker\"}");
    assert_contains(reply, "\"structuredContent\":{\"toolset\":\"docker\",\"ok\":true");
    assert_contains(reply, "already enabled with 1 tool\"");
    assert_lacks(reply, "isError");
    assert_contains(client_ask(c, "3", "enable_toolset", "{\"toolset\":\"dokcer\"}"),
                    "E_VALIDATION");
    assert_contains(client_ask(c, "4", "enable_toolset", "{\"toolset\":\"off\"}"),
                    "E_POLICY_DENIED");
    assert_contains(client_ask(c, "5", "enable_toolset", "{\"toolset\":\"_meta\"}"),
                    "E_VALIDATION");
    reply = client_ask(c, "6", "disable_toolset", "{\"toolset\":\" d\\u006fcker \"}");
    assert_contains(reply, "is disabled: its tools are gone");
    reply = client_ask(c, "7", "disable_toolset", "{\"toolset\":\"docker\"}");
    assert_contains(reply, "\"ok\":true");
    assert_contains(reply, "is not enabled: there is nothing to disable");
    assert_lacks(reply, "isError");
    fixture_stop(&fixture);
}

/* S1.36: all, some, none of a batch. */
static void test_batch(void **state)
{
    (void)state;
    client *c = start_now();
    const char *reply =
        client_ask(c, "1", "disable_toolset", "{\"toolsets\":[\"git\",\"nobody\",\"off\"]}");
    assert_contains(reply, "\"message\":\"some of the toolsets were disabled\"");
    assert_contains(reply, "\"succeeded\":2,\"failed\":1");
    assert_lacks(reply, "isError");
    reply = client_ask(c, "2", "enable_toolset", "{\"toolsets\":[\"git\",\"docker\"]}");
    assert_contains(reply, "\"message\":\"all of the toolsets were enabled\"");
    assert_contains(reply, "\"toolset\":\"git\",\"ok\":true,\"toolCount\":2");
    reply = client_ask(c, "3", "enable_toolset", "{\"toolsets\":[\"gti\",\"x\"]}");
    assert_contains(reply, "\"message\":\"none of the toolsets were enabled\"");
    assert_contains(reply, "\"isError\":true");
    fixture_stop(&fixture);
}

/* Arguments that the schema refuses: nothing happens. */
static void test_arguments(void **state)
{
    static const char *const BAD[] = {
        "{}",
        "{\"toolset\":7}",
        "{\"toolset\":null}",
        "{\"toolsets\":[]}",
        "{\"toolsets\":[7]}",
        "{\"toolsets\":7}",
        "{\"toolset\":\"git\",\"toolsets\":[\"git\"]}",
        "{\"toolset\":\"git\",\"x\":1}",
        "{\"tool\":\"git\"}",
    };
    (void)state;
    client *c = start_now();
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_contains(client_ask(c, "1", "disable_toolset", BAD[i]), "TOOL_INVALID_INPUT");
        client_clear(c);
    }
    assert_contains(client_ask(c, "2", "list_toolsets", "{\"x\":1}"), "TOOL_INVALID_INPUT");
    assert_contains(client_ask(c, "3", "describe_toolset", "{}"), "TOOL_INVALID_INPUT");
    assert_contains(client_list(c, "4"), "git__status");
    fixture_stop(&fixture);
}

/* B7: 1,000 names at once, and one more. Names that nobody knows are not compared with all that
 * there are, a thousand times over. */
static void test_many_names(void **state)
{
    (void)state;
    client *c = start_now();
    for (unsigned extra = 0; extra < 2; extra++) {
        hub_buf arguments;
        hub_buf_init(&arguments, SIZE_MAX / 2);
        hub_buf_add(&arguments, HUB_STR("{\"toolsets\":["));
        for (unsigned i = 0; i < 1000 + extra; i++) {
            hub_buf_printf(&arguments, "%s\"gi%u\"", i > 0 ? "," : "", i);
        }
        hub_buf_add(&arguments, HUB_STR("]}"));
        char *text = hub_buf_take(&arguments);
        const char *reply = client_ask(c, "1", "enable_toolset", text);
        assert_int_equal(strstr(reply, "TOOL_INVALID_INPUT") != NULL, extra == 1);
        assert_lacks(reply, "did you mean");
        free(text);
        client_clear(c);
    }
    assert_contains(client_ask(c, "2", "enable_toolset", "{\"toolset\":\"gi\"}"), "did you mean");
    fixture_stop(&fixture);
}

/* S1.14, S1.40: status, as a model reads it. */
static void test_status(void **state)
{
    (void)state;
    client *c = start_now();
    const char *reply = client_ask(c, "1", "list_toolsets", "{}");
    assert_contains(reply,
                    "\"structuredContent\":{\"toolsets\":[{\"key\":\"docker\",\"active\":false");
    assert_contains(reply, "{\"key\":\"git\",\"active\":true,\"toolCount\":2");
    assert_contains(reply, "\"totalToolsets\":3,\"activeCount\":1");
    assert_contains(reply, "\"key\":\"off\"");
    assert_contains(reply, "\"state\":\"off\"");
    assert_lacks(reply, "latency");
    reply = client_ask(c, "2", "list_tools", "{}");
    assert_contains(reply, "\"structuredContent\":{\"tools\":[\"describe_toolset\"");
    assert_contains(reply, "\"git__log\",\"git__status\"],\"totalTools\":7}");
    client_call(c, "3", "enable_toolset", "{\"toolset\":\"docker\"}");
    reply = client_ask(c, "4", "describe_toolset", "{\"toolset\":\" docker \"}");
    assert_contains(reply, "\"tools\":[{\"name\":\"docker__ps\",\"description\":\"Dä\"}]");
    assert_contains(client_ask(c, "5", "describe_toolset", "{\"toolset\":\"nobody\"}"),
                    "E_VALIDATION");
    fixture_stop(&fixture);
}

/* An inactive toolset whose catalog is known is described under the names that its tools will have. */
static void test_names_to_come(void **state)
{
    (void)state;
    (void)start();
    fixture.profiles[0].naming = HUB_NAMING_DOT;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "disable_toolset", "{\"toolset\":\"git\"}");
    const char *reply = client_ask(c, "2", "describe_toolset", "{\"toolset\":\"git\"}");
    assert_contains(reply, "\"active\":false,\"toolCount\":2");
    assert_contains(reply, "\"tools\":[{\"name\":\"git.log\"},{\"name\":\"git.status\"}]");
    fixture_stop(&fixture);
}

/* DESIGN, Exposure: filters bind whatever names tools, also those of a toolset that is not active.
 */
static void test_hidden_tools(void **state)
{
    static const char *const HIDE[] = {"*:ps", "git:log"};
    static const hub_filter_rule RULE = {HUB_FILTER_DENY_TOOLS,
                                         {.items = HIDE, .count = 2, .set = true}};
    (void)state;
    (void)start();
    fixture.settings.policy.filters = &RULE;
    fixture.settings.policy.filter_count = 1;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    /* Only the catalog shows that nothing of it can be seen: then it is as if there were none. */
    const char *reply = client_ask(c, "1", "enable_toolset", "{\"toolset\":\"docker\"}");
    assert_contains(reply, "unknown toolset \\\"docker\\\"");
    fixture_spin(&fixture, 3);
    assert_int_equal(masters[1].creates - masters[1].destroys, 0);
    assert_contains(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"docker\"}"),
                    "unknown toolset \\\"docker\\\"");
    assert_lacks(client_ask(c, "3", "describe_toolset", "{\"toolset\":\"docker\"}"), "ps");
    assert_lacks(client_ask(c, "4", "describe_toolset", "{\"toolset\":\"git\"}"), "log");
    assert_lacks(client_ask(c, "5", "list_tools", "{}"), "git__log");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions),  cmocka_unit_test(test_single),
        cmocka_unit_test(test_batch),        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_many_names),   cmocka_unit_test(test_status),
        cmocka_unit_test(test_hidden_tools), cmocka_unit_test(test_names_to_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
