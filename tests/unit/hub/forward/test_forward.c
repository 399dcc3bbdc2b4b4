/* SPDX-License-Identifier: Apache-2.0 */
/* Which headers of clients' requests a module may see: those that its own toolset names
 * (RELIABILITY A10). */
#include "hub_fixture.h"

#include "hub/forward/forward.h"

#include <stdio.h>
#include <stdlib.h>

/* What the next message comes with: name, value, …, NULL. */
static const char *const *came_with;
static size_t asked; /* how often the transport was asked for one */

static bool add_header(hub_port *port, hub_str name, hub_buf *value)
{
    (void)port;
    asked++;
    for (size_t i = 0; came_with != NULL && came_with[i] != NULL; i += 2) {
        if (hub_str_eq_nocase(name, hub_str_of(came_with[i]))) {
            hub_buf_add(value, hub_str_of(came_with[i + 1]));
            return true;
        }
    }
    return false;
}

/* A client whose messages have headers. */
static client *open_http(hub_fixture *f, client_kind kind)
{
    static hub_port_ops ops;
    client *c = client_open(f, kind);
    ops = *c->port.ops;
    ops.add_header = add_header;
    c->port.ops = &ops;
    return c;
}

/* A tool that answers with what it sees of four headers. */
static void show(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    static const char *const NAMES[] = {"Authorization", "x-both", "X-One", "x-never"};
    char text[512];
    size_t len = 0;
    (void)request;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        patchbay_str value =
            instance->client->get_header(instance->host, call, puppet_str(NAMES[i]));
        len += (size_t)snprintf(text + len, sizeof text - len, "[%.*s]", (int)value.len,
                                value.len > 0 ? value.ptr : "");
    }
    char result[600];
    (void)snprintf(result, sizeof result, "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
                   text);
    (void)puppet_finish(instance, call, result);
}

static puppet one = {.tools = "[" TOOL("show") "]", .on_call = show};
static puppet two = {.tools = "[" TOOL("show") "]", .on_call = show};
static puppet none = {.tools = "[" TOOL("show") "]", .on_call = show};

static const char *const NAMES_OF_ONE[] = {"authorization", "X-Both"};
static const char *const NAMES_OF_TWO[] = {"x-both", "X-ONE"};

static void start(hub_fixture *f)
{
    fixture_init(f);
    fixture_toolset(f, "one", &one, false)->forward_headers =
        (hub_names){.items = NAMES_OF_ONE, .count = 2, .set = true};
    fixture_toolset(f, "two", &two, false)->forward_headers =
        (hub_names){.items = NAMES_OF_TWO, .count = 2, .set = true};
    (void)fixture_toolset(f, "none", &none, false);
    fixture_start(f);
    came_with = NULL;
    asked = 0;
}

static const char *const HEADERS[] = {
    "Authorization", "Bearer x", "X-BOTH", "b: c, d", "x-one", "1", "X-Never", "n", NULL};

static void test_what_each_may_see(void **state)
{
    static hub_fixture f;
    (void)state;
    start(&f);
    client *c = open_http(&f, LEGACY);
    came_with = HEADERS;
    assert_contains(client_ask(c, "1", "one__show", "{}"), "[Bearer x][b: c, d][][]");
    assert_contains(client_ask(c, "2", "two__show", "{}"), "[][b: c, d][1][]");
    assert_contains(client_ask(c, "3", "none__show", "{}"), "[][][][]");
    client *modern = open_http(&f, MODERN);
    assert_contains(client_ask(modern, "1", "one__show", "{}"), "[Bearer x][b: c, d][][]");
    fixture_stop(&f);
}

static void test_each_request_has_its_own(void **state)
{
    static const char *const EMPTY[] = {"X-Both", "", NULL};
    static hub_fixture f;
    (void)state;
    start(&f);
    client *c = open_http(&f, LEGACY);
    client *plain = client_open(&f, LEGACY);
    came_with = HEADERS;
    assert_contains(client_ask(c, "1", "one__show", "{}"), "[Bearer x][b: c, d][][]");
    assert_contains(client_ask(plain, "1", "one__show", "{}"), "[][][][]");
    came_with = NULL;
    assert_contains(client_ask(c, "2", "one__show", "{}"), "[][][][]");
    came_with = EMPTY;
    assert_contains(client_ask(c, "3", "one__show", "{}"), "[][][][]");
    fixture_stop(&f);
}

static void test_long_values(void **state)
{
    static hub_fixture f;
    char value[400];
    (void)state;
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    const char *headers[] = {"X-Both", value, "Authorization", value, NULL};
    start(&f);
    client *c = open_http(&f, LEGACY);
    came_with = headers; /* more than a call has room for in itself */
    assert_contains(client_ask(c, "1", "two__show", "{}"), value);
    fixture_stop(&f);
}

/* When nobody wants any, the transport is not even asked. */
static void test_it_costs_nothing(void **state)
{
    static hub_fixture f;
    (void)state;
    fixture_init(&f);
    (void)fixture_toolset(&f, "none", &none, false);
    fixture_start(&f);
    asked = 0;
    client *c = open_http(&f, LEGACY);
    came_with = HEADERS;
    assert_contains(client_ask(c, "1", "none__show", "{}"), "[][][][]");
    assert_int_equal(asked, 0);
    assert_int_equal(hub_forwarded_names(f.hub)->count, 0);
    fixture_stop(&f);
}

static void test_each_name_is_asked_for_once(void **state)
{
    static hub_fixture f;
    (void)state;
    start(&f);
    assert_int_equal(hub_forwarded_names(f.hub)->count, 3);
    client *c = open_http(&f, LEGACY);
    asked = 0;
    client_clear(c);
    (void)client_ask(c, "1", "none__show", "{}");
    assert_int_equal(asked, 3);
    fixture_stop(&f);
}

static void test_lines(void **state)
{
    hub_buf lines;
    hub_str value = HUB_STR_EMPTY;
    (void)state;
    hub_buf_init(&lines, 1024);
    hub_forwarded_add(&lines, HUB_STR("A"), HUB_STR("1:2"));
    hub_forwarded_add(&lines, HUB_STR("Ab"), HUB_STR_EMPTY);
    hub_forwarded_add(&lines, HUB_STR("b"), HUB_STR(" x "));
    assert_true(hub_forwarded_find(hub_buf_str(&lines), HUB_STR("a"), &value));
    assert_true(hub_str_is(value, "1:2"));
    assert_true(hub_forwarded_find(hub_buf_str(&lines), HUB_STR("AB"), &value));
    assert_int_equal(value.len, 0);
    assert_true(hub_forwarded_find(hub_buf_str(&lines), HUB_STR("B"), &value));
    assert_true(hub_str_is(value, " x "));
    assert_false(hub_forwarded_find(hub_buf_str(&lines), HUB_STR("c"), &value));
    assert_false(hub_forwarded_find(hub_buf_str(&lines), HUB_STR_EMPTY, &value));
    assert_false(hub_forwarded_find(HUB_STR_EMPTY, HUB_STR("a"), &value));
    hub_buf_fini(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_each_may_see),
        cmocka_unit_test(test_each_request_has_its_own),
        cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_it_costs_nothing),
        cmocka_unit_test(test_each_name_is_asked_for_once),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
