/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/results/kept.h"

#include "base/limits.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <sys/random.h>

/* What one client has. */
typedef struct account {
    struct account *next;
    size_t bytes;
    size_t count;
    size_t name_bytes;
    char name[];
} account;

typedef struct entry {
    hub_kept_result result;
    account *of;
    size_t bytes;
    struct entry *older;
    struct entry *newer;
    char text[];
} entry;

struct hub_kept_results {
    entry *oldest;
    entry *newest;
    account *accounts; /* of those who have something */
    size_t count;
    size_t bytes;
    size_t most_bytes;
};

hub_kept_results *hub_kept_create(void)
{
    return calloc(1, sizeof(hub_kept_results));
}

/* ---- accounts -------------------------------------------------------------------------------- */

static hub_str name_of(const account *of)
{
    return (hub_str){.ptr = of->name, .len = of->name_bytes};
}

static account *find_account(const hub_kept_results *kept, hub_str name)
{
    account *at = kept->accounts;
    while (at != NULL && !hub_str_eq(name_of(at), name)) {
        at = at->next;
    }
    return at;
}

static account *get_account(hub_kept_results *kept, hub_str name)
{
    account *of = find_account(kept, name);
    if (of != NULL) {
        return of;
    }
    of = calloc(1, sizeof *of + name.len + 1);
    if (of != NULL) {
        memcpy(of->name, name.ptr, name.len);
        of->name_bytes = name.len;
        of->next = kept->accounts;
        kept->accounts = of;
    }
    return of;
}

static void drop_account_if_empty(hub_kept_results *kept, const account *of)
{
    account **at = &kept->accounts;
    while (of->count == 0 && *at != NULL) {
        account *here = *at;
        if (here == of) {
            *at = here->next;
            free(here);
            return;
        }
        at = &here->next;
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

static void drop_entry(hub_kept_results *kept, entry *gone)
{
    *(gone->older != NULL ? &gone->older->newer : &kept->oldest) = gone->newer;
    *(gone->newer != NULL ? &gone->newer->older : &kept->newest) = gone->older;
    gone->of->count--;
    gone->of->bytes -= gone->bytes;
    kept->count--;
    kept->bytes -= gone->bytes;
    drop_account_if_empty(kept, gone->of);
    free(gone);
}

/* The oldest of one client, or of all (NULL). */
static entry *oldest_of(const hub_kept_results *kept, const account *of)
{
    entry *at = kept->oldest;
    while (at != NULL && of != NULL && at->of != of) {
        at = at->newer;
    }
    return at;
}

/* Who has most, if `mine` had so many more bytes; in doubt, they. */
static account *most_bytes_of(const hub_kept_results *kept, account *mine, size_t more)
{
    account *most = mine;
    size_t most_bytes = mine->bytes + more;
    for (account *at = kept->accounts; at != NULL; at = at->next) {
        if (at != mine && at->bytes > most_bytes) {
            most = at;
            most_bytes = at->bytes;
        }
    }
    return most;
}

/* Whether there is room if each of the others kept at most as much as the new one takes. */
static bool would_fit(const hub_kept_results *kept, const account *mine, size_t bytes)
{
    size_t others = 0;
    for (const account *at = kept->accounts; at != NULL; at = at->next) {
        others += at == mine ? 0 : at->bytes < bytes ? at->bytes : bytes;
    }
    return bytes <= kept->most_bytes && others <= kept->most_bytes - bytes;
}

/* Make room for an entry of so many bytes, which `would_fit`. The account of whom it is for is not
 * freed meanwhile. */
static void make_room(hub_kept_results *kept, account *mine, size_t bytes)
{
    while (kept->bytes > kept->most_bytes - bytes) {
        drop_entry(kept, oldest_of(kept, most_bytes_of(kept, mine, bytes)));
    }
    while (kept->count >= HUB_LIMIT_RESULTS_KEPT) {
        account *most = mine;
        for (account *at = kept->accounts; at != NULL; at = at->next) {
            most = at->count > most->count ? at : most;
        }
        drop_entry(kept, oldest_of(kept, most->count > 1 ? most : NULL));
    }
}

void hub_kept_set_memory(hub_kept_results *kept, size_t most_bytes)
{
    kept->most_bytes = most_bytes;
    while (kept->bytes > most_bytes) {
        drop_entry(kept, oldest_of(kept, most_bytes_of(kept, kept->oldest->of, 0)));
    }
}

void hub_kept_destroy(hub_kept_results *kept)
{
    if (kept != NULL) {
        hub_kept_set_memory(kept, 0);
        free(kept);
    }
}

static hub_str copy(char **at, hub_str text)
{
    if (text.len > 0) {
        memcpy(*at, text.ptr, text.len);
    }
    hub_str copied = {.ptr = *at, .len = text.len};
    *at += text.len;
    return copied;
}

static bool make_id(char *ret_id)
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char bytes[HUB_RESULT_ID_BYTES / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        ret_id[2 * i] = DIGITS[bytes[i] >> 4];
        ret_id[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    return true;
}

static entry *make_entry(const hub_result_origin *origin, hub_str json, size_t bytes)
{
    entry *made = malloc(bytes);
    if (made == NULL) {
        return NULL;
    }
    *made = (entry){.bytes = bytes};
    char *at = made->text;
    made->result.json = copy(&at, json);
    made->result.origin = (hub_result_origin){
        .principal = copy(&at, origin->principal),
        .profile = copy(&at, origin->profile),
        .toolset = copy(&at, origin->toolset),
        .tool = copy(&at, origin->tool),
    };
    if (!make_id(made->result.id)) {
        free(made);
        return NULL;
    }
    return made;
}

hub_err hub_kept_add(hub_kept_results *kept, const hub_result_origin *origin, hub_str json,
                     const hub_kept_result **ret_result)
{
    size_t bytes = sizeof(entry) + json.len + origin->principal.len + origin->profile.len +
                   origin->toolset.len + origin->tool.len;
    if (!would_fit(kept, find_account(kept, origin->whose), bytes)) {
        return HUB_ELIMIT;
    }
    account *of = get_account(kept, origin->whose);
    if (of == NULL) {
        return HUB_ENOMEM;
    }
    entry *made = make_entry(origin, json, bytes);
    if (made == NULL) {
        drop_account_if_empty(kept, of);
        return HUB_ENOMEM;
    }
    of->count++; /* it is there, so the account stays */
    made->of = of;
    make_room(kept, of, bytes);
    of->bytes += bytes;
    kept->bytes += bytes;
    kept->count++;
    made->older = kept->newest;
    *(kept->newest != NULL ? &kept->newest->newer : &kept->oldest) = made;
    kept->newest = made;
    *ret_result = &made->result;
    return HUB_OK;
}

const hub_kept_result *hub_kept_find(const hub_kept_results *kept, hub_str principal,
                                     hub_str profile, hub_str id)
{
    for (const entry *at = kept->newest; at != NULL && id.len == HUB_RESULT_ID_BYTES;
         at = at->older) {
        const hub_result_origin *origin = &at->result.origin;
        if (CRYPTO_memcmp(at->result.id, id.ptr, HUB_RESULT_ID_BYTES) == 0) {
            return hub_str_eq(origin->principal, principal) && hub_str_eq(origin->profile, profile)
                       ? &at->result
                       : NULL;
        }
    }
    return NULL;
}

void hub_kept_forget(hub_kept_results *kept, hub_str toolset)
{
    for (entry *at = kept->oldest; at != NULL;) {
        entry *newer = at->newer;
        if (hub_str_eq(at->result.origin.toolset, toolset)) {
            drop_entry(kept, at);
        }
        at = newer;
    }
}

size_t hub_kept_count(const hub_kept_results *kept)
{
    return kept->count;
}

size_t hub_kept_bytes(const hub_kept_results *kept)
{
    return kept->bytes;
}
