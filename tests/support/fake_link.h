/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link without a network, in the place of transports/net: a test says what comes, sees what goes,
 * and lets time pass. fake_link.c defines the functions of net/link.h and of net/net.h's ticks; a
 * program that is linked with it takes nothing of net/link.c and net/net.c.
 */
#ifndef PATCHBAY_TESTS_FAKE_LINK_H
#define PATCHBAY_TESTS_FAKE_LINK_H

#include "base/buf.h"
#include "net/net.h"

struct hub_link {
    const hub_link_events *events;
    void *owner;
    hub_buf out; /* all that was written and not yet looked at */
    size_t queued;
    size_t max_queue_bytes;
    size_t max_write; /* the largest write */
    size_t kept;      /* by the owner */
    size_t most_kept; /* more is refused */
    bool is_stalled;  /* what is written waits until fake_link_drain */
    bool is_paused;
    bool is_closing;
    bool is_flushed; /* … and what waits may leave first */
    bool is_over;    /* on_end has been told */
    hub_err fails;   /* what writing answers, if not HUB_OK */
    const char *peer;
};

struct hub_net {
    hub_net_tick *ticks;
    uint64_t now_ms;
};

void fake_link_init(hub_link *link);
void fake_link_fini(hub_link *link);

/* Bytes come; the link must not be paused. A closing one throws them away. */
void fake_link_says(hub_link *link, hub_str bytes);

/* The peer takes all that waits. */
void fake_link_drain(hub_link *link);

/* What a loop would do: tell the end of a link that is closing, or whose peer is gone. */
void fake_link_end(hub_link *link);

/* `ms` later. The clock starts with the real one, and the test moves it on. */
void fake_net_init(hub_net *net);
void fake_net_pass(hub_net *net, uint64_t ms);

/* Not before the real clock, which code under test may have looked at. Nobody is told yet. */
void fake_net_catch_up(hub_net *net);

#endif
