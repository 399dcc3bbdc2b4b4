/* SPDX-License-Identifier: Apache-2.0 */
/* include/patchbay/ask.h: a toolset in this very program, driven through the fake host, where the
 * test is the client. */
#include "fake_host.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <semaphore.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define LOOP         PATCHBAY_NONBLOCKING
#define FORM         "{\"type\":\"object\",\"properties\":{}}"
#define ALL          "{\"sampling\":{},\"elicitation\":{},\"roots\":{}}"

static fake_host *host;

/* ---- the toolset ----------------------------------------------------------------------------- */

static unsigned then_count;
static int64_t then_status;
static char then_text[128];
static pthread_t loop_thread;

static void note(const patchbay_answer *answer)
{
    assert_true(pthread_equal(pthread_self(), loop_thread));
    then_count++;
    then_status = answer->status;
    (void)snprintf(then_text, sizeof then_text, "%s %s", answer->key, answer->json.ptr);
}

static void say_name(patchbay_tool_call *call, const patchbay_answer *answer)
{
    note(answer);
    const char *name = patchbay_answer_text(call, answer, "name");
    patchbay_reply_textf(call, "%s %d", name != NULL ? name : "nobody",
                         patchbay_answer_accepted(answer));
}

static void ask_name(patchbay_tool_call *call)
{
    patchbay_elicit(call, "who", "What is your \"name\"?", FORM, say_name);
}

static void say_sample(patchbay_tool_call *call, const patchbay_answer *answer)
{
    patchbay_str text = patchbay_answer_sample(call, answer);
    patchbay_reply_textf(call, "%s", text.ptr != NULL ? text.ptr : "(none)");
}

static void ask_model(patchbay_tool_call *call)
{
    patchbay_sample(call, "it", "Say \"it\".", 7, say_sample);
}

static void say_url(patchbay_tool_call *call, const patchbay_answer *answer)
{
    int32_t told = patchbay_elicitation_complete(patchbay_call_toolset(call), "log-in");
    patchbay_reply_textf(call, "%d", patchbay_answer_accepted(answer) && told == PATCHBAY_OK);
}

static void ask_url(patchbay_tool_call *call)
{
    patchbay_elicit_url(call, "log-in", "Log in", "https://example.com/?a=\"b\"", say_url);
}

static void say_roots(patchbay_tool_call *call, const patchbay_answer *answer)
{
    patchbay_reply_text(call, patchbay_answer_roots(answer));
}

static void ask_roots(patchbay_tool_call *call)
{
    patchbay_ask_roots(call, "roots", say_roots);
}

/* Three questions at a time, and a fourth when all are answered. */
static void say_fourth(patchbay_tool_call *call, const patchbay_answer *answer)
{
    const char *kept = (const char *)patchbay_call_state(call);
    patchbay_reply_textf(call, "%s, %s, %s and %s: %s",
                         patchbay_answer_text(call, patchbay_answer_to(call, "a"), "name"),
                         patchbay_answer_text(call, patchbay_answer_to(call, "b"), "name"),
                         patchbay_answer_text(call, patchbay_answer_to(call, "c"), "name"),
                         patchbay_answer_text(call, answer, "name"), kept);
}

static void gather(patchbay_tool_call *call, const patchbay_answer *answer)
{
    note(answer);
    if (patchbay_open_questions(call) == 0) {
        patchbay_elicit(call, "d", "d?", FORM, say_fourth);
        assert_int_equal(patchbay_open_questions(call), 1);
    }
    assert_null(patchbay_answer_to(call, "d"));
}

static void ask_three(patchbay_tool_call *call)
{
    patchbay_set_call_state(call, patchbay_call_alloc(call, 8));
    (void)snprintf((char *)patchbay_call_state(call), 8, "%s", "kept");
    patchbay_elicit(call, "a", "a?", FORM, gather);
    patchbay_elicit(call, "b", "b?", FORM, gather);
    patchbay_elicit(call, "c", "c?", FORM, gather);
}

static void forget(patchbay_tool_call *call, const patchbay_answer *answer)
{
    (void)call;
    note(answer);
}

static void ask_and_forget(patchbay_tool_call *call)
{
    patchbay_elicit(call, "x", "x?", FORM, forget);
}

static void ask_and_reply(patchbay_tool_call *call)
{
    patchbay_elicit(call, "x", "x?", FORM, forget);
    patchbay_reply_textf(call, "at once");
}

/* Replies to the first of two answers. */
static void ask_two(patchbay_tool_call *call)
{
    patchbay_elicit(call, "who", "?", FORM, say_name);
    patchbay_elicit(call, "too", "?", FORM, say_name);
}

/* Asks the same whatever comes. */
static void ask_again(patchbay_tool_call *call, const patchbay_answer *answer)
{
    note(answer);
    patchbay_elicit(call, "who", "?", FORM, ask_again);
}

static void ask_for_ever(patchbay_tool_call *call)
{
    patchbay_elicit(call, "who", "?", FORM, ask_again);
}

static void ask_wrongly(patchbay_tool_call *call)
{
    patchbay_ask(call, "who", "tools/list", patchbay_str_of("{}"), say_name);
}

static void can(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "%d %d", patchbay_client_has(call, "sampling"),
                         patchbay_client_has(call, "roots"));
}

/* A thread of the toolset's own that asks. */
static pthread_t asking_thread;

static void *ask_late(void *arg)
{
    ask_name((patchbay_tool_call *)arg);
    return NULL;
}

static void ask_from_thread(patchbay_tool_call *call)
{
    patchbay_defer(call);
    (void)pthread_create(&asking_thread, NULL, ask_late, call);
}

static sem_t entered;
static sem_t leave;

/* Goes on working when it has asked. */
static void ask_and_work(patchbay_tool_call *call)
{
    patchbay_elicit(call, "slow", "?", FORM, say_name);
    (void)sem_post(&entered);
    (void)sem_wait(&leave);
}

static const patchbay_tool tools[] = {
    {.name = "name", .handler = ask_name},
    {.name = "name_on_loop", .handler = ask_name, .flags = LOOP},
    {.name = "model", .handler = ask_model},
    {.name = "url", .handler = ask_url, .flags = LOOP},
    {.name = "roots", .handler = ask_roots},
    {.name = "three", .handler = ask_three},
    {.name = "forget", .handler = ask_and_forget},
    {.name = "reply", .handler = ask_and_reply},
    {.name = "two", .handler = ask_two},
    {.name = "for_ever", .handler = ask_for_ever, .flags = LOOP},
    {.name = "wrongly", .handler = ask_wrongly},
    {.name = "can", .handler = can},
    {.name = "thread", .handler = ask_from_thread},
    {.name = "work", .handler = ask_and_work},
};

PATCHBAY_TOOLSET("self", "1.0.0", "This test.", tools)

/* ---- the client ------------------------------------------------------------------------------ */

/* The next question is this one. */
static fake_question *expect(const char *key, const char *method, const char *params)
{
    fake_question *question = fake_host_question(host);
    assert_non_null(question);
    assert_string_equal(question->key, key);
    assert_string_equal(question->method, method);
    if (params != NULL) {
        assert_string_equal(question->params, params);
    }
    return question;
}

static void check(uint64_t id, int32_t status, const char *text)
{
    char wanted[512];
    (void)snprintf(wanted, sizeof wanted,
                   status == PATCHBAY_RESULT ? "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}"
                                             : "%s",
                   text);
    fake_result result = fake_host_wait(host, id);
    assert_string_equal(result.json, wanted);
    assert_int_equal(result.status, status);
    fake_result_free(&result);
}

static void accept_name(const char *key, const char *name)
{
    char json[128];
    (void)snprintf(json, sizeof json, "{\"action\":\"accept\",\"content\":{\"name\":\"%s\"}}",
                   name);
    fake_host_answer(expect(key, "elicitation/create", NULL), PATCHBAY_ANSWERED, json);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_elicitation(void **state)
{
    static const char *const names[] = {"name", "name_on_loop", "thread"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        uint64_t id = fake_host_start(host, names[i], NULL);
        fake_question *question =
            expect("who", "elicitation/create",
                   "{\"message\":\"What is your \\\"name\\\"?\",\"requestedSchema\":" FORM "}");
        assert_int_equal(question->call, id);
        fake_host_answer(question, PATCHBAY_ANSWERED,
                         "{\"action\":\"accept\",\"content\":{\"name\":\"Ad\\u0061\"}}");
        check(id, PATCHBAY_RESULT, "Ada 1");
        assert_int_equal(then_count, i + 1);
        if (i == 2) {
            (void)pthread_join(asking_thread, NULL);
        }
    }
}

static void test_no_name_in_the_answer(void **state)
{
    static const struct {
        int32_t status;
        const char *json;
        const char *text;
    } answers[] = {
        {PATCHBAY_ANSWERED, "{\"action\":\"decline\",\"content\":{\"name\":\"x\"}}", "nobody 0"},
        {PATCHBAY_ANSWERED, "{\"action\":\"accept\"}", "nobody 1"},
        {PATCHBAY_ANSWERED, "{\"action\":\"accept\",\"content\":{\"name\":7}}", "nobody 1"},
        {PATCHBAY_ANSWERED, "{\"action\":\"accept\",\"content\":{\"name\":\"\\u0000\"}}",
         "nobody 1"},
        {PATCHBAY_ANSWERED, "{}", "nobody 0"},
        {PATCHBAY_REFUSED, "{\"code\":-1,\"message\":\"no\",\"action\":\"accept\"}", "nobody 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(answers); i++) {
        uint64_t id = fake_host_start(host, "name", NULL);
        fake_host_answer(fake_host_question(host), answers[i].status, answers[i].json);
        check(id, PATCHBAY_RESULT, answers[i].text);
        assert_int_equal(then_status, answers[i].status);
    }
}

static void test_sampling(void **state)
{
    static const struct {
        const char *json;
        const char *text;
    } answers[] = {
        {"{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"it\"}}", "it"},
        {"{\"content\":[{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"two\"}]}", "two"},
        {"{\"content\":[]}", "(none)"},
        {"{\"content\":{\"type\":\"image\"}}", "(none)"},
        {"{}", "(none)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(answers); i++) {
        uint64_t id = fake_host_start(host, "model", NULL);
        fake_host_answer(
            expect("it", "sampling/createMessage",
                   "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
                   "\"Say \\\"it\\\".\"}}],\"maxTokens\":7}"),
            PATCHBAY_ANSWERED, answers[i].json);
        check(id, PATCHBAY_RESULT, answers[i].text);
    }
}

static void test_url_and_roots(void **state)
{
    (void)state;
    uint64_t id = fake_host_start(host, "url", NULL);
    fake_host_answer(expect("log-in", "elicitation/create",
                            "{\"mode\":\"url\",\"message\":\"Log in\",\"url\":"
                            "\"https://example.com/?a=\\\"b\\\"\",\"elicitationId\":\"log-in\"}"),
                     PATCHBAY_ANSWERED, "{\"action\":\"accept\"}");
    check(id, PATCHBAY_RESULT, "1");
    char *said = fake_host_said(host);
    assert_non_null(strstr(said, "elicited 0 {\"elicitationId\":\"log-in\"}"));
    free(said);
    id = fake_host_start(host, "roots", NULL);
    fake_host_answer(expect("roots", "roots/list", ""), PATCHBAY_ANSWERED, "{\"roots\":[1]}");
    check(id, PATCHBAY_RESULT, "[1]");
}

static void test_several_and_rounds(void **state)
{
    (void)state;
    uint64_t id = fake_host_start(host, "three", NULL);
    fake_question *a = expect("a", "elicitation/create", NULL);
    fake_question *b = expect("b", "elicitation/create", NULL); /* before `a` has its answer */
    fake_question *c = expect("c", "elicitation/create", NULL);
    fake_host_answer(c, PATCHBAY_ANSWERED, "{\"action\":\"accept\",\"content\":{\"name\":\"C\"}}");
    fake_host_answer(a, PATCHBAY_ANSWERED, "{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}");
    fake_host_answer(b, PATCHBAY_ANSWERED, "{\"action\":\"accept\",\"content\":{\"name\":\"B\"}}");
    assert_int_equal(then_count, 3);
    accept_name("d", "D");
    check(id, PATCHBAY_RESULT, "A, B, C and D: kept");
}

/* Nothing is sent before the handler has returned, whatever others do meanwhile. */
static void test_handler_that_goes_on(void **state)
{
    static const char decline[] = "{\"action\":\"decline\"}";
    (void)state;
    uint64_t slow = fake_host_start(host, "work", NULL);
    (void)sem_wait(&entered);
    for (int i = 0; i < 2; i++) { /* after the first, the slow one's might have been sent, too */
        uint64_t other = fake_host_start(host, "name_on_loop", NULL);
        fake_host_answer(expect("who", "elicitation/create", NULL), PATCHBAY_ANSWERED, decline);
        check(other, PATCHBAY_RESULT, "nobody 0");
    }
    (void)sem_post(&leave);
    fake_host_answer(expect("slow", "elicitation/create", NULL), PATCHBAY_ANSWERED, decline);
    check(slow, PATCHBAY_RESULT, "nobody 0");
}

static void test_client_that_cannot(void **state)
{
    (void)state;
    fake_host_set_capabilities(host, "{\"sampling\":{}}");
    check(fake_host_start(host, "name", NULL), PATCHBAY_RESULT, "nobody 0");
    assert_int_equal(then_status, PATCHBAY_ESTATE);
    assert_string_equal(then_text, "who the client did not say that it can answer this");
    check(fake_host_start(host, "can", NULL), PATCHBAY_RESULT, "1 0");
    check(fake_host_start(host, "wrongly", NULL), PATCHBAY_RESULT, "nobody 0");
    assert_int_equal(then_status, PATCHBAY_EINVAL);
}

static void test_hub_that_cannot(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    fake_host *shared = host;
    fake_host_hide_interface(PATCHBAY_CLIENT_V1);
    host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    fake_host_hide_interface(NULL);
    assert_non_null(host);
    check(fake_host_start(host, "can", NULL), PATCHBAY_RESULT, "0 0");
    check(fake_host_start(host, "name", NULL), PATCHBAY_RESULT, "nobody 0");
    assert_int_equal(then_status, PATCHBAY_ENOTFOUND);
    fake_host_unload(host);
    host = shared;
}

static void test_replies_out_of_turn(void **state)
{
    (void)state;
    /* A reply in the handler: the question is never sent. */
    check(fake_host_start(host, "reply", NULL), PATCHBAY_RESULT, "at once");
    /* No reply at all. */
    uint64_t id = fake_host_start(host, "forget", NULL);
    accept_name("x", "y");
    check(id, PATCHBAY_FAILED, "the tool returned without a reply");
    assert_int_equal(then_count, 1);
    /* A reply before the last answer: that one is nobody's. */
    id = fake_host_start(host, "two", NULL);
    fake_question *first = expect("who", "elicitation/create", NULL);
    fake_question *second = expect("too", "elicitation/create", NULL);
    fake_host_answer(second, PATCHBAY_ANSWERED, "{\"action\":\"decline\"}");
    check(id, PATCHBAY_RESULT, "nobody 0");
    fake_host_answer(first, PATCHBAY_ANSWERED, "{\"action\":\"decline\"}");
    assert_int_equal(then_count, 2);
}

static void test_loop_that_is_full(void **state)
{
    static const char *const names[] = {"name", "name_on_loop", "thread"};
    (void)state;
    fake_host_refuse_posts(host, 1);
    for (size_t i = 0; i < COUNT(names); i++) {
        check(fake_host_start(host, names[i], NULL), PATCHBAY_UNAVAILABLE,
              "the client could not be asked now; try again in a moment");
    }
    (void)pthread_join(asking_thread, NULL);
    fake_host_refuse_posts(host, 0);
    assert_int_equal(then_count, 0);
}

/* A client that goes away in the middle: `then` runs, the reply goes nowhere. */
static void test_client_that_goes(void **state)
{
    (void)state;
    uint64_t id = fake_host_start(host, "name_on_loop", NULL);
    fake_host_answer(expect("who", "elicitation/create", NULL), PATCHBAY_NO_ANSWER, "gone");
    check(id, PATCHBAY_RESULT, "nobody 0");
    assert_int_equal(then_status, PATCHBAY_NO_ANSWER);
    assert_string_equal(then_text, "who gone");
}

/* Who asks again whatever happens stops when the call does. */
static void test_asking_for_ever(void **state)
{
    (void)state;
    uint64_t id = fake_host_start(host, "for_ever", NULL);
    accept_name("who", "a");
    accept_name("who", "b");
    fake_host_answer(expect("who", "elicitation/create", NULL), PATCHBAY_NO_ANSWER, "gone");
    check(id, PATCHBAY_FAILED, "the tool returned without a reply");
    assert_int_equal(then_count, 3);
    id = fake_host_start(host, "for_ever", NULL);
    fake_host_cancel(host, id); /* before the question was sent: sending it finds out */
    check(id, PATCHBAY_FAILED, "the tool returned without a reply");
    assert_int_equal(then_status, PATCHBAY_ESTALE);
}

/* The leak checker and the sanitizers see what goes wrong. */
static void test_ending_with_open_questions(void **state)
{
    (void)state;
    (void)fake_host_start(host, "three", NULL);
    fake_host_answer(expect("a", "elicitation/create", NULL), PATCHBAY_REFUSED, "{}");
    (void)fake_host_start(host, "name_on_loop", NULL); /* not even sent */
}

static void test_exceptions(void **state)
{
    (void)state;
#ifdef THROWING_PATH
    char error[FAKE_HOST_ERROR_BYTES];
    fake_host *shared = host;
    host = fake_host_load(THROWING_PATH, "{}", error);
    assert_non_null(host);
    fake_host_set_capabilities(host, ALL);
    uint64_t id = fake_host_start(host, "then", NULL);
    fake_host_answer(expect("x", "roots/list", NULL), PATCHBAY_ANSWERED, "{}");
    check(id, PATCHBAY_FAILED, "the tool threw an exception: nor this");
    fake_host_unload(host);
    host = shared;
#else
    skip();
#endif
}

static int open_self(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    then_count = 0;
    then_status = 99;
    then_text[0] = '\0';
    loop_thread = pthread_self();
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    if (host == NULL) {
        return -1;
    }
    fake_host_set_capabilities(host, ALL);
    return 0;
}

static int close_self(void **state)
{
    (void)state;
    fake_host_unload(host);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_self, close_self)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_elicitation),
        TEST(test_no_name_in_the_answer),
        TEST(test_sampling),
        TEST(test_url_and_roots),
        TEST(test_several_and_rounds),
        TEST(test_handler_that_goes_on),
        TEST(test_client_that_cannot),
        TEST(test_hub_that_cannot),
        TEST(test_replies_out_of_turn),
        TEST(test_loop_that_is_full),
        TEST(test_client_that_goes),
        TEST(test_asking_for_ever),
        TEST(test_ending_with_open_questions),
        TEST(test_exceptions),
    };
    return cmocka_run_group_tests_name("sdk.ask", tests, NULL, NULL);
}
