/* SPDX-License-Identifier: Apache-2.0 */
#include "base/budget.h"

static size_t size_of(size_t bytes)
{
    return bytes == 0 ? 0 : (size_t)(64 - __builtin_clzll(bytes));
}

void hub_budget_init(hub_budget *budget, size_t max_bytes)
{
    *budget = (hub_budget){.max_bytes = max_bytes};
}

void hub_budget_limit(hub_budget *budget, size_t max_bytes)
{
    budget->max_bytes = max_bytes;
}

void hub_budget_open(hub_budget_account *account, hub_budget *budget,
                     void (*on_evict)(hub_budget_account *account))
{
    *account = (hub_budget_account){.budget = budget, .on_evict = on_evict};
}

static void leave(hub_budget_account *account)
{
    hub_budget *budget = account->budget;
    if (account->bytes == 0) {
        return;
    }
    if (account->prev != NULL) {
        account->prev->next = account->next;
    } else {
        budget->of_size[size_of(account->bytes)] = account->next;
    }
    if (account->next != NULL) {
        account->next->prev = account->prev;
    }
    budget->bytes -= account->bytes;
    budget->count--;
    account->bytes = 0;
    account->next = NULL;
    account->prev = NULL;
}

static void join(hub_budget_account *account, size_t bytes)
{
    hub_budget *budget = account->budget;
    hub_budget_account **first = &budget->of_size[size_of(bytes)];
    if (bytes == 0) {
        return;
    }
    account->bytes = bytes;
    account->next = *first;
    if (*first != NULL) {
        (*first)->prev = account;
    }
    *first = account;
    budget->bytes += bytes;
    budget->count++;
}

/* The largest of all; accounts of its size are no more than fit into the budget. */
static hub_budget_account *find_largest(const hub_budget *budget)
{
    hub_budget_account *largest = NULL;
    for (size_t i = HUB_BUDGET_SIZES; i-- > 0 && largest == NULL;) {
        for (hub_budget_account *at = budget->of_size[i]; at != NULL; at = at->next) {
            largest = largest == NULL || at->bytes > largest->bytes ? at : largest;
        }
    }
    return largest;
}

/* The account is not in the lists. Whether it can have so many bytes, be it at others' cost. */
static bool make_room(hub_budget *budget, size_t bytes)
{
    hub_budget_account *largest;
    if (budget->bytes <= budget->max_bytes && bytes <= budget->max_bytes - budget->bytes) {
        return true;
    }
    if (bytes > budget->max_bytes / (budget->count + 1)) {
        budget->refused++;
        return false;
    }
    do {
        largest = find_largest(budget);
        hub_assert(largest != NULL); /* without any, it has all as its share */
        leave(largest);
        largest->is_evicted = true;
        largest->on_evict(largest);
    } while (budget->bytes > budget->max_bytes || bytes > budget->max_bytes - budget->bytes);
    return true;
}

hub_err hub_budget_settle(hub_budget_account *account, size_t bytes)
{
    hub_budget *budget = account->budget;
    size_t before = account->bytes;
    if (budget == NULL || bytes == before) {
        return HUB_OK;
    }
    if (account->is_evicted) {
        return bytes > before ? HUB_ELIMIT : HUB_OK;
    }
    leave(account);
    bool may = bytes < before || make_room(budget, bytes);
    join(account, may ? bytes : before);
    return may ? HUB_OK : HUB_ELIMIT;
}

void hub_budget_close(hub_budget_account *account)
{
    if (account->budget != NULL) {
        leave(account);
        account->budget = NULL;
    }
}
