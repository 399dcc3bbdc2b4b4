/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schemas/manifest.schema.json against the loader's tables: the same keys at every place, the same
 * words, the same bounds. And examples/manifest-reference.yaml: it shows every key, and loads.
 */
#include "config_support.h"

#include "base/limits.h"
#include "config/file.h"
#include "config/reader.h"
#include "wire/json.h"

static const char SCHEMA_FILE[] = "../../schemas/manifest.schema.json";
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
    if (key->read != hub_config_read_count) {
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
    static const struct {
        hub_config_read_fn read;
        const char *type;
    } KINDS[] = {
        {hub_config_read_text, "string"},        {hub_config_read_bool, "boolean"},
        {hub_config_read_count, "integer"},      {hub_config_read_duration, "string"},
        {hub_config_read_word, "string"},        {hub_config_read_choice, "string"},
        {hub_config_read_names, "array"},        {hub_config_read_toolset_names, "array"},
        {hub_config_read_folders, "array"},      {hub_config_read_hosts, "array"},
        {hub_config_read_origins, "array"},      {hub_config_read_path, "string"},
        {hub_config_read_tokens_file, "string"},
    };
    for (size_t i = 0; i < COUNT(KINDS); i++) {
        if (KINDS[i].read == key->read && !is_type(resolve(place), KINDS[i].type)) {
            fail_msg("%s: the schema wants another type than %s", key->name, KINDS[i].type);
        }
    }
}

static const hub_config_key *find_key(const hub_config_key *keys, hub_str raw_name)
{
    for (; keys->name != NULL; keys++) {
        if (keys->read != NULL && hub_json_string_is(raw_name, hub_str_of(keys->name))) {
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
    if (key->shape == HUB_CONFIG_MAP_OF) {
        inner = resolve(get(inner, "additionalProperties"));
    } else if (key->shape == HUB_CONFIG_LIST_OF) {
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
        if (key->read == NULL) {
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
    compare_map(hub_config_manifest_keys(), schema, "");
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

/* Every key stands in the reference, be it in a comment. */
static void expect_mentioned(const hub_config_key *keys, hub_str text)
{
    for (; keys->name != NULL; keys++) {
        if (keys->read == NULL) {
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
    expect_mentioned(hub_config_manifest_keys(), hub_buf_str(&text));
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
    assert_int_equal(ours->meta_tools, theirs->meta_tools);
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
        cmocka_unit_test(test_reference_is_complete),
        cmocka_unit_test(test_reference_shows_the_defaults),
    };
    return cmocka_run_group_tests(tests, read_schema, free_schema);
}
