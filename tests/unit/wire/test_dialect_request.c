/* SPDX-License-Identifier: Apache-2.0 */
/* wire/dialect: a client's request on its way to an upstream. */
#include "dialect_support.h"

#define MODERN HUB_REVISION_2026_07_28
#define LEGACY HUB_REVISION_2025_06_18
#define INFO   "{\"name\":\"hub\"}"
#define HEAD   "{\"jsonrpc\":\"2.0\",\"id\":42,\"method\":\"tools/call\""
#define OURS   V_MODERN "," K_INFO ":" INFO "," K_CAPS ":{}"

/* Frame a request whose params (NULL: none) are scanned as those of a client are. */
static size_t frame(hub_revision revision, const char *params, const char *name, bool progress,
                    hub_buf *text, hub_buf *scratch, hub_str *parts)
{
    hub_message message;
    hub_error why = {.code = HUB_OK};
    hub_buf_clear(text);
    hub_buf_printf(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"%s%s}",
                   params != NULL ? ",\"params\":" : "", params != NULL ? params : "");
    if (hub_message_scan(hub_buf_str(text), &message, &why) != HUB_OK) {
        print_error("%s: %s\n", why.text, params);
        fail();
    }
    hub_upstream_request request = {
        .revision = revision,
        .id = 42,
        .method = message.method,
        .params = message.at[HUB_M_PARAMS],
        .name_json = message.at[HUB_M_NAME],
        .meta_json = message.at[HUB_M_META],
        .name = hub_str_of(name),
        .wants_progress = progress,
        .capabilities = HUB_STR("{}"),
        .client_info = HUB_STR(INFO),
    };
    return hub_dialect_request(&request, scratch, parts);
}

typedef struct request_case {
    const char *label;
    const char *params;
    const char *name;
    bool progress;
    const char *legacy, *modern; /* what follows HEAD, before the last brace */
} request_case;

static const request_case CASES[] = {
    {"no params", NULL, NULL, false, "", ",\"params\":{\"_meta\":{" OURS "}}"},
    {"empty params", "{}", NULL, false, ",\"params\":{}", ",\"params\":{\"_meta\":{" OURS "}}"},
    {"blank params", "{ \n}", NULL, false, ",\"params\":{ \n}",
     ",\"params\":{\"_meta\":{" OURS "} \n}"},
    {"no params, progress", NULL, NULL, true, ",\"params\":{\"_meta\":{\"progressToken\":42}}",
     ",\"params\":{\"_meta\":{\"progressToken\":42," OURS "}}"},
    {"no _meta", "{ \"a\":1}", NULL, false, ",\"params\":{ \"a\":1}",
     ",\"params\":{\"_meta\":{" OURS "}, \"a\":1}"},
    {"no _meta, progress", "{\"a\":1}", NULL, true,
     ",\"params\":{\"_meta\":{\"progressToken\":42},\"a\":1}",
     ",\"params\":{\"_meta\":{\"progressToken\":42," OURS "},\"a\":1}"},
    {"empty _meta", "{\"_meta\":{}}", NULL, false, ",\"params\":{\"_meta\":{}}",
     ",\"params\":{\"_meta\":{" OURS "}}"},
    {"foreign keys", "{\"_meta\": { \"a\" : [1, 2] , \"traceparent\":\"x\" } }", NULL, false,
     ",\"params\":{\"_meta\": { \"a\" : [1, 2] , \"traceparent\":\"x\" } }",
     ",\"params\":{\"_meta\": {\"a\":[1, 2],\"traceparent\":\"x\"," OURS "} }"},
    {"foreign keys, progress", "{\"_meta\":{\"a\":{}}}", NULL, true,
     ",\"params\":{\"_meta\":{\"a\":{},\"progressToken\":42}}",
     ",\"params\":{\"_meta\":{\"a\":{},\"progressToken\":42," OURS "}}"},
    {"a token that nobody wants", "{\"_meta\":{\"progressToken\":\"t\",\"a\":1}}", NULL, false,
     ",\"params\":{\"_meta\":{\"a\":1}}", ",\"params\":{\"_meta\":{\"a\":1," OURS "}}"},
    {"only a token", "{\"_meta\":{\"progressToken\":7}}", NULL, true,
     ",\"params\":{\"_meta\":{\"progressToken\":42}}",
     ",\"params\":{\"_meta\":{\"progressToken\":42," OURS "}}"},
    {"a modern client",
     "{\"_meta\":{" V_MODERN "," K_CAPS ":{\"x\":{}}," K_INFO ":{\"name\":\"c\"}," K_LEVEL
     ":\"info\",\"a\":1}}",
     NULL, false, ",\"params\":{\"_meta\":{\"a\":1}}",
     ",\"params\":{\"_meta\":{\"a\":1," OURS "}}"},
    {"owned keys escaped",
     "{\"_meta\":{\"io.modelcontextprotocol\\/protocolVersion\":\"2026-07-28\","
     "\"progress\\u0054oken\":1,\"progresstoken\":2}}",
     NULL, false, ",\"params\":{\"_meta\":{\"progresstoken\":2}}",
     ",\"params\":{\"_meta\":{\"progresstoken\":2," OURS "}}"},
    {"a reserved key of somebody else",
     "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}", NULL, false,
     ",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}",
     ",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1," OURS "}}"},
    {"name", "{\"name\":\"a__b\",\"arguments\":{}}", "b", false,
     ",\"params\":{\"name\":\"b\",\"arguments\":{}}",
     ",\"params\":{\"_meta\":{" OURS "},\"name\":\"b\",\"arguments\":{}}"},
    {"name before _meta", "{\"name\" : \"a__b\" ,\"_meta\":{\"a\":1} , \"x\":1}", "b", true,
     ",\"params\":{\"name\" : \"b\" ,\"_meta\":{\"a\":1,\"progressToken\":42} , \"x\":1}",
     ",\"params\":{\"name\" : \"b\" ,\"_meta\":{\"a\":1,\"progressToken\":42," OURS "} , \"x\":1}"},
    {"name behind _meta", "{\"_meta\":{\"a\":1},\"name\":\"a__b\"}", "b", true,
     ",\"params\":{\"_meta\":{\"a\":1,\"progressToken\":42},\"name\":\"b\"}",
     ",\"params\":{\"_meta\":{\"a\":1,\"progressToken\":42," OURS "},\"name\":\"b\"}"},
    {"a name of its own", "{\"name\":\"b\"}", "b", false, ",\"params\":{\"name\":\"b\"}",
     ",\"params\":{\"_meta\":{" OURS "},\"name\":\"b\"}"},
    {"its own, but escaped", "{\"name\":\"\\u0062\"}", "b", false,
     ",\"params\":{\"name\":\"\\u0062\"}",
     ",\"params\":{\"_meta\":{" OURS "},\"name\":\"\\u0062\"}"},
    {"a name to escape", "{\"name\":\"x\"}", "a\"b\\\n", false,
     ",\"params\":{\"name\":\"a\\\"b\\\\\\n\"}",
     ",\"params\":{\"_meta\":{" OURS "},\"name\":\"a\\\"b\\\\\\n\"}"},
    {"the client's name", "{\"name\":\"x\"}", NULL, false, ",\"params\":{\"name\":\"x\"}",
     ",\"params\":{\"_meta\":{" OURS "},\"name\":\"x\"}"},
    {"name and _meta elsewhere",
     "{\"arguments\":{\"name\":\"a\",\"_meta\":{\"progressToken\":1}},\"name\":\"a\"}", "b", false,
     ",\"params\":{\"arguments\":{\"name\":\"a\",\"_meta\":{\"progressToken\":1}},\"name\":\"b\"}",
     ",\"params\":{\"_meta\":{" OURS
     "},\"arguments\":{\"name\":\"a\",\"_meta\":{\"progressToken\":1}},\"name\":\"b\"}"},
    {"bytes that a parser would change",
     "{\"a\":1.10,\"a\":-0,\"b\":1e400,\"c\":\"\\u0000\\/\\ud800\",\"d\":12345678901234567890}",
     NULL, false,
     ",\"params\":{\"a\":1.10,\"a\":-0,\"b\":1e400,\"c\":\"\\u0000\\/\\ud800\","
     "\"d\":12345678901234567890}",
     ",\"params\":{\"_meta\":{" OURS "},\"a\":1.10,\"a\":-0,\"b\":1e400,"
     "\"c\":\"\\u0000\\/\\ud800\",\"d\":12345678901234567890}"},
};

static void check_case(const request_case *test, hub_revision revision)
{
    hub_buf text;
    hub_buf scratch;
    hub_buf expected;
    hub_str parts[HUB_FRAME_PARTS];
    hub_buf_init(&text, SIZE_MAX);
    hub_buf_init(&scratch, SIZE_MAX);
    hub_buf_init(&expected, SIZE_MAX);
    size_t count =
        frame(revision, test->params, test->name, test->progress, &text, &scratch, parts);
    hub_buf_printf(&expected, HEAD "%s}", revision == MODERN ? test->modern : test->legacy);
    char *frame_text = hub_buf_take(&expected);
    assert_frame(parts, count, HUB_MESSAGE_REQUEST, frame_text);
    free(frame_text);
    hub_buf_fini(&text);
    hub_buf_fini(&scratch);
}

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        check_case(&CASES[i], MODERN);
        for (int revision = HUB_REVISION_2024_11_05; revision < MODERN; revision++) {
            check_case(&CASES[i], (hub_revision)revision);
        }
    }
}

static void test_level_and_capabilities(void **state)
{
    (void)state;
    hub_buf scratch;
    hub_str parts[HUB_FRAME_PARTS];
    hub_upstream_request request = {.revision = MODERN,
                                    .id = UINT64_MAX,
                                    .method = HUB_STR("m"),
                                    .capabilities = HUB_STR("{\"x\":{}}"),
                                    .client_info = HUB_STR(INFO),
                                    .log_level = HUB_STR("\"info\""),
                                    .wants_progress = true};
    hub_buf_init(&scratch, SIZE_MAX);
    size_t count = hub_dialect_request(&request, &scratch, parts);
    assert_frame(parts, count, HUB_MESSAGE_REQUEST,
                 "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"m\",\"params\":{"
                 "\"_meta\":{\"progressToken\":18446744073709551615," V_MODERN "," K_INFO ":" INFO
                 "," K_CAPS ":{\"x\":{}}," K_LEVEL ":\"info\"}}}");
    hub_buf_fini(&scratch);
}

/* With any amount of memory it is a whole frame or none. */
static void test_scratch_that_is_too_small(void **state)
{
    (void)state;
    hub_buf text;
    hub_buf scratch;
    hub_str parts[HUB_FRAME_PARTS];
    hub_buf_init(&text, SIZE_MAX);
    size_t max = 0;
    for (size_t count = 0; count == 0; max++) {
        hub_buf_init(&scratch, max);
        count = frame(MODERN, "{\"name\":\"a\",\"_meta\":{\"a\":1}}", "b", true, &text, &scratch,
                      parts);
        if (count > 0) {
            assert_frame(parts, count, HUB_MESSAGE_REQUEST,
                         HEAD ",\"params\":{\"name\":\"b\",\"_meta\":{\"a\":1,"
                              "\"progressToken\":42," OURS "}}}");
            assert_int_equal(scratch.len, max);
        }
        hub_buf_fini(&scratch);
    }
    assert_true(max > 100);
    hub_buf_fini(&text);
}

/* ---- ten thousand random requests ------------------------------------------------------------ */

static uint32_t seed = 20260728;

static uint32_t random_below(uint32_t bound)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

static void add_space(hub_buf *out)
{
    while (random_below(3) == 0) {
        hub_buf_add_char(out, " \t\r\n"[random_below(4)]);
    }
}

static void add_value(hub_buf *out, int depth)
{
    static const char *const SCALARS[] = {
        "null",        "true",         "-0",
        "1.10",        "1e400",        "18446744073709551616",
        "\"\"",        "\"a\\\"}{\"",  "\"\\ud83d\"",
        "\"\\u0000\"", "\"\xc3\xa4\"", "\"name\"",
        "\"_meta\"",   "\"\\\\\"",
    };
    uint32_t kind = depth > 0 ? random_below(4) : 2;
    if (kind >= 2) {
        hub_buf_add(out, hub_str_of(SCALARS[random_below(sizeof SCALARS / sizeof SCALARS[0])]));
        return;
    }
    hub_buf_add_char(out, kind == 0 ? '{' : '[');
    add_space(out);
    for (uint32_t i = 0, count = random_below(4); i < count; i++) {
        static const char *const KEYS[] = {"\"name\"", "\"_meta\"", "\"a\"", "\"\"",
                                           "\"n\\u0061me\""};
        hub_buf_add(out, i > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
        add_space(out);
        if (kind == 0) {
            hub_buf_add(out, hub_str_of(KEYS[random_below(5)]));
            add_space(out);
            hub_buf_add_char(out, ':');
            add_space(out);
        }
        add_value(out, depth - 1);
        add_space(out);
    }
    hub_buf_add_char(out, kind == 0 ? '}' : ']');
}

/* A request as it comes and as it must leave, built side by side. */
typedef struct generated {
    hub_buf given;
    hub_buf expected;
    bool modern, progress, renames;
    bool has_meta;
} generated;

static void add_both(generated *pair, hub_str text)
{
    hub_buf_add(&pair->given, text);
    hub_buf_add(&pair->expected, text);
}

static void add_space_to_both(generated *pair)
{
    hub_buf space;
    hub_buf_init(&space, SIZE_MAX);
    add_space(&space);
    add_both(pair, hub_buf_str(&space));
    hub_buf_fini(&space);
}

static void add_own_keys(const generated *pair, hub_buf *out, bool first)
{
    if (pair->progress) {
        hub_buf_add(out, first ? HUB_STR_EMPTY : HUB_STR(","));
        hub_buf_add(out, HUB_STR("\"progressToken\":42"));
        first = false;
    }
    if (pair->modern) {
        hub_buf_add(out, first ? HUB_STR_EMPTY : HUB_STR(","));
        hub_buf_add(out, HUB_STR(OURS));
    }
}

/* `_meta` keeps the bytes of its foreign keys and values, and all of its bytes when nothing in it
 * is the protocol's and nothing has to be added. */
static void add_meta(generated *pair)
{
    static const char *const OWNED[] = {V_MODERN, "\"progressToken\":\"t\"", K_CAPS ":{\"y\":[]}",
                                        K_INFO ":{}", K_LEVEL ":\"info\""};
    hub_buf kept;
    hub_buf_init(&kept, SIZE_MAX);
    size_t begin = pair->given.len;
    bool changes = pair->progress || pair->modern;
    bool first = true;
    hub_buf_add_char(&pair->given, '{');
    hub_buf_add_char(&kept, '{');
    for (uint32_t i = 0, owned = random_below(5); i < 4; i++) {
        hub_buf_add(&pair->given, i > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
        add_space(&pair->given);
        if (i == owned) {
            hub_buf_add(&pair->given, hub_str_of(OWNED[random_below(5)]));
            changes = true;
            continue;
        }
        hub_buf_add(&kept, first ? HUB_STR_EMPTY : HUB_STR(","));
        first = false;
        size_t from = pair->given.len;
        hub_buf_printf(&pair->given, "\"k\\u006%u\":", i);
        add_value(&pair->given, 3);
        hub_buf_add(&kept, hub_str_from(hub_buf_str(&pair->given), from));
        add_space(&pair->given);
    }
    hub_buf_add_char(&pair->given, '}');
    add_own_keys(pair, &kept, first);
    hub_buf_add_char(&kept, '}');
    hub_buf_add(&pair->expected,
                changes ? hub_buf_str(&kept) : hub_str_from(hub_buf_str(&pair->given), begin));
    hub_buf_fini(&kept);
}

static void add_members(generated *pair)
{
    uint32_t count = random_below(6);
    uint32_t name_at = random_below(8);
    uint32_t meta_at = random_below(8);
    for (uint32_t i = 0; i < count; i++) {
        add_both(pair, i > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
        add_space_to_both(pair);
        if (i == meta_at) {
            add_both(pair, HUB_STR("\"_meta\":"));
            add_meta(pair);
        } else if (i == name_at) {
            add_both(pair, HUB_STR("\"name\" :"));
            hub_buf_add(&pair->given, HUB_STR("\"set__tool\\u0021\""));
            hub_buf_add(&pair->expected,
                        pair->renames ? HUB_STR("\"tool!\"") : HUB_STR("\"set__tool\\u0021\""));
        } else {
            hub_buf value;
            hub_buf_init(&value, SIZE_MAX);
            hub_buf_printf(&value, "\"m%u\":", i);
            add_value(&value, 4);
            add_both(pair, hub_buf_str(&value));
            hub_buf_fini(&value);
        }
        add_space_to_both(pair);
    }
    pair->has_meta = meta_at < count;
}

static void generate(generated *pair)
{
    pair->modern = random_below(2) == 0;
    pair->progress = random_below(2) == 0;
    pair->renames = random_below(2) == 0;
    hub_buf_init(&pair->given, SIZE_MAX);
    hub_buf_init(&pair->expected, SIZE_MAX);
    hub_buf_add(&pair->expected, HUB_STR(HEAD ",\"params\":"));
    add_both(pair, HUB_STR("{"));
    size_t inside = pair->expected.len;
    add_members(pair);
    add_both(pair, HUB_STR("}"));
    if (!pair->has_meta && (pair->modern || pair->progress)) {
        hub_buf whole;
        hub_str rest = hub_str_from(hub_buf_str(&pair->expected), inside);
        hub_buf_init(&whole, SIZE_MAX);
        hub_buf_add(&whole, (hub_str){.ptr = pair->expected.ptr, .len = inside});
        hub_buf_add(&whole, HUB_STR("\"_meta\":{"));
        add_own_keys(pair, &whole, true);
        hub_buf_add(&whole, hub_str_trim(rest).ptr[0] == '}' ? HUB_STR("}") : HUB_STR("},"));
        hub_buf_add(&whole, rest);
        hub_buf_fini(&pair->expected);
        pair->expected = whole;
    }
    hub_buf_add_char(&pair->expected, '}');
}

static void test_other_bytes_stay_the_same(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    hub_buf text;
    hub_buf scratch;
    hub_buf_init(&text, SIZE_MAX);
    hub_buf_init(&scratch, SIZE_MAX);
    for (int i = 0; i < COUNT; i++) {
        generated pair;
        hub_str parts[HUB_FRAME_PARTS];
        generate(&pair);
        char *given = hub_buf_take(&pair.given);
        char *expected = hub_buf_take(&pair.expected);
        size_t count = frame(pair.modern ? MODERN : LEGACY, given, pair.renames ? "tool!" : NULL,
                             pair.progress, &text, &scratch, parts);
        assert_frame(parts, count, HUB_MESSAGE_REQUEST, expected);
        free(given);
        free(expected);
    }
    hub_buf_fini(&text);
    hub_buf_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_level_and_capabilities),
        cmocka_unit_test(test_scratch_that_is_too_small),
        cmocka_unit_test(test_other_bytes_stay_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
