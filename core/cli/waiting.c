/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/waiting.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/reach.h"

#include <unistd.h>

enum {
    FIRST_S = 2, /* what takes less needs no word */
    NEXT_S = 5,
};

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    cli_waiting *waiting = timer->data;
    hub_buf keys;
    hub_buf_init(&keys, HUB_LIMIT_LOG_LINE_BYTES);
    size_t count = hub_reach_add_waiting(waiting->hub, &keys);
    hub_str names = hub_buf_ok(&keys) ? hub_buf_str(&keys) : HUB_STR("many");
    unsigned long long seconds = (hub_clock_now_ms() - waiting->begun_ms) / 1000;
    if (count > 0 && !waiting->has_spoken) {
        cli_note("waiting for %zu server%s to start: " HUB_STR_FMT
                 " (the first start of a server may download it; startup_timeout of its entry "
                 "is the limit)",
                 count, count == 1 ? "" : "s", HUB_STR_ARG(names));
        waiting->has_spoken = true;
    } else if (count > 0 && isatty(STDERR_FILENO)) {
        cli_note("still waiting after %llu s: " HUB_STR_FMT, seconds, HUB_STR_ARG(names));
    }
    hub_buf_fini(&keys);
}

void cli_waiting_begin(cli_waiting *waiting, struct ev_loop *loop, hub_orchestrator *hub)
{
    *waiting = (cli_waiting){.loop = loop, .hub = hub, .begun_ms = hub_clock_now_ms()};
    ev_timer_init(&waiting->timer, on_time, FIRST_S, NEXT_S);
    waiting->timer.data = waiting;
    ev_now_update(loop);
    ev_timer_start(loop, &waiting->timer);
}

void cli_waiting_end(cli_waiting *waiting)
{
    ev_timer_stop(waiting->loop, &waiting->timer);
}
