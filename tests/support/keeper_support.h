/* SPDX-License-Identifier: Apache-2.0 */
/* A toolset that keeps what it is asked, until the test tells it to answer. */
#ifndef PATCHBAY_TESTS_KEEPER_SUPPORT_H
#define PATCHBAY_TESTS_KEEPER_SUPPORT_H

#include "hub_fixture.h"

#include <patchbay/catalog.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"

/* A toolset that keeps what it is asked, until told. */
typedef struct keeper {
    puppet master;
    patchbay_call discovery; /* id 0: not asked */
    unsigned asked;
    patchbay_call calls[600];
    size_t count;
    size_t cancelled;
    size_t discovery_cancelled;
    uint64_t deadline_ms;
} keeper;

static inline void keep(puppet_instance *instance, patchbay_call call,
                        const patchbay_request *request)
{
    keeper *k = instance->puppet->ctx;
    if (hub_str_is(request->method, PATCHBAY_METHOD_DISCOVER)) {
        k->discovery = call;
        k->asked++;
    } else {
        k->deadline_ms = request->deadline_ms;
        k->calls[k->count++] = call;
    }
}

static inline void note_cancel(puppet_instance *instance, patchbay_call call)
{
    keeper *k = instance->puppet->ctx;
    if (call.id == k->discovery.id) {
        k->discovery_cancelled++;
    } else {
        k->cancelled++;
    }
}

static inline void init_keeper(keeper *k, const char *tools)
{
    *k = (keeper){
        .master = {
            .tools = tools, .defers = tools == NULL, .on_call = keep, .on_cancel = note_cancel}};
    k->master.ctx = k;
}

static inline void give_catalog(keeper *k, const char *tools)
{
    puppet_instance *instance = k->master.latest;
    assert_int_equal(instance->api->set_tools(instance->host, puppet_str(tools)), PATCHBAY_OK);
    (void)puppet_finish(instance, k->discovery, "{}");
}

static inline void answer(const keeper *k, size_t at)
{
    assert_int_equal(puppet_finish(k->master.latest, k->calls[at], "{\"content\":[]}"),
                     PATCHBAY_OK);
}

#endif
