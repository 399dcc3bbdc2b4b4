/* SPDX-License-Identifier: Apache-2.0 */
/* A record of a choice (remember.h), read. Thread: [loop]. */
#ifndef HUB_HUB_REMEMBER_RECORD_H
#define HUB_HUB_REMEMBER_RECORD_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Keys of toolsets, sorted. */
typedef struct remember_keys {
    hub_str *items;
    size_t count;
} remember_keys;

/* All zeros: nothing is chosen. */
typedef struct remember_record {
    char *text; /* what the spans lie in */
    remember_keys enabled;
    remember_keys disabled;
    hub_str equipped; /* empty: nothing */
} remember_record;

/* Read a document. Members that nobody knows are left out.
 * owns:    *ret_record, remember_record_fini
 * errors:  HUB_EINVAL (it is no such record), HUB_ENOMEM */
HUB_MUST_CHECK hub_err remember_record_read(hub_str document, remember_record *ret_record);
void remember_record_fini(remember_record *record);

/* Whether the record says nothing. */
bool remember_record_is_empty(const remember_record *record);

/* Append the document. */
void remember_record_write(const remember_record *record, hub_buf *out);

void remember_keys_sort(remember_keys *keys);
bool remember_keys_have(const remember_keys *keys, hub_str key);

#endif
