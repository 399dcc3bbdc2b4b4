/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One bound on the memory that many hold together, with fair shares. Each has an account and says
 * how much it holds. Where more is wanted than there is, an account above its share, which is the
 * whole divided by the number of those that hold anything, is refused; one below its share gets what
 * it wants, and the largest of all is told to give up what it holds. So nobody can take from the
 * many what is theirs, and nobody is in the way as long as there is enough. Thread: [loop].
 */
#ifndef HUB_BASE_BUDGET_H
#define HUB_BASE_BUDGET_H

#include "base/err.h"

typedef struct hub_budget hub_budget;
typedef struct hub_budget_account hub_budget_account;

enum { HUB_BUDGET_SIZES = 65 }; /* powers of two, and nothing */

/* The fields are private; embed it. */
struct hub_budget_account {
    hub_budget *budget;
    hub_budget_account *next; /* of those of a similar size */
    hub_budget_account *prev;
    size_t bytes;
    void (*on_evict)(hub_budget_account *account);
    bool is_evicted;
};

struct hub_budget {
    size_t max_bytes;
    size_t bytes; /* of all accounts, but those that were told to give up */
    size_t count; /* of accounts that hold anything */
    uint64_t refused;
    hub_budget_account *of_size[HUB_BUDGET_SIZES]; /* from 2^(i-1) to below 2^i */
};

void hub_budget_init(hub_budget *budget, size_t max_bytes);

/* Another bound from now on. Who is above it stays until more is wanted. */
void hub_budget_limit(hub_budget *budget, size_t max_bytes);

/* Begin an account that holds nothing. `budget` may be NULL: then nothing is bounded. `on_evict` is
 * called from inside another account's hub_budget_settle, at most once: give back soon, from the
 * loop, and call hub_budget_close then. It may not touch any account. */
void hub_budget_open(hub_budget_account *account, hub_budget *budget,
                     void (*on_evict)(hub_budget_account *account));

/* The account holds so many bytes now, or is about to. To hold less is never refused.
 * errors:  HUB_ELIMIT: not so many; the account is as it was */
hub_err hub_budget_settle(hub_budget_account *account, size_t bytes);

/* It holds nothing any more. May be called twice, and for zeroed memory. */
void hub_budget_close(hub_budget_account *account);

#endif
