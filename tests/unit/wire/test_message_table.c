/* SPDX-License-Identifier: Apache-2.0 */
/* P02: the envelope rules of wire/message.h. Messages are put together from parts in all
 * combinations; what is expected follows from what is written beside each part. */
#include "json_cases.h"

#include "wire/message.h"

/* One way to write a member, or to leave it out. */
typedef enum quality {
    ABSENT,
    GOOD,
    NULL_ID, /* good in an error response alone */
    BAD,
} quality;

typedef struct part {
    const char *text;
    quality quality;
} part;

static const part VERSIONS[] = {
    {"\"jsonrpc\":\"2.0\"", GOOD},
    {"\"jsonrpc\":\"2.\\u0030\"", GOOD},
    {"\"jsonrpc\":\"1.0\"", BAD},
    {"\"jsonrpc\":2.0", BAD},
    {"\"jsonrpc\":null", BAD},
    {"\"JSONRPC\":\"2.0\"", BAD},
    {"", BAD},
};

static const part IDS[] = {
    {"", ABSENT},
    {"\"id\":1", GOOD},
    {"\"id\":-0", GOOD},
    {"\"id\":\"\"", GOOD},
    {"\"id\":\"a\\n\"", GOOD},
    {"\"id\":123456789012345678901234567890", GOOD},
    {"\"id\":null", NULL_ID},
    {"\"id\":true", BAD},
    {"\"id\":1.5", BAD},
    {"\"id\":1e3", BAD},
    {"\"id\":1E3", BAD},
    {"\"id\":{}", BAD},
    {"\"id\":[]", BAD},
    {"\"id\":1,\"id\":1", BAD},
};

static const part METHODS[] = {
    {"", ABSENT},
    {"\"method\":\"tools/call\"", GOOD},
    {"\"method\":\"\xc3\xa9\"", GOOD},
    {"\"method\":\"\"", BAD},
    {"\"method\":\"tools\\/call\"", BAD},
    {"\"method\":1", BAD},
    {"\"method\":null", BAD},
    {"\"method\":{}", BAD},
};

static const part PARAMS[] = {
    {"", ABSENT},
    {"\"params\":{}", GOOD},
    {"\"params\":{\"_meta\":{},\"arguments\":{},\"x\":null}", GOOD},
    {"\"params\":{\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}}", GOOD},
    {"\"params\":{\"name\":1,\"uri\":[],\"cursor\":null}", GOOD}, /* typed by who reads them */
    {"\"params\":[]", BAD},
    {"\"params\":null", BAD},
    {"\"params\":\"{}\"", BAD},
    {"\"params\":{\"_meta\":[]}", GOOD},
    {"\"params\":{\"_meta\":null}", GOOD},
    {"\"params\":{\"arguments\":[]}", GOOD},
    {"\"params\":{\"arguments\":null}", GOOD},
    {"\"params\":{\"arguments\":\"\"}", GOOD},
    {"\"params\":{\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":true}}", GOOD},
};

static const part RESULTS[] = {
    {"", ABSENT},
    {"\"result\":{}", GOOD},
    {"\"result\":{\"_meta\":1,\"resultType\":null}", GOOD},
    {"\"result\":null", BAD},
    {"\"result\":[]", BAD},
    {"\"result\":1", BAD},
};

static const part ERRORS[] = {
    {"", ABSENT},
    {"\"error\":{\"code\":-32600,\"message\":\"no\"}", GOOD},
    {"\"error\":{\"data\":null,\"message\":\"\",\"code\":0}", GOOD},
    {"\"error\":{}", BAD},
    {"\"error\":{\"code\":1}", BAD},
    {"\"error\":{\"message\":\"\"}", BAD},
    {"\"error\":{\"code\":1.0,\"message\":\"\"}", BAD},
    {"\"error\":{\"code\":1e2,\"message\":\"\"}", BAD},
    {"\"error\":{\"code\":9223372036854775807,\"message\":\"\"}", GOOD},
    {"\"error\":{\"code\":-9223372036854775808,\"message\":\"\"}", GOOD},
    {"\"error\":{\"code\":9223372036854775808,\"message\":\"\"}", BAD},
    {"\"error\":{\"code\":-9223372036854775809,\"message\":\"\"}", BAD},
    {"\"error\":{\"code\":\"1\",\"message\":\"\"}", BAD},
    {"\"error\":{\"code\":1,\"message\":null}", BAD},
    {"\"error\":{\"code\":1,\"message\":{}}", BAD},
    {"\"error\":null", BAD},
    {"\"error\":\"no\"", BAD},
    {"\"error\":[]", BAD},
};

/* The parts of one message. */
typedef struct choice {
    part version, id, method, params, result, error;
} choice;

/* The rules, written as the header says them. NONE is a refusal. */
static hub_message_kind expected_kind(const choice *c)
{
    bool has_method = c->method.quality != ABSENT;
    bool has_result = c->result.quality != ABSENT;
    bool has_error = c->error.quality != ABSENT;
    if (c->version.quality != GOOD || c->id.quality == BAD || c->method.quality == BAD ||
        c->params.quality == BAD || c->result.quality == BAD || c->error.quality == BAD) {
        return HUB_MESSAGE_NONE;
    }
    if (has_method + has_result + has_error != 1) {
        return HUB_MESSAGE_NONE;
    }
    if (has_error) {
        return HUB_MESSAGE_ERROR;
    }
    if (c->id.quality == NULL_ID || (has_result && c->id.quality == ABSENT)) {
        return HUB_MESSAGE_NONE;
    }
    if (has_result) {
        return HUB_MESSAGE_RESULT;
    }
    return c->id.quality == ABSENT ? HUB_MESSAGE_NOTIFICATION : HUB_MESSAGE_REQUEST;
}

static void expect_choice(const choice *c, bool backwards)
{
    const part parts[] = {c->version, c->id, c->method, c->params, c->result, c->error};
    hub_buf out;
    hub_buf_init(&out, 4096);
    hub_buf_add_char(&out, '{');
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        const char *text = parts[backwards ? COUNT_OF(parts) - 1 - i : i].text;
        if (*text != '\0') {
            hub_json_add_comma(&out);
            hub_buf_add(&out, hub_str_of(text));
        }
    }
    hub_buf_add_char(&out, '}');
    hub_str text = copy_exact(hub_buf_str(&out));
    hub_message message;
    hub_error error = {0};
    hub_message_kind want = expected_kind(c);
    hub_err err = hub_message_scan(text, &message, &error);
    if (err != (want == HUB_MESSAGE_NONE ? HUB_EINVAL : HUB_OK) || message.kind != want) {
        fail_msg(HUB_STR_FMT ": kind %d, not %d %s", HUB_STR_ARG(text), message.kind, want,
                 error.text);
    }
    bool keeps_id = c->id.quality == GOOD || (err == HUB_OK && c->id.quality == NULL_ID);
    assert_text(message.at[HUB_M_ID], keeps_id ? strchr(c->id.text, ':') + 1 : "");
    hub_buf_fini(&out);
    free_exact(text);
}

static void applies_the_rules_to_all_combinations(void **state)
{
    (void)state;
    const size_t counts[] = {COUNT_OF(VERSIONS), COUNT_OF(IDS),     COUNT_OF(METHODS),
                             COUNT_OF(PARAMS),   COUNT_OF(RESULTS), COUNT_OF(ERRORS)};
    size_t total = 1;
    size_t accepted = 0;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        total *= counts[i];
    }
    assert_true(total >= 400);
    for (size_t number = 0; number < total; number++) {
        size_t index[COUNT_OF(counts)];
        size_t rest = number;
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            index[i] = rest % counts[i];
            rest /= counts[i];
        }
        choice c = {VERSIONS[index[0]], IDS[index[1]],     METHODS[index[2]],
                    PARAMS[index[3]],   RESULTS[index[4]], ERRORS[index[5]]};
        expect_choice(&c, number % 2 != 0);
        accepted += expected_kind(&c) != HUB_MESSAGE_NONE;
    }
    assert_true(accepted >= 300); /* the expectation itself is not all refusal */
}

/* Every choice at least once backwards as well: no rule depends on the order. */
static void applies_the_rules_in_any_order(void **state)
{
    (void)state;
    for (size_t id = 0; id < COUNT_OF(IDS); id++) {
        for (size_t i = 0; i < COUNT_OF(METHODS) * COUNT_OF(PARAMS); i++) {
            choice c = {.version = VERSIONS[0],
                        .id = IDS[id],
                        .method = METHODS[i % COUNT_OF(METHODS)],
                        .params = PARAMS[i / COUNT_OF(METHODS)],
                        .result = RESULTS[0],
                        .error = ERRORS[0]};
            expect_choice(&c, false);
            expect_choice(&c, true);
        }
    }
}

/* Valid JSON that is no message; and what is no JSON. */
static void refuses_other_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        hub_err want;
    } cases[] = {
        {"1", HUB_EINVAL},
        {"-1.5", HUB_EINVAL},
        {"\"2.0\"", HUB_EINVAL},
        {"null", HUB_EINVAL},
        {"true", HUB_EINVAL},
        {"false", HUB_EINVAL},
        {"{}", HUB_EINVAL},
        {" {} ", HUB_EINVAL},
        {"{\"a\":{}}", HUB_EINVAL},
        {"", HUB_EPARSE},
        {" ", HUB_EPARSE},
        {"{", HUB_EPARSE},
        {"{}}", HUB_EPARSE},
        {"[}", HUB_EPARSE},
        {"{\"a\":01}", HUB_EPARSE},
        {"\xef\xbb\xbf{}", HUB_EPARSE},
        {"{\"\xc0\x80\":1}", HUB_EPARSE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        hub_str text = copy_exact(hub_str_of(cases[i].text));
        hub_message message;
        assert_int_equal(hub_message_scan(text, &message, NULL), cases[i].want);
        assert_int_equal(message.kind, HUB_MESSAGE_NONE);
        free_exact(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_the_rules_to_all_combinations),
        cmocka_unit_test(applies_the_rules_in_any_order),
        cmocka_unit_test(refuses_other_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
