/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances: a module at work for one toolset. This is the whole border between the hub and plugin
 * code: every entry of a plugin's table is called from here and nowhere else, and everything that a
 * plugin says is checked here (JSON, handles, thread) before the hub hears of it.
 *
 * An instance reports through events, on the loop thread. What a plugin says from another thread is
 * copied into a mailbox and reported when the loop comes round. Misbehaviour (a second finish, bad
 * JSON, a callback over HUB_LOOP_BUDGET_MS) is counted and logged under the toolset's name.
 */
#ifndef HUB_MODULES_INSTANCE_H
#define HUB_MODULES_INSTANCE_H

#include "modules/process.h"
#include "modules/resolver.h"
#include "modules/worker.h"
#include "wire/dialect.h"

#include <patchbay/catalog.h>
#include <patchbay/client.h>
#include <patchbay/login.h>

typedef struct patchbay_host hub_instance;

/* What all instances of a hub share: the loop, the mailbox, and borrowed pools. */
typedef struct hub_module_env hub_module_env;
struct hub_lineage;

/* owns:    *ret_env; workers and processes are borrowed and must outlive it */
HUB_MUST_CHECK hub_err hub_module_env_create(struct ev_loop *loop, hub_worker_pool *workers,
                                             hub_process_table *processes,
                                             hub_module_env **ret_env);

/* No stream of a plugin takes larger messages than this; HUB_LIMIT_UPSTREAM_MESSAGE_BYTES unless
 * set. */
void hub_module_env_limit_messages(hub_module_env *env, size_t max_bytes);

/* Whether a proxy may start a process for a toolset, its server. errors:  HUB_ELIMIT */
typedef hub_err hub_module_admit(void *ctx, const char *toolset, hub_error *reterr);

/* Whom to ask that; nobody unless set. */
void hub_module_env_admit_servers(hub_module_env *env, hub_module_admit *may_start, void *ctx);

/* With what the hub introduces itself to upstreams that may be hubs, too; borrowed. NULL, as at
 * first: without. */
void hub_module_env_set_lineage(hub_module_env *env, const struct hub_lineage *lineage);

/* Every instance must have been closed and reported so. NULL is fine. */
void hub_module_env_destroy(hub_module_env *env);

/* Take what lies in the mailbox now, without waiting for the loop: for shutting down. */
void hub_module_env_drain(hub_module_env *env);

/* Who keeps logins to servers, for instances that ask (patchbay/login.h); the context is that of the
 * instance's events. Whoever takes a wait calls hub_instance_tell_login later, once. */
typedef struct hub_instance_logins {
    hub_str (*get)(void *ctx, uint64_t *ret_generation);
    /* `refusal` NULL: only until it is known whether there is a token. */
    int32_t (*wait)(void *ctx, const patchbay_refusal *refusal, patchbay_on_login *on_login,
                    void *arg, uint64_t *ret_ticket);
    void (*forget)(void *ctx, uint64_t ticket);
} hub_instance_logins;

/* What an instance says. All entries but `logins` are mandatory, all run on the loop thread; `ctx`
 * is the instance's. JSON is checked; spans are borrowed for the call. */
typedef struct hub_instance_events {
    /* Whether a text that is not checked yet is the list that is known already, byte for byte: then that
     * is all, and on_list does not come. */
    bool (*has_list)(void *ctx, uint32_t kind, hub_str json);

    /* A new list: PATCHBAY_TOOLS, … and a JSON array. */
    void (*on_list)(void *ctx, uint32_t kind, hub_str list_json);

    /* The same a part at a time: begins with `list_json`, goes on with NULL; *ret_is_end says whether that
     * is all.
     * errors:  HUB_ESTATE (nothing to go on with), HUB_ELIMIT, HUB_ENOMEM; the old list stays, and the log
     *          says why */
    hub_err (*on_list_part)(void *ctx, uint32_t kind, const hub_str *list_json, bool *ret_is_end);

    /* What the toolset can do besides its lists: an object (patchbay/catalog.h). */
    void (*on_capabilities)(void *ctx, hub_str capabilities_json);

    /* What its server says of itself: an object (patchbay/catalog.h). */
    void (*on_about)(void *ctx, hub_str result_json);

    /* A resource has changed: its URI as the toolset has it. */
    void (*on_updated)(void *ctx, hub_str uri);

    /* A call ended. `status` is a PATCHBAY_… status without flags; `json` the result object, the
     * error object, or plain text. `flags`: of a result, PATCHBAY_TYPED, and PATCHBAY_IS_ERROR or
     * PATCHBAY_NO_ERROR where it is known. May come while hub_instance_call is still running. False when there is no such call of this instance. */
    bool (*on_finish)(void *ctx, uint64_t call, int32_t status, hub_str json, int32_t flags);

    /* Progress of a call: the members that follow the token, a JSON object. */
    bool (*on_progress)(void *ctx, uint64_t call, hub_str params_json);

    /* A log message for the client of a call, with 0 for all, with PATCHBAY_SOME_CALL for whoever
     * the instance works for: params of notifications/message, of which level and data are checked.
     */
    bool (*on_message)(void *ctx, uint64_t call, hub_str params_json);

    /* The connection of a call's client is not needed for now (patchbay/client.h). */
    bool (*on_release)(void *ctx, uint64_t call);

    /* What the instance is doing (patchbay/catalog.h). */
    void (*on_state)(void *ctx, uint32_t state, hub_str detail);

    /* How the server behind the instance fares (patchbay/catalog.h). */
    void (*on_health)(void *ctx, const patchbay_health *health);

    /* The catalog is to be asked for (patchbay/catalog.h). During hub_instance_create only. */
    void (*on_defer)(void *ctx);

    /* The context of a call in flight, for framing it towards an upstream; NULL if there is none.
     */
    const hub_request_context *(*get_context)(void *ctx, uint64_t call);

    /* A header of the HTTP request behind a call, if the toolset may have it; else empty
     * (patchbay/client.h). */
    hub_str (*get_header)(void *ctx, uint64_t call, hub_str name);

    /* A question to the client of a call, or with 0 of whichever session the instance works for.
     * What patchbay/client.h says of ask(); method, params and struct have been checked. Whoever
     * takes it calls hub_instance_answer later, exactly once. */
    int32_t (*on_ask)(void *ctx, uint64_t call, const patchbay_question *question);

    /* A question is taken back: what patchbay/client.h says of withdraw(). The key is not empty. */
    int32_t (*on_withdraw)(void *ctx, uint64_t call, hub_str key);

    /* What patchbay/client.h says of elicitation_complete(); params are an object with a string
     * `elicitationId`. */
    int32_t (*on_elicitation_complete)(void *ctx, uint64_t call, hub_str params_json);

    /* A task has changed: params of notifications/tasks/status, an object (patchbay/client.h). */
    void (*on_task)(void *ctx, hub_str params_json);

    /* Whether results may say `input_required` themselves (patchbay/client.h). */
    void (*on_expect_input)(void *ctx, bool is_expected);

    const hub_instance_logins *logins; /* NULL: there are none */

    /* The last word: the plugin's destroy() has returned, the instance is gone. */
    void (*on_closed)(void *ctx);
} hub_instance_events;

/* Make an instance for the toolset `key` (borrowed, outlives it). `config_json` is checked against
 * the module's schema first. Events may come before this returns.
 * owns:    *ret_instance, close it with hub_instance_close
 * errors:  HUB_EINVAL (configuration; the text names the place), HUB_EUNAVAILABLE (the plugin's own
 *          reason), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_instance_create(hub_module_env *env, const hub_module *module,
                                           const char *key, hub_str config_json,
                                           const hub_instance_events *events, void *ctx,
                                           hub_instance **ret_instance, hub_error *reterr);

/* The module of which it is an instance. */
const hub_module *hub_instance_module(const hub_instance *instance);

/* Hand over a call. May finish it before it returns. */
void hub_instance_call(hub_instance *instance, uint64_t call, const patchbay_request *request);

/* Say that nobody waits for a call any more. */
void hub_instance_cancel(hub_instance *instance, uint64_t call);

/* Tell the end of a question that on_ask took. */
void hub_instance_answer(hub_instance *instance, patchbay_on_answer *on_answer, void *arg,
                         uint64_t call, int32_t status, hub_str json);

/* Tell how waiting for a login has ended; and that there is another token than before. */
void hub_instance_tell_login(hub_instance *instance, patchbay_on_login *on_login, void *arg,
                             int32_t status, hub_str text);
void hub_instance_login_changed(hub_instance *instance);

/* End the instance: no event comes from now on but on_closed, which comes from the loop when the
 * last worker job has ended. Its calls must have been completed. */
void hub_instance_close(hub_instance *instance);

/* Count and log that the plugin broke a rule. [loop] */
void hub_instance_fault(hub_instance *instance, const char *rule);

/* How often it did. */
unsigned hub_instance_faults(const hub_instance *instance);

/* Whether it may ask the client of a call something: it has looked up how (patchbay/client.h). */
bool hub_instance_may_ask(const hub_instance *instance);

#endif
