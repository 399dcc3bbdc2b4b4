/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as text, one JSON object a line, behind a line that says what it is:
 *
 *     {"patchbayState":1,"epoch":"…"}
 *     {"scope":"…","kind":"…","owner":"…","key":"…","version":7,"document":{…}}
 *     {…,"secret":true,"keyId":"…","sealed":"hexadecimal digits"}   an encrypted secret
 *     {…,"secret":true}                                             one that was left out
 *
 * Pure functions, any thread.
 */
#ifndef HUB_STATE_EXPORT_H
#define HUB_STATE_EXPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "state/store.h"

/* Append the first line. */
void hub_state_export_begin(const char *epoch, hub_buf *out);

/* Append a record's line. A secret that is not sealed is left out unless `decrypted`. */
void hub_state_export_add(const hub_state_record *record, bool decrypted, hub_buf *out);

typedef struct hub_state_import_text {
    hub_state_record *records; /* in the arena */
    size_t count;
    size_t left_out; /* secrets that the export did not have */
} hub_state_import_text;

/* Read all of it. Names and documents are as the store takes them.
 * errors:  HUB_EPARSE, HUB_EINVAL, HUB_ELIMIT (more than HUB_LIMIT_STATE_IMPORT records, a document
 *          that is too long), HUB_ENOMEM; the text begins with "line N: " */
HUB_MUST_CHECK hub_err hub_state_export_read(hub_str text, hub_arena *arena,
                                             hub_state_import_text *ret_text, hub_error *reterr);

#endif
