/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the lines of audit files are those that hubs have written, all of them, in their order
 * (chain.h). Files are given oldest first, line by line. What it keeps is bounded. Any thread, one at a
 * time; does no I/O.
 */
#ifndef HUB_HUB_AUDIT_VERIFY_H
#define HUB_HUB_AUDIT_VERIFY_H

#include "base/str.h"

#include <stdint.h>

typedef struct hub_audit_verifier hub_audit_verifier;

typedef struct hub_audit_verdicts {
    /* Something is wrong: where, and what. Borrowed. */
    void (*on_problem)(void *ctx, const char *file, uint64_t line, const char *what);
    /* Something to know that is no problem. */
    void (*on_note)(void *ctx, const char *file, uint64_t line, const char *what);
    void *ctx;
} hub_audit_verdicts;

typedef struct hub_audit_verified {
    uint64_t lines;    /* in chains */
    uint64_t unlinked; /* of an older hub, which made none */
    uint64_t chains;
    uint64_t problems;
    const char *last; /* digest of the last line, in hexadecimal; "": there is none */
} hub_audit_verified;

/* owns:    the result, hub_audit_verifier_destroy; NULL when out of memory */
hub_audit_verifier *hub_audit_verifier_create(const hub_audit_verdicts *verdicts);
void hub_audit_verifier_destroy(hub_audit_verifier *verifier); /* NULL is fine */

/* The next lines are those of this file; the name is borrowed until the next one. */
void hub_audit_verifier_begin_file(hub_audit_verifier *verifier, const char *file);

/* The next line, without its line break; `is_ended`: it had one. */
void hub_audit_verifier_take(hub_audit_verifier *verifier, hub_str line, bool is_ended);

/* What was found; borrowed. */
hub_audit_verified hub_audit_verifier_count(const hub_audit_verifier *verifier);

#endif
