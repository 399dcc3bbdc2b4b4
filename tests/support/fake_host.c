/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"
#include "fake_check.h"

#include <patchbay/catalog.h>
#include <patchbay/client.h>
#include <patchbay/json.h>
#include <patchbay/loop.h>
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
    char *method;
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
    patchbay_out capabilities; /* of the client */
    pthread_mutex_t lock;      /* guards everything below */
    pthread_cond_t changed;
    fake_job *jobs;
    fake_job *posted;
    fake_question *questions; /* that nobody has taken */
    patchbay_out lists[FAKE_HOST_LISTS];
    patchbay_out offered;
    patchbay_out said;
    fake_call *calls;
    patchbay_out tools;
    unsigned set_tools_count;
    unsigned misuse_count;
    patchbay_out progress;
    patchbay_out log;
    int refuse_jobs;
    int refuse_posts;
    int refuse_lists;
    int closing;
};

static struct timespec wait_until(void)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += FAKE_HOST_WAIT_SECONDS;
    return until;
}

/* ---- misuse --------------------------------------------------------------------------------- */

static void misuse(fake_host *host, const char *what, patchbay_str detail)
{
    (void)fprintf(stderr, "fake_host: plugin %s: %s: %.*s\n", host->plugin->name, what,
                  (int)(detail.len < 2000 ? detail.len : 2000), detail.ptr);
    host->misuse_count++;
    (void)pthread_cond_broadcast(&host->changed);
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
    if (status == PATCHBAY_RESULT && strcmp(call->method, "tools/call") == 0) {
        patchbay_str tools = patchbay_str_make(host->tools.ptr, host->tools.len);
        wrong = find_result_defect(tools, call->tool, json);
    } else if ((status == PATCHBAY_RESULT || status == PATCHBAY_RPC_ERROR) && !is_object(json)) {
        wrong = "the result or error is not a JSON object";
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

#include "fake_threads.h"

#include "fake_client.h"

static const char *hidden_interface;

void fake_host_hide_interface(const char *id)
{
    hidden_interface = id;
}

static const void *host_get_interface(patchbay_host *host, const char *id)
{
    if (!pthread_equal(pthread_self(), host->loop_thread)) {
        (void)pthread_mutex_lock(&host->lock);
        misuse(host, "get_interface off the loop thread", patchbay_str_of(id));
        (void)pthread_mutex_unlock(&host->lock);
    }
    if (hidden_interface != NULL && strcmp(id, hidden_interface) == 0) {
        return strcmp(id, PATCHBAY_CATALOG_V1) == 0 ? &old_catalog_table : NULL;
    }
    return strcmp(id, PATCHBAY_WORKER_V1) == 0    ? (const void *)&worker_table
           : strcmp(id, PATCHBAY_LOOP_V1) == 0    ? (const void *)&loop_table
           : strcmp(id, PATCHBAY_CATALOG_V1) == 0 ? (const void *)&catalog_table
           : strcmp(id, PATCHBAY_CLIENT_V1) == 0  ? (const void *)&client_table
                                                  : NULL;
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
        free(call->method);
        free(call->tool);
        free(call);
    }
    for (size_t i = 0; i < FAKE_HOST_LISTS; i++) {
        patchbay_out_free(&host->lists[i]);
    }
    patchbay_out_free(&host->capabilities);
    patchbay_out_free(&host->offered);
    patchbay_out_free(&host->said);
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
    patchbay_out_text(&host->capabilities, "{}");
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
    drop_questions(host, 0);
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

static uint64_t start_request(fake_host *host, patchbay_request *request)
{
    fake_call *call = (fake_call *)calloc(1, sizeof *call);
    if (call == NULL) {
        abort();
    }
    call->method = copy_text(request->method);
    call->tool = copy_text(request->tool);
    call->id = host->next_id++;
    uint64_t id = call->id;
    (void)pthread_mutex_lock(&host->lock);
    call->next = host->calls;
    host->calls = call;
    (void)pthread_mutex_unlock(&host->lock);
    request->struct_size = sizeof *request;
    request->flags = PATCHBAY_WANTS_PROGRESS;
    host->plugin->call(host->inst, (patchbay_call){id}, request);
    return id;
}

uint64_t fake_host_start(fake_host *host, const char *tool, const char *args_json)
{
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
        .tool = patchbay_str_of(tool),
        .args_json = patchbay_str_make(params.ptr + args_at, args_len),
        .method = patchbay_str_of("tools/call"),
        .params_json = patchbay_str_make(params.ptr, params.len),
        .name_json = patchbay_str_make(params.ptr + 8, args_at - 8 - strlen(",\"arguments\":")),
    };
    uint64_t id = start_request(host, &request);
    /* Every span was borrowed for the call: a plugin that kept one now reads freed memory. */
    patchbay_out_free(&params);
    return id;
}

uint64_t fake_host_request(fake_host *host, const char *method, const char *name,
                           const char *params_json)
{
    char *texts[] = {copy_text(patchbay_str_of(method)), copy_text(patchbay_str_of(name)),
                     copy_text(patchbay_str_of(params_json))};
    patchbay_request request = {
        .tool = patchbay_str_of(texts[1]),
        .args_json = patchbay_str_of("{}"),
        .method = patchbay_str_of(texts[0]),
        .params_json = patchbay_str_of(texts[2]),
    };
    uint64_t id = start_request(host, &request);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        free(texts[i]);
    }
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
    drop_questions(host, id);
}

fake_result fake_host_wait(fake_host *host, uint64_t id)
{
    fake_result result = {.status = FAKE_HOST_TIMEOUT};
    struct timespec until = wait_until();
    (void)pthread_mutex_lock(&host->lock);
    fake_call *call = find_call(host, id);
    int expired = call == NULL;
    run_posted(host);
    while (!expired && !call->finished) {
        expired = pthread_cond_timedwait(&host->changed, &host->lock, &until) != 0;
        run_posted(host);
    }
    if (call != NULL && call->finished) {
        result = call->result;
        fake_call **at = &host->calls;
        while (*at != call) {
            at = &(*at)->next;
        }
        *at = call->next;
        free(call->method);
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

unsigned fake_host_forgive(fake_host *host, unsigned count)
{
    struct timespec until = wait_until();
    int expired = 0;
    (void)pthread_mutex_lock(&host->lock);
    while (!expired && host->misuse_count < count) {
        expired = pthread_cond_timedwait(&host->changed, &host->lock, &until);
    }
    count = host->misuse_count;
    host->misuse_count = 0;
    (void)pthread_mutex_unlock(&host->lock);
    return count;
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

char *fake_host_said(fake_host *host)
{
    return copy_locked(host, &host->said);
}
