/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait for their users hold so many bytes, and not one more. */
#include "base/limits.h"
#include "hub_fixture.h"
#include "keeper_support.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 4000000, WHOLE_COUNT = HUB_LIMIT_CONFIRM_HELD_BYTES / LARGE };

static hub_fixture fixture;
static keeper t;

/* All tools of a toolset have to be confirmed. */
static void start(void)
{
    static hub_access_rule rule = {.then = HUB_ACCESS_CONFIRM, .reason = "think twice"};
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    fixture.settings.access = (hub_access_settings){
        .is_set = true, .otherwise = HUB_ACCESS_ALLOW, .rules = &rule, .count = 1};
    fixture_start(&fixture);
}

/* A call that is held with so many bytes: its message, and the name of the tool, which has one. */
static void call_of(client *c, int id, size_t bytes)
{
    hub_buf text;
    hub_buf_init(&text, bytes);
    hub_buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{",
                   id);
    hub_buf_add(&text, HUB_STR("\"name\":\"t__a\",\"arguments\":{\"x\":\""));
    hub_str end = HUB_STR("\"}}}");
    char *fill = malloc(bytes);
    assert_non_null(fill);
    memset(fill, 'x', bytes);
    hub_buf_add(&text, (hub_str){.ptr = fill, .len = bytes - 1 - text.len - end.len});
    free(fill);
    hub_buf_add(&text, end);
    assert_true(hub_buf_ok(&text));
    assert_int_equal(text.len, bytes - 1);
    hub_session_receive(c->session, &c->port, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static void test_so_many_bytes_wait(void **state)
{
    (void)state;
    start();
    client *c = client_open_as(
        &fixture, &(client_options){.kind = LEGACY, .capabilities = "{\"elicitation\":{}}"});
    const size_t last = HUB_LIMIT_CONFIRM_HELD_BYTES - (size_t)WHOLE_COUNT * LARGE;
    for (int i = 0; i < WHOLE_COUNT; i++) {
        call_of(c, i, LARGE);
    }
    call_of(c, WHOLE_COUNT, last + 1); /* one byte too many */
    const char *refused = client_reply(c, "8");
    assert_non_null(refused);
    assert_contains(refused, "-31001");
    assert_contains(refused, "too much waits for answers of users");
    call_of(c, WHOLE_COUNT + 1, last); /* just so many */
    fixture_spin(&fixture, 3);
    assert_int_equal(client_count(c, "elicitation/create"), WHOLE_COUNT + 1);
    assert_int_equal(client_count(c, "too much waits for answers of users"), 1);
    client_call(c, "10", "t__a", "{}");
    assert_int_equal(client_count(c, "too much waits for answers of users"), 2);
    client_cancel(c, "3"); /* what it held is free */
    client_call(c, "11", "t__a", "{}");
    fixture_spin(&fixture, 3);
    assert_int_equal(client_count(c, "elicitation/create"), WHOLE_COUNT + 2);
    assert_int_equal(t.count, 0);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_so_many_bytes_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
