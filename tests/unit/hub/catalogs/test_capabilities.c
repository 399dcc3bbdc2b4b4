/* SPDX-License-Identifier: Apache-2.0 */
/* What is announced to clients: what the active toolsets can do now. */
#include "echo_puppet.h"
#include "base/limits.h"
#include "hub/kernel/extensions.h"

static hub_fixture fixture;

/* The capabilities that a new client of each era is told; both must be the same. */
static void expect_announced(const char *want)
{
    client *legacy = client_open(&fixture, BARE);
    client_request(legacy, "1", "initialize", "\"protocolVersion\":\"2025-06-18\"");
    assert_contains(client_reply(legacy, "1"), want);
    client_close(legacy);
    client *modern = client_open(&fixture, MODERN);
    client_request(modern, "1", "server/discover", "");
    assert_contains(client_reply(modern, "1"), want);
    client_close(modern);
}

#define TOOLS "\"capabilities\":{\"tools\":{\"listChanged\":true}"

static void test_per_toolset(void **state)
{
    static const struct {
        puppet puppet;
        const char *want;
    } CASES[] = {
        {{.tools = "[]"}, TOOLS "}"},
        {{.resources = "[]"}, TOOLS ",\"resources\":{\"listChanged\":true}}"},
        {{.templates = "[]"}, TOOLS ",\"resources\":{\"listChanged\":true}}"},
        {{.prompts = "[]"}, TOOLS ",\"prompts\":{\"listChanged\":true}}"},
        {{.resources = "[]", .capabilities = "{\"resources\":{\"subscribe\":true}}"},
         TOOLS ",\"resources\":{\"subscribe\":true,\"listChanged\":true}}"},
        {{.resources = "[]", .capabilities = "{\"resources\":{\"subscribe\":false}}"},
         TOOLS ",\"resources\":{\"listChanged\":true}}"},
        {{.capabilities = "{\"completions\":{},\"logging\":{}}"},
         TOOLS ",\"completions\":{},\"logging\":{}}"},
        {{.capabilities = "{\"completions\":true,\"logging\":1,\"extensions\":[],\"tools\":1}"},
         TOOLS "}"},
        {{.capabilities = "{\"extensions\":{\"a/b\":{\"c\":1.10}}}"},
         TOOLS ",\"extensions\":{\"a/b\":{\"c\":1.10}}}"},
        /* what costs clients all that is announced */
        {{.capabilities = "{\"extensions\":{\"a/b\":{\"c\":1e400}}}"}, TOOLS "}"},
        {{.capabilities = "{\"extensions\":{\"a/b\":5,\"a\\/c\":{ },\"a/d\":[],\"\\ud800\":{}}}"},
         TOOLS ",\"extensions\":{\"a/c\":{ }}}"},
        {{.capabilities = "{\"extensions\":{\"a/b\":{},\"a\\/b\":{\"c\":1}}}"},
         TOOLS ",\"extensions\":{\"a/b\":{}}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        puppet master = CASES[i].puppet;
        fixture_init(&fixture);
        (void)fixture_toolset(&fixture, "t", &master, false);
        fixture_start(&fixture);
        expect_announced(CASES[i].want);
        fixture_stop(&fixture);
    }
}

/* One more extension than is read, one more byte than one may have. */
static void test_limits(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        hub_capabilities found;
        hub_error left_out = {.code = HUB_OK};
        hub_buf json;
        hub_buf_init(&json, 100000);
        hub_buf_add(&json, HUB_STR("{\"extensions\":{"));
        for (int i = 0; i < HUB_LIMIT_EXTENSIONS + more; i++) {
            hub_buf_printf(&json, "%s\"x/%d\":{}", i > 0 ? "," : "", i);
        }
        hub_buf_add(&json, HUB_STR("}}"));
        assert_int_equal(hub_extensions_read(hub_buf_str(&json), &found, &left_out), HUB_OK);
        assert_int_equal(hub_json_count(found.extensions), HUB_LIMIT_EXTENSIONS);
        assert_int_equal(left_out.code, more > 0 ? HUB_ELIMIT : HUB_OK);
        hub_capabilities_fini(&found);
        hub_buf_clear(&json);
        static const char WITHOUT[] = "\"x\":{\"y\":\"\"}";
        int room = (int)(HUB_LIMIT_EXTENSION_BYTES - (sizeof WITHOUT - 1));
        hub_buf_printf(&json, "{\"extensions\":{\"x\":{\"y\":\"%0*d\"}}}", room + more, 0);
        assert_int_equal(hub_extensions_read(hub_buf_str(&json), &found, NULL), HUB_OK);
        assert_int_equal(hub_json_count(found.extensions), 1 - more);
        hub_capabilities_fini(&found);
        hub_buf_fini(&json);
    }
}

static void test_how_many_are_left_out(void **state)
{
    static const struct {
        const char *json;
        const char *want;
    } CASES[] = {
        {"{\"extensions\":{\"a\":{},\"b\":5}}",
         "extension \"b\" is left out: it must be an object"},
        {"{\"extensions\":{\"a\":5,\"b\":{},\"c\":1,\"d\":[]}}",
         "extension \"a\" is left out: it must be an object (3 are left out in all)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_capabilities found;
        hub_error left_out = {.code = HUB_OK};
        assert_int_equal(hub_extensions_read(hub_str_of(CASES[i].json), &found, &left_out), HUB_OK);
        assert_string_equal(left_out.text, CASES[i].want);
        assert_int_equal(hub_json_count(found.extensions), 1);
        hub_capabilities_fini(&found);
    }
}

/* Those that the server "key" has no room for are named in one line of the log. */
static void expect_no_room(const char *key, const char *names)
{
    char line[512];
    (void)snprintf(line, sizeof line,
                   "tools.dropped toolset=%s reason=\"extensions are left out, since together with "
                   "those of other servers they are too long: %s",
                   key, names);
    const char *found = strstr(fixture.log, line);
    assert_non_null(found);
    assert_null(strstr(found + 1, line));
}

/* Thirty-two large extensions of each of three servers: each has its share, none all of it. */
static void test_all_are_bounded(void **state)
{
    static const char *const KEYS[] = {"a", "b", "c"};
    puppet masters[3];
    char *texts[3];
    (void)state;
    fixture_init(&fixture);
    for (int at = 0; at < 3; at++) {
        hub_buf json;
        hub_buf_init(&json, 200000);
        hub_buf_add(&json, HUB_STR("{\"completions\":{},\"extensions\":{"));
        for (int i = 0; i < HUB_LIMIT_EXTENSIONS; i++) {
            hub_buf_printf(&json, "%s\"%s/%d\":{\"x\":\"%04000d\"}", i > 0 ? "," : "", KEYS[at], i,
                           0);
        }
        hub_buf_add(&json, HUB_STR("}}"));
        texts[at] = hub_buf_take(&json);
        masters[at] = (puppet){.capabilities = texts[at]};
        (void)fixture_toolset(&fixture, KEYS[at], &masters[at], false);
    }
    fixture_start(&fixture);
    client *modern = client_open(&fixture, MODERN);
    client_request(modern, "1", "server/discover", "");
    const char *told = client_reply(modern, "1");
    assert_contains(told, "\"completions\":{}");
    assert_contains(told, "\"a/0\":{");
    assert_contains(told, "\"a/15\":{");
    assert_lacks(told, "\"a/16\":{"); /* 65 KB */
    assert_contains(told, "\"b/0\":{");
    assert_lacks(told, "\"b/8\":{");
    assert_contains(told, "\"c/0\":{");
    assert_lacks(told, "\"c/4\":{");
    assert_true(strlen(told) < 2 * HUB_LIMIT_ALL_EXTENSIONS_BYTES);
    client_request(modern, "2", "server/discover", "");
    (void)client_reply(modern, "2");
    expect_no_room("a", "a/16,a/17,");
    expect_no_room("b", "b/8,b/9,");
    expect_no_room("c", "c/4,c/5,");
    fixture_stop(&fixture);
    for (int at = 0; at < 3; at++) {
        free(texts[at]);
    }
}

/* What a server has no room for is announced as the next one has it; and logged when it is said again. */
static void test_no_room_is_no_claim(void **state)
{
    hub_buf json;
    (void)state;
    hub_buf_init(&json, 200000);
    hub_buf_add(&json, HUB_STR("{\"extensions\":{"));
    for (int i = 0; i < HUB_LIMIT_EXTENSIONS - 1; i++) {
        hub_buf_printf(&json, "\"a/%d\":{\"x\":\"%04000d\"},", i, 0);
    }
    hub_buf_printf(&json, "\"x/1\":{\"x\":\"%04000d\"}}}", 0);
    char *text = hub_buf_take(&json);
    puppet greedy = {.capabilities = text};
    puppet other = {.capabilities = "{\"extensions\":{\"x/1\":{\"b\":1},\"a/0\":{\"b\":2}}}"};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "a", &greedy, false);
    (void)fixture_toolset(&fixture, "b", &other, false);
    fixture_start(&fixture);
    expect_announced(",\"x/1\":{\"b\":1}}");
    expect_no_room("a", "a/16,");
    assert_null(strstr(fixture.log, "tools.dropped toolset=b"));
    fixture.log[0] = '\0';
    fixture.log_len = 0;
    expect_announced(",\"x/1\":{\"b\":1}}");
    assert_null(strstr(fixture.log, "tools.dropped"));
    const puppet_instance *a = greedy.latest;
    assert_int_equal(a->catalog->set_capabilities(a->host, puppet_str(text)), PATCHBAY_OK);
    expect_announced(",\"x/1\":{\"b\":1}}");
    expect_no_room("a", "a/16,");
    fixture_stop(&fixture);
    free(text);
}

/* The union of what is active: of an extension, the first one's. */
static void test_union(void **state)
{
    puppet a = {.prompts = "[]", .capabilities = "{\"extensions\":{\"x/1\":{\"a\":1}}}"};
    puppet b = {.capabilities = "{\"logging\":{},\"extensions\":{\"x/1\":{\"b\":1},\"x/2\":{}}}"};
    puppet off = {.resources = "[]", .capabilities = "{\"completions\":{}}"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "a", &a, false);
    (void)fixture_toolset(&fixture, "b", &b, false);
    fixture_toolset(&fixture, "off", &off, false)->active = false;
    fixture_start(&fixture);
    expect_announced(TOOLS ",\"prompts\":{\"listChanged\":true},\"logging\":{},"
                           "\"extensions\":{\"x/1\":{\"a\":1},\"x/2\":{}}}");
    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "enable_toolset", "{\"toolset\":\"off\"}");
    (void)client_ask(c, "2", "disable_toolset", "{\"toolset\":\"a\"}");
    expect_announced(TOOLS ",\"resources\":{\"listChanged\":true},\"completions\":{},"
                           "\"logging\":{},\"extensions\":{\"x/1\":{\"b\":1},\"x/2\":{}}}");
    fixture_stop(&fixture);
}

/* What is said later replaces what was said before. */
static void test_replaced(void **state)
{
    puppet master = {.capabilities = "{\"logging\":{}}"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, false);
    fixture_start(&fixture);
    const puppet_instance *t = master.latest;
    assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str(" {\"completions\":{}} ")),
                     PATCHBAY_OK);
    expect_announced(TOOLS ",\"completions\":{}}");
    fixture_stop(&fixture);
}

/* Of a toolset that nobody has asked yet everything is announced that it may have. */
static void test_unknown(void **state)
{
    echo e = {.puppet = {.on_call = echo_on_call, .defers = 1}, .holds = true};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &e.puppet, true);
    fixture_start(&fixture);
    static const char all[] = TOOLS
        ",\"resources\":{\"subscribe\":true,\"listChanged\":true},"
        "\"prompts\":{\"listChanged\":true},\"completions\":{},\"logging\":{}"; /* and tasks */
    expect_announced(all);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    puppet_instance *t = e.puppet.latest;
    assert_int_equal(t->api->set_tools(t->host, puppet_str("[" TOOL("a") "]")), PATCHBAY_OK);
    expect_announced(all); /* it has not said all yet */
    assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str("{\"logging\":{}}")),
                     PATCHBAY_OK);
    (void)puppet_finish(t, echo_last(&e)->call, "{}");
    (void)client_wait(c, "1");
    expect_announced(TOOLS ",\"logging\":{}}");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_per_toolset),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_how_many_are_left_out),
        cmocka_unit_test(test_all_are_bounded),
        cmocka_unit_test(test_no_room_is_no_claim),
        cmocka_unit_test(test_union),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
