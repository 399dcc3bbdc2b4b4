/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets that must not be shown: one registry for the process, of which whoever writes something
 * for people asks what to leave out. The configuration registers what it was told in confidence;
 * bearer tokens are known by their form. The log
 * masks what it writes because main gives it hub_redact (hub_log_mask_by). A secret is masked wherever it stands, also as a part of a
 * word, also when the text ends in the middle of it (or goes on with "..."), and also as JSON
 * writes it.
 *
 * A secret of several lines is masked line by line; lines below HUB_LIMIT_SECRET_LEAST_BYTES are
 * not: half of every text would be masked. What is masked takes time in proportion to the text,
 * whatever the number of secrets (Aho and Corasick, "Efficient string matching", CACM 18(6)), and
 * nobody who chooses the text can make it more. Any thread.
 */
#ifndef HUB_REDACT_REDACT_H
#define HUB_REDACT_REDACT_H

#include "base/buf.h"

/* Secrets that belong together, as those of one configuration. */
typedef struct hub_redact_set hub_redact_set;

/* NULL when out of memory. */
hub_redact_set *hub_redact_set_create(void);

/* They are forgotten later, when room is needed: what knew them may still talk. NULL is fine. */
void hub_redact_set_destroy(hub_redact_set *set);

/* Register a secret. What is too short is ignored.
 * errors:  HUB_ELIMIT (HUB_LIMIT_SECRET_BYTES in all are in use), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_redact_set_add(hub_redact_set *set, hub_str secret);

/* Append `text` masked, and say so; false, and nothing appended, when there is nothing to mask.
 * Without memory for it, all of the text is masked. */
bool hub_redact(hub_str text, hub_buf *out);

/* Bytes in use of HUB_LIMIT_SECRET_BYTES. */
size_t hub_redact_size(void);

#endif
