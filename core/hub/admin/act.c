/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/admin/act.h"

#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/transport.h"
#include "wire/own_request.h"

#include <ev.h>
#include <stdlib.h>

struct hub_act {
    hub_port port; /* first: a port is its act */
    struct ev_loop *loop;
    hub_session *session;
    hub_act_on_done *on_done; /* NULL: nobody waits, or it has been told */
    void *ctx;
    ev_timer over; /* a session is never ended from inside */
    bool inside;
};

static void destroy(hub_act *act)
{
    ev_timer_stop(act->loop, &act->over);
    hub_session_close(act->session);
    free(act);
}

static void on_over(struct ev_loop *loop, ev_timer *timer, int revents)
{
    (void)loop;
    (void)revents;
    destroy(timer->data);
}

static void end_soon(hub_act *act)
{
    if (!act->inside && !ev_is_active(&act->over)) {
        ev_timer_start(act->loop, &act->over);
    }
}

/* Progress and messages are for clients; the answer is what is wanted. */
static hub_err take(hub_port *port, const hub_outgoing *message)
{
    hub_act *act = (hub_act *)port;
    if (!message->last || act->on_done == NULL) {
        return HUB_OK;
    }
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES + HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    for (size_t i = 0; i < message->count; i++) {
        hub_buf_add(&text, message->parts[i]);
    }
    hub_act_on_done *on_done = act->on_done;
    act->on_done = NULL;
    hub_err failed = text.failed;
    on_done(act->ctx, failed == HUB_OK ? hub_buf_str(&text) : HUB_STR_EMPTY);
    hub_buf_fini(&text);
    end_soon(act);
    return failed;
}

static const hub_port_ops PORT = {.send = take};

hub_err hub_act_begin(hub_orchestrator *hub, const hub_act_as *as, const char *method,
                      hub_str params, hub_act_on_done *on_done, void *ctx, hub_act **ret_act,
                      hub_error *reterr)
{
    hub_buf text;
    hub_act *act = calloc(1, sizeof *act);
    hub_client *client = hub_client_join(hub, as->identity->name, as->transport);
    *ret_act = NULL;
    hub_buf_init(&text, params.len + HUB_LIMIT_LOG_LINE_BYTES);
    hub_own_request_add(&text, 1, method, params, "patchbay");
    hub_err err = act != NULL && client != NULL && hub_buf_ok(&text)
                      ? HUB_OK
                      : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    if (err == HUB_OK) {
        const hub_session_options options = {.profile = as->profile,
                                             .transport = as->transport,
                                             .identity = as->identity,
                                             .client = client,
                                             .is_one_request = true,
                                             .acts = true,
                                             .port = &act->port};
        act->port.ops = &PORT;
        err = hub_session_create(hub, &options, &act->session, reterr);
    }
    if (err == HUB_OK) {
        act->loop = hub_loop(hub);
        act->on_done = on_done;
        act->ctx = ctx;
        ev_timer_init(&act->over, on_over, 0., 0.);
        act->over.data = act;
        act->inside = true;
        hub_session_receive(act->session, &act->port, hub_buf_str(&text));
        act->inside = false;
        if (act->on_done == NULL) {
            destroy(act);
        } else {
            *ret_act = act;
        }
        act = NULL;
    }
    free(act);
    hub_client_leave(client);
    hub_buf_fini(&text);
    return err;
}

void hub_act_cancel(hub_act *act)
{
    act->on_done = NULL;
    destroy(act);
}
