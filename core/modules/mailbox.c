/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mailbox: what plugins say on other threads, on its way to the loop. One box for all
 * instances, so that things said by one thread are heard in their order. What lies in it when the
 * loop comes round is heard; what comes meanwhile waits for the next round, so that a plugin which
 * never stops talking does not stop the loop.
 */
#include "modules/instance_internal.h"

#include "base/limits.h"

#include <stdlib.h>

bool hub_env_on_loop(const hub_module_env *env)
{
    return pthread_equal(pthread_self(), env->loop_thread) != 0;
}

hub_mail *hub_mail_create(hub_instance *instance, hub_mail_kind kind, hub_str json)
{
    hub_mail *mail = calloc(1, sizeof *mail + json.len);
    if (mail != NULL) {
        mail->instance = instance;
        mail->kind = kind;
        mail->len = json.len;
        if (json.len > 0) {
            memcpy(mail->json, json.ptr, json.len);
        }
    }
    return mail;
}

/* Put a mail at the end of the box and wake the loop. The lock is held. */
static void push(hub_module_env *env, hub_mail *mail)
{
    if (env->last != NULL) {
        env->last->next = mail;
    } else {
        env->first = mail;
    }
    env->last = mail;
    ev_async_send(env->loop, &env->wake);
}

/* Whether the instance may send this. Calls bound how many answers there can be; whatever else it
 * says waits in memory, and is refused when there is too much of it. The lock is held. */
static int32_t admit(const hub_instance *instance, const hub_mail *mail)
{
    if (instance->closing) {
        return PATCHBAY_ESTATE;
    }
    bool is_too_much = instance->pending >= HUB_LIMIT_PLUGIN_MAILS ||
                       instance->mail_bytes + mail->len > HUB_LIMIT_PLUGIN_MAIL_BYTES;
    return mail->kind != HUB_MAIL_FINISH && is_too_much ? PATCHBAY_ELIMIT : PATCHBAY_OK;
}

int32_t hub_mail_send(hub_mail *mail)
{
    if (mail == NULL) {
        return PATCHBAY_ENOMEM;
    }
    hub_instance *instance = mail->instance;
    (void)pthread_mutex_lock(&instance->env->lock);
    int32_t result = admit(instance, mail);
    if (result == PATCHBAY_OK) {
        instance->pending++;
        instance->mail_bytes += mail->len;
        push(instance->env, mail);
    }
    (void)pthread_mutex_unlock(&instance->env->lock);
    if (result != PATCHBAY_OK) {
        free(mail);
    }
    return result;
}

void hub_instance_lose_call(hub_instance *instance, uint64_t call)
{
    hub_module_env *env = instance->env;
    (void)pthread_mutex_lock(&env->lock);
    if (!instance->closing && env->lost_count < HUB_LOST_CALLS) {
        instance->pending++;
        env->lost[env->lost_count++] = (hub_lost_call){.instance = instance, .call = call};
        ev_async_send(env->loop, &env->wake);
    }
    (void)pthread_mutex_unlock(&env->lock);
}

void hub_mail_send_last(hub_instance *instance)
{
    (void)pthread_mutex_lock(&instance->env->lock);
    instance->closing = true;
    instance->pending++;
    push(instance->env, instance->last_mail);
    (void)pthread_mutex_unlock(&instance->env->lock);
}

int32_t hub_instance_post(hub_instance *instance, void (*fn)(void *arg), void *arg)
{
    hub_mail *mail = hub_mail_create(instance, HUB_MAIL_POST, HUB_STR_EMPTY);
    if (mail != NULL) {
        mail->fn = fn;
        mail->arg = arg;
    }
    return hub_mail_send(mail);
}

int32_t hub_instance_begin_job(hub_instance *instance, hub_mail **ret_ticket)
{
    hub_mail *ticket = hub_mail_create(instance, HUB_MAIL_WAKE, HUB_STR_EMPTY);
    if (ticket == NULL) {
        return PATCHBAY_ENOMEM;
    }
    (void)pthread_mutex_lock(&instance->env->lock);
    bool open = !instance->closing;
    instance->pending += open;
    (void)pthread_mutex_unlock(&instance->env->lock);
    if (!open) {
        free(ticket);
        return PATCHBAY_ESTATE;
    }
    *ret_ticket = ticket;
    return PATCHBAY_OK;
}

void hub_instance_end_job(hub_mail *ticket)
{
    hub_module_env *env = ticket->instance->env;
    (void)pthread_mutex_lock(&env->lock);
    push(env, ticket); /* the job's place among the pending becomes the note's */
    (void)pthread_mutex_unlock(&env->lock);
}

/* Something that was pending has been heard. The last one of a closing instance ends it. */
static void settle(hub_instance *instance, size_t bytes)
{
    hub_module_env *env = instance->env;
    (void)pthread_mutex_lock(&env->lock);
    instance->mail_bytes -= bytes;
    bool done = --instance->pending == 0 && instance->closing;
    (void)pthread_mutex_unlock(&env->lock);
    if (done) {
        hub_instance_end(instance);
    }
}

/* Hear one mail and free it. */
static void take(hub_mail *mail)
{
    hub_instance *instance = mail->instance;
    size_t len = mail->len;
    if (!instance->closing) {
        hub_instance_open_mail(mail);
    } else if (mail->kind == HUB_MAIL_ASK) {
        hub_instance_open_question(mail);
    }
    free(mail);
    settle(instance, len);
}

static void fail_lost(const hub_lost_call *lost)
{
    if (!lost->instance->closing) {
        (void)hub_instance_finish(lost->instance, lost->call, PATCHBAY_FAILED,
                                  HUB_STR("out of memory")); /* or its client has given up */
    }
    settle(lost->instance, 0);
}

/* Hear what lies in the box now. False when there was nothing. */
static bool take_round(hub_module_env *env)
{
    (void)pthread_mutex_lock(&env->lock);
    hub_mail *mail = env->first;
    env->first = NULL;
    env->last = NULL;
    hub_lost_call lost[HUB_LOST_CALLS];
    size_t lost_count = env->lost_count;
    memcpy(lost, env->lost, lost_count * sizeof *lost);
    env->lost_count = 0;
    (void)pthread_mutex_unlock(&env->lock);
    bool any = mail != NULL || lost_count > 0;
    while (mail != NULL) {
        hub_mail *next = mail->next;
        take(mail);
        mail = next;
    }
    for (size_t i = 0; i < lost_count; i++) {
        fail_lost(&lost[i]);
    }
    return any;
}

void hub_module_env_drain(hub_module_env *env)
{
    while (take_round(env)) {
    }
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop;
    (void)events;
    (void)take_round(watcher->data);
}

hub_err hub_module_env_create(struct ev_loop *loop, hub_worker_pool *workers,
                              hub_process_table *processes, hub_module_env **ret_env)
{
    hub_module_env *env = calloc(1, sizeof *env);
    if (env == NULL) {
        return HUB_ENOMEM;
    }
    hub_err err = hub_watchdog_create(&env->watchdog);
    if (err != HUB_OK) {
        free(env);
        return err;
    }
    env->loop = loop;
    env->workers = workers;
    env->processes = processes;
    env->loop_thread = pthread_self();
    env->max_message_bytes = HUB_LIMIT_UPSTREAM_MESSAGE_BYTES;
    (void)pthread_mutex_init(&env->lock, NULL);
    hub_buf_init(&env->scratch, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    ev_async_init(&env->wake, on_wake);
    env->wake.data = env;
    ev_async_start(loop, &env->wake);
    ev_unref(loop); /* the mailbox alone does not keep the hub running */
    *ret_env = env;
    return HUB_OK;
}

void hub_module_env_limit_messages(hub_module_env *env, size_t max_bytes)
{
    env->max_message_bytes = max_bytes;
}

void hub_module_env_admit_servers(hub_module_env *env, hub_module_admit *may_start, void *ctx)
{
    env->admit = may_start;
    env->admit_ctx = ctx;
}

void hub_module_env_set_lineage(hub_module_env *env, const struct hub_lineage *lineage)
{
    env->lineage = lineage;
}

void hub_module_env_destroy(hub_module_env *env)
{
    if (env == NULL) {
        return;
    }
    hub_assert(env->first == NULL);
    ev_ref(env->loop);
    ev_async_stop(env->loop, &env->wake);
    (void)pthread_mutex_destroy(&env->lock);
    hub_watchdog_destroy(env->watchdog);
    hub_buf_fini(&env->scratch);
    free(env);
}
