/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a server that is connected is alive, and whether anybody needs it.
 *
 * A server that says nothing for an interval is asked something that takes no work: ping, or
 * server/discover of a modern one. If another interval brings nothing, it hangs, and is ended. Two
 * doubts are in its favour. It may be at work on a call that was sent before, and look at nothing
 * else: calls have their own deadlines, and as long as one of those is out the server is left
 * alone. And it may ignore pings: one that has never answered any is asked for its tools first,
 * which it did tell once.
 *
 * A server that nobody has called for the idle time is ended too, and started again by the next who
 * needs it. One with calls in flight, questions, subscriptions or tasks is needed. The stream on
 * which a modern one would tell of changes is not counted: it is the hub's own, and the lists are
 * read again at the next start.
 * spec: MCP 2025-11-25 basic/utilities/ping; 2026-07-28 server/discover
 */
#include "upstream.h"

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* ---- alive? -------------------------------------------------------------------------------- */

static void ask(mcp_server *server)
{
    patchbay_peer peer = {.struct_size = sizeof peer, .version = patchbay_str_of(server->version)};
    patchbay_str nothing = patchbay_str_of("{}");
    patchbay_str params =
        server->era == ERA_MODERN ? server->wire->introduce(server->host, &peer) : nothing;
    server->pulse.questions++;
    server->pulse.asked = upstream_request(server, UPSTREAM_PULSE,
                                           server->pulse.questions > 1 ? "tools/list"
                                           : server->era == ERA_MODERN ? "server/discover"
                                                                       : "ping",
                                           params);
}

/* Whether a call that was sent before the last question is still out. */
static int may_be_at_work(const mcp_server *server)
{
    for (size_t i = 0; i < server->in_flight.count; i++) {
        if (server->in_flight.items[i].after < server->pulse.asked) {
            return 1;
        }
    }
    return 0;
}

static void feel(mcp_server *server)
{
    uint32_t enough = server->pulse.has_answered ? 1 : 2;
    if (server->pulse.is_heard) {
        server->pulse.has_answered = server->pulse.has_answered || server->pulse.questions == 1;
        server->pulse.questions = 0;
    } else if (server->pulse.questions < enough) {
        ask(server);
    } else if (!may_be_at_work(server)) {
        char text[128];
        char time[UPSTREAM_TIME_BYTES];
        upstream_write_time(server->pace.health_ms * (enough + 1), time);
        (void)snprintf(text, sizeof text, "hangs: it has said nothing for %s (health_interval)",
                       time);
        upstream_fail(server, text);
    }
    server->pulse.is_heard = 0;
}

/* ---- needed? ------------------------------------------------------------------------------- */

int upstream_is_at_work(const mcp_server *server)
{
    return server->in_flight.count > 0 || server->errands.count > 0 ||
           server->discoverers.count > 0 || server->held != NULL || server->subscribing > 0 ||
           server->questions != NULL || server->has_tasks;
}

int upstream_is_needed(const mcp_server *server)
{
    return upstream_is_at_work(server) || server->watched != NULL;
}

/* It is started again when somebody needs it. */
static void let_rest(mcp_server *server, const char *why)
{
    char text[160];
    (void)snprintf(text, sizeof text, "%s: it is stopped until somebody does", why);
    upstream_log(server, PATCHBAY_LOG_INFO, text);
    (void)snprintf(text, sizeof text, "the server was stopped: %s", why);
    upstream_disconnect(server, text, CAUSE_NONE);
    server->catalog->set_state(server->host, PATCHBAY_STATE_IDLE, patchbay_str_make(NULL, 0));
    upstream_report(server);
}

void upstream_rest(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    (void)request;
    if (server->phase != PHASE_READY || upstream_is_needed(server)) {
        upstream_finish_text(server, call, PATCHBAY_UNAVAILABLE, "the server is needed");
        return;
    }
    let_rest(server, "nobody needs the server, and others its place (limits.running_servers)");
    upstream_finish(server, call, PATCHBAY_RESULT, patchbay_str_of("{}"));
}

/* End the server if its time is up. Else tells when to look again. */
static uint64_t end_if_idle(mcp_server *server, uint64_t now)
{
    uint64_t due = server->active_ms + server->pace.idle_ms;
    if (upstream_is_needed(server)) {
        return now + server->pace.idle_ms;
    }
    if (now < due) {
        return due;
    }
    let_rest(server, "nobody needs the server");
    return 0;
}

/* ---- when to look -------------------------------------------------------------------------- */

static void look_later(mcp_server *server, uint64_t now)
{
    uint64_t due = earlier(server->pulse.due_ms, server->idle_due_ms);
    if (due != 0) {
        server->loop->timer_start(server->watch, due > now ? due - now : 0);
    }
}

static void on_watch(void *ctx)
{
    mcp_server *server = ctx;
    uint64_t now = server->loop->now_ms(server->host);
    uint32_t connection = server->connection;
    if (server->pulse.due_ms != 0 && now >= server->pulse.due_ms) {
        server->pulse.due_ms = now + server->pace.health_ms;
        feel(server);
    }
    if (server->connection == connection && server->idle_due_ms != 0 &&
        now >= server->idle_due_ms) {
        server->idle_due_ms = end_if_idle(server, now);
    }
    if (server->connection == connection) {
        look_later(server, now);
    }
}

int upstream_health_init(mcp_server *server)
{
    server->watch = server->loop->timer(server->host, on_watch, server);
    return server->watch != NULL;
}

void upstream_health_fini(mcp_server *server)
{
    server->loop->timer_free(server->watch);
    server->watch = NULL;
}

void upstream_health_begin(mcp_server *server)
{
    uint64_t now = server->loop->now_ms(server->host);
    memset(&server->pulse, 0, sizeof server->pulse);
    server->ready_ms = now;
    server->active_ms = now;
    server->pulse.due_ms = server->pace.health_ms != 0 ? now + server->pace.health_ms : 0;
    server->idle_due_ms = server->pace.idle_ms != 0 ? now + server->pace.idle_ms : 0;
    look_later(server, now);
}

void upstream_health_end(mcp_server *server)
{
    server->loop->timer_stop(server->watch);
    server->pulse.due_ms = 0;
    server->idle_due_ms = 0;
    server->has_tasks = 0;
}
