/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/one_module.h"

#include "base/limits.h"
#include "config/file.h"
#include "hub/active/manager.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "wire/json.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 30 };

bool cli_one_module_init(cli_one_module *one, const char *path)
{
    hub_str name = hub_str_of(strrchr(path, '/') + 1);
    bool has_ending = name.len > 3 && strcmp(name.ptr + name.len - 3, ".so") == 0;
    name.len -= has_ending ? 3 : 0;
    *one = (cli_one_module){.name = hub_str_dup(name)};
    hub_buf_init(&one->config_json, HUB_LIMIT_CONFIG_BYTES + 1);
    return one->name != NULL;
}

void cli_one_module_fini(cli_one_module *one)
{
    free(one->name);
    hub_buf_fini(&one->config_json);
}

/* Read the first line of stdin, and not one byte more: what follows is the client's. */
static hub_err read_first_line(hub_buf *out, hub_error *reterr)
{
    for (;;) {
        char c;
        ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return hub_fail(reterr, HUB_ESYSTEM, "stdin cannot be read: %s",
                            strerrordesc_np(errno));
        }
        if (n == 0 || c == '\n') {
            break;
        }
        hub_buf_add_char(out, c);
    }
    return hub_buf_ok(out) ? HUB_OK
                           : hub_fail(reterr, out->failed, "%s", hub_err_text(out->failed));
}

hub_err cli_one_module_read(cli_one_module *one, const char *from, hub_error *reterr)
{
    hub_err err = HUB_OK;
    hub_str value;
    if (from == NULL || *from == '{') {
        hub_buf_add(&one->config_json, from == NULL ? HUB_STR("{}") : hub_str_of(from));
    } else if (strcmp(from, "-") == 0) {
        err = read_first_line(&one->config_json, reterr);
    } else {
        err = hub_file_read(from, &one->config_json, NULL, reterr);
    }
    if (err == HUB_OK) {
        err = hub_json_check(hub_buf_str(&one->config_json), &value, reterr);
    }
    if (err == HUB_OK && hub_json_type_of(value) != HUB_JSON_OBJECT) {
        err = hub_fail(reterr, HUB_EINVAL, "wanted an object");
    }
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "--config-json");
        return err;
    }
    hub_buf_add_char(&one->config_json, '\0');
    return hub_buf_ok(&one->config_json) ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

/* Whoever is the client bounds calls, messages and queues: this one must not do so first. */
static void raise_limits(hub_limits *limits)
{
    limits->client_message_bytes = MOST_BYTES;
    limits->client_queue_bytes = MOST_BYTES;
    limits->call_timeout_ms = INT32_MAX;
    limits->call_ceiling_ms = INT32_MAX;
    limits->calls_per_session = HUB_LIMIT_CALLS;
}

void cli_one_module_settle(cli_one_module *one, const char *path, bool allow_writable,
                           hub_config *config)
{
    hub_settings *settings = &config->settings;
    one->toolset.key = one->name;
    one->toolset.module = one->name;
    one->toolset.config_json = one->config_json.ptr;
    one->toolset.source = path;
    one->toolset.enabled = true;
    one->toolset.lazy = true;
    one->profile = settings->profiles[0];
    one->profile.naming = HUB_NAMING_NONE;
    one->profile.max_name_bytes = HUB_LIMIT_TOOL_NAME_BYTES;
    one->profile.startup = HUB_STARTUP_DYNAMIC;
    one->profile.toolsets = (hub_names){.count = 0};
    one->profile.meta_tools = 0;
    raise_limits(&settings->limits);
    one->toolset.call_timeout_ms = settings->limits.call_timeout_ms;
    settings->name = one->toolset.key;
    settings->modules = (hub_module_settings){.allow_writable = allow_writable, .file = path};
    settings->cache_folder = NULL;
    settings->state.place = HUB_STATE_PLACE_OFF;
    settings->toolsets = &one->toolset;
    settings->toolset_count = 1;
    settings->toolsets_listed = true;
    settings->profiles = &one->profile;
    settings->profile_count = 1;
}

static void on_activated(void *ctx, const hub_manager_result *results, size_t count)
{
    hub_error *why = ctx;
    if (count != 1) {
        (void)hub_fail(why, HUB_ENOMEM, "out of memory");
    } else if (results[0].err != HUB_OK) {
        *why = results[0].why;
        why->code = results[0].err;
    }
}

hub_err cli_one_module_activate(const cli_one_module *one, hub_orchestrator *hub, hub_error *reterr)
{
    const hub_str key = hub_str_of(one->name);
    hub_manager *manager = hub_manager_of(hub_profile_audience(hub_find_profile(hub, NULL)));
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_manager_activate(manager, &key, 1, on_activated, &why, reterr);
    if (err == HUB_OK && why.code != HUB_OK) {
        *reterr = why;
        err = why.code;
    }
    return err;
}
