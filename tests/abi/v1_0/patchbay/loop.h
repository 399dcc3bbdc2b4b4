/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.loop/1": the hub's event loop, for plugins that wait for descriptors or
 * time. Callbacks run on the loop thread and must not block. Everything an instance still holds
 * when its destroy() returns is released by the hub, and logged as a leak at debug level.
 */
#ifndef PATCHBAY_LOOP_H
#define PATCHBAY_LOOP_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_LOOP_V1 "patchbay.loop/1"

#define PATCHBAY_READABLE 0x1u
#define PATCHBAY_WRITABLE 0x2u

typedef struct patchbay_watch patchbay_watch;
typedef struct patchbay_timer patchbay_timer;

typedef struct patchbay_loop_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* Milliseconds on a monotonic clock, as of this loop iteration.
     * thread: [loop] */
    uint64_t (*now_ms)(patchbay_host *host);

    /* Watch a descriptor for `events` (PATCHBAY_READABLE | PATCHBAY_WRITABLE; 0 is allowed).
     * owns:   the descriptor stays the caller's: unwatch before closing it
     * thread: [loop]     returns: NULL when out of memory */
    patchbay_watch *(*watch)(patchbay_host *host, int fd, uint32_t events,
                             void (*on_ready)(void *ctx, uint32_t events), void *ctx);
    void (*rewatch)(patchbay_watch *watch, uint32_t events); /* [loop] */
    void (*unwatch)(patchbay_watch *watch);                  /* [loop] NULL is fine */

    /* A one-shot timer, created stopped; timer_start restarts a running one.
     * thread: [loop]     returns: NULL when out of memory */
    patchbay_timer *(*timer)(patchbay_host *host, void (*on_time)(void *ctx), void *ctx);
    void (*timer_start)(patchbay_timer *timer, uint64_t delay_ms); /* [loop] */
    void (*timer_stop)(patchbay_timer *timer);                     /* [loop] */
    void (*timer_free)(patchbay_timer *timer);                     /* [loop] NULL is fine */

    /* Run `fn(arg)` on the loop thread, soon and once; in order for one calling thread. Dropped if
     * the instance is destroyed before.
     * thread: [any]      returns: PATCHBAY_OK, PATCHBAY_ENOMEM, PATCHBAY_ESTATE (closing),
     *         PATCHBAY_ELIMIT (too much waits for the loop already) */
    int32_t (*post)(patchbay_host *host, void (*fn)(void *arg), void *arg);
} patchbay_loop_v1;

#ifdef __cplusplus
}
#endif

#endif
