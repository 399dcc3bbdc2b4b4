/* SPDX-License-Identifier: Apache-2.0 */
/* When an issuer is asked about a token that says nothing by itself, on a clock and with an issuer of the test's own: how long an
 * answer counts, and what is sent (RFC 7662). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "issuers/fetch.h"
#include "issuers/issuers.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ISSUER "https://id.example.com"

enum { BEGIN_S = 1800000000, MINUTE_S = 60, REFUSED_S = 30, RETRY_S = 2, LEEWAY_S = 60 };

static int64_t now_s;

time_t time(time_t *ret_time)
{
    if (ret_time != NULL) {
        *ret_time = (time_t)now_s;
    }
    return (time_t)now_s;
}

/* ---- the issuer, in the place of issuers/fetch.c ---- */

struct hub_fetcher {
    int unused;
};

struct hub_fetch {
    hub_fetch_on_end *on_end;
    void *ctx;
};

static hub_fetch *question;
static unsigned questions;
static char form[200];

bool hub_fetch_may(const char *url)
{
    (void)url;
    return true;
}

hub_fetcher *hub_fetcher_create(struct ev_loop *loop)
{
    (void)loop;
    return calloc(1, sizeof(hub_fetcher));
}

void hub_fetcher_destroy(hub_fetcher *fetcher)
{
    free(fetcher);
}

hub_err hub_fetch_start(hub_fetcher *fetcher, const hub_fetch_request *request,
                        hub_fetch_on_end *on_end, void *ctx, hub_fetch **ret_fetch,
                        hub_error *reterr)
{
    (void)fetcher;
    (void)reterr;
    assert_null(question);
    assert_string_equal(request->url, ISSUER "/introspect");
    assert_string_equal(request->user, "hub");
    (void)snprintf(form, sizeof form, HUB_STR_FMT, HUB_STR_ARG(request->form));
    question = calloc(1, sizeof *question);
    assert_non_null(question);
    *question = (hub_fetch){.on_end = on_end, .ctx = ctx};
    *ret_fetch = question;
    questions++;
    return HUB_OK;
}

void hub_fetch_cancel(hub_fetch *fetch)
{
    if (fetch != NULL) {
        free(fetch);
        question = NULL;
    }
}

/* NULL: it does not answer. */
static void answer(const char *body)
{
    hub_fetch *asked = question;
    const hub_fetched fetched = {
        .is_there = body != NULL, .body = hub_str_of(body), .why = "the test says so"};
    assert_non_null(asked);
    question = NULL;
    asked->on_end(asked->ctx, &fetched);
    free(asked);
}

static void answer_active(int64_t expires)
{
    char body[200];
    (void)snprintf(body, sizeof body,
                   "{\"active\":true,\"aud\":\"hub\",\"sub\":\"ann\",\"exp\":%lld}",
                   (long long)expires);
    answer(body);
}

/* ---- tokens ---- */

static struct ev_loop *loop;
static hub_issuers *issuers;
static const char *const AUDIENCES[] = {"hub"};
static const hub_issuer_settings SETTINGS = {
    .jwt = {.issuer = ISSUER, .audiences = {.items = AUDIENCES, .count = 1, .set = true}},
    .introspection = {.url = ISSUER "/introspect", .client_id = "hub", .client_secret = "secret"},
    .print = 1};
static const hub_auth_settings AUTH = {.required = true, .issuers = &SETTINGS, .issuer_count = 1};

static hub_issuers_verdict look(const char *token)
{
    hub_identity *identity = NULL;
    const char *reason = NULL;
    hub_issuers_verdict verdict =
        hub_issuers_judge(issuers, hub_str_of(token), now_s, NULL, &identity, &reason);
    hub_identity_unref(identity);
    for (int i = 0; i < 3; i++) {
        (void)ev_run(loop, EVRUN_NOWAIT);
    }
    return verdict;
}

/* It is asked about, for the count-th time. */
static void expect_question(const char *token, unsigned count)
{
    assert_int_equal(look(token), HUB_ISSUERS_LATER);
    assert_int_equal(questions, count);
    assert_int_equal(look(token), HUB_ISSUERS_LATER); /* and not twice at once */
    assert_int_equal(questions, count);
}

/* So it stays for that long, and nobody is asked. */
static void expect_for(const char *token, hub_issuers_verdict verdict, int64_t seconds)
{
    unsigned before = questions;
    assert_int_equal(look(token), verdict);
    now_s += seconds - 1;
    assert_int_equal(look(token), verdict);
    assert_int_equal(questions, before);
    now_s++;
}

static int begin(void **state)
{
    (void)state;
    now_s = BEGIN_S;
    questions = 0;
    loop = ev_loop_new(EVFLAG_AUTO);
    issuers = hub_issuers_create(loop);
    return loop != NULL && issuers != NULL && hub_issuers_configure(issuers, &AUTH) == HUB_OK ? 0
                                                                                              : -1;
}

static int end(void **state)
{
    (void)state;
    hub_issuers_destroy(issuers);
    ev_loop_destroy(loop);
    return question == NULL ? 0 : -1;
}

/* An issuer that takes a token back is heard of within a minute. */
static void test_taken_back(void **state)
{
    (void)state;
    expect_question("good", 1);
    answer_active(now_s + 1000);
    expect_for("good", HUB_ISSUERS_GOOD, MINUTE_S);
    expect_question("good", 2);
    answer("{\"active\":false}");
    expect_for("good", HUB_ISSUERS_REFUSED, REFUSED_S);
    expect_question("good", 3);
    answer_active(now_s + 1000);
    assert_int_equal(look("good"), HUB_ISSUERS_GOOD);
}

static void test_one_that_ends_before_that(void **state)
{
    (void)state;
    expect_question("brief", 1);
    answer_active(now_s + 20 - LEEWAY_S);
    expect_for("brief", HUB_ISSUERS_GOOD, 20);
    expect_question("brief", 2);
    answer_active(now_s - LEEWAY_S);
    assert_int_equal(look("brief"), HUB_ISSUERS_REFUSED);
}

static void test_no_answer(void **state)
{
    (void)state;
    static const char *const NONE[] = {NULL, "", "<html>", "[]"};
    for (unsigned i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        expect_question("good", i + 1);
        answer(NONE[i]);
        expect_for("good", HUB_ISSUERS_UNAVAILABLE, RETRY_S);
    }
}

static void test_what_is_sent(void **state)
{
    (void)state;
    expect_question("a+/~-._=", 1);
    assert_string_equal(form, "token_type_hint=access_token&token=a%2B%2F~-._%3D");
    answer(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken_back, begin, end),
        cmocka_unit_test_setup_teardown(test_one_that_ends_before_that, begin, end),
        cmocka_unit_test_setup_teardown(test_no_answer, begin, end),
        cmocka_unit_test_setup_teardown(test_what_is_sent, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
