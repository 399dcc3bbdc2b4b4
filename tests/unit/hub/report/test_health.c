/* SPDX-License-Identifier: Apache-2.0 */
/* How a toolset's server fares, as its module says it: kept for whoever asks the hub. */
#include "hub_fixture.h"

#include "hub/kernel/toolset.h"

static hub_fixture fixture;

static const hub_toolset_health *health_of(size_t at)
{
    return &fixture.hub->toolsets[at]->health;
}

static void say(const puppet *master, const patchbay_health *health)
{
    const puppet_instance *instance = master->latest;
    instance->catalog->set_health(instance->host, health);
}

static void test_what_is_said_last_is_kept(void **state)
{
    (void)state;
    puppet master = {.tools = "[]"};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &master, true);
    fixture_start(&fixture);
    assert_int_equal(health_of(0)->pid, 0);
    assert_string_equal(health_of(0)->last_error, "");
    const patchbay_health bad = {.struct_size = sizeof bad,
                                 .restarts = 2,
                                 .failures = 3,
                                 .next_attempt_ms = 12345,
                                 .last_error = {.ptr = "exited with code 1", .len = 18}};
    say(&master, &bad);
    assert_int_equal(health_of(0)->restarts, 2);
    assert_int_equal(health_of(0)->failures, 3);
    assert_int_equal(health_of(0)->next_attempt_ms, 12345);
    assert_string_equal(health_of(0)->last_error, "exited with code 1");
    const patchbay_health good = {.struct_size = sizeof good,
                                  .pid = 7,
                                  .restarts = 3,
                                  .protocol = {.ptr = "2026-07-28", .len = 10},
                                  .last_error = bad.last_error};
    say(&master, &good);
    assert_int_equal(health_of(0)->pid, 7);
    assert_int_equal(health_of(0)->next_attempt_ms, 0);
    assert_string_equal(health_of(0)->protocol, "2026-07-28");
    assert_string_equal(health_of(0)->last_error, "exited with code 1");
    fixture_stop(&fixture);
}

/* Texts are cut where they must be, and a struct of an unknown past is not read. */
static void test_what_does_not_fit(void **state)
{
    (void)state;
    char text[1000];
    puppet master = {.tools = "[]"};
    memset(text, 'x', sizeof text);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &master, true);
    fixture_start(&fixture);
    patchbay_health health = {.struct_size = sizeof health,
                              .protocol = {.ptr = text, .len = sizeof text},
                              .last_error = {.ptr = text, .len = sizeof text}};
    say(&master, &health);
    assert_int_equal(strlen(health_of(0)->last_error), sizeof health_of(0)->last_error - 1);
    assert_int_equal(strlen(health_of(0)->protocol), sizeof health_of(0)->protocol - 1);
    health.pid = 9;
    health.struct_size--;
    say(&master, &health);
    assert_int_equal(health_of(0)->pid, 0);
    fixture_stop(&fixture);
}

static void note_question(puppet_instance *instance, patchbay_call call,
                          const patchbay_request *request)
{
    hub_buf *noted = instance->puppet->ctx;
    hub_buf_add(noted, request->params_json);
    (void)instance->api->finish(instance->host, call, PATCHBAY_UNAVAILABLE,
                                (patchbay_str){.ptr = "no", .len = 2});
}

/* U09: who names a toolset has it tried at once, who only lists does not. */
static void test_who_enables_asks_for_now(void **state)
{
    (void)state;
    hub_buf noted;
    puppet master = {.defers = 1, .on_call = note_question, .ctx = &noted};
    hub_buf_init(&noted, 1024);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "2", "tools/list", "");
    (void)client_wait(c, "2");
    assert_true(hub_str_is(hub_buf_str(&noted), "{}"));
    client_call(c, "3", "disable_toolset", "{\"toolset\":\"up\"}");
    (void)client_wait(c, "3");
    client_call(c, "4", "enable_toolset", "{\"toolset\":\"up\"}");
    (void)client_wait(c, "4");
    assert_true(hub_str_is(hub_buf_str(&noted), "{}{\"now\":true}"));
    fixture_stop(&fixture);
    hub_buf_fini(&noted);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        cmocka_unit_test(test_what_is_said_last_is_kept),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_who_enables_asks_for_now),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
