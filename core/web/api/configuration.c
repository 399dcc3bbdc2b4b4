/* SPDX-License-Identifier: Apache-2.0 */
/* What the hub is configured to be, without anything that may be a secret: no value of an environment, a
 * header or a module's own settings is told. And what a reload would change: the files are read by the
 * thread, and thrown away. */
#include "base/limits.h"
#include "config/config.h"
#include "hub/admin/admin.h"
#include "hub/kernel/hub.h"
#include "hub/reload/reload.h"
#include "identity/access.h"
#include "web/api/later.h"

#include <stdlib.h>
#include <string.h>

static void add_key(hub_buf *out, const char *key, char open)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add_char(out, open);
}

static void add_flag(hub_buf *out, const char *key, bool is)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add(out, is ? HUB_STR("true") : HUB_STR("false"));
}

/* A text; nothing when it is NULL. */
static void add_text(hub_buf *out, const char *key, const char *text)
{
    if (text != NULL) {
        hub_json_add_member(out, key, hub_str_of(text));
    }
}

/* A list; nothing when nobody has said one. */
static void add_names(hub_buf *out, const char *key, const hub_names *names)
{
    if (names->set) {
        hub_names_add(names, key, out);
    }
}

/* ---- what it is ------------------------------------------------------------------------------ */

static void add_profiles(const hub_settings *settings, hub_buf *out)
{
    static const char *const STARTUPS[] = {[HUB_STARTUP_DEFAULT] = "default",
                                           [HUB_STARTUP_DYNAMIC] = "dynamic",
                                           [HUB_STARTUP_STATIC] = "static"};
    add_key(out, "profiles", '[');
    for (size_t i = 0; i < settings->profile_count; i++) {
        const hub_profile_settings *one = &settings->profiles[i];
        hub_json_add_comma(out);
        hub_buf_add_char(out, '{');
        add_text(out, "name", one->name);
        add_text(out, "startup", STARTUPS[one->startup]);
        add_names(out, "toolsets", &one->toolsets);
        add_text(out, "equip", one->equip);
        add_flag(out, "search", one->lists_search);
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

static void add_listeners(const hub_settings *settings, hub_buf *out)
{
    add_key(out, "listeners", '[');
    for (size_t i = 0; i < settings->listen_count; i++) {
        const hub_listen_settings *one = &settings->listens[i];
        bool is_http = one->kind == HUB_LISTEN_HTTP;
        hub_json_add_comma(out);
        hub_buf_add_char(out, '{');
        add_text(out, "kind", is_http ? "http" : "unix");
        add_text(out, "address", one->address);
        add_text(out, "profile", one->profile);
        if (is_http) {
            hub_json_add_count(out, "port", one->port);
            add_flag(out, "tls", one->tls.certificate != NULL);
            add_flag(out, "insecure", one->insecure);
            add_flag(out, "metrics", one->metrics);
            add_flag(out, "rest", one->rest);
            add_flag(out, "api", one->api);
            add_flag(out, "ui", one->ui);
        }
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

static void add_toolset(const hub_toolset_settings *one, hub_buf *out)
{
    hub_json_add_comma(out);
    hub_buf_add_char(out, '{');
    add_text(out, "key", one->key);
    add_text(out, "module", one->module);
    add_text(out, "origin", one->origin);
    add_text(out, "source", one->source);
    add_flag(out, "enabled", one->enabled);
    add_flag(out, "active", one->active);
    add_flag(out, "isolated", one->is_isolated);
    add_flag(out, "withheld", one->is_withheld);
    add_flag(out, "overrides", one->overrides != NULL);
    hub_json_add_count(out, "callTimeoutMs", one->call_timeout_ms);
    hub_json_add_count(out, "maxCalls", one->max_calls);
    hub_json_add_count(out, "queue", one->queue);
    add_names(out, "allow", &one->tools_allow);
    add_names(out, "deny", &one->tools_deny);
    add_names(out, "tags", &one->tags);
    add_names(out, "scopes", &one->scopes);
    hub_buf_add_char(out, '}');
}

static void add_toolsets(const hub_orchestrator *hub, hub_buf *out)
{
    const hub_settings *settings = hub_settings_of(hub);
    add_key(out, "toolsets", '[');
    for (size_t i = 0; i < settings->toolset_count; i++) {
        add_toolset(&settings->toolsets[i], out);
    }
    hub_buf_add_char(out, ']');
}

static void add_guards(const hub_settings *settings, hub_buf *out)
{
    static const char *const PINS[] = {
        [HUB_PINS_OFF] = "off", [HUB_PINS_WARN] = "warn", [HUB_PINS_WITHHOLD] = "withhold"};
    static const char *const REMEMBERS[] = {[HUB_REMEMBER_NONE] = "none",
                                            [HUB_REMEMBER_EQUIPPED] = "equipped",
                                            [HUB_REMEMBER_ALL] = "all"};
    add_key(out, "auth", '{');
    add_flag(out, "required", settings->auth.required);
    hub_json_add_count(out, "tokens", settings->auth.token_count);
    hub_json_add_count(out, "issuers", settings->auth.issuer_count);
    hub_buf_add_char(out, '}');
    add_key(out, "access", '[');
    for (size_t i = 0; i < settings->access.count; i++) {
        const hub_access_rule *rule = &settings->access.rules[i];
        hub_json_add_comma(out);
        hub_buf_add_char(out, '{');
        add_text(out, "then", hub_access_verdict_name(rule->then));
        add_text(out, "source", rule->source);
        add_text(out, "reason", rule->reason);
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
    add_text(out, "pins", PINS[settings->pins.mode]);
    add_text(out, "remember", REMEMBERS[settings->remember]);
    add_text(out, "audit",
             !settings->audit.is_on         ? "off"
             : settings->audit.file != NULL ? settings->audit.file
                                            : "log");
    add_text(out, "state", settings->state.place != NULL ? settings->state.place : "off");
}

static void serve_configuration(hub_api_asked *asked)
{
    const hub_settings *settings = hub_settings_of(asked->hub);
    const hub_generation *generation = settings->generation;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add_char(&out, '{');
    hub_json_add_count(&out, "generation", generation != NULL ? generation->number : 1);
    add_profiles(settings, &out);
    add_listeners(settings, &out);
    add_toolsets(asked->hub, &out);
    add_guards(settings, &out);
    hub_buf_add_char(&out, '}');
    hub_api_answer(asked->exchange, 200, &out);
}

static void serve_limits(hub_api_asked *asked)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"limits\":["));
    hub_config_add_limits(&hub_settings_of(asked->hub)->limits, &out);
    hub_buf_add(&out, HUB_STR("]}"));
    hub_api_answer(asked->exchange, 200, &out);
}

/* ---- what it would be ------------------------------------------------------------------------ */

typedef struct preview {
    hub_api_later later;
    hub_admin_read *read;
    void *ctx;
    const hub_settings *settings; /* held; NULL: they cannot be read */
    hub_error why;
} preview;

/* [worker] */
static void read_files(hub_api_later *later)
{
    preview *one = (preview *)later;
    hub_err err = one->read(one->ctx, &one->settings, &one->why);
    one->why.code = err;
}

static void add_list(hub_buf *out, const char *key, const hub_name_list *names)
{
    add_key(out, key, '{');
    hub_json_add_count(out, "count", names->count);
    hub_json_add_member(out, "names", hub_str_of(names->text));
    hub_buf_add_char(out, '}');
}

static void finish_preview(hub_api_later *later)
{
    preview *one = (preview *)later;
    hub_web_exchange *exchange = hub_api_later_exchange(later);
    if (exchange != NULL && one->settings == NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_buf_add(&out, HUB_STR("{\"refused\":"));
        hub_json_add_string(&out, hub_str_of(one->why.text));
        hub_buf_add_char(&out, '}');
        hub_api_answer(exchange, 200, &out);
    } else if (exchange != NULL) {
        hub_reload_report report;
        hub_buf out;
        hub_reload_compare(hub_settings_of(later->asked.hub), one->settings, &report);
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_buf_add_char(&out, '{');
        add_list(&out, "added", &report.added);
        add_list(&out, "removed", &report.removed);
        add_list(&out, "changed", &report.changed);
        add_list(&out, "restart", &report.restart);
        hub_buf_add_char(&out, '}');
        hub_api_answer(exchange, 200, &out);
    }
    hub_settings_unref(one->settings);
    hub_api_later_free(later);
}

static void serve_changes(hub_api_asked *asked)
{
    void *ctx;
    hub_admin_read *read = hub_admin_reader_of(asked->hub, &ctx);
    preview *one = read != NULL ? calloc(1, sizeof *one) : NULL;
    if (read == NULL) {
        hub_api_fail(asked->exchange, 409, "conflict",
                     "this hub has no files that could be read again");
        return;
    }
    if (one != NULL) {
        one->read = read;
        one->ctx = ctx;
    } else {
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        return;
    }
    hub_api_work(asked, &one->later, read_files, finish_preview);
}

const hub_api_route HUB_API_CONFIGURATION_ROUTES[] = {
    {.method = "GET",
     .path = "/configuration",
     .scope = HUB_API_READ,
     .summary = "The hub's configuration, without secrets.",
     .handle = serve_configuration},
    {.method = "GET",
     .path = "/configuration/changes",
     .scope = HUB_API_READ,
     .summary = "The changes that a reload would make: toolsets, and keys that "
                "take a restart; or why it would be refused.",
     .handle = serve_changes},
    {.method = "GET",
     .path = "/limits",
     .scope = HUB_API_READ,
     .summary = "Every limit: what it is, its default, and what it is for.",
     .handle = serve_limits},
    {.method = NULL},
};
