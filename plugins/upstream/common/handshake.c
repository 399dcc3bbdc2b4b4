/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which era does the server speak? MCP 2026-07-28 basic/transports/stdio, Backward Compatibility:
 * probe with server/discover; a DiscoverResult or a recognised modern error means modern; any other
 * answer, or silence, means legacy, and the initialize handshake follows. A configured revision
 * decides instead; a modern server may then do without server/discover.
 */
#include "upstream.h"

#define LEGACY_VERSION "2025-11-25"

static const char *const LEGACY_VERSIONS[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

enum { CODE_UNSUPPORTED_VERSION = -32022, CODE_MISSING_CAPABILITY = -32021 };

static const patchbay_str NOTHING = {.ptr = NULL, .len = 0};

static void use_version(mcp_server *server, const char *version)
{
    (void)snprintf(server->version, sizeof server->version, "%s", version);
}

/* ---- the two openings
 * ---------------------------------------------------------------------------- */

static void send_introduction(mcp_server *server, const char *name, const char *method)
{
    patchbay_peer peer = {.struct_size = sizeof peer, .version = patchbay_str_of(server->version)};
    (void)upstream_request(server, name, method, server->wire->introduce(server->host, &peer));
}

static int is_forced_modern(const mcp_server *server)
{
    return server->protocol != NULL && strcmp(server->protocol, UPSTREAM_MODERN_VERSION) == 0;
}

static void initialize(mcp_server *server)
{
    server->phase = PHASE_INITIALIZING;
    server->era = ERA_LEGACY;
    use_version(server, server->protocol != NULL ? server->protocol : LEGACY_VERSION);
    upstream_start_timer(server, server->started_ms + server->pace.startup_ms);
    send_introduction(server, "initialize", "initialize");
}

static void probe(mcp_server *server, uint64_t patience_ms)
{
    server->phase = PHASE_PROBING;
    server->era = ERA_UNKNOWN;
    use_version(server, UPSTREAM_MODERN_VERSION);
    upstream_start_timer(server, server->started_ms + patience_ms);
    send_introduction(server, "discover", "server/discover");
}

void upstream_handshake_begin(mcp_server *server)
{
    server->skipped_probe = server->skips_probe;
    server->skips_probe = 0;
    server->said_modern = 0;
    if (server->skipped_probe || server->era == ERA_LEGACY ||
        (server->protocol != NULL && !is_forced_modern(server))) {
        initialize(server);
        return;
    }
    uint64_t half = server->pace.startup_ms / 2; /* the rest is for what follows */
    uint64_t patience = half < UPSTREAM_PROBE_MS ? half : UPSTREAM_PROBE_MS;
    probe(server, patience);
}

void upstream_handshake_renew(mcp_server *server)
{
    initialize(server);
}

/* The server is modern, whatever it says of itself. */
static void begin_modern(mcp_server *server, patchbay_str capabilities)
{
    server->era = ERA_MODERN;
    server->client->expect_input_required(server->host, 1);
    upstream_lists_begin(server, capabilities);
}

/* The probe brought nothing. */
static void go_on_without(mcp_server *server)
{
    if (is_forced_modern(server) || server->said_modern) {
        begin_modern(server, NOTHING);
    } else {
        initialize(server);
    }
}

static void fail_late(mcp_server *server)
{
    char text[96];
    uint64_t ms = server->pace.startup_ms;
    int is_whole = ms % 1000 == 0;
    (void)snprintf(text, sizeof text, "was not ready within %llu %s (startup_timeout)",
                   (unsigned long long)(is_whole ? ms / 1000 : ms), is_whole ? "s" : "ms");
    upstream_fail(server, text);
}

void upstream_handshake_timeout(mcp_server *server)
{
    uint64_t now = server->loop->now_ms(server->host);
    int may_wait = now - server->started_ms < server->pace.startup_ms;
    int has_tools = server->phase == PHASE_LISTING && server->lists[PATCHBAY_TOOLS].request == 0;
    if (server->phase == PHASE_PROBING && may_wait) {
        go_on_without(server); /* silence is an answer */
    } else if (server->phase == PHASE_READY || has_tools) {
        upstream_lists_give_up(server);
    } else {
        fail_late(server);
    }
}

void upstream_become_ready(mcp_server *server)
{
    uint32_t connection = server->connection;
    server->loop->timer_stop(server->timer);
    server->phase = PHASE_READY;
    upstream_health_begin(server);
    server->catalog->set_state(server->host, PATCHBAY_STATE_READY, NOTHING);
    upstream_report(server);
    if (server->has_levels && server->level[0] != '\0') {
        char params[48];
        int len = snprintf(params, sizeof params, "{\"level\":%s}", server->level);
        (void)upstream_request(server, "level", "logging/setLevel",
                               patchbay_str_make(params, (size_t)len));
    }
    if (server->connection == connection) {
        upstream_calls_ready(server);
    }
}

/* ---- answers
 * ------------------------------------------------------------------------------------- */

static int lists_version(patchbay_str versions, const char *version)
{
    patchbay_json_iter it = patchbay_json_iterate(versions);
    patchbay_str key;
    patchbay_str value;
    while (patchbay_json_next(&it, &key, &value)) {
        if (patchbay_json_is(value, patchbay_str_of(version))) {
            return 1;
        }
    }
    return 0;
}

/* `says` is what it does speak, raw. */
static void refuse_version(mcp_server *server, patchbay_str says)
{
    char text[256];
    char words[128];
    upstream_quote_json(says, words, sizeof words);
    (void)snprintf(text, sizeof text, "speaks no protocol version that this hub speaks: it says %s",
                   words[0] != '\0' ? words : "nothing of that");
    upstream_fail(server, text);
}

/* The server is modern; go on if it speaks a revision that the hub speaks too. */
static void take_modern(mcp_server *server, patchbay_str versions, patchbay_str capabilities)
{
    if (lists_version(versions, UPSTREAM_MODERN_VERSION)) {
        begin_modern(server, capabilities);
    } else {
        refuse_version(server, versions);
    }
}

void upstream_take_discovery(mcp_server *server, const patchbay_message *message)
{
    int64_t code = 0;
    if (server->phase != PHASE_PROBING) {
        return; /* it came too late: the handshake is on its way */
    }
    if (message->kind == PATCHBAY_MSG_RESULT) {
        patchbay_str versions = patchbay_json_get(message->result, "supportedVersions");
        patchbay_str capabilities = patchbay_json_get(message->result, "capabilities");
        if (versions.len == 0 || versions.ptr[0] != '[') {
            go_on_without(server); /* no DiscoverResult: there are servers that say {} to all */
        } else {
            take_modern(server, versions,
                        capabilities.len > 0 ? capabilities : patchbay_str_of("{}"));
        }
        return;
    }
    (void)patchbay_json_int(patchbay_json_get(message->error, "code"), &code);
    if (code == CODE_UNSUPPORTED_VERSION) {
        take_modern(server,
                    patchbay_json_get(patchbay_json_get(message->error, "data"), "supported"),
                    NOTHING);
    } else if (code == CODE_MISSING_CAPABILITY) {
        upstream_fail(server, "demands a capability that this hub does not offer");
    } else {
        go_on_without(server);
    }
}

static void refuse_initialization(mcp_server *server, patchbay_str error)
{
    char text[UPSTREAM_REASON_BYTES];
    char words[UPSTREAM_QUOTE_BYTES];
    upstream_quote_error(error, words, sizeof words);
    (void)snprintf(text, sizeof text, "refused to initialize: %s",
                   words[0] != '\0' ? words : "it does not say why");
    upstream_fail(server, text);
}

/* A modern server that was so slow to start that it was taken for a legacy one. */
static int is_modern_refusal(const mcp_server *server, patchbay_str error)
{
    patchbay_str supported = patchbay_json_get(patchbay_json_get(error, "data"), "supported");
    int64_t code = 0;
    (void)patchbay_json_int(patchbay_json_get(error, "code"), &code);
    return code == CODE_UNSUPPORTED_VERSION && server->protocol == NULL && !server->said_modern &&
           lists_version(supported, UPSTREAM_MODERN_VERSION);
}

void upstream_take_initialization(mcp_server *server, const patchbay_message *message)
{
    if (server->phase != PHASE_INITIALIZING) {
        return;
    }
    if (message->kind == PATCHBAY_MSG_ERROR && is_modern_refusal(server, message->error)) {
        server->said_modern = 1;
        probe(server, server->pace.startup_ms);
        return;
    }
    if (message->kind == PATCHBAY_MSG_ERROR && server->skipped_probe) {
        server->skipped_probe = 0; /* it was not the probe that killed it */
        probe(server, server->pace.startup_ms);
        return;
    }
    if (message->kind == PATCHBAY_MSG_ERROR) {
        refuse_initialization(server, message->error);
        return;
    }
    patchbay_str version = patchbay_json_get(message->result, "protocolVersion");
    size_t count = sizeof LEGACY_VERSIONS / sizeof LEGACY_VERSIONS[0];
    size_t i = 0;
    while (i < count && !patchbay_json_is(version, patchbay_str_of(LEGACY_VERSIONS[i]))) {
        i++;
    }
    if (i == count) {
        refuse_version(server, version);
        return;
    }
    use_version(server, LEGACY_VERSIONS[i]);
    server->client->expect_input_required(server->host, 0);
    patchbay_str done =
        patchbay_str_of("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    upstream_outgoing notification = {
        .parts = &done,
        .part_count = 1,
        .kind = PATCHBAY_MSG_NOTIFICATION,
        .method = patchbay_str_of("notifications/initialized"),
    };
    upstream_send(server, &notification);
    if (server->phase == PHASE_INITIALIZING) { /* sending may have ended the connection */
        patchbay_str capabilities = patchbay_json_get(message->result, "capabilities");
        upstream_lists_begin(server, capabilities.len > 0 ? capabilities : patchbay_str_of("{}"));
    }
}
