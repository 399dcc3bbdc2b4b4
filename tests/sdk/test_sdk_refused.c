/* SPDX-License-Identifier: Apache-2.0 */
/* A list that cannot be: the toolset is not made, and the reason names the tool and the place. */
#include "fake_host.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void answer(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_str_of("here"));
}

/* Each has a good neighbour in front. */
static const struct {
    patchbay_tool tool;
    const char *reason;
} CASES[] = {
    {{.name = "a", .handler = answer, .input_schema = "{\"type\":\"object\" \"required\":[]}"},
     "tool \"a\": input_schema is not valid JSON at byte 17"}, /* no comma */
    {{.name = "a", .handler = answer, .input_schema = "{\"type\":\"object\","},
     "tool \"a\": input_schema is not valid JSON at byte 17, where it ends"},
    {{.name = "b", .handler = answer, .input_schema = ""},
     "tool \"b\": input_schema is not valid JSON at byte 0, where it ends"},
    {{.name = "b", .handler = answer, .output_schema = "{\"type\":'object'}"},
     "tool \"b\": output_schema is not valid JSON at byte 8"},
    {{.name = "c", .handler = answer, .output_schema = " [1]"},
     "tool \"c\": output_schema is not a JSON object"},
    {{.name = "d"}, "tool \"d\" has no handler"},
    {{.handler = answer}, "tool number 2 has no name"},
};

static int32_t set(patchbay_toolset *toolset, size_t which)
{
    static patchbay_tool tools[2];
    tools[0] = (patchbay_tool){.name = "good", .handler = answer};
    tools[1] = CASES[which].tool;
    return patchbay_set_tools(toolset, tools, 2);
}

/* Passes on what it gets; the number of the case is the configuration. */
static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    int64_t which = -1;
    (void)ret_data;
    (void)reterr;
    return patchbay_json_int(patchbay_json_get(config_json, "case"), &which)
               ? set(toolset, (size_t)which)
               : PATCHBAY_OK;
}

/* Later on, too, and the old list stays. */
static void try_all(patchbay_tool_call *call)
{
    int refused = 0;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        refused += set(patchbay_call_toolset(call), i) == PATCHBAY_EINVAL;
    }
    patchbay_reply_textf(call, "%d refused", refused);
}

static const patchbay_tool tools[] = {{.name = "try_all", .handler = try_all}};

PATCHBAY_TOOLSET_WITH("refused", "1.0.0", "This test.", tools, 1, "{\"type\":\"object\"}", setup,
                      NULL)

static void test_reason_at_setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char error[FAKE_HOST_ERROR_BYTES] = "";
        char config[32];
        (void)snprintf(config, sizeof config, "{\"case\":%lu}", (unsigned long)i);
        assert_null(fake_host_open(&patchbay_plugin_v1, config, error));
        assert_string_equal(error, CASES[i].reason);
    }
}

/* A table that the author wrote down, without setup(). */
static const patchbay_toolset_info wrong = {.tools = &CASES[0].tool, .tool_count = 1};

static int32_t create_wrong(const patchbay_host_api *api, patchbay_host *api_host,
                            patchbay_str config_json, void **ret_inst, patchbay_error *reterr)
{
    return patchbay_toolset_create_(&wrong, api, api_host, config_json, ret_inst, reterr);
}

static void test_reason_of_table(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES] = "";
    patchbay_plugin plugin = patchbay_plugin_v1;
    (void)state;
    plugin.create = create_wrong;
    assert_null(fake_host_open(&plugin, "{}", error));
    assert_string_equal(error, CASES[0].reason);
}

static void test_reason_in_log(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES] = "";
    char wanted[2000] = "";
    (void)state;
    fake_host *host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    assert_non_null(host);
    fake_result result = fake_host_call(host, "try_all", NULL);
    assert_non_null(strstr(result.json, "7 refused"));
    fake_result_free(&result);
    for (size_t i = 0, len = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        len += (size_t)snprintf(wanted + len, sizeof wanted - len, "3 %s\n", CASES[i].reason);
    }
    char *log = fake_host_log(host);
    assert_string_equal(log, wanted);
    free(log);
    result = fake_host_call(host, "try_all", NULL);
    assert_non_null(strstr(result.json, "7 refused"));
    fake_result_free(&result);
    fake_host_unload(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reason_at_setup),
        cmocka_unit_test(test_reason_of_table),
        cmocka_unit_test(test_reason_in_log),
    };
    return cmocka_run_group_tests_name("sdk.refused", tests, NULL, NULL);
}
