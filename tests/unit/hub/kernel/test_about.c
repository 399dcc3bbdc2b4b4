/* SPDX-License-Identifier: Apache-2.0 */
/* What servers say of themselves: where it stands, and what is left of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "hub/kernel/about.h"
#include "wire/json.h"

#include <stdlib.h>

static void expect(const char *json, const char *title, const char *description,
                   const char *instructions)
{
    hub_about about;
    assert_int_equal(hub_about_read(hub_str_of(json), &about), HUB_OK);
    const char *const found[] = {about.title, about.description, about.instructions};
    const char *const wanted[] = {title, description, instructions};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(found[i] != NULL ? found[i] : "-", wanted[i]);
    }
    hub_buf text; /* what is remembered is read alike */
    hub_about again;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_about_write(&about, &text);
    assert_int_equal(hub_about_read(hub_buf_str(&text), &again), HUB_OK);
    const char *const kept[] = {again.title, again.description, again.instructions};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(kept[i] != NULL ? kept[i] : "-", wanted[i]);
    }
    hub_buf_fini(&text);
    hub_about_fini(&again);
    hub_about_fini(&about);
}

static void test_both_eras(void **state)
{
    (void)state;
    expect("{\"serverInfo\":{\"name\":\"n\",\"title\":\"T\",\"description\":\"D\"},"
           "\"instructions\":\"I\"}",
           "T", "D", "I");
    expect("{\"instructions\":\"I\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
           "{\"title\":\"T\\u00e4\"}}}",
           "T\xc3\xa4", "-", "I");
    expect("{}", "-", "-", "-");
}

static void test_what_does_not_count(void **state)
{
    (void)state;
    expect("{\"serverInfo\":7,\"instructions\":[\"I\"]}", "-", "-", "-");
    expect("{\"serverInfo\":{\"title\":{},\"description\":\" \\n\"},\"instructions\":\"\"}", "-",
           "-", "-");
    expect("{\"serverInfo\":{\"description\":\"two\\nlines\\u202e\"}}", "-", "two lines", "-");
}

static void test_purpose(void **state)
{
    static const struct {
        const char *json;
        const char *purpose;
    } ROWS[] = {
        {"{\"title\":\"T\",\"description\":\"D\",\"instructions\":\"I\"}", "D"},
        {"{\"title\":\"T\",\"instructions\":\"I\"}", "I"},
        {"{\"title\":\"T\"}", "T"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        hub_about about;
        assert_int_equal(hub_about_read(hub_str_of(ROWS[i].json), &about), HUB_OK);
        assert_string_equal(hub_about_purpose(&about), ROWS[i].purpose);
        hub_about_fini(&about);
    }
    hub_about none = {.title = NULL};
    assert_null(hub_about_purpose(&none));
}

static void test_bounds(void **state)
{
    static char json[3 * HUB_LIMIT_INSTRUCTIONS_BYTES];
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        size_t len = HUB_LIMIT_TITLE_BYTES + extra;
        memcpy(json, "{\"title\":\"", 10);
        memset(json + 10, 'x', len);
        memcpy(json + 10 + len, "\"}", 3);
        hub_about about;
        assert_int_equal(hub_about_read(hub_str_of(json), &about), HUB_OK);
        assert_true(strlen(about.title) <= HUB_LIMIT_TITLE_BYTES);
        assert_int_equal(strstr(about.title, "…") != NULL, extra);
        hub_about_fini(&about);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_eras),
        cmocka_unit_test(test_what_does_not_count),
        cmocka_unit_test(test_purpose),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
