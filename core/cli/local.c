/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hub inside the process of a command, and a client of it: `list`, `call` and `check` see what
 * any client would see, because they speak to a session like any client.
 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "cli/waiting.h"
#include "modules/process_chain.h"
#include "wire/message.h"
#include "wire/own_request.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CLOSE_MS = 5000 };

struct cli_local {
    hub_port port; /* first: a port is its client */
    struct ev_loop *loop;
    hub_config *config;
    hub_orchestrator *hub;
    hub_session *session;
    const char *profile;                /* NULL: the default one */
    hub_identity owner;                 /* who asks; name NULL: whoever is at this machine */
    hub_profile_settings *own_profiles; /* instead of the configuration's; or NULL */
    uint64_t last_id;
    hub_buf answer; /* to the last request, once is_answered */
    bool is_answered;
    bool is_read; /* `message` is what the answer says */
    hub_message message;
};

/* Who may write to the store may do what an administrator may. */
static const char *const ADMIN_SCOPES[] = {"admin"};
static const hub_names ADMIN = {.items = ADMIN_SCOPES, .count = 1, .set = true};

static const char *const *environment(void)
{
    union {
        char **from;
        const char *const *to;
    } env = {.from = environ};
    return env.to;
}

/* PATCHBAY_<MODULE>_ENABLED, for toolsets that no file names. */
static bool is_enabled(const char *key)
{
    bool enabled = true;
    hub_error why = {.code = HUB_OK};
    if (hub_config_env_enabled(environment(), key, &enabled, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return false; /* whoever says something wrong about it does not want it to be there */
    }
    return enabled;
}

/* Whoever typed it knows where. Whether it was the command line. */
static bool complain_of_config(const char *why)
{
    static const char COMMAND_LINE[] = "command line: "; /* as config/overrides.c says it */
    bool is_typed = strncmp(why, COMMAND_LINE, sizeof COMMAND_LINE - 1) == 0;
    cli_complain("%s", is_typed ? why + sizeof COMMAND_LINE - 1 : why);
    return is_typed;
}

hub_err cli_read_config(cli_options *options, hub_config **ret_config, hub_error *reterr)
{
    return hub_config_load(options->configs, options->config_count, environment(),
                           &options->overrides, ret_config, reterr);
}

int cli_open_store(const cli_options *options, hub_state_sync **ret_sync, hub_config **ret_config)
{
    hub_error why = {.code = HUB_OK};
    hub_config *config = NULL;
    hub_err err = hub_config_load_state(options->configs, options->config_count, environment(),
                                        &config, &why);
    if (err == HUB_OK) {
        const hub_state_settings *state = &config->settings.state;
        hub_log_setup(HUB_LOG_ERROR, false);
        err = hub_state_sync_open(state->place, state->password, state->scope, state->key, ret_sync,
                                  &why);
    }
    if (err == HUB_OK && ret_config != NULL) {
        *ret_config = config;
        return EXIT_OK;
    }
    hub_config_destroy(config);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
    }
    return err == HUB_OK ? EXIT_OK : err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
}

void cli_complete_config(const cli_options *options, hub_config *config)
{
    hub_settings *settings = &config->settings;
    settings->is_enabled = is_enabled;
    if (!options->overrides.plugin_dirs.set) {
        settings->modules.own_paths = cli_own_plugin_dirs();
    }
}

int cli_load_config(cli_options *options, bool quiet, hub_config **ret_config)
{
    hub_error why = {.code = HUB_OK};
    if (cli_read_config(options, ret_config, &why) != HUB_OK) {
        return complain_of_config(why.text) ? EXIT_USAGE : EXIT_CONFIG;
    }
    cli_complete_config(options, *ret_config);
    const hub_settings *settings = &(*ret_config)->settings;
    bool hush = quiet && options->overrides.log_level == NULL;
    hub_log_setup(hush ? HUB_LOG_ERROR : settings->log_level, settings->log_json);
    if (options->found_config) {
        hub_log(HUB_LOG_INFO, "config.found", HUB_F_TEXT("path", options->configs[0]));
    }
    for (size_t i = 0; !options->tells_config && i < (*ret_config)->warning_count; i++) {
        cli_complain("warning: %s", (*ret_config)->warnings[i]);
    }
    for (size_t i = 0; !options->tells_config && i < (*ret_config)->refused_count; i++) {
        cli_complain("left out: %s", (*ret_config)->refused[i].text);
    }
    return EXIT_OK;
}

int cli_join_chain(const cli_options *options, const char *tool)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_chain_join(options->configs, options->config_count, tool, &why);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    return EXIT_OK;
}

/* Whether a listener is asked for that this build does not have. */
static bool lacks_http(const hub_settings *settings)
{
#ifdef PATCHBAY_HTTP
    (void)settings;
    return false;
#else
    for (size_t i = 0; i < settings->listen_count; i++) {
        if (settings->listens[i].kind == HUB_LISTEN_HTTP) {
            return true;
        }
    }
    return false;
#endif
}

int cli_load_network(hub_config *config)
{
    if (lacks_http(&config->settings)) {
        cli_complain("this build has no HTTP: build it with -DPATCHBAY_HTTP=ON, or use a Unix "
                     "socket (--unix PATH)");
        return EXIT_LISTEN;
    }
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_config_load_network(config, &why);
    if (err == HUB_OK) {
        return EXIT_OK;
    }
    (void)complain_of_config(why.text); /* a bad file is no bad command line */
    return err == HUB_EDENIED ? EXIT_LISTEN : EXIT_CONFIG;
}

/* Keep the answer to the last request. One to an earlier request, which nobody waited for, is let
 * go. */
static hub_err take_message(hub_port *port, const hub_outgoing *message)
{
    cli_local *local = (cli_local *)port;
    if (!message->last || local->is_answered) {
        return HUB_OK;
    }
    hub_buf_clear(&local->answer);
    for (size_t i = 0; i < message->count; i++) {
        hub_buf_add(&local->answer, message->parts[i]);
    }
    int64_t id = 0;
    bool is_read = hub_buf_ok(&local->answer) &&
                   hub_message_scan(hub_buf_str(&local->answer), &local->message, NULL) == HUB_OK;
    bool is_other = is_read && hub_json_to_i64(local->message.at[HUB_M_ID], &id) &&
                    (uint64_t)id != local->last_id;
    local->is_read = is_read;
    local->is_answered = !is_other;
    ev_break(local->loop, EVBREAK_ALL);
    return HUB_OK;
}

static const hub_port_ops PORT = {.send = take_message};

/* Have the tools for saved toolsets in every profile; start nothing that is not asked for, unless it is
 * about what has been chosen, which depends on what is there without. */
static int offer_saved(cli_local *local, const cli_options *options)
{
    hub_settings *settings = &local->config->settings;
    hub_profile_settings *profiles = calloc(settings->profile_count, sizeof *profiles);
    if (profiles == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    for (size_t i = 0; i < settings->profile_count; i++) {
        profiles[i] = settings->profiles[i];
        profiles[i].meta_tools =
            hub_profile_settings_groups(&settings->profiles[i]) | HUB_META_SAVED;
        profiles[i].lists_search = false;
        if (options->saves != CLI_SAVES_CHOICE) {
            profiles[i].startup = HUB_STARTUP_DYNAMIC;
            profiles[i].toolsets = (hub_names){.count = 0};
            profiles[i].equip = options->saves == CLI_SAVES_LOOK ? profiles[i].equip : NULL;
        }
    }
    local->own_profiles = profiles;
    settings->profiles = profiles;
    return EXIT_OK;
}

static int make_hub(cli_local *local, bool start)
{
    hub_error why = {.code = HUB_OK};
    hub_session_options session = {.transport = "command line",
                                   .identity = local->owner.name != NULL ? &local->owner
                                                                         : &HUB_IDENTITY_LOCAL,
                                   .profile = local->profile,
                                   .port = &local->port};
    hub_err err = hub_orchestrator_create(local->loop, &local->config->settings, &local->hub, &why);
    if (err == HUB_OK && start) {
        err = hub_orchestrator_start(local->hub, &why);
    }
    if (err == HUB_OK && start) {
        err = hub_session_create(local->hub, &session, &local->session, &why);
    }
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    return EXIT_OK;
}

static cli_local *make_local(void)
{
    cli_local *local = calloc(1, sizeof *local);
    if (local == NULL) {
        cli_complain("out of memory");
        return NULL;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    local->port.ops = &PORT;
    hub_buf_init(&local->answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES * 2);
    return local;
}

int cli_local_open_with(hub_config *config, cli_local **ret_local)
{
    cli_local *local = make_local();
    if (local == NULL) {
        hub_config_destroy(config);
        return EXIT_INTERNAL;
    }
    local->config = config;
    local->loop = hub_loop_new();
    int status = local->loop != NULL ? make_hub(local, true) : EXIT_INTERNAL;
    if (status != EXIT_OK) {
        cli_local_close(local);
        return status;
    }
    *ret_local = local;
    return EXIT_OK;
}

int cli_local_open(cli_options *options, bool start, cli_local **ret_local)
{
    cli_local *local = make_local();
    if (local == NULL) {
        return EXIT_INTERNAL;
    }
    local->profile = options->profile;
    if (options->owner != NULL) {
        local->owner =
            (hub_identity){.name = options->owner, .scopes = ADMIN, .claims = HUB_STR_EMPTY};
    }
    int status = cli_load_config(options, true, &local->config);
    if (status == EXIT_OK) {
        status = cli_join_chain(options, options->tool);
    }
    if (status == EXIT_OK) {
        hub_settings *settings = &local->config->settings;
        settings->limits.straggler_ms = 0; /* nobody will hear of those that come later */
        settings->limits.discover_timeout_ms = HUB_LIMIT_COMMAND_WAIT_MS;
        settings->remember_read_ms = HUB_LIMIT_STATE_ADMIN_MS; /* what it says is to be true */
        if (options->tool == NULL) {
            settings->limits.call_ceiling_ms = HUB_LIMIT_COMMAND_WAIT_MS; /* questions are calls */
        }
        settings->modules.links_all = options->links_all;
        settings->asks_anew = options->asks_anew;
        settings->on_step = options->on_step;
        local->loop = hub_loop_new();
        if (options->saves != CLI_SAVES_NOT) {
            status = offer_saved(local, options);
        }
    }
    if (status == EXIT_OK) {
        status = local->loop != NULL ? make_hub(local, start) : EXIT_INTERNAL;
    }
    if (status != EXIT_OK) {
        cli_local_close(local);
        return status;
    }
    *ret_local = local;
    return EXIT_OK;
}

void cli_local_close(cli_local *local)
{
    if (local == NULL) {
        return;
    }
    (void)fflush(stdout); /* whoever reads it need not wait for the servers' end */
    hub_session_close(local->session);
    if (!hub_orchestrator_destroy(local->hub, CLOSE_MS)) {
        (void)fflush(NULL);
        _exit(EXIT_OK); /* a plugin's thread will not end: nothing may be freed under it */
    }
    if (local->loop != NULL) {
        hub_loop_destroy(local->loop);
    }
    hub_config_destroy(local->config);
    free(local->own_profiles);
    hub_buf_fini(&local->answer);
    free(local);
}

struct ev_loop *cli_local_loop(cli_local *local)
{
    return local->loop;
}

hub_orchestrator *cli_local_hub(cli_local *local)
{
    return local->hub;
}

hub_config *cli_local_config(cli_local *local)
{
    return local->config;
}

hub_session *cli_local_session(cli_local *local)
{
    return local->session;
}

/* Send a request; false when out of memory. */
static bool send_request(cli_local *local, const char *method, hub_str params)
{
    hub_buf request;
    hub_buf_init(&request, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_str members =
        params.len > 2 ? (hub_str){.ptr = params.ptr + 1, .len = params.len - 2} : HUB_STR_EMPTY;
    hub_own_request_add(&request, ++local->last_id, method, members, "patchbay command line");
    local->is_answered = false;
    bool is_made = hub_buf_ok(&request);
    if (is_made) {
        hub_session_receive(local->session, &local->port, hub_buf_str(&request));
    }
    hub_buf_fini(&request);
    return is_made;
}

bool cli_local_request(cli_local *local, const char *method, hub_str params, hub_str *ret_json)
{
    *ret_json = HUB_STR("{\"message\":\"out of memory\"}");
    if (!send_request(local, method, params)) {
        return false;
    }
    cli_waiting waiting;
    cli_waiting_begin(&waiting, local->loop, local->hub);
    while (!local->is_answered) {
        ev_run(local->loop, 0);
    }
    cli_waiting_end(&waiting);
    if (!local->is_read) {
        return false;
    }
    bool good = local->message.kind == HUB_MESSAGE_RESULT;
    *ret_json = local->message.at[good ? HUB_M_RESULT : HUB_M_ERROR];
    return good;
}

void cli_local_learn(cli_local *local, bool (*is_enough)(void *ctx), void *ctx)
{
    if (is_enough(ctx) || !send_request(local, "tools/list", HUB_STR("{}"))) {
        return;
    }
    cli_waiting waiting;
    cli_waiting_begin(&waiting, local->loop, local->hub);
    while (!local->is_answered && !is_enough(ctx)) {
        ev_run(local->loop, EVRUN_ONCE);
    }
    cli_waiting_end(&waiting);
}
