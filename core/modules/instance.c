/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/instance_internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <stdlib.h>

/* ---- what the host interfaces use ------------------------------------------------------------ */

void hub_instance_hold(hub_instance *instance, hub_holding *holding)
{
    holding->prev = NULL;
    holding->next = instance->holdings;
    if (holding->next != NULL) {
        holding->next->prev = holding;
    }
    instance->holdings = holding;
}

void hub_instance_release(hub_instance *instance, hub_holding *holding)
{
    if (holding->prev != NULL) {
        holding->prev->next = holding->next;
    } else {
        instance->holdings = holding->next;
    }
    if (holding->next != NULL) {
        holding->next->prev = holding->prev;
    }
}

void hub_instance_fault(hub_instance *instance, const char *rule)
{
    instance->faults++;
    hub_log(HUB_LOG_WARNING, "plugin.fault", HUB_F_TEXT("toolset", instance->key),
            HUB_F_TEXT("module", instance->module->name), HUB_F_TEXT("rule", rule),
            HUB_F_INT("count", instance->faults));
}

/* ---- what comes from other threads ----------------------------------------------------------- */

static hub_str mail_json(const hub_mail *mail)
{
    return (hub_str){.ptr = mail->json, .len = mail->len};
}

void hub_instance_enter(const hub_instance *instance, hub_watchdog_stay *stay, const char *entry,
                        hub_str tool)
{
    *stay = (hub_watchdog_stay){
        .toolset = instance->key, .module = instance->module->name, .entry = entry, .tool = tool};
    hub_watchdog_enter(instance->env->watchdog, stay);
}

void hub_instance_open_mail(const hub_mail *mail)
{
    hub_instance *instance = mail->instance;
    switch (mail->kind) {
    case HUB_MAIL_FINISH:
        (void)hub_instance_finish(instance, mail->call, mail->status, mail_json(mail));
        if (mail->fault != NULL) {
            hub_instance_fault(instance, mail->fault);
        }
        break;
    case HUB_MAIL_PROGRESS:
        (void)instance->events->on_progress(instance->ctx, mail->call, mail_json(mail));
        break;
    case HUB_MAIL_LIST:
        instance->events->on_list(instance->ctx, mail->list, mail_json(mail));
        break;
    case HUB_MAIL_UPDATED:
        instance->events->on_updated(instance->ctx, mail_json(mail));
        break;
    case HUB_MAIL_MESSAGE:
        (void)instance->events->on_message(instance->ctx, mail->call, mail_json(mail));
        break;
    case HUB_MAIL_RELEASE:
        (void)instance->events->on_release(instance->ctx, mail->call);
        break;
    case HUB_MAIL_ASK:
        hub_instance_open_question(mail);
        break;
    case HUB_MAIL_WITHDRAW:
        (void)instance->events->on_withdraw(instance->ctx, mail->call, mail_json(mail));
        break;
    case HUB_MAIL_ELICITED:
        (void)instance->events->on_elicitation_complete(instance->ctx, mail->call, mail_json(mail));
        break;
    case HUB_MAIL_POST: {
        hub_watchdog_stay stay;
        hub_instance_enter(instance, &stay, "post", HUB_STR_EMPTY);
        mail->fn(mail->arg);
        hub_watchdog_leave(instance->env->watchdog, &stay);
        break;
    }
    case HUB_MAIL_WAKE:
        break;
    }
}

void hub_instance_end(hub_instance *instance)
{
    void *ctx = instance->ctx;
    void (*on_closed)(void *) = instance->events->on_closed;
    if (instance->created) {
        hub_watchdog_stay stay;
        hub_instance_enter(instance, &stay, "destroy", HUB_STR_EMPTY);
        instance->module->table->destroy(instance->plugin);
        hub_watchdog_leave(instance->env->watchdog, &stay);
    }
    while (instance->holdings != NULL) {
        hub_log(HUB_LOG_DEBUG, "instance.leak", HUB_F_TEXT("toolset", instance->key));
        instance->holdings->release(instance->holdings);
    }
    instance->magic = 0;
    free(instance);
    on_closed(ctx);
}

/* ---- what the hub asks ----------------------------------------------------------------------- */

static void ignore_closed(void *ctx)
{
    (void)ctx;
}

/* For an instance whose create() failed: nobody is to hear of its end. */
static const hub_instance_events NO_EVENTS = {.on_closed = ignore_closed};

static hub_err check_config(const hub_module *module, hub_str config_json, hub_error *reterr)
{
    if (module->config_schema != NULL) {
        return hub_schema_validate(module->config_schema, config_json, "config", reterr);
    }
    if (hub_json_count(config_json) > 0) {
        return hub_fail(reterr, HUB_EINVAL, "config: plugin \"%s\" takes no configuration",
                        module->name);
    }
    return HUB_OK;
}

hub_err hub_instance_create(hub_module_env *env, const hub_module *module, const char *key,
                            hub_str config_json, const hub_instance_events *events, void *ctx,
                            hub_instance **ret_instance, hub_error *reterr)
{
    hub_err err = check_config(module, config_json, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_instance *instance = calloc(1, sizeof *instance);
    hub_mail *last_mail = hub_mail_create(instance, HUB_MAIL_WAKE, HUB_STR_EMPTY);
    if (instance == NULL || last_mail == NULL) {
        free(instance);
        free(last_mail);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    *instance = (hub_instance){.magic = HUB_INSTANCE_MAGIC,
                               .env = env,
                               .module = module,
                               .key = key,
                               .events = events,
                               .ctx = ctx,
                               .last_mail = last_mail,
                               .creating = true};
    patchbay_error why = {.struct_size = sizeof why, .text = ""};
    hub_watchdog_stay stay;
    hub_instance_enter(instance, &stay, "create", HUB_STR_EMPTY);
    int32_t result =
        module->table->create(&HUB_HOST_API, instance, config_json, &instance->plugin, &why);
    hub_watchdog_leave(env->watchdog, &stay);
    instance->creating = false;
    if (result != PATCHBAY_OK) {
        why.text[sizeof why.text - 1] = '\0';
        const char *reason = why.text[0] != '\0'         ? why.text
                             : result == PATCHBAY_ENOMEM ? "out of memory"
                                                         : "the plugin gave no reason";
        bool refused = instance->refusal[0] != '\0';
        err = hub_fail(reterr, HUB_EUNAVAILABLE, "%s%s%s", reason, refused ? ": " : "",
                       instance->refusal);
        instance->events = &NO_EVENTS; /* what it may have posted is still to be taken */
        hub_instance_close(instance);
        return err;
    }
    instance->created = true;
    *ret_instance = instance;
    return HUB_OK;
}

/* When plugin code was entered. */
typedef struct budget {
    uint64_t begin_ms;
    uint64_t lent_ms; /* of the environment, by then */
} budget;

static budget begin_budget(const hub_instance *instance)
{
    return (budget){.begin_ms = hub_clock_coarse_ms(), .lent_ms = instance->env->lent_ms};
}

/* Name a plugin that kept the loop waiting, and have the time go on. To a tick of the kernel,
 * because each call asks. Starting a server takes its time, too, but that is the hub's. */
static void check_budget(hub_instance *instance, budget begun, const char *entry)
{
    uint64_t spent_ms = hub_clock_coarse_ms() - begun.begin_ms;
    if (spent_ms > 0) {
        hub_clock_renew_turn();
        ev_now_update(instance->env->loop); /* timers count from the same time */
    }
    uint64_t lent_ms = instance->env->lent_ms - begun.lent_ms;
    spent_ms = spent_ms > lent_ms ? spent_ms - lent_ms : 0;
    if (spent_ms > HUB_LOOP_BUDGET_MS) {
        hub_log(HUB_LOG_WARNING, "plugin.slow", HUB_F_TEXT("toolset", instance->key),
                HUB_F_TEXT("entry", entry), HUB_F_INT("ms", spent_ms));
    }
}

const hub_module *hub_instance_module(const hub_instance *instance)
{
    return instance->module;
}

void hub_instance_call(hub_instance *instance, uint64_t call, const patchbay_request *request)
{
    hub_assert(instance->magic == HUB_INSTANCE_MAGIC);
    budget begun = begin_budget(instance);
    hub_watchdog_stay stay;
    hub_instance_enter(instance, &stay, "call", request->tool);
    instance->module->table->call(instance->plugin, (patchbay_call){.id = call}, request);
    hub_watchdog_leave(instance->env->watchdog, &stay);
    check_budget(instance, begun, "call");
}

void hub_instance_cancel(hub_instance *instance, uint64_t call)
{
    hub_assert(instance->magic == HUB_INSTANCE_MAGIC);
    if (instance->module->table->cancel != NULL) {
        budget begun = begin_budget(instance);
        hub_watchdog_stay stay;
        hub_instance_enter(instance, &stay, "cancel", HUB_STR_EMPTY);
        instance->module->table->cancel(instance->plugin, (patchbay_call){.id = call});
        hub_watchdog_leave(instance->env->watchdog, &stay);
        check_budget(instance, begun, "cancel");
    }
}

void hub_instance_answer(hub_instance *instance, patchbay_on_answer *on_answer, void *arg,
                         uint64_t call, int32_t status, hub_str json)
{
    hub_assert(instance->magic == HUB_INSTANCE_MAGIC);
    budget begun = begin_budget(instance);
    hub_watchdog_stay stay;
    hub_instance_enter(instance, &stay, "on_answer", HUB_STR_EMPTY);
    on_answer(arg, (patchbay_call){.id = call}, status, json);
    hub_watchdog_leave(instance->env->watchdog, &stay);
    check_budget(instance, begun, "on_answer");
}

void hub_instance_close(hub_instance *instance)
{
    hub_assert(instance->magic == HUB_INSTANCE_MAGIC && !instance->closing);
    hub_mail_send_last(instance);
}

unsigned hub_instance_faults(const hub_instance *instance)
{
    return instance->faults;
}

bool hub_instance_may_ask(const hub_instance *instance)
{
    return instance->may_ask;
}
