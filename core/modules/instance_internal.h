/* SPDX-License-Identifier: Apache-2.0 */
/* What instance.c shares with the host interfaces of this room. Nobody else includes it. */
#ifndef HUB_MODULES_INSTANCE_INTERNAL_H
#define HUB_MODULES_INSTANCE_INTERNAL_H

#include "modules/instance.h"
#include "modules/watchdog.h"

#include <patchbay/catalog.h>
#include <patchbay/client.h>
#include <patchbay/login.h>
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

typedef enum hub_mail_kind {
    HUB_MAIL_FINISH,
    HUB_MAIL_PROGRESS,
    HUB_MAIL_LIST,
    HUB_MAIL_UPDATED,
    HUB_MAIL_MESSAGE,
    HUB_MAIL_RELEASE,
    HUB_MAIL_ASK,
    HUB_MAIL_WITHDRAW,
    HUB_MAIL_ELICITED,
    HUB_MAIL_POST,
    HUB_MAIL_WAKE, /* only to look whether a closing instance is done */
} hub_mail_kind;

/* Something said on another thread, on its way to the loop. */
typedef struct hub_mail {
    struct hub_mail *next;
    hub_instance *instance;
    hub_mail_kind kind;
    int32_t status;
    uint32_t list; /* PATCHBAY_TOOLS, … */
    uint64_t call;
    const char *fault; /* of a finish: the rule that it broke; NULL: none */
    void (*fn)(void *arg);
    patchbay_on_answer *on_answer; /* of a question, whose key and method come first in json */
    void *arg;
    size_t key_len;
    size_t method_len;
    size_t len;
    char json[];
} hub_mail;

/* A call that was finished on another thread when there was no memory for the mail. */
typedef struct hub_lost_call {
    hub_instance *instance;
    uint64_t call;
} hub_lost_call;

#define HUB_LOST_CALLS 64 /* until the loop comes round; more of them end by their deadline */

struct hub_module_env {
    struct ev_loop *loop;
    hub_worker_pool *workers;
    hub_process_table *processes;
    hub_watchdog *watchdog;
    pthread_t loop_thread;
    size_t max_message_bytes; /* of a stream, whatever a plugin asks for */
    const struct hub_lineage *lineage;
    hub_module_admit *admit; /* NULL: any number of servers may run */
    void *admit_ctx;
    uint64_t lent_ms; /* that the loop has spent on starting processes for plugins, in all */
    ev_async wake;
    /* guards first, last, and of each instance `pending`, `mail_bytes` and `closing` */
    pthread_mutex_t lock;
    hub_mail *first;
    hub_mail *last;
    hub_lost_call lost[HUB_LOST_CALLS]; /* likewise guarded, as their number */
    size_t lost_count;
    hub_buf scratch; /* of wire/1 frame_request */
};

#define HUB_INSTANCE_MAGIC 0x48494e53u

/* Calls of which is known that the instance has finished them, to tell a second finish from one
 * that comes too late. */
#define HUB_INSTANCE_FINISHED 64

/* Bytes of the reason why a list was refused; a longer one is cut. */
#define HUB_INSTANCE_REFUSAL 128

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
    hub_mail *last_mail; /* made beforehand: closing must not fail */
    size_t pending;      /* jobs and mails not yet taken */
    size_t mail_bytes;   /* of JSON in them */
    hub_worker_lane jobs;
    uint64_t finished[HUB_INSTANCE_FINISHED];
    unsigned finished_at;
    patchbay_on_login *on_login; /* told when there is another token; NULL: nobody */
    void *on_login_arg;
    bool closing;
    bool creating;
    bool created;
    char refusal[HUB_INSTANCE_REFUSAL]; /* while creating: why a list was refused; "": none was */
    bool may_ask;                       /* it has looked up how to ask clients something */
};

/* Whether the calling thread is the loop's. */
bool hub_env_on_loop(const hub_module_env *env);

/* The loop enters the plugin's code: `entry` says where, `tool` for which one, both borrowed until
 * it is left. */
void hub_instance_enter(const hub_instance *instance, hub_watchdog_stay *stay, const char *entry,
                        hub_str tool);

void hub_instance_hold(hub_instance *instance, hub_holding *holding);
void hub_instance_release(hub_instance *instance, hub_holding *holding);

/* Complete a call with what the plugin says of it; `status` may have flags, `json` is checked.
 * False when nobody waits for it. [loop] */
/* What was seen of a result as it was scanned: flags of a status, PATCHBAY_TYPED and so on. */
int32_t hub_host_result_flags(const hub_message *message);

bool hub_instance_finish(hub_instance *instance, uint64_t call, int32_t status, hub_str json);

/* Replace one list of the catalog; what patchbay/catalog.h says of set(). Any thread. */
HUB_MUST_CHECK int32_t hub_instance_set_list(hub_instance *instance, uint32_t kind, hub_str json);

/* Act on what was said on another thread. [loop] */
void hub_instance_open_mail(const hub_mail *mail);

/* The same for a question; of a closing instance, it ends without an answer. [loop] */
void hub_instance_open_question(const hub_mail *mail);

/* Destroy the plugin's instance and ours, and say so. [loop] */
void hub_instance_end(hub_instance *instance);

/* A mail with a copy of `json`; NULL when out of memory. */
hub_mail *hub_mail_create(hub_instance *instance, hub_mail_kind kind, hub_str json);

/* Send a mail (NULL: it could not be made), or free it. Any thread.
 * returns: PATCHBAY_OK, PATCHBAY_ESTATE (closing), PATCHBAY_ENOMEM, PATCHBAY_ELIMIT (the loop has
 *          not heard too much of what the instance said before; never for an answer) */
HUB_MUST_CHECK int32_t hub_mail_send(hub_mail *mail);

/* Have the loop fail a call whose answer there is no memory for. Any thread. */
void hub_instance_lose_call(hub_instance *instance, uint64_t call);

/* From now on the instance is closing; it ends when the loop has taken its last mail. [loop] */
void hub_mail_send_last(hub_instance *instance);

/* Run fn(arg) on the loop, unless the instance is closed before. Any thread. */
HUB_MUST_CHECK int32_t hub_instance_post(hub_instance *instance, void (*fn)(void *arg), void *arg);

/* A job of the worker pool counts as pending, so that the instance outlives it. The ticket is the
 * note of the job's end, made beforehand because that note must not fail. Any thread.
 * returns: PATCHBAY_OK, PATCHBAY_ESTATE (closing), PATCHBAY_ENOMEM */
HUB_MUST_CHECK int32_t hub_instance_begin_job(hub_instance *instance, hub_mail **ret_ticket);
void hub_instance_end_job(hub_mail *ticket);

extern const patchbay_host_api HUB_HOST_API;
extern const patchbay_loop_v1 HUB_HOST_LOOP;
extern const patchbay_worker_v1 HUB_HOST_WORKER;
extern const patchbay_stream_v1 HUB_HOST_STREAM;
extern const patchbay_process_v1 HUB_HOST_PROCESS;
extern const patchbay_wire_v1 HUB_HOST_WIRE;
extern const patchbay_catalog_v1 HUB_HOST_CATALOG;
extern const patchbay_client_v1 HUB_HOST_CLIENT;
extern const patchbay_login_v1 HUB_HOST_LOGIN;

#endif
