/* SPDX-License-Identifier: Apache-2.0 */
/* wire/dialect: what a request says of itself, and frames for a client. */
#include "dialect_support.h"

#include <stdio.h>

#define NONE   HUB_REVISION_NONE
#define LEGACY HUB_REVISION_2025_06_18
#define BAD    HUB_EINVAL, HUB_RPC_INVALID_PARAMS
#define OTHER  HUB_EUNAVAILABLE, HUB_RPC_UNSUPPORTED_VERSION
#define GOOD   HUB_OK, 0

typedef struct read_case {
    const char *label;
    const char *meta; /* NULL: none */
    hub_revision legacy;
    hub_err err;
    int code;
    const char *says; /* a glob over the reason, or the era: "modern", "legacy" */
} read_case;

static const read_case READ_CASES[] = {
    {"whole", V_MODERN "," K_CAPS ":{}", NONE, GOOD, "modern"},
    {"in a legacy session", V_MODERN "," K_CAPS ":{}", LEGACY, GOOD, "modern"},
    {"escaped spelling of key",
     "\"io.modelcontextprotocol\\/protocolVersion\":\"2026-07-28\"," K_CAPS ":{}", NONE, GOOD,
     "modern"},
    {"escaped spelling of version", K_VERSION ":\"2026\\u002d07-28\"," K_CAPS ":{}", NONE, GOOD,
     "modern"},
    {"no _meta", NULL, NONE, BAD, "*protocolVersion*no initialize"},
    {"empty _meta", "", NONE, BAD, "*protocolVersion*no initialize"},
    {"foreign keys only", "\"a\":1," K_INFO ":{}", NONE, BAD, "*protocolVersion*no initialize"},
    {"no capabilities", V_MODERN, NONE, BAD, "*clientCapabilities*missing*"},
    {"no capabilities, legacy session", V_MODERN, LEGACY, BAD, "*clientCapabilities*missing*"},
    {"no version", K_CAPS ":{}", NONE, BAD, "*protocolVersion*missing*"},
    {"no version, legacy session", K_CAPS ":{}", LEGACY, BAD, "*protocolVersion*missing*"},
    {"version null", K_VERSION ":null," K_CAPS ":{}", NONE, BAD, "*protocolVersion*string*"},
    {"version number", K_VERSION ":20260728," K_CAPS ":{}", NONE, BAD, "*protocolVersion*string*"},
    {"version list", K_VERSION ":[\"2026-07-28\"]," K_CAPS ":{}", LEGACY, BAD,
     "*protocolVersion*string*"},
    {"version true, alone", K_VERSION ":true", NONE, BAD, "*protocolVersion*string*"},
    {"unknown version", K_VERSION ":\"1900-01-01\"," K_CAPS ":{}", NONE, OTHER,
     "Unsupported protocol version"},
    {"empty version", K_VERSION ":\"\"," K_CAPS ":{}", NONE, OTHER, "*"},
    {"newer version", K_VERSION ":\"2026-07-29\"," K_CAPS ":{}", NONE, OTHER, "*"},
    {"longer version", K_VERSION ":\"2026-07-28 \"," K_CAPS ":{}", NONE, OTHER, "*"},
    {"legacy version in _meta", K_VERSION ":\"2025-11-25\"," K_CAPS ":{}", NONE, OTHER, "*"},
    {"its own version in a legacy session", K_VERSION ":\"2025-06-18\"," K_CAPS ":{}", LEGACY,
     OTHER, "*"},
    {"unknown version, no capabilities", K_VERSION ":\"1900-01-01\"", NONE, BAD,
     "*clientCapabilities*missing*"},
    {"info", V_MODERN "," K_CAPS ":{}," K_INFO ":{\"name\":\"x\"}", NONE, GOOD, "modern"},
    {"info null", V_MODERN "," K_CAPS ":{}," K_INFO ":null", NONE, BAD, "*clientInfo*object*"},
    {"info string", V_MODERN "," K_CAPS ":{}," K_INFO ":\"x\"", NONE, BAD, "*clientInfo*object*"},
    {"level", V_MODERN "," K_CAPS ":{}," K_LEVEL ":\"debug\"", NONE, GOOD, "modern"},
    {"level emergency", V_MODERN "," K_CAPS ":{}," K_LEVEL ":\"emergency\"", NONE, GOOD, "modern"},
    {"level unknown", V_MODERN "," K_CAPS ":{}," K_LEVEL ":\"verbose\"", NONE, BAD, "*logLevel*"},
    {"level of other case", V_MODERN "," K_CAPS ":{}," K_LEVEL ":\"Debug\"", NONE, BAD,
     "*logLevel*"},
    {"level number", V_MODERN "," K_CAPS ":{}," K_LEVEL ":7", NONE, BAD, "*logLevel*"},
    {"level null", V_MODERN "," K_CAPS ":{}," K_LEVEL ":null", NONE, BAD, "*logLevel*"},
    {"legacy", NULL, LEGACY, GOOD, "legacy"},
    {"legacy, empty _meta", "", LEGACY, GOOD, "legacy"},
    {"legacy, token string", "\"progressToken\":\"\"", LEGACY, GOOD, "legacy"},
    {"legacy, token integer", "\"progressToken\":-0", LEGACY, GOOD, "legacy"},
    {"token of many digits", "\"progressToken\":123456789012345678901234567890", LEGACY, GOOD,
     "legacy"},
    {"token null", "\"progressToken\":null", LEGACY, BAD, "*progressToken*"},
    {"token true", "\"progressToken\":true", LEGACY, BAD, "*progressToken*"},
    {"token list", "\"progressToken\":[1]", LEGACY, BAD, "*progressToken*"},
    {"token object", "\"progressToken\":{}", LEGACY, BAD, "*progressToken*"},
    {"token fraction", "\"progressToken\":1.5", LEGACY, BAD, "*progressToken*"},
    {"token exponent", "\"progressToken\":1e3", LEGACY, BAD, "*progressToken*"},
    {"token EXPONENT", "\"progressToken\":1E3", LEGACY, BAD, "*progressToken*"},
    {"modern token null", V_MODERN "," K_CAPS ":{},\"progressToken\":null", NONE, BAD,
     "*progressToken*"},
    {"foreign keys of any type",
     V_MODERN "," K_CAPS ":{},\"a\":null,\"io.modelcontextprotocol/x\":[1]", NONE, GOOD, "modern"},
};

static char *request_text(const char *meta)
{
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX);
    hub_buf_add(&out, HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\""));
    if (meta != NULL) {
        hub_buf_printf(&out, ",\"params\":{\"_meta\":{%s}}", meta);
    }
    hub_buf_add_char(&out, '}');
    return hub_buf_take(&out);
}

static void check_read(const read_case *test)
{
    char *text = request_text(test->meta);
    hub_message message;
    hub_request_context context = {.client_info = HUB_STR("untouched")};
    hub_error why = {.code = HUB_OK};
    int code = 0;
    assert_int_equal(hub_message_scan(hub_str_of(text), &message, NULL), HUB_OK);
    hub_err err = hub_dialect_read(&message, test->legacy, &context, &code, &why);
    if (err != test->err || code != test->code) {
        print_error("%s: %s %d %s\n", test->label, hub_err_name(err), code, why.text);
    }
    assert_int_equal(err, test->err);
    assert_int_equal(code, test->code);
    if (err != HUB_OK) {
        assert_int_equal(why.code, err);
        assert_true(hub_str_glob(hub_str_of(test->says), hub_str_of(why.text)));
        assert_true(hub_str_is(context.client_info, "untouched"));
        assert_int_equal(hub_dialect_read(&message, test->legacy, &context, &code, NULL), err);
    } else {
        bool modern = strcmp(test->says, "modern") == 0;
        assert_int_equal(context.era, modern ? HUB_ERA_MODERN : HUB_ERA_LEGACY);
        assert_int_equal(context.revision, modern ? HUB_REVISION_2026_07_28 : test->legacy);
        assert_int_equal(hub_json_type_of(context.capabilities), HUB_JSON_OBJECT);
        assert_true(hub_str_eq(context.progress_token, message.at[HUB_M_META_PROGRESS_TOKEN]));
    }
    free(text);
}

static void test_reading(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof READ_CASES / sizeof READ_CASES[0]; i++) {
        check_read(&READ_CASES[i]);
    }
}

static void test_what_is_read(void **state)
{
    (void)state;
    char *text =
        request_text(V_MODERN "," K_CAPS ":{\"roots\":{}}," K_INFO ":{\"name\":\"n\"}," K_LEVEL
                              ":\"notice\",\"progressToken\":\"t\"");
    hub_message message;
    hub_request_context context;
    int code = 0;
    assert_int_equal(hub_message_scan(hub_str_of(text), &message, NULL), HUB_OK);
    assert_int_equal(hub_dialect_read(&message, NONE, &context, &code, NULL), HUB_OK);
    assert_true(hub_str_is(context.capabilities, "{\"roots\":{}}"));
    assert_true(hub_str_is(context.client_info, "{\"name\":\"n\"}"));
    assert_true(hub_str_is(context.log_level, "\"notice\""));
    assert_true(hub_str_is(context.progress_token, "\"t\""));
    free(text);
    text = request_text(K_INFO ":{\"name\":\"n\"}," K_LEVEL
                               ":7"); /* mean nothing in a legacy request */
    assert_int_equal(hub_message_scan(hub_str_of(text), &message, NULL), HUB_OK);
    assert_int_equal(hub_dialect_read(&message, LEGACY, &context, &code, NULL), HUB_OK);
    assert_int_equal(context.client_info.len + context.log_level.len + context.progress_token.len,
                     0);
    assert_true(hub_str_is(context.capabilities, "{}"));
    free(text);
}

/* A token is echoed with every progress notification. */
static void test_the_limit_of_a_token(void **state)
{
    (void)state;
    for (int digits = 0; digits < 2; digits++) {
        for (size_t extra = 0; extra < 2; extra++) {
            char meta[HUB_LIMIT_ID_BYTES + 40] = "\"progressToken\":";
            size_t at = strlen(meta);
            size_t len = HUB_LIMIT_ID_BYTES + extra;
            memset(meta + at, '1', len);
            if (!digits) {
                meta[at] = meta[at + len - 1] = '"';
            }
            const read_case test = {"limit",
                                    meta,
                                    LEGACY,
                                    extra ? HUB_ELIMIT : HUB_OK,
                                    extra ? HUB_RPC_INVALID_PARAMS : 0,
                                    extra ? "*progressToken*256*" : "legacy"};
            check_read(&test);
        }
    }
}

/* server/utilities/caching: hints on complete results, unless the server gave its own. */
static void test_cacheable(void **state)
{
    static const struct {
        const char *result;
        bool has_type;
        const char *want;
    } CASES[] = {
        {"{}", false, "{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"}"},
        {"{ \"a\":1}", false,
         "{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",\"a\":1}"},
        {"{\"ttlMs\":7}", false,
         "{\"resultType\":\"complete\",\"cacheScope\":\"private\",\"ttlMs\":7}"},
        {"{\"cacheScope\":\"public\",\"ttlMs\":7}", false,
         "{\"resultType\":\"complete\",\"cacheScope\":\"public\",\"ttlMs\":7}"},
        {"{\"resultType\":\"complete\",\"b\":{\"ttlMs\":1}}", true,
         "{\"ttlMs\":0,\"cacheScope\":\"private\",\"resultType\":\"complete\","
         "\"b\":{\"ttlMs\":1}}"},
        {"{\"resultType\":\"complete\",\"cacheScope\":\"public\",\"ttlMs\":7}", true,
         "{\"resultType\":\"complete\",\"cacheScope\":\"public\",\"ttlMs\":7}"},
        {"{ \"resultType\":\"complete\" ,\"cacheScope\":\"public\",\"ttlMs\":7}", true,
         "{ \"resultType\":\"complete\" ,\"cacheScope\":\"public\",\"ttlMs\":7}"},
        {"{\"resultType\":\"input_required\"}", true, "{\"resultType\":\"input_required\"}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char want[256];
        hub_str parts[HUB_FRAME_PARTS];
        size_t count = hub_dialect_cacheable(HUB_STR("9"), hub_str_of(CASES[i].result),
                                             CASES[i].has_type, parts);
        (void)snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":%s}",
                       CASES[i].want);
        assert_frame(parts, count, HUB_MESSAGE_RESULT, want);
    }
}

/* ---- frames for a client --------------------------------------------------------------------- */

static void test_results(void **state)
{
    (void)state;
    static const struct {
        hub_era era;
        const char *id, *result;
        bool has_type;
        const char *frame;
    } CASES[] = {
        {HUB_ERA_LEGACY, "1", "{}", false, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"},
        {HUB_ERA_LEGACY, "\"a\"", "{\"x\":1.10}", false,
         "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"x\":1.10}}"},
        {HUB_ERA_LEGACY, "1", "{\"resultType\":\"complete\"}", true,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\"}}"},
        {HUB_ERA_MODERN, "1", "{}", false,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\"}}"},
        {HUB_ERA_MODERN, "1", "{ \n\t\r}", false,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\"}}"},
        {HUB_ERA_MODERN, "1", "{ \"x\" : 1e400 }", false,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\",\"x\" : 1e400 }}"},
        {HUB_ERA_MODERN, "1", "{\"resultType\":\"input_required\"}", true,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"input_required\"}}"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_str parts[HUB_FRAME_PARTS];
        size_t count = hub_dialect_result(CASES[i].era, hub_str_of(CASES[i].id),
                                          hub_str_of(CASES[i].result), CASES[i].has_type, parts);
        assert_frame(parts, count, HUB_MESSAGE_RESULT, CASES[i].frame);
    }
}

static void test_lists(void **state)
{
    (void)state;
    static const char *const FRAMES[2][3] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[]}}",
         "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[1,2]}}",
         "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[1],\"nextCursor\":\"c\"}}"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"resultType\":\"complete\",\"tools\":[]}}",
         "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"resultType\":\"complete\",\"tools\":[1,2]}}",
         "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"resultType\":\"complete\",\"tools\":[1],"
         "\"nextCursor\":\"c\"}}"},
    };
    static const char *const ITEMS[] = {"", "1,2", "1"};
    static const char *const TAILS[] = {"", "", ",\"nextCursor\":\"c\""};
    for (int era = HUB_ERA_LEGACY; era <= HUB_ERA_MODERN; era++) {
        for (size_t i = 0; i < 3; i++) {
            hub_str parts[HUB_FRAME_PARTS];
            hub_str items[HUB_FRAME_ITEMS];
            size_t item_count = strlen(ITEMS[i]); /* as many pieces as there can be here */
            for (size_t k = 0; k < item_count; k++) {
                items[k] = (hub_str){.ptr = ITEMS[i] + k, .len = 1};
            }
            size_t count = hub_dialect_list((hub_era)era, HUB_STR("7"), HUB_STR("tools"), items,
                                            item_count, hub_str_of(TAILS[i]), parts);
            assert_frame(parts, count, HUB_MESSAGE_RESULT, FRAMES[era][i]);
        }
    }
}

static void test_errors(void **state)
{
    (void)state;
    static const char *const OBJECT = "{\"code\":-32600,\"message\":\"no\"}";
    for (int revision = HUB_REVISION_NONE; revision <= HUB_REVISION_NEWEST; revision++) {
        hub_str parts[HUB_FRAME_PARTS];
        size_t count =
            hub_dialect_error((hub_revision)revision, HUB_STR("\"x\""), hub_str_of(OBJECT), parts);
        assert_frame(
            parts, count, HUB_MESSAGE_ERROR,
            "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32600,\"message\":\"no\"}}");
        count = hub_dialect_error((hub_revision)revision, HUB_STR_EMPTY, hub_str_of(OBJECT), parts);
        bool null_id = revision >= HUB_REVISION_2024_11_05 && revision <= HUB_REVISION_2025_06_18;
        assert_frame(parts, count, HUB_MESSAGE_ERROR,
                     null_id
                         ? "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
                           "{\"code\":-32600,\"message\":\"no\"}}"
                         : "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"no\"}}");
    }
}

static void test_error_objects(void **state)
{
    (void)state;
    hub_buf out;
    hub_buf_init(&out, 1000);
    hub_dialect_add_error(&out, -32602, HUB_STR("a \"b\"\n\xff"), HUB_STR_EMPTY);
    assert_true(hub_str_is(hub_buf_str(&out),
                           "{\"code\":-32602,\"message\":\"a \\\"b\\\"\\n\xef\xbf\xbd\"}"));
    hub_buf_clear(&out);
    hub_dialect_add_error(&out, 5, HUB_STR_EMPTY, HUB_STR("[1 ]"));
    assert_true(hub_str_is(hub_buf_str(&out), "{\"code\":5,\"message\":\"\",\"data\":[1 ]}"));
    hub_buf_clear(&out);
    hub_dialect_add_versions(&out, HUB_STR("\"19\\u0030\""));
    assert_true(hub_str_is(hub_buf_str(&out),
                           "{\"supported\":[\"2026-07-28\"],\"requested\":\"19\\u0030\"}"));
    hub_buf_fini(&out);
}

/* ---- wire/mcp -------------------------------------------------------------------------------- */

static void test_revisions(void **state)
{
    (void)state;
    for (int revision = HUB_REVISION_2024_11_05; revision <= HUB_REVISION_NEWEST; revision++) {
        const char *date = hub_revision_date((hub_revision)revision);
        assert_int_equal(strlen(date), 10);
        assert_int_equal(hub_revision_parse(hub_str_of(date)), revision);
        assert_int_equal(hub_revision_era((hub_revision)revision),
                         revision == HUB_REVISION_2026_07_28 ? HUB_ERA_MODERN : HUB_ERA_LEGACY);
        assert_true(revision == HUB_REVISION_2024_11_05 ||
                    strcmp(date, hub_revision_date((hub_revision)(revision - 1))) > 0);
    }
    static const char *const OTHERS[] = {"", "2024-10-07", "2025-06-1", "2025-06-18 ",
                                         "DRAFT-2026-v1"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        assert_int_equal(hub_revision_parse(hub_str_of(OTHERS[i])), HUB_REVISION_NONE);
    }
    assert_string_equal(hub_revision_date(HUB_REVISION_NONE), "");
    assert_int_equal(hub_revision_era(HUB_REVISION_NONE), HUB_ERA_LEGACY);
}

/* Every internal error has a code that JSON-RPC or the hub defines. */
static void test_wire_codes(void **state)
{
    (void)state;
#define CHECK_CODE(code, name, text)                                                               \
    do {                                                                                           \
        int wire = hub_rpc_code(HUB_##code);                                                       \
        assert_true(wire == HUB_RPC_PARSE_ERROR || (wire >= -32603 && wire <= -32600) ||           \
                    (wire >= -31004 && wire <= -31001));                                           \
    } while (0);
    HUB_ERRORS(CHECK_CODE)
#undef CHECK_CODE
    assert_int_equal(hub_rpc_code(HUB_EPARSE), -32700);
    assert_int_equal(hub_rpc_code(HUB_EINVAL), -32600);
    assert_int_equal(hub_rpc_code(HUB_ENOTFOUND), -32602);
    assert_int_equal(hub_rpc_code(HUB_ENOMEM), -32603);
    assert_int_equal(hub_rpc_code(HUB_EBUSY), HUB_RPC_OVERLOADED);
}

static void test_tool_errors(void **state)
{
    (void)state;
    assert_string_equal(hub_tool_error_code(HUB_TOOL_NOT_IMPLEMENTED), "TOOL_NOT_IMPLEMENTED");
    assert_string_equal(hub_tool_error_code(HUB_TOOL_INVALID_INPUT), "TOOL_INVALID_INPUT");
    assert_string_equal(hub_tool_error_code(HUB_TOOL_UNAVAILABLE), "TOOL_UNAVAILABLE");
    assert_string_equal(hub_tool_error_code(HUB_TOOL_EXECUTION_FAILED), "TOOL_EXECUTION_FAILED");
    assert_true(hub_tool_error_retryable(HUB_TOOL_UNAVAILABLE));
    assert_false(hub_tool_error_retryable(HUB_TOOL_INVALID_INPUT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_the_limit_of_a_token),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_cacheable),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_error_objects),
        cmocka_unit_test(test_revisions),
        cmocka_unit_test(test_wire_codes),
        cmocka_unit_test(test_tool_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
