/* SPDX-License-Identifier: Apache-2.0 */
#include "http/takeover.h"

#include "base/limits.h"
#include "base/log.h"
#include "http/legacy.h"
#include "http/moving.h"
#include "http/replicas.h"
#include "hub/moves/moves.h"

#include <stdio.h>
#include <stdlib.h>

/* How often others may have been faster. */
enum { TRIES = 4 };

struct hub_http_finding {
    hub_http_connection *connection; /* NULL: nobody waits any more */
    hub_orchestrator *hub;
    hub_identity *identity;
    hub_state_op *op;
    bool claims;    /* the operation writes this replica into the record */
    unsigned tries; /* to claim it */
    hub_buf seen;   /* the record that is being claimed */
    hub_http_on_found on_found;
    void *ctx;
    char id[HUB_SESSION_ID_MOST + 1];
};

static hub_move_id id_of(const hub_http_finding *this)
{
    return (hub_move_id){.principal = this->identity->name, .session = this->id};
}

static void free_finding(hub_http_finding *this)
{
    hub_identity_unref(this->identity);
    hub_buf_fini(&this->seen);
    free(this);
}

static void end(hub_http_finding *this, hub_http_found found, const hub_replica_place *place)
{
    hub_http_on_found on_found = this->on_found;
    void *ctx = this->ctx;
    free_finding(this);
    on_found(ctx, found, place);
}

/* ---- taking it over -------------------------------------------------------------------------- */

/* It is nobody's again: whoever is asked next may have it. */
static void release(const hub_http_finding *this, const hub_move *move, uint64_t version)
{
    hub_err ignored = hub_moves_put(this->hub, id_of(this), version, move, NULL, NULL, NULL);
    (void)ignored; /* else its client begins anew */
}

static void look(hub_http_finding *this);

static void on_claimed(void *ctx, const hub_state_result *result)
{
    hub_http_finding *this = ctx;
    hub_move move;
    hub_err err = hub_move_read(hub_buf_str(&this->seen), &move);
    hub_assert(err == HUB_OK && move.home.port == 0);
    this->op = NULL;
    this->claims = false;
    if (result->err == HUB_ECONFLICT && this->connection != NULL && ++this->tries < TRIES) {
        look(this);
        return;
    }
    if (result->err == HUB_OK &&
        (this->connection == NULL || !hub_http_session_remake(this->connection, this->id, &move))) {
        release(this, &move, result->records[0].version);
        err = HUB_ESTATE;
    }
    if (this->connection == NULL) {
        free_finding(this);
    } else if (err != HUB_OK) {
        end(this, HUB_HTTP_FOUND_ANSWERED, NULL);
    } else if (result->err != HUB_OK) {
        end(this, HUB_HTTP_FOUND_UNKNOWN, NULL);
    } else {
        end(this, HUB_HTTP_FOUND_AT, hub_replicas_own(this->hub));
    }
}

static void claim(hub_http_finding *this, const hub_state_record *record, const hub_move *move)
{
    hub_move taken = *move;
    taken.home = *hub_replicas_own(this->hub);
    hub_buf_clear(&this->seen);
    hub_buf_add(&this->seen, record->document);
    this->claims = true;
    if (!hub_buf_ok(&this->seen) || hub_moves_put(this->hub, id_of(this), record->version, &taken,
                                                  on_claimed, this, &this->op) != HUB_OK) {
        end(this, HUB_HTTP_FOUND_NOWHERE, NULL);
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

/* What the record names as the home. One that says this replica, where the session is not, is of an earlier
 * life of it that ended too soon. */
static void follow(hub_http_finding *this, const hub_move *move)
{
    const hub_http_server *server = this->connection->server;
    hub_replica_home home = hub_replicas_judge_home(server->hub, &move->home);
    bool is_here =
        home == HUB_HOME_HERE && hub_http_replicas_find(server->replicas, hub_str_of(this->id),
                                                        this->identity->name) != NULL;
    hub_replica_place place = move->home;
    if (is_here || home == HUB_HOME_ELSEWHERE) {
        end(this, HUB_HTTP_FOUND_AT, &place);
    } else {
        end(this, HUB_HTTP_FOUND_NOWHERE, NULL);
    }
}

/* Nothing is taken by a replica that leaves, or that cannot call itself. */
static bool may_take(const hub_http_server *server)
{
    return !server->leaving && hub_orchestrator_takes_work(server->hub) &&
           hub_replicas_trust(server->hub, hub_replicas_own(server->hub)->address);
}

static void on_record(void *ctx, const hub_state_result *result)
{
    hub_http_finding *this = ctx;
    hub_move move;
    this->op = NULL;
    if (result->err != HUB_OK) {
        end(this, result->err == HUB_ENOTFOUND ? HUB_HTTP_FOUND_NOWHERE : HUB_HTTP_FOUND_UNKNOWN,
            NULL);
        return;
    }
    const hub_state_record *record = &result->records[0];
    if (hub_move_read(record->document, &move) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "session.not_taken",
                HUB_F_TEXT("reason", "its record is of another version of the hub"));
        end(this, HUB_HTTP_FOUND_NOWHERE, NULL);
    } else if (move.home.port != 0) {
        follow(this, &move);
    } else if (may_take(this->connection->server)) {
        claim(this, record, &move);
    } else {
        end(this, HUB_HTTP_FOUND_NOWHERE, NULL);
    }
}

static void look(hub_http_finding *this)
{
    if (hub_moves_get(this->hub, id_of(this), on_record, this, &this->op) != HUB_OK) {
        end(this, HUB_HTTP_FOUND_NOWHERE, NULL);
    }
}

hub_err hub_http_find_moved(hub_http_connection *connection, const char *id,
                            hub_http_on_found on_found, void *ctx, hub_http_finding **ret_finding)
{
    hub_http_finding *this = calloc(1, sizeof *this);
    if (this == NULL) {
        return HUB_ENOMEM;
    }
    this->connection = connection;
    this->hub = connection->server->hub;
    this->identity = hub_identity_ref(connection->identity);
    this->on_found = on_found;
    this->ctx = ctx;
    (void)snprintf(this->id, sizeof this->id, "%s", id);
    hub_buf_init(&this->seen, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_err err = hub_moves_get(this->hub, id_of(this), on_record, this, &this->op);
    if (err != HUB_OK) {
        free_finding(this);
    } else {
        *ret_finding = this;
    }
    return err;
}

/* A claim goes on: whether it was made has to be known. */
void hub_http_finding_cancel(hub_http_finding *this)
{
    this->connection = NULL;
    if (!this->claims) {
        hub_state_cancel(this->op);
        free_finding(this);
    }
}
