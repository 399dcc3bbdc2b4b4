/* SPDX-License-Identifier: Apache-2.0 */
/* A module is replaced while its toolset is in use: old calls end on the old instance, new ones go
 * to the new one, and a replacement that does not work changes nothing. */
#include "hub_fixture.h"

#include <patchbay/catalog.h>
#include <stdio.h>

static hub_fixture fixture;
static puppet master;

/* Calls that were not answered, and by whom they were taken. */
static struct {
    puppet_instance *instance;
    patchbay_call call;
    bool is_discovery;
} taken[16];
static size_t taken_count;

static void take(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    taken[taken_count].instance = instance;
    taken[taken_count].call = call;
    taken[taken_count++].is_discovery = hub_str_is(request->method, PATCHBAY_METHOD_DISCOVER);
}

static int32_t answer(size_t at, const char *result)
{
    return puppet_finish(taken[at].instance, taken[at].call, result);
}

static client *start(bool defers)
{
    master = (puppet){.tools = defers ? NULL : "[" TOOL("old") "," TOOL("both") "]",
                      .defers = defers,
                      .on_call = take};
    taken_count = 0;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, defers);
    fixture_start(&fixture);
    return client_open(&fixture, LEGACY);
}

static hub_err rebind(hub_error *why)
{
    return hub_toolset_rebind(hub_find_toolset(fixture.hub, HUB_STR("t")), why);
}

/* DESIGN, Modules: swapped when its last call has ended. */
static void test_calls_in_flight(void **state)
{
    (void)state;
    client *c = start(false);
    client_call(c, "1", "t__old", "{}");
    client_call(c, "2", "t__both", "{}");
    master.tools = "[" TOOL("both") "," TOOL("new") "]";
    assert_int_equal(rebind(NULL), HUB_OK);
    assert_int_equal(master.creates, 2);
    assert_int_equal(c->count, 0);
    client_call(c, "3", "t__both", "{}");
    client_call(c, "4", "t__new", "{}");
    assert_contains(client_ask(c, "5", "t__old", "{}"), "Unknown tool");
    assert_int_equal(taken_count, 4);
    assert_int_equal(taken[0].instance->number, 1);
    assert_int_equal(taken[1].instance->number, 1);
    assert_int_equal(taken[2].instance->number, 2);
    assert_int_equal(taken[3].instance->number, 2);
    assert_int_equal(answer(0, "{\"content\":[1]}"), PATCHBAY_OK);
    fixture_spin(&fixture, 3);
    assert_int_equal(master.destroys, 0); /* one call is left */
    /* What the old one says of tools is not heard any more. */
    assert_int_equal(taken[1].instance->api->set_tools(taken[1].instance->host, puppet_str("[]")),
                     PATCHBAY_OK);
    assert_int_equal(answer(1, "{\"content\":[2]}"), PATCHBAY_OK);
    fixture_spin(&fixture, 3);
    assert_int_equal(master.destroys, 1);
    assert_contains(client_reply(c, "1"), "[1]");
    assert_contains(client_reply(c, "2"), "[2]");
    assert_int_equal(answer(2, "{\"content\":[3]}"), PATCHBAY_OK);
    assert_contains(client_reply(c, "3"), "[3]");
    assert_contains(client_list(c, "6"), "t__new");
    fixture_stop(&fixture);
    assert_int_equal(master.destroys, 2);
}

/* An idle one is swapped at once. A call is only answered by whom it was given to. */
static void test_handles_are_apart(void **state)
{
    (void)state;
    client *c = start(false);
    assert_int_equal(rebind(NULL), HUB_OK);
    fixture_spin(&fixture, 2);
    assert_int_equal(master.destroys, 1);
    client_call(c, "1", "t__both", "{}");
    assert_int_equal(rebind(NULL), HUB_OK);
    client_call(c, "2", "t__both", "{}");
    assert_int_equal(puppet_finish(taken[1].instance, taken[0].call, "{}"), PATCHBAY_ESTALE);
    assert_int_equal(puppet_finish(taken[0].instance, taken[1].call, "{}"), PATCHBAY_ESTALE);
    assert_int_equal(c->count, 0);
    fixture_stop(&fixture);
}

/* The last call of the old instance is cancelled: it hears of that before it ends. */
static void test_cancel_of_last_call(void **state)
{
    (void)state;
    client *c = start(false);
    client_call(c, "1", "t__old", "{}");
    assert_int_equal(rebind(NULL), HUB_OK);
    client_cancel(c, "1");
    assert_int_equal(master.cancels, 1);
    fixture_spin(&fixture, 2);
    assert_int_equal(master.destroys, 1);
    fixture_stop(&fixture);
}

/* A replacement that fails leaves everything as it was: tools, calls, the instance. */
static void test_replacement_fails(void **state)
{
    hub_error why = {.text = ""};
    (void)state;
    client *c = start(false);
    client_call(c, "1", "t__old", "{}");
    master.tools = "[" TOOL("new") "]"; /* it says so, and then fails */
    master.broken = "cannot";
    assert_int_equal(rebind(&why), HUB_EUNAVAILABLE);
    assert_contains(why.text, "cannot");
    fixture_settle(&fixture);
    assert_contains(client_list(c, "2"), "t__old");
    assert_lacks(client_reply(c, "2"), "t__new");
    assert_int_equal(client_count(c, "list_changed"), 0);
    assert_int_equal(answer(0, "{\"content\":[]}"), PATCHBAY_OK);
    client_call(c, "3", "t__old", "{}");
    assert_int_equal(taken_count, 2);
    assert_int_equal(master.destroys, 0);
    fixture_stop(&fixture);
}

/* The new one has no tools at all: the old ones are not called on it. */
static void test_replacement_without_tools(void **state)
{
    (void)state;
    client *c = start(false);
    master.tools = NULL;
    assert_int_equal(rebind(NULL), HUB_OK);
    assert_lacks(client_list(c, "1"), "t__old");
    fixture_stop(&fixture);
}

/* Replaced while it is being asked for its catalog: the new one is asked, who waits goes on
 * waiting. */
static void test_while_discovering(void **state)
{
    (void)state;
    client *c = start(true);
    client_request(c, "1", "tools/list", "");
    assert_int_equal(taken_count, 1);
    assert_true(taken[0].is_discovery);
    assert_int_equal(rebind(NULL), HUB_OK);
    assert_int_equal(master.cancels, 1);
    assert_int_equal(taken_count, 2);
    assert_true(taken[1].is_discovery);
    assert_int_equal(taken[1].instance->number, 2);
    assert_int_equal(answer(0, "{}"), PATCHBAY_ESTALE);
    assert_null(client_reply(c, "1"));
    assert_int_equal(
        taken[1].instance->api->set_tools(taken[1].instance->host, puppet_str("[" TOOL("x") "]")),
        PATCHBAY_OK);
    assert_int_equal(answer(1, "{}"), PATCHBAY_OK);
    assert_contains(client_reply(c, "1"), "t__x");
    /* Once more: the catalog is known by now, and stays until the new one says otherwise. */
    assert_int_equal(rebind(NULL), HUB_OK);
    client_request(c, "2", "tools/list", "");
    assert_contains(client_reply(c, "2"), "t__x");
    fixture_stop(&fixture);
}

/* … and the new one knows its catalog at once. */
static void test_while_discovering_known(void **state)
{
    (void)state;
    client *c = start(true);
    client_request(c, "1", "tools/list", "");
    master.tools = "[" TOOL("x") "]";
    master.defers = false;
    assert_int_equal(rebind(NULL), HUB_OK);
    assert_contains(client_reply(c, "1"), "t__x");
    fixture_stop(&fixture);
}

/* Replaced several times under one long call, then taken down: nothing is lost, nothing leaks. */
static void test_again_and_again(void **state)
{
    (void)state;
    client *c = start(false);
    for (unsigned i = 0; i < 10; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(c, id, "t__both", "{}");
        assert_int_equal(rebind(NULL), HUB_OK);
    }
    assert_int_equal(answer(3, "{\"content\":[]}"), PATCHBAY_OK);
    hub_orchestrator_stop(fixture.hub);
    assert_int_equal(c->count, 10);
    assert_int_equal(master.cancels, 9);
    fixture_stop(&fixture);
    assert_int_equal(master.creates, 11);
    assert_int_equal(master.destroys, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_in_flight),           cmocka_unit_test(test_handles_are_apart),
        cmocka_unit_test(test_cancel_of_last_call),       cmocka_unit_test(test_replacement_fails),
        cmocka_unit_test(test_replacement_without_tools), cmocka_unit_test(test_while_discovering),
        cmocka_unit_test(test_while_discovering_known),   cmocka_unit_test(test_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
