/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/moves/sweep.h"

#include "base/limits.h"
#include "hub/kernel/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct hub_moves_sweep {
    hub_orchestrator *hub;
    hub_moves_is_here is_here;
    void *ctx;
    hub_state_op *listing;
    ev_timer next;
};

/* Whose record, with ends. */
typedef struct names {
    char principal[HUB_LIMIT_STATE_OWNER_BYTES + 1];
    char session[HUB_LIMIT_STATE_KEY_BYTES + 1];
} names;

static hub_move_id id_of(const hub_state_record *record, names *space)
{
    (void)snprintf(space->principal, sizeof space->principal, HUB_STR_FMT,
                   HUB_STR_ARG(record->owner));
    (void)snprintf(space->session, sizeof space->session, HUB_STR_FMT, HUB_STR_ARG(record->key));
    return (hub_move_id){.principal = space->principal, .session = space->session};
}

/* Of a record of another format nothing is known but that it is not this replica's to judge. */
static void look_at(hub_moves_sweep *this, const hub_state_record *record)
{
    const hub_orchestrator *hub = this->hub;
    names space;
    hub_move move;
    hub_move_id id = id_of(record, &space);
    if (hub_move_read(record->document, &move) != HUB_OK) {
        return;
    }
    int64_t age_s = (int64_t)time(NULL) - move.recorded_s;
    int64_t most_s = HUB_LIMIT_REPLICA_MOVED_S;
    if (move.home.port == 0) {
        most_s = hub_settings_of(hub)->limits.net.session_idle_ms / 1000;
    } else if (hub_replicas_judge_home(hub, &move.home) == HUB_HOME_HERE) {
        bool is_here = this->is_here(this->ctx, id.principal, record->key);
        most_s = is_here ? INT64_MAX : -1;
        if (is_here && age_s > HUB_LIMIT_REPLICA_MOVED_S / 2) {
            hub_err ignored = hub_moves_put(hub, id, record->version, &move, NULL, NULL, NULL);
            (void)ignored; /* there is a next time */
        }
    }
    if (age_s > most_s) {
        hub_moves_delete(hub, id, record->version);
    }
}

static void list(hub_moves_sweep *this, const hub_state_record *after);

static void on_list(void *ctx, const hub_state_result *result)
{
    hub_moves_sweep *this = ctx;
    this->listing = NULL;
    for (size_t i = 0; result->err == HUB_OK && i < result->count; i++) {
        look_at(this, &result->records[i]);
    }
    if (result->err == HUB_OK && result->has_more && result->count > 0) {
        list(this, &result->records[result->count - 1]);
    }
}

static void list(hub_moves_sweep *this, const hub_state_record *after)
{
    if (hub_moves_list(this->hub, after, on_list, this, &this->listing) != HUB_OK) {
        this->listing = NULL;
    }
}

static void plan(hub_moves_sweep *this)
{
    double idle_s = hub_settings_of(this->hub)->limits.net.session_idle_ms / 1000.;
    double wait_s = idle_s / 2;
    wait_s = wait_s < 1                           ? 1
             : wait_s > HUB_LIMIT_REPLICA_SWEEP_S ? HUB_LIMIT_REPLICA_SWEEP_S
                                                  : wait_s;
    ev_timer_set(&this->next, wait_s, 0.);
    ev_timer_start(hub_loop(this->hub), &this->next);
}

static void on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_moves_sweep *this = timer->data;
    if (this->listing == NULL && hub_moves_are_kept(this->hub)) {
        list(this, NULL);
    }
    plan(this);
}

hub_moves_sweep *hub_moves_sweep_create(hub_orchestrator *hub, hub_moves_is_here is_here, void *ctx)
{
    hub_moves_sweep *this = calloc(1, sizeof *this);
    if (this != NULL) {
        this->hub = hub;
        this->is_here = is_here;
        this->ctx = ctx;
        ev_timer_init(&this->next, on_next, 0., 0.);
        this->next.data = this;
        plan(this);
    }
    return this;
}

void hub_moves_sweep_destroy(hub_moves_sweep *this)
{
    if (this != NULL) {
        if (this->listing != NULL) {
            hub_state_cancel(this->listing);
        }
        ev_timer_stop(hub_loop(this->hub), &this->next);
        free(this);
    }
}
