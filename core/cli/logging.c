/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/logging.h"

#include "base/log_journal.h"
#include "base/loop.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAST_MS = 500 }; /* for the last lines, of a hub that ends */

static void on_reopen(struct ev_loop *loop, ev_signal *watcher, int events)
{
    hub_error why = {.code = HUB_OK};
    (void)loop;
    (void)watcher;
    (void)events;
    if (hub_log_reopen(&why) != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "log.not_reopened", HUB_F_TEXT("reason", why.text));
    } else {
        hub_log(HUB_LOG_INFO, "log.reopened", HUB_F_TEXT("by", "SIGUSR1"));
    }
}

static void wake(void *ctx)
{
    cli_logging *logging = ctx;
    ev_async_send(logging->loop, &logging->on_owed);
}

static void on_owed(struct ev_loop *loop, ev_async *async, int events)
{
    (void)events;
    cli_logging *logging = async->data;
    if (!ev_is_active(&logging->on_writable)) {
        ev_io_start(loop, &logging->on_writable);
        ev_unref(loop); /* nobody waits for it */
    }
}

static void stop_writing(cli_logging *logging)
{
    if (ev_is_active(&logging->on_writable)) {
        ev_ref(logging->loop);
        ev_io_stop(logging->loop, &logging->on_writable);
    }
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    if (hub_log_flush(0)) {
        stop_writing(watcher->data);
    }
}

hub_err cli_logging_begin(cli_logging *logging, struct ev_loop *loop, const hub_settings *settings,
                          hub_error *reterr)
{
    hub_err err = hub_log_to_file(settings->log_file, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (settings->log_file == NULL) {
        (void)hub_log_journal_open(getenv("JOURNAL_STREAM"), HUB_JOURNAL_SOCKET);
    }
    logging->loop = loop;
    hub_log_never_wait();
    ev_signal_init(&logging->on_reopen, on_reopen, SIGUSR1);
    ev_signal_start(loop, &logging->on_reopen);
    ev_unref(loop);
    ev_async_init(&logging->on_owed, on_owed);
    logging->on_owed.data = logging;
    ev_async_start(loop, &logging->on_owed);
    ev_unref(loop);
    ev_io_init(&logging->on_writable, on_writable, STDERR_FILENO, EV_WRITE);
    logging->on_writable.data = logging;
    hub_log_on_owed(wake, logging);
    return HUB_OK;
}

void cli_logging_end(cli_logging *logging)
{
    if (logging->loop == NULL) {
        return;
    }
    hub_log_on_owed(NULL, NULL);
    stop_writing(logging);
    ev_ref(logging->loop);
    ev_async_stop(logging->loop, &logging->on_owed);
    ev_ref(logging->loop);
    ev_signal_stop(logging->loop, &logging->on_reopen);
    logging->loop = NULL;
    (void)hub_log_flush(LAST_MS);
    hub_log_journal_close();
}
