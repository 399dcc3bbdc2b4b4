/* SPDX-License-Identifier: Apache-2.0 */
/* All that happens, as it happens: a stream of events, or those since the last time. */
#include "hub/admin/events.h"

#include "base/clock.h"
#include "base/limits.h"
#include "web/api/pending.h"
#include "web/api/route.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

enum { MOST_WAIT_S = 25 };

typedef struct watching {
    hub_api_pending pending; /* first: what is pending is its watching */
    hub_event_reader reader;
    hub_api *api;
    hub_orchestrator *hub;
    hub_web_exchange *exchange;
    bool is_stream;
} watching;

static watching *of_reader(hub_event_reader *reader)
{
    return (watching *)((char *)reader - offsetof(watching, reader));
}

static void leave(watching *one)
{
    hub_api_pending **list = hub_api_pending_of(one->api);
    DL_DELETE(*list, &one->pending);
    hub_events_leave(one->hub, &one->reader);
    if (hub_events_readers(one->hub) == 0) {
        hub_buf_fini(&hub_api_piece_of(one->api)->text);
        hub_api_piece_of(one->api)->to = hub_api_piece_of(one->api)->from;
    }
}

static void on_gone(void *ctx)
{
    leave(ctx);
    free(ctx);
}

static const hub_web_waiter WAITER = {.on_gone = on_gone};

/* ---- a stream -------------------------------------------------------------------------------- */

/* What was missed is told as an event, too. */
static void write_missed(const watching *one, hub_buf *out, uint64_t missed)
{
    char text[48];
    if (missed > 0) {
        int len = snprintf(text, sizeof text, "{\"count\":%" PRIu64 "}", missed); /* has room */
        const hub_web_event event = {.name = HUB_STR("dropped"),
                                     .data = {.ptr = text, .len = (size_t)len}};
        hub_web_write_event(one->exchange, out, &event);
    }
}

static void write_event(const watching *one, hub_buf *out, const hub_event *event)
{
    char id[24];
    int len = snprintf(id, sizeof id, "%" PRIu64, event->number); /* has room */
    const hub_web_event written = {
        .name = event->name, .id = {.ptr = id, .len = (size_t)len}, .data = event->json};
    hub_web_write_event(one->exchange, out, &written);
}

/* Write what somebody is sent who has seen as much as this reader: so many events at most, and no more
 * than what a peer may owe but for the last. */
static void write_piece(const watching *one, hub_api_piece *piece, size_t most)
{
    hub_event_reader at = {.seen = one->reader.seen};
    const hub_event *event = NULL;
    hub_buf_clear(&piece->text);
    piece->from = at.seen;
    piece->missed = 0;
    piece->count = 0;
    do {
        uint64_t missed;
        event = hub_events_next(one->hub, &at, &missed);
        write_missed(one, &piece->text, missed);
        piece->missed += missed;
        if (event != NULL) {
            write_event(one, &piece->text, event);
            piece->count++;
        }
    } while (event != NULL && piece->count < most && piece->text.len < HUB_LIMIT_EVENT_OWED_BYTES);
    piece->to = hub_buf_ok(&piece->text) ? at.seen : piece->from; /* else later, perhaps */
}

/* Send what is new, written once for all who are at the same place. */
static void go_on(watching *one)
{
    hub_api_piece *piece = hub_api_piece_of(one->api);
    size_t left = hub_events_share(one->hub);
    while (left > 0 && one->reader.seen < hub_events_newest(one->hub) &&
           hub_web_owed(one->exchange) <= HUB_LIMIT_EVENT_OWED_BYTES) {
        if (piece->from != one->reader.seen || piece->to == piece->from) {
            write_piece(one, piece, left);
        }
        if (piece->to == piece->from ||
            hub_web_send(one->exchange, hub_buf_str(&piece->text)) != HUB_OK) {
            return; /* the peer is gone: its waiter is told */
        }
        hub_events_follow(one->hub, &one->reader, piece->to, piece->missed);
        left -= piece->count < left ? piece->count : left;
    }
}

/* ---- those since the last time --------------------------------------------------------------- */

static void answer_list(watching *one)
{
    hub_buf out;
    uint64_t all_missed = 0;
    uint64_t missed;
    size_t left = hub_events_share(one->hub);
    const hub_event *event;
    hub_buf_init(&out, HUB_LIMIT_EVENT_BYTES + HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"events\":["));
    while (left-- > 0) {
        event = hub_events_next(one->hub, &one->reader, &missed);
        hub_events_follow(one->hub, &one->reader, one->reader.seen, missed);
        all_missed += missed;
        if (event == NULL) {
            break;
        }
        hub_json_add_comma(&out);
        hub_buf_add(&out, event->json);
    }
    hub_buf_printf(&out, "],\"next\":%" PRIu64 ",\"missed\":%" PRIu64 "}", one->reader.seen,
                   all_missed);
    hub_events_linger(one->hub);
    leave(one);
    hub_api_answer(one->exchange, 200, &out);
    free(one);
}

static void on_turn(hub_event_reader *reader)
{
    watching *one = of_reader(reader);
    if (one->is_stream) {
        go_on(one);
    } else {
        answer_list(one);
    }
}

static void end(hub_api_pending *pending)
{
    watching *one = (watching *)pending;
    if (one->is_stream) {
        leave(one);
        hub_web_end(one->exchange);
        free(one);
    } else {
        answer_list(one);
    }
}

/* ---- beginning ------------------------------------------------------------------------------- */

static bool wants_stream(const hub_api_asked *asked)
{
    hub_str accept;
    return hub_web_can_stream(asked->exchange) &&
           hub_web_find_header(asked->request, HUB_STR("Accept"), &accept) &&
           hub_str_find(accept, HUB_STR("text/event-stream")) != SIZE_MAX;
}

/* The event that somebody saw last who comes back. */
static uint64_t last_seen(const hub_api_asked *asked, uint64_t since)
{
    hub_str id;
    uint64_t number = since;
    if (hub_web_find_header(asked->request, HUB_STR("Last-Event-ID"), &id) &&
        !hub_json_to_u64(id, &number)) {
        number = since;
    }
    return number;
}

static void serve_events(hub_api_asked *asked)
{
    uint64_t since;
    uint64_t wait_s;
    if (!hub_api_query_number(asked, "since", 0, INT64_MAX, &since) ||
        !hub_api_query_number(asked, "wait", 0, MOST_WAIT_S, &wait_s)) {
        return;
    }
    watching *one = calloc(1, sizeof *one);
    if (one == NULL) {
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        return;
    }
    *one = (watching){.pending = {.end = end, .identity = asked->identity, .only_looks = true},
                      .reader = {.on_turn = on_turn},
                      .api = asked->api,
                      .hub = asked->hub,
                      .exchange = asked->exchange,
                      .is_stream = wants_stream(asked)};
    if (hub_events_join(asked->hub, &one->reader, last_seen(asked, since)) != HUB_OK) {
        hub_api_fail(asked->exchange, 429, "limit",
                     "%d clients read events already, which is the most there may be",
                     HUB_LIMIT_EVENT_READERS);
        free(one);
        return;
    }
    hub_api_pending **list = hub_api_pending_of(asked->api);
    DL_APPEND(*list, &one->pending);
    one->reader.until_ms = one->is_stream ? 0 : hub_clock_now_ms() + wait_s * 1000;
    if (one->is_stream) {
        hub_web_wait(one->exchange, &WAITER, one);
        if (hub_web_stream(one->exchange) == HUB_OK) {
            go_on(one);
        }
    } else if (wait_s == 0) {
        answer_list(one);
    } else {
        hub_web_wait(one->exchange, &WAITER, one);
    }
}

static const hub_api_param PARAMS[] = {
    {"since", "{\"type\":\"integer\",\"minimum\":0}",
     "The number `next` of the answer before; 0: from now on."},
    {"wait", "{\"type\":\"integer\",\"minimum\":0,\"maximum\":25}",
     "Seconds to wait for events, if there are none."},
    {NULL, NULL, NULL},
};

const hub_api_route HUB_API_EVENT_ROUTES[] = {
    {.method = "GET",
     .path = "/events",
     .scope = HUB_API_READ,
     .summary =
         "All that happens: with Accept: text/event-stream as a stream, else since a number.",
     .params = PARAMS,
     .streams = true,
     .handle = serve_events},
    {.method = NULL},
};
