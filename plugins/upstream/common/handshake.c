/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which era does the server speak? MCP 2026-07-28 basic/transports/stdio, Backward Compatibility:
 * probe with server/discover; a DiscoverResult or a recognised modern error means modern, unless all
 * that it lists of what the hub speaks has a handshake; that, any other answer, or silence, means
 * legacy, and the initialize handshake follows. A configured revision decides instead; a modern server
 * may then do without server/discover.
 *
 * Silence may also mean that the server is slow to start. So an answer that comes after all counts
 * until initialize is answered, and what was only guessed is asked again: at the next start, and
 * less often the more often there was silence. An answer that comes later still is remembered, and
 * acted upon when the lists are to be read again and nobody needs the connection.
 */
#include "upstream.h"

#define LEGACY_VERSION "2025-11-25"

static const char *const LEGACY_VERSIONS[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

enum { LEGACY_COUNT = sizeof LEGACY_VERSIONS / sizeof LEGACY_VERSIONS[0] };

enum { PROBE_DOUBLINGS = 6 };

enum {
    CODE_METHOD_NOT_FOUND = -32601,
    CODE_UNSUPPORTED_VERSION = -32022,
    CODE_MISSING_CAPABILITY = -32021,
};

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

/* Whether a server that was taken for legacy is asked again. */
static int may_ask_again(mcp_server *server)
{
    if (!server->is_guess || server->spared_probes > 0) {
        server->spared_probes -= server->is_guess ? 1 : 0;
        return 0;
    }
    return 1;
}

/* It did not say: 1, 2, 4 … starts later it is asked again. */
static void note_silence(mcp_server *server)
{
    server->is_guess = 1;
    server->silent_probes += server->silent_probes < PROBE_DOUBLINGS;
    server->spared_probes = (1u << (server->silent_probes - 1)) - 1;
}

static void note_answer(mcp_server *server)
{
    server->is_guess = 0;
    server->is_late_modern = 0;
    server->silent_probes = 0;
}

void upstream_handshake_begin(mcp_server *server)
{
    server->skipped_probe = server->skips_probe;
    server->skips_probe = 0;
    server->said_modern = 0;
    if (server->skipped_probe || (server->era == ERA_LEGACY && !may_ask_again(server)) ||
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

/* What it has said that the hub refuses may be why. */
static void fail_late(mcp_server *server)
{
    static const char *const ASKED[] = {[PHASE_PROBING] = ": no answer to server/discover",
                                        [PHASE_INITIALIZING] = ": no answer to initialize",
                                        [PHASE_LISTING] = ": no answer to tools/list"};
    size_t phase = (size_t)server->phase;
    const char *asked = phase < sizeof ASKED / sizeof *ASKED ? ASKED[phase] : NULL;
    char text[UPSTREAM_REASON_BYTES];
    char time[UPSTREAM_TIME_BYTES];
    char words[UPSTREAM_REASON_BYTES / 2] = "";
    upstream_write_time(server->pace.startup_ms, time);
    if (server->channel->quote != NULL) {
        server->channel->quote(server, words, sizeof words);
    }
    (void)snprintf(
        text, sizeof text,
        "was not ready within %s (its entry's `startup_timeout` sets the time)%s%s%s%s%s", time,
        asked != NULL ? asked : "",
        server->refusal[0] != '\0' ? "; a message of it cannot be used: " : "", server->refusal,
        words[0] != '\0' ? "; it said: " : "", words);
    upstream_fail(server, text);
}

void upstream_handshake_timeout(mcp_server *server)
{
    uint64_t now = server->loop->now_ms(server->host);
    int may_wait = now - server->started_ms < server->pace.startup_ms;
    int has_tools = server->phase == PHASE_LISTING && server->lists[PATCHBAY_TOOLS].request == 0;
    if (server->phase == PHASE_PROBING && may_wait) {
        note_silence(server); /* which is an answer */
        go_on_without(server);
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
    server->bad_catalogs = 0;
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

static int lists_legacy(patchbay_str versions)
{
    for (size_t i = 0; i < LEGACY_COUNT; i++) {
        if (lists_version(versions, LEGACY_VERSIONS[i])) {
            return 1;
        }
    }
    return 0;
}

/* The server lists what it speaks; go on if that has a revision that the hub speaks too. One that has
 * refused a handshake already is not asked for another. */
static void take_versions(mcp_server *server, patchbay_str versions, patchbay_str capabilities)
{
    if (lists_version(versions, UPSTREAM_MODERN_VERSION)) {
        begin_modern(server, capabilities);
    } else if (lists_legacy(versions) && !is_forced_modern(server) && !server->said_modern) {
        initialize(server);
    } else {
        refuse_version(server, versions);
    }
}

/* The revisions in the answer to server/discover, or the empty span. */
static patchbay_str versions_in(const patchbay_message *message)
{
    int64_t code = 0;
    if (message->kind == PATCHBAY_MSG_RESULT) {
        return patchbay_json_get(message->result, "supportedVersions");
    }
    (void)patchbay_json_int(patchbay_json_get(message->error, "code"), &code);
    return code == CODE_UNSUPPORTED_VERSION
               ? patchbay_json_get(patchbay_json_get(message->error, "data"), "supported")
               : NOTHING;
}

/* It was taken for silent. */
static void take_late_discovery(mcp_server *server, const patchbay_message *message)
{
    if (server->era != ERA_LEGACY || !server->is_guess) {
        return;
    }
    if (!lists_version(versions_in(message), UPSTREAM_MODERN_VERSION)) {
        note_answer(server); /* it was guessed right */
    } else if (server->phase == PHASE_INITIALIZING) {
        patchbay_str capabilities = patchbay_json_get(message->result, "capabilities");
        note_answer(server);
        upstream_tell_about(server, message->result);
        use_version(server, UPSTREAM_MODERN_VERSION);
        begin_modern(server, capabilities.len > 0                   ? capabilities
                             : message->kind == PATCHBAY_MSG_RESULT ? patchbay_str_of("{}")
                                                                    : NOTHING);
    } else if (server->phase == PHASE_LISTING || server->phase == PHASE_READY) {
        server->is_late_modern = 1;
        server->spared_probes = 0;
        upstream_log(server, PATCHBAY_LOG_INFO,
                     "the server speaks " UPSTREAM_MODERN_VERSION
                     ", but has said so too late: that is used when nobody needs the connection");
    }
}

static void ask_again(mcp_server *server)
{
    upstream_disconnect(server, "the server is asked again what it speaks", CAUSE_NONE);
    upstream_connect(server);
}

void upstream_handshake_mend(mcp_server *server)
{
    if (server->phase == PHASE_READY && server->is_late_modern && !upstream_is_needed(server)) {
        ask_again(server);
    }
}

void upstream_handshake_doubt(mcp_server *server)
{
    if (server->doubted_era != server->era) {
        server->doubted_era = server->era;
        server->vain_doubts = 0;
        server->doubtful_calls = 0;
    }
    server->doubtful_calls++;
    if (server->phase == PHASE_READY && server->protocol == NULL && !upstream_is_at_work(server) &&
        server->doubtful_calls >= 1u << server->vain_doubts) {
        server->vain_doubts += server->vain_doubts < PROBE_DOUBLINGS;
        server->doubtful_calls = 0;
        ask_again(server);
    }
}

void upstream_take_discovery(mcp_server *server, const patchbay_message *message)
{
    int64_t code = 0;
    if (server->phase != PHASE_PROBING) {
        take_late_discovery(server, message);
        return;
    }
    note_answer(server);
    if (message->kind == PATCHBAY_MSG_RESULT) {
        patchbay_str versions = patchbay_json_get(message->result, "supportedVersions");
        patchbay_str capabilities = patchbay_json_get(message->result, "capabilities");
        if (versions.len == 0 || versions.ptr[0] != '[') {
            go_on_without(server); /* no DiscoverResult: there are servers that say {} to all */
        } else {
            upstream_tell_about(server, message->result);
            take_versions(server, versions,
                          capabilities.len > 0 ? capabilities : patchbay_str_of("{}"));
        }
        return;
    }
    (void)patchbay_json_int(patchbay_json_get(message->error, "code"), &code);
    if (code == CODE_UNSUPPORTED_VERSION) {
        take_versions(server,
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

/* One that was silent, and knows no initialize: it is modern, and still has to say so. */
static int is_unknown_method(const mcp_server *server, patchbay_str error)
{
    int64_t code = 0;
    (void)patchbay_json_int(patchbay_json_get(error, "code"), &code);
    return code == CODE_METHOD_NOT_FOUND && server->is_guess && server->protocol == NULL;
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
    if (message->kind == PATCHBAY_MSG_ERROR && is_unknown_method(server, message->error)) {
        probe(server, server->pace.startup_ms); /* over HTTP the late answer may come second */
        return;
    }
    if (message->kind == PATCHBAY_MSG_ERROR) {
        refuse_initialization(server, message->error);
        return;
    }
    patchbay_str version = patchbay_json_get(message->result, "protocolVersion");
    size_t i = 0;
    while (i < LEGACY_COUNT && !patchbay_json_is(version, patchbay_str_of(LEGACY_VERSIONS[i]))) {
        i++;
    }
    if (patchbay_json_is(version, patchbay_str_of(UPSTREAM_MODERN_VERSION))) {
        upstream_fail(server,
                      "answered `initialize` with " UPSTREAM_MODERN_VERSION ", which has none");
        return;
    }
    if (i == LEGACY_COUNT) {
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
        upstream_tell_about(server, message->result);
        upstream_lists_begin(server, capabilities.len > 0 ? capabilities : patchbay_str_of("{}"));
    }
}
