/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/instance_internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <stdlib.h>

enum { STATUS_MASK = 0xff }; /* a status without its flags */

typedef enum mail_kind {
    MAIL_FINISH,
    MAIL_PROGRESS,
    MAIL_TOOLS,
    MAIL_POST,
    MAIL_WAKE, /* only to look whether a closing instance is done */
} mail_kind;

/* Something said on another thread, on its way to the loop. */
typedef struct hub_mail {
    struct hub_mail *next;
    hub_instance *instance;
    mail_kind kind;
    int32_t status;
    uint64_t call;
    void (*fn)(void *arg);
    void *arg;
    size_t len;
    char json[];
} hub_mail;

/* ---- the mailbox ------------------------------------------------------------------------------
 */

bool hub_env_on_loop(const hub_module_env *env)
{
    return pthread_equal(pthread_self(), env->loop_thread) != 0;
}

static hub_mail *make_mail(hub_instance *instance, mail_kind kind, hub_str json)
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

/* Send a mail; frees it when the instance takes none any more. */
static int32_t send_mail(hub_mail *mail)
{
    if (mail == NULL) {
        return PATCHBAY_ENOMEM;
    }
    hub_module_env *env = mail->instance->env;
    (void)pthread_mutex_lock(&env->lock);
    bool closed = mail->instance->closing;
    if (!closed) {
        mail->instance->pending++;
        push(env, mail);
    }
    (void)pthread_mutex_unlock(&env->lock);
    if (closed) {
        free(mail);
        return PATCHBAY_ESTATE;
    }
    return PATCHBAY_OK;
}

static hub_str mail_json(const hub_mail *mail)
{
    return (hub_str){.ptr = mail->json, .len = mail->len};
}

static bool finish_now(hub_instance *instance, uint64_t call, int32_t status, hub_str json);

static void open_mail(hub_mail *mail)
{
    hub_instance *instance = mail->instance;
    switch (mail->kind) {
    case MAIL_FINISH:
        (void)finish_now(instance, mail->call, mail->status, mail_json(mail));
        break;
    case MAIL_PROGRESS:
        (void)instance->events->on_progress(instance->ctx, mail->call, mail_json(mail));
        break;
    case MAIL_TOOLS:
        instance->events->on_tools(instance->ctx, mail_json(mail));
        break;
    case MAIL_POST:
        mail->fn(mail->arg);
        break;
    case MAIL_WAKE:
        break;
    }
}

static void destroy_instance(hub_instance *instance)
{
    void *ctx = instance->ctx;
    void (*on_closed)(void *) = instance->events->on_closed;
    if (instance->created) {
        instance->module->table->destroy(instance->plugin);
    }
    while (instance->holdings != NULL) {
        hub_log(HUB_LOG_DEBUG, "instance.leak", HUB_F_TEXT("toolset", instance->key));
        instance->holdings->release(instance->holdings);
    }
    instance->magic = 0;
    free(instance);
    on_closed(ctx);
}

void hub_module_env_drain(hub_module_env *env)
{
    for (;;) {
        (void)pthread_mutex_lock(&env->lock);
        hub_mail *mail = env->first;
        if (mail != NULL) {
            env->first = mail->next;
            env->last = env->first == NULL ? NULL : env->last;
        }
        (void)pthread_mutex_unlock(&env->lock);
        if (mail == NULL) {
            return;
        }
        hub_instance *instance = mail->instance;
        if (!instance->closing) {
            open_mail(mail);
        }
        free(mail);
        (void)pthread_mutex_lock(&env->lock);
        bool done = --instance->pending == 0 && instance->closing;
        (void)pthread_mutex_unlock(&env->lock);
        if (done) {
            destroy_instance(instance);
        }
    }
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop;
    (void)events;
    hub_module_env_drain(watcher->data);
}

hub_err hub_module_env_create(struct ev_loop *loop, hub_worker_pool *workers,
                              hub_process_table *processes, hub_module_env **ret_env)
{
    hub_module_env *env = calloc(1, sizeof *env);
    if (env == NULL) {
        return HUB_ENOMEM;
    }
    env->loop = loop;
    env->workers = workers;
    env->processes = processes;
    env->loop_thread = pthread_self();
    (void)pthread_mutex_init(&env->lock, NULL);
    hub_buf_init(&env->scratch, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    ev_async_init(&env->wake, on_wake);
    env->wake.data = env;
    ev_async_start(loop, &env->wake);
    ev_unref(loop); /* the mailbox alone does not keep the hub running */
    *ret_env = env;
    return HUB_OK;
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
    hub_buf_fini(&env->scratch);
    free(env);
}

/* ---- what the host interfaces use --------------------------------------------------------------
 */

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

int32_t hub_instance_post(hub_instance *instance, void (*fn)(void *arg), void *arg)
{
    hub_mail *mail = make_mail(instance, MAIL_POST, HUB_STR_EMPTY);
    if (mail != NULL) {
        mail->fn = fn;
        mail->arg = arg;
    }
    return send_mail(mail);
}

int32_t hub_instance_begin_job(hub_instance *instance, hub_mail **ret_ticket)
{
    hub_mail *ticket = make_mail(instance, MAIL_WAKE, HUB_STR_EMPTY);
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

/* ---- what a plugin says ------------------------------------------------------------------------
 */

static void host_log(patchbay_host *host, int32_t level, patchbay_str text)
{
    hub_log_level hub_level = level <= PATCHBAY_LOG_DEBUG     ? HUB_LOG_DEBUG
                              : level == PATCHBAY_LOG_INFO    ? HUB_LOG_INFO
                              : level == PATCHBAY_LOG_WARNING ? HUB_LOG_WARNING
                                                              : HUB_LOG_ERROR;
    hub_log(hub_level, "plugin.log", HUB_F_TEXT("toolset", host->key), HUB_F_STR("text", text));
}

static int32_t host_set_tools(patchbay_host *host, patchbay_str tools_json)
{
    hub_str value;
    if (tools_json.len > HUB_LIMIT_CATALOG_BYTES) {
        return PATCHBAY_ELIMIT;
    }
    if (hub_json_check(tools_json, &value, NULL) != HUB_OK ||
        hub_json_type_of(value) != HUB_JSON_ARRAY) {
        return PATCHBAY_EINVAL;
    }
    if (hub_env_on_loop(host->env)) {
        if (!host->closing) {
            host->events->on_tools(host->ctx, value);
        }
        return PATCHBAY_OK;
    }
    return send_mail(make_mail(host, MAIL_TOOLS, value));
}

static int32_t host_notify(patchbay_host *host, patchbay_call call, patchbay_str params_json)
{
    hub_str value;
    if (params_json.len > HUB_LIMIT_CLIENT_MESSAGE_BYTES ||
        hub_json_check(params_json, &value, NULL) != HUB_OK ||
        hub_json_type_of(value) != HUB_JSON_OBJECT) {
        return PATCHBAY_EINVAL;
    }
    if (hub_env_on_loop(host->env)) {
        bool known = !host->closing && host->events->on_progress(host->ctx, call.id, value);
        return known ? PATCHBAY_OK : PATCHBAY_ESTALE;
    }
    hub_mail *mail = make_mail(host, MAIL_PROGRESS, value);
    if (mail != NULL) {
        mail->call = call.id;
    }
    return send_mail(mail);
}

/* Check what a finish carries. False (with `ret_text` saying why) when it is not usable. */
static bool check_finish(int32_t status, hub_str json, hub_str *ret_value, hub_str *ret_text)
{
    int32_t plain = status & STATUS_MASK;
    *ret_value = json;
    if (plain < PATCHBAY_RESULT || plain > PATCHBAY_FAILED) {
        *ret_text = HUB_STR("the tool answered with an unknown status");
        return false;
    }
    if (plain > PATCHBAY_RPC_ERROR || (status & PATCHBAY_SCANNED) != 0) {
        return true;
    }
    if (hub_json_check(json, ret_value, NULL) != HUB_OK ||
        hub_json_type_of(*ret_value) != HUB_JSON_OBJECT) {
        *ret_text = HUB_STR("the tool's result is not a valid JSON object");
        return false;
    }
    return true;
}

static bool finish_now(hub_instance *instance, uint64_t call, int32_t status, hub_str json)
{
    int32_t plain = status & STATUS_MASK;
    bool has_type = plain == PATCHBAY_RESULT && hub_json_get(json, HUB_STR("resultType")).len > 0;
    bool known = instance->events->on_finish(instance->ctx, call, plain, json, has_type);
    if (!known) {
        hub_log(HUB_LOG_DEBUG, "plugin.late", HUB_F_TEXT("toolset", instance->key));
    }
    return known;
}

static int32_t host_finish(patchbay_host *host, patchbay_call call, int32_t status,
                           patchbay_str json)
{
    hub_str value;
    hub_str why;
    bool good = check_finish(status, json, &value, &why);
    if (!good) {
        status = PATCHBAY_FAILED;
        value = why;
    }
    int32_t result;
    if (hub_env_on_loop(host->env)) {
        bool known = !host->closing && finish_now(host, call.id, status, value);
        result = known ? PATCHBAY_OK : PATCHBAY_ESTALE;
        if (!good) {
            hub_instance_fault(host, "finish carries an invalid result");
        }
    } else {
        hub_mail *mail = make_mail(host, MAIL_FINISH, value);
        if (mail != NULL) {
            mail->call = call.id;
            mail->status = status;
        }
        result = send_mail(mail);
    }
    return good ? result : PATCHBAY_EINVAL;
}

static const void *host_get_interface(patchbay_host *host, const char *id)
{
    static const struct {
        const char *id;
        const void *table;
    } INTERFACES[] = {
        {PATCHBAY_LOOP_V1, &HUB_HOST_LOOP},     {PATCHBAY_WORKER_V1, &HUB_HOST_WORKER},
        {PATCHBAY_STREAM_V1, &HUB_HOST_STREAM}, {PATCHBAY_PROCESS_V1, &HUB_HOST_PROCESS},
        {PATCHBAY_WIRE_V1, &HUB_HOST_WIRE},     {PATCHBAY_CATALOG_V1, &HUB_HOST_CATALOG},
    };
    (void)host;
    for (size_t i = 0; i < sizeof INTERFACES / sizeof INTERFACES[0]; i++) {
        if (strcmp(INTERFACES[i].id, id) == 0) {
            return INTERFACES[i].table;
        }
    }
    return NULL;
}

static const patchbay_host_api HOST_API = {
    .struct_size = sizeof(patchbay_host_api),
    .abi = PATCHBAY_ABI,
    .log = host_log,
    .set_tools = host_set_tools,
    .notify = host_notify,
    .finish = host_finish,
    .get_interface = host_get_interface,
};

/* ---- what the hub asks -------------------------------------------------------------------------
 */

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
        return hub_fail(reterr, HUB_EINVAL, "config: module \"%s\" takes no configuration",
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
    hub_mail *last_mail = make_mail(instance, MAIL_WAKE, HUB_STR_EMPTY);
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
    int32_t result =
        module->table->create(&HOST_API, instance, config_json, &instance->plugin, &why);
    instance->creating = false;
    if (result != PATCHBAY_OK) {
        why.text[sizeof why.text - 1] = '\0';
        instance->events = &NO_EVENTS; /* what it may have posted is still to be taken */
        hub_instance_close(instance);
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s",
                        why.text[0] != '\0' ? why.text : "the module gave no reason");
    }
    instance->created = true;
    *ret_instance = instance;
    return HUB_OK;
}

/* Name a plugin that kept the loop waiting. */
static void check_budget(hub_instance *instance, uint64_t begin_us, const char *entry)
{
    uint64_t spent_ms = (hub_clock_now_us() - begin_us) / 1000;
    if (spent_ms > HUB_LOOP_BUDGET_MS) {
        hub_log(HUB_LOG_WARNING, "plugin.slow", HUB_F_TEXT("toolset", instance->key),
                HUB_F_TEXT("entry", entry), HUB_F_INT("ms", spent_ms));
    }
}

void hub_instance_call(hub_instance *instance, uint64_t call, const patchbay_request *request)
{
    hub_assert(instance->magic == HUB_INSTANCE_MAGIC);
    uint64_t begin_us = hub_clock_now_us();
    instance->module->table->call(instance->plugin, (patchbay_call){.id = call}, request);
    check_budget(instance, begin_us, "call");
}

void hub_instance_cancel(hub_instance *instance, uint64_t call)
{
    hub_assert(instance->magic == HUB_INSTANCE_MAGIC);
    if (instance->module->table->cancel != NULL) {
        uint64_t begin_us = hub_clock_now_us();
        instance->module->table->cancel(instance->plugin, (patchbay_call){.id = call});
        check_budget(instance, begin_us, "cancel");
    }
}

void hub_instance_close(hub_instance *instance)
{
    hub_assert(instance->magic == HUB_INSTANCE_MAGIC && !instance->closing);
    (void)pthread_mutex_lock(&instance->env->lock);
    instance->closing = true;
    instance->pending++;
    push(instance->env, instance->last_mail);
    (void)pthread_mutex_unlock(&instance->env->lock);
}

const hub_module *hub_instance_module(const hub_instance *instance)
{
    return instance->module;
}

unsigned hub_instance_faults(const hub_instance *instance)
{
    return instance->faults;
}
