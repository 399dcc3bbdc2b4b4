/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_client/stream_client.h"

#include "base/stream.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

struct hub_stream_client {
    hub_port port; /* first: a port is its client */
    struct ev_loop *loop;
    hub_stream_client_options options;
    hub_stream *stream;
    hub_session *session;
    ev_timer overflow; /* ends a client whose answers cannot be sent, from the loop */
    hub_budget_account account;
    bool is_evicted;  /* others need the memory that it holds */
    bool lost_answer; /* for want of memory: else the client does not read */
    ev_timer linger;  /* active after the end of file while answers are owed */
};

static void end(hub_stream_client *client, hub_str reason)
{
    ev_timer_stop(client->loop, &client->overflow);
    ev_timer_stop(client->loop, &client->linger);
    client->options.on_end(client->options.ctx, reason);
}

static hub_err send_message(hub_port *port, const hub_outgoing *message)
{
    hub_stream_client *client = (hub_stream_client *)port;
    hub_err err = hub_stream_send(client->stream, message->parts, message->count, message->lent);
    bool is_lost = err == HUB_ENOMEM && message->last; /* the client would wait for ever */
    client->lost_answer = client->lost_answer || is_lost;
    if ((err == HUB_ELIMIT || is_lost) && !ev_is_active(&client->overflow)) {
        ev_timer_start(client->loop, &client->overflow);
    }
    return err;
}

static const hub_port_ops PORT = {.send = send_message};

static void on_message(void *ctx, hub_str bytes)
{
    hub_stream_client *client = ctx;
    hub_session_receive(client->session, &client->port, bytes);
}

static void on_oversize(void *ctx)
{
    hub_stream_client *client = ctx;
    hub_session_refuse_oversize(client->session, &client->port, client->options.max_message_bytes);
}

/* Whether the other end reads no more either. */
static bool is_gone(const hub_stream_client *client)
{
    struct pollfd state = {.fd = client->options.write_fd, .events = 0};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

static bool is_owed_nothing(hub_stream_client *client)
{
    hub_stream_drain(client->stream, 0); /* what is sent now waits for the loop otherwise */
    return hub_session_in_flight(client->session) == 0 && hub_stream_queued(client->stream) == 0;
}

static void on_stream_end(void *ctx, hub_str reason)
{
    hub_stream_client *client = ctx;
    if (client->options.answers_after_end && !is_owed_nothing(client) && !is_gone(client)) {
        ev_timer_again(client->loop, &client->linger);
    } else {
        end(client, reason);
    }
}

static void on_linger(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_stream_client *client = timer->data;
    if (is_owed_nothing(client) || is_gone(client)) {
        end(client, HUB_STR("end of file"));
    }
}

static void on_overflow(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_stream_client *client = timer->data;
    if (client->is_evicted) {
        end(client,
            HUB_STR("limits.client_memory is used up, and this client holds the most of it"));
    } else {
        end(client, client->lost_answer ? HUB_STR("out of memory: an answer cannot be sent")
                                        : HUB_STR("the client does not read its answers"));
    }
}

static void on_evict(hub_budget_account *account)
{
    hub_stream_client *client =
        (hub_stream_client *)((char *)account - offsetof(hub_stream_client, account));
    client->is_evicted = true;
    if (!ev_is_active(&client->overflow)) {
        ev_timer_start(client->loop, &client->overflow);
    }
}

static void close_fds(const hub_stream_client_options *options)
{
    if (options->keep_fds_open) {
        return;
    }
    (void)close(options->read_fd); /* nothing can be done about a failing close */
    if (options->write_fd != options->read_fd) {
        (void)close(options->write_fd);
    }
}

static hub_err open_session(hub_stream_client *client, hub_orchestrator *hub, hub_error *reterr)
{
    const hub_session_options session = {.profile = client->options.profile,
                                         .transport = client->options.transport,
                                         .principal = client->options.principal,
                                         .identity = client->options.identity,
                                         .port = &client->port};
    return hub_session_create(hub, &session, &client->session, reterr);
}

static hub_err open_stream(hub_stream_client *client)
{
    const hub_stream_client_options *options = &client->options;
    const hub_stream_options stream = {
        .read_fd = options->read_fd,
        .write_fd = options->write_fd,
        .keep_fds_open = options->keep_fds_open,
        .detect_framing = true,
        .max_message_bytes = options->max_message_bytes,
        .max_queue_bytes = options->max_queue_bytes,
        .account = &client->account,
        .pause_above_bytes = HUB_STREAM_CLIENT_PAUSE_BYTES,
        .on_message = on_message,
        .on_oversize = on_oversize,
        .on_end = on_stream_end,
        .ctx = client,
    };
    return hub_stream_open(client->loop, &stream, &client->stream);
}

hub_err hub_stream_client_open(struct ev_loop *loop, hub_orchestrator *hub,
                               const hub_stream_client_options *options,
                               hub_stream_client **ret_client, hub_error *reterr)
{
    hub_stream_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        close_fds(options);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    client->port.ops = &PORT;
    client->loop = loop;
    client->options = *options;
    hub_budget_open(&client->account, options->budget, on_evict);
    ev_timer_init(&client->overflow, on_overflow, 0., 0.);
    ev_timer_init(&client->linger, on_linger, 0., HUB_STREAM_CLIENT_LINGER_MS / 1000.);
    client->overflow.data = client;
    client->linger.data = client;
    hub_err err = open_session(client, hub, reterr);
    if (err != HUB_OK) {
        close_fds(options);
        free(client);
        return err;
    }
    client->options.principal = NULL; /* the session has its own copy … */
    client->options.identity = NULL;  /* … and its own reference */
    err = open_stream(client);
    if (err != HUB_OK) {
        hub_session_close(client->session);
        free(client);
        return hub_fail(reterr, err, "the client's descriptors cannot be used: %s",
                        hub_err_text(err));
    }
    *ret_client = client;
    return HUB_OK;
}

bool hub_stream_client_drain(hub_stream_client *client, unsigned timeout_ms)
{
    hub_stream_drain(client->stream, timeout_ms);
    return hub_stream_queued(client->stream) == 0;
}

bool hub_stream_client_is_busy(const hub_stream_client *client)
{
    hub_stream_drain(client->stream, 0); /* what can leave at once is not waited for */
    return hub_session_in_flight(client->session) > 0 || hub_stream_queued(client->stream) > 0;
}

void hub_stream_client_abort(hub_stream_client *client)
{
    hub_session_abort(client->session);
}

void hub_stream_client_close(hub_stream_client *client)
{
    if (client == NULL) {
        return;
    }
    ev_timer_stop(client->loop, &client->overflow);
    ev_timer_stop(client->loop, &client->linger);
    hub_session_close(client->session);
    hub_stream_close(client->stream);
    hub_budget_close(&client->account);
    free(client);
}
