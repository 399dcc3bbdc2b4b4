/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/listener.h"

#include "cli/cli.h"
#include "hub/orchestrator/drain.h"
#include "unix/unix.h"
#ifdef PATCHBAY_HTTP
#include "http/server.h"
#include "hub/metrics/metrics.h"
#include "net/net.h"
#include "web/api/api.h"
#include "web/metrics/metrics.h"
#include "web/oauth/oauth.h"
#include "web/resource/resource.h"
#include "web/rest/rest.h"
#include "web/status/status.h"
#include "web/ui/ui.h"
#endif

#include <stdio.h>

/* ---- what to say ----------------------------------------------------------------------------- */

void cli_listener_print_place(const hub_listen_settings *listen, char *ret_text, size_t room)
{
    bool is_v6 = strchr(listen->address, ':') != NULL;
    if (listen->kind == HUB_LISTEN_UNIX) {
        (void)snprintf(ret_text, room, "%s", listen->address);
    } else {
        (void)snprintf(ret_text, room, "%s%s%s:%u", is_v6 ? "[" : "", listen->address,
                       is_v6 ? "]" : "", listen->port);
    }
}

static hub_err explain(const hub_listen_settings *listen, hub_err err, const hub_error *why,
                       hub_error *reterr)
{
    static const char SAID[] = "cannot listen on "; /* the reason says where, too */
    const char *reason = why->text;
    char place[256];
    if (strncmp(reason, SAID, sizeof SAID - 1) == 0 && strstr(reason, ": ") != NULL) {
        reason = strstr(reason, ": ") + 2;
    }
    cli_listener_print_place(listen, place, sizeof place);
    return hub_fail(reterr, err, "cannot listen on %s (%s): %s%s", place, listen->source, reason,
                    err == HUB_EDENIED
                        ? "; make a token with `patchbay token new NAME` and name its file with "
                          "--tokens, or listen on 127.0.0.1"
                        : "");
}

/* ---- one listener ---------------------------------------------------------------------------- */

#ifdef PATCHBAY_HTTP

/* Allowed, but not to be done without knowing it. */
static void warn_of_strangers(const hub_settings *settings, const hub_listen_settings *listen)
{
    if (hub_config_is_loopback(listen->address)) {
        return;
    }
    if (!settings->auth.required && !listen->tls.clients.required) {
        hub_log(HUB_LOG_WARNING, "listen.insecure", HUB_F_TEXT("address", listen->address),
                HUB_F_TEXT("reason", "other machines can call every tool without "
                                     "authentication"));
    } else if (listen->tls.certificate == NULL) {
        hub_log(
            HUB_LOG_WARNING, "listen.plain", HUB_F_TEXT("address", listen->address),
            HUB_F_TEXT("reason", "tokens cross the network unencrypted: the listener has no tls"));
    }
}

static hub_err open_net(cli_listener_home *home, const hub_settings *settings, hub_error *reterr)
{
    const hub_limits *limits = &settings->limits;
    hub_err err = HUB_OK;
    if (home->net == NULL) {
        err = hub_net_create(home->loop, &limits->net, limits->client_queue_bytes, &home->net,
                             reterr);
        if (err == HUB_OK) {
            hub_net_set_budget(home->net, home->budget);
        }
    }
    return err;
}

hub_err cli_listener_open_replica(cli_listener_home *home, const hub_settings *settings,
                                  cli_listener *one, hub_error *reterr)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = open_net(home, settings, &why);
    hub_http_home served = {.net = home->net, .hub = home->hub};
    if (err == HUB_OK) {
        err = hub_http_replicas_create(&served, &home->replicas);
    }
    if (err == HUB_OK) {
        served.replicas = home->replicas;
        served.is_replica = true;
        err = hub_http_server_open(&served, settings, one->listen, &one->http, &why);
    }
    return err == HUB_OK ? HUB_OK : explain(one->listen, err, &why, reterr);
}

static hub_err open_http(cli_listener_home *home, const hub_settings *settings, cli_listener *one,
                         hub_error *reterr)
{
    /* What is served beside MCP: a row for each face. */
    const hub_web_served faces[] = {
        {&HUB_WEB_STATUS, home->hub}, {&HUB_WEB_METRICS, home->hub}, {&HUB_WEB_RESOURCE, home->hub},
        {&HUB_WEB_REST, home->hub},   {&HUB_WEB_API, home->api},     {&HUB_WEB_OAUTH, home->hub},
        {&HUB_WEB_UI, home->api},
    };
    hub_err err = open_net(home, settings, reterr);
    const hub_http_home served = {.net = home->net,
                                  .hub = home->hub,
                                  .faces = faces,
                                  .face_count = sizeof faces / sizeof faces[0],
                                  .replicas = home->replicas};
    return err == HUB_OK ? hub_http_server_open(&served, settings, one->listen, &one->http, reterr)
                         : err;
}

size_t cli_listener_busy(const cli_listener *one)
{
    return one->socket != NULL ? hub_unix_server_busy(one->socket)
                               : hub_http_server_busy(one->http);
}

bool cli_listener_is_awaited(const cli_listener_home *home, const cli_listener *one)
{
    return cli_listener_owes(one) ||
           (one->http != NULL && hub_drain_owed_at(home->hub, one->http) > 0);
}

void cli_listener_stop(const cli_listener *one)
{
    if (one->socket != NULL) {
        hub_unix_server_stop(one->socket);
    } else {
        hub_http_server_stop(one->http);
    }
}

void cli_listener_leave(const cli_listener *one)
{
    if (one->http != NULL) {
        hub_http_server_leave(one->http);
    }
}

size_t cli_listener_move(const cli_listener *one)
{
    return one->http != NULL ? hub_http_server_move(one->http) : 0;
}

void cli_listener_drain(const cli_listener *one)
{
    if (one->socket != NULL) {
        hub_unix_server_stop(one->socket); /* its clients stay */
    } else {
        hub_http_server_drain(one->http);
    }
}

bool cli_listener_owes(const cli_listener *one)
{
    return one->socket != NULL ? hub_unix_server_busy(one->socket) > 0
                               : hub_http_server_owes(one->http);
}

void cli_listener_close(const cli_listener *one)
{
    hub_http_server_close(one->http);
    hub_unix_server_close(one->socket, 0);
}

void cli_listener_say_ready(const cli_listener *one, const hub_settings *settings)
{
    if (one->socket != NULL) {
        hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("path", one->listen->address));
    } else {
        hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("url", hub_http_server_url(one->http)));
        warn_of_strangers(settings, one->listen);
    }
}

static bool reload_http(const cli_listener *one, const hub_settings *settings,
                        const hub_listen_settings *listen)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_http_server_reload(one->http, settings, listen, &why);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "listen.not_reloaded",
                HUB_F_TEXT("url", hub_http_server_url(one->http)), HUB_F_TEXT("reason", why.text));
    }
    return err != HUB_ENOMEM;
}

void cli_listener_home_limit(cli_listener_home *home, const hub_limits *limits)
{
    hub_budget_limit(home->budget, limits->client_memory_bytes);
    if (home->net != NULL) {
        hub_net_limit(home->net, &limits->net, limits->client_queue_bytes);
    }
}

/* What the metrics say of connections. */
static void add_metrics(void *ctx, hub_exposition *to)
{
    const cli_listener_home *home = ctx;
    if (home->net == NULL) {
        return;
    }
    const hub_net_numbers *numbers = hub_net_count(home->net);
    const struct {
        const char *name;
        hub_metrics_kind kind;
        const char *help;
        uint64_t value;
    } rows[] = {
        {"patchbay_connections", HUB_METRICS_GAUGE, "Open connections over TCP.",
         hub_net_link_count(home->net)},
        {"patchbay_connections_accepted", HUB_METRICS_COUNTER, "Connections that were accepted.",
         numbers->accepted},
        {"patchbay_connections_refused", HUB_METRICS_COUNTER,
         "Connections that were closed at once, for want of room.", numbers->refused},
        {"patchbay_received_bytes", HUB_METRICS_COUNTER, "Bytes of clients over TCP, decrypted.",
         numbers->bytes_in},
        {"patchbay_sent_bytes", HUB_METRICS_COUNTER,
         "Bytes to clients over TCP, before they are encrypted.", numbers->bytes_out},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hub_exposition_family(to, rows[i].name, rows[i].kind, rows[i].help);
        hub_exposition_count(to, HUB_NO_LABELS, rows[i].value);
    }
}

void cli_listener_home_init(cli_listener_home *home)
{
    hub_metrics_add_source(home->hub, add_metrics, home);
}

void cli_listener_home_fini(cli_listener_home *home)
{
    hub_http_replicas_destroy(home->replicas);
    hub_metrics_add_source(home->hub, NULL, home);
    hub_net_destroy(home->net);
}

#else

hub_err cli_listener_open_replica(cli_listener_home *home, const hub_settings *settings,
                                  cli_listener *one, hub_error *reterr)
{
    (void)home;
    (void)settings;
    return hub_fail(reterr, HUB_EINVAL, "replicas.listen (%s): this build has no HTTP",
                    one->listen->address);
}

static hub_err open_http(cli_listener_home *home, const hub_settings *settings, cli_listener *one,
                         hub_error *reterr)
{
    (void)home;
    (void)settings;
    (void)one;
    return hub_fail(reterr, HUB_EINVAL, "this build has no HTTP");
}

size_t cli_listener_busy(const cli_listener *one)
{
    return hub_unix_server_busy(one->socket);
}

bool cli_listener_is_awaited(const cli_listener_home *home, const cli_listener *one)
{
    (void)home;
    return cli_listener_owes(one);
}

void cli_listener_stop(const cli_listener *one)
{
    hub_unix_server_stop(one->socket);
}

void cli_listener_leave(const cli_listener *one)
{
    (void)one;
}

size_t cli_listener_move(const cli_listener *one)
{
    (void)one;
    return 0;
}

void cli_listener_drain(const cli_listener *one)
{
    hub_unix_server_stop(one->socket); /* its clients stay */
}

bool cli_listener_owes(const cli_listener *one)
{
    return hub_unix_server_busy(one->socket) > 0;
}

void cli_listener_close(const cli_listener *one)
{
    hub_unix_server_close(one->socket, 0);
}

void cli_listener_say_ready(const cli_listener *one, const hub_settings *settings)
{
    (void)settings;
    hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("path", one->listen->address));
}

static bool reload_http(const cli_listener *one, const hub_settings *settings,
                        const hub_listen_settings *listen)
{
    (void)one;
    (void)settings;
    (void)listen;
    return true;
}

void cli_listener_home_limit(cli_listener_home *home, const hub_limits *limits)
{
    hub_budget_limit(home->budget, limits->client_memory_bytes);
}

void cli_listener_home_init(cli_listener_home *home)
{
    (void)home;
}

void cli_listener_home_fini(cli_listener_home *home)
{
    (void)home;
}

#endif

bool cli_listener_reload(const cli_listener *one, const hub_settings *settings,
                         const hub_listen_settings *listen)
{
    if (one->socket != NULL) {
        hub_unix_server_reload(one->socket, settings, listen);
        return true;
    }
    return !one->is_new && reload_http(one, settings, listen);
}

hub_err cli_listener_open(cli_listener_home *home, const hub_settings *settings, cli_listener *one,
                          hub_error *reterr)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = one->listen->kind == HUB_LISTEN_HTTP
                      ? open_http(home, settings, one, &why)
                      : hub_unix_server_open(home->loop, home->hub, settings, one->listen,
                                             &one->socket, &why);
    if (err == HUB_OK && one->socket != NULL) {
        hub_unix_server_set_budget(one->socket, home->budget);
    }
    return err == HUB_OK ? HUB_OK : explain(one->listen, err, &why, reterr);
}
