/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"
#include "fake_check.h"

#include <patchbay/json.h>
#include <patchbay/worker.h>

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

typedef struct fake_job {
    struct fake_job *next;
    void (*work)(void *arg);
    void *arg;
} fake_job;

typedef struct fake_call {
    struct fake_call *next;
    uint64_t id;
    char *tool;
    int cancelled;
    int finished;
    fake_result result;
} fake_call;

struct patchbay_host {
    const patchbay_plugin *plugin;
    void *inst;
    pthread_t loop_thread;
    pthread_t threads[FAKE_HOST_THREADS];
    unsigned thread_count;
    uint64_t next_id;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t changed;
    fake_job *jobs;
    fake_call *calls;
    patchbay_out tools;
    unsigned set_tools_count;
    unsigned misuse_count;
    patchbay_out progress;
    patchbay_out log;
    int refuse_jobs;
    int closing;
};

/* ---- misuse --------------------------------------------------------------------------------- */

static void misuse(fake_host *host, const char *what, patchbay_str detail)
{
    (void)fprintf(stderr, "fake_host: plugin %s: %s: %.*s\n", host->plugin->name, what,
                  (int)(detail.len < 2000 ? detail.len : 2000), detail.ptr);
    host->misuse_count++;
}

/* ---- what the plugin calls ------------------------------------------------------------------ */

static fake_call *find_call(const fake_host *host, uint64_t id)
{
    fake_call *call = host->calls;
    while (call != NULL && call->id != id) {
        call = call->next;
    }
    return call;
}

static void host_log(patchbay_host *host, int32_t level, patchbay_str text)
{
    (void)pthread_mutex_lock(&host->lock);
    patchbay_out_printf(&host->log, "%d ", (int)level);
    patchbay_out_raw(&host->log, text);
    patchbay_out_text(&host->log, "\n");
    if (text.len > 0 && memchr(text.ptr, '\n', text.len) != NULL) {
        misuse(host, "a log line holds a newline", text);
    }
    (void)pthread_mutex_unlock(&host->lock);
}

static int32_t host_set_tools(patchbay_host *host, patchbay_str tools_json)
{
    int ok = is_tool_list(tools_json);
    (void)pthread_mutex_lock(&host->lock);
    if (ok) {
        host->tools.len = 0;
        patchbay_out_raw(&host->tools, tools_json);
        host->set_tools_count++;
    } else {
        misuse(host, "set_tools was not given an array of tools", tools_json);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return ok ? PATCHBAY_OK : PATCHBAY_EINVAL;
}

static int32_t host_notify(patchbay_host *host, patchbay_call id, patchbay_str params_json)
{
    (void)pthread_mutex_lock(&host->lock);
    int32_t result = PATCHBAY_EINVAL;
    fake_call *call = find_call(host, id.id);
    if (!is_progress(params_json)) {
        misuse(host, "notify was not given a progress object", params_json);
    } else if (call == NULL || call->finished || call->cancelled) {
        result = PATCHBAY_ESTALE;
    } else {
        patchbay_out_raw(&host->progress, params_json);
        patchbay_out_text(&host->progress, "\n");
        result = PATCHBAY_OK;
    }
    (void)pthread_mutex_unlock(&host->lock);
    return result;
}

static int32_t host_finish(patchbay_host *host, patchbay_call id, int32_t status, patchbay_str json)
{
    int32_t result = PATCHBAY_OK;
    (void)pthread_mutex_lock(&host->lock);
    fake_call *call = find_call(host, id.id);
    if (call == NULL || call->finished) {
        misuse(host, "finish of a call that is not open", json);
        (void)pthread_mutex_unlock(&host->lock);
        return PATCHBAY_ESTALE;
    }
    const char *wrong = NULL;
    if (status == PATCHBAY_RESULT) {
        patchbay_str tools = patchbay_str_make(host->tools.ptr, host->tools.len);
        wrong = find_result_defect(tools, call->tool, json);
    }
    if (wrong != NULL) {
        misuse(host, wrong, json);
        result = PATCHBAY_EINVAL;
    }
    call->result.json = (char *)malloc(json.len + 1);
    if (call->result.json == NULL) {
        abort();
    }
    memcpy(call->result.json, json.len > 0 ? json.ptr : "", json.len);
    call->result.json[json.len] = '\0';
    call->result.json_len = json.len;
    call->result.status = status;
    call->finished = 1;
    if (call->cancelled) {
        result = PATCHBAY_ESTALE;
    }
    (void)pthread_cond_broadcast(&host->changed);
    (void)pthread_mutex_unlock(&host->lock);
    return result;
}

static int32_t host_submit(patchbay_host *host, void (*work)(void *arg), void *arg)
{
    fake_job *job = (fake_job *)calloc(1, sizeof *job);
    if (job == NULL) {
        return PATCHBAY_ENOMEM;
    }
    job->work = work;
    job->arg = arg;
    (void)pthread_mutex_lock(&host->lock);
    int32_t result = host->closing       ? PATCHBAY_ESTATE
                     : host->refuse_jobs ? PATCHBAY_ELIMIT
                                         : PATCHBAY_OK;
    fake_job **last = &host->jobs;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    if (result == PATCHBAY_OK) {
        *last = job;
        job = NULL;
    }
    (void)pthread_cond_broadcast(&host->changed);
    (void)pthread_mutex_unlock(&host->lock);
    free(job);
    return result;
}

static const patchbay_worker_v1 worker_table = {
    .struct_size = sizeof(patchbay_worker_v1),
    .submit = host_submit,
};

static const void *host_get_interface(patchbay_host *host, const char *id)
{
    if (!pthread_equal(pthread_self(), host->loop_thread)) {
        (void)pthread_mutex_lock(&host->lock);
        misuse(host, "get_interface off the loop thread", patchbay_str_of(id));
        (void)pthread_mutex_unlock(&host->lock);
    }
    return strcmp(id, PATCHBAY_WORKER_V1) == 0 ? &worker_table : NULL;
}

static const patchbay_host_api api_table = {
    .struct_size = sizeof(patchbay_host_api),
    .abi = PATCHBAY_ABI,
    .log = host_log,
    .set_tools = host_set_tools,
    .notify = host_notify,
    .finish = host_finish,
    .get_interface = host_get_interface,
};

/* ---- threads -------------------------------------------------------------------------------- */

static void *run_jobs(void *arg)
{
    fake_host *host = (fake_host *)arg;
    (void)pthread_mutex_lock(&host->lock);
    for (;;) {
        while (host->jobs == NULL && !host->closing) {
            (void)pthread_cond_wait(&host->changed, &host->lock);
        }
        if (host->closing) {
            break;
        }
        fake_job *job = host->jobs;
        host->jobs = job->next;
        (void)pthread_mutex_unlock(&host->lock);
        job->work(job->arg);
        free(job);
        (void)pthread_mutex_lock(&host->lock);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return NULL;
}

static void stop_threads(fake_host *host)
{
    (void)pthread_mutex_lock(&host->lock);
    host->closing = 1;
    (void)pthread_cond_broadcast(&host->changed);
    (void)pthread_mutex_unlock(&host->lock);
    for (unsigned i = 0; i < host->thread_count; i++) {
        (void)pthread_join(host->threads[i], NULL);
    }
    while (host->jobs != NULL) { /* dropped, as the hub drops the queue of a closing toolset */
        fake_job *job = host->jobs;
        host->jobs = job->next;
        free(job);
    }
}

static int start_threads(fake_host *host)
{
    while (host->thread_count < FAKE_HOST_THREADS) {
        if (pthread_create(&host->threads[host->thread_count], NULL, run_jobs, host) != 0) {
            return 0;
        }
        host->thread_count++;
    }
    return 1;
}

/* ---- loading -------------------------------------------------------------------------------- */

static const char *find_defect(const patchbay_plugin *plugin)
{
    if (plugin->magic != PATCHBAY_MAGIC) {
        return "wrong magic";
    }
    if (PATCHBAY_ABI_MAJOR(plugin->abi) != PATCHBAY_ABI_MAJOR(PATCHBAY_ABI)) {
        return "wrong ABI major version";
    }
    if (plugin->abi_min > PATCHBAY_ABI) {
        return "needs a newer ABI";
    }
    if (plugin->struct_size < sizeof(patchbay_plugin)) {
        return "descriptor too small";
    }
    if (plugin->name == NULL || plugin->version == NULL || plugin->create == NULL ||
        plugin->call == NULL || plugin->destroy == NULL) {
        return "a mandatory entry is missing";
    }
    size_t len = strspn(plugin->name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    if (plugin->name[0] < 'a' || plugin->name[0] > 'z' || plugin->name[len] != '\0' || len > 64) {
        return "malformed name";
    }
    return NULL;
}

static void free_host(fake_host *host)
{
    stop_threads(host);
    while (host->calls != NULL) {
        fake_call *call = host->calls;
        host->calls = call->next;
        fake_result_free(&call->result);
        free(call->tool);
        free(call);
    }
    patchbay_out_free(&host->tools);
    patchbay_out_free(&host->progress);
    patchbay_out_free(&host->log);
    (void)pthread_cond_destroy(&host->changed);
    (void)pthread_mutex_destroy(&host->lock);
    free(host);
}

fake_host *fake_host_open(const patchbay_plugin *plugin, const char *config_json, char *error)
{
    const char *defect = find_defect(plugin);
    fake_host *host = defect == NULL ? (fake_host *)calloc(1, sizeof *host) : NULL;
    if (host == NULL) {
        (void)snprintf(error, FAKE_HOST_ERROR_BYTES, "%s", defect != NULL ? defect : "no memory");
        return NULL;
    }
    host->plugin = plugin;
    host->loop_thread = pthread_self();
    host->next_id = 1;
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&host->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_init(&host->lock, NULL);
    patchbay_error reason = {.struct_size = sizeof reason};
    int32_t code = PATCHBAY_ESYSTEM;
    if (start_threads(host)) {
        code = plugin->create(&api_table, host, patchbay_str_of(config_json), &host->inst, &reason);
    }
    if (code != PATCHBAY_OK) {
        (void)snprintf(error, FAKE_HOST_ERROR_BYTES, "%s", reason.text);
        if (reason.text[0] == '\0') {
            (void)snprintf(error, FAKE_HOST_ERROR_BYTES, "create failed: %d", (int)code);
        }
        free_host(host);
        return NULL;
    }
    error[0] = '\0';
    return host;
}

fake_host *fake_host_load(const char *path, const char *config_json, char *error)
{
    /* Never closed: libraries stay mapped in the hub too, and leak reports need their symbols. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, PATCHBAY_PLUGIN_SYMBOL) : NULL;
    if (symbol == NULL) {
        (void)snprintf(error, FAKE_HOST_ERROR_BYTES, "%s", dlerror());
        return NULL;
    }
    const patchbay_plugin *plugin = (const patchbay_plugin *)symbol;
    fake_host *host = fake_host_open(plugin, config_json, error);
    const char *file = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    size_t len = host != NULL ? strlen(plugin->name) : 0;
    if (host != NULL && (strncmp(file, plugin->name, len) != 0 || strcmp(file + len, ".so") != 0)) {
        (void)snprintf(error, FAKE_HOST_ERROR_BYTES, "%.100s calls itself '%.64s'", file,
                       plugin->name);
        fake_host_unload(host);
        return NULL;
    }
    return host;
}

void fake_host_unload(fake_host *host)
{
    if (host == NULL) {
        return;
    }
    for (fake_call *call = host->calls; call != NULL; call = call->next) {
        fake_host_cancel(host, call->id);
    }
    stop_threads(host);
    host->thread_count = 0;
    host->plugin->destroy(host->inst);
    unsigned misuse_count = host->misuse_count;
    free_host(host);
    if (misuse_count > 0) {
        (void)fprintf(stderr, "fake_host: aborting after %u misuses of the host\n", misuse_count);
        abort();
    }
}

/* ---- calls ---------------------------------------------------------------------------------- */

uint64_t fake_host_start(fake_host *host, const char *tool, const char *args_json)
{
    fake_call *call = (fake_call *)calloc(1, sizeof *call);
    char *name = strdup(tool);
    if (call == NULL || name == NULL) {
        abort();
    }
    call->tool = name;
    call->id = host->next_id++;
    uint64_t id = call->id;
    (void)pthread_mutex_lock(&host->lock);
    call->next = host->calls;
    host->calls = call;
    (void)pthread_mutex_unlock(&host->lock);
    patchbay_out params;
    memset(&params, 0, sizeof params);
    patchbay_out_text(&params, "{\"name\":");
    patchbay_out_string(&params, patchbay_str_of(tool));
    patchbay_out_text(&params, ",\"arguments\":");
    size_t args_at = params.len;
    patchbay_out_text(&params, args_json != NULL ? args_json : "{}");
    size_t args_len = params.len - args_at;
    patchbay_out_text(&params, "}");
    if (params.failed) {
        abort();
    }
    patchbay_request request = {
        .struct_size = sizeof request,
        .flags = PATCHBAY_WANTS_PROGRESS,
        .tool = patchbay_str_of(tool),
        .args_json = patchbay_str_make(params.ptr + args_at, args_len),
        .method = patchbay_str_of("tools/call"),
        .params_json = patchbay_str_make(params.ptr, params.len),
        .name_json = patchbay_str_make(params.ptr + 8, args_at - 8 - strlen(",\"arguments\":")),
    };
    host->plugin->call(host->inst, (patchbay_call){id}, &request);
    /* Every span was borrowed for the call: a plugin that kept one now reads freed memory. */
    patchbay_out_free(&params);
    return id;
}

void fake_host_cancel(fake_host *host, uint64_t id)
{
    (void)pthread_mutex_lock(&host->lock);
    fake_call *call = find_call(host, id);
    int tell = call != NULL && !call->finished && !call->cancelled;
    if (tell) {
        call->cancelled = 1;
    }
    (void)pthread_mutex_unlock(&host->lock);
    if (tell && host->plugin->cancel != NULL) {
        host->plugin->cancel(host->inst, (patchbay_call){id});
    }
}

fake_result fake_host_wait(fake_host *host, uint64_t id)
{
    fake_result result = {.status = FAKE_HOST_TIMEOUT};
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += FAKE_HOST_WAIT_SECONDS;
    (void)pthread_mutex_lock(&host->lock);
    fake_call *call = find_call(host, id);
    int expired = call == NULL;
    while (!expired && !call->finished) {
        expired = pthread_cond_timedwait(&host->changed, &host->lock, &until) != 0;
    }
    if (call != NULL && call->finished) {
        result = call->result;
        fake_call **at = &host->calls;
        while (*at != call) {
            at = &(*at)->next;
        }
        *at = call->next;
        free(call->tool);
        free(call);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return result;
}

fake_result fake_host_call(fake_host *host, const char *tool, const char *args_json)
{
    return fake_host_wait(host, fake_host_start(host, tool, args_json));
}

void fake_result_free(fake_result *result)
{
    free(result->json);
    memset(result, 0, sizeof *result);
}

void fake_host_refuse_jobs(fake_host *host, int refuse)
{
    (void)pthread_mutex_lock(&host->lock);
    host->refuse_jobs = refuse;
    (void)pthread_mutex_unlock(&host->lock);
}

/* ---- what was recorded ---------------------------------------------------------------------- */

const char *fake_host_tools(const fake_host *host)
{
    return host->tools.ptr != NULL ? host->tools.ptr : "";
}

unsigned fake_host_set_tools_count(const fake_host *host)
{
    return host->set_tools_count;
}

static char *copy_locked(fake_host *host, const patchbay_out *text)
{
    (void)pthread_mutex_lock(&host->lock);
    char *copy = strdup(text->ptr != NULL ? text->ptr : "");
    (void)pthread_mutex_unlock(&host->lock);
    if (copy == NULL) {
        abort();
    }
    return copy;
}

char *fake_host_progress(fake_host *host)
{
    return copy_locked(host, &host->progress);
}

char *fake_host_log(fake_host *host)
{
    return copy_locked(host, &host->log);
}
