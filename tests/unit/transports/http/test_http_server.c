/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP transport around a hub whose toolset the test plays: letting go of a stream (SSE
 * polling), questions to the client, and taking the server down in the middle of everything. What
 * can be seen from outside alone is in tests/blackbox/http_*.py.
 */
#include "hub_fixture.h"

#include "http/internal.h"
#include "http/server.h"
#include "net/net.h"
#include "web/status/status.h"

#include <patchbay/client.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEER_BYTES = 256 * 1024, CALLS = 8 };

static hub_fixture f;
static puppet master;
static hub_net *net;
static hub_http_server *server;
static hub_listen_settings listening;
static patchbay_call calls[CALLS]; /* that the puppet was given */
static size_t call_count;
static char answer[256]; /* to its question */

/* ---- the toolset ----------------------------------------------------------------------------- */

static void keep_call(puppet_instance *instance, patchbay_call call,
                      const patchbay_request *request)
{
    (void)instance;
    (void)request;
    assert_true(call_count < CALLS);
    calls[call_count++] = call;
}

static bool has_calls(void *ctx)
{
    return call_count >= *(const size_t *)ctx;
}

static void wait_calls(size_t count)
{
    fixture_run_until(&f, has_calls, &count);
}

static const patchbay_client_v1 *client_api(void)
{
    return master.latest->api->get_interface(master.latest->host, PATCHBAY_CLIENT_V1);
}

static void release(patchbay_call call)
{
    assert_int_equal(client_api()->release(master.latest->host, call), PATCHBAY_OK);
}

static void progress(patchbay_call call)
{
    assert_int_equal(
        master.latest->api->notify(master.latest->host, call, puppet_str("{\"progress\":1}")),
        PATCHBAY_OK);
}

static void on_answer(void *arg, patchbay_call call, int32_t status, patchbay_str json)
{
    (void)arg;
    (void)call;
    (void)snprintf(answer, sizeof answer, "%d %.*s", (int)status, HUB_STR_ARG(json));
}

static bool is_answered(void *ctx)
{
    (void)ctx;
    return answer[0] != '\0';
}

/* ---- peers ----------------------------------------------------------------------------------- */

typedef struct peer {
    int fd;
    bool eof;
    size_t len;
    char text[PEER_BYTES];
} peer;

static peer *peer_open(void)
{
    peer *p = calloc(1, sizeof *p);
    assert_non_null(p);
    unsigned port = 0;
    assert_int_equal(sscanf(hub_http_server_url(server), "http://127.0.0.1:%u/mcp", &port), 1);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    assert_int_equal(inet_pton(AF_INET, "127.0.0.1", &address.sin_addr), 1);
    p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(p->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(fcntl(p->fd, F_SETFL, O_NONBLOCK), 0);
    return p;
}

static void peer_close(peer *p)
{
    (void)close(p->fd);
    free(p);
}

static void peer_read(peer *p)
{
    ssize_t got = recv(p->fd, p->text + p->len, PEER_BYTES - 1 - p->len, 0);
    if (got > 0) {
        p->len += (size_t)got;
        p->text[p->len] = '\0';
    } else if (got == 0 || errno != EAGAIN) {
        p->eof = true;
    }
}

/* Send a request with a body, or without one. */
static void peer_send(peer *p, const char *method, const char *headers, const char *body)
{
    char *text = NULL;
    int len = asprintf(&text,
                       "%s /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n%s\r\n%s",
                       method, strlen(body), headers, body);
    assert_true(len > 0);
    assert_int_equal(send(p->fd, text, (size_t)len, 0), len);
    free(text);
}

typedef struct wait_for {
    peer *peer;
    const char *text;
} wait_for;

static bool has_come(void *ctx)
{
    const wait_for *wait = ctx;
    peer_read(wait->peer);
    assert_false(wait->peer->eof && strstr(wait->peer->text, wait->text) == NULL);
    return strstr(wait->peer->text, wait->text) != NULL;
}

static const char *peer_wait(peer *p, const char *text)
{
    wait_for wait = {.peer = p, .text = text};
    fixture_run_until(&f, has_come, &wait);
    return p->text;
}

static bool has_ended(void *ctx)
{
    peer *p = ctx;
    peer_read(p);
    return p->eof;
}

/* Begin a session; its headers for the requests that follow. */
static void begin_session(const char *revision, char headers[128])
{
    char body[512];
    peer *p = peer_open();
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"%s\",\"capabilities\":{\"sampling\":{}},"
                   "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
                   revision);
    peer_send(p, "POST", "", body);
    const char *id = strstr(peer_wait(p, revision), "Mcp-Session-Id: ");
    assert_non_null(id);
    (void)snprintf(headers, 128, "%.*s\r\n", (int)strcspn(id, "\r"), id);
    peer_close(p);
}

static const char CALL[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{"
                           "\"name\":\"t__x\",\"arguments\":{}}}";
static const char CALL_WITH_TOKEN[] =
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{"
    "\"name\":\"t__x\",\"arguments\":{},\"_meta\":{\"progressToken\":1}}}";

/* ---- the server ------------------------------------------------------------------------------ */

static hub_err open_server(const hub_listen_settings *listen, hub_http_server **ret_server,
                           hub_error *reterr)
{
    const hub_web_served faces[] = {{&HUB_WEB_STATUS, f.hub}};
    const hub_http_home home = {.net = net, .hub = f.hub, .faces = faces, .face_count = 1};
    return hub_http_server_open(&home, &f.settings, listen, ret_server, reterr);
}

static int set_up(void **state)
{
    (void)state;
    fixture_init(&f);
    call_count = 0;
    answer[0] = '\0';
    master = (puppet){.tools = "[" TOOL("x") "]", .on_call = keep_call};
    (void)fixture_toolset(&f, "t", &master, false);
    f.settings.limits.net = (hub_net_limits){.connections = 100,
                                             .connections_per_address = 100,
                                             .header_ms = FIXTURE_LONG_MS,
                                             .body_ms = FIXTURE_LONG_MS,
                                             .idle_ms = FIXTURE_LONG_MS,
                                             .stall_ms = FIXTURE_LONG_MS,
                                             .sse_comment_ms = FIXTURE_LONG_MS,
                                             .ping_ms = FIXTURE_LONG_MS,
                                             .pong_ms = FIXTURE_LONG_MS,
                                             .session_idle_ms = FIXTURE_LONG_MS,
                                             .sessions = 10,
                                             .sessions_per_principal = 10,
                                             .replay_bytes = 10000,
                                             .replay_events = 100};
    fixture_start(&f);
    listening = (hub_listen_settings){.kind = HUB_LISTEN_HTTP, .address = "127.0.0.1"};
    hub_error why = {.code = HUB_OK};
    if (hub_net_create(f.loop, &f.settings.limits.net, 1 << 20, &net, &why) != HUB_OK ||
        open_server(&listening, &server, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hub_http_server_close(server);
    hub_net_destroy(net);
    fixture_stop(&f);
    return 0;
}

/* MCP 2025-11-25 basic/transports, Sending Messages to the Server, 6: the connection is closed, the
 * stream is not; the client comes back with the id of the priming event. */
static void test_a_stream_that_is_let_go(void **state)
{
    (void)state;
    char session[128];
    char headers[256];
    begin_session("2025-11-25", session);
    peer *first = peer_open();
    peer_send(first, "POST", session, CALL_WITH_TOKEN);
    wait_calls(1);
    release(calls[0]);
    const char *text = peer_wait(first, "0\r\n\r\n");
    assert_contains(text, "Content-Type: text/event-stream\r\n");
    assert_contains(text, "id: 2-0\nretry: 500\ndata: \n\n"); /* 1 was the initialize */
    assert_lacks(text, "jsonrpc");
    release(calls[0]); /* nobody is connected: nothing to let go */
    progress(calls[0]);
    assert_int_equal(puppet_finish(master.latest, calls[0], "{\"content\":[]}"), PATCHBAY_OK);

    (void)snprintf(headers, sizeof headers, "%sLast-Event-ID: 2-0\r\n", session);
    peer *second = peer_open();
    peer_send(second, "GET", headers, "");
    text = peer_wait(second, "0\r\n\r\n");
    assert_contains(text,
                    "id: 2-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"");
    assert_contains(text, "id: 2-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":");
    peer_close(first);
    peer_close(second);
}

/* The client waits on its GET while the call goes on. */
static void test_a_stream_that_is_let_go_and_taken_up(void **state)
{
    (void)state;
    char session[128];
    char headers[256];
    begin_session("2025-11-25", session);
    peer *first = peer_open();
    peer_send(first, "POST", session, CALL);
    wait_calls(1);
    release(calls[0]);
    (void)peer_wait(first, "0\r\n\r\n");
    (void)snprintf(headers, sizeof headers, "%sLast-Event-ID: 2-0\r\n", session);
    peer_send(first, "GET", headers, ""); /* on the same connection: it is free again */
    (void)peer_wait(first, "id: 2-0\nretry: 500\ndata: \n\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n");
    release(calls[0]); /* once more */
    peer_send(first, "GET", headers, "");
    assert_int_equal(puppet_finish(master.latest, calls[0], "{\"content\":[]}"), PATCHBAY_OK);
    (void)peer_wait(first, "\"id\":7,\"result\":");
    peer_close(first);
}

/* Clients of earlier revisions, and modern ones, would not come back. */
static void test_streams_that_cannot_be_let_go(void **state)
{
    (void)state;
    static const char MODERN_HEADERS[] = "MCP-Protocol-Version: 2026-07-28\r\n"
                                         "Mcp-Method: tools/call\r\nMcp-Name: t__x\r\n";
    static const char MODERN_CALL[] =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"t__x\","
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
    char session[128];
    begin_session("2025-06-18", session);
    peer *p = peer_open();
    peer_send(p, "POST", session, CALL);
    wait_calls(1);
    release(calls[0]);
    assert_int_equal(puppet_finish(master.latest, calls[0], "{\"content\":[]}"), PATCHBAY_OK);
    assert_contains(peer_wait(p, "\"id\":7,\"result\":"), "Content-Type: application/json\r\n");
    peer_close(p);

    p = peer_open();
    peer_send(p, "POST", MODERN_HEADERS, MODERN_CALL);
    wait_calls(2);
    release(calls[1]);
    assert_int_equal(puppet_finish(master.latest, calls[1], "{\"content\":[]}"), PATCHBAY_OK);
    assert_contains(peer_wait(p, "\"id\":7,\"result\":"), "Content-Type: application/json\r\n");
    peer_close(p);
}

/* Requests of the hub go on the stream of the call that causes them; what the client answers comes
 * in a POST of its own, and gets 202. */
static void test_questions_to_the_client(void **state)
{
    (void)state;
    char session[128];
    char body[512];
    begin_session("2025-06-18", session);
    peer *p = peer_open();
    peer_send(p, "POST", session, CALL);
    wait_calls(1);
    patchbay_question question = {
        .struct_size = sizeof question,
        .method = puppet_str("sampling/createMessage"),
        .params_json = puppet_str("{\"messages\":[],\"maxTokens\":1}"),
        .on_answer = on_answer,
    };
    assert_int_equal(client_api()->ask(master.latest->host, calls[0], &question), PATCHBAY_OK);
    const char *text = peer_wait(p, "\"method\":\"sampling/createMessage\"");
    const char *event = strstr(text, "data: {");
    const char *id = strstr(event, "\"id\":");
    assert_non_null(id);
    (void)snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",%.*s,\"result\":{\"role\":\"x\"}}",
                   (int)strcspn(id, ","), id);
    peer *second = peer_open();
    peer_send(second, "POST", session, body);
    (void)peer_wait(second, "HTTP/1.1 202 Accepted\r\n");
    fixture_run_until(&f, is_answered, NULL);
    assert_contains(answer, "{\"role\":\"x\"}");
    assert_int_equal(puppet_finish(master.latest, calls[0], "{\"content\":[]}"), PATCHBAY_OK);
    (void)peer_wait(p, "\"id\":7,\"result\":");
    peer_close(p);
    peer_close(second);
}

/* Nothing is owed to anybody, and nothing is left behind, whatever a connection was at. */
static void test_the_end_in_the_middle_of_everything(void **state)
{
    (void)state;
    char session[128];
    begin_session("2025-11-25", session);
    peer *peers[7];
    for (size_t i = 0; i < 7; i++) {
        peers[i] = peer_open();
    }
    peer_send(peers[0], "POST", session, CALL);
    wait_calls(1);
    peer_send(peers[1], "POST", session, CALL_WITH_TOKEN);
    peer_send(peers[2], "GET", session, "");
    (void)peer_wait(peers[2], "text/event-stream");
    assert_true(send(peers[3]->fd, "GET /mc", 7, 0) == 7);
    assert_true(send(peers[4]->fd, "\r\n", 2, 0) == 2);
    peer_send(peers[5], "POST", session, CALL);
    peer_send(peers[5], "POST", session, CALL);
    assert_true(hub_http_server_busy(server) >= 2);
    hub_orchestrator_stop(f.hub);
    hub_http_server_stop(server);
    hub_http_server_stop(server);
    assert_contains(peer_wait(peers[0], "\r\n\r\n"), "HTTP/1.1 200 OK\r\n");
    for (size_t i = 0; i < 7; i++) {
        fixture_run_until(&f, has_ended, peers[i]);
        peer_close(peers[i]);
    }
    assert_int_equal(hub_http_server_busy(server), 0);
}

/* … also without a word of warning. */
static void test_a_sudden_end(void **state)
{
    (void)state;
    char session[128];
    begin_session("2025-11-25", session);
    peer *peers[3];
    for (size_t i = 0; i < 3; i++) {
        peers[i] = peer_open();
    }
    peer_send(peers[0], "POST", session, CALL);
    wait_calls(1);
    peer_send(peers[1], "GET", session, "");
    (void)peer_wait(peers[1], "text/event-stream");
    peer_send(peers[2], "POST", session, CALL_WITH_TOKEN);
    hub_http_server_close(server);
    server = NULL;
    for (size_t i = 0; i < 3; i++) {
        fixture_run_until(&f, has_ended, peers[i]);
        peer_close(peers[i]);
    }
}

/* The hub says goodbye before its listeners do: what comes in between is told so. */
static void test_a_hub_that_is_stopping(void **state)
{
    (void)state;
    static const char REQUEST[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
                                  "\"params\":{\"protocolVersion\":\"2025-11-25\"}}";
    char session[128];
    begin_session("2025-11-25", session);
    peer *p = peer_open();
    hub_orchestrator_stop(f.hub);
    assert_true(send(p->fd, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", 41, 0) == 41);
    assert_contains(peer_wait(p, "not ready"), "HTTP/1.1 503 Service Unavailable\r\n");
    assert_true(send(p->fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 42, 0) == 42);
    (void)peer_wait(p, "{\"status\":\"ok\"}");
    static const char *const REFUSED[] = {"HTTP/1.1 503 Service Unavailable\r\n",
                                          "Retry-After: 1\r\n", "Connection: close\r\n", "-31004",
                                          "\"retryable\":true"};
    for (int i = 0; i < 2; i++) { /* of a session that there is, too */
        p->len = 0;
        peer_send(p, "POST", i == 0 ? "" : session, i == 0 ? REQUEST : CALL);
        const char *text = peer_wait(p, "shutting down");
        for (size_t k = 0; k < sizeof REFUSED / sizeof REFUSED[0]; k++) {
            assert_contains(text, REFUSED[k]);
        }
        peer_close(p);
        p = peer_open();
    }
    peer_close(p);
}

/* The server gives up all its calls when one is cancelled, as one does that has ended unnoticed. */
static void fail_all(puppet_instance *instance, patchbay_call call)
{
    (void)call;
    for (size_t i = 0; i < call_count; i++) {
        (void)instance->api->finish(instance->host, calls[i], PATCHBAY_UNAVAILABLE,
                                    puppet_str("the server has ended"));
    }
}

/* A06: several wait by credentials that expire in the same second, and the end of one answers the
 * others. */
static void test_credentials_that_expire_together(void **state)
{
    (void)state;
    static const char MODERN_CALL[] =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"t__x\","
        "\"arguments\":{},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"},"
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
    enum { PEERS = 3 };
    static hub_identity over = {.name = "token:over", .expires = 1};
    peer *peers[PEERS];
    master.on_cancel = fail_all;
    for (size_t i = 0; i < PEERS; i++) {
        peers[i] = peer_open();
        peer_send(peers[i], "POST",
                  "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                  "Mcp-Name: t__x\r\nAccept: application/json, text/event-stream\r\n",
                  MODERN_CALL);
        wait_calls(i + 1);
    }
    for (hub_http_connection *at = server->connections; at != NULL; at = at->next) {
        at->identity = &over; /* instead of a constant */
        hub_http_expiry_watch(at);
    }
    server->expiring_s = 0;
    hub_http_expiry_check(server);
    assert_null(server->expiring.first);
    size_t expired = 0;
    for (size_t i = 0; i < PEERS; i++) {
        const char *text = peer_wait(peers[i], "HTTP/1.1 ");
        expired += strstr(text, "401") != NULL;
        assert_true(strstr(text, "401") != NULL || strstr(text, "200") != NULL);
        peer_close(peers[i]);
    }
    assert_int_equal(expired, 1);
}

/* C05 */
static void test_addresses_that_need_authentication(void **state)
{
    (void)state;
    static const char *const ADDRESSES[] = {"0.0.0.0", "::", "192.0.2.1", "example.com"};
    hub_error why = {.code = HUB_OK};
    hub_http_server *other;
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof ADDRESSES[0]; i++) {
        hub_listen_settings open = {.kind = HUB_LISTEN_HTTP, .address = ADDRESSES[i]};
        assert_int_equal(open_server(&open, &other, &why), HUB_EDENIED);
        assert_contains(why.text, ADDRESSES[i]);
        assert_contains(why.text, "--insecure");
    }
    static const char *const LOCAL[] = {"localhost", "127.0.0.1", "127.8.9.10"};
    for (size_t i = 0; i < sizeof LOCAL / sizeof LOCAL[0]; i++) {
        hub_listen_settings open = {.kind = HUB_LISTEN_HTTP, .address = LOCAL[i]};
        assert_int_equal(open_server(&open, &other, &why), HUB_OK);
        hub_http_server_close(other);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_a_stream_that_is_let_go),
        CASE(test_a_stream_that_is_let_go_and_taken_up),
        CASE(test_streams_that_cannot_be_let_go),
        CASE(test_questions_to_the_client),
        CASE(test_the_end_in_the_middle_of_everything),
        CASE(test_a_sudden_end),
        CASE(test_a_hub_that_is_stopping),
        CASE(test_credentials_that_expire_together),
        CASE(test_addresses_that_need_authentication),
    };
#undef CASE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
