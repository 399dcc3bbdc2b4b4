/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.worker/1": the hub's thread pool, for work that blocks or computes.
 * The pool is shared by all toolsets; an instance is destroyed only when its last job has ended.
 */
#ifndef PATCHBAY_WORKER_H
#define PATCHBAY_WORKER_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_WORKER_V1 "patchbay.worker/1"

typedef struct patchbay_worker_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* Run `work(arg)` on a pool thread.
     * thread:  [any]     blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_ELIMIT (the queue is full: answer PATCHBAY_UNAVAILABLE);
     *          PATCHBAY_ESTATE (closing); PATCHBAY_ENOMEM. On failure `work` is not run. */
    int32_t (*submit)(patchbay_host *host, void (*work)(void *arg), void *arg);
} patchbay_worker_v1;

#ifdef __cplusplus
}
#endif

#endif
