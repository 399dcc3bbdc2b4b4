/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running hub is asked as any client asks it. The connection is an upstream's, with its transports,
 * its TLS and its messages, of a hub with nothing else inside this process.
 */
#include "cli/running.h"
#include "cli/toolset_documents.h"

#include "base/buf.h"
#include "base/limits.h"
#include "hub/admin/admin.h"
#include "hub/report/status.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ASK_MS = 10000, /* for the whole answer */
    TOKEN_BYTES = 8192,
    MOST_TARGETS = 2 * CLI_MAX_LIST,
    REASON_BYTES = 1024 * 1024, /* why none of them answers */
    URL_BYTES = 4096,
};

#define ASKED "hub" /* the key of the toolset that is the other hub */

/* ---- where it is ----------------------------------------------------------------------------- */

/* A place to ask at. */
typedef struct target {
    char url[URL_BYTES]; /* http, https or unix */
    const char *ca;      /* of a listener with a certificate of its own; or NULL */
} target;

/* Where a hub may be, in the order in which it is looked for. */
typedef struct target_list {
    target items[MOST_TARGETS];
    size_t count;
} target_list;

static bool is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

/* What --http says: a URL, perhaps without its path; or a port, perhaps with a host. */
static bool read_http(const char *text, target *ret_target)
{
    char *end = NULL;
    long port = strtol(text, &end, 10);
    bool is_port = end != text && *end == '\0' && port > 0 && port <= UINT16_MAX;
    const char *begin = is_url(text) ? "" : is_port ? "http://127.0.0.1:" : "http://";
    const char *host = is_url(text) ? strstr(text, "://") + 3 : text;
    const char *path = strchr(host, '/') == NULL ? "/mcp" : "";
    int len = snprintf(ret_target->url, sizeof ret_target->url, "%s%s%s", begin, text, path);
    return len > 0 && (size_t)len < sizeof ret_target->url;
}

static bool read_unix(const char *path, target *ret_target)
{
    char *absolute = path[0] != '/' ? realpath(path, NULL) : NULL;
    int len = snprintf(ret_target->url, sizeof ret_target->url, "unix://%s",
                       absolute != NULL ? absolute : path);
    free(absolute);
    return len > 0 && (size_t)len < sizeof ret_target->url;
}

/* The name to call an HTTP listener by. One that listens everywhere listens here. */
static const char *host_of(const hub_listen_settings *listen)
{
    if (listen->tls.certificate != NULL && listen->hosts.count > 0) {
        return listen->hosts.items[0]; /* that is what the certificate is for */
    }
    if (strcmp(listen->address, "0.0.0.0") == 0) {
        return "127.0.0.1";
    }
    return strcmp(listen->address, "::") == 0 ? "::1" : listen->address;
}

static bool read_listener(const hub_listen_settings *listen, target *ret_target)
{
    if (listen->kind == HUB_LISTEN_UNIX) {
        return read_unix(listen->address, ret_target);
    }
    const char *host = host_of(listen);
    bool is_v6 = strchr(host, ':') != NULL;
    ret_target->ca = listen->tls.certificate;
    int len = snprintf(ret_target->url, sizeof ret_target->url, "%s://%s%s%s:%u/mcp",
                       listen->tls.certificate != NULL ? "https" : "http", is_v6 ? "[" : "", host,
                       is_v6 ? "]" : "", listen->port);
    return listen->port != 0 && len > 0 && (size_t)len < sizeof ret_target->url;
}

/* Add the listeners that can be asked, Unix sockets first: they need no token. */
static void add_listeners(const hub_settings *settings, target_list *all)
{
    static const hub_listen_kind KINDS[] = {HUB_LISTEN_UNIX, HUB_LISTEN_HTTP};
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++) {
        for (size_t i = 0; i < settings->listen_count; i++) {
            target *next = &all->items[all->count];
            next->ca = NULL;
            if (settings->listens[i].kind == KINDS[k] &&
                read_listener(&settings->listens[i], next)) {
                /* lives as long as the process */
                next->ca = next->ca != NULL ? hub_str_dup(hub_str_of(next->ca)) : NULL;
                all->count++;
            }
        }
    }
}

static void add_flags(const cli_options *options, target_list *all)
{
    for (size_t i = 0; i < options->socket_count; i++) {
        all->count += read_unix(options->sockets[i], &all->items[all->count]);
    }
    for (size_t i = 0; i < options->http_count; i++) {
        all->items[all->count].ca = options->ca;
        all->count += read_http(options->http[i], &all->items[all->count]);
    }
}

/* Load the configuration for its listeners and log. What the flags name is only asked. */
static int find_targets(cli_options *options, target_list *all)
{
    _Static_assert(HUB_LIMIT_LISTENERS <= MOST_TARGETS, "all listeners of a manifest fit");
    hub_config *config = NULL;
    options->overrides.http = (hub_names){.set = false};
    options->overrides.sockets = (hub_names){.set = false};
    int status = cli_load_config(options, true, &config);
    if (status != EXIT_OK) {
        return status;
    }
    add_flags(options, all);
    if (options->socket_count + options->http_count == 0) {
        add_listeners(&config->settings, all);
    }
    hub_config_destroy(config);
    if (all->count == 0) {
        cli_complain(
            "no hub to ask: the manifest names no listener with a fixed address. Use --unix "
            "PATH or --http URL");
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The token is the file's first line. */
static int read_token(const char *path, char *ret_token)
{
    ret_token[0] = '\0';
    if (path == NULL) {
        return EXIT_OK;
    }
    FILE *file = fopen(path, "re");
    bool is_read = file != NULL && fgets(ret_token, TOKEN_BYTES, file) != NULL;
    if (file != NULL) {
        (void)fclose(file); /* nothing was written */
    }
    ret_token[strcspn(ret_token, " \t\r\n")] = '\0';
    if (!is_read || ret_token[0] == '\0') {
        cli_complain("--token-file %s: the file cannot be read, or its first line is empty", path);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* Append a JSON string in which no dollar means a variable. */
static void add_literal(hub_buf *out, const char *text)
{
    hub_buf escaped;
    hub_buf_init(&escaped, (size_t)2 * URL_BYTES + 2 * TOKEN_BYTES);
    for (; *text != '\0'; text++) {
        hub_buf_add(&escaped, *text == '$' ? HUB_STR("$$") : (hub_str){.ptr = text, .len = 1});
    }
    hub_json_add_string(out, hub_buf_str(&escaped));
    hub_buf_fini(&escaped);
}

/* The configuration of a hub that has the other one as its only toolset, and never asks what it
 * offers: that would start servers there. */
static int make_config(const cli_options *options, const target *where, const char *token,
                       hub_config **ret_config)
{
    bool is_socket = strncmp(where->url, "unix:", 5) == 0;
    hub_config_overrides overrides = {.plugin_dirs = options->overrides.plugin_dirs,
                                      .allow_writable = options->overrides.allow_writable};
    hub_error why = {.code = HUB_OK};
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_printf(&text,
                   "{\"hub\":{\"cache\":false,\"meta_tools\":false},\"modules\":{\"watch\":false},"
                   "\"toolsets\":{\"" ASKED "\":{\"module\":\"%s\",\"config\":{\"lists\":false,"
                   "\"protocol\":\"2026-07-28\",\"url\":",
                   is_socket ? "mcp_upstream" : "mcp_remote");
    add_literal(&text, where->url);
    if (where->ca != NULL) {
        hub_buf_add(&text, HUB_STR(",\"ca\":"));
        add_literal(&text, where->ca);
    }
    if (token[0] != '\0' && !is_socket) {
        char value[TOKEN_BYTES + 8];
        (void)snprintf(value, sizeof value, "Bearer %s", token); /* has room */
        hub_buf_add(&text, HUB_STR(",\"headers\":{\"Authorization\":"));
        add_literal(&text, value);
        hub_buf_add_char(&text, '}');
    }
    hub_buf_add(&text, HUB_STR("}}}}"));
    hub_err err = hub_buf_ok(&text) ? hub_config_parse("status", hub_buf_str(&text), NULL,
                                                       &overrides, ret_config, &why)
                                    : hub_fail(&why, HUB_ENOMEM, "out of memory");
    hub_buf_fini(&text);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_USAGE;
    }
    cli_complete_config(options, *ret_config);
    return EXIT_OK;
}

typedef struct asked {
    struct ev_loop *loop;
    bool is_here;
    int32_t status;
    hub_buf json;
} asked;

static void on_outcome(void *ctx, const hub_outcome *outcome)
{
    asked *into = ctx;
    into->is_here = true;
    into->status = outcome->status;
    hub_buf_add(&into->json, outcome->json);
    ev_break(into->loop, EVBREAK_ALL);
}

/* What is behind the address, which the sentence has already. */
static hub_str leave_out_address(const char *url, hub_str reason)
{
    static const struct {
        const char *begin;
        const char *end;
    } FORMS[] = {
        {"server \"", "\" cannot be reached: "}, {"cannot reach ", ": "}, {"server \"", "\" "}};
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 4);
        hub_buf_printf(&text, "%s%s%s", FORMS[i].begin, url, FORMS[i].end);
        bool is_so = hub_buf_ok(&text) && hub_str_starts(reason, hub_buf_str(&text));
        size_t len = is_so ? text.len : 0;
        hub_buf_fini(&text);
        if (is_so) {
            return hub_str_from(reason, len);
        }
    }
    return reason;
}

/* Append why there is no answer, with advice about flags instead of entries of a manifest. */
static void add_reason(const char *url, hub_str reason, bool has_token, hub_buf *why)
{
    const hub_str refused = HUB_STR("credential refused: ");
    size_t at = hub_str_find(reason, refused);
    if (at == SIZE_MAX) {
        bool is_strange = hub_str_find(reason, HUB_STR("certificate is not trusted")) != SIZE_MAX;
        reason = leave_out_address(url, reason);
        hub_buf_printf(why, "no hub answers at %s: " HUB_STR_FMT "%s", url, HUB_STR_ARG(reason),
                       is_strange ? " (here: --ca FILE)" : "");
        return;
    }
    hub_str status = hub_str_from(reason, at + refused.len);
    size_t end = hub_str_find(status, HUB_STR(" from "));
    status.len = end != SIZE_MAX ? end : status.len;
    hub_buf_printf(why, "the hub at %s refuses this command: " HUB_STR_FMT ": ", url,
                   HUB_STR_ARG(status));
    if (!hub_str_is(status, "HTTP 401")) {
        hub_buf_add(why, HUB_STR("the hub's log says why"));
    } else if (has_token) {
        hub_buf_add(why, HUB_STR("the token of --token-file is not one of the hub's"));
    } else {
        hub_buf_add(why, HUB_STR("the hub wants a token: name its file with --token-file"));
    }
}

struct cli_running {
    cli_local *local; /* a hub with the other one as its only toolset */
    char url[URL_BYTES];
    bool has_token;
};

/* Wait for the answer; false when there is none: the reason is added to `why`. */
static bool ask(cli_running *hub, const cli_question *question, hub_buf *ret_answer, hub_buf *why)
{
    asked into = {.loop = cli_local_loop(hub->local)};
    hub_buf_init(&into.json, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_err err =
        hub_status_ask(cli_local_hub(hub->local), HUB_STR(ASKED), hub_str_of(question->method),
                       question->params, ASK_MS, on_outcome, &into);
    while (err == HUB_OK && !into.is_here) {
        ev_run(into.loop, 0);
    }
    bool is_here = err == HUB_OK && hub_buf_ok(&into.json);
    if (!is_here) {
        hub_buf_printf(why, "cannot ask the hub at %s: %s", hub->url,
                       hub_err_text(err != HUB_OK ? err : HUB_ENOMEM));
    } else if (into.status == PATCHBAY_RPC_ERROR) {
        hub_buf_printf(why, "%s is not a Patchbay hub, or runs an older version", hub->url);
    } else if (into.status != PATCHBAY_RESULT) {
        add_reason(hub->url, hub_buf_str(&into.json), hub->has_token, why);
    } else {
        hub_buf_add(ret_answer, hub_buf_str(&into.json));
    }
    is_here = is_here && into.status == PATCHBAY_RESULT;
    hub_buf_fini(&into.json);
    return is_here;
}

/* Ask one; CLI_EXIT_NO_HUB when it does not answer: the reason is added to `why`. */
static int ask_at(const cli_options *options, const target *where, const char *token,
                  const cli_question *question, hub_buf *ret_answer, hub_buf *why,
                  cli_running **ret_hub)
{
    hub_config *config = NULL;
    cli_running *hub = calloc(1, sizeof *hub);
    int status = hub != NULL ? make_config(options, where, token, &config) : EXIT_INTERNAL;
    if (status == EXIT_OK) {
        (void)snprintf(hub->url, sizeof hub->url, "%s", where->url); /* has room */
        hub->has_token = token[0] != '\0';
        status = cli_local_open_with(config, &hub->local);
    }
    if (status == EXIT_OK && !ask(hub, question, ret_answer, why)) {
        status = CLI_EXIT_NO_HUB;
    }
    if (status == EXIT_OK) {
        *ret_hub = hub;
    } else {
        cli_running_close(hub);
    }
    return status;
}

void cli_running_close(cli_running *hub)
{
    if (hub != NULL) {
        cli_local_close(hub->local);
        free(hub);
    }
}

/* The first hub that answers a question. */
static int find_hub(cli_options *options, const cli_question *question, hub_buf *ret_answer,
                    cli_running **ret_hub)
{
    static target_list all;
    static char token[TOKEN_BYTES];
    hub_buf why; /* of each that did not answer */
    hub_buf_init(&why, REASON_BYTES);
    int status = find_targets(options, &all);
    if (status == EXIT_OK) {
        status = read_token(options->token_file, token);
    }
    bool is_asked = status == EXIT_OK;
    for (size_t i = 0; is_asked && i < all.count && (i == 0 || status == CLI_EXIT_NO_HUB); i++) {
        hub_buf_add(&why, why.len == 0 ? HUB_STR_EMPTY : HUB_STR("; "));
        status = ask_at(options, &all.items[i], token, question, ret_answer, &why, ret_hub);
    }
    if (status == CLI_EXIT_NO_HUB && why.len > 0) {
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&why)));
    }
    hub_buf_fini(&why);
    return status;
}

int cli_running_ask(cli_options *options, const cli_question *question, hub_buf *ret_answer)
{
    cli_running *hub = NULL;
    int status = find_hub(options, question, ret_answer, &hub);
    cli_running_close(hub);
    return status;
}

int cli_running_open(cli_options *options, cli_running **ret_hub)
{
    const cli_question question = {.method = HUB_ADMIN_METHOD,
                                   .params =
                                       HUB_STR("{\"method\":\"GET\",\"path\":\"/api/v1/me\"}")};
    hub_buf answer;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = find_hub(options, &question, &answer, ret_hub);
    hub_buf_fini(&answer);
    return status;
}

/* ---- the API --------------------------------------------------------------------------------- */

/* Say why the hub would not; it says it in a sentence. */
static int complain(hub_str body)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_str error = hub_json_get(body, HUB_STR("error"));
    if (hub_json_decode(hub_json_get(error, HUB_STR("message")), &text) == HUB_OK) {
        hub_buf said;
        hub_buf_init(&said, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        cli_saved_add_words(&said, hub_buf_str(&text));
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&said)));
        hub_buf_fini(&said);
    } else {
        cli_complain("the hub has not answered as this command expects");
    }
    hub_buf_fini(&text);
    return EXIT_CONFIG;
}

int cli_running_api(cli_running *hub, const cli_api_request *request, hub_buf *answer,
                    hub_str *ret_body)
{
    hub_buf params;
    hub_buf path;
    hub_buf why;
    hub_buf_init(&why, REASON_BYTES);
    hub_buf_init(&path, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&path, "/api/v1%s", request->path);
    hub_buf_add_char(&params, '{');
    hub_json_add_member(&params, "method",
                        hub_str_of(request->method != NULL ? request->method : "GET"));
    hub_json_add_key(&params, HUB_STR("path"));
    hub_json_add_string(&params, hub_buf_str(&path));
    hub_json_add_member(&params, "query", hub_str_of(request->query != NULL ? request->query : ""));
    if (request->body.len > 0) {
        hub_json_add_key(&params, HUB_STR("body"));
        hub_buf_add(&params, request->body);
    }
    hub_buf_add_char(&params, '}');
    const cli_question question = {.method = HUB_ADMIN_METHOD, .params = hub_buf_str(&params)};
    bool is_here = ask(hub, &question, answer, &why);
    if (!is_here) {
        cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&why)));
    }
    hub_buf_fini(&params);
    hub_buf_fini(&path);
    hub_buf_fini(&why);
    *ret_body = hub_json_get(hub_buf_str(answer), HUB_STR("body"));
    bool is_good =
        is_here && hub_str_is(hub_json_get(hub_buf_str(answer), HUB_STR("status")), "200");
    return !is_here ? CLI_EXIT_NO_HUB : is_good ? EXIT_OK : complain(*ret_body);
}
