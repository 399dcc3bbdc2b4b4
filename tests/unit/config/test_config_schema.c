/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schemas/manifest.schema.json and examples/manifest-reference.yaml are written from the tables of
 * keys: they are up to date, the schema has every key with its words and bounds, and the reference
 * shows every key, and loads. And what the tables say of servers is what their modules do.
 */
#include "config_support.h"

#include "base/limits.h"
#include "config/describe/describe.h"
#include "config/file.h"
#include "config/reader.h"
#include "tools/schema.h"
#include "wire/json.h"

#include "plugins/upstream/common/upstream.h"

static const char SCHEMA_FILE[] = "../../schemas/manifest.schema.json";
static const char ERRORS_FILE[] = "../../docs/ERRORS.md";
static const char REFERENCE_FILE[] = "../../examples/manifest-reference.yaml";

static hub_buf schema_text;
static hub_str schema;
static unsigned keys_seen;

static hub_str get(hub_str object, const char *key)
{
    return hub_json_get(object, hub_str_of(key));
}

/* Follow {"$ref": "#/$defs/NAME"}. */
static hub_str resolve(hub_str place)
{
    hub_str reference;
    if (!hub_json_plain(get(place, "$ref"), &reference)) {
        return place;
    }
    hub_str prefix = HUB_STR("#/$defs/");
    assert_true(hub_str_starts(reference, prefix));
    hub_str found = hub_json_get(get(schema, "$defs"), hub_str_from(reference, prefix.len));
    assert_int_not_equal(found.len, 0);
    return found;
}

static void compare_words(const hub_config_word *words, hub_str place, const char *name)
{
    size_t count = 0;
    for (; words[count].word != NULL; count++) {
        hub_json_iter it = hub_json_iterate(get(place, "enum"));
        hub_str key;
        hub_str value;
        bool found = false;
        while (hub_json_next(&it, &key, &value)) {
            found = found || hub_json_string_is(value, hub_str_of(words[count].word));
        }
        if (!found) {
            fail_msg("%s: \"%s\" is missing in the schema", name, words[count].word);
        }
    }
    if (hub_json_count(get(place, "enum")) != count) {
        fail_msg("%s: the schema has words that the loader does not know", name);
    }
}

static void compare_bounds(const hub_config_key *key, hub_str place)
{
    uint64_t least = 0;
    uint64_t most = 0;
    if (key->kind != HUB_CONFIG_COUNT) {
        return;
    }
    assert_true(hub_json_to_u64(get(place, "minimum"), &least));
    assert_true(hub_json_to_u64(get(place, "maximum"), &most));
    if (least != key->least || most != key->most) {
        fail_msg("%s: other bounds in the schema", key->name);
    }
}

static bool is_type(hub_str place, const char *type)
{
    return hub_json_string_is(get(place, "type"), hub_str_of(type));
}

static void compare_kind(const hub_config_key *key, hub_str place)
{
    static const char *const TYPES[] = {
        [HUB_CONFIG_TEXT] = "string",   [HUB_CONFIG_BOOL] = "boolean",
        [HUB_CONFIG_COUNT] = "integer", [HUB_CONFIG_DURATION] = "string",
        [HUB_CONFIG_WORD] = "string",   [HUB_CONFIG_CHOICE] = "string",
        [HUB_CONFIG_NAMES] = "array",   [HUB_CONFIG_TOOLSET_NAMES] = "array",
        [HUB_CONFIG_FOLDERS] = "array", [HUB_CONFIG_PATH] = "string",
        [HUB_CONFIG_OTHER] = NULL,
    };
    if (TYPES[key->kind] != NULL && !is_type(resolve(place), TYPES[key->kind])) {
        fail_msg("%s: the schema wants another type than %s", key->name, TYPES[key->kind]);
    }
}

static const hub_config_key *find_key(const hub_config_key *keys, hub_str raw_name)
{
    for (; keys->name != NULL; keys++) {
        if (keys->kind != HUB_CONFIG_NO_KEY &&
            hub_json_string_is(raw_name, hub_str_of(keys->name))) {
            return keys;
        }
    }
    return NULL;
}

static void compare_map(const hub_config_key *keys, hub_str place, const char *path);

static void compare_key(const hub_config_key *key, hub_str place, const char *parent)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s.%s", parent, key->name);
    if (get(resolve(place), "description").len == 0) {
        fail_msg("%s: no description in the schema", path);
    }
    keys_seen++;
    compare_kind(key, place);
    compare_bounds(key, place);
    if (key->words != NULL) {
        compare_words(key->words, place, path);
    }
    if (key->keys == NULL) {
        return;
    }
    hub_str inner = resolve(place);
    if (key->kind == HUB_CONFIG_MAP_OF) {
        inner = resolve(get(inner, "additionalProperties"));
    } else if (key->kind == HUB_CONFIG_LIST_OF) {
        inner = resolve(get(inner, "items"));
    }
    compare_map(key->keys, inner, path);
}

/* Both ways: what the loader knows, and what the schema knows. */
static void compare_map(const hub_config_key *keys, hub_str place, const char *path)
{
    hub_str properties = get(place, "properties");
    assert_true(hub_str_is(get(place, "additionalProperties"), "false"));
    for (const hub_config_key *key = keys; key->name != NULL; key++) {
        if (key->kind == HUB_CONFIG_NO_KEY) {
            continue; /* known for the sake of suggestions only */
        }
        hub_str found = get(properties, key->name);
        if (found.len == 0) {
            fail_msg("%s.%s: missing in the schema", path, key->name);
        }
        compare_key(key, found, path);
    }
    hub_json_iter it = hub_json_iterate(properties);
    hub_str name;
    hub_str value;
    while (hub_json_next(&it, &name, &value)) {
        if (find_key(keys, name) == NULL) {
            fail_msg("%s." HUB_STR_FMT ": the loader does not know it", path, HUB_STR_ARG(name));
        }
    }
}

static void test_schema_and_tables(void **state)
{
    (void)state;
    keys_seen = 0;
    compare_map(HUB_CONFIG_MANIFEST_KEYS, schema, "");
    assert_true(keys_seen > 110);
}

static void test_bounds_of_maps(void **state)
{
    (void)state;
    uint64_t most = 0;
    hub_str toolsets = get(get(schema, "properties"), "toolsets");
    assert_true(hub_json_to_u64(get(toolsets, "maxProperties"), &most));
    assert_int_equal(most, HUB_LIMIT_TOOLSETS);
    hub_str listeners = get(get(schema, "properties"), "listen");
    assert_true(hub_json_to_u64(get(listeners, "maxItems"), &most));
    assert_int_equal(most, HUB_LIMIT_LISTENERS);
}

static void expect_file(const char *path, void (*describe)(hub_buf *out))
{
    hub_buf found;
    hub_buf wanted;
    hub_error error = {.text = ""};
    hub_buf_init(&found, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&wanted, HUB_LIMIT_CONFIG_BYTES);
    assert_int_equal(hub_file_read(path, &found, NULL, &error), HUB_OK);
    describe(&wanted);
    if (!hub_str_eq(hub_buf_str(&found), hub_buf_str(&wanted))) {
        fail_msg("%s is not as the tables have it: see CONTRIBUTING.md, \"Settings\"", path);
    }
    hub_buf_fini(&wanted);
    hub_buf_fini(&found);
}

static void test_files_are_up_to_date(void **state)
{
    (void)state;
    expect_file(SCHEMA_FILE, hub_describe_schema);
    expect_file(REFERENCE_FILE, hub_describe_reference);
    expect_file(ERRORS_FILE, hub_describe_errors);
}

static upstream_pace pace_of(const char *module_key, uint32_t value)
{
    char json[128];
    upstream_pace pace;
    (void)snprintf(json, sizeof json, "{\"%s\":%u}", module_key, value);
    upstream_pace_read((patchbay_str){json, strlen(json)}, 30000, &pace);
    return pace;
}

static bool is_same_pace(const upstream_pace *a, const upstream_pace *b)
{
    return memcmp(a, b, offsetof(upstream_pace, skips_lists)) == 0;
}

/* The module that server entries go to reads what the row says, and has the default that the row
 * says. */
static void expect_in_pace(const hub_config_key *key)
{
    upstream_pace plain = pace_of("none", 0);
    upstream_pace usual = pace_of(key->module_key, key->fallback);
    upstream_pace most = pace_of(key->module_key, key->most);
    if (!key->has_no_default && !is_same_pace(&plain, &usual)) {
        fail_msg("%s: the module has another default", key->name);
    }
    if (is_same_pace(&plain, &most)) {
        fail_msg("%s: the module does not read %s", key->name, key->module_key);
    }
}

static void test_modules_read_their_settings(void **state)
{
    static const char *const SCHEMAS[] = {
        [0] =
#include "plugins/upstream/local/config_schema.h"
            ,
        [1] =
#include "plugins/upstream/remote/config_schema.h"
            ,
    };
    static const unsigned OF[] = {
        HUB_CONFIG_OF_COMMAND | HUB_CONFIG_OF_SOCKET | HUB_CONFIG_OF_PROCESS, HUB_CONFIG_OF_URL};
    (void)state;
    for (const hub_config_key *key = HUB_CONFIG_TOOLSET_KEYS; key->name != NULL; key++) {
        for (size_t i = 0; key->module_key != NULL && i < COUNT(SCHEMAS); i++) {
            uint64_t least = 0;
            uint64_t most = 0;
            hub_str known = get(get(hub_str_of(SCHEMAS[i]), "properties"), key->module_key);
            if ((key->of & OF[i]) != 0 && known.len == 0) {
                fail_msg("%s: the module does not know %s", key->name, key->module_key);
            }
            if (known.len > 0 && key->kind == HUB_CONFIG_DURATION) {
                assert_true(hub_json_to_u64(get(known, "minimum"), &least));
                assert_true(hub_json_to_u64(get(known, "maximum"), &most));
                assert_true(least <= key->least && most >= key->most);
            }
        }
        if (key->kind == HUB_CONFIG_DURATION && (key->of & HUB_CONFIG_OF_PROCESS) != 0) {
            expect_in_pace(key);
        }
    }
}

/* Editors are told the same as the loader tells. */
static void test_schema_and_loader_agree(void **state)
{
    static const struct {
        const char *manifest;
        bool is_good;
    } CASES[] = {
        {"{}", true},
        {"{\"hub\":null,\"limits\":null,\"toolsets\":null}", true},
        {"{\"hub\":{\"page_size\":0}}", false},
        {"{\"hub\":{\"nam\":\"x\"}}", false},
        {"{\"limits\":{\"client_message\":1024}}", true},
        {"{\"limits\":{\"client_message\":1023}}", false},
        {"{\"limits\":{\"client_message\":\"4 MiB\"}}", true},
        {"{\"limits\":{\"client_message\":\"4 MB\"}}", false},
        {"{\"limits\":{\"client_message\":\"4MiB \"}}", false},
        {"{\"limits\":{\"client_message\":\"4\\tMiB\"}}", false},
        {"{\"limits\":{\"client_message\":\"4MiB\\n\"}}", false},
        {"{\"limits\":{\"client_message\":4096.0}}", true},
        {"{\"limits\":{\"client_message\":4e3}}", true},
        {"{\"limits\":{\"client_message\":4096.5}}", false},
        {"{\"limits\":{\"client_message\":1e400}}", false},
        {"{\"limits\":{\"call_timeout\":\"30s \"}}", false},
        {"{\"limits\":{\"calls_per_session\":1e1}}", true},
        {"{\"limits\":{\"calls_per_session\":-0}}", false},
        {"{\"limits\":{\"call_timeout\":30}}", false},
        {"{\"log\":{\"level\":\"warn\",\"audit\":\"off\"}}", true},
        {"{\"log\":{\"level\":\"loud\"}}", false},
        {"{\"toolsets\":{\"a\":{\"memory_limit\":0}}}", true},
        {"{\"toolsets\":{\"a\":{\"memory_limit\":-0.0}}}", true},
        {"{\"toolsets\":{\"a\":{\"isolation\":\"process\",\"memory_limit\":1024}}}", false},
        {"{\"toolsets\":{\"a\":{\"isolation\":\"process\",\"cwd\":\".\"}}}", true},
        {"{\"toolsets\":{\"a\":{\"cwd\":\".\"}}}", false},
        {"{\"toolsets\":{\"a\":{\"command\":\"x\",\"health_interval\":\"0s\"}}}", true},
        {"{\"toolsets\":{\"a\":{\"health_interval\":\"0s\"}}}", false},
        {"{\"toolsets\":{\"a\":{\"command\":\"x\",\"url\":\"http://x\"}}}", false},
        {"{\"toolsets\":{\"a\":{\"command\":\"x\",\"headers\":{}}}}", false},
        {"{\"toolsets\":{\"a\":{\"url\":\"http://x\",\"args\":[]}}}", false},
        {"{\"toolsets\":{\"a\":{\"url\":\"http://x\",\"key\":\"k\"}}}", false},
        {"{\"toolsets\":{\"a\":{\"url\":\"http://x\",\"key\":\"k\",\"certificate\":\"c\"}}}", true},
        {"{\"toolsets\":{\"a\":{\"url\":\"unix:/x\",\"protocol\":\"2025-11-25\"}}}", true},
        {"{\"toolsets\":{\"a\":{\"url\":\"unix:/x\",\"type\":\"http\"}}}", false},
        {"{\"toolsets\":{\"a\":{\"command\":\"x\",\"module\":\"m\"}}}", false},
        {"{\"toolsets\":{\"a\":{\"protocol\":\"2025-11-25\"}}}", false},
        {"{\"toolsets\":{\"A\":{}}}", false},
        {"{\"policy\":{\"filters\":[{\"category\":[\"x\"]}]}}", true},
        {"{\"policy\":{\"filters\":[{}]}}", false},
        {"{\"profiles\":{\"p\":{\"toolsets\":\"ALL\",\"policy\":{\"read_only\":true}}}}", true},
        {"{\"listen\":[{\"http\":8787,\"insecure\":false},{\"unix\":\"s\",\"mode\":\"0660\"}]}",
         true},
        {"{\"listen\":[{\"http\":8787,\"mode\":\"0660\"}]}", false},
        {"{\"listen\":[{\"unix\":\"s\",\"hosts\":[]}]}", false},
        {"{\"listen\":[{\"http\":1,\"unix\":\"s\"}]}", false},
        {"{\"listen\":[{\"http\":1,\"tls\":{\"key\":\"k\"}}]}", false},
    };
    hub_schema *compiled = NULL;
    hub_error error = {.text = ""};
    (void)state;
    if (hub_schema_compile(schema, &compiled, &error) != HUB_OK) {
        fail_msg("%s", error.text);
    }
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_config *config = NULL;
        hub_str text = hub_str_of(CASES[i].manifest);
        hub_err loaded = hub_config_parse("m.json", text, NULL, NULL, &config, NULL);
        hub_err checked = hub_schema_validate(compiled, text, "manifest", &error);
        if ((loaded == HUB_OK) != CASES[i].is_good || (checked == HUB_OK) != CASES[i].is_good) {
            fail_msg("%s: %s", CASES[i].manifest, error.text);
        }
        hub_config_destroy(config);
    }
    hub_schema_destroy(compiled);
}

/* Every key stands in the reference, be it in a comment. */
static void expect_mentioned(const hub_config_key *keys, hub_str text)
{
    for (; keys->name != NULL; keys++) {
        if (keys->kind == HUB_CONFIG_NO_KEY) {
            continue; /* known for the sake of suggestions only */
        }
        char line_start[64];
        char after_space[64];
        (void)snprintf(line_start, sizeof line_start, "\n%s:", keys->name);
        (void)snprintf(after_space, sizeof after_space, " %s:", keys->name);
        if (hub_str_find(text, hub_str_of(line_start)) == SIZE_MAX &&
            hub_str_find(text, hub_str_of(after_space)) == SIZE_MAX) {
            fail_msg("%s is not in the reference", keys->name);
        }
        if (keys->keys != NULL) {
            expect_mentioned(keys->keys, text);
        }
    }
}

static void test_reference_is_complete(void **state)
{
    (void)state;
    hub_buf text;
    hub_error error = {.text = ""};
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    assert_int_equal(hub_file_read(REFERENCE_FILE, &text, NULL, &error), HUB_OK);
    expect_mentioned(HUB_CONFIG_MANIFEST_KEYS, hub_buf_str(&text));
    hub_buf_fini(&text);
}

/* The reference claims to show the defaults: it is the same as no file at all. */
static void test_reference_shows_the_defaults(void **state)
{
    (void)state;
    const char *const files[] = {REFERENCE_FILE};
    hub_error error = {.text = ""};
    hub_config *config = NULL;
    hub_config *empty = NULL;
    hub_err err = hub_config_load(files, 1, NULL, NULL, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(err, HUB_OK);
    assert_int_equal(hub_config_load(NULL, 0, NULL, NULL, &empty, &error), HUB_OK);
    assert_string_equal(config->settings.name, empty->settings.name);
    assert_memory_equal(&config->settings.limits, &empty->settings.limits,
                        sizeof config->settings.limits);
    assert_int_equal(config->settings.log_level, empty->settings.log_level);
    assert_int_equal(config->settings.log_json, empty->settings.log_json);
    assert_int_equal(config->settings.modules.watch, empty->settings.modules.watch);
    assert_int_equal(config->settings.modules.allow_writable,
                     empty->settings.modules.allow_writable);
    assert_int_equal(config->settings.policy.max_active, empty->settings.policy.max_active);
    assert_int_equal(config->settings.policy.read_only, empty->settings.policy.read_only);
    assert_int_equal(config->settings.policy.deny_destructive,
                     empty->settings.policy.deny_destructive);
    const hub_profile_settings *ours = &config->settings.profiles[0];
    const hub_profile_settings *theirs = &empty->settings.profiles[0];
    assert_int_equal(ours->naming, theirs->naming);
    assert_int_equal(ours->max_name_bytes, theirs->max_name_bytes);
    assert_int_equal(ours->startup, theirs->startup);
    assert_int_equal(hub_profile_settings_groups(ours), hub_profile_settings_groups(theirs));
    assert_int_equal(config->settings.toolset_count, 5);
    assert_int_equal(config->settings.profile_count, 2);
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
    hub_config_destroy(empty);
}

static int read_schema(void **state)
{
    (void)state;
    hub_error error = {.text = ""};
    hub_buf_init(&schema_text, HUB_LIMIT_CONFIG_BYTES);
    if (hub_file_read(SCHEMA_FILE, &schema_text, NULL, &error) != HUB_OK ||
        hub_json_check(hub_buf_str(&schema_text), &schema, &error) != HUB_OK) {
        print_error("%s\n", error.text);
        return 1;
    }
    return 0;
}

static int free_schema(void **state)
{
    (void)state;
    hub_buf_fini(&schema_text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_and_tables),
        cmocka_unit_test(test_bounds_of_maps),
        cmocka_unit_test(test_files_are_up_to_date),
        cmocka_unit_test(test_schema_and_loader_agree),
        cmocka_unit_test(test_modules_read_their_settings),
        cmocka_unit_test(test_reference_is_complete),
        cmocka_unit_test(test_reference_shows_the_defaults),
    };
    return cmocka_run_group_tests(tests, read_schema, free_schema);
}
