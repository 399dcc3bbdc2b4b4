/* SPDX-License-Identifier: Apache-2.0 */
#include "net/deadline.h"

void hub_deadline_stop(hub_deadline *item)
{
    hub_deadlines *list = item->list;
    if (list == NULL) {
        return;
    }
    if (item->prev != NULL) {
        item->prev->next = item->next;
    } else {
        list->first = item->next;
    }
    if (item->next != NULL) {
        item->next->prev = item->prev;
    } else {
        list->last = item->prev;
    }
    *item = (hub_deadline){.since_ms = item->since_ms};
}

void hub_deadline_start(hub_deadlines *list, hub_deadline *item, uint64_t now_ms)
{
    hub_deadline_stop(item);
    *item = (hub_deadline){.prev = list->last, .list = list, .since_ms = now_ms};
    if (list->last != NULL) {
        list->last->next = item;
    } else {
        list->first = item;
    }
    list->last = item;
}

hub_deadline *hub_deadline_late(const hub_deadlines *list, uint64_t now_ms, uint64_t after_ms)
{
    hub_deadline *first = list->first;
    return first != NULL && now_ms >= first->since_ms + after_ms ? first : NULL;
}
