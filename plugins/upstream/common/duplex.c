/* SPDX-License-Identifier: Apache-2.0 */
#include "duplex.h"

enum { NOISE_MS = 60000 };

/* A program that writes for people to where messages belong may never be ready: that says why. */
static void note_noise(mcp_server *server, patchbay_str text)
{
    static const char NOT_JSON[] = "not JSON: ";
    if (server->refusal[0] == '\0') {
        memcpy(server->refusal, NOT_JSON, sizeof NOT_JSON);
        upstream_quote(text, server->refusal + sizeof NOT_JSON - 1,
                       sizeof server->refusal - sizeof NOT_JSON + 1);
    }
}

static void count_noise(mcp_server *server, duplex_noise *noise, const char *flood)
{
    uint64_t now = server->loop->now_ms(server->host);
    if (now - noise->since_ms > NOISE_MS) {
        noise->since_ms = now;
        noise->count = 0;
    }
    if (++noise->count > DUPLEX_NOISE) {
        upstream_fail(server, flood);
    }
}

void duplex_take(mcp_server *server, duplex_noise *noise, patchbay_str text, const char *flood)
{
    static const patchbay_call UNKNOWN = {.id = 0};
    patchbay_message message = {.struct_size = sizeof message};
    patchbay_error why = {.struct_size = sizeof why};
    int is_message = server->wire->scan(server->host, text, &message, &why) == PATCHBAY_OK;
    /* A modern server has no requests, and wants no answers. */
    uint32_t connection = server->connection;
    int is_noise = is_message ? message.kind == PATCHBAY_MSG_REQUEST && server->era == ERA_MODERN
                              : upstream_take_refused(server, text, why.text, upstream_settle) == 0;
    if (server->connection != connection) {
        return; /* it was an answer without which there is no going on */
    }
    if (is_noise) {
        if (!is_message) {
            note_noise(server, text);
        }
        count_noise(server, noise, flood);
    } else if (!is_message) {
        return;
    } else {
        upstream_take(server, &message, UNKNOWN);
    }
}

void duplex_cancel(mcp_server *server, patchbay_str id)
{
    upstream_cancellation made;
    upstream_cancellation_init(&made, id);
    upstream_send(server, &made.message);
}

int duplex_retry_as_legacy(mcp_server *server)
{
    if (server->phase != PHASE_PROBING || server->protocol != NULL) {
        return 0;
    }
    if (server->failures > 0) { /* no two starts for one attempt: it may be that nothing helps */
        server->skips_probe = 1;
        return 0;
    }
    server->channel->close(server);
    server->era = ERA_LEGACY;
    server->phase = PHASE_IDLE;
    upstream_connect(server);
    return 1;
}

void duplex_forget_guess(mcp_server *server)
{
    if (server->phase == PHASE_PROBING || server->phase == PHASE_INITIALIZING) {
        server->era = ERA_UNKNOWN;
    }
}
