/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a task outside of the calls about it: status, progress, log messages, questions.
 * It reaches the client that made the task, and nobody else. MCP 2025-11-25 basic/utilities/tasks
 * (Associating Task-Related Messages, Task Notifications, Task Progress Notifications).
 */
#include "ask_support.h"
#include "hub/tasks/tasks_internal.h"
#include "task_support.h"

static task_hub h;

#define STATUS   "notifications/tasks/status"
#define PROGRESS "notifications/progress"
#define MESSAGE  "notifications/message"

static int32_t tell_status(const char *raw, const char *status)
{
    char params[2048];
    const puppet_instance *t = h.legacy.puppet.latest;
    (void)snprintf(params, sizeof params, "{\"x\":1.0,\"taskId\":%s,\"status\":\"%s\"}", raw,
                   status);
    return t->client->task_changed(t->host, puppet_str(params));
}

static int32_t tell_progress(patchbay_call call, const char *params)
{
    const puppet_instance *t = h.legacy.puppet.latest;
    return t->api->notify(t->host, call, puppet_str(params));
}

static int32_t log_for(uint64_t call, const char *raw)
{
    char params[512];
    const puppet_instance *t = h.legacy.puppet.latest;
    (void)snprintf(params, sizeof params,
                   "{\"level\":\"error\",\"data\":1.0,\"_meta\":{"
                   "\"io.modelcontextprotocol/related-task\":{\"taskId\":%s}}}",
                   raw);
    return t->client->message(t->host, (patchbay_call){.id = call}, puppet_str(params));
}

/* ---- notifications --------------------------------------------------------------------------- */

static void test_status(void **state)
{
    (void)state;
    tasks_start(&h);
    client *mine = tasks_client(&h, LEGACY, "a");
    client *other = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, mine, "1", "\"7\"");
    client_clear(mine);
    assert_int_equal(tell_status("\"8\"", "working"), PATCHBAY_OK); /* nobody's */
    assert_int_equal(tell_status("\"\\u0037\"", "working"), PATCHBAY_OK);
    assert_int_equal(mine->count, 1);
    char want[512];
    (void)snprintf(want, sizeof want,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"" STATUS "\",\"params\":{\"x\":1.0,"
                   "\"taskId\":\"%.*s.\\u0037\",\"status\":\"working\"}}",
                   (int)strlen(id) - 4, id + 1);
    assert_string_equal(mine->messages[0], want);
    assert_int_equal(tell_status("\"7\"", "completed"), PATCHBAY_OK);
    assert_int_equal(client_count(mine, STATUS), 2);
    assert_int_equal(tell_status("\"7\"", "completed"), PATCHBAY_OK); /* it was over */
    assert_int_equal(client_count(mine, STATUS), 2);
    assert_int_equal(other->count, 0);
    assert_int_equal(hub_tasks_watched(h.fixture.hub->toolsets[0])->used, 0);
    free(id);
    fixture_stop(&h.fixture);
}

static void test_what_is_no_status(void **state)
{
    static const char *const BAD[] = {"", "[]", "{}", "{\"taskId\":7}", "{\"taskId\":\"7\""};
    (void)state;
    tasks_start(&h);
    const puppet_instance *t = h.legacy.puppet.latest;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(t->client->task_changed(t->host, puppet_str(BAD[i])), PATCHBAY_EINVAL);
    }
    fixture_stop(&h.fixture);
}

/* The token of the call that made it is good for as long as the task. */
static void test_progress(void **state)
{
    (void)state;
    tasks_start(&h);
    client *mine = tasks_client(&h, LEGACY, "a");
    client *other = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, mine, "1", "\"7\"");
    patchbay_call call = echo_last(&h.legacy)->call;
    client_clear(mine);
    assert_int_equal(tell_progress(call, "{\"progress\":1.0," RELATED("\"7\"") "}"), PATCHBAY_OK);
    char want[512];
    (void)snprintf(want, sizeof want,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"" PROGRESS "\",\"params\":{"
                   "\"progressToken\":\"p\",\"progress\":1.0," RELATED("%s") "}}",
                   id);
    assert_int_equal(mine->count, 1);
    assert_string_equal(mine->messages[0], want);
    tasks_request(mine, "2", "tasks/result", id);
    tasks_answer(&h.legacy, "{\"content\":[]}");
    assert_int_equal(tell_progress(call, "{\"progress\":2}"), PATCHBAY_ESTALE);
    assert_int_equal(client_count(mine, PROGRESS), 1);
    assert_int_equal(other->count, 0);
    free(id);
    fixture_stop(&h.fixture);
}

/* While the call is not answered, the same; and without a token nothing is sent. */
static void test_progress_of_the_call(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = tasks_client(&h, LEGACY, "a");
    client_request(c, "1", "tools/call",
                   "\"name\":\"t__may\",\"task\":{},\"_meta\":{\"progressToken\":9}");
    patchbay_call call = echo_last(&h.legacy)->call;
    assert_int_equal(tell_progress(call, "{\"progress\":1," RELATED("\"7\"") "}"), PATCHBAY_OK);
    assert_contains(c->messages[0], "\"progressToken\":9,");
    char *id = task_id_in(c->messages[0]);
    tasks_answer(&h.legacy, "{\"task\":{\"taskId\":\"7\"}}");
    char *told = task_id_in(client_reply(c, "1"));
    assert_string_equal(id, told);
    free(told);
    free(id);
    client_request(c, "2", "tools/call", "\"name\":\"t__may\",\"task\":{}");
    call = echo_last(&h.legacy)->call;
    tasks_answer(&h.legacy, "{\"task\":{\"taskId\":\"8\"}}");
    client_clear(c);
    assert_int_equal(tell_progress(call, "{\"progress\":1}"), PATCHBAY_OK);
    assert_int_equal(c->count, 0);
    fixture_stop(&h.fixture);
}

/* A log message of a task is for its client, whoever else has a call there. */
static void test_messages(void **state)
{
    (void)state;
    tasks_start(&h);
    client *mine = tasks_client(&h, LEGACY, "a");
    client *other = tasks_client(&h, LEGACY, "b");
    client *later = tasks_client(&h, LEGACY, "a");
    char *id = tasks_make(&h, mine, "1", "\"7\"");
    client_clear(mine);
    client_call(other, "1", "t__plain", "{}");
    patchbay_call theirs = echo_last(&h.legacy)->call;
    assert_int_equal(log_for(0, "\"7\""), PATCHBAY_OK);
    assert_int_equal(log_for(theirs.id, "\"7\""), PATCHBAY_OK); /* the server guesses */
    assert_int_equal(client_count(mine, MESSAGE), 2);
    assert_int_equal(client_count(mine, id), 2);
    assert_int_equal(log_for(0, "\"8\""), PATCHBAY_OK); /* nobody's */
    assert_int_equal(other->count, 0);
    /* Who waits for the result hears it instead. */
    tasks_request(later, "2", "tasks/result", id);
    assert_int_equal(log_for(0, "\"7\""), PATCHBAY_OK);
    assert_int_equal(client_count(later, MESSAGE), 1);
    assert_int_equal(client_count(mine, MESSAGE), 2);
    client_request(mine, "3", "logging/setLevel", "\"level\":\"emergency\"");
    tasks_answer(&h.legacy, "{}");
    char *second = tasks_make(&h, mine, "4", "\"9\"");
    client_clear(mine);
    assert_int_equal(log_for(0, "\"9\""), PATCHBAY_OK); /* below what it wants */
    assert_int_equal(mine->count, 0);
    client_close(mine); /* … and who waits hears it though nobody made it */
    tasks_request(later, "5", "tasks/result", second);
    client_clear(later);
    assert_int_equal(log_for(0, "\"9\""), PATCHBAY_OK);
    assert_int_equal(client_count(later, second), 1);
    free(second);
    free(id);
    fixture_stop(&h.fixture);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void make_numbered(client *c, unsigned number)
{
    char raw[32];
    (void)snprintf(raw, sizeof raw, "\"n%u\"", number);
    h.legacy.count = 0;
    free(tasks_make(&h, c, "1", raw));
    client_clear(c);
}

static size_t told_of(client *c, unsigned number)
{
    char raw[32];
    (void)snprintf(raw, sizeof raw, "\"n%u\"", number);
    client_clear(c);
    assert_int_equal(tell_status(raw, "working"), PATCHBAY_OK);
    return client_count(c, STATUS);
}

/* HUB_LIMIT_WATCHED_TASKS_PER_SESSION: the oldest gives way. */
static void test_limit_of_a_session(void **state)
{
    enum { LIMIT = HUB_LIMIT_WATCHED_TASKS_PER_SESSION };
    (void)state;
    tasks_start(&h);
    client *c = tasks_client(&h, LEGACY, "a");
    for (unsigned i = 0; i < LIMIT; i++) {
        make_numbered(c, i);
    }
    assert_int_equal(told_of(c, 0), 1);
    make_numbered(c, LIMIT);
    assert_int_equal(told_of(c, 0), 0);
    assert_int_equal(told_of(c, 1), 1);
    assert_int_equal(told_of(c, LIMIT), 1);
    assert_int_equal(hub_tasks_in(c->session)->task_count, LIMIT);
    client_close(c);
    assert_int_equal(hub_tasks_watched(h.fixture.hub->toolsets[0])->used, 0);
    fixture_stop(&h.fixture);
}

/* HUB_LIMIT_WATCHED_TASKS, of one client: the newest is not announced, and can be asked for all the same; those
 * of others are announced. */
static void test_limit_of_a_client(void **state)
{
    hub_share *share = NULL;
    (void)state;
    tasks_start(&h);
    client *c = tasks_client(&h, LEGACY, "a");
    client *other = tasks_client(&h, LEGACY, "b");
    hub_pool *watched = hub_tasks_watched(h.fixture.hub->toolsets[0]);
    assert_int_equal(hub_pool_take(watched, HUB_STR("a"), HUB_LIMIT_WATCHED_TASKS - 1, &share),
                     HUB_OK);
    make_numbered(c, 1);
    assert_int_equal(told_of(c, 1), 1);
    char *id = tasks_make(&h, c, "1", "\"n2\"");
    assert_int_equal(told_of(c, 2), 0);
    tasks_request(c, "2", "tasks/get", id);
    assert_string_equal(echo_last(&h.legacy)->tool, "n2");
    free(id);
    make_numbered(other, 3);
    assert_int_equal(told_of(other, 3), 1);
    hub_share_give(share, HUB_LIMIT_WATCHED_TASKS - 1);
    assert_int_equal(watched->used, 2);
    fixture_stop(&h.fixture);
}

/* The session or the toolset goes: nothing is left, nobody is told. */
static void test_ends(void **state)
{
    (void)state;
    tasks_start(&h);
    client *gone = tasks_client(&h, LEGACY, "a");
    client *c = tasks_client(&h, LEGACY, "a");
    make_numbered(gone, 1);
    make_numbered(c, 2);
    make_numbered(c, 3);
    make_numbered(c, 3); /* an id that is used again */
    assert_int_equal(hub_tasks_watched(h.fixture.hub->toolsets[0])->used, 3);
    client_close(gone);
    assert_int_equal(hub_tasks_watched(h.fixture.hub->toolsets[0])->used, 2);
    assert_int_equal(tell_status("\"n1\"", "working"), PATCHBAY_OK);
    char *id = tasks_make(&h, c, "4", "\"n4\"");
    tasks_request(c, "5", "tasks/get", id);
    tasks_answer(&h.legacy, "{\"taskId\":\"n4\",\"status\":\"working\"}");
    assert_int_equal(hub_tasks_watched(h.fixture.hub->toolsets[0])->used, 3);
    tasks_request(c, "5", "tasks/get", id);
    tasks_answer(&h.legacy, "{\"taskId\":\"n4\",\"status\":\"failed\"}");
    assert_int_equal(hub_tasks_watched(h.fixture.hub->toolsets[0])->used, 2);
    (void)client_ask(c, "6", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_int_equal(hub_tasks_watched(h.fixture.hub->toolsets[0])->used, 0);
    free(id);
    fixture_stop(&h.fixture);
}

/* ---- questions ------------------------------------------------------------------------------- */

static asker asking;

static int32_t ask_for(uint64_t call, const char *params)
{
    asking.instance = h.legacy.puppet.latest;
    asking.client = asking.instance->client;
    return asker_ask(&asking, call, 'q', "", "elicitation/create", params);
}

#define QUESTION                                                                                   \
    "{\"message\":\"who\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}," RELATED(   \
        "\"7\"") "}"

static client *open_asked(const char *principal)
{
    return client_open_as(
        &h.fixture, &(client_options){.kind = LEGACY, .principal = principal, .capabilities = ALL});
}

/* Whoever waits for the task's result is asked, though others have calls there; its answer goes
 * back under the server's own id. */
static void test_question(void **state)
{
    (void)state;
    tasks_start(&h);
    client *mine = open_asked("a");
    client *other = open_asked("b");
    char *id = tasks_make(&h, mine, "1", "\"7\"");
    char *foreign = tasks_make(&h, other, "1", "\"8\"");
    client_call(other, "2", "t__plain", "{}");
    uint64_t theirs = echo_last(&h.legacy)->call.id;
    assert_int_equal(ask_for(0, QUESTION), PATCHBAY_ESTATE); /* nobody waits for it yet */
    assert_int_equal(ask_for(theirs, QUESTION), PATCHBAY_ESTATE);
    tasks_request(other, "3", "tasks/result", foreign);
    assert_int_equal(ask_for(0, QUESTION), PATCHBAY_ESTATE);
    tasks_request(mine, "4", "tasks/result", id);
    assert_int_equal(ask_for(theirs, QUESTION), PATCHBAY_OK);
    fixture_spin(&h.fixture, 3);
    const char *asked = NULL;
    uint64_t number = client_asked(mine, &asked);
    assert_true(number > 0);
    char *shown = task_id_in(asked);
    assert_string_equal(shown, id);
    assert_int_equal(client_asked(other, NULL), 0);
    char answer[512];
    (void)snprintf(answer, sizeof answer, "{\"action\":\"accept\",\"n\":1.10," RELATED("%s") "}",
                   id);
    client_answer(mine, number, answer);
    assert_int_equal(asking.count, 1);
    assert_string_equal(asking.answers[0].json,
                        "{\"action\":\"accept\",\"n\":1.10," RELATED("\"7\"") "}");
    free(shown);
    free(id);
    free(foreign);
    fixture_stop(&h.fixture);
    memset(&asking, 0, sizeof asking);
}

/* An id that is not the client's own stays what it is. */
static void test_a_foreign_answer(void **state)
{
    (void)state;
    tasks_start(&h);
    client *mine = open_asked("a");
    client *other = open_asked("b");
    char *id = tasks_make(&h, mine, "1", "\"7\"");
    char *foreign = tasks_make(&h, other, "1", "\"8\"");
    tasks_request(mine, "4", "tasks/result", id);
    assert_int_equal(ask_for(0, QUESTION), PATCHBAY_OK);
    fixture_spin(&h.fixture, 3);
    char answer[512];
    (void)snprintf(answer, sizeof answer, "{\"a\":1," RELATED("%s") "}", foreign);
    client_answer(mine, client_asked(mine, NULL), answer);
    assert_string_equal(asking.answers[0].json, answer);
    free(id);
    free(foreign);
    fixture_stop(&h.fixture);
    memset(&asking, 0, sizeof asking);
}

/* The hub promised servers no tasks of clients: a question that asks for one is an ordinary one. */
static void test_no_tasks_of_clients(void **state)
{
    (void)state;
    tasks_start(&h);
    client *c = client_open_as(&h.fixture,
                               &(client_options){.kind = LEGACY,
                                                 .capabilities =
                                                     "{\"elicitation\":{},\"tasks\":{\"requests\":{"
                                                     "\"elicitation\":{\"create\":{}}}}}"});
    client_call(c, "1", "t__plain", "{}");
    assert_int_equal(ask_for(0, "{\"message\":\"who\", \"task\" : {\"ttl\":1},\"requestedSchema\":"
                                "{\"type\":\"object\",\"properties\":{}},\"x\":1.0}"),
                     PATCHBAY_OK);
    fixture_spin(&h.fixture, 3);
    const char *asked = NULL;
    uint64_t number = client_asked(c, &asked);
    assert_contains(asked, "\"params\":{\"message\":\"who\",\"requestedSchema\":"
                           "{\"type\":\"object\",\"properties\":{}},\"x\":1.0}}");
    client_answer(c, number, "{\"action\":\"decline\"}");
    assert_string_equal(asking.answers[0].json, "{\"action\":\"decline\"}");
    fixture_stop(&h.fixture);
    memset(&asking, 0, sizeof asking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_what_is_no_status),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_progress_of_the_call),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_limit_of_a_session),
        cmocka_unit_test(test_limit_of_a_client),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_question),
        cmocka_unit_test(test_a_foreign_answer),
        cmocka_unit_test(test_no_tasks_of_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
