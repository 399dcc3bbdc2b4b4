/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event ids: what is read is what would be written; and a store has what was put into it last, of
 * the stream that is asked for, within its bounds. Input: the id, a newline, bytes that are events:
 * the stream (two bits), the length.
 */
#include "http/replay.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST_BYTES = 200, MOST_EVENTS = 20 };

static void check_id(hub_str text)
{
    char again[HUB_EVENT_ID_BYTES];
    hub_event_id id;
    if (hub_event_id_read(text, &id)) {
        REQUIRE(hub_str_eq(hub_event_id_write(id, again), text));
    }
}

static void check_store(hub_str events)
{
    static const char zeros[64];
    hub_replay replay;
    uint64_t last[4] = {0};
    hub_replay_init(&replay, MOST_BYTES, MOST_EVENTS, NULL);
    for (size_t i = 0; i < events.len; i++) {
        unsigned char c = (unsigned char)events.ptr[i];
        hub_event_id id = {.stream = c & 3u, .sequence = ++last[c & 3u]};
        hub_str part = {.ptr = zeros, .len = c >> 2};
        hub_replay_add(&replay, id, &part, 1);
        REQUIRE(replay.bytes <= MOST_BYTES && replay.count <= MOST_EVENTS);
        const hub_replay_event *newest = hub_replay_next(
            &replay, (hub_event_id){.stream = id.stream, .sequence = id.sequence - 1});
        REQUIRE(newest != NULL && newest->sequence == id.sequence && newest->len == part.len);
        REQUIRE(hub_replay_next(&replay, id) == NULL);
    }
    for (uint32_t stream = 0; stream < 4; stream++) {
        hub_event_id at = {.stream = stream, .sequence = 0};
        for (const hub_replay_event *event; (event = hub_replay_next(&replay, at)) != NULL;) {
            REQUIRE(event->stream == stream && event->sequence > at.sequence);
            at.sequence = event->sequence;
        }
    }
    hub_replay_fini(&replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str text = {.ptr = (const char *)data, .len = size};
    size_t end = hub_str_find(text, HUB_STR("\n"));
    check_id((hub_str){.ptr = text.ptr, .len = end < size ? end : size});
    check_store(end < size ? hub_str_from(text, end + 1) : HUB_STR_EMPTY);
    return 0;
}
