/* SPDX-License-Identifier: Apache-2.0 */
/* What instance.c shares with the host interfaces of this room. Nobody else includes it. */
#ifndef HUB_MODULES_INSTANCE_INTERNAL_H
#define HUB_MODULES_INSTANCE_INTERNAL_H

#include "modules/instance.h"

#include <patchbay/catalog.h>
#include <patchbay/loop.h>
#include <patchbay/stream.h>
#include <patchbay/wire.h>
#include <patchbay/worker.h>

#include <pthread.h>

/* Something an instance holds and that the hub releases if the plugin did not. */
typedef struct hub_holding {
    struct hub_holding *next;
    struct hub_holding *prev;
    void (*release)(struct hub_holding *holding);
} hub_holding;

struct hub_module_env {
    struct ev_loop *loop;
    hub_worker_pool *workers;
    hub_process_table *processes;
    pthread_t loop_thread;
    ev_async wake;
    pthread_mutex_t lock; /* guards first, last, and each instance's `pending` and `closing` */
    struct hub_mail *first;
    struct hub_mail *last;
    hub_buf scratch; /* of wire/1 frame_request */
};

#define HUB_INSTANCE_MAGIC 0x48494e53u

struct patchbay_host {
    uint32_t magic;
    unsigned faults;
    hub_module_env *env;
    const hub_module *module;
    const char *key;
    const hub_instance_events *events;
    void *ctx;
    void *plugin; /* what create() returned */
    hub_holding *holdings;
    struct hub_mail *last_mail; /* made beforehand: closing must not fail */
    size_t pending; /* jobs and mails not yet taken */
    bool closing;
    bool creating;
    bool created;
};

/* Whether the calling thread is the loop's. */
bool hub_env_on_loop(const hub_module_env *env);

void hub_instance_hold(hub_instance *instance, hub_holding *holding);
void hub_instance_release(hub_instance *instance, hub_holding *holding);

/* Count and log a broken rule. [loop] */
void hub_instance_fault(hub_instance *instance, const char *rule);

/* Run fn(arg) on the loop, unless the instance is closed before. Any thread. */
HUB_MUST_CHECK int32_t hub_instance_post(hub_instance *instance, void (*fn)(void *arg), void *arg);

/* A job of the worker pool counts as pending, so that the instance outlives it. The ticket is the
 * note of the job's end, made beforehand because that note must not fail. Any thread.
 * returns: PATCHBAY_OK, PATCHBAY_ESTATE (closing), PATCHBAY_ENOMEM */
HUB_MUST_CHECK int32_t hub_instance_begin_job(hub_instance *instance, struct hub_mail **ret_ticket);
void hub_instance_end_job(struct hub_mail *ticket);

extern const patchbay_loop_v1 HUB_HOST_LOOP;
extern const patchbay_worker_v1 HUB_HOST_WORKER;
extern const patchbay_stream_v1 HUB_HOST_STREAM;
extern const patchbay_process_v1 HUB_HOST_PROCESS;
extern const patchbay_wire_v1 HUB_HOST_WIRE;
extern const patchbay_catalog_v1 HUB_HOST_CATALOG;

#endif
