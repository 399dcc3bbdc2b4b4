/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker threads of fake_host.c, and worker/1 in front of them. Part of that file, in one of
 * its own so that both stay readable.
 */
#ifndef FAKE_THREADS_H
#define FAKE_THREADS_H

static void append_job(fake_job **jobs, fake_job *job)
{
    while (*jobs != NULL) {
        jobs = &(*jobs)->next;
    }
    *jobs = job;
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
    if (result == PATCHBAY_OK) {
        append_job(&host->jobs, job);
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

static void drop_jobs(fake_job **jobs)
{
    while (*jobs != NULL) {
        fake_job *job = *jobs;
        *jobs = job->next;
        free(job);
    }
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
    drop_jobs(&host->jobs); /* as the hub drops the queue of a closing toolset */
    drop_jobs(&host->posted);
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

#endif
