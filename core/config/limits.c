/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest's `limits`: defaults, keys and bounds. */
#include "config/reader.h"

#include "base/bucket.h"
#include "base/limits.h"

enum {
    DEFAULT_WORKERS = 4,
    LEAST_BYTES = 1024, /* of a message: an error answer has to fit */
    MOST_BYTES = 1024 * 1024 * 1024,
    MOST_CONNECTIONS = 1000000, /* more than a process has descriptors for */
    MOST_SESSIONS = 1000000,
    MOST_SESSION_INSTANCES = 100000,
    MOST_REPLAY_EVENTS = 100000,
    LEAST_DEADLINE_MS = 100, /* deadlines of connections are looked at every quarter of a second */
};

#define READER(member) offsetof(hub_config_reader, member)

hub_limits hub_config_default_limits(void)
{
    return (hub_limits){
        .client_message_bytes = HUB_LIMIT_CLIENT_MESSAGE_BYTES,
        .upstream_message_bytes = HUB_LIMIT_UPSTREAM_MESSAGE_BYTES,
        .client_queue_bytes = HUB_LIMIT_CLIENT_QUEUE_BYTES,
        .call_timeout_ms = HUB_LIMIT_CALL_MS,
        .call_ceiling_ms = HUB_LIMIT_CALL_CEILING_MS,
        .discover_timeout_ms = HUB_LIMIT_DISCOVER_MS,
        .straggler_ms = HUB_LIMIT_STRAGGLER_MS,
        .catalog_ttl_ms = HUB_LIMIT_CATALOG_TTL_MS,
        .ask_timeout_ms = HUB_LIMIT_ASK_MS,
        .ask_gather_ms = HUB_LIMIT_ASK_GATHER_MS,
        .drain_ms = HUB_LIMIT_DRAIN_MS,
        .calls_per_session = HUB_LIMIT_CALLS_PER_SESSION,
        .session_instances = HUB_LIMIT_SESSION_INSTANCES,
        .calls_per_principal = HUB_LIMIT_CALLS_PER_PRINCIPAL,
        .list_page = HUB_LIMIT_LIST_PAGE,
        .worker_threads = DEFAULT_WORKERS,
        .net =
            {
                .connections = HUB_LIMIT_CONNECTIONS,
                .connections_per_address = HUB_LIMIT_CONNECTIONS_PER_ADDRESS,
                .header_ms = HUB_LIMIT_HEADER_MS,
                .body_ms = HUB_LIMIT_BODY_MS,
                .idle_ms = HUB_LIMIT_IDLE_MS,
                .stall_ms = HUB_LIMIT_STALL_MS,
                .sse_comment_ms = HUB_LIMIT_SSE_COMMENT_MS,
                .ping_ms = HUB_LIMIT_PING_MS,
                .pong_ms = HUB_LIMIT_PONG_MS,
                .session_idle_ms = HUB_LIMIT_SESSION_IDLE_MS,
                .sessions = HUB_LIMIT_SESSIONS,
                .sessions_per_principal = HUB_LIMIT_SESSIONS_PER_PRINCIPAL,
                .replay_bytes = HUB_LIMIT_REPLAY_BYTES,
                .replay_events = HUB_LIMIT_REPLAY_EVENTS,
            },
    };
}

/* The two times are held against each other when all files are read. */
static hub_err read_call_limit(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    reader->call_limit_node = node;
    return hub_config_read_duration(reader, node, key, target);
}

/* limits: bytes take 4MiB, times take 30s. */
const hub_config_key HUB_CONFIG_LIMIT_KEYS[] = {
    /* One message from a client. Default: 4MiB. */
    {.name = "client_message",
     .read = hub_config_read_size,
     .offset = READER(config.settings.limits.client_message_bytes),
     .least = LEAST_BYTES,
     .most = MOST_BYTES},
    /* One message from a server. Default: 16MiB. */
    {.name = "upstream_message",
     .read = hub_config_read_size,
     .offset = READER(config.settings.limits.upstream_message_bytes),
     .least = LEAST_BYTES,
     .most = MOST_BYTES},
    /* What may wait for a client that does not read. Default: 32MiB. */
    {.name = "client_queue",
     .read = hub_config_read_size,
     .offset = READER(config.settings.limits.client_queue_bytes),
     .least = LEAST_BYTES,
     .most = MOST_BYTES},
    /* A call without progress. Default: 1m. */
    {.name = "call_timeout",
     .read = read_call_limit,
     .offset = READER(config.settings.limits.call_timeout_ms),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS},
    /* A call, whatever progress it reports. Default: 10m. */
    {.name = "call_ceiling",
     .read = read_call_limit,
     .offset = READER(config.settings.limits.call_ceiling_ms),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS},
    /* How long a list waits for servers that are not connected yet. Default: 5s. */
    {.name = "discover_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.discover_timeout_ms),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS},
    /* The least that the last few of many servers get of that, when the others have answered: then
     * a list goes without them. Default: 300ms. 0: they are waited for like any other. */
    {.name = "straggler_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.straggler_ms),
     .most = HUB_CONFIG_MOST_MS},
    /* How long a client that is asked something in mid-call may take. Default: 10m. */
    {.name = "ask_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.ask_timeout_ms),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS},
    /* How long calls in flight may go on when the hub is told to stop. Default: 10s. 0: they end at
     * once. */
    {.name = "drain_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.drain_ms),
     .most = HUB_CONFIG_MOST_MS},
    /* Calls in flight of one client. Default: 256. */
    {.name = "calls_per_session",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.calls_per_session),
     .least = 1,
     .most = HUB_LIMIT_CALLS},
    /* The same of all clients of one principal: a token, or everybody when there are none. 0: any
     * number. Default: 4096. */
    {.name = "calls_per_principal",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.calls_per_principal),
     .most = HUB_LIMIT_CALLS},
    /* Requests of one client per second, in the long run. Default: 0, any number. */
    {.name = "calls_per_second",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.calls_per_second),
     .most = HUB_BUCKET_MOST},
    /* … and at once. Default: 0, as many as per second. */
    {.name = "calls_burst",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.calls_burst),
     .most = HUB_BUCKET_MOST},
    /* The same of all clients of one principal. */
    {.name = "calls_per_second_per_principal",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.calls_per_second_per_principal),
     .most = HUB_BUCKET_MOST},
    {.name = "calls_burst_per_principal",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.calls_burst_per_principal),
     .most = HUB_BUCKET_MOST},
    /* Sessions that one toolset with `sharing: session` serves by an instance of their own, which
     * may be a process each. Default: 64. */
    {.name = "session_instances",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.session_instances),
     .least = 1,
     .most = MOST_SESSION_INSTANCES},
    /* Threads that run native tools. Default: 4. */
    {.name = "worker_threads",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.worker_threads),
     .least = 1,
     .most = HUB_LIMIT_WORKER_THREADS},
    /* Connections of all listeners. Default: 12000. */
    {.name = "connections",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.net.connections),
     .least = 1,
     .most = MOST_CONNECTIONS},
    /* Connections of one peer address; Unix sockets do not count. Default: 256. */
    {.name = "connections_per_address",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.net.connections_per_address),
     .least = 1,
     .most = MOST_CONNECTIONS},
    /* From the first byte of a request to its last header. Default: 10s. */
    {.name = "header_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.header_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* From there to the end of its body. Default: 30s. */
    {.name = "body_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.body_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* A kept connection without a request. Default: 1m. */
    {.name = "idle_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.idle_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* Bytes wait, and the peer takes none. Default: 30s. */
    {.name = "stall_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.stall_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* Between comments on a silent event stream. Default: 15s. */
    {.name = "sse_comment",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.sse_comment_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* Between pings over WebSocket. Default: 30s. */
    {.name = "ping_interval",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.ping_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* How long the answer to a ping may take. Default: 10s. */
    {.name = "pong_timeout",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.pong_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* A session of HTTP without a connection or a request. Default: 30m. */
    {.name = "session_idle",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.net.session_idle_ms),
     .least = LEAST_DEADLINE_MS,
     .most = HUB_CONFIG_MOST_MS},
    /* Sessions of HTTP in all. Default: 10000. */
    {.name = "sessions",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.net.sessions),
     .least = 1,
     .most = MOST_SESSIONS},
    /* Of one principal: a token, or everybody when there are none. Default: 1000. */
    {.name = "sessions_per_principal",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.net.sessions_per_principal),
     .least = 1,
     .most = MOST_SESSIONS},
    /* What is kept of one session for clients that come back. Default: 1MiB. */
    {.name = "replay_bytes",
     .read = hub_config_read_size,
     .offset = READER(config.settings.limits.net.replay_bytes),
     .least = LEAST_BYTES,
     .most = MOST_BYTES},
    /* How many events of it. Default: 256. */
    {.name = "replay_events",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.net.replay_events),
     .least = 1,
     .most = MOST_REPLAY_EVENTS},
    {.name = NULL},
};
