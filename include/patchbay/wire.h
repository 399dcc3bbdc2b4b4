/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.wire/1": the hub's own JSON-RPC scanner and protocol dialects, for
 * plugins that speak MCP to somebody else.
 *
 * A message is scanned once: it is checked to be JSON and UTF-8 within the limits, and the places
 * of the members that matter are recorded as slices of the original bytes. Requests are framed for
 * the peer around the client's own bytes, which are never copied or rewritten.
 */
#ifndef PATCHBAY_WIRE_H
#define PATCHBAY_WIRE_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_WIRE_V1 "patchbay.wire/1"

/* patchbay_message.kind */
#define PATCHBAY_MSG_REQUEST      1u
#define PATCHBAY_MSG_NOTIFICATION 2u
#define PATCHBAY_MSG_RESULT       3u
#define PATCHBAY_MSG_ERROR        4u

/* A message taken apart. Spans are slices of the scanned bytes, raw JSON unless said otherwise;
 * empty when the member is absent. */
typedef struct patchbay_message {
    uint32_t struct_size; /* set by the caller */
    uint32_t kind;        /* PATCHBAY_MSG_… */
    uint64_t id_number; /* the id, when it is a non-negative integer below 2^53; else UINT64_MAX */
    patchbay_str id;
    patchbay_str method; /* the text of the method, without quotes */
    patchbay_str params;
    patchbay_str result;
    patchbay_str error;
    uint64_t progress_token_number; /* params.progressToken, as id_number */
    patchbay_str result_type;       /* result.resultType */
    uint32_t result_flags;          /* of a result: what finish() takes beside PATCHBAY_SCANNED */
    uint32_t reserved;
} patchbay_message;

/* The peer that a request is framed for. */
typedef struct patchbay_peer {
    uint32_t struct_size;
    uint32_t reserved;
    patchbay_str version; /* the protocol revision in use, for example "2025-11-25" */
} patchbay_peer;

#define PATCHBAY_FRAME_PARTS 16u

typedef struct patchbay_wire_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* Check and take apart one message.
     * thread:  [loop]    blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (not one JSON-RPC message; `reterr` says why);
     *          PATCHBAY_ELIMIT (too deep, too many values) */
    int32_t (*scan)(patchbay_host *host, patchbay_str bytes, patchbay_message *ret_message,
                    patchbay_error *reterr);

    /* Frame the request behind `call` for a peer: the hub's own id and progress token (both
     * call.id), `name` in the place of the client's name for it (empty: keep the client's), and the
     * `_meta` keys of the peer's revision; all other bytes as the client sent them.
     * `ret_parts` point into the request and into hub memory that is valid until the next
     * frame_request(), or until call() returns.
     * thread:  [loop]    blocks: no
     * returns: the number of parts, at most PATCHBAY_FRAME_PARTS; or PATCHBAY_ESTALE,
     * PATCHBAY_EINVAL (a peer version the hub does not know), PATCHBAY_ENOMEM */
    int32_t (*frame_request)(patchbay_host *host, patchbay_call call,
                             const patchbay_request *request, const patchbay_peer *peer,
                             patchbay_str name, patchbay_str *ret_parts);

    /* The `initialize` params or the `server/discover` params with which the hub introduces itself
     * to a peer of `peer->version`, as one JSON object. Borrowed until the next call of this table.
     * thread:  [loop] */
    patchbay_str (*introduce)(patchbay_host *host, const patchbay_peer *peer);

    /* The most bytes that a message of a peer may have, as configured. The hub's own streams hold
     * to it; a plugin that reads by itself has to.
     * thread:  [loop]
     * since:   PATCHBAY_HAS(patchbay_wire_v1, wire, max_message_bytes) */
    uint64_t (*max_message_bytes)(patchbay_host *host);
} patchbay_wire_v1;

#ifdef __cplusplus
}
#endif

#endif
