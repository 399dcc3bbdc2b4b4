/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two dialects: how a legacy and a modern peer frame the same meaning. Requests of a client are
 * read into one canonical context; results, errors and notifications are framed for a client, and
 * requests for an upstream, around bytes that are not copied. Apart from asking a client something
 * in mid-call (hub/), this is the only place that knows the difference.
 *
 * Frames are lists of parts, to be written one after the other. Parts point into what was given and
 * into a scratch buffer, which must live until the frame has been written. Thread: [loop].
 */
#ifndef HUB_WIRE_DIALECT_H
#define HUB_WIRE_DIALECT_H

#include "wire/mcp.h"
#include "wire/message.h"

#define HUB_FRAME_PARTS 24
#define HUB_FRAME_ITEMS (HUB_FRAME_PARTS - 8)

/* What a request says of itself, whatever the dialect. Spans are slices of the message. */
typedef struct hub_request_context {
    hub_era era;
    hub_revision revision;
    hub_str capabilities;   /* of the client, a JSON object */
    hub_str client_info;    /* may be empty */
    hub_str log_level;      /* raw string; modern requests only; may be empty */
    hub_str progress_token; /* raw; may be empty */
    hub_str headers;        /* of HTTP, to be forwarded: hub/forward/forward.h; mostly empty */
} hub_request_context;

/* Read the context of a request. `legacy` is the revision that the session agreed on by
 * `initialize`, or HUB_REVISION_NONE. A request that carries
 * `_meta["io.modelcontextprotocol/protocolVersion"]` is modern, whatever the session.
 * On failure `ret_code` is the JSON-RPC code to answer with.
 * errors:  HUB_EINVAL (-32602: a request of no dialect; a modern one without a required key or with
 *          an ill-typed one; an unknown log level; a progress token that is no string or integer),
 *          HUB_ELIMIT (-32602: a progress token over HUB_LIMIT_ID_BYTES),
 *          HUB_EUNAVAILABLE (-32022: a version that is not served)
 * spec:    MCP 2026-07-28 basic/index (_meta), basic/versioning (Backward Compatibility),
 *          basic/patterns/progress, server/utilities/logging (Error Handling) */
HUB_MUST_CHECK hub_err hub_dialect_read(const hub_message *message, hub_revision legacy,
                                        hub_request_context *ret_context, int *ret_code,
                                        hub_error *reterr);

/* Frame a result. `result` is a raw JSON object; for a modern client it gets `resultType`
 * "complete" unless `has_type`. Returns the number of parts. */
size_t hub_dialect_result(hub_era era, hub_str id, hub_str result, bool has_type,
                          hub_str parts[HUB_FRAME_PARTS]);

/* Frame a result that a modern client may keep: as above, and with `ttlMs` 0 and `cacheScope`
 * "private", each unless it is there. A result that is not complete has neither.
 * spec: MCP 2026-07-28 server/utilities/caching */
size_t hub_dialect_cacheable(hub_str id, hub_str result, bool has_type,
                             hub_str parts[HUB_FRAME_PARTS]);

/* Frame the result of a list: `items`, at most HUB_FRAME_ITEMS spans that are comma-separated
 * together, as the array `key`, then `tail`, which is empty or further members with a comma in
 * front. Returns the number of parts. */
size_t hub_dialect_list(hub_era era, hub_str id, hub_str key, const hub_str *items,
                        size_t item_count, hub_str tail, hub_str parts[HUB_FRAME_PARTS]);

/* Frame an error from an error object. An id that could not be read (empty) is null for the
 * revisions that demand one, and left out for 2025-11-25 and later. */
size_t hub_dialect_error(hub_revision revision, hub_str id, hub_str error,
                         hub_str parts[HUB_FRAME_PARTS]);

/* Append an error object: code, message, and data (raw JSON, may be empty). */
void hub_dialect_add_error(hub_buf *out, int code, hub_str message, hub_str data);

/* Append the `data` of -32022: the modern revisions that are served (legacy ones cannot be asked
 * for in a request), and the one that was asked for, a raw string. */
void hub_dialect_add_versions(hub_buf *out, hub_str requested);

/* A request on its way to an upstream. */
typedef struct hub_upstream_request {
    hub_revision revision; /* of the upstream */
    uint64_t id;           /* both JSON-RPC id and progress token */
    hub_str method;
    hub_str params;    /* the client's, raw; empty for none */
    hub_str name_json; /* slice of params: the value that `name` replaces; may be empty */
    hub_str meta_json; /* slice of params; may be empty */
    hub_str name;      /* the upstream's own name; empty: leave the client's */
    bool wants_progress;
    hub_str capabilities; /* that the client behind the request has; for modern upstreams */
    hub_str client_info;  /* of the hub, a JSON object */
    hub_str log_level;    /* raw string or empty */
} hub_upstream_request;

/* Frame it. Everything but id, name, progress token and the protocol's `_meta` keys is the client's
 * bytes. `scratch` is cleared first.
 * returns: the number of parts, 0 when the scratch buffer failed */
size_t hub_dialect_request(const hub_upstream_request *request, hub_buf *scratch,
                           hub_str parts[HUB_FRAME_PARTS]);

#endif
