/* SPDX-License-Identifier: Apache-2.0 */
/* When keys are asked for and which of them are used, on a clock and with an issuer of the test's own: nothing goes over a
 * network, and no time passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "identity/base64url.h"
#include "identity/jws.h"
#include "issuers/fetch.h"
#include "issuers/issuers.h"

#include <dlfcn.h>
#include <ev.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ISSUER "https://id.example.com"

/* ---- the clock ---- */

enum { BEGIN_S = 1800000000 };

static int64_t now_s = BEGIN_S;

time_t time(time_t *ret_time)
{
    if (ret_time != NULL) {
        *ret_time = (time_t)now_s;
    }
    return (time_t)now_s;
}

/* ---- libcrypto, whose verifications are counted ---- */

static unsigned verifications;

int EVP_DigestVerify(EVP_MD_CTX *context, const unsigned char *signature, size_t signature_len,
                     const unsigned char *text, size_t len)
{
    static int (*verify)(EVP_MD_CTX *, const unsigned char *, size_t, const unsigned char *,
                         size_t);
    if (verify == NULL) {
        *(void **)&verify = dlsym(RTLD_NEXT, "EVP_DigestVerify");
        assert_non_null(verify);
    }
    verifications++;
    return verify(context, signature, signature_len, text, len);
}

/* ---- the issuer, in the place of issuers/fetch.c ---- */

struct hub_fetcher {
    int unused;
};

struct hub_fetch {
    hub_fetch_on_end *on_end;
    void *ctx;
};

static hub_fetch *open_fetch; /* at most one: they are of one issuer */
static unsigned fetches;

bool hub_fetch_may(const char *url)
{
    return strncmp(url, "https://", 8) == 0;
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
    assert_null(open_fetch);
    assert_string_equal(request->url, ISSUER "/keys");
    open_fetch = calloc(1, sizeof *open_fetch);
    assert_non_null(open_fetch);
    *open_fetch = (hub_fetch){.on_end = on_end, .ctx = ctx};
    *ret_fetch = open_fetch;
    fetches++;
    return HUB_OK;
}

void hub_fetch_cancel(hub_fetch *fetch)
{
    if (fetch != NULL) {
        assert_ptr_equal(fetch, open_fetch);
        free(fetch);
        open_fetch = NULL;
    }
}

/* NULL: it does not answer. */
static void answer(const char *body, uint32_t max_age_s)
{
    hub_fetch *fetch = open_fetch;
    assert_non_null(fetch);
    open_fetch = NULL;
    const hub_fetched fetched = {.is_there = body != NULL,
                                 .body = hub_str_of(body),
                                 .max_age_s = max_age_s,
                                 .why = "the test says so"};
    fetch->on_end(fetch->ctx, &fetched);
    free(fetch);
}

/* ---- keys and tokens ---- */

enum { KEYS = 3 };

static EVP_PKEY *own[KEYS];
static EVP_PKEY *other; /* that the issuer does not publish */
static struct ev_loop *loop;
static hub_issuers *issuers;
static const char *const AUDIENCES[] = {"hub"};
static const hub_issuer_settings SETTINGS = {
    .jwt = {.issuer = ISSUER, .audiences = {.items = AUDIENCES, .count = 1, .set = true}},
    .keys_url = ISSUER "/keys",
    .print = 1};
static const hub_auth_settings AUTH = {.required = true, .issuers = &SETTINGS, .issuer_count = 1};

static void add_coordinate(const EVP_PKEY *key, const char *name, hub_buf *out)
{
    BIGNUM *number = NULL;
    unsigned char bytes[32];
    assert_true(EVP_PKEY_get_bn_param(key, name, &number));
    assert_int_equal(BN_bn2binpad(number, bytes, 32), 32);
    hub_base64url_add(out, (hub_str){.ptr = (const char *)bytes, .len = 32});
    BN_free(number);
}

/* A set of keys "0", "1" …, from one to before another. */
static char *key_set(size_t from, size_t to)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_JWKS_BYTES);
    hub_buf_printf(&out, "{\"keys\":[");
    for (size_t i = from; i < to; i++) {
        hub_buf_printf(&out, "%s{\"kid\":\"%zu\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"",
                       i > from ? "," : "", i);
        add_coordinate(own[i], OSSL_PKEY_PARAM_EC_PUB_X, &out);
        hub_buf_printf(&out, "\",\"y\":\"");
        add_coordinate(own[i], OSSL_PKEY_PARAM_EC_PUB_Y, &out);
        hub_buf_printf(&out, "\"}");
    }
    hub_buf_printf(&out, "]}");
    char *text = hub_buf_take(&out);
    assert_non_null(text);
    return text;
}

static void answer_keys(size_t from, size_t to, uint32_t max_age_s)
{
    char *text = key_set(from, to);
    answer(text, max_age_s);
    free(text);
}

/* Signed with a key, of that name (NULL: none), for a subject, until then. */
static char *token(size_t key, const char *kid, const char *subject, int64_t expires)
{
    char header[100];
    char claims[200];
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_JWS_BYTES);
    (void)snprintf(header, sizeof header, "{\"alg\":\"ES256\"%s%s%s}",
                   kid != NULL ? ",\"kid\":\"" : "", kid != NULL ? kid : "",
                   kid != NULL ? "\"" : "");
    (void)snprintf(claims, sizeof claims,
                   "{\"iss\":\"" ISSUER "\",\"aud\":\"hub\",\"sub\":\"%s\",\"exp\":%lld}", subject,
                   (long long)expires);
    assert_int_equal(hub_jws_sign(hub_str_of(header), hub_str_of(claims),
                                  hub_jws_algorithm_of(HUB_STR("ES256")), own[key], &out),
                     HUB_OK);
    char *text = hub_buf_take(&out);
    assert_non_null(text);
    return text;
}

static void run(void)
{
    for (int i = 0; i < 20; i++) {
        (void)ev_run(loop, EVRUN_NOWAIT);
    }
}

static hub_issuers_verdict look(const char *text)
{
    hub_identity *identity = NULL;
    const char *reason = NULL;
    hub_issuers_verdict verdict =
        hub_issuers_judge(issuers, hub_str_of(text), now_s, NULL, &identity, &reason);
    hub_identity_unref(identity);
    return verdict;
}

/* What comes of a token that is used up: NULL is for itself. */
static hub_issuers_verdict judge(char *text)
{
    hub_issuers_verdict verdict = look(text);
    if (verdict == HUB_ISSUERS_LATER) {
        run();
        verdict = look(text);
    }
    free(text);
    return verdict;
}

static hub_issuers_verdict judge_new(size_t key, const char *kid)
{
    static unsigned count;
    char subject[20];
    (void)snprintf(subject, sizeof subject, "s%u", count++);
    return judge(token(key, kid, subject, now_s + 1000));
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < KEYS; i++) {
        own[i] = EVP_EC_gen("P-256");
        assert_non_null(own[i]);
    }
    other = EVP_EC_gen("P-256");
    assert_non_null(other);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < KEYS; i++) {
        EVP_PKEY_free(own[i]);
    }
    EVP_PKEY_free(other);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    now_s = BEGIN_S;
    fetches = 0;
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
    return open_fetch == NULL ? 0 : -1;
}

/* With keys "0" to before `to`, good for so long. */
static void begin_with(size_t to, uint32_t max_age_s)
{
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_LATER);
    assert_int_equal(fetches, 1);
    answer_keys(0, to, max_age_s);
    run();
}

/* ---- which key ---- */

static void test_choice(void **state)
{
    (void)state;
    begin_with(2, 0);
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
    assert_int_equal(judge_new(1, "1"), HUB_ISSUERS_GOOD);
    assert_int_equal(judge_new(1, NULL), HUB_ISSUERS_GOOD); /* without a name all are tried */
    assert_int_equal(judge_new(1, "0"), HUB_ISSUERS_REFUSED);
    assert_int_equal(fetches, 1); /* a bad signature asks for nothing */
}

static void test_one_flight(void **state)
{
    (void)state;
    char *all[50];
    for (size_t i = 0; i < 50; i++) {
        char subject[20];
        (void)snprintf(subject, sizeof subject, "f%zu", i);
        all[i] = token(0, "0", subject, now_s + 1000);
        assert_int_equal(look(all[i]), HUB_ISSUERS_LATER);
    }
    run();
    run();
    run();
    assert_int_equal(fetches, 1);
    answer_keys(0, 1, 0);
    for (int i = 0; i < 10; i++) {
        run();
    }
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(look(all[i]), HUB_ISSUERS_GOOD);
        free(all[i]);
    }
    assert_int_equal(fetches, 1);
}

/* ---- a name that is not there ---- */

static void test_pause(void **state)
{
    (void)state;
    begin_with(1, 0);
    now_s += 100;
    assert_int_equal(judge_new(1, "1"), HUB_ISSUERS_LATER); /* others are asked for */
    assert_int_equal(fetches, 2);
    answer_keys(0, 1, 0); /* and are the same */
    run();
    assert_int_equal(judge_new(1, "1"), HUB_ISSUERS_REFUSED);
    assert_int_equal(judge_new(2, "2"), HUB_ISSUERS_REFUSED);
    now_s += HUB_LIMIT_KEYS_PAUSE_S - 1;
    assert_int_equal(judge_new(1, "1"), HUB_ISSUERS_REFUSED);
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD); /* nobody else notices */
    assert_int_equal(fetches, 2);
    now_s++;
    assert_int_equal(judge_new(1, "1"), HUB_ISSUERS_LATER);
    assert_int_equal(fetches, 3);
    answer_keys(0, 2, 0);
    run();
    assert_int_equal(judge_new(1, "1"), HUB_ISSUERS_GOOD);
}

/* What was refused for want of a key is judged again with the next ones, by and by. */
static void test_rotation(void **state)
{
    (void)state;
    begin_with(1, 0);
    char *next = token(1, "1", "next", now_s + 1000);
    assert_int_equal(look(next), HUB_ISSUERS_LATER);
    run();
    answer_keys(1, 2, 0); /* the first one is gone */
    run();
    assert_int_equal(look(next), HUB_ISSUERS_GOOD);
    free(next);
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_REFUSED);
}

/* ---- an issuer that does not answer ---- */

static void test_last_good_keys(void **state)
{
    (void)state;
    begin_with(1, 0);
    static const char *const BAD[] = {NULL, "", "{}", "{\"keys\":[]}", "<html>"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        now_s += HUB_LIMIT_KEYS_PAUSE_S;
        assert_int_equal(judge_new(1, "1"), HUB_ISSUERS_LATER);
        answer(BAD[i], 0);
        run();
        assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
    }
    now_s += 30 * 86400; /* and for as long as there are no others */
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
    answer(NULL, 0);
    run();
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
}

static void test_no_keys_yet(void **state)
{
    (void)state;
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_LATER);
    answer(NULL, 0);
    run();
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_UNAVAILABLE);
    now_s += HUB_LIMIT_KEYS_RETRY_S - 1;
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_UNAVAILABLE);
    assert_int_equal(fetches, 1);
    now_s++;
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_LATER);
    assert_int_equal(fetches, 2);
    answer_keys(0, 1, 0);
    run();
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
}

/* ---- how long keys are good ---- */

static void expect_age(uint32_t said, int64_t meant)
{
    (void)begin(NULL);
    begin_with(1, said);
    int64_t fetched_s = now_s;
    now_s = fetched_s + meant - 1;
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
    assert_int_equal(fetches, 1);
    now_s++;
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD); /* nobody waits for them */
    assert_int_equal(fetches, 2);
    answer_keys(0, 1, said);
    run();
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
    assert_int_equal(fetches, 2);
    (void)end(NULL);
}

static void test_age(void **state)
{
    (void)state;
    expect_age(0, HUB_LIMIT_KEYS_USUAL_S);
    expect_age(1000, 1000);
    expect_age(1, HUB_LIMIT_KEYS_LEAST_S);
    expect_age(1000000, HUB_LIMIT_KEYS_MOST_S);
}

/* ---- what is remembered ---- */

static void test_remembered(void **state)
{
    (void)state;
    begin_with(1, 0);
    char *text = token(0, "0", "ann", now_s + 100);
    assert_int_equal(look(text), HUB_ISSUERS_LATER);
    run();
    hub_identity *first = NULL;
    hub_identity *second = NULL;
    const char *reason = NULL;
    assert_int_equal(hub_issuers_judge(issuers, hub_str_of(text), now_s, NULL, &first, &reason),
                     HUB_ISSUERS_GOOD);
    now_s += 159; /* with what clocks may differ by */
    assert_int_equal(hub_issuers_judge(issuers, hub_str_of(text), now_s, NULL, &second, &reason),
                     HUB_ISSUERS_GOOD);
    assert_ptr_equal(first, second); /* it was not verified again */
    assert_string_equal(first->name, "jwt:" ISSUER "#ann");
    hub_identity_unref(first);
    hub_identity_unref(second);
    now_s++;
    assert_int_equal(look(text), HUB_ISSUERS_LATER); /* forgotten */
    run();
    assert_int_equal(look(text), HUB_ISSUERS_REFUSED);
    free(text);
}

/* A thousand that nobody has seen before: one is verified in each turn of the loop, and between two of them everybody else has
 * theirs; one that is known is answered at once. */
static void test_many_new(void **state)
{
    (void)state;
    enum { NEW = 1000 };
    static char *all[NEW];
    begin_with(1, 0);
    char *known = token(0, "0", "known", now_s + 1000);
    assert_int_equal(look(known), HUB_ISSUERS_LATER);
    run();
    for (size_t i = 0; i < NEW; i++) {
        char subject[20];
        (void)snprintf(subject, sizeof subject, "n%zu", i);
        all[i] = token(0, "0", subject, now_s + 1000);
        assert_int_equal(look(all[i]), HUB_ISSUERS_LATER);
    }
    size_t judged = 0;
    for (size_t turns = 0; judged < NEW; turns++) {
        assert_true(turns < 3 * NEW);
        assert_int_equal(look(known), HUB_ISSUERS_GOOD);
        (void)ev_run(loop, EVRUN_NOWAIT);
        size_t before = judged;
        while (judged < NEW && look(all[judged]) == HUB_ISSUERS_GOOD) {
            judged++;
        }
        assert_true(judged <= before + 1);
    }
    for (size_t i = 0; i < NEW; i++) {
        free(all[i]);
    }
    free(known);
}

/* So many may wait to be judged, and one more has to come again. */
static void test_open(void **state)
{
    (void)state;
    static char *all[HUB_LIMIT_TOKENS_OPEN + 1];
    for (size_t i = 0; i <= HUB_LIMIT_TOKENS_OPEN; i++) {
        char subject[20];
        (void)snprintf(subject, sizeof subject, "o%zu", i);
        all[i] = token(0, "0", subject, now_s + 1000);
        assert_int_equal(look(all[i]),
                         i < HUB_LIMIT_TOKENS_OPEN ? HUB_ISSUERS_LATER : HUB_ISSUERS_UNAVAILABLE);
    }
    while (open_fetch == NULL) {
        (void)ev_run(loop, EVRUN_NOWAIT);
    }
    answer_keys(0, 1, 0);
    while (look(all[HUB_LIMIT_TOKENS_OPEN - 1]) == HUB_ISSUERS_LATER) {
        (void)ev_run(loop, EVRUN_NOWAIT);
    }
    assert_int_equal(look(all[HUB_LIMIT_TOKENS_OPEN]), HUB_ISSUERS_LATER);
    run();
    assert_int_equal(look(all[HUB_LIMIT_TOKENS_OPEN]), HUB_ISSUERS_GOOD);
    for (size_t i = 0; i <= HUB_LIMIT_TOKENS_OPEN; i++) {
        free(all[i]);
    }
}

/* So many judgements are remembered: the next one takes the place of a refusal, or else of the oldest. */
static void test_judged(void **state)
{
    (void)state;
    begin_with(1, 0);
    char *refused = token(1, "0", "refused", now_s + 1000);
    char *first = token(0, "0", "first", now_s + 1000);
    char *second = token(0, "0", "second", now_s + 1000);
    char *const early[] = {refused, first, second};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(look(early[i]), HUB_ISSUERS_LATER);
        run();
    }
    for (size_t i = 1 + 3; i < HUB_LIMIT_TOKENS_JUDGED; i++) { /* and the one of begin_with */
        assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
    }
    verifications = 0;
    assert_int_equal(look(refused), HUB_ISSUERS_REFUSED);
    assert_int_equal(judge_new(0, "0"), HUB_ISSUERS_GOOD);
    assert_int_equal(look(first), HUB_ISSUERS_GOOD);
    assert_int_equal(verifications, 1);
    assert_int_equal(look(refused), HUB_ISSUERS_LATER); /* it was forgotten; the oldest makes way */
    run();
    assert_int_equal(look(first), HUB_ISSUERS_GOOD);
    free(refused);
    free(first);
    free(second);
}

/* Tokens that name no key, and are signed by the last of those that are tried, or by none: still one verification in each turn,
 * and a token that names its key does not wait for all tries of theirs. */
static void test_nameless(void **state)
{
    (void)state;
    enum { NAMELESS = 50 };
    char *all[NAMELESS];
    begin_with(KEYS, 0);
    EVP_PKEY *kept = own[0];
    for (size_t i = 0; i < NAMELESS; i++) {
        char subject[20];
        (void)snprintf(subject, sizeof subject, "l%zu", i);
        own[0] = i % 2 == 0 ? own[KEYS - 1] : other;
        all[i] = token(0, NULL, subject, now_s + 1000);
        assert_int_equal(look(all[i]), HUB_ISSUERS_LATER);
    }
    own[0] = kept;
    char *named = token(0, "0", "named", now_s + 1000);
    assert_int_equal(look(named), HUB_ISSUERS_LATER);
    unsigned total = 0;
    for (size_t turns = 0; turns < 4 * NAMELESS * KEYS; turns++) {
        verifications = 0;
        (void)ev_run(loop, EVRUN_NOWAIT);
        assert_true(verifications <= 1);
        total += verifications;
        assert_int_equal(look(named), total > NAMELESS ? HUB_ISSUERS_GOOD : HUB_ISSUERS_LATER);
    }
    assert_int_equal(total, NAMELESS * KEYS + 1);
    for (size_t i = 0; i < NAMELESS; i++) {
        assert_int_equal(look(all[i]), i % 2 == 0 ? HUB_ISSUERS_GOOD : HUB_ISSUERS_REFUSED);
        free(all[i]);
    }
    free(named);
}

/* Other keys come while a token is half tried: it is tried with all of these. */
static void test_nameless_and_other_keys(void **state)
{
    (void)state;
    begin_with(2, 0);
    now_s += HUB_LIMIT_KEYS_PAUSE_S;
    char *nameless = token(2, NULL, "nameless", now_s + 1000);
    char *newer = token(2, "2", "newer", now_s + 1000);
    assert_int_equal(look(newer), HUB_ISSUERS_LATER);
    assert_int_equal(look(nameless), HUB_ISSUERS_LATER);
    verifications = 0;
    while (verifications == 0) { /* the one asks for keys, the other is tried with the first */
        (void)ev_run(loop, EVRUN_NOWAIT);
    }
    assert_int_equal(look(nameless), HUB_ISSUERS_LATER);
    answer_keys(0, 3, 0);
    run();
    assert_int_equal(look(newer), HUB_ISSUERS_GOOD);
    assert_int_equal(look(nameless), HUB_ISSUERS_GOOD);
    free(nameless);
    free(newer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_choice, begin, end),
        cmocka_unit_test_setup_teardown(test_one_flight, begin, end),
        cmocka_unit_test_setup_teardown(test_pause, begin, end),
        cmocka_unit_test_setup_teardown(test_rotation, begin, end),
        cmocka_unit_test_setup_teardown(test_last_good_keys, begin, end),
        cmocka_unit_test_setup_teardown(test_no_keys_yet, begin, end),
        cmocka_unit_test(test_age),
        cmocka_unit_test_setup_teardown(test_remembered, begin, end),
        cmocka_unit_test_setup_teardown(test_many_new, begin, end),
        cmocka_unit_test_setup_teardown(test_open, begin, end),
        cmocka_unit_test_setup_teardown(test_judged, begin, end),
        cmocka_unit_test_setup_teardown(test_nameless, begin, end),
        cmocka_unit_test_setup_teardown(test_nameless_and_other_keys, begin, end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
