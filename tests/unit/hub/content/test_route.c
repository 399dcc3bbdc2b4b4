/* SPDX-License-Identifier: Apache-2.0 */
/* Where URIs lead when toolsets share them, and what tools say of their user interfaces (MCP Apps).
 */
#include "echo_puppet.h"
#include "tools/mapped_uri.h"

#include <stdlib.h>

static hub_fixture fixture;

#define READ "resources/read"

static void make(echo *e)
{
    memset(e, 0, sizeof *e);
    e->puppet.on_call = echo_on_call;
}

static void start_two(echo *a, echo *b)
{
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "a", &a->puppet, true);
    (void)fixture_toolset(&fixture, "b", &b->puppet, true);
    fixture_start(&fixture);
}

static const char *ask(client *c, const char *method, const char *uri)
{
    char params[4096];
    client_clear(c);
    (void)snprintf(params, sizeof params, uri[0] != '\0' ? "\"uri\":\"%s\"" : "%s", uri);
    client_request(c, "1", method, params);
    return client_wait(c, "1");
}

/* ---- the two ways to write one --------------------------------------------------------------- */

static void test_forms(void **state)
{
    static const struct {
        const char *uri;
        const char *mapped;
    } CASES[] = {
        {"x:1", "patchbay:a/x:1"},
        {"file:///d/f", "patchbay:a/file:///d/f"},
        {"ui://app/page?q", "ui://patchbay.a/app/page?q"},
        {"ui://", "ui://patchbay.a/"},
        {"skill://acme/refunds/SKILL.md", "skill://patchbay.a/acme/refunds/SKILL.md"},
        {"ui:app", "patchbay:a/ui:app"},
        {"patchbay:b/x:1", "patchbay:a/patchbay:b/x:1"},
        {"ui://patchbay.b/app", "ui://patchbay.a/patchbay.b/app"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_buf mapped;
        hub_buf_init(&mapped, 256);
        hub_mapped_uri_add(HUB_STR("a"), hub_str_of(CASES[i].uri), &mapped);
        assert_true(hub_str_is(hub_buf_str(&mapped), CASES[i].mapped));
        hub_buf_fini(&mapped);
    }
}

/* Each is reached by the plain URI or by one with its toolset in it. */
static void test_ways(void **state)
{
    static const struct {
        const char *asked;
        char owner; /* 0: nobody */
        const char *own;
    } CASES[] = {
        {"x:1", 'a', "x:1"},
        {"patchbay:a/x:1", 'a', "x:1"},
        {"patchbay:b/x:1", 'b', "x:1"},
        {"ui://app", 'a', "ui://app"},
        {"ui://patchbay.a/app", 'a', "ui://app"},
        {"ui://patchbay.b/app", 'b', "ui://app"},
        {"patchbay:b/ui://app", 'b', "ui://app"},
        {"t:7", 'a', "t:7"}, /* both have it: who became active first */
        {"patchbay:b/t:7", 'b', "t:7"},
        {"patchbay:a/only:b", 0, NULL},
        {"patchbay:c/x:1", 0, NULL},
        {"patchbay:", 0, NULL},
        {"patchbay:a", 0, NULL},
        {"patchbay:a/", 0, NULL},
        {"patchbay:/x:1", 0, NULL},
        {"ui://patchbay.", 0, NULL},
        {"PATCHBAY:a/x:1", 0, NULL},
    };
    echo a;
    echo b;
    (void)state;
    make(&a);
    make(&b);
    a.puppet.resources = "[" RESOURCE("x:1") "," RESOURCE("ui://app") "]";
    b.puppet.resources = "[" RESOURCE("ui://app") "," RESOURCE("x:1") "," RESOURCE("only:b") "]";
    a.puppet.templates = "[" TEMPLATE("t:{zz}") "]";
    b.puppet.templates = "[" TEMPLATE("t:{aa}") "]";
    start_two(&a, &b);
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        a.count = 0;
        b.count = 0;
        const char *reply = ask(c, READ, CASES[i].asked);
        assert_int_equal(a.count, CASES[i].owner == 'a');
        assert_int_equal(b.count, CASES[i].owner == 'b');
        if (CASES[i].owner == 0) {
            assert_contains(reply, "-32002");
        } else {
            assert_string_equal(echo_last(CASES[i].owner == 'a' ? &a : &b)->tool, CASES[i].own);
        }
    }
    /* Who becomes active anew comes last. */
    (void)client_ask(c, "2", "disable_toolset", "{\"toolset\":\"a\"}");
    (void)client_ask(c, "3", "enable_toolset", "{\"toolset\":\"a\"}");
    a.count = 0;
    b.count = 0;
    (void)ask(c, READ, "t:7");
    (void)ask(c, READ, "x:1");
    assert_int_equal(b.count, 2);
    assert_contains(ask(c, "resources/list", ""), "patchbay:a/x:1");
    fixture_stop(&fixture);
}

/* A toolset that offers what looks like another's does not get its requests. */
static void test_imposter(void **state)
{
    echo a;
    echo b;
    (void)state;
    make(&a);
    make(&b);
    a.puppet.resources = "[" RESOURCE("patchbay:b/x:1") "," RESOURCE("patchbay:z/x:1") "]";
    b.puppet.resources = "[" RESOURCE("x:1") "]";
    start_two(&a, &b);
    client *c = client_open(&fixture, LEGACY);
    (void)ask(c, READ, "patchbay:b/x:1");
    assert_int_equal(a.count, 0);
    assert_int_equal(b.count, 1);
    (void)ask(c, READ, "patchbay:a/patchbay:b/x:1");
    assert_int_equal(a.count, 1);
    (void)ask(c, READ, "patchbay:z/x:1"); /* nobody is called so: it is a URI like any other */
    assert_string_equal(echo_last(&a)->tool, "patchbay:z/x:1");
    fixture_stop(&fixture);
}

/* ---- whose catalog comes first --------------------------------------------------------------- */

static void set(const echo *e, uint32_t kind, const char *list)
{
    const puppet_instance *t = e->puppet.latest;
    assert_int_equal(t->catalog->set(t->host, kind, puppet_str(list)), PATCHBAY_OK);
}

/* D06: two upstreams whose catalogs come late, in either order: the lists and the ways are the
 * same, with prefixes and without. */
static void test_arrival(void **state)
{
    char lists[2][4][2048];
    (void)state;
    for (int naming = HUB_NAMING_PREFIX; naming <= HUB_NAMING_NONE; naming++) {
        for (size_t order = 0; order < 2; order++) {
            static const char *const METHODS[] = {"tools/list", "resources/list",
                                                  "resources/templates/list", "prompts/list"};
            echo a;
            echo b;
            make(&a);
            make(&b);
            echo *first = order == 0 ? &a : &b;
            echo *second = order == 0 ? &b : &a;
            a.puppet.defers = 1;
            b.puppet.defers = 1;
            fixture_init(&fixture);
            fixture.profiles[0].naming = (hub_naming)naming;
            fixture.profiles[0].meta_tools = false;
            (void)fixture_toolset(&fixture, "a", &a.puppet, true);
            (void)fixture_toolset(&fixture, "b", &b.puppet, true);
            fixture_start(&fixture);
            for (size_t i = 0; i < 2; i++) {
                const echo *e = i == 0 ? first : second;
                set(e, PATCHBAY_TOOLS, "[" TOOL("same") "," TOOL("x") "]");
                set(e, PATCHBAY_RESOURCES, "[" RESOURCE("x:1") "," RESOURCE("x:2") "]");
                set(e, PATCHBAY_RESOURCE_TEMPLATES, "[" TEMPLATE("t:{a}") "]");
                set(e, PATCHBAY_PROMPTS, "[" PROMPT("p") "]");
            }
            client *c = client_open(&fixture, LEGACY);
            for (size_t i = 0; i < 4; i++) {
                (void)snprintf(lists[order][i], sizeof lists[order][i], "%s",
                               ask(c, METHODS[i], ""));
            }
            (void)ask(c, READ, "x:1");
            (void)ask(c, READ, "t:1");
            assert_int_equal(echo_count(&a, READ), 2);
            assert_int_equal(echo_count(&b, READ), 0);
            fixture_stop(&fixture);
        }
        for (size_t i = 0; i < 4; i++) {
            assert_string_equal(lists[0][i], lists[1][i]);
        }
        assert_contains(lists[0][1], "patchbay:b/x:1");
        assert_contains(lists[0][2], "patchbay:b/t:{a}");
    }
}

/* ---- MCP Apps -------------------------------------------------------------------------------- */

#define ICONS                                                                                      \
    "\"icons\":[{\"src\":\"data:,\",\"x\":1.0}],\"annotations\":{\"readOnlyHint\":true,\"y\":[]}"

static bool hears_of_resources(void *ctx)
{
    return client_count(ctx, "resources/list_changed") > 0;
}

/* A tool's user interface is named as clients have to ask for it; nothing else changes, and nothing
 * does while the URI is its own. */
static void test_apps(void **state)
{
    static const char BEFORE[] =
        "{\"name\":\"n\"," ICONS ",\"_meta\":{\"k\":1e2,\"ui\":{\"csp\":{},"
        "\"resourceUri\":\"ui:\\/\\/app\",\"visibility\":[\"model\"]},"
        "\"ui/resourceUri\":\"ui://app\"},\"inputSchema\":{\"type\":"
        "\"object\"},\"z\":1.50}";
    static const char OF_A[] =
        "{\"name\":\"a__n\"," ICONS ",\"_meta\":{\"k\":1e2,\"ui\":{\"csp\":{},"
        "\"resourceUri\":\"ui:\\/\\/app\",\"visibility\":[\"model\"]},"
        "\"ui/resourceUri\":\"ui://app\"},\"inputSchema\":{\"type\":"
        "\"object\"},\"z\":1.50}";
    static const char OF_B[] =
        "{\"name\":\"b__n\"," ICONS ",\"_meta\":{\"k\":1e2,\"ui\":{\"csp\":{},"
        "\"resourceUri\":\"ui://patchbay.b/app\",\"visibility\":[\"model\"]},"
        "\"ui/resourceUri\":\"ui://patchbay.b/app\"},\"inputSchema\":{"
        "\"type\":\"object\"},\"z\":1.50}";
    static const char B_ALONE[] =
        "{\"name\":\"b__n\"," ICONS ",\"_meta\":{\"k\":1e2,\"ui\":{\"csp\":{},"
        "\"resourceUri\":\"ui:\\/\\/app\",\"visibility\":[\"model\"]},"
        "\"ui/resourceUri\":\"ui://app\"},\"inputSchema\":{\"type\":"
        "\"object\"},\"z\":1.50}";
    static const char PAGE[] = "{\"uri\":\"ui://app\",\"name\":\"app\",\"mimeType\":"
                               "\"text/html;profile=mcp-app\",\"_meta\":{\"ui\":{\"x\":1.0}}}";
    char tools[1024];
    char resources[512];
    echo a;
    echo b;
    (void)state;
    make(&a);
    make(&b);
    (void)snprintf(tools, sizeof tools, "[%s]", BEFORE);
    (void)snprintf(resources, sizeof resources, "[%s]", PAGE);
    a.puppet.tools = tools;
    b.puppet.tools = tools;
    a.puppet.resources = resources;
    b.puppet.resources = resources;
    start_two(&a, &b);
    client *c = client_open(&fixture, LEGACY);
    client *m = client_open(&fixture, MODERN);
    assert_contains(ask(c, "tools/list", ""), OF_A);
    assert_contains(ask(c, "tools/list", ""), OF_B);
    assert_contains(ask(m, "tools/list", ""), OF_B);
    assert_contains(ask(c, "resources/list", ""), PAGE);
    assert_contains(ask(c, "resources/list", ""),
                    "\"uri\":\"ui://patchbay.b/app\",\"name\":\"app\"");
    (void)ask(c, READ, "ui://patchbay.b/app");
    assert_string_equal(echo_last(&b)->tool, "ui://app");
    /* What changes is the other one's resource alone: b's tool is told anew. */
    client_clear(c);
    set(&a, PATCHBAY_RESOURCES, "[]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "tools/list_changed"), 1);
    assert_contains(ask(c, "tools/list", ""), B_ALONE);
    client_clear(c);
    set(&a, PATCHBAY_RESOURCES, "[" RESOURCE("other:") "]");
    fixture_run_until(&fixture, hears_of_resources, c);
    assert_int_equal(client_count(c, "tools/list_changed"), 0);
    fixture_stop(&fixture);
}

/* Members come in any order. */
static void test_apps_in_any_order(void **state)
{
    echo a;
    echo b;
    (void)state;
    make(&a);
    make(&b);
    a.puppet.resources = "[" RESOURCE("ui://app") "]";
    b.puppet.resources = "[" RESOURCE("ui://app") "]";
    b.puppet.tools =
        "[{\"_meta\":{\"ui/resourceUri\":\"ui://app\",\"z\":1.0,\"ui\":{\"resourceUri\":"
        "\"ui://app\"}},\"inputSchema\":{\"type\":\"object\"},\"name\":\"n\"}]";
    start_two(&a, &b);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(ask(c, "tools/list", ""),
                    "{\"_meta\":{\"ui/resourceUri\":\"ui://patchbay.b/app\",\"z\":1.0,\"ui\":{"
                    "\"resourceUri\":\"ui://patchbay.b/app\"}},\"inputSchema\":{\"type\":"
                    "\"object\"},\"name\":\"b__n\"}");
    fixture_stop(&fixture);
}

/* A tool whose resource is nowhere, or that says something else there, stays as it is. */
static void test_odd_apps(void **state)
{
    static const char *const TOOLS[] = {
        "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{\"ui\":{\"resourceUri\":"
        "\"ui://nowhere\"}}}",
        "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{\"ui\":{\"resourceUri\":"
        "7}}}",
        "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{\"ui\":\"ui://app\"}}",
        "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"},\"ui\":{\"resourceUri\":"
        "\"ui://app\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof TOOLS / sizeof TOOLS[0]; i++) {
        char tools[512];
        echo a;
        echo b;
        make(&a);
        make(&b);
        (void)snprintf(tools, sizeof tools, "[%s]", TOOLS[i]);
        a.puppet.resources = "[" RESOURCE("ui://app") "]";
        b.puppet.resources = "[" RESOURCE("ui://app") "]";
        b.puppet.tools = tools;
        start_two(&a, &b);
        client *c = client_open(&fixture, LEGACY);
        assert_contains(ask(c, "tools/list", ""), strchr(TOOLS[i], ','));
        fixture_stop(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),    cmocka_unit_test(test_ways),
        cmocka_unit_test(test_imposter), cmocka_unit_test(test_arrival),
        cmocka_unit_test(test_apps),     cmocka_unit_test(test_apps_in_any_order),
        cmocka_unit_test(test_odd_apps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
