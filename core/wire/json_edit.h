/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of JSON text: some of its values are replaced, members are added or taken out, and every
 * other byte stays as it was. The text is not parsed into anything and written anew: changes are
 * spans of it, each with what stands there instead. Pure functions, any thread.
 */
#ifndef HUB_WIRE_JSON_EDIT_H
#define HUB_WIRE_JSON_EDIT_H

#include "wire/json.h"

/* One change: what lies between the two becomes a piece of hub_json_edits.texts. */
typedef struct hub_json_edit {
    const char *begin;
    const char *end;
    size_t text_at;
    size_t text_len;
    size_t order;
} hub_json_edit;

typedef struct hub_json_edits {
    hub_json_edit *items;
    size_t count;
    size_t room;
    hub_buf texts;
    bool failed; /* out of memory */
} hub_json_edits;

/* What becomes of a member of an object, or of a string in an array. */
typedef struct hub_json_change {
    hub_str key;   /* decoded */
    hub_str value; /* raw; empty: it is taken out, with one comma */
    bool is_kept;  /* whatever `value` is, it stays as it is */
    bool was_there;
} hub_json_change;

void hub_json_edits_init(hub_json_edits *edits);
void hub_json_edits_fini(hub_json_edits *edits);

/* `raw`, a slice of the text, becomes `text`. */
void hub_json_edit_replace(hub_json_edits *edits, hub_str raw, hub_str text);

/* Change members of an object in the text; one with a value that is not there is added at the end.
 * Says of each whether it was there. Time: members times changes. False: a member that is to change
 * occurs twice. */
HUB_MUST_CHECK bool hub_json_edit_members(hub_json_edits *edits, hub_str object,
                                          hub_json_change *changes, size_t count);

/* Take strings out of an array in the text: those that equal the key of a change without a value.
 * Returns how many elements stay. */
size_t hub_json_edit_strings(hub_json_edits *edits, hub_str array, hub_json_change *changes,
                             size_t count);

/* Append the text with all changes. Spans of changes must not overlap.
 * errors:  HUB_ENOMEM, and what the buffer says */
HUB_MUST_CHECK hub_err hub_json_edits_apply(hub_json_edits *edits, hub_str text, hub_buf *out);

#endif
