/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/listeners.h"

#include "base/clock.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/listener.h"
#include "hub/replicas/replicas.h"
#include "web/api/api.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    GOODBYE_MS = 1000, /* for the ends of streams to be read, once nobody waits for a call */
    LOOK_MS = 250,
};

struct cli_listeners {
    cli_listener_home home;
    cli_listener served[HUB_LIMIT_LISTENERS];
    size_t count;
    cli_listener replica; /* of the other replicas; `listen` NULL: there are none */
    cli_listener *retired;
    ev_timer look; /* whether they have done */
};

/* ---- those that retire ----------------------------------------------------------------------- */

/* Whether it is too early to close it. First calls may end, as when the hub does, then clients are
 * let go. */
static bool is_needed(const cli_listeners *listeners, cli_listener *one, uint64_t now_ms)
{
    if (!one->is_stopped) {
        if (now_ms < one->until_ms && cli_listener_is_awaited(&listeners->home, one)) {
            return true;
        }
        if (now_ms >= one->until_ms && cli_listener_is_awaited(&listeners->home, one)) {
            char place[256];
            cli_listener_print_place(one->listen, place, sizeof place);
            hub_log(HUB_LOG_WARNING, "listen.calls_cut_off", HUB_F_TEXT("address", place));
        }
        cli_listener_stop(one);
        one->is_stopped = true;
        one->until_ms = now_ms + GOODBYE_MS;
    }
    return now_ms < one->until_ms && cli_listener_busy(one) > 0;
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    cli_listeners *listeners = timer->data;
    uint64_t now = hub_clock_now_ms();
    cli_listener **link = &listeners->retired;
    while (*link != NULL) {
        cli_listener *one = *link;
        if (is_needed(listeners, one, now)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        cli_listener_close(one);
        free(one);
    }
    if (listeners->retired == NULL) {
        ev_timer_stop(loop, timer);
    }
}

/* Without memory to wait it closes at once. */
static void retire(cli_listeners *listeners, const cli_listener *one, unsigned drain_ms)
{
    char place[256];
    cli_listener_print_place(one->listen, place, sizeof place);
    hub_log(HUB_LOG_INFO, "listen.closed", HUB_F_TEXT("address", place));
    cli_listener_drain(one);
    cli_listener *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        cli_listener_close(one);
        return;
    }
    *kept = *one;
    kept->until_ms = hub_clock_now_ms() + drain_ms;
    kept->next = listeners->retired;
    listeners->retired = kept;
    ev_timer_again(listeners->home.loop, &listeners->look);
}

/* ---- reloading ------------------------------------------------------------------------------- */

struct cli_listeners_next {
    cli_listeners *listeners;
    const hub_settings *settings;
    cli_listener served[HUB_LIMIT_LISTENERS];
    size_t count;
    bool is_kept[HUB_LIMIT_LISTENERS]; /* of those that are there: the next ones have it, too */
    hub_listen_settings ahead[HUB_LIMIT_LISTENERS]; /* what new sockets are opened with */
};

static bool is_same_place(const hub_listen_settings *a, const hub_listen_settings *b)
{
    return a->kind == b->kind && a->port == b->port && strcmp(a->address, b->address) == 0;
}

static const cli_listener *find_kept(cli_listeners_next *next, const hub_listen_settings *listen)
{
    const cli_listeners *listeners = next->listeners;
    for (size_t i = 0; i < listeners->count; i++) {
        if (!next->is_kept[i] && is_same_place(listeners->served[i].listen, listen)) {
            next->is_kept[i] = true;
            return &listeners->served[i];
        }
    }
    return NULL;
}

hub_err cli_listeners_prepare(cli_listeners *listeners, const hub_settings *settings,
                              cli_listeners_next **ret_next, hub_error *reterr)
{
    cli_listeners_next *next = calloc(1, sizeof *next);
    if (next == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    next->listeners = listeners;
    next->settings = hub_settings_ref(settings);
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < settings->listen_count; i++) {
        cli_listener *one = &next->served[i];
        const cli_listener *kept = find_kept(next, &settings->listens[i]);
        if (kept != NULL) {
            *one = *kept;
            next->count++;
            continue;
        }
        *one = (cli_listener){.listen = &settings->listens[i], .is_new = true};
        if (one->listen->kind == HUB_LISTEN_UNIX) {
            next->ahead[i] = *one->listen;
            next->ahead[i].profile = NULL; /* that may be one that the hub does not have yet */
            one->listen = &next->ahead[i];
        }
        err = cli_listener_open(&listeners->home, settings, one, reterr);
        next->count += err == HUB_OK;
    }
    if (err != HUB_OK) {
        cli_listeners_abandon(next);
        return err;
    }
    *ret_next = next;
    return HUB_OK;
}

void cli_listeners_abandon(cli_listeners_next *next)
{
    if (next == NULL) {
        return;
    }
    for (size_t i = 0; i < next->count; i++) {
        if (next->served[i].is_new) {
            cli_listener_close(&next->served[i]);
        }
    }
    hub_settings_unref(next->settings);
    free(next);
}

/* What a listener keeps for as long as it listens. */
static void note_fixed(const hub_listen_settings *old, const hub_listen_settings *now,
                       hub_name_list *restart)
{
    if ((old->tls.certificate == NULL) != (now->tls.certificate == NULL) ||
        !hub_str_same_text(old->tls.min_version, now->tls.min_version)) {
        hub_name_list_add(restart, hub_str_of("listen.tls"));
    }
    if (old->kind == HUB_LISTEN_UNIX && old->mode != now->mode) {
        hub_name_list_add(restart, hub_str_of("listen.mode"));
    }
    if (old->kind == HUB_LISTEN_UNIX && !hub_str_same_text(old->group, now->group)) {
        hub_name_list_add(restart, hub_str_of("listen.group"));
    }
}

static void take_settings(cli_listener *one, const hub_settings *settings,
                          const hub_listen_settings *listen, hub_name_list *restart)
{
    if (!one->is_new) {
        note_fixed(one->listen, listen, restart);
    }
    if (cli_listener_reload(one, settings, listen)) {
        one->listen = listen;
    }
}

void cli_listeners_switch(cli_listeners_next *next, hub_name_list *restart)
{
    cli_listeners *listeners = next->listeners;
    const hub_settings *settings = next->settings;
    for (size_t i = 0; i < listeners->count; i++) {
        if (!next->is_kept[i]) {
            retire(listeners, &listeners->served[i], settings->limits.drain_ms);
        }
    }
    cli_listener_home_limit(&listeners->home, &settings->limits);
    for (size_t i = 0; i < next->count; i++) {
        cli_listener *one = &next->served[i];
        take_settings(one, settings, &settings->listens[i], restart);
        if (one->is_new) {
            cli_listener_say_ready(one, settings);
        }
        one->is_new = false;
        listeners->served[i] = *one;
    }
    listeners->count = next->count;
    hub_settings_unref(settings);
    free(next);
}

void cli_listeners_switch_replica(cli_listeners *listeners, const hub_settings *settings,
                                  const hub_listen_settings *replica, hub_name_list *restart)
{
    if (!hub_replicas_configure(listeners->home.hub, replica)) {
        hub_name_list_add(restart, hub_str_of("replicas.listen"));
    } else if (listeners->replica.http != NULL) {
        take_settings(&listeners->replica, settings, replica, restart);
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

static int open_replica(cli_listeners *listeners, const hub_settings *settings,
                        const hub_listen_settings *replica)
{
    hub_error why = {.code = HUB_OK};
    (void)hub_replicas_configure(listeners->home.hub, replica);
    if (replica->address == NULL) {
        return EXIT_OK;
    }
    listeners->replica.listen = replica;
    hub_err err = cli_listener_open_replica(&listeners->home, settings, &listeners->replica, &why);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_LISTEN;
    }
    return EXIT_OK;
}

int cli_listeners_open(struct ev_loop *loop, hub_orchestrator *hub, const hub_settings *settings,
                       const hub_listen_settings *replica, hub_budget *budget,
                       cli_listeners **ret_listeners)
{
    cli_listeners *listeners = calloc(1, sizeof *listeners);
    if (listeners == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    listeners->home.loop = loop;
    listeners->home.hub = hub;
    listeners->home.budget = budget;
    cli_listener_home_init(&listeners->home);
    ev_timer_init(&listeners->look, on_look, 0., LOOK_MS / 1000.);
    listeners->look.data = listeners;
    *ret_listeners = listeners;
    hub_error none = {.code = HUB_OK};
    if (hub_api_create(hub, &listeners->home.api, &none) != HUB_OK) {
        cli_complain("%s", none.text);
        return EXIT_INTERNAL;
    }
    int status = open_replica(listeners, settings, replica);
    for (size_t i = 0; status == EXIT_OK && i < settings->listen_count; i++) {
        cli_listener *one = &listeners->served[listeners->count];
        hub_error why = {.code = HUB_OK};
        one->listen = &settings->listens[i];
        hub_err err = cli_listener_open(&listeners->home, settings, one, &why);
        if (err != HUB_OK) {
            cli_complain("%s", why.text);
            return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_LISTEN;
        }
        listeners->count++;
        cli_listener_say_ready(one, settings);
    }
    return status;
}

static bool is_busy(const cli_listeners *listeners)
{
    if (listeners->replica.http != NULL && cli_listener_busy(&listeners->replica) > 0) {
        return true;
    }
    for (size_t i = 0; i < listeners->count; i++) {
        if (cli_listener_busy(&listeners->served[i]) > 0) {
            return true;
        }
    }
    const cli_listener *one = listeners->retired;
    while (one != NULL && cli_listener_busy(one) == 0) {
        one = one->next;
    }
    return one != NULL;
}

static void on_drain_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop; /* that it is no longer active says it all */
    (void)timer;
    (void)events;
}

/* Every turn of the loop is an event: something was written, a connection ended, or time is up. */
static void drain(cli_listeners *listeners, unsigned drain_ms)
{
    ev_timer timer;
    ev_timer_init(&timer, on_drain_end, drain_ms / 1000., 0.);
    ev_now_update(listeners->home.loop);
    ev_timer_start(listeners->home.loop, &timer);
    while (is_busy(listeners) && ev_is_active(&timer)) {
        ev_run(listeners->home.loop, EVRUN_ONCE);
    }
    ev_timer_stop(listeners->home.loop, &timer);
}

bool cli_listeners_have_replicas(const cli_listeners *listeners)
{
    return listeners != NULL && listeners->replica.http != NULL;
}

void cli_listeners_leave(cli_listeners *listeners)
{
    for (size_t i = 0; listeners != NULL && i < listeners->count; i++) {
        cli_listener_leave(&listeners->served[i]);
    }
}

size_t cli_listeners_move(const cli_listeners *listeners)
{
    size_t left = 0;
    for (size_t i = 0; listeners != NULL && i < listeners->count; i++) {
        left += cli_listener_move(&listeners->served[i]);
    }
    return left;
}

void cli_listeners_drain(cli_listeners *listeners)
{
    if (listeners != NULL) {
        hub_api_stop(listeners->home.api);
    }
    for (size_t i = 0; listeners != NULL && i < listeners->count; i++) {
        cli_listener_drain(&listeners->served[i]);
    }
}

bool cli_listeners_owe(const cli_listeners *listeners)
{
    if (listeners != NULL && listeners->replica.http != NULL &&
        cli_listener_owes(&listeners->replica)) {
        return true;
    }
    for (size_t i = 0; listeners != NULL && i < listeners->count; i++) {
        if (cli_listener_owes(&listeners->served[i])) {
            return true;
        }
    }
    const cli_listener *one = listeners != NULL ? listeners->retired : NULL;
    while (one != NULL && !cli_listener_owes(one)) {
        one = one->next;
    }
    return one != NULL;
}

void cli_listeners_close(cli_listeners *listeners, unsigned drain_ms)
{
    if (listeners == NULL) {
        return;
    }
    for (size_t i = 0; i < listeners->count; i++) {
        cli_listener_stop(&listeners->served[i]);
    }
    if (listeners->replica.http != NULL) {
        cli_listener_stop(&listeners->replica);
    }
    for (const cli_listener *one = listeners->retired; one != NULL; one = one->next) {
        cli_listener_stop(one);
    }
    drain(listeners, drain_ms);
    ev_timer_stop(listeners->home.loop, &listeners->look);
    while (listeners->retired != NULL) {
        cli_listener *one = listeners->retired;
        listeners->retired = one->next;
        cli_listener_close(one);
        free(one);
    }
    while (listeners->count > 0) {
        cli_listener_close(&listeners->served[--listeners->count]);
    }
    if (listeners->replica.http != NULL) {
        cli_listener_close(&listeners->replica);
    }
    cli_listener_home_fini(&listeners->home);
    hub_api_destroy(listeners->home.api);
    free(listeners);
}
