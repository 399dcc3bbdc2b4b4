/* SPDX-License-Identifier: Apache-2.0 */
#include "http/replay.h"

#include "http/syntax.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void drop_oldest(hub_replay *replay)
{
    hub_replay_event *event = replay->first;
    replay->first = event->next;
    if (replay->first == NULL) {
        replay->last = NULL;
    }
    replay->bytes -= event->len;
    replay->count--;
    free(event);
}

static void drop_all(hub_replay *replay)
{
    while (replay->first != NULL) {
        drop_oldest(replay);
    }
}

/* Others need what it holds. A client that comes back does not find these events. */
static void on_evict(hub_budget_account *account)
{
    hub_replay *replay = (hub_replay *)((char *)account - offsetof(hub_replay, account));
    drop_all(replay);
    hub_budget_open(account, account->budget, on_evict);
}

void hub_replay_init(hub_replay *replay, size_t max_bytes, size_t max_events, hub_budget *budget)
{
    *replay = (hub_replay){.max_bytes = max_bytes, .max_events = max_events};
    hub_budget_open(&replay->account, budget, on_evict);
}

/* Say what is held, with `more` bytes that are to be. */
static hub_err settle(hub_replay *replay, size_t more)
{
    return hub_budget_settle(&replay->account,
                             replay->bytes + replay->count * sizeof *replay->first + more);
}

void hub_replay_fini(hub_replay *replay)
{
    drop_all(replay);
    hub_budget_close(&replay->account);
}

void hub_replay_add(hub_replay *replay, hub_event_id id, const hub_str *parts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += parts[i].len;
    }
    if (len > replay->max_bytes || replay->max_events == 0) {
        return;
    }
    while (replay->count > 0 &&
           (replay->count >= replay->max_events || replay->bytes + len > replay->max_bytes)) {
        drop_oldest(replay);
    }
    while (settle(replay, sizeof *replay->first + len) != HUB_OK) {
        if (replay->count == 0) {
            (void)settle(replay, 0); /* less is never refused */
            return;
        }
        drop_oldest(replay);
    }
    hub_replay_event *event = malloc(sizeof *event + len);
    if (event == NULL) {
        return;
    }
    *event = (hub_replay_event){.stream = id.stream, .sequence = id.sequence, .len = len};
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0) {
            memcpy(event->text + at, parts[i].ptr, parts[i].len);
            at += parts[i].len;
        }
    }
    if (replay->last != NULL) {
        replay->last->next = event;
    } else {
        replay->first = event;
    }
    replay->last = event;
    replay->bytes += len;
    replay->count++;
}

const hub_replay_event *hub_replay_next(const hub_replay *replay, hub_event_id after)
{
    const hub_replay_event *event = replay->first;
    while (event != NULL && (event->stream != after.stream || event->sequence <= after.sequence)) {
        event = event->next;
    }
    return event;
}

hub_str hub_event_id_write(hub_event_id id, char text[HUB_EVENT_ID_BYTES])
{
    int len = snprintf(text, HUB_EVENT_ID_BYTES, "%" PRIu32 "-%" PRIu64, id.stream, id.sequence);
    return (hub_str){.ptr = text, .len = (size_t)len};
}

/* Digits without a leading zero up to `max`, and what follows them. */
static bool read_number(hub_str *rest, uint64_t max, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t used = 0;
    for (; used < rest->len && hub_http_is_digit(rest->ptr[used]); used++) {
        uint64_t digit = (uint64_t)(rest->ptr[used] - '0');
        if (number > (max - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    if (used == 0 || (used > 1 && rest->ptr[0] == '0')) {
        return false;
    }
    *rest = hub_str_from(*rest, used);
    *ret_number = number;
    return true;
}

bool hub_event_id_read(hub_str text, hub_event_id *ret_id)
{
    uint64_t stream;
    uint64_t sequence;
    if (!read_number(&text, UINT32_MAX, &stream) || text.len == 0 || text.ptr[0] != '-') {
        return false;
    }
    text = hub_str_from(text, 1);
    if (!read_number(&text, UINT64_MAX, &sequence) || text.len > 0) {
        return false;
    }
    *ret_id = (hub_event_id){.stream = (uint32_t)stream, .sequence = sequence};
    return true;
}
