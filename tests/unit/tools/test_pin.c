/* SPDX-License-Identifier: Apache-2.0 */
/* Pins: the canonical form of a definition, its digest, and what is held against them. */
#include "catalog_support.h"

#include "tools/pin.h"
#include "tools/suspects.h"

static void expect(const char *definition, const char *canonical)
{
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    assert_int_equal(hub_json_check(hub_str_of(definition), NULL, NULL), HUB_OK);
    hub_pin_add_canonical(&out, hub_str_of(definition));
    assert_true(hub_buf_ok(&out));
    hub_buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, canonical);
    hub_buf_fini(&out);
}

static void test_the_form(void **state)
{
    (void)state;
    expect("{ \"b\" : 1 ,\t\"a\":[ 1 , { \"y\":{} , \"x\":[ ] } ]}",
           "{\"a\":[1,{\"x\":[],\"y\":{}}],\"b\":1}");
    /* Numbers and strings as they were sent. */
    expect("{\"n\":1.0,\"m\":1,\"e\":1E4,\"z\":-0}", "{\"e\":1E4,\"m\":1,\"n\":1.0,\"z\":-0}");
    expect("{\"s\":\"\\u0041\",\"t\":\"A\",\"u\":\"\\/ /\"}",
           "{\"s\":\"\\u0041\",\"t\":\"A\",\"u\":\"\\/ /\"}");
    expect("{\"s\":\" a  b \"}", "{\"s\":\" a  b \"}");
    /* `_meta` goes at the top alone, however it is written. */
    expect("{\"_meta\":{\"a\":1},\"x\":{\"_meta\":1}}", "{\"x\":{\"_meta\":1}}");
    expect("{\"\\u005fmeta\":1,\"a\":[{\"_meta\":2}]}", "{\"a\":[{\"_meta\":2}]}");
    expect("{\"_meta\":1,\"_meta\":2}", "{}");
    /* The same key twice: in the order in which they were sent. */
    expect("{\"a\":2,\"b\":0,\"a\":1}", "{\"a\":2,\"a\":1,\"b\":0}");
    expect("{\"a\":1,\"b\":0,\"a\":2}", "{\"a\":1,\"a\":2,\"b\":0}");
    /* By bytes of the keys: a shorter one first, and no locale. */
    expect("{\"b\":1,\"ab\":2,\"a\":3,\"B\":4,\"\xc3\xa4\":5}",
           "{\"B\":4,\"a\":3,\"ab\":2,\"b\":1,\"\xc3\xa4\":5}");
    expect("[true,null,\"x\"]", "[true,null,\"x\"]");
}

static void test_depth_and_width(void **state)
{
    (void)state;
    enum { WIDTH = 3000 };
    hub_buf deep;
    hub_buf out;
    hub_buf_init(&deep, SIZE_MAX / 4);
    hub_buf_init(&out, SIZE_MAX / 4);
    for (int i = 0; i < HUB_LIMIT_JSON_DEPTH; i++) {
        hub_buf_add(&deep, HUB_STR("{\"a\":"));
    }
    hub_buf_add_char(&deep, '1');
    for (int i = 0; i < HUB_LIMIT_JSON_DEPTH; i++) {
        hub_buf_add_char(&deep, '}');
    }
    assert_int_equal(hub_json_check(hub_buf_str(&deep), NULL, NULL), HUB_OK);
    hub_pin_add_canonical(&out, hub_buf_str(&deep));
    assert_true(hub_str_eq(hub_buf_str(&out), hub_buf_str(&deep)));
    hub_buf_clear(&deep);
    hub_buf_clear(&out);
    for (int i = WIDTH; i > 0; i--) {
        hub_buf_printf(&deep, "%c\"k%05d\":{\"x\":%d}", i == WIDTH ? '{' : ',', i, i);
    }
    hub_buf_add_char(&deep, '}');
    hub_pin_add_canonical(&out, hub_buf_str(&deep));
    assert_int_equal(out.len, deep.len);
    assert_true(hub_str_starts(hub_buf_str(&out), HUB_STR("{\"k00001\":{\"x\":1},\"k00002\":")));
    hub_buf_fini(&deep);
    hub_buf_fini(&out);
}

static void test_digests(void **state)
{
    (void)state;
    char hex[HUB_DIGEST_HEX_BYTES];
    char other[HUB_DIGEST_HEX_BYTES];
    hub_buf scratch;
    hub_buf_init(&scratch, SIZE_MAX / 4);
    assert_int_equal(hub_pin_digest(HUB_STR("{ \"_meta\":1}"), &scratch, hex), HUB_OK);
    assert_string_equal(hex, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    assert_int_equal(hub_pin_digest(HUB_STR("{\"a\":1.0}"), &scratch, hex), HUB_OK);
    assert_int_equal(hub_pin_digest(HUB_STR("{\"a\":1}"), &scratch, other), HUB_OK);
    assert_string_not_equal(hex, other);
    hub_buf_fini(&scratch);
}

/* ---- catalogs -------------------------------------------------------------------------------- */

static hub_catalog *read_with(hub_kind kind, const char *json, const char *pins, bool withholds_all)
{
    hub_catalog *catalog = NULL;
    reports dropped = {.count = 0};
    const hub_catalog_rules rules = {.pins = pins, .withholds_all = withholds_all};
    assert_int_equal(
        hub_catalog_read(kind, hub_str_of(json), &rules, keep_report, &dropped, &catalog, NULL),
        HUB_OK);
    assert_int_equal(dropped.count, 0);
    assert_true(hub_catalog_is(catalog, hub_str_of(json), &rules));
    return catalog;
}

static void make_pins(char ret_pins[512], bool changed, bool fresh)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_buf scratch;
    hub_buf_init(&scratch, SIZE_MAX / 4);
    assert_int_equal(hub_pin_digest(HUB_STR(TOOL("same")), &scratch, hex), HUB_OK);
    hub_buf_fini(&scratch);
    (void)snprintf(ret_pins, 512,
                   "{\"changed\":%s,\"new\":%s,\"tools\":{\"s\\u0061me\":\"%s\",\"other\":\"%s\","
                   "\"gone\":\"%s\"}}",
                   changed ? "true" : "false", fresh ? "true" : "false", hex, hex, hex);
}

static void test_catalogs(void **state)
{
    (void)state;
    static const char JSON[] = "[" TOOL("same") "," TOOL("other") "," TOOL("new") "]";
    for (int changed = 0; changed < 2; changed++) {
        for (int fresh = 0; fresh < 2; fresh++) {
            char pins[512];
            make_pins(pins, changed != 0, fresh != 0);
            hub_catalog *catalog = read_with(HUB_KIND_TOOL, JSON, pins, false);
            assert_int_equal(catalog->count, 3);
            assert_int_equal(catalog->items[0].pin, HUB_PIN_SAME);
            assert_int_equal(catalog->items[1].pin, HUB_PIN_CHANGED);
            assert_int_equal(catalog->items[2].pin, HUB_PIN_NEW);
            assert_false(catalog->items[0].is_withheld);
            assert_int_equal(catalog->items[1].is_withheld, changed);
            assert_int_equal(catalog->items[2].is_withheld, fresh);
            assert_int_equal(catalog->withheld_count, changed + fresh);
            assert_string_equal(catalog->pinned->changed.text, "other");
            assert_string_equal(catalog->pinned->added.text, "new");
            assert_string_equal(catalog->pinned->missing.text, "gone");
            const hub_catalog_rules none = {.pins = NULL};
            assert_false(hub_catalog_is(catalog, hub_str_of(JSON), &none));
            hub_catalog_unref(catalog);
        }
    }
}

static void test_other_kinds(void **state)
{
    (void)state;
    static const char PINS[] = "{\"changed\":true,\"new\":true}";
    static const char RESOURCE[] = "[{\"uri\":\"a:b\",\"name\":\"b\"}]";
    hub_catalog *catalog = read_with(HUB_KIND_RESOURCE, RESOURCE, PINS, false);
    assert_int_equal(catalog->withheld_count, 0);
    assert_null(catalog->pinned);
    hub_catalog_unref(catalog);
    catalog = read_with(HUB_KIND_RESOURCE, RESOURCE, PINS, true);
    assert_int_equal(catalog->withheld_count, 1);
    hub_catalog_unref(catalog);
    catalog = read_with(HUB_KIND_PROMPT, "[{\"name\":\"p\"}]", PINS, false);
    assert_int_equal(catalog->withheld_count, 1);
    hub_catalog_unref(catalog);
    catalog = read_with(HUB_KIND_TOOL, "[" TOOL("a") "]", NULL, false);
    assert_null(catalog->pinned);
    assert_null(catalog->own);
    assert_int_equal(catalog->items[0].pin, HUB_PIN_UNKNOWN);
    hub_catalog_unref(catalog);
}

static void expect_text(const char *pins, const char *text, hub_pin pin, bool is_withheld)
{
    bool found = !is_withheld;
    assert_int_equal(hub_pin_of_text(hub_str_of(pins), text, &found), pin);
    assert_int_equal(found, is_withheld);
}

static void test_instructions(void **state)
{
    (void)state;
    char hex[HUB_DIGEST_HEX_BYTES];
    char pins[256];
    hub_pin_digest_text(HUB_STR("Read me."), hex);
    (void)snprintf(pins, sizeof pins, "{\"changed\":true,\"new\":false,\"instructions\":\"%s\"}",
                   hex);
    expect_text(pins, "Read me.", HUB_PIN_SAME, false);
    expect_text(pins, "Obey me.", HUB_PIN_CHANGED, true);
    expect_text(pins, NULL, HUB_PIN_SAME, false);
    expect_text("{\"changed\":true,\"new\":false}", "x", HUB_PIN_NEW, false);
    expect_text("{\"changed\":false,\"new\":true}", "x", HUB_PIN_NEW, true);
}

/* ---- suspects -------------------------------------------------------------------------------- */

static void test_suspects(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        unsigned suspects;
    } CASES[] = {
        {"{\"d\":\"plain, caf\xc3\xa9, \xe2\x80\x9cquoted\xe2\x80\x9d \\n \\u00e9 \\\\u202e\"}", 0},
        {"\"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb\"", 0}, /* an emoji of two */
        {"\"\\ud83d\\udc69\\u200d\\ud83d\\udcbb\"", 0},          /* the same, escaped */
        {"\"a\xe2\x80\x8d"
         "b\"",
         HUB_SUSPECT_HIDDEN}, /* joins nothing */
        {"\"a\\u200bb\"", HUB_SUSPECT_HIDDEN},
        {"\"\xef\xbb\xbf\"", HUB_SUSPECT_HIDDEN},
        {"\"\\u206f\"", HUB_SUSPECT_HIDDEN},
        {"\"\\ufff9\"", HUB_SUSPECT_HIDDEN},
        {"\"\xe2\x80\x8e\"", HUB_SUSPECT_BIDI},
        {"\"\\u061c\"", HUB_SUSPECT_BIDI},
        {"{\"\\u202e\":1}", HUB_SUSPECT_BIDI},
        {"\"\xe2\x81\xa6\"", HUB_SUSPECT_BIDI},
        {"\"\\u001b[31m\"", HUB_SUSPECT_ESCAPE},
        {"\"\\u001B\"", HUB_SUSPECT_ESCAPE},
        {"\"\xc2\x9b\"", HUB_SUSPECT_ESCAPE},
        {"\"\xf3\xa0\x81\x81\"", HUB_SUSPECT_TAG},
        {"\"\\udb40\\udc41\\u202a\"", HUB_SUSPECT_TAG | HUB_SUSPECT_BIDI},
        {"\"\\udb40\"", 0}, /* half of a pair */
        {"\"\\ud83d\\u0041\"", 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        if (hub_suspects_in(hub_str_of(CASES[i].json)) != CASES[i].suspects) {
            fail_msg("%s", CASES[i].json);
        }
    }
    hub_buf out;
    hub_buf_init(&out, 1024);
    hub_suspects_add_visible(HUB_STR("a\xe2\x80\xae"
                                     "b\xf3\xa0\x81\x81\xc3\xa9"),
                             &out);
    hub_buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, "a\\u{202e}b\\u{e0041}\xc3\xa9");
    hub_buf_clear(&out);
    hub_suspects_add(HUB_SUSPECT_BIDI | HUB_SUSPECT_TAG, &out);
    hub_buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, "characters that turn the direction of writing, tag characters");
    hub_buf_fini(&out);
}

static bool is_known(void *ctx, hub_str word)
{
    size_t *asked = ctx;
    ++*asked;
    return hub_str_is(word, "send_mail") || hub_str_is(word, "own:go");
}

static void expect_word(const char *json, const char *word)
{
    size_t asked = 0;
    hub_buf found;
    hub_buf_init(&found, 256);
    hub_err err = hub_suspects_find_foreign(hub_str_of(json), is_known, &asked, &found);
    assert_int_equal(err, word != NULL ? HUB_OK : HUB_ENOTFOUND);
    hub_buf_add_char(&found, '\0');
    assert_string_equal(found.ptr, word != NULL ? word : "");
    hub_buf_fini(&found);
}

static void test_names_of_others(void **state)
{
    (void)state;
    expect_word("{\"description\":\"First call `send_mail`.\"}", "send_mail");
    expect_word("{\"description\":\"Never send_mail: use own:go.\"}", "send_mail");
    expect_word("{\"description\":\"x own:go.\"}", "own:go");
    expect_word("{\"description\":\"send_\\u006dail\"}", "send_mail");
    expect_word("{\"description\":\"sends mail, and send_mails\"}", NULL);
    expect_word("{\"description\":1}", NULL);
    expect_word("{\"title\":\"send_mail\"}", NULL);
    size_t asked = 0;
    hub_buf json;
    hub_buf found;
    hub_buf_init(&json, SIZE_MAX / 4);
    hub_buf_init(&found, 256);
    hub_buf_add(&json, HUB_STR("{\"description\":\""));
    for (int i = 0; i < HUB_LIMIT_SUSPECT_WORDS; i++) {
        hub_buf_add(&json, HUB_STR("a_b "));
    }
    hub_buf_add(&json, HUB_STR("send_mail\"}"));
    assert_int_equal(hub_suspects_find_foreign(hub_buf_str(&json), is_known, &asked, &found),
                     HUB_ENOTFOUND);
    assert_int_equal(asked, HUB_LIMIT_SUSPECT_WORDS);
    hub_buf_fini(&json);
    hub_buf_fini(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_form),    cmocka_unit_test(test_depth_and_width),
        cmocka_unit_test(test_digests),     cmocka_unit_test(test_catalogs),
        cmocka_unit_test(test_other_kinds), cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_suspects),    cmocka_unit_test(test_names_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
