/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/audit/verify.h"

#include "base/limits.h"
#include "hub/audit/chain.h"
#include "wire/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

/* A process that has written. */
typedef struct seen_chain {
    char id[HUB_CHAIN_ID_BYTES];
    uint64_t seq;
    char digest[HUB_DIGEST_HEX_BYTES]; /* of its last line */
    const char *file;                  /* where that is … */
    uint64_t line;
} seen_chain;

struct hub_audit_verifier {
    hub_audit_verdicts verdicts;
    const char *file;
    uint64_t line; /* of the file */
    bool is_begun; /* some line was in a chain */
    hub_audit_verified found;
    size_t newest; /* of the two below, the place that was written last */
    seen_chain chains[HUB_LIMIT_AUDIT_CHAINS];
    /* Of the lines before: where a chain may begin. */
    char recent[HUB_LIMIT_AUDIT_CHAINS][HUB_DIGEST_HEX_BYTES];
    size_t recent_at;
    char last[HUB_DIGEST_HEX_BYTES];
};

/* The members of a line that tie it to others. */
typedef struct link {
    hub_str chain;
    uint64_t seq;
    hub_str prev;
} link;

static void tell_problem(hub_audit_verifier *verifier, uint64_t line, const char *what)
{
    verifier->found.problems++;
    verifier->verdicts.on_problem(verifier->verdicts.ctx, verifier->file, line, what);
}

/* ---- one line -------------------------------------------------------------------------------- */

static bool read_link(hub_str line, link *ret_link)
{
    hub_str whole;
    return hub_json_check(line, &whole, NULL) == HUB_OK &&
           hub_json_type_of(whole) == HUB_JSON_OBJECT &&
           hub_json_plain(hub_json_get(whole, HUB_STR("chain")), &ret_link->chain) &&
           ret_link->chain.len == HUB_CHAIN_ID_BYTES - 1 &&
           hub_json_to_u64(hub_json_get(whole, HUB_STR("seq")), &ret_link->seq) &&
           ret_link->seq > 0 &&
           hub_json_plain(hub_json_get(whole, HUB_STR("prev")), &ret_link->prev) &&
           ret_link->prev.len == HUB_DIGEST_HEX_BYTES - 1;
}

static bool is_object(hub_str line)
{
    hub_str whole;
    return hub_json_check(line, &whole, NULL) == HUB_OK &&
           hub_json_type_of(whole) == HUB_JSON_OBJECT;
}

static seen_chain *find_chain(hub_audit_verifier *verifier, hub_str id)
{
    for (size_t i = 0; i < HUB_LIMIT_AUDIT_CHAINS; i++) {
        if (hub_str_is(id, verifier->chains[i].id)) {
            return &verifier->chains[i];
        }
    }
    return NULL;
}

static bool is_recent(const hub_audit_verifier *verifier, hub_str digest)
{
    for (size_t i = 0; i < HUB_LIMIT_AUDIT_CHAINS; i++) {
        if (hub_str_is(digest, verifier->recent[i])) {
            return true;
        }
    }
    return false;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* The first line that is seen of a process. */
static seen_chain *begin_chain(hub_audit_verifier *verifier, const link *own)
{
    seen_chain *chain = &verifier->chains[verifier->newest++ % HUB_LIMIT_AUDIT_CHAINS];
    bool is_first = !verifier->is_begun;
    bool is_at_top = verifier->line == 1;
    if (own->seq > 1 && is_first && is_at_top) {
        verifier->verdicts.on_note(verifier->verdicts.ctx, verifier->file, verifier->line,
                                   "the lines before this one are in an older file, which was not "
                                   "given");
    } else if (own->seq > 1) {
        tell_problem(verifier, verifier->line,
                     "the first lines of this process are missing before this one: they were "
                     "removed, or are in a file that was not given");
    } else if (hub_str_is(own->prev, ZEROS)) {
        if (!is_at_top) {
            tell_problem(verifier, verifier->line,
                         "a hub began here with an empty file: the lines before this one were not "
                         "there then");
        }
    } else if (is_first && is_at_top) {
        verifier->verdicts.on_note(verifier->verdicts.ctx, verifier->file, verifier->line,
                                   "the line before this one is in an older file, which was not "
                                   "given");
    } else if (!is_recent(verifier, own->prev)) {
        tell_problem(verifier, verifier->line,
                     "the line that this one was written behind is not there: it was changed or "
                     "removed");
    }
    *chain = (seen_chain){.seq = 0};
    (void)snprintf(chain->id, sizeof chain->id, HUB_STR_FMT, HUB_STR_ARG(own->chain));
    verifier->found.chains++;
    return chain;
}

/* Why a line does not follow the one before it of its chain. */
static void explain(hub_audit_verifier *verifier, const seen_chain *before, const link *own)
{
    char what[256];
    if (own->seq > before->seq + 1) {
        (void)snprintf(what, sizeof what,
                       "%" PRIu64 " %s missing before this one (numbers %" PRIu64 " to %" PRIu64
                       " of its process)",
                       own->seq - before->seq - 1,
                       own->seq == before->seq + 2 ? "line is" : "lines are", before->seq + 1,
                       own->seq - 1);
        tell_problem(verifier, verifier->line, what);
    } else if (own->seq <= before->seq) {
        (void)snprintf(what, sizeof what,
                       "this line was inserted, copied or moved: its number is %" PRIu64
                       ", behind number %" PRIu64,
                       own->seq, before->seq);
        tell_problem(verifier, verifier->line, what);
    } else {
        (void)snprintf(what, sizeof what,
                       "line %" PRIu64 " of %.100s was changed after it was written, or this one's "
                       "`prev` was",
                       before->line, before->file);
        tell_problem(verifier, verifier->line, what);
    }
}

static void take_link(hub_audit_verifier *verifier, const link *own, const char *digest)
{
    seen_chain *chain = find_chain(verifier, own->chain);
    if (chain == NULL) {
        chain = begin_chain(verifier, own);
    } else if (own->seq != chain->seq + 1 || !hub_str_is(own->prev, chain->digest)) {
        explain(verifier, chain, own);
    }
    chain->seq = own->seq > chain->seq ? own->seq : chain->seq;
    chain->file = verifier->file;
    chain->line = verifier->line;
    (void)snprintf(chain->digest, sizeof chain->digest, "%s", digest); /* fits */
    verifier->is_begun = true;
    verifier->found.lines++;
}

/* ---- its use --------------------------------------------------------------------------------- */

void hub_audit_verifier_take(hub_audit_verifier *verifier, hub_str line, bool is_ended)
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    link own;
    verifier->line++;
    hub_digest_of(line, bytes);
    hub_digest_hex(bytes, verifier->last);
    if (read_link(line, &own)) {
        take_link(verifier, &own, verifier->last);
        if (!is_ended) {
            tell_problem(verifier, verifier->line, "the line break at the end was removed");
        }
    } else if (!is_ended || !is_object(line)) {
        tell_problem(
            verifier, verifier->line,
            "this is a part of a line, or none: the machine or its disk failed while it was "
            "written, or somebody has cut or inserted it");
    } else if (verifier->is_begun) {
        tell_problem(verifier, verifier->line,
                     "this line has no place in a chain: it was inserted");
    } else {
        verifier->found.unlinked++; /* of a hub that made no chains */
    }
    (void)snprintf(verifier->recent[verifier->recent_at++ % HUB_LIMIT_AUDIT_CHAINS],
                   HUB_DIGEST_HEX_BYTES, "%s", verifier->last); /* fits */
}

void hub_audit_verifier_begin_file(hub_audit_verifier *verifier, const char *file)
{
    verifier->file = file;
    verifier->line = 0;
}

hub_audit_verified hub_audit_verifier_count(const hub_audit_verifier *verifier)
{
    hub_audit_verified found = verifier->found;
    found.last = verifier->last;
    return found;
}

hub_audit_verifier *hub_audit_verifier_create(const hub_audit_verdicts *verdicts)
{
    hub_audit_verifier *verifier = calloc(1, sizeof *verifier);
    if (verifier != NULL) {
        verifier->verdicts = *verdicts;
    }
    return verifier;
}

void hub_audit_verifier_destroy(hub_audit_verifier *verifier)
{
    free(verifier);
}
