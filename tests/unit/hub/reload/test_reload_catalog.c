/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a catalog that is known, or remembered, when the settings of its toolset change
 * while nobody uses it (S5.8, S5.45; RELIABILITY D07). */
#include "reload_support.h"

#include "catalog_file_support.h"
#include "keeper_support.h"

static hub_fixture fixture;
static keeper ups[2];

/* A hub that remembers, with one server. */
static void begin(void)
{
    generations = 0;
    init_keeper(&ups[0], NULL);
    init_keeper(&ups[1], NULL);
    fixture_init(&fixture);
    fixture.settings.cache_folder = cache_folder;
    (void)fixture_toolset(&fixture, "up", &ups[0].master, true);
}

static void stop(void)
{
    fixture_stop(&fixture);
    assert_int_equal(generations, 0);
}

static bool is_remembered(void *ctx)
{
    (void)ctx;
    return count_files(".json", NULL) == 1;
}

/* Start, learn what the first server offers, and write it down. */
static client *learn(void)
{
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    give_catalog(&ups[0], "[" TOOL("old") "]");
    assert_contains(client_wait(c, "1"), "up__old");
    fixture_run_until(&fixture, is_remembered, NULL);
    return c;
}

/* The toolset is to be that server. */
static void be(keeper *up)
{
    (void)snprintf(fixture.configs[1], sizeof fixture.configs[1], "{\"puppet\":\"%zu\"}",
                   (size_t)&up->master);
    fixture.toolsets[0].config_json = fixture.configs[1];
}

/* Enable it: it is asked what it has, since what was known is another one's. */
static void enable_another(client *c)
{
    client_call(c, "3", "enable_toolset", "{\"toolset\":\"up\"}");
    assert_int_equal(ups[1].asked, 1);
    assert_null(client_reply(c, "3"));
    give_catalog(&ups[1], "[" TOOL("new") "]");
    assert_lacks(client_wait(c, "3"), "isError\":true");
    assert_contains(client_list(c, "4"), "up__new");
    assert_lacks(client_list(c, "5"), "up__old");
}

static void test_not_in_use(void **state)
{
    (void)state;
    begin();
    client *c = learn();
    assert_non_null(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"up\"}"));
    be(&ups[1]);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    enable_another(c);
    stop();
}

static void test_taken_out_of_use(void **state)
{
    (void)state;
    begin();
    client *c = learn();
    be(&ups[1]);
    fixture.toolsets[0].active = false;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_false(is_active(&fixture, "up"));
    enable_another(c);
    stop();
}

/* There and back: what is remembered of the first server is true again. */
static void test_back_again(void **state)
{
    (void)state;
    begin();
    client *c = learn();
    assert_non_null(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"up\"}"));
    be(&ups[1]);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    be(&ups[0]);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    client_call(c, "3", "enable_toolset", "{\"toolset\":\"up\"}");
    assert_non_null(client_reply(c, "3"));
    assert_contains(client_list(c, "4"), "up__old");
    assert_int_equal(ups[0].asked, 1);
    stop();
}

/* What was switched off at the start has a catalog on disk, too. */
static void test_switched_on(void **state)
{
    (void)state;
    begin();
    (void)learn();
    stop();
    begin();
    fixture.toolsets[0].enabled = false;
    start_draft(&fixture);
    fixture.toolsets[0].enabled = true;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_contains(client_reply(c, "1"), "up__old"); /* at once */
    assert_int_equal(ups[0].asked, 0);
    stop();
}

/* The file of a module that runs in a process of its own is another program. */
static void test_other_program(void **state)
{
    (void)state;
    begin();
    client *c = learn();
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("up"));
    assert_non_null(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"up\"}"));
    assert_int_equal(hub_toolset_rebind(toolset, &why), HUB_OK);
    assert_int_equal(hub_toolset_count(toolset, HUB_KIND_TOOL), 1); /* the server is the same */
    toolset->settings->is_isolated = true;
    assert_int_equal(hub_toolset_rebind(toolset, &why), HUB_OK);
    assert_int_equal(hub_toolset_count(toolset, HUB_KIND_TOOL), 0);
    stop();
}

/* S4.62, S4.63: a server that is gone, or that is switched off, is logged as one that somebody
 * disabled; nothing that changes nothing. */
static void test_log(void **state)
{
    puppet masters[2] = {{.tools = "[" TOOL("x") "," TOOL("y") "]"}, {.tools = "[" TOOL("z") "]"}};
    (void)state;
    generations = 0;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &masters[0], true);
    (void)fixture_toolset(&fixture, "upper", &masters[1], true);
    start_draft(&fixture);
    fixture.log[fixture.log_len = 0] = '\0';
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_false(fixture_logged(&fixture, "tools.registry"));
    fixture.toolsets[1].enabled = false;
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_true(
        fixture_logged(&fixture, "tools.registry.server.removed serverName=upper removedCount=1"));
    assert_true(
        fixture_logged(&fixture, "tools.registry.updated staticCount=0 mcpCount=2 by=hub\n"));
    fixture.log[fixture.log_len = 0] = '\0';
    remove_from_draft(&fixture, 0);
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_true(
        fixture_logged(&fixture, "tools.registry.server.removed serverName=up removedCount=2"));
    assert_false(fixture_logged(&fixture, "serverName=upper"));
    assert_true(
        fixture_logged(&fixture, "tools.registry.updated staticCount=0 mcpCount=0 by=hub\n"));
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_not_in_use, make_cache_root, remove_cache_root),
        cmocka_unit_test_setup_teardown(test_taken_out_of_use, make_cache_root, remove_cache_root),
        cmocka_unit_test_setup_teardown(test_back_again, make_cache_root, remove_cache_root),
        cmocka_unit_test_setup_teardown(test_switched_on, make_cache_root, remove_cache_root),
        cmocka_unit_test_setup_teardown(test_other_program, make_cache_root, remove_cache_root),
        cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
