/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

static const patchbay_str NOTHING = {.ptr = NULL, .len = 0};

/* ---- the instance -------------------------------------------------------------------------- */

static void on_timer(void *ctx)
{
    upstream_handshake_timeout(ctx);
}

static void on_hand(void *ctx)
{
    upstream_lists_hand(ctx);
}

static void on_again(void *ctx)
{
    upstream_lists_refresh(ctx);
}

static int find_interfaces(mcp_server *server)
{
    const patchbay_host_api *api = server->api;
    server->loop = api->get_interface(server->host, PATCHBAY_LOOP_V1);
    server->wire = api->get_interface(server->host, PATCHBAY_WIRE_V1);
    server->catalog = api->get_interface(server->host, PATCHBAY_CATALOG_V1);
    server->client = api->get_interface(server->host, PATCHBAY_CLIENT_V1);
    return server->loop != NULL && server->wire != NULL && server->catalog != NULL &&
           server->client != NULL;
}

int32_t upstream_init(mcp_server *server, const upstream_channel *channel,
                      const patchbay_host_api *api, patchbay_host *host, patchbay_error *reterr)
{
    server->channel = channel;
    server->api = api;
    server->host = host;
    if (!find_interfaces(server)) {
        (void)snprintf(reterr->text, sizeof reterr->text,
                       "the hub lacks an interface that this plugin needs");
        return PATCHBAY_ENOTFOUND;
    }
    server->timer = server->loop->timer(host, on_timer, server);
    server->again = server->loop->timer(host, on_again, server);
    server->hand = server->loop->timer(host, on_hand, server);
    if (server->timer == NULL || server->again == NULL || server->hand == NULL ||
        !upstream_restart_init(server) || !upstream_unusable_init(server) ||
        !upstream_health_init(server)) {
        return PATCHBAY_ENOMEM;
    }
    server->catalog->defer(host);
    return PATCHBAY_OK;
}

void upstream_fini(mcp_server *server)
{
    if (server->watch != NULL) { /* the last that is made */
        upstream_disconnect(server, "the toolset was disabled", CAUSE_NONE);
    }
    if (server->loop != NULL) {
        server->loop->timer_free(server->timer);
        server->loop->timer_free(server->again);
        server->loop->timer_free(server->hand);
        upstream_restart_fini(server);
        upstream_unusable_fini(server);
        upstream_health_fini(server);
    }
    upstream_free_calls(server);
    upstream_subscriptions_free(server);
    upstream_lists_disconnect(server);
}

void upstream_start_timer(mcp_server *server, uint64_t until_ms)
{
    uint64_t now = server->loop->now_ms(server->host);
    server->loop->timer_start(server->timer, until_ms > now ? until_ms - now : 0);
}

void upstream_log(mcp_server *server, int32_t level, const char *text)
{
    server->api->log(server->host, level, patchbay_str_of(text));
}

/* ---- what leaves --------------------------------------------------------------------------- */

void upstream_send(mcp_server *server, const upstream_outgoing *message)
{
    int32_t sent =
        server->phase != PHASE_IDLE ? server->channel->send(server, message) : PATCHBAY_OK;
    if (sent == PATCHBAY_ELIMIT) {
        upstream_fail(server, "does not read its input");
    } else if (sent == PATCHBAY_ENOMEM) { /* it would wait for that, or we for its answer */
        upstream_fail(server, "cannot be told anything: out of memory");
    } /* PATCHBAY_ESTATE: the channel is about to say why the connection has ended */
}

uint32_t upstream_request(mcp_server *server, const char *name, const char *method,
                          patchbay_str params)
{
    uint32_t connection = server->connection;
    uint32_t number = ++server->last_request;
    char id[48];
    int len = snprintf(id, sizeof id, "\"%s-%u\"", name, (unsigned)number);
    patchbay_str parts[] = {
        patchbay_str_of("{\"jsonrpc\":\"2.0\",\"id\":"),
        patchbay_str_make(id, (size_t)len),
        patchbay_str_of(",\"method\":\""),
        patchbay_str_of(method),
        patchbay_str_of("\",\"params\":"),
        params,
        patchbay_str_of("}"),
    };
    upstream_outgoing message = {
        .parts = parts,
        .part_count = sizeof parts / sizeof parts[0],
        .kind = PATCHBAY_MSG_REQUEST,
        .method = parts[3],
        .id = parts[1],
    };
    upstream_send(server, &message);
    return server->connection == connection ? number : 0; /* sending may have ended it */
}

void upstream_add_meta(mcp_server *server, patchbay_out *params)
{
    patchbay_peer peer = {.struct_size = sizeof peer, .version = patchbay_str_of(server->version)};
    if (server->era == ERA_MODERN) {
        patchbay_str all = server->wire->introduce(server->host, &peer);
        patchbay_out_key(params, "_meta");
        patchbay_out_raw(params, patchbay_json_get(all, "_meta"));
    }
}

/* ---- the connection ------------------------------------------------------------------------ */

void upstream_connect(mcp_server *server)
{
    if (server->phase != PHASE_IDLE) {
        return;
    }
    server->restarts += server->failures > 0;
    upstream_restart_forget(server);
    if (!server->channel->open(server)) {
        return;
    }
    server->catalog->set_state(server->host, PATCHBAY_STATE_CONNECTING, NOTHING);
    server->started_ms = server->loop->now_ms(server->host);
    server->connection++;
    server->refused = 0;
    server->strays = 0;
    server->refusal[0] = '\0';
    upstream_handshake_begin(server);
}

void upstream_disconnect(mcp_server *server, const char *reason, upstream_cause cause)
{
    int failed = cause != CAUSE_NONE;
    server->loop->timer_stop(server->timer);
    server->loop->timer_stop(server->again);
    server->loop->timer_stop(server->hand);
    upstream_unusable_forget(server);
    upstream_restart_settle(server);
    upstream_health_end(server);
    server->channel->close(server);
    if (failed) {
        upstream_restart_plan(server, reason, cause);
    }
    server->phase = PHASE_IDLE;
    server->connection++; /* whoever is in the middle of something notices */
    upstream_lists_disconnect(server);
    if (failed) {
        server->catalog->set_state(server->host, PATCHBAY_STATE_FAILED,
                                   patchbay_str_of(server->last_error));
        upstream_report(server);
    }
    upstream_subscriptions_disconnect(server, reason);
    upstream_fail_calls(server, failed ? server->last_status : PATCHBAY_UNAVAILABLE, reason);
}

void upstream_fail(mcp_server *server, const char *what)
{
    upstream_fail_as(server, what, CAUSE_FAILURE);
}

upstream_cause upstream_cause_of_size(const mcp_server *server)
{
    return server->phase == PHASE_LISTING ? CAUSE_CATALOG : CAUSE_FAILURE;
}

void upstream_fail_as(mcp_server *server, const char *what, upstream_cause cause)
{
    char reason[UPSTREAM_REASON_BYTES];
    int is_forced = server->protocol != NULL && !server->is_module && server->phase != PHASE_IDLE &&
                    server->phase != PHASE_READY;
    (void)snprintf(reason, sizeof reason, "%s \"%s\" %s%s%s%s",
                   server->is_module ? "plugin" : "server", server->name, what,
                   is_forced ? " (its entry says `protocol: " : "",
                   is_forced ? server->protocol : "",
                   is_forced ? "`: without that, it is asked what it speaks)" : "");
    upstream_disconnect(server, reason, cause);
}

void upstream_renew(mcp_server *server)
{
    server->connection++; /* its questions are forgotten, too */
    upstream_lists_disconnect(server);
    server->catalog->set_state(server->host, PATCHBAY_STATE_CONNECTING, NOTHING);
    server->started_ms = server->loop->now_ms(server->host);
    upstream_handshake_renew(server);
}
