/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The upstream core (plugins/upstream/common) in the test's own process, between a puppet of the hub
 * and a server that is not there: the test says what the server says. Its handshake and its lists
 * are answered by themselves: a tool `t`, a resource `PREFIX:///r`, a prompt `p`. For programs that
 * stop at the first thing they do not like.
 */
#ifndef FIDELITY_SIDE_H
#define FIDELITY_SIDE_H

#include "../../plugins/upstream/common/duplex.h"
#include "hub_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { SIDE_TURNS = 8 }; /* of the loop, until what is due is done */

typedef struct outgoing {
    struct outgoing *next;
    size_t id_len;
    char id[64]; /* raw, of a request of the upstream's own */
    char method[64];
} outgoing;

/* A server in the place of which the fuzzer speaks. */
typedef struct side {
    mcp_server server; /* first: a server is its side */
    puppet puppet;
    const char *prefix;
    bool is_modern;
    bool is_made;
    outgoing *queue;                   /* requests of the upstream's own that wait for an answer */
    uint64_t call;                     /* the request of the client that came last */
    void (*on_call)(hub_str text);     /* such a request, whole */
    void (*on_answer)(hub_str result); /* a result of the client's */
} side;

/* ---- the channel ----------------------------------------------------------------------------- */

static side *side_of(mcp_server *server)
{
    return (side *)server;
}

static int side_open(mcp_server *server)
{
    (void)server;
    return 1;
}

static void side_forget(side *s)
{
    while (s->queue != NULL) {
        outgoing *next = s->queue->next;
        free(s->queue);
        s->queue = next;
    }
}

static void side_keep(side *s, const upstream_outgoing *message)
{
    outgoing *made = calloc(1, sizeof *made);
    REQUIRE(made != NULL && message->id.len < sizeof made->id &&
            message->method.len < sizeof made->method);
    made->id_len = message->id.len;
    memcpy(made->id, message->id.ptr, message->id.len);
    memcpy(made->method, message->method.ptr, message->method.len);
    outgoing **end = &s->queue;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = made;
}

static int32_t side_send(mcp_server *server, const upstream_outgoing *message)
{
    side *s = side_of(server);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    for (uint32_t i = 0; i < message->part_count; i++) {
        hub_buf_add(&text, message->parts[i]);
    }
    REQUIRE(hub_buf_ok(&text) && hub_json_check(hub_buf_str(&text), NULL, NULL) != HUB_EPARSE);
    if (message->kind == PATCHBAY_MSG_REQUEST && message->call.id == 0) {
        side_keep(s, message);
    } else if (message->kind == PATCHBAY_MSG_REQUEST) {
        s->call = message->call.id;
        s->on_call(hub_buf_str(&text));
    } else if (message->kind == PATCHBAY_MSG_RESULT) {
        s->on_answer(hub_json_get(hub_buf_str(&text), HUB_STR("result")));
    }
    hub_buf_fini(&text);
    return PATCHBAY_OK;
}

static void side_close(mcp_server *server)
{
    side_forget(side_of(server));
}

static const upstream_channel SIDE_CHANNEL = {
    .open = side_open,
    .send = side_send,
    .cancel = duplex_cancel,
    .close = side_close,
};

/* ---- a good server: its handshake and its lists ---------------------------------------------- */

#define MODERN_TAIL ",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"public\"}"
#define OFFERS                                                                                     \
    "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true},"       \
    "\"prompts\":{},\"completions\":{},\"logging\":{}}"

static const char *side_knows(const side *s, const char *method)
{
    static const struct {
        const char *method;
        const char *old;
        const char *new;
    } ANSWERS[] = {
        {"server/discover", NULL, "{" OFFERS ",\"supportedVersions\":[\"2026-07-28\"]" MODERN_TAIL},
        {"initialize",
         "{" OFFERS ",\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":\"f\","
         "\"version\":\"1\"}}",
         NULL},
        {"tools/list", "{\"tools\":[" TOOL("t") "]}", "{\"tools\":[" TOOL("t") "]" MODERN_TAIL},
        {"resources/list", "{\"resources\":[{\"uri\":\"old:///r\",\"name\":\"r\"}]}",
         "{\"resources\":[{\"uri\":\"new:///r\",\"name\":\"r\"}]" MODERN_TAIL},
        {"resources/templates/list", "{\"resourceTemplates\":[]}",
         "{\"resourceTemplates\":[]" MODERN_TAIL},
        {"prompts/list", "{\"prompts\":[{\"name\":\"p\"}]}",
         "{\"prompts\":[{\"name\":\"p\"}]" MODERN_TAIL},
        {"logging/setLevel", "{}", NULL},
    };
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++) {
        if (strcmp(method, ANSWERS[i].method) == 0) {
            return s->is_modern ? ANSWERS[i].new : ANSWERS[i].old;
        }
    }
    return NULL;
}

static void side_feed(side *s, hub_str text)
{
    duplex_noise noise = {0};
    duplex_take(&s->server, &noise, text, "says too much that is no message");
}

/* Answer what the upstream core asks for itself, and let the hub do what is due. */
static void side_pump(hub_fixture *f, side *s)
{
    for (int turn = 0; turn < SIDE_TURNS; turn++) {
        while (s->queue != NULL) {
            outgoing *first = s->queue;
            const char *result = side_knows(s, first->method);
            char text[1024];
            int len = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"%s\":%s}",
                               (int)first->id_len, first->id, result != NULL ? "result" : "error",
                               result != NULL ? result : "{\"code\":-32601,\"message\":\"no\"}");
            REQUIRE(len > 0 && (size_t)len < sizeof text);
            s->queue = first->next;
            free(first);
            side_feed(s, (hub_str){.ptr = text, .len = (size_t)len});
        }
        fixture_spin(f, 1);
    }
}

/* ---- puppets --------------------------------------------------------------------------------- */

static void side_create(puppet_instance *instance)
{
    side *s = instance->puppet->ctx;
    patchbay_error why = {.struct_size = sizeof why};
    s->server.name = s->prefix;
    upstream_pace_read(patchbay_str_make(NULL, 0), 0, &s->server.pace);
    s->server.pace.startup_ms = FIXTURE_LONG_MS;
    s->server.protocol = s->is_modern ? UPSTREAM_MODERN_VERSION : "2025-11-25";
    REQUIRE(upstream_init(&s->server, &SIDE_CHANNEL, instance->api, instance->host, &why) ==
            PATCHBAY_OK);
    s->is_made = true;
}

static void side_call(puppet_instance *instance, patchbay_call call,
                      const patchbay_request *request)
{
    side *s = instance->puppet->ctx;
    upstream_call(&s->server, call, request);
}

static void side_cancel_call(puppet_instance *instance, patchbay_call call)
{
    side *s = instance->puppet->ctx;
    upstream_cancel(&s->server, call);
}

static void side_destroy(puppet_instance *instance)
{
    side *s = instance->puppet->ctx;
    upstream_fini(&s->server);
    side_forget(s);
    memset(&s->server, 0, sizeof s->server);
    s->is_made = false;
}

/* Name a toolset of the hub that is about to be started: the server of this side. */
static void side_add(hub_fixture *f, side *s)
{
    s->puppet = (puppet){
        .defers = 1,
        .ctx = s,
        .on_create = side_create,
        .on_call = side_call,
        .on_cancel = side_cancel_call,
        .on_destroy = side_destroy,
    };
    (void)fixture_toolset(f, s->prefix, &s->puppet, true);
}

#endif
