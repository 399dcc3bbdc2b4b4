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
    assert_contains(refused, "hold as much as they may");
    call_of(c, WHOLE_COUNT + 1, last); /* just so many */
    fixture_spin(&fixture, 3);
    assert_int_equal(client_count(c, "elicitation/create"), WHOLE_COUNT + 1);
    assert_int_equal(client_count(c, "hold as much as they may"), 1);
    client_call(c, "10", "t__a", "{}");
    assert_int_equal(client_count(c, "hold as much as they may"), 2);
    client_cancel(c, "3"); /* what it held is free */
    client_call(c, "11", "t__a", "{}");
    fixture_spin(&fixture, 3);
    assert_int_equal(client_count(c, "elicitation/create"), WHOLE_COUNT + 2);
    assert_int_equal(t.count, 0);
    fixture_stop(&fixture);
}

/* Fill what a client may hold; the id of the call that is refused. */
static int fill(client *c, int first)
{
    int id = first;
    for (;; id++) {
        char raw[16];
        size_t before = client_count(c, "hold as much as they may");
        call_of(c, id, LARGE);
        (void)snprintf(raw, sizeof raw, "%d", id);
        if (client_count(c, "hold as much as they may") > before) {
            assert_contains(client_reply(c, raw), "-31001");
            return id;
        }
    }
}

static client *open_as(const char *principal, const char *address)
{
    client *c = client_open_as(&fixture, &(client_options){.kind = LEGACY,
                                                           .principal = principal,
                                                           .capabilities = "{\"elicitation\":{}}"});
    if (address != NULL) {
        hub_session_set_peer(c->session, address);
    }
    return c;
}

/* One who holds all that he may keeps nobody else from being asked: neither another principal nor, of
 * those whom nobody knows, another address. It does not help him to come by another session. */
static void test_one_harms_himself_alone(void **state)
{
    static const struct {
        const char *principal;
        const char *address;
        const char *other;
        const char *other_address;
        const char *named;
    } CASES[] = {
        {"token:eve", NULL, "token:bob", NULL, "the calls of \\\"token:eve\\\" that wait"},
        {"token:eve", "10.0.0.1", "token:bob", "10.0.0.1", "of \\\"token:eve\\\""},
        {"anonymous", "10.0.0.1", "anonymous", "10.0.0.2", "of \\\"anonymous at 10.0.0.1\\\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        start();
        client *eve = open_as(CASES[i].principal, CASES[i].address);
        client *eve_again = open_as(CASES[i].principal, CASES[i].address);
        client *bob = open_as(CASES[i].other, CASES[i].other_address);
        assert_int_equal(fill(eve, 100), 100 + WHOLE_COUNT);
        assert_int_equal(client_count(eve, CASES[i].named), 1);
        assert_int_equal(fill(eve_again, 200), 200);
        call_of(bob, 1, LARGE);
        client_call(bob, "2", "t__a", "{}");
        fixture_spin(&fixture, 3);
        assert_int_equal(client_count(bob, "elicitation/create"), 2);
        client_close(eve); /* what it held is free */
        assert_int_equal(fill(eve_again, 300), 300 + WHOLE_COUNT);
        fixture_stop(&fixture); /* which looks whether all was given back */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_so_many_bytes_wait),
        cmocka_unit_test(test_one_harms_himself_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
