/* SPDX-License-Identifier: Apache-2.0 */
/* Searches that wait for an index: what one client's may hold (REQUIREMENTS S3.84). */
#include "base/limits.h"
#include "hub_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 2000000, MOST = HUB_LIMIT_SEARCH_WAITING_BYTES / LARGE };

static hub_fixture fixture;
static puppet master;

static client *open_by(const char *principal)
{
    return client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = principal});
}

static void search(client *c, int id, const char *query)
{
    char *arguments = NULL;
    char raw[16];
    (void)snprintf(raw, sizeof raw, "%d", id);
    assert_true(asprintf(&arguments, "{\"query\":\"%s\"}", query) > 0);
    client_call(c, raw, "search_tools", arguments);
    free(arguments);
}

/* The index is made on a thread, and nobody gets an answer before the loop goes on. */
static void test_one_fills_his_share(void **state)
{
    char *large = malloc(LARGE + 1);
    (void)state;
    assert_non_null(large);
    memset(large, 'x', LARGE);
    large[LARGE] = '\0';
    master = (puppet){.tools = "[" TOOL("weather") "]"};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, false);
    fixture.profiles[0].meta_tools = HUB_META_SEARCH;
    fixture_start(&fixture);
    client *eve = open_by("eve");
    client *bob = open_by("bob");
    for (int i = 0; i < MOST; i++) {
        search(eve, i, large);
        assert_int_equal(eve->count, 0);
    }
    search(eve, MOST, large);
    assert_contains(client_reply(eve, "4"), "too many of your searches are waiting");
    search(bob, 1, "weather");
    search(bob, 2, large);
    assert_int_equal(bob->count, 0);
    assert_contains(client_wait(bob, "1"), "t__weather");
    assert_int_equal(eve->count, MOST + 1);
    search(eve, 9, "weather");
    assert_contains(client_wait(eve, "9"), "t__weather");
    free(large);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_fills_his_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
