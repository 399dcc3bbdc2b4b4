/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new setting of servers is one row of a table, and its use: here the table has one row more
 * (CMakeLists.txt puts it in), and no other file knows of it. The loader, the files of other programs,
 * what the module is handed, the JSON schema, the reference manifest and the manual page have it.
 */
#include "config_support.h"

#include "one_more_key.c" /* toolset_keys.c, and the row of CMakeLists.txt */

#include "config/describe/describe.h"
#include "wire/json.h"

#include <string.h>

static const char *handed(const hub_config *config)
{
    return config->settings.toolsets[0].config_json;
}

static void test_loader(void **state)
{
    (void)state;
    hub_config *config = parse("hub.yaml", "toolsets: {git: {command: /bin/true, patience: 2s}}");
    assert_non_null(strstr(handed(config), "\"patience_ms\":2000"));
    hub_config_destroy(config);
    config = parse("hub.yaml", "toolsets: {net: {url: \"http://h.example/mcp\", patience: 2ms}}");
    assert_non_null(strstr(handed(config), "\"patience_ms\":2"));
    hub_config_destroy(config);
    config = parse("mcp.json",
                   "{\"mcpServers\":{\"git\":{\"command\":\"/bin/true\",\"patience\":\"5s\"}}}");
    assert_non_null(strstr(handed(config), "\"patience_ms\":5000"));
    hub_config_destroy(config);
}

static void test_bounds(void **state)
{
    (void)state;
    static const char *const BAD[] = {"1ms", "5001ms", "soon"};
    for (size_t i = 0; i < COUNT(BAD); i++) {
        char text[128];
        hub_config *config = NULL;
        hub_error why = {.text = ""};
        (void)snprintf(text, sizeof text, "toolsets: {git: {command: /bin/true, patience: %s}}",
                       BAD[i]);
        assert_int_equal(hub_config_parse("hub.yaml", hub_str_of(text), NULL, NULL, &config, &why),
                         HUB_EINVAL);
        assert_non_null(strstr(why.text, "patience"));
    }
}

/* Modules in the hub's own process are no servers. */
static void test_of(void **state)
{
    (void)state;
    hub_config *config = NULL;
    hub_error why = {.text = ""};
    assert_int_not_equal(hub_config_parse("hub.yaml",
                                          HUB_STR("toolsets: {t: {module: time, patience: 1s}}"),
                                          NULL, NULL, &config, &why),
                         HUB_OK);
    assert_non_null(strstr(why.text, "patience"));
}

static void test_documents(void **state)
{
    (void)state;
    static void (*const WRITERS[])(hub_buf *) = {hub_describe_schema, hub_describe_reference,
                                                 hub_describe_manual};
    for (size_t i = 0; i < COUNT(WRITERS); i++) {
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 4);
        WRITERS[i](&text);
        hub_buf_add_char(&text, '\0');
        assert_true(hub_buf_ok(&text));
        assert_non_null(strstr(text.ptr, "patience"));
        assert_non_null(strstr(text.ptr, "Forbearance"));
        assert_non_null(strstr(text.ptr, "250ms"));
        hub_buf_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loader),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_of),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
