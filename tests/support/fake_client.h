/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host interfaces of fake_host.c that are about the client and the catalog: loop/1 (post only),
 * catalog/1 and client/1. Part of that file, in one of its own so that both stay readable.
 */
#ifndef FAKE_CLIENT_H
#define FAKE_CLIENT_H

/* ---- loop/1 ---------------------------------------------------------------------------------- */

static int32_t host_post(patchbay_host *host, void (*fn)(void *arg), void *arg)
{
    fake_job *job = (fake_job *)calloc(1, sizeof *job);
    if (job == NULL) {
        return PATCHBAY_ENOMEM;
    }
    job->work = fn;
    job->arg = arg;
    (void)pthread_mutex_lock(&host->lock);
    int32_t result = host->closing        ? PATCHBAY_ESTATE
                     : host->refuse_posts ? PATCHBAY_ELIMIT
                                          : PATCHBAY_OK;
    if (result == PATCHBAY_OK) {
        append_job(&host->posted, job);
        job = NULL;
    }
    (void)pthread_cond_broadcast(&host->changed);
    (void)pthread_mutex_unlock(&host->lock);
    free(job);
    return result;
}

/* Run what was posted; the lock is held before and after. */
static void run_posted(fake_host *host)
{
    while (host->posted != NULL) {
        fake_job *job = host->posted;
        host->posted = job->next;
        (void)pthread_mutex_unlock(&host->lock);
        job->work(job->arg);
        free(job);
        (void)pthread_mutex_lock(&host->lock);
    }
}

static const patchbay_loop_v1 loop_table = {
    .struct_size = sizeof(patchbay_loop_v1),
    .post = host_post,
};

/* ---- catalog/1 ------------------------------------------------------------------------------- */

static int32_t host_set(patchbay_host *host, uint32_t kind, patchbay_str list_json)
{
    int ok = kind < FAKE_HOST_LISTS && is_list(kind, list_json);
    (void)pthread_mutex_lock(&host->lock);
    int refuse = host->refuse_lists;
    if (ok && refuse) {
        (void)pthread_mutex_unlock(&host->lock);
        return PATCHBAY_ELIMIT;
    }
    if (ok) {
        host->lists[kind].len = 0;
        patchbay_out_raw(&host->lists[kind], list_json);
    } else {
        misuse(host, "set was not given a list of its kind", list_json);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return ok ? PATCHBAY_OK : PATCHBAY_EINVAL;
}

static int32_t host_set_capabilities(patchbay_host *host, patchbay_str json)
{
    (void)pthread_mutex_lock(&host->lock);
    host->offered.len = 0;
    patchbay_out_raw(&host->offered, json);
    if (!is_object(json)) {
        misuse(host, "set_capabilities was not given an object", json);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return PATCHBAY_OK;
}

static int32_t host_updated(patchbay_host *host, patchbay_str uri)
{
    (void)pthread_mutex_lock(&host->lock);
    patchbay_out_text(&host->said, "updated ");
    patchbay_out_raw(&host->said, uri);
    patchbay_out_text(&host->said, "\n");
    (void)pthread_mutex_unlock(&host->lock);
    return PATCHBAY_OK;
}

static const patchbay_catalog_v1 catalog_table = {
    .struct_size = sizeof(patchbay_catalog_v1),
    .set = host_set,
    .set_capabilities = host_set_capabilities,
    .updated = host_updated,
};

/* As it was before it had lists. */
static const patchbay_catalog_v1 old_catalog_table = {
    .struct_size = offsetof(patchbay_catalog_v1, set),
};

/* ---- client/1 -------------------------------------------------------------------------------- */

static patchbay_str host_get_capabilities(patchbay_host *host, patchbay_call id)
{
    (void)id;
    return patchbay_str_make(host->capabilities.ptr, host->capabilities.len);
}

/* The capability that a client needs to be asked so; NULL: it cannot be. */
static const char *capability_of(patchbay_str method)
{
    static const char *const pairs[][2] = {
        {"sampling/createMessage", "sampling"},
        {"elicitation/create", "elicitation"},
        {"roots/list", "roots"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (patchbay_str_eq(method, patchbay_str_of(pairs[i][0]))) {
            return pairs[i][1];
        }
    }
    return NULL;
}

static char *copy_text(patchbay_str text)
{
    char *copy = strndup(text.len > 0 ? text.ptr : "", text.len);
    if (copy == NULL) {
        abort();
    }
    return copy;
}

static int32_t host_ask(patchbay_host *host, patchbay_call id, const patchbay_question *question)
{
    const char *capability = capability_of(question->method);
    patchbay_str capabilities = host_get_capabilities(host, id);
    if (capability == NULL ||
        (question->params_json.len > 0 && !is_object(question->params_json))) {
        return PATCHBAY_EINVAL;
    }
    if (patchbay_json_get(capabilities, capability).len == 0) {
        return PATCHBAY_ESTATE;
    }
    (void)pthread_mutex_lock(&host->lock);
    const fake_call *call = find_call(host, id.id);
    int32_t result =
        call == NULL || call->finished || call->cancelled ? PATCHBAY_ESTALE : PATCHBAY_OK;
    if (result == PATCHBAY_OK) {
        fake_question *asked = (fake_question *)calloc(1, sizeof *asked);
        if (asked == NULL) {
            abort();
        }
        asked->call = id.id;
        asked->key = copy_text(question->key);
        asked->method = copy_text(question->method);
        asked->params = copy_text(question->params_json);
        asked->on_answer = question->on_answer;
        asked->arg = question->arg;
        fake_question **last = &host->questions;
        while (*last != NULL) {
            last = &(*last)->next;
        }
        *last = asked;
    }
    (void)pthread_mutex_unlock(&host->lock);
    return result;
}

static int32_t host_message(patchbay_host *host, patchbay_call id, patchbay_str params_json)
{
    (void)pthread_mutex_lock(&host->lock);
    patchbay_out_printf(&host->said, "message %d ", id.id != 0);
    patchbay_out_raw(&host->said, params_json);
    patchbay_out_text(&host->said, "\n");
    if (!is_object(params_json)) {
        misuse(host, "message was not given an object", params_json);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return PATCHBAY_OK;
}

static int32_t host_release(patchbay_host *host, patchbay_call id)
{
    (void)id;
    (void)pthread_mutex_lock(&host->lock);
    patchbay_out_text(&host->said, "release\n");
    (void)pthread_mutex_unlock(&host->lock);
    return PATCHBAY_OK;
}

static int32_t host_elicitation_complete(patchbay_host *host, patchbay_call id,
                                         patchbay_str params_json)
{
    (void)pthread_mutex_lock(&host->lock);
    patchbay_out_printf(&host->said, "elicited %d ", id.id != 0);
    patchbay_out_raw(&host->said, params_json);
    patchbay_out_text(&host->said, "\n");
    (void)pthread_mutex_unlock(&host->lock);
    return PATCHBAY_OK;
}

static const patchbay_client_v1 client_table = {
    .struct_size = sizeof(patchbay_client_v1),
    .get_capabilities = host_get_capabilities,
    .ask = host_ask,
    .message = host_message,
    .release = host_release,
    .elicitation_complete = host_elicitation_complete,
};

/* Take a question out of the list: the first, or the first of a call; NULL: there is none. */
static fake_question *take_question(fake_host *host, uint64_t call)
{
    (void)pthread_mutex_lock(&host->lock);
    fake_question **at = &host->questions;
    while (*at != NULL && call != 0 && (*at)->call != call) {
        at = &(*at)->next;
    }
    fake_question *found = *at;
    if (found != NULL) {
        *at = found->next;
    }
    (void)pthread_mutex_unlock(&host->lock);
    return found;
}

/* Questions that nobody answers any more: of one call, or, with 0, all. */
static void drop_questions(fake_host *host, uint64_t call)
{
    for (fake_question *left = take_question(host, call); left != NULL;
         left = take_question(host, call)) {
        fake_host_answer(left, PATCHBAY_NO_ANSWER, "the client is gone");
    }
}

void fake_host_answer(fake_question *question, int32_t status, const char *json)
{
    char *copy = copy_text(patchbay_str_of(json)); /* a plugin that keeps it reads freed memory */
    question->on_answer(question->arg, (patchbay_call){question->call}, status,
                        patchbay_str_of(copy));
    free(copy);
    free(question->key);
    free(question->method);
    free(question->params);
    free(question);
}

fake_question *fake_host_question(fake_host *host)
{
    struct timespec until = wait_until();
    (void)pthread_mutex_lock(&host->lock);
    int expired = 0;
    run_posted(host);
    while (host->questions == NULL && !expired) {
        expired = pthread_cond_timedwait(&host->changed, &host->lock, &until) != 0;
        run_posted(host);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return take_question(host, 0);
}

void fake_host_set_capabilities(fake_host *host, const char *capabilities_json)
{
    host->capabilities.len = 0;
    patchbay_out_text(&host->capabilities, capabilities_json);
}

void fake_host_refuse_posts(fake_host *host, int refuse)
{
    (void)pthread_mutex_lock(&host->lock);
    host->refuse_posts = refuse;
    (void)pthread_mutex_unlock(&host->lock);
}

void fake_host_refuse_lists(fake_host *host, int refuse)
{
    (void)pthread_mutex_lock(&host->lock);
    host->refuse_lists = refuse;
    (void)pthread_mutex_unlock(&host->lock);
}

const char *fake_host_list(const fake_host *host, uint32_t kind)
{
    return host->lists[kind].ptr != NULL ? host->lists[kind].ptr : "";
}

const char *fake_host_offered(const fake_host *host)
{
    return host->offered.ptr != NULL ? host->offered.ptr : "";
}

#endif
