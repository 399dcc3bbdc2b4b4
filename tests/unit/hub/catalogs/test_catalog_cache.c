/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs that outlive the hub: what is served from the disk, and when it is asked for anew. */
#include "keeper_support.h"

#include <time.h>

#include "catalog_file_support.h"
#include "hub/catalogs/catalog_cache.h"

static hub_fixture fixture;
static keeper up;

/* A hub whose toolset "up" defers its catalog, and which remembers it. */
static hub_toolset_settings *prepare(void)
{
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    fixture.settings.cache_folder = cache_folder;
    return fixture_toolset(&fixture, "up", &up.master, true);
}

static void begin(void)
{
    (void)prepare();
    fixture_start(&fixture);
}

/* One hub learns the catalog and ends. */
static void learn(const char *tools)
{
    begin();
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_int_equal(up.asked, 1);
    give_catalog(&up, tools);
    assert_non_null(client_reply(c, "1"));
    fixture_stop(&fixture);
}

static hub_toolset *toolset(void)
{
    return hub_find_toolset(fixture.hub, HUB_STR("up"));
}

static void set_state(uint32_t state)
{
    puppet_instance *instance = up.master.latest;
    instance->catalog->set_state(instance->host, state, puppet_str("because"));
}

static void set_tools(const char *tools)
{
    puppet_instance *instance = up.master.latest;
    assert_int_equal(instance->api->set_tools(instance->host, puppet_str(tools)), PATCHBAY_OK);
}

static bool was_asked(void *ctx)
{
    return up.asked >= *(unsigned *)ctx;
}

static void wait_asked(unsigned times)
{
    fixture_run_until(&fixture, was_asked, &times);
}

/* ---- served from the disk -------------------------------------------------------------------- */

/* DESIGN, Upstreams: known from the cached catalog; nothing is asked. */
static void test_recalled(void **state)
{
    (void)state;
    learn("[" TOOL("a") "," TOOL("b") "]");
    assert_int_equal(count_files(".json", NULL), 1);
    begin();
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_contains(client_reply(c, "1"), "up__a"); /* at once */
    assert_contains(client_reply(c, "1"), "up__b");
    assert_false(hub_discovery_is_pending(toolset()));
    fixture_settle(&fixture);
    assert_int_equal(up.asked, 0);
    assert_int_equal(client_count(c, "list_changed"), 0);
    client_call(c, "2", "up__a", "{}"); /* the first call is what wakes the server */
    assert_int_equal(up.count, 1);
    answer(&up, 0);
    assert_contains(client_reply(c, "2"), "\"content\":[]");
    fixture_stop(&fixture);
}

/* All that was learnt: every kind of list, what the server can do, of which era it is. */
static void test_all_of_it(void **state)
{
    (void)state;
    begin();
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    puppet_instance *instance = up.master.latest;
    instance->client->expect_input_required(instance->host, 1);
    assert_int_equal(instance->catalog->set_capabilities(
                         instance->host, puppet_str("{\"resources\":{\"subscribe\":true}}")),
                     PATCHBAY_OK);
    static const struct {
        uint32_t kind;
        const char *list;
    } LISTS[] = {
        {PATCHBAY_RESOURCES, "[{\"uri\":\"x:1\",\"name\":\"one\"}]"},
        {PATCHBAY_RESOURCE_TEMPLATES, "[{\"uriTemplate\":\"x:{n}\",\"name\":\"any\"}]"},
        {PATCHBAY_PROMPTS, "[{\"name\":\"ask\"}]"},
    };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            instance->catalog->set(instance->host, LISTS[i].kind, puppet_str(LISTS[i].list)),
            PATCHBAY_OK);
    }
    give_catalog(&up, "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"x\":1.10e0}}]");
    fixture_stop(&fixture);

    begin();
    c = client_open(&fixture, LEGACY);
    assert_contains(client_list(c, "1"), "\"x\":1.10e0");
    client_request(c, "2", "resources/list", "");
    assert_contains(client_reply(c, "2"), "x:1");
    client_request(c, "3", "resources/templates/list", "");
    assert_contains(client_reply(c, "3"), "x:{n}");
    client_request(c, "4", "prompts/list", "");
    assert_contains(client_reply(c, "4"), "up__ask");
    assert_true(toolset()->capabilities.subscribes);
    assert_true(toolset()->is_modern);
    assert_true(toolset()->binding->expects_input);
    assert_int_equal(up.asked, 0);
    fixture_stop(&fixture);
}

/* Enabling needs no server, either. */
static void test_enabled_at_once(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    prepare()->active = false;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "enable_toolset", "{\"toolset\":\"up\"}");
    assert_contains(client_reply(c, "1"), "up");
    assert_lacks(client_reply(c, "1"), "isError\":true");
    assert_contains(client_list(c, "2"), "up__a");
    assert_int_equal(up.asked, 0);
    fixture_stop(&fixture);
}

/* What is not lazy is started all the same, and nobody waits for it. */
static void test_not_lazy(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    prepare()->lazy = false;
    fixture_start(&fixture);
    assert_int_equal(up.asked, 1);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(client_list(c, "1"), "up__a");
    give_catalog(&up, "[" TOOL("b") "]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 1);
    fixture_stop(&fixture);
}

/* For whoever asks what there is now: not served, but replaced. */
static void test_asked_anew(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    (void)prepare();
    fixture.settings.asks_anew = true;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    give_catalog(&up, "[" TOOL("b") "]");
    assert_lacks(client_reply(c, "1"), "up__a");
    fixture_stop(&fixture);
    begin();
    c = client_open(&fixture, LEGACY);
    assert_contains(client_list(c, "1"), "up__b");
    fixture_stop(&fixture);
}

/* Another configuration is another server; `cache: false` and a hub without a folder keep nothing.
 */
static void test_not_remembered(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    (void)prepare();
    char *other = NULL;
    assert_true(asprintf(&other, "{\"other\":1,%s", fixture.configs[0] + 1) > 0);
    fixture.toolsets[0].config_json = other;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    give_catalog(&up, "[" TOOL("other") "]");
    fixture_stop(&fixture);
    free(other);
    assert_int_equal(count_files(".json", NULL), 2);

    prepare()->cache = false;
    fixture_start(&fixture);
    c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    give_catalog(&up, "[" TOOL("c") "]");
    fixture_stop(&fixture);

    (void)prepare();
    fixture.settings.cache_folder = NULL;
    fixture_start(&fixture);
    c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    give_catalog(&up, "[" TOOL("d") "]");
    fixture_stop(&fixture);

    begin(); /* what the first one wrote is there still */
    c = client_open(&fixture, LEGACY);
    assert_contains(client_list(c, "1"), "up__a");
    fixture_stop(&fixture);
}

/* The file says nothing of the configuration, which may hold secrets. */
static void test_no_configuration(void **state)
{
    (void)state;
    char name[CACHE_ENTRY_BYTES];
    hub_buf text;
    learn("[" TOOL("a") "]");
    assert_int_equal(count_files(".json", name), 1);
    read_back(name, &text);
    hub_buf_add_char(&text, '\0');
    assert_null(strstr(text.ptr, "puppet"));
    assert_non_null(strstr(text.ptr, "\"era\":\"legacy\""));
    hub_buf_fini(&text);
}

/* ---- files that are no good ------------------------------------------------------------------ */

/* Ignored with one warning, and replaced when the catalog is learnt. */
static void test_bad_file(void **state)
{
    (void)state;
    char name[CACHE_ENTRY_BYTES];
    hub_buf text;
    learn("[" TOOL("a") "]");
    assert_int_equal(count_files(".json", name), 1);
    put_file(name, HUB_STR("{\"patchbayCatalog\":7}"), 0600);
    begin();
    const char *warning = strstr(fixture.log, "tools.cache.ignored");
    assert_non_null(warning);
    assert_contains(warning, "version 7");
    assert_contains(warning, name);
    assert_null(strstr(warning + 1, "tools.cache.ignored"));
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    give_catalog(&up, "[" TOOL("b") "]");
    fixture_stop(&fixture);
    read_back(name, &text);
    hub_buf_add_char(&text, '\0');
    assert_non_null(strstr(text.ptr, "\"b\""));
    hub_buf_fini(&text);
}

/* A folder that others may write to is not used, which is said once. */
static void test_bad_folder(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    assert_int_equal(chmod(cache_folder, 0777), 0);
    begin();
    assert_true(fixture_logged(&fixture, "tools.cache.ignored"));
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    give_catalog(&up, "[" TOOL("b") "]");
    while (fixture.clients != NULL) {
        client_close(fixture.clients);
    }
    assert_true(hub_orchestrator_destroy(fixture.hub, FIXTURE_LONG_MS));
    assert_true(fixture_logged(&fixture, "tools.cache.not_written"));
    hub_loop_destroy(fixture.loop);
    hub_log_capture(NULL, NULL);
}

/* ---- asked anew ------------------------------------------------------------------------------ */

static int64_t wall_ms(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* S4.3: five minutes old is too old; so is what was learnt in the future. */
static void test_age(void **state)
{
    (void)state;
    enum { TTL_MS = 300000, SLACK_MS = 60000 };
    static const struct {
        int64_t age_ms;
        unsigned asked;
    } CASES[] = {
        {0, 0}, {TTL_MS - SLACK_MS, 0}, {TTL_MS, 1}, {TTL_MS + SLACK_MS, 1}, {-SLACK_MS, 1}};
    learn("[" TOOL("a") "]");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        begin();
        fixture.settings.limits.catalog_ttl_ms = TTL_MS;
        hub_catalogs_of(toolset())->learned_at_ms = wall_ms() - CASES[i].age_ms;
        client *c = client_open(&fixture, LEGACY);
        assert_contains(client_list(c, "1"), "up__a");
        assert_int_equal(up.asked, 0); /* the list has left before anybody is asked */
        assert_int_equal(ev_is_active(&hub_catalogs_with(fixture.hub)->refresh) != 0,
                         CASES[i].asked);
        if (CASES[i].asked > 0) {
            wait_asked(1);
            assert_contains(client_list(c, "2"), "up__a"); /* and nobody waits for the answer */
            client_request(c, "3", "tools/list", "");
            fixture_settle(&fixture);
            assert_int_equal(up.asked, 1); /* once */
        }
        fixture_stop(&fixture);
    }
}

/* Clients are told once of what is different, and not at all when nothing is. S4.60, S4.64. */
static void test_refreshed(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    (void)prepare();
    fixture.settings.limits.catalog_ttl_ms = 0;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(client_list(c, "1"), "up__a");
    wait_asked(1);
    give_catalog(&up, "[" TOOL("a") "]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 0);
    client_request(c, "2", "tools/list",
                   "\"_meta\":{\"traceparent\":"
                   "\"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\"}");
    wait_asked(2);
    give_catalog(&up, "[" TOOL("a") "," TOOL("b") "]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 1);
    assert_true(fixture_logged(&fixture, "tools.discovery.started serverCount=1 "
                                         "traceId=4bf92f3577b34da6a3ce929d0e0e4736"));
    assert_true(fixture_logged(&fixture, "tools.discovery.server.success serverName=up toolCount=2 "
                                         "traceId=4bf92f3577b34da6a3ce929d0e0e4736"));
    fixture_stop(&fixture);
    begin(); /* and it is what is remembered */
    c = client_open(&fixture, LEGACY);
    assert_contains(client_list(c, "1"), "up__b");
    fixture_stop(&fixture);
}

/* S4.6, S4.48: a server that cannot be reached keeps its last good catalog, and is reported; it is
 * not asked again with every list. */
static void test_refresh_fails(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    (void)prepare();
    fixture.settings.limits.catalog_ttl_ms = 0;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    (void)client_list(c, "1");
    wait_asked(1);
    set_state(PATCHBAY_STATE_FAILED);
    assert_int_equal(up.master.latest->api->finish(up.master.latest->host, up.discovery,
                                                   PATCHBAY_UNAVAILABLE, puppet_str("no route")),
                     PATCHBAY_OK);
    assert_true(fixture_logged(&fixture, "tools.discovery.server.failed serverName=up toolCount=1 "
                                         "errorMessage=\"no route\" traceId="));
    assert_contains(client_list(c, "2"), "up__a");
    assert_false(ev_is_active(&hub_catalogs_with(fixture.hub)->refresh) != 0);
    assert_false(ev_is_active(&hub_catalogs_of(toolset())->retry) != 0); /* it has a catalog */
    assert_contains(client_ask(c, "3", "list_toolsets", "{}"), "because");
    assert_int_equal(client_count(c, "list_changed"), 0);
    fixture_stop(&fixture);
}

/* A list that changes while the hub runs is remembered, too. */
static void test_changed_later(void **state)
{
    (void)state;
    learn("[" TOOL("a") "]");
    begin();
    set_state(PATCHBAY_STATE_READY);
    while (!hub_catalog_cache_settle(hub_catalogs_with(fixture.hub)->cache)) {
        fixture_spin(&fixture, 1);
    }
    set_tools("[" TOOL("later") "]");
    fixture_stop(&fixture);
    begin();
    client *c = client_open(&fixture, LEGACY);
    assert_contains(client_list(c, "1"), "up__later");
    fixture_stop(&fixture);
}

/* ---- the server wakes up --------------------------------------------------------------------- */

/* The first call starts the server; a tool that it does not have any more is a clear error. */
static void test_gone_meanwhile(void **state)
{
    (void)state;
    learn("[" TOOL("a") "," TOOL("b") "]");
    begin();
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__a", "{}");
    client_call(c, "2", "up__b", "{}");
    client_call(c, "3", "up__a", "{}");
    assert_int_equal(up.count, 3);
    set_state(PATCHBAY_STATE_CONNECTING);
    set_tools("[" TOOL("b") "," TOOL("c") "]");
    assert_null(client_reply(c, "1"));
    set_state(PATCHBAY_STATE_READY);
    for (int i = 0; i < 2; i++) {
        const char *reply = client_reply(c, i == 0 ? "1" : "3");
        assert_contains(reply, "TOOL_INVALID_INPUT");
        assert_contains(reply, "toolset \\\"up\\\": the server has no tool \\\"a\\\" any more");
    }
    assert_int_equal(up.cancelled, 2); /* they never reach it */
    assert_null(client_reply(c, "2"));
    answer(&up, 1);
    assert_contains(client_reply(c, "2"), "\"content\":[]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 1);
    assert_contains(client_list(c, "4"), "up__c");
    client_call(c, "5", "up__b", "{}"); /* of a server that is awake: its own business */
    set_tools("[]");
    set_state(PATCHBAY_STATE_READY);
    assert_null(client_reply(c, "5"));
    fixture_stop(&fixture);
}

#define CACHE_TEST(test) cmocka_unit_test_setup_teardown(test, make_cache_root, remove_cache_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CACHE_TEST(test_recalled),         CACHE_TEST(test_all_of_it),
        CACHE_TEST(test_not_lazy),         CACHE_TEST(test_asked_anew),
        CACHE_TEST(test_enabled_at_once),  CACHE_TEST(test_not_remembered),
        CACHE_TEST(test_no_configuration), CACHE_TEST(test_bad_file),
        CACHE_TEST(test_bad_folder),       CACHE_TEST(test_age),
        CACHE_TEST(test_refreshed),        CACHE_TEST(test_refresh_fails),
        CACHE_TEST(test_changed_later),    CACHE_TEST(test_gone_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
