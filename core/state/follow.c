/* SPDX-License-Identifier: Apache-2.0 */
/* Following changes: who wants to hear of which, and from where on. */
#include "base/cause.h"
#include "state/names.h"
#include "state/store_internal.h"

#include <stdio.h>
#include <stdlib.h>

void hub_store_free_watch(hub_state_watch *watch)
{
    free(watch->kind);
    free(watch->owner);
    free(watch);
}

/* Free the watches that have ended. */
static void sweep(hub_store *store)
{
    for (hub_state_watch **at = &store->watches; *at != NULL;) {
        hub_state_watch *watch = *at;
        if (watch->is_ended) {
            *at = watch->next;
            hub_store_free_watch(watch);
        } else {
            at = &watch->next;
        }
    }
    if (store->watches == NULL) {
        store->is_based = false;
        store->engine->watch(store->engine_state, false);
    }
}

static bool concerns(const hub_state_watch *watch, const hub_state_record *changed)
{
    return hub_str_is(changed->scope, watch->store->scope) &&
           hub_str_is(changed->kind, watch->kind) &&
           (watch->owner == NULL || hub_str_is(changed->owner, watch->owner));
}

/* Tell all watches. One that a callback makes stands in front of them, and knows this already. */
static void tell(hub_store *store, hub_state_event event, const hub_state_record *changed)
{
    const char *before = hub_cause_set(HUB_BY_STORE);
    for (hub_state_watch *watch = store->watches; watch != NULL; watch = watch->next) {
        if (!watch->is_ended && (changed == NULL || concerns(watch, changed))) {
            watch->on_change(watch->ctx, event, changed);
        }
    }
    (void)hub_cause_set(before);
}

void hub_store_tell_back(hub_store *store)
{
    store->is_telling = true;
    tell(store, HUB_STATE_BACK, NULL);
    store->is_telling = false;
    sweep(store);
}

/* Have the engine look what has changed; once for what comes together. */
void hub_store_look(hub_store *store)
{
    hub_state_job *job = NULL;
    if (store->is_looking || store->is_ending || store->watches == NULL) {
        store->looks_again = store->is_looking;
        return;
    }
    if (hub_store_make_job(store, HUB_STATE_LOOK, HUB_STR_EMPTY, &job, NULL) != HUB_OK) {
        return; /* the next event looks again */
    }
    job->seen = store->is_based ? store->seen : HUB_STATE_ANY;
    memcpy(job->epoch, store->epoch, sizeof job->epoch);
    store->is_looking = true;
    hub_store_submit(store, job);
}

void hub_store_finish_look(hub_store *store, hub_state_job *job)
{
    bool is_first = !store->is_based;
    store->is_looking = false;
    if (job->error.code == HUB_OK) {
        bool is_news = !is_first || job->event == HUB_STATE_OTHER;
        store->is_based = true;
        store->seen = job->seen;
        memcpy(store->epoch, job->epoch, sizeof store->epoch);
        store->is_telling = true;
        for (size_t i = 0; job->event == HUB_STATE_CHANGED && i < job->found_count; i++) {
            tell(store, HUB_STATE_CHANGED, &job->found[i]);
        }
        if (job->event != HUB_STATE_CHANGED && is_news) {
            tell(store, job->event, NULL);
        }
        store->is_telling = false;
        sweep(store);
    }
    if (store->looks_again || job->has_more) {
        store->looks_again = false;
        hub_store_look(store);
    }
}

void hub_store_on_stir(void *ctx)
{
    hub_store_look(ctx);
}

void hub_store_on_deaf(void *ctx, const char *why)
{
    hub_store *store = ctx;
    char notice[sizeof store->notice];
    (void)snprintf(notice, sizeof notice,
                   "changes of the store by other processes are not noticed: %s", why);
    hub_store_set_health(store, store->condition, store->reason, notice);
}

hub_err hub_state_watch_create(hub_store *store, const hub_state_range *range,
                               hub_state_on_change on_change, void *ctx,
                               hub_state_watch **ret_watch, hub_error *reterr)
{
    const hub_state_record name = {.scope = hub_str_of(store->scope),
                                   .kind = hub_str_of(range->kind->name),
                                   .owner = range->is_of_all ? HUB_STR_EMPTY : range->owner};
    hub_err err = hub_state_check_range(&name, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_state_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    watch->store = store;
    watch->on_change = on_change;
    watch->ctx = ctx;
    watch->kind = hub_str_dup(name.kind);
    watch->owner = range->is_of_all ? NULL : hub_str_dup(range->owner);
    if (watch->kind == NULL || (!range->is_of_all && watch->owner == NULL)) {
        hub_store_free_watch(watch);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    watch->next = store->watches;
    store->watches = watch;
    store->engine->watch(store->engine_state, true);
    if (!store->is_based) {
        hub_store_look(store); /* from where to follow; in front of whatever is asked after this */
    }
    *ret_watch = watch;
    return HUB_OK;
}

void hub_state_watch_destroy(hub_state_watch *watch)
{
    if (watch != NULL) {
        hub_store *store = watch->store;
        watch->is_ended = true;
        if (!store->is_telling) {
            sweep(store);
        }
    }
}
