/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/lineage.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

hub_err hub_lineage_init(hub_lineage *lineage)
{
    unsigned char random[HUB_LINEAGE_ID_CHARS / 2];
    memset(lineage, 0, sizeof *lineage);
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return HUB_ESYSTEM;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        (void)snprintf(&lineage->id[2 * i], 3, "%02x", random[i]); /* always fits */
    }
    return HUB_OK;
}

static bool is_remembered(const hub_lineage_hub *hub, uint64_t now_ms)
{
    return now_ms - hub->seen_ms < HUB_LINEAGE_MEMORY_MS;
}

void hub_lineage_add(const hub_lineage *lineage, uint64_t now_ms, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"ids\":[\""));
    hub_buf_add(out, hub_str_of(lineage->id));
    for (size_t i = 0; i < lineage->count; i++) {
        if (is_remembered(&lineage->front[i], now_ms)) {
            hub_buf_add(out, HUB_STR("\",\""));
            hub_buf_add(out, hub_str_of(lineage->front[i].id));
        }
    }
    hub_buf_add(out, HUB_STR("\"]}"));
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* The id behind a raw string; the empty span when it is none. */
static hub_str read_id(hub_str raw)
{
    hub_str id;
    if (!hub_json_plain(raw, &id) || id.len != HUB_LINEAGE_ID_CHARS) {
        return HUB_STR_EMPTY;
    }
    for (size_t i = 0; i < id.len; i++) {
        if (strchr("0123456789abcdef", id.ptr[i]) == NULL) {
            return HUB_STR_EMPTY;
        }
    }
    return id;
}

/* The place for a hub: its own, a forgotten one's, or a new one; NULL when all are taken. */
static hub_lineage_hub *find_place(hub_lineage *lineage, hub_str id, uint64_t now_ms)
{
    hub_lineage_hub *place = NULL;
    for (size_t i = 0; i < lineage->count; i++) {
        hub_lineage_hub *hub = &lineage->front[i];
        if (hub_str_eq(hub_str_of(hub->id), id)) {
            return hub;
        }
        if (!is_remembered(hub, now_ms)) {
            place = hub;
        }
    }
    if (place == NULL && lineage->count < HUB_LINEAGE_HUBS) {
        place = &lineage->front[lineage->count++];
    }
    if (place != NULL) {
        *place = (hub_lineage_hub){.seen_ms = now_ms};
        memcpy(place->id, id.ptr, id.len);
    }
    return place;
}

static bool contains(hub_str ids, hub_str wanted)
{
    hub_json_iter it = hub_json_iterate(ids);
    hub_str key;
    hub_str raw;
    while (hub_json_next(&it, &key, &raw)) {
        if (hub_str_eq(read_id(raw), wanted)) {
            return true;
        }
    }
    return false;
}

static void remember(hub_lineage *lineage, hub_str ids, uint64_t now_ms)
{
    hub_json_iter it = hub_json_iterate(ids);
    hub_str key;
    hub_str raw;
    while (hub_json_next(&it, &key, &raw)) {
        hub_str id = read_id(raw);
        hub_lineage_hub *hub = id.len > 0 ? find_place(lineage, id, now_ms) : NULL;
        if (hub != NULL) {
            hub->seen_ms = now_ms;
        }
    }
}

hub_err hub_lineage_take(hub_lineage *lineage, hub_str meta, uint64_t now_ms, hub_error *reterr)
{
    hub_str ids = hub_json_get(hub_json_get(meta, HUB_STR(HUB_META_HUBS)), HUB_STR("ids"));
    if (hub_json_type_of(ids) != HUB_JSON_ARRAY) {
        return HUB_OK;
    }
    if (contains(ids, hub_str_of(lineage->id))) {
        return hub_fail(reterr, HUB_EEXIST,
                        "a loop of hubs: this hub would be its own upstream. Take out of one of "
                        "them the toolset that leads back to the other");
    }
    remember(lineage, ids, now_ms);
    return HUB_OK;
}
