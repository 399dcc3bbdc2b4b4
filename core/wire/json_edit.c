/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_edit.h"

#include <stdlib.h>

void hub_json_edits_init(hub_json_edits *edits)
{
    *edits = (hub_json_edits){.items = NULL};
    hub_buf_init(&edits->texts, SIZE_MAX / 4);
}

void hub_json_edits_fini(hub_json_edits *edits)
{
    free(edits->items);
    hub_buf_fini(&edits->texts);
}

/* What lies between the two becomes what is added to edits->texts from `text_at` on. */
static void add(hub_json_edits *edits, const char *begin, const char *end, size_t text_at)
{
    if (edits->count == edits->room) {
        size_t room = edits->room > 0 ? 2 * edits->room : 8;
        hub_json_edit *grown = realloc(edits->items, room * sizeof *grown);
        if (grown == NULL) {
            edits->failed = true;
            return;
        }
        edits->items = grown;
        edits->room = room;
    }
    edits->items[edits->count] = (hub_json_edit){.begin = begin,
                                                 .end = end,
                                                 .text_at = text_at,
                                                 .text_len = edits->texts.len - text_at,
                                                 .order = edits->count};
    edits->count++;
}

void hub_json_edit_replace(hub_json_edits *edits, hub_str raw, hub_str text)
{
    size_t at = edits->texts.len;
    hub_buf_add(&edits->texts, text);
    add(edits, raw.ptr, raw.ptr + raw.len, at);
}

static hub_json_change *find(hub_json_change *changes, size_t count, hub_str raw)
{
    for (size_t i = 0; i < count; i++) {
        if (hub_json_string_is(raw, changes[i].key)) {
            return &changes[i];
        }
    }
    return NULL;
}

/* What is known of a container while elements are taken out of it. */
typedef struct taking {
    const char *kept_end;  /* of the last element that stays; NULL: none yet */
    const char *last_end;  /* of the last element */
    const char *gone_from; /* of elements that are taken out in front of all that stay; or NULL */
} taking;

/* An element stays. */
static void keep(hub_json_edits *edits, taking *of, const char *begin, const char *end)
{
    if (of->gone_from != NULL) {
        add(edits, of->gone_from, begin, edits->texts.len);
        of->gone_from = NULL;
    }
    of->kept_end = end;
    of->last_end = end;
}

/* An element goes, with the comma in front of it if something stays there. */
static void take_out(hub_json_edits *edits, taking *of, const char *begin, const char *end)
{
    if (of->kept_end != NULL) {
        add(edits, of->last_end, end, edits->texts.len);
    } else if (of->gone_from == NULL) {
        of->gone_from = begin;
    }
    of->last_end = end;
}

/* No element stays: all of them go, and the commas between them. */
static void finish(hub_json_edits *edits, const taking *of)
{
    if (of->gone_from != NULL) {
        add(edits, of->gone_from, of->last_end, edits->texts.len);
    }
}

/* Members that are not there yet, behind the last one that stays. */
static void add_new(hub_json_edits *edits, hub_str object, const taking *of,
                    const hub_json_change *changes, size_t count)
{
    size_t at = edits->texts.len;
    bool has_more = of->kept_end != NULL;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].was_there || changes[i].is_kept || changes[i].value.len == 0) {
            continue;
        }
        if (has_more) {
            hub_buf_add_char(&edits->texts, ',');
        }
        hub_json_add_string(&edits->texts, changes[i].key);
        hub_buf_add_char(&edits->texts, ':');
        hub_buf_add(&edits->texts, changes[i].value);
        has_more = true;
    }
    const char *place = of->kept_end != NULL ? of->kept_end : object.ptr + 1;
    if (edits->texts.len > at) {
        add(edits, place, place, at);
    }
}

bool hub_json_edit_members(hub_json_edits *edits, hub_str object, hub_json_change *changes,
                           size_t count)
{
    taking of = {.kept_end = NULL};
    hub_str key;
    hub_str value;
    bool is_single = true;
    for (size_t i = 0; i < count; i++) {
        changes[i].was_there = false;
    }
    for (hub_json_iter it = hub_json_iterate(object); hub_json_next(&it, &key, &value);) {
        hub_json_change *change = find(changes, count, key);
        const char *end = value.ptr + value.len;
        if (change != NULL) {
            is_single = is_single && !change->was_there;
            change->was_there = true;
        }
        if (change != NULL && !change->is_kept && change->value.len == 0) {
            take_out(edits, &of, key.ptr, end);
            continue;
        }
        keep(edits, &of, key.ptr, end);
        if (change != NULL && !change->is_kept) {
            hub_json_edit_replace(edits, value, change->value);
        }
    }
    finish(edits, &of);
    add_new(edits, object, &of, changes, count);
    return is_single;
}

size_t hub_json_edit_strings(hub_json_edits *edits, hub_str array, hub_json_change *changes,
                             size_t count)
{
    taking of = {.kept_end = NULL};
    hub_str key;
    hub_str value;
    size_t left = 0;
    for (hub_json_iter it = hub_json_iterate(array); hub_json_next(&it, &key, &value);) {
        const hub_json_change *change = find(changes, count, value);
        if (change != NULL && !change->is_kept && change->value.len == 0) {
            take_out(edits, &of, value.ptr, value.ptr + value.len);
        } else {
            keep(edits, &of, value.ptr, value.ptr + value.len);
            left++;
        }
    }
    finish(edits, &of);
    return left;
}

/* By where they begin; what is put in stands where it was asked for first. */
static int by_place(const void *a, const void *b)
{
    const hub_json_edit *x = a;
    const hub_json_edit *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    bool is_empty_x = x->begin == x->end;
    bool is_empty_y = y->begin == y->end;
    if (is_empty_x != is_empty_y) {
        return is_empty_x ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

hub_err hub_json_edits_apply(hub_json_edits *edits, hub_str text, hub_buf *out)
{
    const char *at = text.ptr;
    if (edits->failed || !hub_buf_ok(&edits->texts)) {
        return HUB_ENOMEM;
    }
    if (edits->count > 0) {
        qsort(edits->items, edits->count, sizeof *edits->items, by_place);
    }
    for (size_t i = 0; i < edits->count; i++) {
        const hub_json_edit *edit = &edits->items[i];
        hub_assert(edit->begin >= at && edit->end <= text.ptr + text.len);
        hub_buf_add(out, hub_str_between(at, edit->begin));
        if (edit->text_len > 0) {
            hub_buf_add(out,
                        (hub_str){.ptr = edits->texts.ptr + edit->text_at, .len = edit->text_len});
        }
        at = edit->end;
    }
    hub_buf_add(out, hub_str_between(at, text.ptr + text.len));
    return out->failed;
}
