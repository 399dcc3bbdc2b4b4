/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that come later: from the store, or from a file, which a thread reads or writes so that the
 * loop does not wait for it. Who asked may be gone by then, and so may the API: then nobody is
 * answered. Thread: [loop], but what is said otherwise.
 */
#ifndef HUB_WEB_API_LATER_H
#define HUB_WEB_API_LATER_H

#include "web/api/pending.h"
#include "web/api/route.h"

/* Embed it first in what is allocated with calloc. */
typedef struct hub_api_later {
    hub_api_pending pending;
    hub_api_asked asked; /* copies of what it points to; without its request */
    bool is_inside;      /* the handler has not returned yet */
    bool is_over;        /* it was answered, or nobody waits any more */
    char *profile;       /* holds asked.profile */
    hub_buf names;       /* holds asked.named */
    hub_identity *held;  /* a reference: asked.identity */
    void (*work)(struct hub_api_later *later);   /* [worker] of hub_api_work */
    void (*finish)(struct hub_api_later *later); /* … and then on the loop */
    struct hub_api_later *next_done;
} hub_api_later;

/* Begin to wait for something. Takes `later`, which may be NULL (out of memory): then, or when it fails,
 * that has been answered, it is freed, and the result is false. */
bool hub_api_later_begin(hub_api_asked *asked, hub_api_later *later);

/* The handler is about to return: if the answer is not there yet, the exchange waits. Frees it if all is
 * over. */
void hub_api_later_wait(hub_api_later *later);

/* The time to answer has come: whom, or NULL: nobody waits. Call hub_api_later_free afterwards. */
hub_web_exchange *hub_api_later_exchange(hub_api_later *later);

/* It is over. It is freed now, or when the handler returns. */
void hub_api_later_free(hub_api_later *later);

/* Run `work` on the API's thread, and then `finish` on the loop, which answers (be it that nobody waits)
 * and calls hub_api_later_free. What `work` uses is its own: neither the hub nor what `asked` points to
 * but for copies. Instead of hub_api_later_begin and hub_api_later_wait. */
void hub_api_work(hub_api_asked *asked, hub_api_later *later, void (*work)(hub_api_later *later),
                  void (*finish)(hub_api_later *later));

/* ---- for api.c alone ------------------------------------------------------------------------- */

typedef struct hub_api_thread hub_api_thread;

/* owns:    the result; NULL: out of memory. No thread is there before it is needed */
hub_api_thread *hub_api_thread_create(hub_orchestrator *hub);
void hub_api_thread_destroy(hub_api_thread *thread); /* NULL is fine */
hub_api_thread *hub_api_thread_of(hub_api *api);

#endif
