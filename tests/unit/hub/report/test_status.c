/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted of the toolsets' calls, and what is told of it. */
#include "hub_fixture.h"

#include "hub/report/status.h"
#include "hub/kernel/toolset.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>

static hub_fixture fixture;

typedef struct answer {
    int32_t status;
    const char *json;
} answer;

static void on_call(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    const answer *with = instance->puppet->ctx;
    (void)request;
    if (with->json != NULL) {
        assert_int_equal(
            instance->api->finish(instance->host, call, with->status, puppet_str(with->json)),
            PATCHBAY_OK);
    }
}

static void start(puppet *master)
{
    master->tools = "[" TOOL("a") "]";
    master->on_call = on_call;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", master, true);
    fixture_start(&fixture);
}

static const hub_status_counts *counts(void)
{
    return hub_status_counts_of(fixture.hub->toolsets[0]);
}

/* Who is connected; without a client, the profile's own. */
static const hub_audience *audience(void)
{
    return fixture.clients != NULL ? hub_session_audience(fixture.clients->session)
                                   : hub_profile_audience(fixture_profile(&fixture));
}

/* The member of the first toolset's status, as raw JSON; empty when it has none. */
static const char *member(const char *name)
{
    static char text[1024];
    hub_buf out;
    hub_buf_init(&out, 65536);
    hub_status_add(audience(), hub_audience_exposure(audience()), &out);
    assert_true(hub_buf_ok(&out));
    hub_str whole;
    assert_int_equal(hub_json_check(hub_buf_str(&out), &whole, NULL), HUB_OK);
    hub_json_iter it = hub_json_iterate(hub_json_get(whole, HUB_STR("toolsets")));
    hub_str key;
    hub_str toolset;
    assert_true(hub_json_next(&it, &key, &toolset));
    hub_str value = hub_json_get(hub_json_get(toolset, HUB_STR("status")), hub_str_of(name));
    (void)snprintf(text, sizeof text, HUB_STR_FMT, HUB_STR_ARG(value));
    hub_buf_fini(&out);
    return text;
}

/* Each way to end counts once, as a call, and as an error when it is one. */
static void test_calls_and_errors(void **state)
{
    static const struct {
        answer with;
        bool is_error;
    } CASES[] = {
        {{PATCHBAY_RESULT, "{\"content\":[]}"}, false},
        {{PATCHBAY_RESULT, "{\"content\":[],\"isError\":true}"}, true},
        {{PATCHBAY_RESULT, "{\"content\":[],\"isError\":false}"}, false},
        {{PATCHBAY_RESULT, "{\"content\":[{\"type\":\"text\",\"text\":\"\\\"isError\\\":true\"}]}"},
         false},
        {{PATCHBAY_RESULT, "{\"content\":[],\"_meta\":{\"isError\":true}}"}, false},
        {{PATCHBAY_RPC_ERROR, "{\"code\":-32603,\"message\":\"x\"}"}, true},
        {{PATCHBAY_UNAVAILABLE, "gone"}, true},
        {{PATCHBAY_FAILED, "broken"}, true},
    };
    (void)state;
    uint64_t errors = 0;
    answer with;
    puppet master = {.ctx = &with};
    start(&master);
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char id[8];
        with = CASES[i].with;
        (void)snprintf(id, sizeof id, "%zu", i + 1);
        assert_non_null(client_ask(c, id, "t__a", "{}"));
        errors += CASES[i].is_error;
        assert_int_equal(counts()->calls, i + 1);
        assert_int_equal(counts()->errors, errors);
    }
    assert_int_equal(counts()->cancelled, 0);
    assert_true(counts()->latency_max_us <= counts()->latency_us);
    assert_string_equal(member("errors"), "4");
    assert_string_equal(member("calls"), "8");
    fixture_stop(&fixture);
}

/* Who waits, how many may, and who got no place. Without max_calls nobody ever waits. */
static void test_load(void **state)
{
    (void)state;
    answer with = {PATCHBAY_RESULT, NULL};
    puppet master = {.ctx = &with};
    start(&master);
    client *c = client_open(&fixture, LEGACY);
    assert_string_equal(member("queueLimit"), "");
    hub_toolset_settings *settings = fixture.hub->toolsets[0]->settings;
    settings->max_calls = 1;
    settings->queue = 2;
    hub_review(fixture.hub);
    for (unsigned i = 1; i <= 5; i++) {
        client_call(c, (const char *[]){"1", "2", "3", "4", "5"}[i - 1], "t__a", "{}");
    }
    assert_string_equal(member("inFlight"), "1");
    assert_string_equal(member("queued"), "2");
    assert_string_equal(member("queueLimit"), "2");
    assert_string_equal(member("refused"), "2");
    assert_string_equal(member("calls"), "0");
    client_close(c);
    assert_string_equal(member("queued"), "0");
    assert_string_equal(member("refused"), "2");
    fixture_stop(&fixture);
}

/* Cancelled, or its client gone: a call, no error, and no part of the latency. */
static void test_cancelled(void **state)
{
    (void)state;
    answer with = {PATCHBAY_RESULT, NULL};
    puppet master = {.ctx = &with};
    start(&master);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    assert_string_equal(member("inFlight"), "2");
    assert_string_equal(member("calls"), "0");
    client_cancel(c, "1");
    assert_string_equal(member("inFlight"), "1");
    client_close(c);
    assert_int_equal(counts()->calls, 2);
    assert_int_equal(counts()->cancelled, 2);
    assert_int_equal(counts()->errors, 0);
    assert_int_equal(counts()->latency_us, 0);
    assert_string_equal(member("inFlight"), "0");
    assert_string_equal(member("latencyMs"), "{\"mean\":0.000,\"max\":0.000}");
    fixture_stop(&fixture);
}

static void test_latency(void **state)
{
    (void)state;
    answer with = {PATCHBAY_RESULT, "{\"content\":[]}"};
    puppet master = {.ctx = &with};
    start(&master);
    *(hub_status_counts *)(uintptr_t)counts() = (hub_status_counts){
        .calls = 5, .cancelled = 2, .latency_us = 4500, .latency_max_us = 1000001};
    assert_string_equal(member("latencyMs"), "{\"mean\":1.500,\"max\":1000.001}");
    fixture_stop(&fixture);
}

/* What its server says of itself, and that none of it but why it has failed outlives the instance. */
static void test_server(void **state)
{
    (void)state;
    answer with = {PATCHBAY_RESULT, "{\"content\":[]}"};
    puppet master = {.ctx = &with};
    start(&master);
    const puppet_instance *instance = master.latest;
    const patchbay_health health = {.struct_size = sizeof health,
                                    .pid = 77,
                                    .restarts = 2,
                                    .failures = 1,
                                    .next_attempt_ms = UINT64_MAX / 2,
                                    .protocol = puppet_str("2025-06-18"),
                                    .last_error = puppet_str("it \"fell\"")};
    assert_string_equal(member("pid"), "");
    assert_string_equal(member("lastError"), "");
    instance->catalog->set_health(instance->host, &health);
    instance->catalog->set_state(instance->host, PATCHBAY_STATE_READY, puppet_str(""));
    assert_string_equal(member("state"), "\"ready\"");
    assert_string_equal(member("pid"), "77");
    assert_string_equal(member("era"), "\"legacy\"");
    assert_string_equal(member("protocol"), "\"2025-06-18\"");
    assert_string_equal(member("restarts"), "2");
    assert_string_equal(member("failures"), "1");
    assert_string_equal(member("lastError"), "\"it \\\"fell\\\"\"");
    assert_true(member("nextAttemptMs")[0] != '\0');
    instance->catalog->set_state(instance->host, PATCHBAY_STATE_FAILED, puppet_str("newest"));
    assert_string_equal(member("state"), "\"failed\"");
    assert_string_equal(member("lastError"), "\"newest\"");

    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_string_equal(member("state"), "\"failed\"");
    assert_string_equal(member("lastError"), "\"newest\"");
    assert_string_equal(member("pid"), "");
    assert_string_equal(member("restarts"), "0");
    (void)client_ask(c, "2", "enable_toolset", "{\"toolset\":\"t\"}");
    assert_string_equal(member("state"), "\"idle\"");
    assert_string_equal(member("protocol"), "");
    assert_string_equal(member("lastError"), "");
    fixture_stop(&fixture);
}

static bool is_ready(char text[256])
{
    hub_buf out;
    hub_buf_init(&out, 255);
    bool has_any = hub_status_add_not_ready(fixture.hub, &out);
    assert_true(hub_buf_ok(&out));
    (void)snprintf(text, 256, HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&out)));
    hub_buf_fini(&out);
    return !has_any;
}

static void test_who_is_not_ready(void **state)
{
    (void)state;
    static const struct {
        uint32_t state;
        const char *says;
    } CASES[] = {
        {PATCHBAY_STATE_IDLE, "[]"}, /* it will be started when somebody needs it */
        {PATCHBAY_STATE_CONNECTING, "[{\"toolset\":\"t\",\"state\":\"connecting\"}]"},
        {PATCHBAY_STATE_READY, "[]"},
        {PATCHBAY_STATE_FAILED, "[{\"toolset\":\"t\",\"state\":\"failed\"}]"},
    };
    char text[256];
    answer with = {PATCHBAY_RESULT, "{\"content\":[]}"};
    puppet master = {.ctx = &with};
    start(&master);
    const puppet_instance *instance = master.latest;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        instance->catalog->set_state(instance->host, CASES[i].state, puppet_str("why"));
        assert_int_equal(is_ready(text), CASES[i].says[1] == ']');
        assert_string_equal(text, CASES[i].says);
    }
    client *c = client_open(&fixture, LEGACY);
    (void)client_ask(c, "1", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_true(is_ready(text));
    fixture_stop(&fixture);
}

/* Both eras may ask; who cannot enable a toolset does not hear of it. */
static void test_the_method(void **state)
{
    (void)state;
    static const client_kind KINDS[] = {LEGACY, MODERN};
    answer with = {PATCHBAY_RESULT, "{\"content\":[]}"};
    puppet master = {.ctx = &with};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        start(&master);
        client *c = client_open(&fixture, KINDS[i]);
        client_request(c, "1", HUB_STATUS_METHOD, "");
        const char *reply = client_wait(c, "1");
        assert_contains(reply, "\"hub\":{\"name\":\"patchbay\"");
        assert_contains(reply, "\"key\":\"t\",\"active\":true,\"status\":{\"state\":\"");
        (void)client_ask(c, "2", "disable_toolset", "{\"toolset\":\"t\"}");
        client_request(c, "3", HUB_STATUS_METHOD, "");
        assert_contains(client_wait(c, "3"), "\"key\":\"t\",\"active\":false");
        fixture_stop(&fixture);
    }
    fixture_init(&fixture);
    hub_toolset_settings *settings = fixture_toolset(&fixture, "hidden", &master, true);
    settings->active = false;
    fixture.profiles[0].meta_tools = false;
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    client_request(c, "1", HUB_STATUS_METHOD, "");
    assert_lacks(client_wait(c, "1"), "hidden");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_and_errors),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_who_is_not_ready),
        cmocka_unit_test(test_the_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
