/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server.h"

#include "base/log.h"
#include "http/internal.h"
#include "http/legacy.h"
#include "http/modern.h"
#include "http/moving.h"
#include "http/replicas.h"
#include "http/routes.h"
#include "http/upgrade.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- work that is left to the loop ----------------------------------------------------------- */

static void on_soon(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_http_server *server = timer->data;
    hub_http_modern_reap(server);
    hub_http_streams_reap(server);
    /* Those that join meanwhile, because they answer at once, have their turn after everybody. */
    hub_deadlines turn = {NULL, NULL};
    while (server->resumed.first != NULL) {
        hub_deadline_start(&turn, server->resumed.first, 0);
    }
    while (turn.first != NULL) {
        hub_http_connection_resume(HUB_DEADLINE_OF(turn.first, hub_http_connection, deadline));
    }
}

void hub_http_server_soon(hub_http_server *server)
{
    ev_feed_event(hub_net_loop(server->net), &server->soon, EV_TIMER);
}

static void on_tick(hub_net_tick *tick, uint64_t now_ms)
{
    hub_http_server *server = HUB_DEADLINE_OF(tick, hub_http_server, tick);
    hub_http_connections_check(server, now_ms);
    hub_http_sessions_check(server, now_ms);
}

/* ---- opening --------------------------------------------------------------------------------- */

bool hub_http_is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    return strcmp(address, "localhost") == 0 ||
           (inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

static hub_err check_exposure(const hub_settings *settings, const hub_listen_settings *listen,
                              hub_error *reterr)
{
    if (hub_http_is_loopback(listen->address) || settings->auth.required ||
        listen->tls.clients.required) {
        return HUB_OK;
    }
    if (!listen->insecure) {
        return hub_fail(reterr, HUB_EDENIED,
                        "%s can be reached from other machines, and nobody has to authenticate; "
                        "--insecure accepts that",
                        listen->address);
    }
    return HUB_OK;
}

static const hub_str *spans_of(const hub_names *names, hub_str *at)
{
    for (size_t i = 0; i < names->count; i++) {
        at[i] = hub_str_of(names->items[i]);
    }
    return at;
}

/* Which names the hub goes by. Those of the loopback interface are always its own unless the
 * manifest says otherwise; so is the address that it was told to listen on. */
static hub_err decide_names(hub_http_server *server, const hub_listen_settings *listen)
{
    size_t local = HUB_HTTP_LOCAL_ORIGINS.host_count;
    bool is_v6 = strchr(listen->address, ':') != NULL;
    hub_buf literal;
    hub_buf_init(&literal, 256);
    hub_buf_printf(&literal, is_v6 ? "[%s]" : "%s", listen->address);
    char *text = hub_buf_take(&literal);
    hub_buf_fini(&literal);
    hub_str *at = calloc(listen->hosts.count + listen->origins.count + local + 1, sizeof *at);
    if (text == NULL || at == NULL) {
        free(text);
        free(at);
        return HUB_ENOMEM;
    }
    free(server->literal);
    free(server->names);
    server->literal = text;
    server->names = at;
    server->allowed.hosts = at;
    if (listen->hosts.set) {
        (void)spans_of(&listen->hosts, at);
        server->allowed.host_count = listen->hosts.count;
    } else {
        memcpy(at, HUB_HTTP_LOCAL_ORIGINS.hosts, local * sizeof *at);
        at[local] = hub_str_of(server->literal);
        server->allowed.host_count = local + 1;
    }
    at += server->allowed.host_count;
    server->allowed.origins = spans_of(&listen->origins, at);
    server->allowed.origin_count = listen->origins.count;
    return HUB_OK;
}

static hub_err make_url(hub_http_server *server)
{
    hub_buf url;
    hub_buf_init(&url, 512);
    hub_buf_printf(&url, "%s://%s:%u/mcp",
                   server->listen->tls.certificate != NULL ? "https" : "http", server->literal,
                   (unsigned)hub_listener_port(server->listener));
    server->url = hub_buf_take(&url);
    hub_buf_fini(&url);
    return server->url != NULL ? HUB_OK : HUB_ENOMEM;
}

static void destroy(hub_http_server *server)
{
    hub_websockets_destroy(server->websockets);
    hub_session_table_destroy(server->sessions);
    hub_http_failures_destroy(server->failures);
    hub_issuers_destroy(server->issuers);
    hub_http_certificates_destroy(server->certificates);
    hub_http_face_table_destroy(server->faces);
    hub_buf_fini(&server->head);
    free(server->spare);
    free(server->names);
    free(server->literal);
    free(server->url);
    hub_settings_unref(server->settings);
    free(server);
}

static hub_err take_faces(hub_http_server *server, const hub_http_home *home, hub_error *reterr)
{
    hub_err err = hub_http_routes_check_faces(home->faces, home->face_count, reterr);
    return err == HUB_OK
               ? hub_http_face_table_create(home->faces, home->face_count, &server->faces, reterr)
               : err;
}

/* What goes on by credentials that are none any more ends. */
static void recheck(void *ctx)
{
    hub_http_server *server = ctx;
    hub_http_sessions_recheck(server);
    hub_http_connections_recheck(server);
    hub_http_upgraded_recheck(server);
}

static hub_err build(hub_http_server *server)
{
    const hub_net_limits *limits = &server->settings->limits.net;
    server->failures = hub_http_failures_create();
    server->sessions = hub_session_table_create(limits->sessions, limits->sessions_per_principal);
    server->issuers = hub_issuers_create(hub_net_loop(server->net));
    server->certificates = hub_http_certificates_create(hub_net_loop(server->net), recheck, server);
    if (server->failures == NULL || server->sessions == NULL || server->issuers == NULL ||
        server->certificates == NULL) {
        return HUB_ENOMEM;
    }
    hub_err err = hub_issuers_configure(server->issuers, &server->settings->auth);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_websockets_create(server->net, server->settings, &server->websockets);
    return err == HUB_OK ? decide_names(server, server->listen) : err;
}

hub_err hub_http_server_open(const hub_http_home *home, const hub_settings *settings,
                             const hub_listen_settings *listen, hub_http_server **ret_server,
                             hub_error *reterr)
{
    /* Who comes to the listener of replicas has to prove more. */
    hub_err err = home->is_replica ? HUB_OK : check_exposure(settings, listen, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_http_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    server->net = home->net;
    server->hub = home->hub;
    server->settings = hub_settings_ref(settings);
    server->listen = listen;
    server->is_replica = home->is_replica;
    ev_timer_init(&server->soon, on_soon, 0., 0.);
    server->soon.data = server;
    hub_buf_init(&server->head, HUB_HTTP_LIMIT_HEAD_BYTES);
    err = build(server);
    if (err != HUB_OK) {
        destroy(server);
        return hub_fail(reterr, err, "%s", hub_err_text(err));
    }
    err = take_faces(server, home, reterr);
    if (err == HUB_OK) {
        err = hub_net_listen(home->net, listen, hub_http_connection_accept, server,
                             &server->listener, reterr);
    }
    if (err != HUB_OK) {
        destroy(server);
        return err;
    }
    hub_http_certificates_trust(server->certificates, hub_listener_clients(server->listener));
    if (make_url(server) != HUB_OK) {
        hub_listener_close(server->listener);
        destroy(server);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_http_replicas_join(home->replicas, server);
    server->tick.on_tick = on_tick;
    hub_net_add_tick(home->net, &server->tick);
    *ret_server = server;
    return HUB_OK;
}

hub_err hub_http_server_reload(hub_http_server *server, const hub_settings *settings,
                               const hub_listen_settings *listen, hub_error *reterr)
{
    const hub_settings *old = server->settings;
    const hub_net_limits *limits = &settings->limits.net;
    hub_err err = decide_names(server, listen);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    server->settings = hub_settings_ref(settings);
    if (hub_issuers_configure(server->issuers, &settings->auth) != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "issuer.not_reloaded", HUB_F_TEXT("reason", "out of memory"),
                HUB_F_TEXT("advice", "tokens of issuers are refused until the next reload"));
    }
    server->listen = listen;
    if (server->listener != NULL) {
        hub_listener_trust(server->listener, listen);
    }
    hub_websockets_reload(server->websockets, settings);
    hub_session_table_limit(server->sessions, limits->sessions, limits->sessions_per_principal);
    if (listen->tls.certificate != NULL && server->listener != NULL) {
        err = hub_listener_renew(server->listener, &listen->tls, reterr);
        hub_http_certificates_trust(server->certificates, hub_listener_clients(server->listener));
    }
    recheck(server);
    hub_settings_unref(old);
    return err;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void end_sessions(hub_http_server *server)
{
    hub_session_entry *entry;
    while ((entry = hub_session_table_any(server->sessions)) != NULL) {
        hub_http_session_destroy((hub_http_session *)entry);
    }
}

void hub_http_server_leave(hub_http_server *server)
{
    server->leaving = true;
}

size_t hub_http_server_move(hub_http_server *server)
{
    return server->replicas != NULL && hub_moves_are_kept(server->hub)
               ? hub_http_sessions_move(server)
               : 0;
}

void hub_http_server_drain(hub_http_server *server)
{
    server->leaving = true;
    if (!server->draining) {
        server->draining = true;
        hub_listener_close(server->listener);
        server->listener = NULL;
    }
}

void hub_http_server_stop(hub_http_server *server)
{
    if (server->stopping) {
        return;
    }
    hub_http_server_drain(server);
    server->stopping = true;
    end_sessions(server); /* their streams end, and what they were sent is on its way */
    hub_http_upgraded_close(server);
    for (hub_http_connection *at = server->connections; at != NULL; at = at->next) {
        hub_http_connection_stop(at);
    }
}

bool hub_http_server_owes(const hub_http_server *server)
{
    const hub_http_connection *at = server->connections;
    while (at != NULL && hub_link_queued(at->link) == 0) {
        at = at->next;
    }
    return at != NULL || hub_http_upgraded_owe(server);
}

size_t hub_http_server_busy(const hub_http_server *server)
{
    size_t busy = hub_http_upgraded_count(server);
    for (const hub_http_connection *at = server->connections; at != NULL; at = at->next) {
        busy += at->busy || hub_link_queued(at->link) > 0;
    }
    return busy;
}

void hub_http_server_free_if_done(hub_http_server *server)
{
    if (server->closed && server->upgraded == NULL) {
        destroy(server);
    }
}

void hub_http_server_close(hub_http_server *server)
{
    if (server == NULL) {
        return;
    }
    hub_http_server_stop(server);
    hub_http_replicas_leave(server->replicas, server);
    hub_net_remove_tick(server->net, &server->tick);
    while (server->connections != NULL) {
        hub_http_connection_destroy(server->connections);
    }
    while (server->ended_exchanges.first != NULL || server->ended_streams.first != NULL) {
        hub_http_modern_reap(server);
        hub_http_streams_reap(server);
    }
    ev_clear_pending(hub_net_loop(server->net), &server->soon);
    server->closed = true;
    hub_http_server_free_if_done(server);
}

const char *hub_http_server_url(const hub_http_server *server)
{
    return server->url;
}
