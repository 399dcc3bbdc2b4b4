/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/progress.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/router.h"

#include <stdlib.h>

enum {
    INTERVAL_MS = 1000 / HUB_LIMIT_PROGRESS_PER_S,
    BURST_MS = INTERVAL_MS * HUB_LIMIT_PROGRESS_BURST,
};

static void forget(hub_call *call)
{
    free(call->progress);
    call->progress = NULL;
    call->progress_len = 0;
}

static void keep(hub_call *call, hub_str params_json)
{
    forget(call);
    if (params_json.len <= HUB_LIMIT_PROGRESS_BYTES) {
        call->progress = hub_str_dup(params_json);
        call->progress_len = call->progress != NULL ? params_json.len : 0;
    }
}

/* Each that is told moves `progress_ms` on; it may be ahead of the clock by one burst. */
void hub_progress_take(hub_call *call, hub_str params_json)
{
    uint64_t now = hub_clock_now_ms();
    if (call->progress_ms < now) {
        call->progress_ms = now;
    }
    if (call->progress_ms - now > BURST_MS - INTERVAL_MS) {
        keep(call, params_json);
        return;
    }
    call->progress_ms += INTERVAL_MS;
    forget(call);
    hub_router_forward_progress(call, params_json);
}

void hub_progress_flush(hub_call *call)
{
    if (call->progress != NULL) {
        hub_router_forward_progress(call,
                                    (hub_str){.ptr = call->progress, .len = call->progress_len});
        forget(call);
    }
}
