/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/listeners.h"

#include "base/clock.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "unix/unix.h"
#ifdef PATCHBAY_HTTP
#include "http/server.h"
#include "net/net.h"
#endif

#include <stdlib.h>

struct cli_listeners {
    struct ev_loop *loop;
    hub_orchestrator *hub;
    const hub_settings *settings;
    hub_unix_server *sockets[HUB_LIMIT_LISTENERS];
    size_t socket_count;
#ifdef PATCHBAY_HTTP
    hub_net *net; /* NULL: no listener needs it */
    hub_http_server *servers[HUB_LIMIT_LISTENERS];
    size_t server_count;
#endif
};

/* What to do about it, when the reason alone does not tell. */
static const char *advice(const hub_listen_settings *listen, hub_err err)
{
    bool is_http = listen->kind == HUB_LISTEN_HTTP;
    switch (err) {
    case HUB_EEXIST:
        return is_http ? "; stop what listens there, or choose another port (0 is any free one)"
                       : "; stop that process, or choose another path";
    case HUB_EDENIED:
        return "; make a token with `patchbay token new NAME` and name its file with --tokens, or "
               "listen on 127.0.0.1";
    case HUB_ESYSTEM:
        return is_http && listen->port != 0 && listen->port < 1024
                   ? "; ports below 1024 are root's: choose one above"
                   : "";
    default:
        return "";
    }
}

static int complain(const hub_listen_settings *listen, hub_err err, const char *why)
{
    if (listen->kind == HUB_LISTEN_UNIX) {
        cli_complain("cannot listen on %s (%s): %s%s", listen->address, listen->source, why,
                     advice(listen, err));
    } else {
        bool is_v6 = strchr(listen->address, ':') != NULL;
        cli_complain("cannot listen on %s%s%s:%u (%s): %s%s", is_v6 ? "[" : "", listen->address,
                     is_v6 ? "]" : "", listen->port, listen->source, why, advice(listen, err));
    }
    return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_LISTEN;
}

static int open_unix(cli_listeners *listeners, const hub_listen_settings *listen)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_unix_server_open(listeners->loop, listeners->hub, listeners->settings, listen,
                                       &listeners->sockets[listeners->socket_count], &why);
    if (err != HUB_OK) {
        return complain(listen, err, why.text);
    }
    listeners->socket_count++;
    hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("path", listen->address));
    return EXIT_OK;
}

#ifdef PATCHBAY_HTTP

/* Allowed, but not to be done without knowing it. */
static void warn_of_strangers(const hub_settings *settings, const hub_listen_settings *listen)
{
    if (hub_config_is_loopback(listen->address)) {
        return;
    }
    if (!settings->auth.required) {
        hub_log(HUB_LOG_WARNING, "listen.insecure", HUB_F_TEXT("address", listen->address),
                HUB_F_TEXT("reason", "other machines can call every tool: nobody has to "
                                     "authenticate"));
    } else if (listen->tls.certificate == NULL) {
        hub_log(HUB_LOG_WARNING, "listen.plain", HUB_F_TEXT("address", listen->address),
                HUB_F_TEXT("reason", "tokens cross the network unencrypted: there is no tls"));
    }
}

static int open_http(cli_listeners *listeners, const hub_listen_settings *listen)
{
    const hub_limits *limits = &listeners->settings->limits;
    hub_error why = {.code = HUB_OK};
    hub_err err = HUB_OK;
    if (listeners->net == NULL) {
        err = hub_net_create(listeners->loop, &limits->net, limits->client_queue_bytes,
                             &listeners->net, &why);
    }
    hub_http_server **server = &listeners->servers[listeners->server_count];
    if (err == HUB_OK) {
        err = hub_http_server_open(listeners->net, listeners->hub, listeners->settings, listen,
                                   server, &why);
    }
    if (err != HUB_OK) {
        return complain(listen, err, why.text);
    }
    listeners->server_count++;
    hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("url", hub_http_server_url(*server)));
    warn_of_strangers(listeners->settings, listen);
    return EXIT_OK;
}

static bool is_busy(const cli_listeners *listeners)
{
    for (size_t i = 0; i < listeners->server_count; i++) {
        if (hub_http_server_busy(listeners->servers[i]) > 0) {
            return true;
        }
    }
    return false;
}

static void on_drain_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop; /* that it is no longer active says it all */
    (void)timer;
    (void)events;
}

/* Every turn of the loop is an event: something was written, a connection ended, or time is up. */
static void drain_http(cli_listeners *listeners, unsigned drain_ms)
{
    ev_timer timer;
    ev_timer_init(&timer, on_drain_end, drain_ms / 1000., 0.);
    ev_now_update(listeners->loop);
    ev_timer_start(listeners->loop, &timer);
    while (is_busy(listeners) && ev_is_active(&timer)) {
        ev_run(listeners->loop, EVRUN_ONCE);
    }
    ev_timer_stop(listeners->loop, &timer);
}

static void stop_http(cli_listeners *listeners)
{
    for (size_t i = 0; i < listeners->server_count; i++) {
        hub_http_server_stop(listeners->servers[i]);
    }
}

static void close_http(cli_listeners *listeners)
{
    for (size_t i = listeners->server_count; i-- > 0;) {
        hub_http_server_close(listeners->servers[i]);
    }
    hub_net_destroy(listeners->net);
}

#else

static int open_http(cli_listeners *listeners, const hub_listen_settings *listen)
{
    (void)listeners;
    (void)listen;
    return EXIT_LISTEN; /* cli_load_network has said so */
}

static void stop_http(cli_listeners *listeners)
{
    (void)listeners;
}

static void drain_http(cli_listeners *listeners, unsigned drain_ms)
{
    (void)listeners;
    (void)drain_ms;
}

static void close_http(cli_listeners *listeners)
{
    (void)listeners;
}

#endif

int cli_listeners_open(struct ev_loop *loop, hub_orchestrator *hub, const hub_settings *settings,
                       cli_listeners **ret_listeners)
{
    cli_listeners *listeners = calloc(1, sizeof *listeners);
    if (listeners == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    listeners->loop = loop;
    listeners->hub = hub;
    listeners->settings = settings;
    *ret_listeners = listeners;
    int status = EXIT_OK;
    for (size_t i = 0; status == EXIT_OK && i < settings->listen_count; i++) {
        const hub_listen_settings *listen = &settings->listens[i];
        status = listen->kind == HUB_LISTEN_HTTP ? open_http(listeners, listen)
                                                 : open_unix(listeners, listen);
    }
    return status;
}

void cli_listeners_close(cli_listeners *listeners, unsigned drain_ms)
{
    if (listeners == NULL) {
        return;
    }
    uint64_t deadline = hub_clock_now_ms() + drain_ms;
    stop_http(listeners);
    for (size_t i = 0; i < listeners->socket_count; i++) {
        hub_unix_server_stop(listeners->sockets[i]);
    }
    drain_http(listeners, drain_ms);
    close_http(listeners);
    for (size_t i = listeners->socket_count; i-- > 0;) {
        uint64_t now = hub_clock_now_ms();
        hub_unix_server_close(listeners->sockets[i],
                              now < deadline ? (unsigned)(deadline - now) : 0);
    }
    free(listeners);
}
