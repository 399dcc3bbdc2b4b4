/* SPDX-License-Identifier: Apache-2.0 */
/* Resources, templates, prompts and completion: listed, found, handed over, in both eras. */
#include "echo_puppet.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"

static hub_fixture fixture;

/* Ask, and give the whole reply. */
static const char *ask(client *c, const char *method, const char *params)
{
    client_clear(c);
    client_request(c, "1", method, params);
    return client_wait(c, "1");
}

static echo make_echo(void)
{
    return (echo){.puppet = {.on_call = echo_on_call}};
}

static void start_one(echo *e)
{
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &e->puppet, false);
    fixture_start(&fixture);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* S5.20 … S5.28: definitions pass byte for byte, but for the name of a prompt; sorted. */
static void test_lists(void **state)
{
    static const char resource[] = "{ \"name\":\"R\\u00e9\" , \"x\":1e300,\"uri\":\"b:\\/1\"}";
    static const char template[] = "{\"uriTemplate\":\"b:/{id}\",\"name\":\"T\",\"_meta\":{}}";
    echo e = make_echo();
    char resources[256];
    char templates[256];
    (void)state;
    (void)snprintf(resources, sizeof resources, "[%s,%s]", resource, RESOURCE("a:1"));
    (void)snprintf(templates, sizeof templates, "[%s]", template);
    e.puppet.resources = resources;
    e.puppet.templates = templates;
    e.puppet.prompts = "[{\"title\":\"P\",\"name\":\"p one\",\"y\":[1 , 2]},{\"name\":\"a\"}]";
    start_one(&e);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    client *const both[] = {legacy, modern};
    for (size_t i = 0; i < 2; i++) {
        char want[512];
        (void)snprintf(want, sizeof want, "{\"resources\":[%s,%s]", RESOURCE("a:1"), resource);
        assert_contains(ask(both[i], "resources/list", ""), i == 0 ? want : want + 1);
        (void)snprintf(want, sizeof want, "\"resourceTemplates\":[%s]", template);
        assert_contains(ask(both[i], "resources/templates/list", ""), want);
        assert_contains(ask(both[i], "prompts/list", ""),
                        "\"prompts\":[{\"name\":\"t__a\"},"
                        "{\"title\":\"P\",\"name\":\"t__p_one\",\"y\":[1 , 2]}]");
    }
    static const char *const LISTS[] = {"resources/list", "resources/templates/list",
                                        "prompts/list"};
    for (size_t i = 0; i < 3; i++) { /* server/utilities/caching */
        assert_contains(ask(modern, LISTS[i], ""), ",\"ttlMs\":0,\"cacheScope\":\"private\"");
        assert_contains(ask(modern, LISTS[i], ""), "{\"resultType\":\"complete\",");
        assert_lacks(ask(legacy, LISTS[i], ""), "ttlMs");
    }
    fixture_stop(&fixture);
}

/* A cursor leads on in its own list, and in no other. */
static void test_pages(void **state)
{
    echo e = make_echo();
    (void)state;
    e.puppet.tools = "[" TOOL("a") "," TOOL("b") "]";
    e.puppet.resources = "[" RESOURCE("u:1") "," RESOURCE("u:2") "," RESOURCE("u:3") "]";
    e.puppet.templates = "[" TEMPLATE("v:{a}") "," TEMPLATE("w:{a}") "]";
    e.puppet.prompts = "[" PROMPT("x") "," PROMPT("y") "]";
    fixture_init(&fixture);
    fixture.settings.limits.list_page = 1;
    (void)fixture_toolset(&fixture, "t", &e.puppet, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    static const struct {
        const char *method;
        const char *second;
    } LISTS[] = {{"resources/list", "u:2"},
                 {"resources/templates/list", "w:{a}"},
                 {"prompts/list", "t__y"},
                 {"tools/list", "disable_toolset"}};
    for (size_t i = 0; i < 4; i++) {
        char cursor[512];
        char params[600];
        const char *first = ask(c, LISTS[i].method, "");
        assert_lacks(first, LISTS[i].second);
        assert_contains(first, "\"nextCursor\":\"");
        assert_int_equal(sscanf(strstr(first, "\"nextCursor\":\"") + 14, "%511[0-9a-f]", cursor),
                         1);
        (void)snprintf(params, sizeof params, "\"cursor\":\"%s\"", cursor);
        for (size_t k = 0; k < 4; k++) {
            assert_contains(ask(c, LISTS[k].method, params),
                            k == i ? LISTS[i].second : "\"code\":-32602");
        }
    }
    fixture_stop(&fixture);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The toolset gets its own URI, decoded, and the params as they came. */
static void test_read(void **state)
{
    echo e = make_echo();
    (void)state;
    e.puppet.resources = "[" RESOURCE("a:1") "]";
    start_one(&e);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    assert_string_equal(ask(legacy, "resources/read", "\"uri\":\"a\\u003a1\",\"z\":1.10"),
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"contents\":[{\"uri\":\"a:1\","
                        "\"text\":\"T\"}]}}");
    assert_string_equal(echo_last(&e)->method, "resources/read");
    assert_string_equal(echo_last(&e)->tool, "a:1");
    assert_string_equal(echo_last(&e)->name_json, "\"a\\u003a1\"");
    assert_string_equal(echo_last(&e)->params, "{\"uri\":\"a\\u003a1\",\"z\":1.10}");
    assert_string_equal(echo_last(&e)->args, "{}");
    assert_contains(ask(modern, "resources/read", "\"uri\":\"a:1\""),
                    "\"result\":{\"resultType\":\"complete\",\"ttlMs\":0,"
                    "\"cacheScope\":\"private\",\"contents\":[");
    fixture_stop(&fixture);
}

/* server/resources, Error Handling: each era has its code. */
static void test_read_unknown(void **state)
{
    echo e = make_echo();
    (void)state;
    e.puppet.resources = "[" RESOURCE("a:1") "]";
    start_one(&e);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    assert_contains(
        ask(legacy, "resources/read", "\"uri\":\"a:2\""),
        "\"error\":{\"code\":-32002,\"message\":\"Resource not found: a:2\","
        "\"data\":{\"uri\":\"a:2\",\"code\":\"TOOL_INVALID_INPUT\",\"retryable\":false}}");
    assert_contains(
        ask(modern, "resources/read", "\"uri\":\"a:2\""),
        "\"error\":{\"code\":-32602,\"message\":\"Resource not found: a:2\","
        "\"data\":{\"uri\":\"a:2\",\"code\":\"TOOL_INVALID_INPUT\",\"retryable\":false}}");
    static const char *const BAD[] = {"", "\"uri\":1", "\"uri\":\"\"", "\"uri\":null"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_contains(ask(legacy, "resources/read", BAD[i]), "\"code\":-32602");
        assert_contains(ask(legacy, "resources/subscribe", BAD[i]), "\"code\":-32602");
        assert_contains(ask(legacy, "resources/unsubscribe", BAD[i]), "\"code\":-32602");
    }
    assert_int_equal(e.count, 0);
    fixture_stop(&fixture);
}

/* server/resources, Error Handling: a toolset's error in the code of the client's era, and nothing
 * else of it changed. */
static void test_read_missing(void **state)
{
    static const struct {
        const char *error;
        const char *legacy; /* NULL: as it is */
        const char *modern;
    } CASES[] = {
        {"{\"code\":-32002,\"message\":\"m\",\"data\":{\"uri\":\"a:1\",\"x\":1.0}}", NULL,
         "{\"code\":-32602,\"message\":\"m\",\"data\":{\"uri\":\"a:1\",\"x\":1.0}}"},
        {"{\"message\":\"m\",\"code\": -32002 ,\"z\":[]}", NULL,
         "{\"message\":\"m\",\"code\": -32602 ,\"z\":[]}"},
        {"{\"code\":-32602,\"message\":\"m\",\"data\":{\"uri\":\"a:1\"}}",
         "{\"code\":-32002,\"message\":\"m\",\"data\":{\"uri\":\"a:1\"}}", NULL},
        {"{\"code\":-32602,\"message\":\"bad\"}", NULL, NULL},
        {"{\"code\":-32602,\"message\":\"bad\",\"data\":{\"uri\":1}}", NULL, NULL},
        {"{\"code\":-32603,\"message\":\"m\",\"data\":{\"uri\":\"a:1\"}}", NULL, NULL},
    };
    echo e = make_echo();
    (void)state;
    e.puppet.resources = "[" RESOURCE("a:1") "]";
    e.puppet.prompts = "[" PROMPT("p") "]";
    e.holds = true;
    start_one(&e);
    client *clients[] = {client_open(&fixture, LEGACY), client_open(&fixture, MODERN)};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        for (int is_modern = 0; is_modern <= 1; is_modern++) {
            const char *other = is_modern ? CASES[i].modern : CASES[i].legacy;
            client *c = clients[is_modern];
            client_clear(c);
            client_request(c, "1", "resources/read", "\"uri\":\"a:1\"");
            const puppet_instance *t = e.puppet.latest;
            (void)t->api->finish(t->host, echo_last(&e)->call, PATCHBAY_RPC_ERROR,
                                 puppet_str(CASES[i].error));
            assert_contains(client_reply(c, "1"), other != NULL ? other : CASES[i].error);
        }
    }
    /* basic/index, Error Codes: a modern client never sees -32002, whatever it asked for. */
    client_request(clients[1], "2", "prompts/get", "\"name\":\"t__p\"");
    (void)e.puppet.latest->api->finish(e.puppet.latest->host, echo_last(&e)->call,
                                       PATCHBAY_RPC_ERROR, puppet_str(CASES[0].error));
    assert_contains(client_reply(clients[1], "2"), CASES[0].modern);
    client_request(clients[0], "2", "prompts/get", "\"name\":\"t__p\""); /* and this is a prompt */
    (void)e.puppet.latest->api->finish(e.puppet.latest->host, echo_last(&e)->call,
                                       PATCHBAY_RPC_ERROR, puppet_str(CASES[2].error));
    assert_contains(client_reply(clients[0], "2"), CASES[2].error);
    fixture_stop(&fixture);
}

/* HUB_LIMIT_URI_BYTES, and one more. */
static void test_long_uri(void **state)
{
    echo e = make_echo();
    char params[HUB_LIMIT_URI_BYTES + 16];
    (void)state;
    e.puppet.templates = "[" TEMPLATE("a:{x}") "]";
    start_one(&e);
    client *c = client_open(&fixture, LEGACY);
    for (int extra = 0; extra <= 1; extra++) {
        (void)snprintf(params, sizeof params, "\"uri\":\"a:%0*d\"", HUB_LIMIT_URI_BYTES - 2 + extra,
                       0);
        assert_contains(ask(c, "resources/read", params),
                        extra == 0 ? "\"result\"" : "a string of 1 to 2048 bytes");
    }
    fixture_stop(&fixture);
}

/* A URI that no list has goes to the toolset whose template fits best. */
static void read_by_template(const char *wide_key)
{
    echo wide = make_echo();
    echo narrow = make_echo();
    wide.puppet.templates = "[" TEMPLATE("x://{+all}") "]";
    narrow.puppet.templates = "[" TEMPLATE("x://a/{id}/data") "," TEMPLATE("f:///{path}") "]";
    narrow.puppet.resources = "[" RESOURCE("x://a/1") "]";
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, wide_key, &wide.puppet, false);
    (void)fixture_toolset(&fixture, "one", &narrow.puppet, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    static const struct {
        const char *uri;
        int owner; /* 0: nobody, 1: wide, 2: narrow */
    } CASES[] = {
        {"x://a/7/data", 2}, {"x://a/7/8/data", 1}, {"x://b", 1},  {"x://a/1", 2},
        {"x://", 0},         {"y://a", 0},          {"f:///a", 2}, {"f:///a/b.c", 2},
        {"f:///", 0},        {"f:///a?b", 2},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char params[128];
        wide.count = 0;
        narrow.count = 0;
        (void)snprintf(params, sizeof params, "\"uri\":\"%s\"", CASES[i].uri);
        const char *reply = ask(c, "resources/read", params);
        assert_int_equal(wide.count, CASES[i].owner == 1);
        assert_int_equal(narrow.count, CASES[i].owner == 2);
        assert_contains(reply, CASES[i].owner == 0 ? "\"code\":-32002" : CASES[i].uri);
    }
    fixture_stop(&fixture);
}

/* … wherever it stands in the list. */
static void test_templates(void **state)
{
    (void)state;
    read_by_template("all");
    read_by_template("zall");
}

/* DESIGN, Exposure: two toolsets with one URI. The first keeps it, the second has one of its own.
 */
static void test_shared_uri(void **state)
{
    echo a = make_echo();
    echo b = make_echo();
    (void)state;
    a.puppet.resources = "[" RESOURCE("x://r") "]";
    b.puppet.resources = "[" RESOURCE("x://r") "]";
    a.puppet.templates = "[" TEMPLATE("x://t/{i}") "]";
    b.puppet.templates = "[" TEMPLATE("x://t/{i}") "]";
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "a", &a.puppet, true);
    (void)fixture_toolset(&fixture, "b", &b.puppet, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(ask(c, "resources/list", ""),
                    "[" RESOURCE("x://r") "," RESOURCE("patchbay:b/x://r") "]");
    assert_contains(ask(c, "resources/templates/list", ""),
                    "[" TEMPLATE("x://t/{i}") "," TEMPLATE("patchbay:b/x://t/{i}") "]");
    static const struct {
        const char *asked;
        const char *got;
        bool is_b;
    } CASES[] = {
        {"x://r", "x://r", false},
        {"patchbay:b/x://r", "x://r", true},
        {"x://t/1", "x://t/1", false},
        {"patchbay:b/x://t/1", "x://t/1", true},
        {"patchbay:a/x://r", "x://r", false}, /* who means a toolset may always say so */
        {"patchbay:a/x://t/1", "x://t/1", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char params[128];
        (void)snprintf(params, sizeof params, "\"uri\":\"%s\"", CASES[i].asked);
        assert_contains(ask(c, "resources/read", params), CASES[i].got);
        assert_string_equal(echo_last(CASES[i].is_b ? &b : &a)->tool, CASES[i].got);
        assert_int_equal(a.count + b.count, i + 1);
    }
    assert_contains(ask(c, "resources/read", "\"uri\":\"patchbay:c/x://r\""), "-32002");
    assert_contains(ask(c, "resources/read", "\"uri\":\"patchbay:a/x://q\""), "-32002");
    fixture_stop(&fixture);
}

/* A native toolset keeps a URI before an upstream, which has another one then, too. */
static void test_shared_with_native(void **state)
{
    echo up = make_echo();
    echo own = make_echo();
    (void)state;
    up.puppet.resources = "[" RESOURCE("x://r") "]";
    own.puppet.resources = "[" RESOURCE("x://r") "]";
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "a", &up.puppet, true);
    (void)fixture_toolset(&fixture, "b", &own.puppet, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(ask(c, "resources/list", ""),
                    "[" RESOURCE("patchbay:a/x://r") "," RESOURCE("x://r") "]");
    (void)ask(c, "resources/read", "\"uri\":\"x://r\"");
    assert_int_equal(own.count, 1);
    fixture_stop(&fixture);
}

/* A second URI that would be too long to be asked for is none. */
static void test_shared_long_uri(void **state)
{
    enum { FITS = HUB_LIMIT_URI_BYTES - 11 }; /* behind patchbay:b/ */
    static char resources[2][FITS + 64];
    (void)state;
    for (int extra = 0; extra <= 1; extra++) {
        echo a = make_echo();
        echo b = make_echo();
        (void)snprintf(resources[extra], sizeof resources[0],
                       "[{\"uri\":\"x:%0*d\",\"name\":\"\"}]", FITS + extra - 2, 0);
        a.puppet.resources = resources[extra];
        b.puppet.resources = resources[extra];
        fixture_init(&fixture);
        (void)fixture_toolset(&fixture, "a", &a.puppet, true);
        (void)fixture_toolset(&fixture, "b", &b.puppet, true);
        fixture_start(&fixture);
        client *c = client_open(&fixture, LEGACY);
        const char *list = ask(c, "resources/list", "");
        assert_int_equal(strstr(list, "patchbay:b/") != NULL, !extra);
        assert_int_equal(fixture_logged(&fixture, "it is left out"), extra);
        fixture_stop(&fixture);
    }
}

/* Prefixes are for names: a URI is shared in the same way without them. */
static void test_shared_uri_none(void **state)
{
    echo a = make_echo();
    echo b = make_echo();
    (void)state;
    a.puppet.resources = "[" RESOURCE("x://r") "]";
    b.puppet.resources = "[" RESOURCE("x://r") "," RESOURCE("x://s") "]";
    fixture_init(&fixture);
    fixture.profiles[0].naming = HUB_NAMING_NONE;
    (void)fixture_toolset(&fixture, "a", &a.puppet, true);
    (void)fixture_toolset(&fixture, "b", &b.puppet, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(
        ask(c, "resources/list", ""),
        "[" RESOURCE("x://r") "," RESOURCE("patchbay:b/x://r") "," RESOURCE("x://s") "]");
    (void)ask(c, "resources/read", "\"uri\":\"x://r\"");
    assert_int_equal(a.count, 1);
    (void)ask(c, "resources/read", "\"uri\":\"patchbay:b/x://r\"");
    assert_int_equal(b.count, 1);
    fixture_stop(&fixture);
}

/* ---- prompts --------------------------------------------------------------------------------- */

static void test_prompts(void **state)
{
    echo e = make_echo();
    (void)state;
    e.puppet.prompts = "[" PROMPT("p") "]";
    start_one(&e);
    client *kinds[] = {client_open(&fixture, LEGACY), client_open(&fixture, MODERN)};
    for (size_t i = 0; i < 2; i++) {
        client *c = kinds[i];
        assert_contains(ask(c, "prompts/get", "\"name\":\"t__p\",\"arguments\":{\"a\":\"1\"}"),
                        "\"messages\":[");
        assert_string_equal(echo_last(&e)->tool, "p");
        assert_string_equal(echo_last(&e)->name_json, "\"t__p\"");
        assert_string_equal(echo_last(&e)->args, "{\"a\":\"1\"}");
        assert_int_equal(client_count(c, "ttlMs"), 0); /* not among what may be kept */
        (void)ask(c, "prompts/get", "\"name\":\"t__p\"");
        assert_string_equal(echo_last(&e)->args, "{}");
        e.count = 0;
        assert_contains(
            ask(c, "prompts/get", "\"name\":\"p\""),
            "\"code\":-32602,\"message\":\"Unknown prompt: p; did you mean \\\"t__p\\\"?\"");
        assert_contains(ask(c, "prompts/get", ""), "-32602");
        assert_contains(ask(c, "prompts/get", "\"name\":\"t__p\",\"arguments\":[]"), "-32602");
        assert_int_equal(e.count, 0);
    }
    fixture_stop(&fixture);
}

/* Two prompts of one name without prefixes: as two tools, the name is nobody's. */
static void test_prompt_collision(void **state)
{
    echo a = make_echo();
    echo b = make_echo();
    (void)state;
    a.puppet.prompts = "[" PROMPT("p") "]";
    b.puppet.prompts = "[" PROMPT("p") "]";
    fixture_init(&fixture);
    fixture.profiles[0].naming = HUB_NAMING_NONE;
    (void)fixture_toolset(&fixture, "a", &a.puppet, true);
    (void)fixture_toolset(&fixture, "b", &b.puppet, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(ask(c, "prompts/list", ""), "[" PROMPT("a__p") "," PROMPT("b__p") "]");
    assert_contains(ask(c, "prompts/get", "\"name\":\"p\""),
                    "-32602,\"message\":\"The prompt name \\\"p\\\" is ambiguous: use a__p or "
                    "b__p\"");
    (void)ask(c, "prompts/get", "\"name\":\"b__p\"");
    assert_int_equal(a.count, 0);
    assert_int_equal(b.count, 1);
    fixture_stop(&fixture);
}

/* A prompt that changes its list while it is got. */
static void change_list(puppet_instance *instance, patchbay_call call,
                        const patchbay_request *request)
{
    assert_int_equal(instance->catalog->set(instance->host, PATCHBAY_PROMPTS, puppet_str("[]")),
                     PATCHBAY_OK);
    assert_true(hub_str_is(request->tool, "p"));
    (void)puppet_finish(instance, call, "{\"messages\":[]}");
}

static void test_list_changes_under_call(void **state)
{
    echo e = {.puppet = {.on_call = change_list, .prompts = "[" PROMPT("\\u0070") "]"}};
    (void)state;
    start_one(&e);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(ask(c, "prompts/get", "\"name\":\"t__p\""), "\"result\"");
    assert_contains(ask(c, "prompts/get", "\"name\":\"t__p\""), "Unknown prompt");
    fixture_stop(&fixture);
}

/* ---- completion ------------------------------------------------------------------------------ */

#define ARGUMENT ",\"argument\":{\"name\":\"a\",\"value\":\"v\"}"

static void test_completion(void **state)
{
    echo e = make_echo();
    (void)state;
    e.puppet.prompts = "[" PROMPT("p") "]";
    e.puppet.resources = "[" RESOURCE("x:1") "]";
    e.puppet.templates = "[" TEMPLATE("y:{a}") "]";
    start_one(&e);
    client *kinds[] = {client_open(&fixture, LEGACY), client_open(&fixture, MODERN)};
    static const struct {
        const char *ref;
        const char *want;
        const char *name_json;
    } GOOD[] = {
        {"{\"type\":\"ref/prompt\",\"name\":\"t__p\"}", "p", "\"t__p\""},
        {"{\"type\":\"ref/resource\",\"uri\":\"y:{a}\"}", "y:{a}", "\"y:{a}\""},
        {"{\"type\":\"ref/resource\",\"uri\":\"x:1\"}", "x:1", "\"x:1\""},
        {"{\"type\":\"ref/resource\",\"uri\":\"y:7\"}", "y:7", "\"y:7\""},
    };
    static const struct {
        const char *params;
        const char *code;
    } BAD[] = {
        {"\"ref\":{\"type\":\"ref/prompt\",\"name\":\"q\"}" ARGUMENT, "-32602"},
        {"\"ref\":{\"type\":\"ref/resource\",\"uri\":\"z:1\"}" ARGUMENT, "Resource not found"},
        {"\"ref\":{\"type\":\"ref/tool\",\"name\":\"q\"}" ARGUMENT, "-32602"},
        {"\"ref\":\"x\"" ARGUMENT, "-32602"},
        {"\"ref\":{\"type\":\"ref/prompt\",\"name\":\"t__p\"}", "params.argument"},
        {"\"ref\":{\"type\":\"ref/prompt\",\"name\":\"t__p\"},\"argument\":{\"name\":\"a\"}",
         "params.argument"},
        {"\"argument\":{\"name\":\"a\",\"value\":\"v\"}", "-32602"},
    };
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
            char params[256];
            char want[64];
            (void)snprintf(params, sizeof params, "\"ref\":%s" ARGUMENT, GOOD[i].ref);
            (void)snprintf(want, sizeof want, "\"completion\":{\"values\":[\"%s\"]}", GOOD[i].want);
            assert_contains(ask(kinds[k], "completion/complete", params), want);
            assert_string_equal(echo_last(&e)->method, "completion/complete");
            assert_string_equal(echo_last(&e)->name_json, GOOD[i].name_json);
        }
        e.count = 0;
        for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
            assert_contains(ask(kinds[k], "completion/complete", BAD[i].params), BAD[i].code);
        }
        assert_int_equal(e.count, 0);
    }
    fixture_stop(&fixture);
}

/* ---- toolsets that fail, are off, or are late ------------------------------------------------ */

static void refuse(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    (void)request;
    (void)instance->api->finish(instance->host, call, PATCHBAY_NOT_IMPLEMENTED,
                                puppet_str("no such thing"));
}

/* What is no tool call fails with a JSON-RPC error. */
static void test_not_implemented(void **state)
{
    echo e = {.puppet = {.on_call = refuse, .prompts = "[" PROMPT("p") "]"}};
    (void)state;
    start_one(&e);
    client *c = client_open(&fixture, MODERN);
    assert_contains(ask(c, "prompts/get", "\"name\":\"t__p\""),
                    "\"error\":{\"code\":-32601,\"message\":\"no such thing\",\"data\":"
                    "{\"code\":\"TOOL_NOT_IMPLEMENTED\",\"retryable\":false}}");
    fixture_stop(&fixture);
}

/* A toolset that is not active offers nothing of any kind. */
static void test_inactive(void **state)
{
    echo e = make_echo();
    (void)state;
    e.puppet.prompts = "[" PROMPT("p") "]";
    e.puppet.resources = "[" RESOURCE("x:1") "]";
    e.puppet.templates = "[" TEMPLATE("y:{a}") "]";
    fixture_init(&fixture);
    fixture_toolset(&fixture, "t", &e.puppet, false)->active = false;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    for (int is_on = 0; is_on <= 1; is_on++) {
        assert_int_equal(strstr(ask(c, "resources/list", ""), "x:1") != NULL, is_on);
        assert_int_equal(strstr(ask(c, "resources/templates/list", ""), "y:") != NULL, is_on);
        assert_int_equal(strstr(ask(c, "prompts/list", ""), "t__p") != NULL, is_on);
        assert_int_equal(strstr(ask(c, "resources/read", "\"uri\":\"x:1\""), "\"result\"") != NULL,
                         is_on);
        assert_int_equal(strstr(ask(c, "resources/read", "\"uri\":\"y:1\""), "\"result\"") != NULL,
                         is_on);
        assert_int_equal(strstr(ask(c, "prompts/get", "\"name\":\"t__p\""), "\"result\"") != NULL,
                         is_on);
        (void)client_ask(c, "2", is_on ? "disable_toolset" : "enable_toolset",
                         "{\"toolset\":\"t\"}");
    }
    assert_lacks(ask(c, "resources/list", ""), "x:1");
    assert_contains(ask(c, "resources/read", "\"uri\":\"x:1\""), "-32002");
    fixture_stop(&fixture);
}

/* The discovery of a puppet that holds it, or NULL. */
static const echo_request *discovery(const echo *e)
{
    for (size_t i = 0; i < e->count; i++) {
        if (strcmp(e->requests[i].method, PATCHBAY_METHOD_DISCOVER) == 0) {
            return &e->requests[i];
        }
    }
    return NULL;
}

/* Whatever asks for something of a catalog that is not known waits for all of it. */
static void test_late_catalog(void **state)
{
    static const struct {
        const char *method;
        const char *params;
        const char *want;
    } CASES[] = {
        {"resources/list", "", "x:1"},
        {"resources/templates/list", "", "y:{a}"},
        {"prompts/list", "", "t__p"},
        {"resources/read", "\"uri\":\"x:1\"", "contents"},
        {"resources/read", "\"uri\":\"y:1\"", "contents"},
        {"prompts/get", "\"name\":\"t__p\"", "messages"},
        {"completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"t__p\"}" ARGUMENT,
         "completion"},
        {"resources/subscribe", "\"uri\":\"x:1\"", "\"result\":{}"},
        {"resources/read", "\"uri\":\"z:1\"", "Resource not found"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        echo e = make_echo();
        e.puppet.defers = 1;
        e.holds = true;
        fixture_init(&fixture);
        (void)fixture_toolset(&fixture, "t", &e.puppet, true);
        fixture_start(&fixture);
        client *c = client_open(&fixture, LEGACY);
        client_request(c, "1", CASES[i].method, CASES[i].params);
        puppet_instance *up = e.puppet.latest;
        assert_int_equal(up->api->set_tools(up->host, puppet_str("[]")), PATCHBAY_OK);
        fixture_settle(&fixture);
        assert_null(client_reply(c, "1")); /* the tools are known, the rest is not */
        client_request(c, "2", "tools/list", "");
        assert_int_equal(
            up->catalog->set(up->host, PATCHBAY_RESOURCES, puppet_str("[" RESOURCE("x:1") "]")),
            PATCHBAY_OK);
        assert_int_equal(up->catalog->set(up->host, PATCHBAY_RESOURCE_TEMPLATES,
                                          puppet_str("[" TEMPLATE("y:{a}") "]")),
                         PATCHBAY_OK);
        assert_int_equal(
            up->catalog->set(up->host, PATCHBAY_PROMPTS, puppet_str("[" PROMPT("p") "]")),
            PATCHBAY_OK);
        assert_int_equal(up->catalog->set_capabilities(
                             up->host, puppet_str("{\"resources\":{\"subscribe\":true}}")),
                         PATCHBAY_OK);
        e.holds = false;
        assert_non_null(discovery(&e));
        (void)puppet_finish(up, discovery(&e)->call, "{}");
        assert_contains(client_wait(c, "1"), CASES[i].want);
        (void)client_wait(c, "2");
        fixture_settle(&fixture);
        bool has_prompts = strcmp(CASES[i].method, "prompts/list") == 0;
        assert_int_equal(client_count(c, "prompts/list_changed"), !has_prompts);
        fixture_stop(&fixture);
    }
}

/* What people are shown of a toolset. */
static void test_summary(void **state)
{
    echo e = make_echo();
    (void)state;
    e.puppet.tools = "[]";
    e.puppet.prompts = "[" PROMPT("p") "]";
    e.puppet.resources = "[" RESOURCE("x:1") "," RESOURCE("x:2") "]";
    start_one(&e);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(client_ask(c, "1", "describe_toolset", "{\"toolset\":\"t\"}"),
                    "\"toolCount\":0,");
    assert_contains(client_ask(c, "2", "describe_toolset", "{\"toolset\":\"t\"}"),
                    "\"resourceCount\":2,\"promptCount\":1");
    fixture_stop(&fixture);
}

/* ---- catalog/1 ------------------------------------------------------------------------------- */

static void test_bad_lists(void **state)
{
    echo e = make_echo();
    (void)state;
    start_one(&e);
    puppet_instance *t = e.puppet.latest;
    static const char *const BAD[] = {"", "{}", "[", "1", "[]x"};
    for (uint32_t kind = PATCHBAY_TOOLS; kind <= PATCHBAY_PROMPTS; kind++) {
        for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
            assert_int_equal(t->catalog->set(t->host, kind, puppet_str(BAD[i])), PATCHBAY_EINVAL);
        }
        assert_int_equal(t->catalog->set(t->host, kind, puppet_str(" [] ")), PATCHBAY_OK);
    }
    assert_int_equal(t->catalog->set(t->host, PATCHBAY_PROMPTS + 1, puppet_str("[]")),
                     PATCHBAY_EINVAL);
    static const char *const NO_OBJECTS[] = {"", "[]", "{", "1"};
    for (size_t i = 0; i < sizeof NO_OBJECTS / sizeof NO_OBJECTS[0]; i++) {
        assert_int_equal(t->catalog->set_capabilities(t->host, puppet_str(NO_OBJECTS[i])),
                         PATCHBAY_EINVAL);
    }
    fixture_stop(&fixture);
}

/* Lists of another thread, in the order in which they were set. */
static void *set_from_thread(void *arg)
{
    const puppet_instance *t = arg;
    (void)t->catalog->set(t->host, PATCHBAY_PROMPTS, puppet_str("[" PROMPT("old") "]"));
    (void)t->catalog->set(t->host, PATCHBAY_PROMPTS, puppet_str("[" PROMPT("new") "]"));
    (void)t->catalog->set(t->host, PATCHBAY_RESOURCES, puppet_str("[" RESOURCE("n:1") "]"));
    return NULL;
}

static bool has_resource(void *ctx)
{
    (void)ctx;
    const hub_exposure *exposure = hub_profile_exposure(fixture_profile(&fixture));
    return hub_exposure_find(exposure, HUB_REVISION_NONE, HUB_KIND_RESOURCE, HUB_STR("n:1")) !=
           NULL;
}

static void test_set_from_thread(void **state)
{
    echo e = make_echo();
    pthread_t thread;
    (void)state;
    start_one(&e);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(pthread_create(&thread, NULL, set_from_thread, e.puppet.latest), 0);
    fixture_run_until(&fixture, has_resource, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_contains(ask(c, "prompts/list", ""), "[" PROMPT("t__new") "]");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_unknown),
        cmocka_unit_test(test_read_missing),
        cmocka_unit_test(test_long_uri),
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_shared_uri),
        cmocka_unit_test(test_shared_uri_none),
        cmocka_unit_test(test_shared_with_native),
        cmocka_unit_test(test_shared_long_uri),
        cmocka_unit_test(test_prompts),
        cmocka_unit_test(test_prompt_collision),
        cmocka_unit_test(test_list_changes_under_call),
        cmocka_unit_test(test_completion),
        cmocka_unit_test(test_not_implemented),
        cmocka_unit_test(test_inactive),
        cmocka_unit_test(test_late_catalog),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_set_from_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
