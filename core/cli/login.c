/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay login TOOLSET | list | revoke TOOLSET | logout TOOLSET: logins to the servers of toolsets. */
#include "cli/cli.h"

#ifdef PATCHBAY_HTTP

#include "base/limits.h"
#include "base/loop.h"
#include "base/nearest.h"
#include "cli/missing.h"
#include "login/credential.h"
#include "login/login.h"
#include "state/secrets.h"
#include "wire/json.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { END_MS = 60000, TEXT_BYTES = 1024 * 1024 };

extern char **environ;

/* What a command does with a login. */
typedef enum deed { LOG_IN, LOG_OUT, REVOKE } deed;

/* A command at its work. */
typedef struct work {
    deed deed;
    const cli_options *options;
    const hub_settings *settings;
    struct ev_loop *loop;
    hub_store *store;
    hub_logins *logins;
    hub_login *login;
    hub_login_wait *wait;
    hub_err err;
    char why[sizeof((hub_error *)NULL)->text];
} work;

/* ---- the browser ----------------------------------------------------------------------------- */

/* Open it where there is a desktop and somebody to look at it. That it is printed is enough. */
static void open_browser(const char *link)
{
    const char *display = getenv("WAYLAND_DISPLAY");
    display = display != NULL ? display : getenv("DISPLAY");
    if (display == NULL || isatty(STDOUT_FILENO) != 1) {
        return;
    }
    posix_spawn_file_actions_t actions;
    pid_t pid;
    char *const argv[] = {(char *)(uintptr_t) "xdg-open", (char *)(uintptr_t)link, NULL};
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return;
    }
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        (void)posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    }
    (void)posix_spawnp(&pid, "xdg-open", &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
}

static void on_link(void *ctx, hub_login *login)
{
    const char *link = hub_login_link(login);
    const char *code = hub_login_code(login);
    hub_buf text;
    const work *at = ctx;
    if (link == NULL) {
        return;
    }
    hub_buf_init_secret(&text, TEXT_BYTES);
    if (at->options->json) {
        hub_buf_add(&text, HUB_STR("{\"toolset\":"));
        hub_json_add_string(&text, hub_str_of(hub_login_toolset(login)));
        hub_json_add_key(&text, HUB_STR("url"));
        hub_json_add_string(&text, hub_str_of(link));
        if (code != NULL) {
            hub_json_add_key(&text, HUB_STR("code"));
            hub_json_add_string(&text, hub_str_of(code));
        }
        hub_buf_add(&text, HUB_STR(",\"state\":\"wanted\"}\n"));
    } else {
        hub_buf_printf(&text, "To log in to %s, open this address in a browser%s:\n\n",
                       hub_login_toolset(login), code != NULL ? "" : " on this machine");
        hub_buf_add(&text, hub_str_of(link));
        hub_buf_add_char(&text, '\n');
        if (code != NULL) {
            hub_buf_printf(&text, "\nand enter this code there: %s\n", code);
        }
    }
    (void)fwrite(text.ptr, 1, text.len, stdout);
    (void)fflush(stdout);
    hub_buf_fini(&text);
    if (code == NULL) {
        open_browser(link);
    }
}

/* ---- one login ------------------------------------------------------------------------------- */

static void on_end(void *ctx, hub_err err, const char *why)
{
    work *at = ctx;
    at->wait = NULL;
    at->err = err;
    (void)snprintf(at->why, sizeof at->why, "%s", why);
}

static hub_err open_logins(work *at, hub_error *reterr)
{
    const hub_state_settings *state = &at->settings->state;
    const hub_logins_options options = {.on_link = on_link, .ctx = at};
    hub_store_options store = {
        .place = state->place, .password = state->password, .scope = state->scope};
    hub_err err = hub_state_keys_load(state->key, &store.keys, reterr);
    if (err == HUB_OK) {
        at->loop = hub_loop_new();
        err = at->loop != NULL ? hub_store_create(at->loop, &store, &at->store, reterr)
                               : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    return err == HUB_OK ? hub_logins_create(at->loop, at->store, &options, &at->logins) : err;
}

static void close_logins(work *at)
{
    hub_login_wait_cancel(at->wait);
    hub_login_unref(at->login);
    if (at->logins != NULL) {
        hub_logins_stop(at->logins);
    }
    if (!hub_store_destroy(at->store, END_MS)) {
        cli_complain("%s does not answer: is its file system reachable?",
                     at->settings->state.place);
        _exit(EXIT_INTERNAL);
    }
    hub_logins_destroy(at->logins);
    hub_loop_destroy(at->loop);
}

static char *dup_config(const hub_toolset_settings *toolset, const char *key)
{
    hub_str raw = hub_json_get(hub_str_of(toolset->config_json), hub_str_of(key));
    hub_buf text;
    char *made = NULL;
    hub_buf_init(&text, HUB_LIMIT_LOGIN_TEXT_BYTES);
    if (hub_json_type_of(raw) == HUB_JSON_STRING && hub_json_decode(raw, &text) == HUB_OK) {
        made = hub_buf_take(&text);
    }
    hub_buf_fini(&text);
    return made;
}

static const hub_toolset_settings *find_toolset(const hub_settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->toolset_count; i++) {
        if (strcmp(settings->toolsets[i].key, key) == 0) {
            return &settings->toolsets[i];
        }
    }
    return NULL;
}

static bool is_public(const hub_toolset_settings *toolset)
{
    return hub_json_string_is(hub_json_get(hub_str_of(toolset->config_json), HUB_STR("addresses")),
                              HUB_STR("public"));
}

/* Whose login it is; NULL: the toolset has none for that one. */
static const char *owner_of(const cli_options *options, const hub_toolset_settings *toolset)
{
    if (!toolset->is_per_principal) {
        return options->owner == NULL ? "" : NULL;
    }
    return options->owner != NULL ? options->owner : "local";
}

/* The login of an entry, to be made. */
static hub_err find_login(work *at, const hub_toolset_settings *toolset, hub_error *reterr)
{
    char *url = dup_config(toolset, "url");
    char *ca = dup_config(toolset, "ca");
    hub_err err = HUB_OK;
    if (url == NULL) {
        err =
            hub_fail(reterr, HUB_EINVAL,
                     "toolset \"%s\" is not a server at an http or https address: there is nothing "
                     "to log in to",
                     toolset->key);
    } else if (toolset->login != NULL && toolset->login[0] == '\0') {
        err = hub_fail(reterr, HUB_EINVAL, "the entry of toolset \"%s\" says `auth: none`",
                       toolset->key);
    } else if (owner_of(at->options, toolset) == NULL) {
        err = hub_fail(reterr, HUB_EINVAL,
                       "toolset \"%s\" has one login, the hub's: --principal is for those with "
                       "credentials: principal",
                       toolset->key);
    } else {
        const hub_login_what what = {.toolset = toolset->key,
                                     .owner = owner_of(at->options, toolset),
                                     .url = url,
                                     .ca = ca,
                                     .only_public = is_public(toolset),
                                     .grant = at->options->device ? "device_code" : NULL,
                                     .settings = toolset->login};
        err = hub_login_get(at->logins, &what, &at->login, reterr);
    }
    if (err == HUB_OK && hub_login_ends_at_hub(at->login)) {
        err = hub_fail(reterr, HUB_EINVAL,
                       "browsers come back from a login to \"%s\" to the hub's own /oauth/callback "
                       "(redirect_uri), of which this command is not told: log in at the running "
                       "hub, on its dashboard (patchbay ui) or by a call of one of the tools; or "
                       "use --device",
                       toolset->key);
    }
    free(url);
    free(ca);
    return err;
}

/* The login that is kept under a name, whatever the entry says now, and whether or not there is one. */
static hub_err find_kept(work *at, const char *key, const hub_toolset_settings *toolset,
                         hub_error *reterr)
{
    char *ca = toolset != NULL ? dup_config(toolset, "ca") : NULL;
    bool has_settings = toolset != NULL && toolset->login != NULL && toolset->login[0] != '\0';
    const char *owner = at->options->owner                             ? at->options->owner
                        : toolset != NULL && toolset->is_per_principal ? "local"
                                                                       : "";
    const hub_login_what what = {.toolset = key,
                                 .owner = owner,
                                 .ca = ca,
                                 .only_public = toolset != NULL && is_public(toolset),
                                 .settings = has_settings ? toolset->login : NULL};
    hub_err err = hub_login_get(at->logins, &what, &at->login, reterr);
    free(ca);
    return err;
}

static void report_json(const work *at, const char *key)
{
    hub_buf text;
    hub_buf_init(&text, TEXT_BYTES);
    hub_buf_add(&text, HUB_STR("{\"toolset\":"));
    hub_json_add_string(&text, hub_str_of(key));
    hub_json_add_key(&text, HUB_STR("principal"));
    hub_json_add_string(&text, hub_str_of(hub_login_owner(at->login)));
    if (at->deed == LOG_IN) {
        hub_buf_add(&text, HUB_STR(",\"state\":\"logged_in\"}"));
    } else {
        hub_buf_printf(&text, ",\"revoked\":%s", at->why[0] == '\0' ? "true" : "false");
        if (at->why[0] != '\0') {
            hub_json_add_key(&text, HUB_STR("reason"));
            hub_json_add_string(&text, hub_str_of(at->why));
        }
        hub_buf_add_char(&text, '}');
    }
    cli_print_json(hub_buf_str(&text));
    hub_buf_fini(&text);
}

static int finish(const work *at, const char *key)
{
    static const struct {
        const char *done;
        const char *failed;
    } WORDS[] = {[LOG_IN] = {"logged in to", "no login to"},
                 [LOG_OUT] = {"logged out of", "cannot log out of"},
                 [REVOKE] = {"revoked the login to", "cannot revoke the login to"}};
    if (at->err != HUB_OK) {
        cli_complain("%s \"%s\": %s%s", WORDS[at->deed].failed, key,
                     at->why[0] != '\0' ? at->why : hub_err_text(at->err),
                     at->deed == REVOKE ? ": `patchbay login logout` forgets it all the same" : "");
        return at->err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_UNREACHABLE;
    }
    if (at->options->json) {
        report_json(at, key);
        return EXIT_OK;
    }
    hub_buf text;
    hub_buf_init(&text, TEXT_BYTES);
    hub_buf_printf(&text, "%s %s", WORDS[at->deed].done, key);
    if (at->login != NULL && hub_login_owner(at->login)[0] != '\0') {
        hub_buf_printf(&text, " as %s", hub_login_owner(at->login));
    }
    if (at->why[0] != '\0') {
        hub_buf_printf(&text, "; no token was revoked at the authorization server (%s)", at->why);
    }
    cli_report(hub_buf_str(&text));
    hub_buf_fini(&text);
    return EXIT_OK;
}

static hub_err begin(work *at, const char *key, hub_error *reterr)
{
    const hub_login_need need = {.is_by_user = true};
    const hub_toolset_settings *toolset = find_toolset(at->settings, key);
    hub_err err = open_logins(at, reterr);
    if (err == HUB_OK) {
        err = at->deed == LOG_IN ? find_login(at, toolset, reterr)
                                 : find_kept(at, key, toolset, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    return at->deed == LOG_IN
               ? hub_login_wait_for(at->login, &need, on_end, at, &at->wait)
               : hub_login_log_out(at->login, at->deed == REVOKE, on_end, at, &at->wait);
}

static int complain_of(const hub_settings *settings, const char *key)
{
    hub_nearest near;
    hub_buf text;
    hub_nearest_begin(&near, hub_str_of(key));
    for (size_t i = 0; i < settings->toolset_count; i++) {
        hub_nearest_offer(&near, hub_str_of(settings->toolsets[i].key));
    }
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_missing_toolset(hub_str_of(key), near.found, &text);
    cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    hub_buf_fini(&text);
    return EXIT_CONFIG;
}

static int run(work *at, const char *key)
{
    hub_error why = {.code = HUB_OK};
    if (at->deed == LOG_IN && find_toolset(at->settings, key) == NULL) {
        return complain_of(at->settings, key);
    }
    hub_err err = begin(at, key, &why);
    int status;
    if (err == HUB_OK) {
        while (at->wait != NULL) {
            (void)ev_run(at->loop, EVRUN_ONCE);
        }
        status = finish(at, key);
    } else {
        cli_complain("%s", why.text[0] != '\0' ? why.text : hub_err_text(err));
        status = err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    close_logins(at);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct listing {
    hub_buf out;
    bool is_json;
} listing;

static void add_login(void *ctx, const hub_state_record *record)
{
    listing *list = ctx;
    hub_credential kept = {.url = NULL};
    if (hub_credential_read(record->document, &kept) != HUB_OK) {
        hub_credential_fini(&kept);
    }
    if (list->is_json) {
        hub_json_add_comma(&list->out);
        hub_credential_add_public(&list->out, record->key, record->owner, &kept);
    } else {
        hub_buf_printf(&list->out, "%s" HUB_STR_FMT "%s" HUB_STR_FMT "  %s  %s%s",
                       list->out.len > 0 ? "\n" : "", HUB_STR_ARG(record->key),
                       record->owner.len > 0 ? " of " : "", HUB_STR_ARG(record->owner),
                       kept.issuer != NULL ? kept.issuer : "-",
                       kept.access_token == NULL ? "ended: log in again" : "logged in",
                       kept.access_token != NULL && kept.refresh_token == NULL
                           ? " (until its token expires)"
                           : "");
    }
    hub_credential_fini(&kept);
}

static int list_logins(const cli_options *options)
{
    listing list = {.is_json = options->json};
    hub_error why = {.code = HUB_OK};
    hub_state_sync *store = NULL;
    int status = cli_open_store(options, &store, NULL);
    if (status != EXIT_OK) {
        return status;
    }
    hub_buf_init(&list.out, TEXT_BYTES);
    hub_buf_add(&list.out, list.is_json ? HUB_STR("[") : HUB_STR_EMPTY);
    if (hub_state_sync_each(store, &HUB_LOGIN_KIND, add_login, &list, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        status = EXIT_CONFIG;
    } else if (list.is_json) {
        hub_buf_add_char(&list.out, ']');
        cli_print_json(hub_buf_str(&list.out));
    } else if (list.out.len > 0) {
        cli_print(hub_buf_str(&list.out));
    }
    hub_buf_fini(&list.out);
    hub_state_sync_close(store);
    return status;
}

int cli_login(cli_options *options)
{
    const char *word = options->argument_count > 0 ? options->arguments[0] : "";
    deed what = strcmp(word, "logout") == 0   ? LOG_OUT
                : strcmp(word, "revoke") == 0 ? REVOKE
                                              : LOG_IN;
    size_t wanted = what == LOG_IN ? 1 : 2;
    hub_config *config = NULL;
    if (options->argument_count != wanted) {
        cli_complain("say what to do: login TOOLSET, login list, login revoke TOOLSET, or login "
                     "logout TOOLSET");
        return EXIT_USAGE;
    }
    if (strcmp(word, "list") == 0) {
        return list_logins(options);
    }
    int status = cli_load_config(options, true, &config);
    if (status == EXIT_OK) {
        work at = {.deed = what, .options = options, .settings = &config->settings};
        status = run(&at, options->arguments[wanted - 1]);
    }
    hub_config_destroy(config);
    return status;
}

#endif
