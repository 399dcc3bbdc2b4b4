/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says on its way to a client, through the upstream core, the wire interface and the
 * hub, for each era of either side. Whatever the server says:
 *   - a request is answered at most once, and an answer that is a message is passed on at once;
 *   - what the client gets is what the server said, but for the members that an era adds, or it
 *     says of itself that it is the hub's;
 *   - what the client answers reaches the server byte for byte;
 *   - no call is left when the client is gone.
 * Input: one byte for the cell, one for the method, then lines of the server. '@' in them stands
 * for the id of the call, and for its progress token.
 */
#include <stdint.h>
#include <unistd.h>

#include "../support/fidelity_side.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CAPABILITIES                                                                               \
    "{\"sampling\":{\"tools\":{}},\"elicitation\":{\"form\":{},\"url\":{}},\"roots\":{}}"
#define ANSWER "{ \"action\" : \"accept\",\"n\":[1.10,-0,1e400],\"\":\"\\ud800\"}"

enum { CLIENT_IS_MODERN = 1, SERVER_IS_MODERN = 2, WANTS_PROGRESS = 4, WANTS_LOG = 8 };
enum { REQUESTS_MAX = 4 };

static hub_fixture fixture;
static side sides[2] = {
    {.prefix = "old", .is_modern = false},
    {.prefix = "new", .is_modern = true},
};
static struct {
    client *client;
    side *side;
    hub_buf said;      /* all lines so far, as they were fed */
    unsigned requests; /* of the client */
    unsigned answers;
    hub_buf todo; /* what the client has to say: an answer, or members of its next request */
    bool was_asked;
    const char *method;
    char params[160];
    char meta[512]; /* members of _meta */
} now;

/* ---- what is passed on ----------------------------------------------------------------------- */

static bool was_said(hub_str text)
{
    return text.len == 0 || memmem(now.said.ptr, now.said.len, text.ptr, text.len) != NULL;
}

/* What a server is answered: by the client, or by the hub, whose answer to a ping is empty. */
static void check_answer(hub_str answer)
{
    REQUIRE(hub_str_is(answer, ANSWER) || hub_str_is(answer, "{}"));
}

/* A client's request on its way: what it has from the client, and what from the server. */
static void check_call(hub_str text)
{
    hub_str params = hub_json_get(text, HUB_STR("params"));
    hub_json_iter it = hub_json_iterate(hub_json_get(params, HUB_STR("inputResponses")));
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        REQUIRE(hub_str_is(value, ANSWER) && was_said(key));
    }
    REQUIRE(was_said(hub_json_get(params, HUB_STR("requestState"))));
}

/* ---- what the client gets -------------------------------------------------------------------- */

/* Without a member that the hub may have put in front. */
static hub_str behind(hub_str inside, const char *member)
{
    size_t len = strlen(member);
    if (inside.len <= len || memcmp(inside.ptr, member, len) != 0) {
        return inside;
    }
    return hub_str_from(inside, len + (inside.ptr[len] == ','));
}

static bool is_hubs_own(hub_str json)
{
    return memmem(json.ptr, json.len, "\"patchbay/error\"", 16) != NULL;
}

/* A result is the server's, but for members in front that 2026-07-28 has. */
static void check_result(hub_str result)
{
    if (was_said(result) || is_hubs_own(result)) {
        return;
    }
    REQUIRE(now.client->kind == MODERN);
    hub_str inside = hub_str_from(result, 1);
    inside = behind(inside, "\"resultType\":\"complete\"");
    inside = behind(inside, "\"ttlMs\":0");
    inside = behind(inside, "\"cacheScope\":\"private\"");
    REQUIRE(was_said(inside));
}

static void check_error(hub_str error)
{
    int64_t code = 0;
    REQUIRE(hub_json_to_i64(hub_json_get(error, HUB_STR("code")), &code) || was_said(error));
    bool is_hubs = (code >= -31999 && code <= -31000) || code == HUB_RPC_INTERNAL_ERROR ||
                   code == HUB_RPC_INVALID_PARAMS;
    REQUIRE(is_hubs || was_said(error));
}

static void check_values(hub_str object, const char *own)
{
    hub_json_iter it = hub_json_iterate(object);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        REQUIRE(hub_json_string_is(key, hub_str_of(own)) || (was_said(key) && was_said(value)));
    }
}

/* A question of a legacy client's: answered in the next turn. */
static void take_question(const hub_message *message)
{
    hub_str params = message->at[HUB_M_PARAMS];
    static const char ID[] = "{\"elicitationId\":\"patchbay-";
    if (params.len > sizeof ID && memcmp(params.ptr, ID, sizeof ID - 1) == 0 && !was_said(params)) {
        const char *end = memchr(params.ptr, ',', params.len);
        REQUIRE(end != NULL);
        params = hub_str_between(end + 1, params.ptr + params.len);
    }
    REQUIRE(was_said(params));
    hub_buf_printf(&now.todo, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":" ANSWER "}",
                   HUB_STR_ARG(message->at[HUB_M_ID]));
    now.was_asked = true;
}

/* The hub, or the server through it, asks a modern client: it comes back with its answers. */
static void take_input_required(hub_str result)
{
    hub_str state = hub_json_get(result, HUB_STR("requestState"));
    hub_json_iter it = hub_json_iterate(hub_json_get(result, HUB_STR("inputRequests")));
    hub_str key;
    hub_str value;
    hub_buf more;
    hub_buf_init(&more, SIZE_MAX / 2);
    hub_buf_printf(&more, ",\"inputResponses\":{");
    while (hub_json_next(&it, &key, &value)) {
        hub_str params = hub_json_get(value, HUB_STR("params"));
        REQUIRE(was_said(params));
        hub_json_add_comma(&more);
        hub_buf_add(&more, key);
        hub_buf_printf(&more, ":" ANSWER);
    }
    hub_buf_add_char(&more, '}');
    if (state.len > 0) {
        hub_buf_printf(&more, ",\"requestState\":");
        hub_buf_add(&more, state);
    }
    REQUIRE(hub_buf_ok(&more));
    hub_buf_clear(&now.todo);
    hub_buf_add(&now.todo, hub_buf_str(&more));
    hub_buf_fini(&more);
    now.was_asked = true;
}

static bool is_question(const hub_message *message)
{
    return hub_json_string_is(message->at[HUB_M_RESULT_TYPE], HUB_STR("input_required"));
}

static void check_response(const hub_message *message)
{
    hub_str result = message->at[HUB_M_RESULT];
    REQUIRE(hub_str_is(message->at[HUB_M_ID], "7"));
    REQUIRE(++now.answers <= now.requests);
    if (message->kind == HUB_MESSAGE_ERROR) {
        check_error(message->at[HUB_M_ERROR]);
    } else if (now.client->kind == MODERN && is_question(message)) {
        take_input_required(result);
    } else {
        check_result(result);
    }
}

static void on_message(client *c, hub_str text)
{
    hub_message message;
    (void)c;
    REQUIRE(hub_message_scan(text, &message, NULL) == HUB_OK);
    hub_str params = message.at[HUB_M_PARAMS];
    switch (message.kind) {
    case HUB_MESSAGE_RESULT:
    case HUB_MESSAGE_ERROR:
        check_response(&message);
        break;
    case HUB_MESSAGE_REQUEST:
        take_question(&message);
        break;
    default:
        if (hub_str_is(message.method, "notifications/progress")) {
            REQUIRE(hub_str_is(message.at[HUB_M_PROGRESS_TOKEN], "\"\\u0074oken\""));
            check_values(params, "progressToken");
        } else if (hub_str_is(message.method, "notifications/message")) {
            REQUIRE(was_said(params));
        }
    }
}

/* ---- one input ------------------------------------------------------------------------------- */

static void start(void)
{
    fixture_init(&fixture);
    (void)alarm(0); /* a fuzzer takes its time */
    for (int i = 0; i < 2; i++) {
        sides[i].on_call = check_call;
        sides[i].on_answer = check_answer;
        side_add(&fixture, &sides[i]);
    }
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    for (int i = 0; i < 2; i++) {
        REQUIRE(sides[i].is_made);
        side_pump(&fixture, &sides[i]);
    }
    REQUIRE(client_reply(c, "1") != NULL);
    client_close(c);
}

static void request(const char *more)
{
    now.requests++;
    client_send(now.client,
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{%s,\"_meta\":{%s}%s}}",
                now.method, now.params, now.meta, more);
}

/* The first byte says who, the second what. */
static void begin(uint8_t cell, uint8_t what)
{
    static const struct {
        const char *method;
        const char *params; /* with the toolset's name */
    } REQUESTS[] = {
        {"tools/call", "\"name\":\"%s__t\",\"arguments\":{}"},
        {"resources/read", "\"uri\":\"%s:///r\""},
        {"prompts/get", "\"name\":\"%s__p\""},
        {"completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"%s__p\"},"
                                "\"argument\":{\"name\":\"a\",\"value\":\"\"}"},
    };
    const char *format = REQUESTS[what % 4].params;
    const char *at = strstr(format, "%s");
    bool is_modern = (cell & CLIENT_IS_MODERN) != 0;
    now.side = &sides[(cell & SERVER_IS_MODERN) != 0];
    now.method = REQUESTS[what % 4].method;
    int len = snprintf(now.params, sizeof now.params, "%.*s%s%s", (int)(at - format), format,
                       now.side->prefix, at + 2);
    REQUIRE(len > 0 && (size_t)len < sizeof now.params);
    len = snprintf(
        now.meta, sizeof now.meta, "\"a\":1.10%s%s%s",
        is_modern ? ",\"" HUB_META_PROTOCOL_VERSION
                    "\":\"2026-07-28\",\"" HUB_META_CLIENT_CAPABILITIES "\":" CAPABILITIES
                  : "",
        is_modern && (cell & WANTS_LOG) != 0 ? ",\"" HUB_META_LOG_LEVEL "\":\"debug\"" : "",
        (cell & WANTS_PROGRESS) != 0 ? ",\"progressToken\":\"\\u0074oken\"" : "");
    REQUIRE(len > 0 && (size_t)len < sizeof now.meta);
    hub_buf_init(&now.said, SIZE_MAX / 2);
    hub_buf_init(&now.todo, SIZE_MAX / 2);
    now.requests = now.answers = 0;
    now.was_asked = false;
    now.side->call = 0;
    upstream_connect(&now.side->server);
    side_pump(&fixture, now.side);
    now.client = client_open_as(&fixture, &(client_options){.kind = is_modern ? MODERN : LEGACY,
                                                            .capabilities = CAPABILITIES});
    now.client->on_message = on_message;
}

/* What the client has to say: an answer, or its request once more. */
static void say_todo(void)
{
    while (now.todo.len > 0 && now.requests < REQUESTS_MAX) {
        char *text = strndup(now.todo.ptr, now.todo.len);
        REQUIRE(text != NULL);
        hub_buf_clear(&now.todo);
        if (now.client->kind == MODERN) {
            request(text);
        } else {
            client_send(now.client, "%s", text);
        }
        free(text);
        side_pump(&fixture, now.side);
    }
}

/* The next line, with the id of the call in it. */
static char *take_line(const char *text, size_t len, size_t *ret_len)
{
    size_t begin = now.said.len;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '@') {
            hub_buf_printf(&now.said, "%llu", (unsigned long long)now.side->call);
        } else {
            hub_buf_add_char(&now.said, text[i]);
        }
    }
    REQUIRE(hub_buf_ok(&now.said));
    *ret_len = now.said.len - begin;
    char *line = malloc(*ret_len + (*ret_len == 0)); /* nothing may be read behind it */
    REQUIRE(line != NULL);
    if (*ret_len > 0) {
        memcpy(line, now.said.ptr + begin, *ret_len);
    }
    return line;
}

/* Whether a line is the answer to the one call there is, and nothing has to come before the client
 * has it. */
static bool is_final(hub_str line)
{
    hub_message message;
    uint64_t id;
    return !now.was_asked && now.answers < now.requests && now.side->server.phase == PHASE_READY &&
           hub_message_scan(line, &message, NULL) == HUB_OK &&
           (message.kind == HUB_MESSAGE_RESULT || message.kind == HUB_MESSAGE_ERROR) &&
           hub_json_to_u64(message.at[HUB_M_ID], &id) && id == now.side->call &&
           (now.client->kind == MODERN || !is_question(&message));
}

static void take(const char *text, size_t len)
{
    size_t line_len;
    char *bytes = take_line(text, len, &line_len);
    hub_str line = {.ptr = bytes, .len = line_len};
    bool answers = is_final(line);
    unsigned before = now.answers;
    side_feed(now.side, line);
    REQUIRE(!answers || now.answers == before + 1);
    free(bytes);
    side_pump(&fixture, now.side);
    say_todo();
}

/* The client and the connection go, and nothing is left. */
static void end(void)
{
    bool is_asked = now.client->kind == MODERN && now.todo.len > 0;
    if (now.answers < now.requests) {
        client_cancel(now.client, "7");
    }
    upstream_disconnect(&now.side->server, "the end", 0);
    side_pump(&fixture, now.side);
    if (is_asked) { /* a call that waits for answers ends with them */
        char *text = strndup(now.todo.ptr, now.todo.len);
        REQUIRE(text != NULL);
        request(text);
        free(text);
    }
    client_close(now.client);
    upstream_disconnect(&now.side->server, "the end", 0);
    side_pump(&fixture, now.side);
    REQUIRE(hub_call_count(fixture.hub->calls) == 0);
    hub_buf_fini(&now.said);
    hub_buf_fini(&now.todo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    if (fixture.hub == NULL) {
        start();
    }
    begin(data[0], data[1]);
    request("");
    side_pump(&fixture, now.side);
    REQUIRE(now.side->call != 0);
    const char *at = (const char *)data + 2;
    const char *last = (const char *)data + size;
    while (at < last) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *stop = newline != NULL ? newline : last;
        take(at, (size_t)(stop - at));
        at = stop + (newline != NULL);
    }
    end();
    return 0;
}
