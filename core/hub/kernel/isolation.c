/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/isolation.h"

#include "wire/json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* They run servers, which are processes of their own already. */
static const char *const PROXIES[] = {HUB_ISOLATION_MODULE, "mcp_remote"};

bool hub_isolation_is_wanted(const hub_settings *settings, const hub_toolset_settings *toolset)
{
    return toolset->is_isolated && settings->on_step == NULL;
}

bool hub_isolation_is_outside(const hub_settings *settings, hub_str module)
{
    bool is_named = false;
    if (settings->on_step != NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof PROXIES / sizeof PROXIES[0]; i++) {
        if (hub_str_is(module, PROXIES[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        if (toolset->enabled && hub_str_is(module, toolset->module)) {
            is_named = true;
            if (!toolset->is_isolated) {
                return false;
            }
        }
    }
    return is_named || settings->modules.isolates;
}

/* Whether an enabled toolset, or what runs it, is the module. */
static bool is_in_use(const hub_settings *settings, hub_str module)
{
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        const char *used = toolset->is_isolated ? HUB_ISOLATION_MODULE : toolset->module;
        if (toolset->enabled && hub_str_is(module, used)) {
            return true;
        }
    }
    return false;
}

bool hub_isolation_leaves_out(const void *ctx, hub_str module)
{
    const hub_settings *settings = ctx;
    bool may_wait = settings->toolsets_listed && !settings->modules.links_all &&
                    settings->on_step == NULL && !is_in_use(settings, module);
    return may_wait || hub_isolation_is_outside(settings, module);
}

/* The path of this program. When it was replaced since it was started, the kernel marks what it was
 * by a word at the end; the new one is at the old place then, and as good. */
static hub_err find_program(char *ret_path, size_t size, hub_error *reterr)
{
    static const char GONE[] = " (deleted)";
    ssize_t len = readlink("/proc/self/exe", ret_path, size - 1);
    if (len < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "this program's own file cannot be found: %s",
                        strerrordesc_np(errno));
    }
    ret_path[len] = '\0';
    size_t mark = sizeof GONE - 1;
    if ((size_t)len > mark && access(ret_path, X_OK) != 0 &&
        strcmp(ret_path + len - mark, GONE) == 0) {
        ret_path[(size_t)len - mark] = '\0';
    }
    return HUB_OK;
}

static void add_argument(hub_buf *out, const char *text)
{
    hub_json_add_comma(out);
    hub_json_add_string(out, hub_str_of(text));
}

static void add_arguments(const hub_settings *settings, const hub_toolset_settings *toolset,
                          const hub_module *module, hub_buf *out)
{
    char number[16];
    hub_json_add_key(out, HUB_STR("args"));
    hub_buf_add_char(out, '[');
    add_argument(out, "module-host");
    add_argument(out, module->path);
    add_argument(out, "--config-json");
    add_argument(out, "-");
    /* What is routine is in this hub's log already. */
    add_argument(out, "--log-level");
    add_argument(out, settings->log_level == HUB_LOG_DEBUG ? "debug" : "warning");
    if (toolset->memory_limit > 0) {
        (void)snprintf(number, sizeof number, "%u", (unsigned)toolset->memory_limit);
        add_argument(out, "--memory-limit");
        add_argument(out, number);
    }
    if (settings->modules.allow_writable) {
        add_argument(out, "--allow-writable-plugins");
    }
    hub_buf_add_char(out, ']');
}

/* Members of an object, behind those that are there. */
static void add_members(hub_buf *out, const char *object)
{
    hub_str key;
    hub_str value;
    for (hub_json_iter it = hub_json_iterate(hub_str_of(object));
         hub_json_next(&it, &key, &value);) {
        hub_json_add_comma(out);
        hub_buf_add(out, key);
        hub_buf_add_char(out, ':');
        hub_buf_add(out, value);
    }
}

hub_err hub_isolation_configure(const hub_settings *settings, const hub_toolset_settings *toolset,
                                const hub_module *module, hub_buf *out, hub_error *reterr)
{
    char program[PATH_MAX];
    hub_err err = find_program(program, sizeof program, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_buf_add_char(out, '{');
    hub_json_add_key(out, HUB_STR("command"));
    hub_json_add_string(out, hub_str_of(program));
    hub_json_add_key(out, HUB_STR("module"));
    hub_json_add_string(out, hub_str_of(module->name));
    hub_json_add_key(out, HUB_STR("first_line"));
    hub_json_add_string(out, hub_str_of(toolset->config_json));
    hub_json_add_key(out, HUB_STR("protocol"));
    hub_json_add_string(out, HUB_STR("2026-07-28"));
    add_arguments(settings, toolset, module, out);
    if (toolset->process_json != NULL) {
        add_members(out, toolset->process_json);
    }
    hub_buf_add_char(out, '}');
    return hub_buf_ok(out) ? HUB_OK
                           : hub_fail(reterr, out->failed, "%s", hub_err_text(out->failed));
}
