/* SPDX-License-Identifier: Apache-2.0 */
/* hub_message_scan: members, duplicates, limits, ids of refused messages. The envelope rules in all
 * their combinations are in test_message_table.c. */
#include "json_cases.h"

#include "base/limits.h"
#include "wire/message.h"

static const hub_str KEYS[] = {
#define KEY(slot, object, key) [HUB_M_##slot] = TEXT(key),
    HUB_MEMBERS(KEY)
#undef KEY
};

/* A message whose spans all lie in an exact copy of the text. */
typedef struct scanned {
    hub_message message;
    hub_error error;
    hub_err err;
    hub_str copy;
} scanned;

static scanned scan(hub_str text)
{
    scanned s = {.copy = copy_exact(text)};
    memset(&s.message, 0xa5, sizeof s.message); /* whatever was there before does not matter */
    s.err = hub_message_scan(s.copy, &s.message, &s.error);
    if (s.err != HUB_OK) {
        assert_int_equal(s.error.code, s.err);
        assert_int_equal(s.message.kind, HUB_MESSAGE_NONE);
        assert_int_equal(s.message.whole.len, 0);
        assert_int_equal(s.message.method.len, 0);
        for (int i = 0; i < HUB_MEMBER_COUNT; i++) {
            assert_true(i == HUB_M_ID || s.message.at[i].len == 0);
        }
    }
    return s;
}

static hub_err scan_only(hub_str text)
{
    scanned s = scan(text);
    free_exact(s.copy);
    return s.err;
}

static void expect_members(const char *text, hub_message_kind kind, size_t count,
                           const char *const wants[HUB_MEMBER_COUNT])
{
    scanned s = scan(hub_str_of(text));
    if (s.err != HUB_OK) {
        fail_msg("%s: %s", text, s.error.text);
    }
    assert_int_equal(s.message.kind, kind);
    size_t found = 0;
    for (int i = 0; i < HUB_MEMBER_COUNT; i++) {
        found += s.message.at[i].len > 0;
        assert_text(s.message.at[i], wants[i] != NULL ? wants[i] : "");
    }
    assert_int_equal(found, count);
    free_exact(s.copy);
}

static void takes_a_call_apart(void **state)
{
    (void)state;
    static const char *const wants[HUB_MEMBER_COUNT] = {
        [HUB_M_JSONRPC] = "\"2.0\"",
        [HUB_M_ID] = "7",
        [HUB_M_METHOD] = "\"tools/call\"",
        [HUB_M_PARAMS] =
            "{\"name\":\"x\",\"arguments\":{\"name\":\"no\"},\"_meta\":{\"progressToken\":"
            "\"t\"},\"other\":[{\"name\":1}]}",
        [HUB_M_NAME] = "\"x\"",
        [HUB_M_ARGUMENTS] = "{\"name\":\"no\"}",
        [HUB_M_META] = "{\"progressToken\":\"t\"}",
        [HUB_M_META_PROGRESS_TOKEN] = "\"t\"",
    };
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":%s}",
                   wants[HUB_M_PARAMS]);
    expect_members(text, HUB_MESSAGE_REQUEST, 8, wants);
    (void)snprintf(
        text, sizeof text,
        " { \"params\" : %s , \"id\" : 7 , \"method\" : \"tools/call\" , \"jsonrpc\" : \"2.0\" } ",
        wants[HUB_M_PARAMS]);
    expect_members(text, HUB_MESSAGE_REQUEST, 8, wants); /* any order, space anywhere */

    scanned s = scan(hub_str_of(text));
    assert_text(s.message.method, "tools/call");
    assert_true(s.message.whole.ptr == s.copy.ptr + 1 && s.message.whole.len == s.copy.len - 2);
    free_exact(s.copy);
}

static void finds_members_only_in_their_object(void **state)
{
    (void)state;
    /* Every known key in every wrong place, and case variants. */
    static const char *const wants[HUB_MEMBER_COUNT] = {
        [HUB_M_JSONRPC] = "\"2.0\"",
        [HUB_M_METHOD] = "\"m\"",
        [HUB_M_PARAMS] = "{\"id\":1,\"method\":2,\"params\":{\"name\":3,\"_meta\":4},\"result\":5,"
                         "\"error\":6,\"resultType\":7,\"code\":8,\"x\":{\"name\":9,\"name\":10},"
                         "\"Name\":11,\"NAME\":12,\"_META\":13,\"arguments\":{\"_meta\":{"
                         "\"progressToken\":14},\"uri\":15},\"nam\":16,\"name\\u0000\":17}",
        [HUB_M_ARGUMENTS] = "{\"_meta\":{\"progressToken\":14},\"uri\":15}",
    };
    char text[512];
    (void)snprintf(
        text, sizeof text,
        "{\"name\":0,\"_meta\":{\"progressToken\":1},\"uri\":2,\"code\":3,\"Id\":4,\"ID\":5,"
        "\"Method\":6,\"params2\":7,\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":%s}",
        wants[HUB_M_PARAMS]);
    expect_members(text, HUB_MESSAGE_NOTIFICATION, 4, wants);
}

static void takes_responses_apart(void **state)
{
    (void)state;
    static const char *const result[HUB_MEMBER_COUNT] = {
        [HUB_M_JSONRPC] = "\"2.0\"",
        [HUB_M_ID] = "\"a\\u0062\"",
        [HUB_M_RESULT] = "{\"_meta\":{\"progressToken\":1},\"resultType\":\"complete\",\"code\":1}",
        [HUB_M_RESULT_META] = "{\"progressToken\":1}",
        [HUB_M_RESULT_TYPE] = "\"complete\"",
    };
    expect_members(
        "{\"result\":{\"_meta\":{\"progressToken\":1},\"resultType\":\"complete\",\"code\":1},"
        "\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\"}",
        HUB_MESSAGE_RESULT, 5, result);
    static const char *const error[HUB_MEMBER_COUNT] = {
        [HUB_M_JSONRPC] = "\"2.0\"",
        [HUB_M_ID] = "null",
        [HUB_M_ERROR] = "{\"code\":-32700,\"message\":\"m\",\"data\":[{}],\"resultType\":0}",
        [HUB_M_ERROR_CODE] = "-32700",
        [HUB_M_ERROR_MESSAGE] = "\"m\"",
        [HUB_M_ERROR_DATA] = "[{}]",
    };
    expect_members("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\","
                   "\"data\":[{}],\"resultType\":0}}",
                   HUB_MESSAGE_ERROR, 6, error);
}

static const char *const PLACES[HUB_MEMBER_COUNT] = {
/* Where the members of each object go; %s stands for them. */
#define PLACE_TOP                "{%s}"
#define PLACE_PARAMS             "{\"params\":{%s}}"
#define PLACE_META               "{\"params\":{\"_meta\":{%s}}}"
#define PLACE_RESULT             "{\"result\":{%s}}"
#define PLACE_ERROR              "{\"error\":{%s}}"
#define PLACE(slot, object, key) [HUB_M_##slot] = PLACE_##object,
    HUB_MEMBERS(PLACE)
#undef PLACE
};

/* Puts `members` in the place of `member`. The caller frees the ptr. */
static hub_str put_in_place(int member, const char *members)
{
    char text[1024];
    const char *place = PLACES[member];
    const char *gap = strstr(place, "%s");
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(gap - place), place, members, gap + 2);
    return copy_exact(hub_str_of(text));
}

/* `key` with the character at `place` written as an escape. */
static const char *escape_at(hub_str key, size_t place)
{
    static char text[128];
    (void)snprintf(text, sizeof text, "%.*s\\u%04x%.*s", (int)place, key.ptr,
                   (unsigned)key.ptr[place], (int)(key.len - place - 1), key.ptr + place + 1);
    return text;
}

/* A member is seen exactly when a second one is refused as its duplicate. */
static bool is_repeated(int member, const char *key, const char *again)
{
    char members[512];
    (void)snprintf(members, sizeof members, "\"%s\":0,\"x\":{},\"%s\":{}", key, again);
    hub_str text = put_in_place(member, members);
    scanned s = scan(text);
    assert_int_equal(s.err, HUB_EINVAL);
    bool repeated = hub_str_find(hub_str_of(s.error.text), HUB_STR("occurs twice")) != SIZE_MAX;
    assert_true(!repeated || hub_str_find(hub_str_of(s.error.text), KEYS[member]) != SIZE_MAX);
    free_exact(s.copy);
    free_exact(text);
    return repeated;
}

static void refuses_every_duplicate(void **state)
{
    (void)state;
    for (int member = 0; member < HUB_MEMBER_COUNT; member++) {
        hub_str key = KEYS[member];
        char variant[64];
        if (member == HUB_M_IS_ERROR) {
            continue; /* says_what_a_result_is */
        }
        assert_true(is_repeated(member, key.ptr, key.ptr));
        for (size_t i = 0; i < key.len; i++) {
            assert_true(is_repeated(member, key.ptr, escape_at(key, i)));
            assert_true(is_repeated(member, escape_at(key, i), key.ptr));
            (void)snprintf(variant, sizeof variant, "%s", key.ptr);
            variant[i] = (char)(variant[i] ^ 0x20); /* the other case, or another character */
            if (variant[i] > ' ' && variant[i] != '\x7f') {
                assert_false(is_repeated(member, key.ptr, variant));
                assert_false(is_repeated(member, variant, variant)); /* unknown: may repeat */
            }
        }
        (void)snprintf(variant, sizeof variant, "%sx", key.ptr);
        assert_false(is_repeated(member, key.ptr, variant));
        assert_false(is_repeated(member, key.ptr, key.ptr + 1));
    }
}

static void recognises_escaped_keys(void **state)
{
    (void)state;
    static const char *const wants[HUB_MEMBER_COUNT] = {
        [HUB_M_JSONRPC] = "\"2.0\"",
        [HUB_M_ID] = "1",
        [HUB_M_METHOD] = "\"m\"",
        [HUB_M_PARAMS] = "{\"\\u006eame\":\"n\",\"\\u005fmet\\u0061\":{\"io.modelcontextprotocol\\/"
                         "logLevel\":\"info\"}}",
        [HUB_M_NAME] = "\"n\"",
        [HUB_M_META] = "{\"io.modelcontextprotocol\\/logLevel\":\"info\"}",
        [HUB_M_META_LOG_LEVEL] = "\"info\"",
    };
    expect_members(
        "{\"\\u006asonrpc\":\"2.0\",\"i\\u0064\":1,\"m\\u0065thod\":\"m\",\"\\u0070arams\":"
        "{\"\\u006eame\":\"n\",\"\\u005fmet\\u0061\":{\"io.modelcontextprotocol\\/logLevel\":"
        "\"info\"}}}",
        HUB_MESSAGE_REQUEST, 7, wants);
}

/* Duplicates inside what the hub only forwards are none of its business. */
static void lets_unknown_members_repeat(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"x\":1,\"x\":2}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"x\":1,\"x\":2}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"arguments\":{\"name\":1,\"name\":2}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"_meta\":{\"x\":1,\"x\":2}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"ID\":1,\"Id\":2,\"ID\":3}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_int_equal(scan_only(hub_str_of(texts[i])), HUB_OK);
    }
}

static void only_checks_a_batch(void **state)
{
    (void)state;
    static const hub_str texts[] = {
        TEXT("[]"),
        TEXT(" [1, \"x\", {\"id\":1,\"id\":2}]\n"),
        TEXT("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"name\":1}}]"),
        TEXT("[[{\"jsonrpc\":\"2.0\"}]]"),
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        scanned s = scan(texts[i]);
        assert_int_equal(s.err, HUB_OK);
        assert_int_equal(s.message.kind, HUB_MESSAGE_BATCH);
        assert_true(hub_str_eq(s.message.whole, hub_str_trim(s.copy)));
        assert_int_equal(s.message.method.len, 0);
        for (int member = 0; member < HUB_MEMBER_COUNT; member++) {
            assert_int_equal(s.message.at[member].len, 0);
        }
        free_exact(s.copy);
    }
    assert_int_equal(scan_only(HUB_STR("[1,]")), HUB_EPARSE);
    assert_int_equal(scan_only(HUB_STR("[\"\xff\"]")), HUB_EPARSE);
}

/* A refused message keeps its id when an answer can carry it. */
static void keeps_the_id_of_a_refused_message(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        hub_err err;
        const char *id;
    } cases[] = {
        {"{\"id\":1}", HUB_EINVAL, "1"},
        {"{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"m\"}", HUB_EINVAL, "\"a\""},
        {"{\"jsonrpc\":\"2.0\",\"method\":7,\"id\":-3}", HUB_EINVAL, "-3"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[],\"id\":3}", HUB_EINVAL, "3"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"method\":\"m\",\"id\":4}", HUB_EINVAL, "4"},
        {"{\"id\":5,\"a\":1,\"a\":]}", HUB_EPARSE, "5"},
        {"{\"id\":6,\"a\":\"\xff\"}", HUB_EPARSE, "6"},
        {"{\"id\":7} x", HUB_EPARSE, "7"},
        {"{\"i\\u0064\":\"\\u0000\",", HUB_EPARSE, "\"\\u0000\""},
        /* not a usable one */
        {"{\"id\":null,\"method\":\"m\"}", HUB_EINVAL, ""},
        {"{\"id\":1.0}", HUB_EINVAL, ""},
        {"{\"id\":1e0}", HUB_EINVAL, ""},
        {"{\"id\":{}}", HUB_EINVAL, ""},
        {"{\"id\":[1]}", HUB_EINVAL, ""},
        {"{\"id\":true}", HUB_EINVAL, ""},
        {"{\"id\":1,\"id\":1}", HUB_EINVAL, ""},
        {"{\"id\":1,\"id\":2,", HUB_EPARSE, ""},
        {"{\"id\":12", HUB_EPARSE, ""}, /* cut: it may have been 123 */
        {"{\"id\":12x", HUB_EPARSE, ""},
        {"{\"params\":{\"id\":1}}", HUB_EINVAL, ""},
        {"[{\"id\":1}", HUB_EPARSE, ""},
        {"{", HUB_EPARSE, ""},
        {"", HUB_EPARSE, ""},
        {"1", HUB_EINVAL, ""},
        {"\"id\"", HUB_EINVAL, ""},
        {"null", HUB_EINVAL, ""},
        {"true", HUB_EINVAL, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        scanned s = scan(hub_str_of(cases[i].text));
        if (s.err != cases[i].err) {
            fail_msg("%s: %s", cases[i].text, s.error.text);
        }
        assert_text(s.message.at[HUB_M_ID], cases[i].id);
        free_exact(s.copy);
    }
}

static void bounds_depth_and_values(void **state)
{
    (void)state;
    const char *before = "{\"id\":9,\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"a\":";
    hub_str arrays = repeat("", "]", HUB_LIMIT_JSON_DEPTH - 2, "}}");
    char *after = hub_str_dup(arrays);
    hub_str deepest = repeat(before, "[", HUB_LIMIT_JSON_DEPTH - 2, after);
    assert_int_equal(scan_only(deepest), HUB_OK);
    hub_str beyond = repeat(before, "[", HUB_LIMIT_JSON_DEPTH - 1, after);
    scanned s = scan(beyond);
    assert_int_equal(s.err, HUB_ELIMIT);
    assert_text(s.message.at[HUB_M_ID], "9");
    free_exact(s.copy);
    free_exact(deepest);
    free_exact(beyond);
    free_exact(arrays);
    free(after);

    char *start = NULL;
    assert_true(asprintf(&start, "%s[", before) > 0);
    /* Seven more values: the message, id, jsonrpc, method, params, the array, its last. */
    hub_str most = repeat(start, "0,", HUB_LIMIT_JSON_VALUES - 7, "0]}}");
    assert_int_equal(scan_only(most), HUB_OK);
    hub_str more = repeat(start, "0,", HUB_LIMIT_JSON_VALUES - 6, "0]}}");
    assert_int_equal(scan_only(more), HUB_ELIMIT);
    free_exact(most);
    free_exact(more);
    free(start);
}

/* What servers really have is not near the bounds: a catalog of 10,000 tools of 24 values each, and
 * a result of 250,000 numbers, the shortest there are. */
static void takes_large_catalogs_and_results(void **state)
{
    (void)state;
    const char *tool = "{\"name\":\"t\",\"title\":\"T\",\"description\":\"d\",\"inputSchema\":{"
                       "\"type\":\"object\",\"properties\":{"
                       "\"a\":{\"type\":\"string\",\"description\":\"d\"},"
                       "\"b\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9},"
                       "\"c\":{\"type\":\"boolean\",\"default\":true}},"
                       "\"required\":[\"a\",\"b\"],\"additionalProperties\":false},"
                       "\"annotations\":{\"readOnlyHint\":true,\"title\":\"T\"}},";
    hub_str catalog =
        repeat("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[", tool, 10000, "{}]}}");
    assert_int_equal(scan_only(catalog), HUB_OK);
    hub_str result = repeat("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[],"
                            "\"structuredContent\":{\"numbers\":[",
                            "1,", 249999, "1]}}}");
    assert_int_equal(scan_only(result), HUB_OK);
    free_exact(result);
    free_exact(catalog);
}

static void bounds_the_id(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part, *after;
    } kinds[] = {
        {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":\"", "x", "\"}"},
        {"{\"jsonrpc\":\"2.0\",\"result\":{},\"id\":-1", "0", "}"},
        {"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"\"},\"id\":12", "3", "}"},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) { /* each has two bytes besides the parts */
        hub_str longest =
            repeat(kinds[i].before, kinds[i].part, HUB_LIMIT_ID_BYTES - 2, kinds[i].after);
        hub_str beyond =
            repeat(kinds[i].before, kinds[i].part, HUB_LIMIT_ID_BYTES - 1, kinds[i].after);
        assert_int_equal(scan_only(longest), HUB_OK);
        scanned s = scan(beyond);
        assert_int_equal(s.err, HUB_ELIMIT);
        assert_int_equal(s.message.at[HUB_M_ID].len, 0);
        free_exact(s.copy);
        free_exact(longest);
        free_exact(beyond);
    }
}

static void bounds_the_method(void **state)
{
    (void)state;
    for (size_t len = 0; len < 131; len++) {
        hub_str text = repeat("{\"jsonrpc\":\"2.0\",\"method\":\"", "m", len, "\"}");
        assert_int_equal(scan_only(text), len >= 1 && len <= 128 ? HUB_OK : HUB_EINVAL);
        free_exact(text);
    }
}

static void refuses_every_truncation(void **state)
{
    (void)state;
    hub_str text = HUB_STR(
        "{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\xa9-1\",\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"x\",\"arguments\":{\"a\":[1.5,-2e3,null]},\"_meta\":{\"io.modelcontextprotocol/"
        "clientCapabilities\":{}}}}");
    assert_int_equal(scan_only(text), HUB_OK);
    size_t id_end = hub_str_find(text, HUB_STR(",\"method")) + 1;
    for (size_t len = 0; len < text.len; len++) {
        scanned s = scan((hub_str){.ptr = text.ptr, .len = len});
        assert_int_equal(s.err, HUB_EPARSE);
        assert_text(s.message.at[HUB_M_ID], len >= id_end ? "\"\xc3\xa9-1\"" : "");
        free_exact(s.copy);
    }
}

/* P01, P06: one byte changed anywhere gives a verdict and never a span outside of the text. */
static void survives_every_changed_byte(void **state)
{
    (void)state;
    hub_str text =
        HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"name\":\"\\n\","
                "\"_meta\":{\"progressToken\":-1.5e7}}}");
    for (size_t place = 0; place < text.len; place++) {
        hub_str copy = copy_exact(text);
        for (int byte = 0; byte < 256; byte++) {
            ((char *)(uintptr_t)copy.ptr)[place] = (char)byte;
            hub_message message;
            hub_err err = hub_message_scan(copy, &message, NULL);
            assert_true(err == HUB_OK || err == HUB_EPARSE || err == HUB_EINVAL);
            for (int i = 0; i < HUB_MEMBER_COUNT; i++) {
                hub_str at = message.at[i];
                assert_true(at.len == 0 || (at.ptr > copy.ptr && at.len < copy.len));
                assert_true(at.len == 0 || hub_json_check(at, NULL, NULL) == HUB_OK);
            }
        }
        free_exact(copy);
    }
}

/* Of a result, in a message and by itself: the first of what is there twice, however it is spelled. */
static void says_what_a_result_is(void **state)
{
    static const struct {
        const char *result;
        const char *is_error;
        const char *type;
    } CASES[] = {
        {"{}", "", ""},
        {"{\"content\":[{\"isError\":true}],\"isError\":false}", "false", ""},
        {"{\"is\\u0045rror\":true,\"resultType\":\"a\"}", "true", "\"a\""},
        {"{\"isError\":true,\"isError\":false}", "true", ""},
        {"{\"_meta\":{\"isError\":true},\"iserror\":true}", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[128];
        hub_message message;
        (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}",
                       CASES[i].result);
        assert_int_equal(hub_message_scan(hub_str_of(text), &message, NULL), HUB_OK);
        assert_text(message.at[HUB_M_IS_ERROR], CASES[i].is_error);
        assert_int_equal(hub_message_scan_result(hub_str_of(CASES[i].result), &message, NULL),
                         HUB_OK);
        assert_int_equal(message.kind, HUB_MESSAGE_RESULT);
        assert_text(message.whole, CASES[i].result);
        assert_text(message.at[HUB_M_IS_ERROR], CASES[i].is_error);
        assert_text(message.at[HUB_M_RESULT_TYPE], CASES[i].type);
    }
    hub_message none;
    assert_int_equal(hub_message_scan_result(HUB_STR("[]"), &none, NULL), HUB_EINVAL);
    assert_int_equal(hub_message_scan_result(HUB_STR("{\"isError\":true"), &none, NULL),
                     HUB_EPARSE);
    assert_int_equal(none.at[HUB_M_IS_ERROR].len, 0);
}

/* A message that begins as nearly all do is read like any other: also what is wrong with it, wherever
 * it ends. */
static void reads_the_usual_beginning_as_any(void **state)
{
    static const char *const RESTS[] = {
        "1,\"method\":\"a\",\"params\":{\"name\":\"b\"}}",
        "\"x\",\"result\":{\"resultType\":\"complete\"}}",
        "-7,\"error\":{\"code\":1,\"message\":\"m\"}}",
        "12345678901234567890 , \"method\":\"a\"}",
        " 1,\"method\":\"a\"}",
        "1,\"id\":2,\"method\":\"a\"}",
        "1,\"jsonrpc\":\"2.0\",\"method\":\"a\"}",
        "1,\"jsonrpc\":\"1.0\"}",
        "null,\"method\":\"a\"}",
        "true,\"method\":\"a\"}",
        "{\"a\":1},\"method\":\"a\"}",
        "[1],\"method\":\"a\"}",
        "1.5,\"method\":\"a\"}",
        "12345678.5,\"method\":\"a\"}",
        "1E5,\"method\":\"a\"}",
        "-0,\"method\":\"a\"}",
        "01,\"method\":\"a\"}",
        "\"a\\\"b\",\"method\":\"a\"}",
        "\"\\u00e9\xc3\xa9\",\"method\":\"a\"}",
        "\"\xff\",\"method\":\"a\"}",
        "1]",
        "1}x",
        "1x}",
        "1,}",
        "1:2}",
        "}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof RESTS / sizeof RESTS[0]; i++) {
        char usual[128];
        char other[128]; /* the same with white space where none is expected */
        size_t len =
            (size_t)snprintf(usual, sizeof usual, "{\"jsonrpc\":\"2.0\",\"id\":%s", RESTS[i]);
        (void)snprintf(other, sizeof other, "{ \"jsonrpc\":\"2.0\",\"id\":%s", RESTS[i]);
        for (size_t cut = 1; cut <= len; cut++) {
            scanned one = scan((hub_str){.ptr = usual, .len = cut});
            scanned two = scan((hub_str){.ptr = other, .len = cut + 1});
            assert_int_equal(one.err, two.err);
            assert_int_equal(one.message.kind, two.message.kind);
            for (int member = 0; member < HUB_MEMBER_COUNT; member++) {
                hub_str at = one.message.at[member];
                assert_true(hub_str_eq(at, two.message.at[member]));
                assert_true(at.len == 0 || (at.ptr > one.copy.ptr &&
                                            at.ptr + at.len <= one.copy.ptr + one.copy.len));
            }
            free_exact(one.copy);
            free_exact(two.copy);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_usual_beginning_as_any),
        cmocka_unit_test(says_what_a_result_is),
        cmocka_unit_test(takes_a_call_apart),
        cmocka_unit_test(finds_members_only_in_their_object),
        cmocka_unit_test(takes_responses_apart),
        cmocka_unit_test(refuses_every_duplicate),
        cmocka_unit_test(recognises_escaped_keys),
        cmocka_unit_test(lets_unknown_members_repeat),
        cmocka_unit_test(only_checks_a_batch),
        cmocka_unit_test(keeps_the_id_of_a_refused_message),
        cmocka_unit_test(bounds_depth_and_values),
        cmocka_unit_test(takes_large_catalogs_and_results),
        cmocka_unit_test(bounds_the_id),
        cmocka_unit_test(bounds_the_method),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(survives_every_changed_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
