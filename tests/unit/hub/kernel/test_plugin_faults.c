/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that misbehave, and plugins that speak from other threads: answered, counted, survived.
 */
#include "hub_fixture.h"

#include <patchbay/loop.h>
#include <patchbay/worker.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "hub/report/status.h"

static hub_fixture fixture;
static puppet master;
static patchbay_call last; /* the call that came last */

static void keep(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    (void)instance;
    (void)request;
    last = call;
}

static client *start(void (*on_call)(puppet_instance *instance, patchbay_call call,
                                     const patchbay_request *request))
{
    master = (puppet){.tools = "[" TOOL("a") "]", .on_call = on_call};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, false);
    fixture_start(&fixture);
    return client_open(&fixture, LEGACY);
}

static unsigned faults(void)
{
    return hub_instance_faults(hub_find_toolset(fixture.hub, HUB_STR("t"))->binding->instance);
}

static int32_t finish_with(int32_t status, patchbay_str json)
{
    return master.latest->api->finish(master.latest->host, last, status, json);
}

/* ---- what a finish carries ------------------------------------------------------------------- */

/* The contract of finish(): a second one is counted and changes nothing. */
static void test_finish_twice(void **state)
{
    (void)state;
    client *c = start(keep);
    client_call(c, "1", "t__a", "{}");
    assert_int_equal(finish_with(PATCHBAY_RESULT, puppet_str("{\"content\":[]}")), PATCHBAY_OK);
    assert_int_equal(faults(), 0);
    assert_int_equal(finish_with(PATCHBAY_RESULT, puppet_str("{\"content\":[]}")), PATCHBAY_ESTALE);
    assert_int_equal(finish_with(PATCHBAY_FAILED, puppet_str("again")), PATCHBAY_ESTALE);
    assert_int_equal(faults(), 2);
    assert_true(fixture_logged(&fixture, "finished twice"));
    assert_int_equal(c->count, 1);
    fixture_stop(&fixture);
}

/* A finish after a cancel is no fault: the two may cross. */
static void test_finish_after_cancel(void **state)
{
    (void)state;
    client *c = start(keep);
    client_call(c, "1", "t__a", "{}");
    client_cancel(c, "1");
    assert_int_equal(finish_with(PATCHBAY_RESULT, puppet_str("{}")), PATCHBAY_ESTALE);
    assert_int_equal(faults(), 0);
    assert_int_equal(c->count, 0);
    fixture_stop(&fixture);
}

/* B7, C: bad JSON, unknown status, too large: the client is answered, the plugin is blamed. */
static void test_bad_finish(void **state)
{
    static const struct {
        int32_t status;
        const char *json;
    } CASES[] = {
        {PATCHBAY_RESULT, ""},
        {PATCHBAY_RESULT, "{"},
        {PATCHBAY_RESULT, "{}{}"},
        {PATCHBAY_RESULT, "[]"},
        {PATCHBAY_RESULT, "null"},
        {PATCHBAY_RESULT, "{\"a\":\xff}"},
        {PATCHBAY_RESULT, "{\"a\":\"\xed\xa0\x80\"}"},
        {PATCHBAY_RPC_ERROR, "{}"},
        {PATCHBAY_RPC_ERROR, "\"x\""},
        {PATCHBAY_RPC_ERROR, "{\"code\":1}"},
        {PATCHBAY_RPC_ERROR, "{\"code\":\"1\",\"message\":\"x\"}"},
        {PATCHBAY_RPC_ERROR, "{\"code\":1.5,\"message\":\"x\"}"},
        {PATCHBAY_RPC_ERROR, "{\"code\":1,\"message\":null}"},
        {6, "{}"},
        {0xff, "{}"},
        {-1, "{}"},
        {INT32_MIN, "{}"},
    };
    (void)state;
    client *c = start(keep);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        client_call(c, "1", "t__a", "{}");
        assert_int_equal(finish_with(CASES[i].status, puppet_str(CASES[i].json)), PATCHBAY_EINVAL);
        assert_int_equal(c->count, 1);
        assert_contains(client_reply(c, "1"), "TOOL_EXECUTION_FAILED");
        assert_int_equal(faults(), i + 1);
        client_clear(c);
    }
    fixture_stop(&fixture);
}

/* 1 GiB is refused for its length, not read: there is not so much memory behind it. */
static void test_huge_finish(void **state)
{
    (void)state;
    client *c = start(keep);
    client_call(c, "1", "t__a", "{}");
    assert_int_equal(finish_with(PATCHBAY_RESULT, (patchbay_str){.ptr = "{}", .len = 1u << 30}),
                     PATCHBAY_EINVAL);
    assert_contains(client_reply(c, "1"), "too large");
    fixture_stop(&fixture);
}

/* A text without end is cut, at a whole character, and the client is answered all the same. */
static void test_huge_text(void **state)
{
    enum { BIG = 8 * 1024 * 1024 };
    char *text = malloc(BIG);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i + 3 <= BIG; i += 3) {
        memcpy(text + i, "\xe2\x82\xac", 3);
    }
    client *c = start(keep);
    client_call(c, "1", "t__a", "{}");
    assert_int_equal(finish_with(PATCHBAY_FAILED, (patchbay_str){.ptr = text, .len = BIG}),
                     PATCHBAY_OK);
    const char *reply = client_reply(c, "1");
    assert_contains(reply, "TOOL_EXECUTION_FAILED");
    assert_lacks(reply, "\xef\xbf\xbd");
    assert_true(strlen(reply) < 4 * HUB_LIMIT_FAILURE_TEXT_BYTES);
    free(text);
    fixture_stop(&fixture);
}

/* What was scanned by wire/1 is not scanned again, and says itself whether it is typed. */
static void test_scanned(void **state)
{
    (void)state;
    client *c = start(keep);
    client *modern = client_open(&fixture, MODERN);
    (void)c;
    client_call(modern, "1", "t__a", "{}");
    assert_int_equal(
        finish_with(PATCHBAY_RESULT | PATCHBAY_SCANNED, puppet_str("{\"content\":[]}")),
        PATCHBAY_OK);
    assert_contains(client_reply(modern, "1"), "\"resultType\":\"complete\"");
    client_call(modern, "2", "t__a", "{}");
    assert_int_equal(finish_with(PATCHBAY_RESULT | PATCHBAY_SCANNED | PATCHBAY_TYPED,
                                 puppet_str("{\"resultType\":\"other\"}")),
                     PATCHBAY_OK);
    assert_contains(client_reply(modern, "2"), "\"result\":{\"resultType\":\"other\"}");
    client_call(modern, "3", "t__a", "{}");
    assert_int_equal(finish_with(PATCHBAY_RESULT, puppet_str("{\"result\\u0054ype\":\"other\"}")),
                     PATCHBAY_OK);
    assert_lacks(client_reply(modern, "3"), "complete");
    fixture_stop(&fixture);
}

/* Whether a tool has failed is seen as its result is scanned, by the hub or by wire/1; where nobody has
 * said it, the hub looks. */
static void test_failed(void **state)
{
    static const struct {
        int32_t status;
        const char *json;
        uint64_t errors; /* so far */
    } CASES[] = {
        {PATCHBAY_RESULT, "{\"isError\":true}", 1},
        {PATCHBAY_RESULT, "{\"content\":[{\"isError\":true}],\"isError\":false}", 1},
        {PATCHBAY_RESULT, "{\"content\":[],\"is\\u0045rror\":true}", 2},
        {PATCHBAY_RESULT | PATCHBAY_SCANNED, "{\"isError\":true}", 3},
        {PATCHBAY_RESULT | PATCHBAY_SCANNED, "{\"content\":[]}", 3},
        {PATCHBAY_RESULT | PATCHBAY_SCANNED | PATCHBAY_IS_ERROR, "{\"isError\":true}", 4},
        {PATCHBAY_RESULT | PATCHBAY_SCANNED | PATCHBAY_NO_ERROR, "{\"isError\":false}", 4},
    };
    (void)state;
    client *c = start(keep);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%zu", i + 1);
        client_call(c, id, "t__a", "{}");
        assert_int_equal(finish_with(CASES[i].status, puppet_str(CASES[i].json)), PATCHBAY_OK);
        assert_contains(client_reply(c, id), CASES[i].json);
        const hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("t"));
        assert_int_equal(hub_status_counts_of(toolset)->calls, i + 1);
        assert_int_equal(hub_status_counts_of(toolset)->errors, CASES[i].errors);
    }
    fixture_stop(&fixture);
}

/* ---- lists of tools -------------------------------------------------------------------------- */

static void test_set_tools_garbage(void **state)
{
    static const char *const BAD[] = {"", "{", "[", "{}", "null", "[]]", "[\"\xff\"]", "7"};
    (void)state;
    client *c = start(keep);
    const patchbay_host_api *api = master.latest->api;
    patchbay_host *host = master.latest->host;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(api->set_tools(host, puppet_str(BAD[i])), PATCHBAY_EINVAL);
    }
    assert_int_equal(api->set_tools(host, (patchbay_str){.ptr = "[]", .len = 1u << 30}),
                     PATCHBAY_ELIMIT);
    hub_buf many;
    hub_buf_init(&many, SIZE_MAX / 2);
    hub_buf_add_char(&many, '[');
    for (unsigned i = 0; i <= HUB_LIMIT_TOOLS_PER_TOOLSET; i++) {
        hub_buf_printf(&many, "%s7", i > 0 ? "," : "");
    }
    hub_buf_add_char(&many, ']');
    assert_int_equal(api->set_tools(host, hub_buf_str(&many)), PATCHBAY_ELIMIT);
    hub_buf_fini(&many);
    assert_contains(client_list(c, "1"), "t__a"); /* the old list stays */
    /* Bad tools among good ones are left out by name (P15). */
    assert_int_equal(api->set_tools(host, puppet_str("[7,{\"name\":\"x\"}," TOOL(
                                              "b") ","
                                                   "{\"name\":\"y\",\"inputSchema\":{"
                                                   "\"$ref\":\"http://x/\"}}]")),
                     PATCHBAY_OK);
    const char *list = client_list(c, "2");
    assert_contains(list, "t__b");
    assert_lacks(list, "t__x");
    assert_lacks(list, "t__y");
    assert_true(fixture_logged(&fixture, "tool \\\"x\\\" is left out"));
    fixture_stop(&fixture);
}

/* The list changes while one of its tools runs: what the tool was given is still there. */
static void change_list(puppet_instance *instance, patchbay_call call,
                        const patchbay_request *request)
{
    static const char OTHER[] = "[{\"name\":\"other\",\"inputSchema\":{\"type\":\"object\"}}]";
    assert_int_equal(instance->api->set_tools(instance->host, puppet_str(OTHER)), PATCHBAY_OK);
    assert_int_equal(instance->api->set_tools(instance->host, puppet_str("[]")), PATCHBAY_OK);
    hub_notifier_settle(hub_notifier_of(
        hub_profile_audience(fixture_profile(&fixture)))); /* nobody else holds the old one */
    assert_true(hub_str_is(request->tool, "a"));
    (void)puppet_finish(instance, call, "{\"content\":[]}");
}

static void test_list_changes_in_call(void **state)
{
    (void)state;
    client *c = start(change_list);
    assert_contains(client_ask(c, "1", "t__a", "{}"), "\"content\":[]");
    assert_contains(client_ask(c, "2", "t__a", "{}"), "Unknown tool");
    fixture_stop(&fixture);
}

/* ---- other threads --------------------------------------------------------------------------- */

/* A worker thread that the test leads by hand. */
typedef struct thread_probe {
    sem_t go;
    sem_t done;
    int32_t status;
    patchbay_str json;
    atomic_int results[4];
} thread_probe;

static thread_probe probe;

static void finish_here(void *arg)
{
    puppet_instance *instance = arg;
    (void)sem_wait(&probe.go);
    probe.results[0] = instance->api->finish(instance->host, last, probe.status, probe.json);
    (void)sem_post(&probe.done);
}

static void submit(void (*work)(void *arg), void *arg)
{
    const patchbay_worker_v1 *worker =
        master.latest->api->get_interface(master.latest->host, PATCHBAY_WORKER_V1);
    assert_int_equal(worker->submit(master.latest->host, work, arg), PATCHBAY_OK);
}

static void init_probe(int32_t status, const char *json)
{
    memset(&probe, 0, sizeof probe);
    assert_int_equal(sem_init(&probe.go, 0, 0), 0);
    assert_int_equal(sem_init(&probe.done, 0, 0), 0);
    probe.status = status;
    probe.json = puppet_str(json);
}

static void fini_probe(void)
{
    (void)sem_destroy(&probe.go);
    (void)sem_destroy(&probe.done);
}

/* From a worker thread it is all the same, good or bad. */
static void test_finish_on_thread(void **state)
{
    (void)state;
    client *c = start(keep);
    init_probe(PATCHBAY_RESULT, "{\"content\":[]}");
    client_call(c, "1", "t__a", "{}");
    submit(finish_here, master.latest);
    (void)sem_post(&probe.go);
    assert_contains(client_wait(c, "1"), "\"content\":[]");
    (void)sem_wait(&probe.done);
    assert_int_equal(probe.results[0], PATCHBAY_OK);
    probe.json = puppet_str("{");
    client_call(c, "2", "t__a", "{}");
    submit(finish_here, master.latest);
    (void)sem_post(&probe.go);
    assert_contains(client_wait(c, "2"), "TOOL_EXECUTION_FAILED");
    (void)sem_wait(&probe.done);
    assert_int_equal(probe.results[0], PATCHBAY_EINVAL);
    assert_int_equal(faults(), 1);
    fini_probe();
    fixture_stop(&fixture);
}

static bool is_destroyed(void *ctx)
{
    (void)ctx;
    return master.destroys == 1;
}

/* Disabled while a job runs: the client is answered at once, the module told; the instance outlives
 * its job, and what that says is dropped. */
static void test_disable_while_job_runs(void **state)
{
    (void)state;
    client *c = start(keep);
    init_probe(PATCHBAY_RESULT, "{\"content\":[]}");
    client_call(c, "1", "t__a", "{}");
    submit(finish_here, master.latest);
    assert_contains(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"t\"}"), "\"ok\":true");
    assert_contains(client_reply(c, "1"), "TOOL_UNAVAILABLE");
    assert_int_equal(master.cancels, 1);
    fixture_spin(&fixture, 10);
    assert_int_equal(master.destroys, 0);
    (void)sem_post(&probe.go);
    (void)sem_wait(&probe.done);
    assert_int_equal(probe.results[0], PATCHBAY_ESTATE);
    fixture_run_until(&fixture, is_destroyed, NULL);
    assert_int_equal(client_count(c, "\"result\":"), 2);
    fini_probe();
    fixture_stop(&fixture);
}

/* Everything that may be said from elsewhere, in its order. */
static void talk(void *arg)
{
    puppet_instance *instance = arg;
    const patchbay_host_api *api = instance->api;
    api->log(instance->host, PATCHBAY_LOG_WARNING, puppet_str("from elsewhere"));
    probe.results[0] = api->notify(instance->host, last, puppet_str("{\"progress\":1}"));
    probe.results[1] = api->notify(instance->host, last, puppet_str("{\"progress\":2}"));
    probe.results[2] = api->set_tools(instance->host, puppet_str("[" TOOL("b") "]"));
    probe.results[3] = puppet_finish(instance, last, "{\"content\":[]}");
}

static void test_talk_on_thread(void **state)
{
    (void)state;
    client *c = start(keep);
    init_probe(0, "");
    client_request(c, "1", "tools/call", "\"name\":\"t__a\",\"_meta\":{\"progressToken\":\"p\"}");
    submit(talk, master.latest);
    (void)client_wait(c, "1");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(probe.results[i], PATCHBAY_OK);
    }
    assert_contains(c->messages[0], "\"progress\":1");
    assert_contains(c->messages[1], "\"progress\":2");
    assert_contains(client_list(c, "2"), "t__b");
    assert_true(fixture_logged(&fixture, "from elsewhere"));
    fini_probe();
    fixture_stop(&fixture);
}

/* B7: what a thread says without end is refused, and does not stop the loop; answers still pass. */
static void flood(void *arg)
{
    puppet_instance *instance = arg;
    int32_t result = PATCHBAY_OK;
    int sent = 0;
    while (result == PATCHBAY_OK) { /* nobody listens: the loop waits for us */
        result = instance->api->notify(instance->host, last, puppet_str("{\"progress\":1}"));
        sent += result == PATCHBAY_OK;
    }
    probe.results[0] = result;
    probe.results[1] = sent;
    probe.results[2] = instance->api->set_tools(instance->host, puppet_str("[]"));
    probe.results[3] = puppet_finish(instance, last, "{\"content\":[]}");
    (void)sem_post(&probe.done);
}

static void test_flood(void **state)
{
    (void)state;
    client *c = start(keep);
    init_probe(0, "");
    client_call(c, "1", "t__a", "{}");
    submit(flood, master.latest);
    (void)sem_wait(&probe.done);
    assert_int_equal(probe.results[0], PATCHBAY_ELIMIT);
    assert_in_range(probe.results[1], HUB_LIMIT_PLUGIN_MAILS - 2, HUB_LIMIT_PLUGIN_MAILS);
    assert_int_equal(probe.results[2], PATCHBAY_ELIMIT);
    assert_int_equal(probe.results[3], PATCHBAY_OK);
    assert_contains(client_wait(c, "1"), "\"content\":[]");
    fini_probe();
    fixture_stop(&fixture);
}

/* A post that posts itself again gives way to everything else. */
static atomic_int posts;

static void post_again(void *arg)
{
    const puppet_instance *instance = arg;
    const patchbay_loop_v1 *loop = instance->api->get_interface(instance->host, PATCHBAY_LOOP_V1);
    posts++;
    (void)loop->post(instance->host, post_again, arg);
}

static void test_endless_posts(void **state)
{
    (void)state;
    client *c = start(keep);
    posts = 0;
    post_again(master.latest);
    fixture_spin(&fixture, 100);
    assert_in_range(posts, 50, 102);
    client_request(c, "1", "ping", "");
    assert_non_null(client_reply(c, "1"));
    fixture_stop(&fixture);
}

/* ---- what an instance leaves behind ---------------------------------------------------------- */

static void ignore_time(void *ctx)
{
    (void)ctx;
}

static void ignore_ready(void *ctx, uint32_t events)
{
    (void)ctx;
    (void)events;
}

/* loop.h: what it still holds is released by the hub. */
static void test_holdings(void **state)
{
    (void)state;
    client *c = start(keep);
    const patchbay_loop_v1 *loop =
        master.latest->api->get_interface(master.latest->host, PATCHBAY_LOOP_V1);
    patchbay_timer *first = loop->timer(master.latest->host, ignore_time, NULL);
    patchbay_timer *running = loop->timer(master.latest->host, ignore_time, NULL);
    patchbay_watch *watch =
        loop->watch(master.latest->host, 0, PATCHBAY_READABLE, ignore_ready, NULL);
    assert_true(first != NULL && running != NULL && watch != NULL);
    loop->timer_start(running, FIXTURE_LONG_MS);
    loop->timer_free(first);
    loop->rewatch(watch, 0);
    loop->rewatch(watch, PATCHBAY_READABLE | PATCHBAY_WRITABLE);
    assert_non_null(client_ask(c, "1", "disable_toolset", "{\"toolset\":\"t\"}"));
    fixture_spin(&fixture, 2);
    assert_int_equal(master.destroys, 1);
    fixture_stop(&fixture); /* the sanitizer looks for leaks */
}

static void test_unknown_interface(void **state)
{
    (void)state;
    (void)start(keep);
    assert_null(master.latest->api->get_interface(master.latest->host, "patchbay.loop/2"));
    assert_null(master.latest->api->get_interface(master.latest->host, ""));
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finish_twice),
        cmocka_unit_test(test_finish_after_cancel),
        cmocka_unit_test(test_bad_finish),
        cmocka_unit_test(test_huge_finish),
        cmocka_unit_test(test_huge_text),
        cmocka_unit_test(test_scanned),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_set_tools_garbage),
        cmocka_unit_test(test_list_changes_in_call),
        cmocka_unit_test(test_finish_on_thread),
        cmocka_unit_test(test_disable_while_job_runs),
        cmocka_unit_test(test_talk_on_thread),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_endless_posts),
        cmocka_unit_test(test_holdings),
        cmocka_unit_test(test_unknown_interface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
