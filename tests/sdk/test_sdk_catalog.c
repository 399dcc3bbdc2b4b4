/* SPDX-License-Identifier: Apache-2.0 */
/* Resources, templates, prompts, completion and the lists of them, by the public helper: a toolset
 * in this very program, driven through the fake host. */
#include "fake_host.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define LOOP         PATCHBAY_NONBLOCKING

static fake_host *host;

/* ---- the toolset ----------------------------------------------------------------------------- */

static void read_text(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "text of %s", patchbay_call_name(call));
}

static void read_parts(patchbay_tool_call *call)
{
    patchbay_add_resource_blob(call, NULL, NULL, "\x01\x02\x03", 3);
    patchbay_add_resource_text(call, "part://2", "text/html", patchbay_str_of("<p>"));
    patchbay_add_media(call, "image", "image/png", "\x89", 1);
    patchbay_add_resource_link(call, "part://3", "left out", NULL, NULL);
    patchbay_annotate(call, "{\"priority\":1}"); /* contents have none */
    patchbay_reply(call);
}

static void read_variables(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_args(call));
}

static void read_nothing(patchbay_tool_call *call)
{
    patchbay_reply_not_found(call);
}

static const patchbay_resource resources[] = {
    {.uri = "note://one", .name = "one", .mime_type = "text/plain", .handler = read_text},
    {.uri = "note://parts",
     .name = "parts",
     .title = "Parts \"of\" it",
     .description = "More\nthan one.",
     .mime_type = "application/octet-stream",
     .annotations = "{\"priority\":0.5}",
     .size = 3,
     .handler = read_parts,
     .flags = LOOP},
    {.uri = "note://bare", .name = "bare", .handler = read_text},
};

static const char *const colors[] = {"red", "rose", "blue"};

static void complete_color(patchbay_tool_call *call)
{
    patchbay_reply_matches(call, colors, COUNT(colors));
}

static void complete_context(patchbay_tool_call *call)
{
    const char *color = patchbay_arg_text(call, "color");
    patchbay_add_text(call, patchbay_str_of(color != NULL ? color : "?"));
    patchbay_add_text(call, patchbay_str_of(patchbay_typed(call)));
    patchbay_add_media(call, "image", "image/png", "x", 1); /* no value */
    patchbay_reply(call);
}

/* As many values as were typed. */
static void complete_many(patchbay_tool_call *call)
{
    long count = strtol(patchbay_typed(call), NULL, 10);
    for (long i = 0; i < count; i++) {
        patchbay_add_text(call, patchbay_str_of("v"));
    }
    patchbay_reply(call);
}

static const patchbay_completer completers[] = {{"id", complete_color}};

static const patchbay_resource_template templates[] = {
    {.uri_template = "item://{id}/x.y+z/{part}",
     .name = "item",
     .title = "Item",
     .description = "A part.",
     .mime_type = "application/json",
     .annotations = "{\"priority\":0}",
     .completers = completers,
     .completer_count = COUNT(completers),
     .handler = read_variables,
     .flags = LOOP},
    {.uri_template = "file://{+path}", .name = "file", .handler = read_variables},
    {.uri_template = "gone://{id}", .name = "gone", .handler = read_nothing},
    {.uri_template = "hex://{id}a", .name = "hex", .handler = read_variables},
    {.uri_template = "raw://{id}",
     .name = "raw",
     .handler = read_variables,
     .flags = PATCHBAY_TAKES_NUL},
};

static void conversation(patchbay_tool_call *call)
{
    patchbay_add_text(call, patchbay_str_of(patchbay_arg_text(call, "topic")));
    patchbay_set_role(call, "assistant");
    patchbay_add_media(call, "image", "image/png", "\x89PN", 3);
    patchbay_annotate(call, "{\"audience\":[\"user\"]}");
    patchbay_add_resource_text(call, "note://one", "text/plain", patchbay_str_of("1"));
    patchbay_add_resource_link(call, "note://two", "two", NULL, NULL);
    patchbay_reply(call);
}

static void complain(patchbay_tool_call *call)
{
    patchbay_reply_error(call, PATCHBAY_UNAVAILABLE, "not today");
}

static const patchbay_prompt_argument topic[] = {
    {.name = "topic", .title = "Topic", .description = "What about", .is_required = 1},
    {.name = "color", .completer = complete_color},
    {.name = "context", .completer = complete_context},
    {.name = "many", .completer = complete_many},
};

static const patchbay_prompt prompts[] = {
    {.name = "talk",
     .title = "Talk",
     .description = "About it.",
     .arguments = topic,
     .argument_count = COUNT(topic),
     .handler = conversation},
    {.name = "plain", .handler = complain, .flags = LOOP},
};

static const patchbay_resource_template wrong_templates[][1] = {
    {{.uri_template = "x://{?query}", .name = "x", .handler = read_text}},
    {{.uri_template = "x://{a,b}", .name = "x", .handler = read_text}},
    {{.uri_template = "x://{a", .name = "x", .handler = read_text}},
    {{.uri_template = "x://a}", .name = "x", .handler = read_text}},
    {{.uri_template = "x://{}", .name = "x", .handler = read_text}},
    {{.uri_template = "x://a", .name = "x"}},
    {{.uri_template = "{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}", /* 17 */
      .name = "x",
      .handler = read_text}},
};

/* What the hub refuses leaves everything as it was. */
static void replace_in_vain(patchbay_tool_call *call)
{
    patchbay_toolset *toolset = patchbay_call_toolset(call);
    patchbay_reply_textf(call, "%d %d %d", (int)patchbay_set_resources(toolset, NULL, 0),
                         (int)patchbay_set_templates(toolset, NULL, 0),
                         (int)patchbay_set_prompts(toolset, NULL, 0));
}

/* From a worker thread: replaces everything, with tables of its own. */
static void replace(patchbay_tool_call *call)
{
    patchbay_toolset *toolset = patchbay_call_toolset(call);
    int32_t wrong = 0;
    for (size_t i = 0; i < COUNT(wrong_templates); i++) {
        wrong += patchbay_set_templates(toolset, wrong_templates[i], 1) == PATCHBAY_EINVAL;
    }
    patchbay_resource *table = (patchbay_resource *)calloc(1, sizeof *table);
    if (table == NULL) {
        abort();
    }
    *table = resources[0];
    table->uri = "note://new";
    int32_t first = patchbay_set_resources(toolset, table, 1);
    int32_t second = patchbay_set_resources(toolset, table, 0);
    free(table); /* it is not used any more */
    int32_t third = patchbay_set_prompts(toolset, &prompts[1], 1);
    patchbay_reply_textf(call, "%d %d %d %d", (int)wrong, (int)first, (int)second, (int)third);
}

/* Each list has one entry that lacks something, behind a good one. */
static void lack(patchbay_tool_call *call)
{
    patchbay_toolset *toolset = patchbay_call_toolset(call);
    patchbay_resource lame[2] = {resources[0], {.uri = "note://lame", .name = "lame"}};
    patchbay_resource_template lames[2] = {
        {.uri_template = "lame://{a}", .name = "lame", .handler = replace_in_vain},
        {.uri_template = "lame://{b}", .handler = replace_in_vain}};
    patchbay_prompt nameless[2] = {prompts[1], {.handler = replace_in_vain}};
    int32_t first = patchbay_set_resources(toolset, lame, 2);
    int32_t second = patchbay_set_templates(toolset, lames, 2);
    int32_t third = patchbay_set_prompts(toolset, nameless, 2);
    patchbay_reply_textf(call, "%d %d %d", (int)first, (int)second, (int)third);
}

static const patchbay_tool tools[] = {
    {.name = "lack", .handler = lack},
    {.name = "replace", .handler = replace},
    {.name = "in_vain", .handler = replace_in_vain},
};

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    (void)reterr;
    *ret_data = NULL;
    int32_t result = PATCHBAY_OK;
    if (patchbay_json_get(config_json, "plain_templates").len > 0) { /* without completers */
        result = patchbay_set_templates(toolset, &templates[1], 1);
    }
    if (result == PATCHBAY_OK && patchbay_json_get(config_json, "plain_prompts").len > 0) {
        result = patchbay_set_prompts(toolset, &prompts[1], 1);
    }
    return result;
}

static const patchbay_toolset_info info = {
    .tools = tools,
    .tool_count = COUNT(tools),
    .setup = setup,
    .resources = resources,
    .resource_count = COUNT(resources),
    .templates = templates,
    .template_count = COUNT(templates),
    .prompts = prompts,
    .prompt_count = COUNT(prompts),
    .flags = PATCHBAY_TOOLSET_SUBSCRIBABLE | PATCHBAY_TOOLSET_SENDS_MESSAGES,
};

PATCHBAY_TOOLSET_OF("self", "1.0.0", "This test.", NULL, info)

/* ---- tests ----------------------------------------------------------------------------------- */

static void check(uint64_t id, int32_t status, const char *wanted)
{
    fake_result result = fake_host_wait(host, id);
    assert_string_equal(result.json, wanted);
    assert_int_equal(result.status, status);
    fake_result_free(&result);
}

static void check_read(const char *uri, int32_t status, const char *wanted)
{
    check(fake_host_request(host, "resources/read", uri, "{}"), status, wanted);
}

static void check_prompt(const char *name, const char *params, int32_t status, const char *wanted)
{
    check(fake_host_request(host, "prompts/get", name, params), status, wanted);
}

static void check_tool(const char *name, int32_t status, const char *wanted)
{
    check(fake_host_start(host, name, "{\"a\":1}"), status, wanted);
}

static void test_lists(void **state)
{
    (void)state;
    assert_string_equal(
        fake_host_list(host, PATCHBAY_RESOURCES),
        "[{\"uri\":\"note://one\",\"name\":\"one\",\"mimeType\":\"text/plain\"},"
        "{\"uri\":\"note://parts\",\"name\":\"parts\",\"title\":\"Parts \\\"of\\\" it\","
        "\"description\":\"More\\nthan one.\",\"mimeType\":\"application/octet-stream\","
        "\"annotations\":{\"priority\":0.5},\"size\":3},"
        "{\"uri\":\"note://bare\",\"name\":\"bare\"}]");
    assert_non_null(strstr(
        fake_host_list(host, PATCHBAY_RESOURCE_TEMPLATES),
        "[{\"uriTemplate\":\"item://{id}/x.y+z/{part}\",\"name\":\"item\",\"title\":\"Item\","
        "\"description\":\"A part.\",\"mimeType\":\"application/json\","
        "\"annotations\":{\"priority\":0}},{\"uriTemplate\":\"file://{+path}\","
        "\"name\":\"file\"},"));
    assert_string_equal(
        fake_host_list(host, PATCHBAY_PROMPTS),
        "[{\"name\":\"talk\",\"title\":\"Talk\",\"description\":\"About it.\",\"arguments\":["
        "{\"name\":\"topic\",\"title\":\"Topic\",\"description\":\"What about\","
        "\"required\":true},{\"name\":\"color\",\"required\":false},"
        "{\"name\":\"context\",\"required\":false},{\"name\":\"many\",\"required\":false}]},"
        "{\"name\":\"plain\",\"arguments\":[]}]");
    assert_string_equal(fake_host_offered(host), "{\"resources\":{\"subscribe\":true},"
                                                 "\"completions\":{},\"logging\":{}}");
}

static void test_reading(void **state)
{
    (void)state;
    check_read("note://one", PATCHBAY_RESULT,
               "{\"contents\":[{\"uri\":\"note://one\",\"mimeType\":\"text/plain\","
               "\"text\":\"text of note://one\"}]}");
    check_read("note://bare", PATCHBAY_RESULT,
               "{\"contents\":[{\"uri\":\"note://bare\",\"text\":\"text of note://bare\"}]}");
    check_read("note://parts", PATCHBAY_RESULT,
               "{\"contents\":[{\"uri\":\"note://parts\",\"mimeType\":"
               "\"application/octet-stream\",\"blob\":\"AQID\"},{\"uri\":\"part://2\","
               "\"mimeType\":\"text/html\",\"text\":\"<p>\"},{\"uri\":\"note://parts\","
               "\"mimeType\":\"image/png\",\"blob\":\"iQ==\"}]}");
    check_read("note://\"two\"", PATCHBAY_RPC_ERROR,
               "{\"code\":-32602,\"message\":\"Resource not found\","
               "\"data\":{\"uri\":\"note://\\\"two\\\"\"}}");
    check_read("gone://1", PATCHBAY_RPC_ERROR,
               "{\"code\":-32602,\"message\":\"Resource not found\","
               "\"data\":{\"uri\":\"gone://1\"}}");
}

static void check_variables(const char *uri, const char *variables)
{
    fake_result result = fake_host_wait(host, fake_host_request(host, "resources/read", uri, "{}"));
    char wanted[512];
    (void)snprintf(wanted, sizeof wanted, "\"text\":\"%s\"}]}", variables);
    assert_non_null(strstr(result.json, wanted));
    fake_result_free(&result);
}

static void test_templates(void **state)
{
    (void)state;
    check_variables("item://1/x.y+z/2", "{\\\"id\\\":\\\"1\\\",\\\"part\\\":\\\"2\\\"}");
    /* decoded, once; a '%' that begins nothing stays */
    check_variables("item://a%2fb%20%c3%A4/x.y+z/%2541%4",
                    "{\\\"id\\\":\\\"a/b \xc3\xa4\\\",\\\"part\\\":\\\"%41%4\\\"}");
    check_variables("file:///a/b?c#d", "{\\\"path\\\":\\\"/a/b?c#d\\\"}");
    check_variables("hex://1%4a", "{\\\"id\\\":\\\"1%4\\\"}");
    check_variables("raw://a%00", "{\\\"id\\\":\\\"a\\\\u0000\\\"}");
    static const char *const others[] = {
        "item://1/x.y+z/2/3", "item://1/x.y+z/",   "item:///x.y+z/2",   "item://1/xay+z/2",
        "item://1/x.yz/2",    "item://1/x.y+z/?2", "xitem://1/x.y+z/2", "file://",
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        fake_result result =
            fake_host_wait(host, fake_host_request(host, "resources/read", others[i], "{}"));
        assert_int_equal(result.status, PATCHBAY_RPC_ERROR);
        fake_result_free(&result);
    }
    check_read("item://%00/x.y+z/1", PATCHBAY_INVALID_INPUT,
               "the arguments hold a NUL character (\\u0000); send them without");
}

static void test_prompts(void **state)
{
    (void)state;
    check_prompt(
        "talk", "{\"arguments\":{\"topic\":\"C\"}}", PATCHBAY_RESULT,
        "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"C\"}},"
        "{\"role\":\"assistant\",\"content\":{\"type\":\"image\",\"data\":\"iVBO\","
        "\"mimeType\":\"image/png\",\"annotations\":{\"audience\":[\"user\"]}}},"
        "{\"role\":\"assistant\",\"content\":{\"type\":\"resource\",\"resource\":"
        "{\"uri\":\"note://one\",\"mimeType\":\"text/plain\",\"text\":\"1\"}}},"
        "{\"role\":\"assistant\",\"content\":{\"type\":\"resource_link\","
        "\"uri\":\"note://two\",\"name\":\"two\"}}]}");
    static const char wants[] = "{\"code\":-32602,\"message\":\"the prompt wants this argument, a "
                                "text: topic\"}";
    check_prompt("talk", "{}", PATCHBAY_RPC_ERROR, wants);
    check_prompt("talk", "{\"arguments\":{}}", PATCHBAY_RPC_ERROR, wants);
    check_prompt("talk", "{\"arguments\":{\"topic\":7}}", PATCHBAY_RPC_ERROR, wants);
    check_prompt("talk", "{\"arguments\":{\"topic\":\"C\",\"color\":{}}}", PATCHBAY_RPC_ERROR,
                 "{\"code\":-32602,\"message\":\"the prompt wants this argument, a text: color\"}");
    check_prompt("tal", "{}", PATCHBAY_RPC_ERROR,
                 "{\"code\":-32602,\"message\":\"there is no such prompt: tal\"}");
    check_prompt("plain", "{}", PATCHBAY_UNAVAILABLE, "not today");
}

static void check_completion(const char *subject, const char *params, const char *values, int count)
{
    char wanted[256];
    (void)snprintf(wanted, sizeof wanted,
                   "{\"completion\":{\"values\":[%s],\"total\":%d,\"hasMore\":false}}", values,
                   count);
    check(fake_host_request(host, "completion/complete", subject, params), PATCHBAY_RESULT, wanted);
}

static void test_completion(void **state)
{
    (void)state;
    check_completion("talk", "{\"argument\":{\"name\":\"color\",\"value\":\"r\"}}",
                     "\"red\",\"rose\"", 2);
    check_completion("talk", "{\"argument\":{\"name\":\"color\",\"value\":\"x\"}}", "", 0);
    check_completion("talk", "{\"argument\":{\"name\":\"topic\",\"value\":\"\"}}", "", 0);
    check_completion("talk", "{\"argument\":{\"name\":\"nothing\",\"value\":\"\"}}", "", 0);
    check_completion("item://{id}/x.y+z/{part}", "{\"argument\":{\"name\":\"id\",\"value\":\"b\"}}",
                     "\"blue\"", 1);
    check_completion("talk",
                     "{\"argument\":{\"name\":\"context\",\"value\":\"\\\"t\"},"
                     "\"context\":{\"arguments\":{\"color\":\"red\"}}}",
                     "\"red\",\"\\\"t\"", 2);
    check_completion("talk", "{\"argument\":{\"name\":\"context\",\"value\":\"t\"}}", "\"?\",\"t\"",
                     2);
}

/* MCP server/utilities/completion: at most 100 values. */
static void test_completion_limit(void **state)
{
    (void)state;
    for (int count = 100; count <= 101; count++) {
        char params[64];
        char wanted[64];
        (void)snprintf(params, sizeof params, "{\"argument\":{\"name\":\"many\",\"value\":\"%d\"}}",
                       count);
        (void)snprintf(wanted, sizeof wanted, "],\"total\":%d,\"hasMore\":%s}}", count,
                       count > 100 ? "true" : "false");
        fake_result result =
            fake_host_wait(host, fake_host_request(host, "completion/complete", "talk", params));
        assert_non_null(strstr(result.json, wanted));
        size_t values = 0;
        for (const char *at = result.json; (at = strstr(at, "\"v\"")) != NULL; at++) {
            values++;
        }
        assert_int_equal(values, 100);
        fake_result_free(&result);
    }
}

static void test_changing_lists(void **state)
{
    (void)state;
    check_tool("replace", PATCHBAY_RESULT,
               "{\"content\":[{\"type\":\"text\",\"text\":\"7 0 0 0\"}]}");
    assert_string_equal(fake_host_list(host, PATCHBAY_RESOURCES), "[]");
    assert_string_equal(fake_host_list(host, PATCHBAY_PROMPTS),
                        "[{\"name\":\"plain\",\"arguments\":[]}]");
    check_variables("file://a", "{\\\"path\\\":\\\"a\\\"}"); /* the old templates stayed */
    fake_result gone =
        fake_host_wait(host, fake_host_request(host, "resources/read", "note://one", "{}"));
    assert_int_equal(gone.status, PATCHBAY_RPC_ERROR);
    fake_result_free(&gone);
    check_prompt("talk", "{}", PATCHBAY_RPC_ERROR,
                 "{\"code\":-32602,\"message\":\"there is no such prompt: talk\"}");
    char *log = fake_host_log(host);
    assert_non_null(
        strstr(log, "3 uri_template \"x://{a\": only {name} and {+name} are known, 16 at most\n"));
    free(log);
}

static void test_entries_that_lack_something(void **state)
{
    (void)state;
    check_tool("lack", PATCHBAY_RESULT,
               "{\"content\":[{\"type\":\"text\",\"text\":\"-1 -1 -1\"}]}");
    char *log = fake_host_log(host);
    assert_string_equal(log, "3 resource number 2 has no handler\n"
                             "3 resource template number 2 has no name\n"
                             "3 prompt number 2 has no name\n");
    free(log);
}

static void test_lists_that_are_refused(void **state)
{
    (void)state;
    fake_host_refuse_lists(host, 1);
    check_tool("in_vain", PATCHBAY_RESULT,
               "{\"content\":[{\"type\":\"text\",\"text\":\"-3 -3 -3\"}]}");
    check_variables("note://bare", "text of note://bare");
    check_variables("file://a", "{\\\"path\\\":\\\"a\\\"}");
    check_prompt("plain", "{}", PATCHBAY_UNAVAILABLE, "not today");
}

static void test_what_is_offered(void **state)
{
    static const struct {
        const char *config;
        int completes;
    } cases[] = {
        {"{\"plain_templates\":1}", 1},
        {"{\"plain_prompts\":1}", 1},
        {"{\"plain_prompts\":1,\"plain_templates\":1}", 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char error[FAKE_HOST_ERROR_BYTES];
        fake_host *other = fake_host_open(&patchbay_plugin_v1, cases[i].config, error);
        assert_non_null(other);
        assert_int_equal(strstr(fake_host_offered(other), "\"completions\"") != NULL,
                         cases[i].completes);
        fake_host_unload(other);
    }
}

/* A hub that knows tools only: they work. */
static void test_older_hub(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    fake_host *shared = host;
    fake_host_hide_interface(PATCHBAY_CATALOG_V1);
    host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    fake_host_hide_interface(NULL);
    assert_non_null(host);
    check_tool("in_vain", PATCHBAY_RESULT,
               "{\"content\":[{\"type\":\"text\",\"text\":\"-7 -7 -7\"}]}");
    char *log = fake_host_log(host);
    assert_string_equal(log,
                        "2 this hub knows no resources and prompts: only the tools can be used\n");
    free(log);
    fake_host_unload(host);
    host = shared;
}

static int open_self(void **state)
{
    char error[FAKE_HOST_ERROR_BYTES];
    (void)state;
    host = fake_host_open(&patchbay_plugin_v1, "{}", error);
    return host != NULL ? 0 : -1;
}

static int close_self(void **state)
{
    (void)state;
    fake_host_unload(host);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_self, close_self)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lists),
        TEST(test_reading),
        TEST(test_templates),
        TEST(test_prompts),
        TEST(test_completion),
        TEST(test_completion_limit),
        TEST(test_changing_lists),
        TEST(test_entries_that_lack_something),
        TEST(test_lists_that_are_refused),
        TEST(test_what_is_offered),
        TEST(test_older_hub),
    };
    return cmocka_run_group_tests_name("sdk.catalog", tests, NULL, NULL);
}
