/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which era does the server speak, and what does it offer? MCP 2026-07-28 basic/transports/stdio,
 * Backward Compatibility: probe with server/discover; a result or a recognised modern error means
 * modern; any other error, or silence, means legacy, and the initialize handshake follows.
 */
#include "upstream.h"

#define MODERN_VERSION "2026-07-28"
#define LEGACY_VERSION "2025-11-25"

static const char *const LEGACY_VERSIONS[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

enum { CODE_UNSUPPORTED_VERSION = -32022, CODE_MISSING_CAPABILITY = -32021 };

static void fail(mcp_server *server, const char *what)
{
    char reason[256];
    (void)snprintf(reason, sizeof reason, "server \"%s\" %s", server->config.argv[0], what);
    upstream_disconnect(server, reason, 1);
}

static patchbay_peer peer_of(const mcp_server *server)
{
    patchbay_peer peer = {.struct_size = sizeof peer, .version = patchbay_str_of(server->version)};
    return peer;
}

/* Send a request of our own: `id` is the text of its id, `params` a JSON object. */
static void request(mcp_server *server, const char *id, const char *method, patchbay_str params)
{
    patchbay_str parts[] = {
        patchbay_str_of("{\"jsonrpc\":\"2.0\",\"id\":\""),
        patchbay_str_of(id),
        patchbay_str_of("\",\"method\":\""),
        patchbay_str_of(method),
        patchbay_str_of("\",\"params\":"),
        params,
        patchbay_str_of("}"),
    };
    upstream_send(server, parts, sizeof parts / sizeof parts[0]);
}

static void use_version(mcp_server *server, const char *version)
{
    (void)snprintf(server->version, sizeof server->version, "%s", version);
}

/* ---- the two openings
 * ---------------------------------------------------------------------------- */

static void send_introduction(mcp_server *server, const char *id, const char *method)
{
    patchbay_peer peer = peer_of(server);
    request(server, id, method, server->wire->introduce(server->host, &peer));
}

static void initialize(mcp_server *server)
{
    server->phase = PHASE_INITIALIZING;
    server->era = ERA_LEGACY;
    use_version(server, LEGACY_VERSION);
    upstream_start_timer(server, server->started_ms + server->config.startup_ms);
    send_introduction(server, "initialize", "initialize");
}

void upstream_handshake_begin(mcp_server *server)
{
    if (server->era == ERA_LEGACY) {
        initialize(server);
        return;
    }
    uint64_t patience = server->config.startup_ms < UPSTREAM_PROBE_MS ? server->config.startup_ms
                                                                      : UPSTREAM_PROBE_MS;
    server->phase = PHASE_PROBING;
    use_version(server, MODERN_VERSION);
    upstream_start_timer(server, server->started_ms + patience);
    send_introduction(server, "discover", "server/discover");
}

void upstream_handshake_timeout(mcp_server *server)
{
    uint64_t now = server->loop->now_ms(server->host);
    if (server->phase == PHASE_PROBING && now - server->started_ms < server->config.startup_ms) {
        initialize(server); /* silence is an answer: it is a legacy server */
    } else {
        fail(server, "was not ready in time");
    }
}

/* ---- the catalog
 * ----------------------------------------------------------------------------------- */

/* Ask for the page at `cursor` (raw JSON string, or empty for the first). */
static void request_page(mcp_server *server, patchbay_str cursor)
{
    patchbay_out params = {0};
    patchbay_peer peer = peer_of(server);
    patchbay_out_text(&params, "{");
    if (cursor.len > 0) {
        patchbay_out_key(&params, "cursor");
        patchbay_out_raw(&params, cursor);
    }
    if (server->era == ERA_MODERN) {
        patchbay_out_key(&params, "_meta");
        patchbay_out_raw(&params,
                         patchbay_json_get(server->wire->introduce(server->host, &peer), "_meta"));
    }
    patchbay_out_text(&params, "}");
    if (params.failed) {
        fail(server, "cannot be asked: out of memory");
    } else {
        request(server, "tools", "tools/list", patchbay_str_make(params.ptr, params.len));
    }
    patchbay_out_free(&params);
}

void upstream_list_tools(mcp_server *server)
{
    if (server->listing) {
        server->list_again = 1;
        return;
    }
    server->listing = 1;
    server->list_again = 0;
    server->pages = 0;
    patchbay_out_free(&server->tools);
    patchbay_out_text(&server->tools, "[");
    free(server->cursor);
    server->cursor = NULL;
    request_page(server, patchbay_str_make(NULL, 0));
}

static void become_ready(mcp_server *server)
{
    server->loop->timer_stop(server->timer);
    server->phase = PHASE_READY;
    server->catalog->set_state(server->host, PATCHBAY_STATE_READY, patchbay_str_make(NULL, 0));
    if (server->era == ERA_MODERN) { /* a legacy server tells of changes unasked */
        patchbay_peer peer = peer_of(server);
        patchbay_out params = {0};
        patchbay_out_text(&params, "{\"notifications\":{\"toolsListChanged\":true},\"_meta\":");
        patchbay_out_raw(&params,
                         patchbay_json_get(server->wire->introduce(server->host, &peer), "_meta"));
        patchbay_out_text(&params, "}");
        if (!params.failed) {
            request(server, "listen", "subscriptions/listen",
                    patchbay_str_make(params.ptr, params.len));
        }
        patchbay_out_free(&params);
    }
    upstream_ready(server);
}

static void finish_list(mcp_server *server)
{
    server->listing = 0;
    patchbay_out_text(&server->tools, "]");
    if (server->tools.failed ||
        server->api->set_tools(
            server->host, patchbay_str_make(server->tools.ptr, server->tools.len)) != PATCHBAY_OK) {
        patchbay_str text = patchbay_str_of("the server's list of tools was refused");
        server->api->log(server->host, PATCHBAY_LOG_WARNING, text);
    }
    patchbay_out_free(&server->tools);
    if (server->phase == PHASE_LISTING) {
        become_ready(server);
    }
    if (server->list_again && server->phase == PHASE_READY) {
        upstream_list_tools(server);
    }
}

/* The list cannot be read: keep the last good one, or have none if there never was one. */
static void give_up_list(mcp_server *server, const char *why)
{
    server->api->log(server->host, PATCHBAY_LOG_WARNING, patchbay_str_of(why));
    patchbay_out_free(&server->tools);
    server->listing = 0;
    if (server->phase == PHASE_LISTING) {
        patchbay_out_text(&server->tools, "[");
        finish_list(server);
    }
}

/* Append the elements of a page, as they are. */
static void add_page(mcp_server *server, patchbay_str tools)
{
    patchbay_json_iter it = patchbay_json_iterate(tools);
    patchbay_str key;
    patchbay_str tool;
    while (patchbay_json_next(&it, &key, &tool)) {
        patchbay_out_text(&server->tools, server->tools.len > 1 ? "," : "");
        patchbay_out_raw(&server->tools, tool);
    }
}

/* Whether the list goes on at `cursor`. A server that pages for ever is cut off with what it gave.
 */
static int goes_on(mcp_server *server, patchbay_str cursor)
{
    if (cursor.len < 2 || cursor.ptr[0] != '"') {
        return 0;
    }
    int repeats =
        server->cursor != NULL && patchbay_str_eq(cursor, patchbay_str_of(server->cursor));
    if (repeats || ++server->pages >= UPSTREAM_PAGES ||
        server->tools.len > UPSTREAM_CATALOG_BYTES) {
        server->api->log(
            server->host, PATCHBAY_LOG_WARNING,
            patchbay_str_of("the server's list of tools does not end; it was cut off"));
        return 0;
    }
    free(server->cursor);
    server->cursor = malloc(cursor.len + 1);
    if (server->cursor == NULL) {
        return 0;
    }
    memcpy(server->cursor, cursor.ptr, cursor.len);
    server->cursor[cursor.len] = '\0';
    return 1;
}

static void take_page(mcp_server *server, const patchbay_message *message)
{
    if (!server->listing) {
        return;
    }
    patchbay_str tools = patchbay_json_get(message->result, "tools");
    patchbay_str cursor = patchbay_json_get(message->result, "nextCursor");
    if (message->kind == PATCHBAY_MSG_ERROR || tools.len == 0 || tools.ptr[0] != '[') {
        give_up_list(server, message->kind == PATCHBAY_MSG_ERROR
                                 ? "the server refuses to list its tools"
                                 : "the server's list of tools is not an array");
        return;
    }
    add_page(server, tools);
    if (goes_on(server, cursor)) {
        request_page(server, cursor);
    } else {
        finish_list(server);
    }
}

/* ---- answers to our requests
 * ------------------------------------------------------------------------ */

static void begin_listing(mcp_server *server)
{
    server->phase = PHASE_LISTING;
    upstream_start_timer(server, server->started_ms + server->config.startup_ms);
    upstream_list_tools(server);
}

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

/* The server is modern; go on if it speaks a revision that the hub speaks too. */
static void take_modern(mcp_server *server, patchbay_str versions)
{
    if (!lists_version(versions, MODERN_VERSION)) {
        fail(server, "speaks no protocol version that this hub speaks");
        return;
    }
    server->era = ERA_MODERN;
    begin_listing(server);
}

static void take_discovery(mcp_server *server, const patchbay_message *message)
{
    int64_t code = 0;
    if (server->phase != PHASE_PROBING) {
        return; /* it came too late: the handshake is on its way */
    }
    if (message->kind == PATCHBAY_MSG_RESULT) {
        take_modern(server, patchbay_json_get(message->result, "supportedVersions"));
        return;
    }
    (void)patchbay_json_int(patchbay_json_get(message->error, "code"), &code);
    if (code == CODE_UNSUPPORTED_VERSION) {
        take_modern(server,
                    patchbay_json_get(patchbay_json_get(message->error, "data"), "supported"));
    } else if (code == CODE_MISSING_CAPABILITY) {
        fail(server, "demands a capability that this hub does not offer");
    } else {
        initialize(server);
    }
}

static void take_initialization(mcp_server *server, const patchbay_message *message)
{
    if (server->phase != PHASE_INITIALIZING) {
        return;
    }
    if (message->kind == PATCHBAY_MSG_ERROR) {
        fail(server, "refused to initialize");
        return;
    }
    patchbay_str version = patchbay_json_get(message->result, "protocolVersion");
    size_t count = sizeof LEGACY_VERSIONS / sizeof LEGACY_VERSIONS[0];
    size_t i = 0;
    while (i < count && !patchbay_json_is(version, patchbay_str_of(LEGACY_VERSIONS[i]))) {
        i++;
    }
    if (i == count) {
        fail(server, "speaks no protocol version that this hub speaks");
        return;
    }
    use_version(server, LEGACY_VERSIONS[i]);
    patchbay_str done =
        patchbay_str_of("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    upstream_send(server, &done, 1);
    if (server->phase == PHASE_INITIALIZING) { /* sending may have ended the connection */
        begin_listing(server);
    }
}

void upstream_handshake_answer(mcp_server *server, const patchbay_message *message)
{
    static const struct {
        const char *id;
        void (*take)(mcp_server *server, const patchbay_message *message);
    } ANSWERS[] = {
        {"tools", take_page},
        {"discover", take_discovery},
        {"initialize", take_initialization},
    };
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++) {
        if (patchbay_json_is(message->id, patchbay_str_of(ANSWERS[i].id))) {
            ANSWERS[i].take(server, message);
            return;
        }
    }
}
