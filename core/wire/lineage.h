/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hubs behind hubs. A hub may be the upstream of another, but none may be behind itself: each would
 * offer what the other offers, under ever longer names, and tell the other that its list changed.
 *
 * So a hub has an identity, made at start. Whenever it asks an upstream what there is, it says in
 * `_meta["patchbay/hubs"]` which hubs are in front of the upstream: itself, and those that asked
 * it. With `initialize` it is a member of `capabilities.experimental`: there are servers of both
 * eras that take any request with a `_meta` for a modern one. A hub that finds itself among them
 * refuses, with the code E_HUB_LOOP; so the connection that closes the circle is the one that
 * fails, and the rest works. Servers that are no hubs ignore the member. Of a hub that has not
 * asked for a while nothing is remembered.
 *
 *     {"ids":["6d0e…","91c4…"]}
 *
 * What clients say here is believed: the worst that a lie can do is to hide a circle, unless the
 * liar knows the id of a hub behind this one, which is random and is told to servers only.
 * Thread: one at a time.
 * spec: MCP 2026-07-28 basic/index (_meta); RELIABILITY.md U14
 */
#ifndef HUB_WIRE_LINEAGE_H
#define HUB_WIRE_LINEAGE_H

#include "wire/json.h"

#define HUB_META_HUBS "patchbay/hubs"
#define HUB_LOOP_CODE "E_HUB_LOOP"

enum {
    HUB_LINEAGE_ID_CHARS = 32,      /* hexadecimal digits */
    HUB_LINEAGE_HUBS = 64,          /* in front of one hub; the rest is not remembered */
    HUB_LINEAGE_MEMORY_MS = 600000, /* after a hub asked last */
};

typedef struct hub_lineage_hub {
    char id[HUB_LINEAGE_ID_CHARS + 1];
    uint64_t seen_ms;
} hub_lineage_hub;

typedef struct hub_lineage {
    char id[HUB_LINEAGE_ID_CHARS + 1]; /* of this hub */
    hub_lineage_hub front[HUB_LINEAGE_HUBS];
    size_t count;
} hub_lineage;

/* errors:  HUB_ESYSTEM (no random numbers can be had) */
HUB_MUST_CHECK hub_err hub_lineage_init(hub_lineage *lineage);

/* Append what an upstream is told: the value of `_meta["patchbay/hubs"]`. `now_ms` is monotonic. */
void hub_lineage_add(const hub_lineage *lineage, uint64_t now_ms, hub_buf *out);

/* Read what a client says in its `_meta`, or `experimental` (raw; empty for none), and remember it
 * if it is welcome. errors:  HUB_EEXIST (this hub is in front of the client), HUB_ELIMIT (too many
 * in a row); reterr says what to do. What is malformed is no hub's, and counts as nothing. */
HUB_MUST_CHECK hub_err hub_lineage_take(hub_lineage *lineage, hub_str meta, uint64_t now_ms,
                                        hub_error *reterr);

#endif
