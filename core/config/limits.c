/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest's `limits`: bytes take 4MiB, times take 30s. */
#include "config/reader.h"

#include "base/bucket.h"
#include "base/limits.h"
#include "wire/json.h"

enum {
    DEFAULT_WORKERS = 4,
    MOST_CONNECTIONS = 1000000, /* more than a process has descriptors for */
    MOST_SESSIONS = 1000000,
    MOST_SERVERS = 100000,
    MOST_SESSION_INSTANCES = 100000,
    MOST_PRINCIPAL_INSTANCES = HUB_LIMIT_LOGINS, /* a login each */
    MOST_REPLAY_EVENTS = 100000,
    LEAST_DEADLINE_MS = 100, /* deadlines of connections are looked at every quarter of a second */
};

/* The two times are held against each other when all files are read. */
static hub_err read_call_limit(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    reader->call_limit_node = node;
    return hub_config_read_duration(reader, node, key, target);
}

#define LIMIT(member) .offset = offsetof(hub_config_reader, config.settings.limits.member)

/* The bounds that most rows share. */
#define BYTES                                                                                      \
    .kind = HUB_CONFIG_SIZE, .least = HUB_CONFIG_LEAST_BYTES, .most = HUB_CONFIG_MOST_BYTES
#define TIME            .kind = HUB_CONFIG_DURATION, .least = 1, .most = HUB_CONFIG_MOST_MS
#define TIME_OR_NONE    .kind = HUB_CONFIG_DURATION, .most = HUB_CONFIG_MOST_MS
#define DEADLINE        .kind = HUB_CONFIG_DURATION, .least = LEAST_DEADLINE_MS, .most = HUB_CONFIG_MOST_MS
#define COUNT_TO(limit) .kind = HUB_CONFIG_COUNT, .least = 1, .most = (limit)
#define ANY_TO(limit)   .kind = HUB_CONFIG_COUNT, .most = (limit)

const hub_config_key HUB_CONFIG_LIMIT_KEYS[] = {
    {.name = "client_message",
     BYTES,
     LIMIT(client_message_bytes),
     .fallback = HUB_LIMIT_CLIENT_MESSAGE_BYTES,
     .about = "One message from a client."},
    {.name = "upstream_message",
     BYTES,
     LIMIT(upstream_message_bytes),
     .fallback = HUB_LIMIT_UPSTREAM_MESSAGE_BYTES,
     .about = "One message from a server."},
    {.name = "client_queue",
     BYTES,
     LIMIT(client_queue_bytes),
     .fallback = HUB_LIMIT_CLIENT_QUEUE_BYTES,
     .about = "Output that waits for a client that does not read."},
    {.name = "client_memory",
     BYTES,
     LIMIT(client_memory_bytes),
     .fallback = HUB_LIMIT_CLIENT_MEMORY_BYTES,
     .about = "Memory that is kept for all clients together."},
    {.name = "call_timeout",
     TIME,
     .read = read_call_limit,
     LIMIT(call_timeout_ms),
     .fallback = HUB_LIMIT_CALL_MS,
     .about = "A call without progress."},
    {.name = "call_ceiling",
     TIME,
     .read = read_call_limit,
     LIMIT(call_ceiling_ms),
     .fallback = HUB_LIMIT_CALL_CEILING_MS,
     .about = "A call, whatever progress it reports; not shorter than call_timeout."},
    {.name = "discover_timeout",
     TIME,
     LIMIT(discover_timeout_ms),
     .fallback = HUB_LIMIT_DISCOVER_MS,
     .about = "How long a list waits for servers that are not connected yet."},
    {.name = "straggler_timeout",
     TIME_OR_NONE,
     LIMIT(straggler_ms),
     .fallback = HUB_LIMIT_STRAGGLER_MS,
     .about = "The least that the last few of many servers get of discover_timeout once the "
              "others have answered. 0s: they are waited for like any other."},
    {.name = "ask_timeout",
     TIME,
     LIMIT(ask_timeout_ms),
     .fallback = HUB_LIMIT_ASK_MS,
     .about = "How long a client may take that is asked something in the middle of a call."},
    {.name = "drain_timeout",
     TIME_OR_NONE,
     LIMIT(drain_ms),
     .fallback = HUB_LIMIT_DRAIN_MS,
     .about = "How long calls in flight may go on when the hub is told to stop; it exits at most "
              "5s after that. 0s: they end at once."},
    {.name = "calls_per_session",
     COUNT_TO(HUB_LIMIT_CALLS),
     LIMIT(calls_per_session),
     .fallback = HUB_LIMIT_CALLS_PER_SESSION,
     .about = "Calls in flight of one client."},
    {.name = "calls_per_principal",
     ANY_TO(HUB_LIMIT_CALLS),
     LIMIT(calls_per_principal),
     .fallback = HUB_LIMIT_CALLS_PER_PRINCIPAL,
     .about = "Calls in flight of all clients of one principal: a token, or everybody when there "
              "are none. 0: any number, so that one principal can have all that there may be."},
    {.name = "calls_per_second",
     ANY_TO(HUB_BUCKET_MOST),
     LIMIT(calls_per_second),
     .about = "Requests of one client per second, in the long run. 0: any number."},
    {.name = "calls_burst",
     ANY_TO(HUB_BUCKET_MOST),
     LIMIT(calls_burst),
     .about = "Requests of one client at once, if calls_per_second is set. 0: as many as per "
              "second."},
    {.name = "calls_per_second_per_principal",
     ANY_TO(HUB_BUCKET_MOST),
     LIMIT(calls_per_second_per_principal),
     .about = "Requests of all clients of one principal per second, in the long run. 0: any "
              "number."},
    {.name = "calls_burst_per_principal",
     ANY_TO(HUB_BUCKET_MOST),
     LIMIT(calls_burst_per_principal),
     .about = "The same at once, if calls_per_second_per_principal is set. 0: as many as per "
              "second."},
    {.name = "session_instances",
     COUNT_TO(MOST_SESSION_INSTANCES),
     LIMIT(session_instances),
     .fallback = HUB_LIMIT_SESSION_INSTANCES,
     .about =
         "Sessions of one client that a toolset with sharing: session serves by an instance of "
         "their own, which may be a process each; of all, up to twice as many."},
    {.name = "principal_instances",
     COUNT_TO(MOST_PRINCIPAL_INSTANCES),
     LIMIT(principal_instances),
     .fallback = HUB_LIMIT_PRINCIPAL_INSTANCES,
     .about = "Principals that one toolset with credentials: principal serves, by a connection of "
              "their own each. One that has no session makes room."},
    {.name = "principal_idle",
     TIME,
     LIMIT(principal_idle_ms),
     .fallback = HUB_LIMIT_PRINCIPAL_IDLE_MS,
     .about = "How long such a connection outlives its principal's last session or request."},
    {.name = "running_servers",
     ANY_TO(MOST_SERVERS),
     LIMIT(running_servers),
     .about =
         "Servers that run at once, those of isolated plugins among them; 0: any number. Before "
         "one more is started, those that are idle are stopped, the one that was used least "
         "recently first; if none is, the start fails, and is tried again."},
    {.name = "worker_threads",
     COUNT_TO(HUB_LIMIT_WORKER_THREADS),
     LIMIT(worker_threads),
     .fallback = DEFAULT_WORKERS,
     .about = "Threads that run native tools; and one more for the others, while one toolset has "
              "all of them."},
    {.name = "connections",
     COUNT_TO(MOST_CONNECTIONS),
     LIMIT(net.connections),
     .fallback = HUB_LIMIT_CONNECTIONS,
     .about =
         "Connections of all listeners on the network; and those of one user of a Unix socket, "
         "of all its users up to twice as many, and of one at most half of the descriptors."},
    {.name = "connections_per_address",
     COUNT_TO(MOST_CONNECTIONS),
     LIMIT(net.connections_per_address),
     .fallback = HUB_LIMIT_CONNECTIONS_PER_ADDRESS,
     .about = "Connections of one peer address; Unix sockets do not count."},
    {.name = "header_timeout",
     DEADLINE,
     LIMIT(net.header_ms),
     .fallback = HUB_LIMIT_HEADER_MS,
     .about = "From the first byte of a request to its last header."},
    {.name = "body_timeout",
     DEADLINE,
     LIMIT(net.body_ms),
     .fallback = HUB_LIMIT_BODY_MS,
     .about = "From the last header to the end of the body."},
    {.name = "idle_timeout",
     DEADLINE,
     LIMIT(net.idle_ms),
     .fallback = HUB_LIMIT_IDLE_MS,
     .about = "A kept connection without a request."},
    {.name = "stall_timeout",
     DEADLINE,
     LIMIT(net.stall_ms),
     .fallback = HUB_LIMIT_STALL_MS,
     .about = "Bytes wait, and the peer takes none."},
    {.name = "sse_comment",
     DEADLINE,
     LIMIT(net.sse_comment_ms),
     .fallback = HUB_LIMIT_SSE_COMMENT_MS,
     .about = "Between comments on a silent event stream."},
    {.name = "ping_interval",
     DEADLINE,
     LIMIT(net.ping_ms),
     .fallback = HUB_LIMIT_PING_MS,
     .about = "Between pings over WebSocket."},
    {.name = "pong_timeout",
     DEADLINE,
     LIMIT(net.pong_ms),
     .fallback = HUB_LIMIT_PONG_MS,
     .about = "How long the answer to a ping may take."},
    {.name = "session_idle",
     DEADLINE,
     LIMIT(net.session_idle_ms),
     .fallback = HUB_LIMIT_SESSION_IDLE_MS,
     .about = "A session over HTTP without a connection or a request."},
    {.name = "sessions",
     COUNT_TO(MOST_SESSIONS),
     LIMIT(net.sessions),
     .fallback = HUB_LIMIT_SESSIONS,
     .about = "Sessions over HTTP in all."},
    {.name = "sessions_per_principal",
     COUNT_TO(MOST_SESSIONS),
     LIMIT(net.sessions_per_principal),
     .fallback = HUB_LIMIT_SESSIONS_PER_PRINCIPAL,
     .about = "Sessions of one principal: a token's name, or everybody when there are no tokens."},
    {.name = "replay_bytes",
     BYTES,
     LIMIT(net.replay_bytes),
     .fallback = HUB_LIMIT_REPLAY_BYTES,
     .about = "Messages of one session that are kept for clients that come "
              "back."},
    {.name = "replay_events",
     COUNT_TO(MOST_REPLAY_EVENTS),
     LIMIT(net.replay_events),
     .fallback = HUB_LIMIT_REPLAY_EVENTS,
     .about = "How many events of a session are kept."},
    {.name = NULL},
};

void hub_config_add_limits(const hub_limits *limits, hub_buf *out)
{
    hub_buf text;
    hub_buf_init(&text, 64);
    for (const hub_config_key *at = HUB_CONFIG_LIMIT_KEYS; at->name != NULL; at++) {
        size_t offset = at->offset - offsetof(hub_config_reader, config.settings.limits);
        uint32_t value = *(const uint32_t *)(const void *)((const char *)limits + offset);
        hub_json_add_comma(out);
        hub_buf_add_char(out, '{');
        hub_json_add_member(out, "name", hub_str_of(at->name));
        hub_buf_clear(&text);
        hub_config_add_number(&text, at->kind, value);
        hub_json_add_member(out, "value", hub_buf_str(&text));
        hub_buf_clear(&text);
        hub_config_add_number(&text, at->kind, at->fallback);
        hub_json_add_member(out, "default", hub_buf_str(&text));
        hub_json_add_member(out, "about", hub_str_of(at->about));
        hub_buf_add_char(out, '}');
    }
    hub_buf_fini(&text);
}
