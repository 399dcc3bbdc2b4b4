/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of discovery: who waits for whom, who is asked again, what the log says. */
#include "keeper_support.h"

#include "hub/catalogs/discovery_run.h"

enum { MANY = 5 };

static hub_fixture fixture;
static keeper ups[MANY];

static void begin(size_t count)
{
    static const char *const KEYS[MANY] = {"u0", "u1", "u2", "u3", "u4"};
    fixture_init(&fixture);
    for (size_t i = 0; i < count; i++) {
        init_keeper(&ups[i], NULL);
        (void)fixture_toolset(&fixture, KEYS[i], &ups[i].master, true);
    }
    fixture_start(&fixture);
}

static void fail_asked(keeper *k, const char *why)
{
    assert_int_equal(k->master.latest->api->finish(k->master.latest->host, k->discovery,
                                                   PATCHBAY_UNAVAILABLE, puppet_str(why)),
                     PATCHBAY_OK);
}

static void give(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        give_catalog(&ups[i], "[" TOOL("a") "]");
    }
}

/* What follows `text` in the log, up to the end of the word. */
static void read_word(const char *text, char ret_word[64])
{
    const char *found = strstr(fixture.log, text);
    if (found == NULL) {
        fail_msg("no \"%s\" in the log", text);
    }
    (void)snprintf(ret_word, 64, "%.*s", (int)strcspn(found + strlen(text), " \n"),
                   found + strlen(text));
}

/* S4.59 to S4.64: one run, one trace. */
static void test_events(void **state)
{
    (void)state;
    char begun[64];
    char other[64];
    begin(2);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    read_word("tools.discovery.started serverCount=2 traceId=", begun);
    assert_int_equal(strlen(begun), 32);
    give(0, 1);
    read_word("tools.discovery.server.success serverName=u0 toolCount=1 traceId=", other);
    assert_string_equal(other, begun);
    assert_false(fixture_logged(&fixture, "tools.registry.updated"));
    fail_asked(&ups[1], "no such command");
    read_word("tools.discovery.server.failed serverName=u1 toolCount=0 "
              "errorMessage=\"no such command\" traceId=",
              other);
    assert_string_equal(other, begun);
    read_word("tools.registry.updated staticCount=0 mcpCount=1 traceId=", other);
    assert_string_equal(other, begun);
    assert_false(fixture_logged(&fixture, "tools.registry.server.removed"));
    assert_non_null(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"u0\"}"));
    assert_true(
        fixture_logged(&fixture, "tools.registry.server.removed serverName=u0 removedCount=1"));
    assert_true(fixture_logged(&fixture, "tools.registry.updated staticCount=0 mcpCount=0 by="));
    fixture_stop(&fixture);
}

/* A trace of the client's is kept; what is none is not. */
static void test_traces(void **state)
{
    (void)state;
    static const struct {
        const char *parent;
        bool is_kept;
    } CASES[] = {
        {"\"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01\"", true},
        {"\"00-0123456789ABCDEF0123456789abcdef-0123456789abcdef-01\"", false},
        {"\"00-0123456789abcdef0123456789abcdef\"", false},
        {"\"\"", false},
        {"7", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char meta[256];
        char trace[64];
        begin(1);
        client *c = client_open(&fixture, LEGACY);
        (void)snprintf(meta, sizeof meta, "\"_meta\":{\"traceparent\":%s}", CASES[i].parent);
        client_request(c, "1", "tools/list", meta);
        read_word("serverCount=1 traceId=", trace);
        assert_int_equal(strlen(trace), 32);
        assert_int_equal(strcasecmp(trace, "0123456789abcdef0123456789abcdef") == 0,
                         CASES[i].is_kept);
        fixture_stop(&fixture);
    }
}

/* RELIABILITY U07: when three quarters of those that answer have, a list waits a little for the
 * others, not for discover_timeout (which here never comes). */
static void test_stragglers(void **state)
{
    (void)state;
    begin(MANY);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    uint64_t begin_ms = hub_clock_now_ms();
    fail_asked(&ups[4], "dead"); /* does not count: neither as an answer nor as one to wait for */
    give(0, 3);
    assert_null(client_reply(c, "1"));
    client_call(c, "2", "u3__a", "{}"); /* a call waits on */
    assert_contains(client_wait(c, "1"), "u2__a");
    assert_true(hub_clock_now_ms() - begin_ms >= HUB_LIMIT_STRAGGLER_MS - 10);
    client_request(c, "3", "tools/list", "");
    assert_contains(client_reply(c, "3"), "u0__a"); /* at once */
    assert_null(client_reply(c, "2"));
    give(3, 4);
    assert_int_equal(ups[3].count, 1); /* better late than never */
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 1);
    fixture_stop(&fixture);
}

/* Where straggler_timeout is 0, they are waited for like any other. */
static void test_stragglers_are_waited_for(void **state)
{
    (void)state;
    begin(MANY);
    fixture.settings.limits.straggler_ms = 0;
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    give(0, 4);
    uint64_t begin_ms = hub_clock_now_ms();
    while (hub_clock_now_ms() - begin_ms < 2 * HUB_LIMIT_STRAGGLER_MS) {
        fixture_settle(&fixture);
    }
    assert_null(client_reply(c, "1"));
    give(4, 5);
    assert_contains(client_reply(c, "1"), "u4__a");
    fixture_stop(&fixture);
}

/* With few, the list is complete. */
static void test_few_are_waited_for(void **state)
{
    (void)state;
    begin(3);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    give(0, 2);
    uint64_t begin_ms = hub_clock_now_ms();
    while (hub_clock_now_ms() - begin_ms < 2 * HUB_LIMIT_STRAGGLER_MS) {
        fixture_settle(&fixture);
    }
    assert_null(client_reply(c, "1"));
    give(2, 3);
    assert_contains(client_reply(c, "1"), "u2__a");
    fixture_stop(&fixture);
}

static bool was_asked_again(void *ctx)
{
    (void)ctx;
    return ups[0].asked >= 2;
}

/* RELIABILITY U08, S3.67: a server whose first attempt failed is asked again without anybody's
 * doing; its tools appear, and clients are told once. Lists do not wait for it meanwhile. */
static void test_asked_again(void **state)
{
    (void)state;
    begin(1);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    fail_asked(&ups[0], "no such command");
    assert_non_null(client_reply(c, "1"));
    fixture_run_until(&fixture, was_asked_again, NULL);
    client_request(c, "2", "tools/list", "");
    assert_lacks(client_reply(c, "2"), "u0__a");
    give(0, 1);
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, "list_changed"), 1);
    assert_contains(client_list(c, "3"), "u0__a");
    assert_false(
        ev_is_active(&hub_catalogs_of(hub_find_toolset(fixture.hub, HUB_STR("u0")))->retry) != 0);
    fixture_stop(&fixture);
}

static hub_err told;

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    (void)waiter;
    told = err;
    assert_true(hub_str_is(reason, "too many calls are in flight"));
}

/* One that cannot even be asked has failed like any other: that is logged, and it is tried again.
 */
static void test_no_room_to_ask(void **state)
{
    enum { ROOM = HUB_LIMIT_CALLS };
    static hub_call *calls[ROOM];
    hub_catalog_waiter waiter = {.on_known = on_known};
    size_t count = 0;
    (void)state;
    begin(1);
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("u0"));
    while (count < ROOM &&
           hub_call_begin_internal(fixture.hub, NULL, NULL, &calls[count]) == HUB_OK) {
        count++;
    }
    told = HUB_OK;
    hub_discovery_run *run = hub_discovery_begin(fixture.hub, 1, HUB_STR_EMPTY);
    hub_discovery_want(toolset, &waiter, run);
    hub_discovery_asked(run);
    assert_int_equal(told, HUB_EUNAVAILABLE);
    assert_int_equal(ups[0].asked, 0);
    assert_true(fixture_logged(&fixture, "tools.discovery.server.failed serverName=u0"));
    assert_true(ev_is_active(&hub_catalogs_of(toolset)->retry) != 0);
    assert_false(hub_discovery_is_pending(toolset)); /* no list waits for it */
    while (count > 0) {
        hub_call_drop(calls[--count]);
    }
    fixture_stop(&fixture);
}

static double planned_s(void)
{
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("u0"));
    assert_true(ev_is_active(&hub_catalogs_of(toolset)->retry) != 0);
    ev_now_update(fixture.loop);
    return ev_timer_remaining(fixture.loop, &hub_catalogs_of(toolset)->retry);
}

/* RELIABILITY U09: ever later, never later than a minute, never for the last time. */
static void test_ever_later(void **state)
{
    (void)state;
    static const double DELAYS_S[] = {2, 4, 8, 16, 32};
    enum { TIMES = 40 };
    begin(1);
    client *c = client_open(&fixture, LEGACY);
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("u0"));
    client_request(c, "1", "tools/list", "");
    fail_asked(&ups[0], "dead");
    for (size_t i = 0; i < TIMES; i++) {
        double delay_s = planned_s();
        double most_s = i < sizeof DELAYS_S / sizeof DELAYS_S[0] ? DELAYS_S[i] : 60;
        assert_true(delay_s <= most_s + .01 && delay_s >= most_s * .75 - 1);
        ev_invoke(fixture.loop, &hub_catalogs_of(toolset)->retry,
                  EV_TIMER); /* as if it were time */
        assert_int_equal(ups[0].asked, i + 2);
        fail_asked(&ups[0], "dead");
    }
    client_call(c, "2", "disable_toolset", "{\"toolset\":\"u0\"}");
    assert_false(ev_is_active(&hub_catalogs_of(toolset)->retry) !=
                 0); /* nobody wants it any more */
    fixture_stop(&fixture);
}

/* A run ends, whatever becomes of its toolsets. */
static void test_run_is_left(void **state)
{
    (void)state;
    begin(2);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    client_call(c, "2", "disable_toolset", "{\"toolset\":\"u0\"}");
    assert_int_equal(ups[0].discovery_cancelled, 1);
    assert_null(client_reply(c, "1"));
    client_call(c, "3", "disable_toolset", "{\"toolset\":\"u1\"}");
    assert_non_null(client_reply(c, "1"));
    assert_true(fixture_logged(&fixture, "tools.registry.updated"));
    fixture_stop(&fixture);
}

/* A run is there until the last one that left it has done, also when what it caused takes the
 * others out. */
static void test_run_is_kept(void **state)
{
    (void)state;
    begin(2);
    hub_toolset *first = hub_find_toolset(fixture.hub, HUB_STR("u0"));
    hub_toolset *second = hub_find_toolset(fixture.hub, HUB_STR("u1"));
    hub_discovery_run *run = hub_discovery_begin(fixture.hub, 2, HUB_STR_EMPTY);
    hub_discovery_join(run, first);
    hub_discovery_join(run, second);
    hub_discovery_asked(run);
    hub_discovery_run *left = hub_discovery_leave(first);
    hub_discovery_look_after(hub_discovery_leave(second));
    assert_false(fixture_logged(&fixture, "tools.registry.updated"));
    hub_discovery_count(left);
    assert_int_equal(strlen(hub_discovery_trace(left)), 32);
    hub_discovery_look_after(left);
    assert_true(fixture_logged(&fixture, "tools.registry.updated"));
    fixture_stop(&fixture);
}

enum { BIG_TOOLS = 10000, BIG_TOOL_BYTES = 200 };

static void write_big(hub_buf *json, const char *prefix)
{
    hub_buf_clear(json);
    for (int i = 0; i < BIG_TOOLS; i++) {
        hub_buf_printf(json,
                       "%c{\"name\":\"%s_%d\",\"description\":\"%*s\",\"inputSchema\":{\"type\":"
                       "\"object\"}}",
                       i == 0 ? '[' : ',', prefix, i, BIG_TOOL_BYTES, "");
    }
    hub_buf_add_char(json, ']');
    assert_true(hub_buf_ok(json));
}

/* Go on until the list is read; how often others had their turn meanwhile. */
static unsigned read_on(client *other, int32_t status)
{
    puppet_instance *instance = ups[0].master.latest;
    unsigned turns = 0;
    for (; status == PATCHBAY_EAGAIN; turns++) {
        client_clear(other);
        client_request(other, "9", "ping", "");
        assert_non_null(client_reply(other, "9"));
        status = instance->catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, NULL);
    }
    assert_int_equal(status, PATCHBAY_OK);
    return turns;
}

/* A list that is long is read a part at a time: others are answered between two parts, and nobody sees half a
 * list. What is said meanwhile takes its place. */
static void test_in_turns(void **state)
{
    hub_buf json;
    (void)state;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    begin(1);
    client *c = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    puppet_instance *instance = ups[0].master.latest;
    const patchbay_catalog_v1 *catalog = instance->catalog;
    const hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("u0"));
    assert_int_equal(catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, NULL), PATCHBAY_ESTATE);
    write_big(&json, "one");
    hub_str all = hub_buf_str(&json);
    int32_t status = catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, &all);
    assert_int_equal(status, PATCHBAY_EAGAIN);
    assert_null(client_reply(c, "1"));
    unsigned turns = read_on(other, status);
    assert_true(turns >= all.len / (HUB_LIMIT_CATALOG_PART_BYTES + 1024));
    assert_int_equal(hub_toolset_count(toolset, HUB_KIND_TOOL), BIG_TOOLS);
    (void)puppet_finish(instance, ups[0].discovery, "{}");
    assert_contains(client_reply(c, "1"), "one_0");

    /* The same again is known; another one is dropped for one that comes in between. */
    assert_int_equal(catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, &all), PATCHBAY_OK);
    write_big(&json, "two");
    all = hub_buf_str(&json);
    assert_int_equal(catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, &all), PATCHBAY_EAGAIN);
    assert_int_equal(hub_toolset_count(toolset, HUB_KIND_TOOL), BIG_TOOLS);
    assert_int_equal(instance->api->set_tools(instance->host, puppet_str("[" TOOL("small") "]")),
                     PATCHBAY_OK);
    assert_int_equal(catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, NULL), PATCHBAY_ESTATE);
    assert_int_equal(hub_toolset_count(toolset, HUB_KIND_TOOL), 1);

    /* Other rules while it is read: it is read by these, from the beginning. */
    status = catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, &all);
    assert_int_equal(status, PATCHBAY_EAGAIN);
    status = catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, NULL);
    toolset->settings->overrides = "{\"two_0\":{\"name\":\"mine\"}}";
    (void)read_on(other, status);
    assert_int_equal(hub_toolset_count(toolset, HUB_KIND_TOOL), BIG_TOOLS);
    assert_contains(client_list(c, "3"), "mine");

    /* Too many, which is found on the way; and one that is not read to its end. */
    json.len--;
    hub_buf_add(&json, HUB_STR(",{}]"));
    all = hub_buf_str(&json);
    status = catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, &all);
    while (status == PATCHBAY_EAGAIN) {
        status = catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, NULL);
    }
    assert_int_equal(status, PATCHBAY_ELIMIT);
    assert_true(fixture_logged(&fixture, "10001 tools are more than the limit of 10000"));
    all.len -= 6;
    assert_int_equal(catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, &all), PATCHBAY_EINVAL);
    write_big(&json, "three");
    all = hub_buf_str(&json);
    assert_int_equal(catalog->set_in_turns(instance->host, PATCHBAY_TOOLS, &all), PATCHBAY_EAGAIN);
    fixture_stop(&fixture);
    hub_buf_fini(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_turns),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_stragglers),
        cmocka_unit_test(test_few_are_waited_for),
        cmocka_unit_test(test_stragglers_are_waited_for),
        cmocka_unit_test(test_asked_again),
        cmocka_unit_test(test_no_room_to_ask),
        cmocka_unit_test(test_ever_later),
        cmocka_unit_test(test_run_is_left),
        cmocka_unit_test(test_run_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
