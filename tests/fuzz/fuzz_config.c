/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations from strangers. The first byte chooses the name of the document, and with it the
 * language. Reads no file and no environment: variables are the few below. What is accepted has to
 * hold what config.h promises; what is refused has to say where.
 */
#include "base/limits.h"
#include "config/config.h"
#include "wire/json.h"

static const char *const NAMES[] = {"/fuzz/m.yaml", "/fuzz/m.json", "/fuzz/m"};
static const char *const VARIABLES[] = {"A=canary-value", "EMPTY=", "PATCHBAY_OFF_ENABLED=no",
                                        NULL};

static void check_list(hub_names list)
{
    hub_assert(list.set || list.count == 0);
    for (size_t i = 0; i < list.count; i++) {
        hub_assert(list.items[i] != NULL && list.items[i][0] != '\0');
    }
}

static void check_policy(const hub_policy_rules *policy)
{
    check_list(policy->allow);
    check_list(policy->deny);
    for (size_t i = 0; i < policy->filter_count; i++) {
        check_list(policy->filters[i].values);
        hub_assert(policy->filters[i].kind <= HUB_FILTER_DENY_TOOLS);
    }
}

static void check_toolset(const hub_toolset_settings *toolset)
{
    hub_str value;
    hub_assert(hub_json_check(hub_str_of(toolset->config_json), &value, NULL) == HUB_OK);
    hub_assert(hub_json_type_of(value) == HUB_JSON_OBJECT);
    hub_assert(strlen(toolset->key) <= HUB_LIMIT_TOOLSET_KEY_BYTES);
    hub_assert(toolset->key[0] >= 'a' && toolset->key[0] <= 'z');
    hub_assert(strstr(toolset->key, "__") == NULL);
    hub_assert(toolset->module[0] != '\0');
    hub_assert(toolset->source[0] == '/');
    hub_assert(toolset->call_timeout_ms > 0);
    check_list(toolset->tools_allow);
    check_list(toolset->tools_deny);
    check_list(toolset->tags);
}

static void check_config(const hub_config *config)
{
    hub_assert(config->settings.toolsets_listed || config->settings.toolset_count == 0);
    hub_assert(config->refused_count == 0 || config->settings.toolset_count > 0);
    for (size_t i = 0; i < config->refused_count; i++) {
        hub_assert(strncmp(config->refused[i].text, "/fuzz/m", 7) == 0);
    }
    for (size_t i = 0; i < config->settings.toolset_count; i++) {
        check_toolset(&config->settings.toolsets[i]);
    }
    check_policy(&config->settings.policy);
    hub_assert(config->settings.profile_count > 0 &&
               strcmp(config->settings.profiles[0].name, "default") == 0);
    for (size_t i = 0; i < config->settings.profile_count; i++) {
        const hub_profile_settings *profile = &config->settings.profiles[i];
        check_policy(&profile->policy);
        check_list(profile->toolsets);
        hub_assert((profile->startup == HUB_STARTUP_STATIC) == (profile->toolsets.count > 0));
        hub_assert(profile->max_name_bytes <= HUB_LIMIT_TOOL_NAME_BYTES);
    }
    hub_assert(config->settings.limits.call_ceiling_ms >= config->settings.limits.call_timeout_ms);
    for (size_t i = 0; i < config->warning_count; i++) {
        hub_assert(strncmp(config->warnings[i], "/fuzz/m", 7) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const char *name = NAMES[data[0] % (sizeof NAMES / sizeof *NAMES)];
    hub_str text = {.ptr = (const char *)data + 1, .len = size - 1};
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    hub_err err = hub_config_parse(name, text, VARIABLES, NULL, &config, &error);
    if (err == HUB_OK) {
        check_config(config);
    } else {
        hub_assert(err == error.code && strncmp(error.text, "/fuzz/m", 7) == 0);
        /* The document itself may hold the word; then it proves nothing. */
        hub_assert(strstr(error.text, "canary") == NULL ||
                   hub_str_find(text, HUB_STR("canary")) != SIZE_MAX);
    }
    hub_config_destroy(config);
    return 0;
}
