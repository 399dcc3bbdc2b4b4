/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/listeners.h"

#include "base/clock.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "unix/unix.h"
#ifdef PATCHBAY_HTTP
#include "http/server.h"
#include "net/net.h"
#endif

#include <stdio.h>
#include <stdlib.h>

enum { RETIRE_MS = 10000, LOOK_MS = 250 };

/* One listener; `listen` is of the settings that its server holds. */
typedef struct served {
    const hub_listen_settings *listen;
    hub_unix_server *socket; /* for HUB_LISTEN_UNIX */
#ifdef PATCHBAY_HTTP
    hub_http_server *http; /* else */
#endif
    bool is_new;
    uint64_t retired_ms;
    struct served *next; /* of those that retire */
} served;

struct cli_listeners {
    struct ev_loop *loop;
    hub_orchestrator *hub;
    served served[HUB_LIMIT_LISTENERS];
    size_t count;
    served *retired;
    ev_timer look; /* whether they have done */
#ifdef PATCHBAY_HTTP
    hub_net *net; /* NULL: no listener has needed it */
#endif
};

/* ---- what to say ----------------------------------------------------------------------------- */

/* What to do about it, when the reason alone does not tell. */
static const char *advice(const hub_listen_settings *listen, hub_err err)
{
    bool is_http = listen->kind == HUB_LISTEN_HTTP;
    switch (err) {
    case HUB_EEXIST:
        return is_http ? "; stop what listens there, or choose another port (0 is any free one)"
                       : "; stop that process, or choose another path";
    case HUB_EDENIED:
        return "; make a token with `patchbay token new NAME` and name its file with --tokens, or "
               "listen on 127.0.0.1";
    case HUB_ESYSTEM:
        return is_http && listen->port != 0 && listen->port < 1024
                   ? "; ports below 1024 are root's: choose one above"
                   : "";
    default:
        return "";
    }
}

/* Where it is, as users write it. */
static void print_place(const hub_listen_settings *listen, char *ret_text, size_t room)
{
    bool is_v6 = strchr(listen->address, ':') != NULL;
    if (listen->kind == HUB_LISTEN_UNIX) {
        (void)snprintf(ret_text, room, "%s", listen->address);
    } else {
        (void)snprintf(ret_text, room, "%s%s%s:%u", is_v6 ? "[" : "", listen->address,
                       is_v6 ? "]" : "", listen->port);
    }
}

static hub_err explain(const hub_listen_settings *listen, hub_err err, const hub_error *why,
                       hub_error *reterr)
{
    char place[256];
    print_place(listen, place, sizeof place);
    return hub_fail(reterr, err, "cannot listen on %s (%s): %s%s", place, listen->source, why->text,
                    advice(listen, err));
}

/* ---- one listener ---------------------------------------------------------------------------- */

#ifdef PATCHBAY_HTTP

/* Allowed, but not to be done without knowing it. */
static void warn_of_strangers(const hub_settings *settings, const hub_listen_settings *listen)
{
    if (hub_config_is_loopback(listen->address)) {
        return;
    }
    if (!settings->auth.required) {
        hub_log(HUB_LOG_WARNING, "listen.insecure", HUB_F_TEXT("address", listen->address),
                HUB_F_TEXT("reason", "other machines can call every tool: nobody has to "
                                     "authenticate"));
    } else if (listen->tls.certificate == NULL) {
        hub_log(HUB_LOG_WARNING, "listen.plain", HUB_F_TEXT("address", listen->address),
                HUB_F_TEXT("reason", "tokens cross the network unencrypted: there is no tls"));
    }
}

static hub_err open_http(cli_listeners *listeners, const hub_settings *settings, served *one,
                         hub_error *reterr)
{
    const hub_limits *limits = &settings->limits;
    hub_err err = HUB_OK;
    if (listeners->net == NULL) {
        err = hub_net_create(listeners->loop, &limits->net, limits->client_queue_bytes,
                             &listeners->net, reterr);
    }
    return err == HUB_OK ? hub_http_server_open(listeners->net, listeners->hub, settings,
                                                one->listen, &one->http, reterr)
                         : err;
}

static size_t count_busy(const served *one)
{
    return one->socket != NULL ? hub_unix_server_busy(one->socket)
                               : hub_http_server_busy(one->http);
}

static void stop_one(const served *one)
{
    if (one->socket != NULL) {
        hub_unix_server_stop(one->socket);
    } else {
        hub_http_server_stop(one->http);
    }
}

static void close_one(const served *one)
{
    hub_http_server_close(one->http);
    hub_unix_server_close(one->socket, 0);
}

static void say_ready(const served *one, const hub_settings *settings)
{
    if (one->socket != NULL) {
        hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("path", one->listen->address));
    } else {
        hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("url", hub_http_server_url(one->http)));
        warn_of_strangers(settings, one->listen);
    }
}

/* Whether it has the settings now, if not the certificate. */
static bool reload_http(const served *one, const hub_settings *settings,
                        const hub_listen_settings *listen)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_http_server_reload(one->http, settings, listen, &why);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "listen.not_reloaded",
                HUB_F_TEXT("url", hub_http_server_url(one->http)), HUB_F_TEXT("reason", why.text));
    }
    return err != HUB_ENOMEM;
}

static void limit_net(cli_listeners *listeners, const hub_limits *limits)
{
    if (listeners->net != NULL) {
        hub_net_limit(listeners->net, &limits->net, limits->client_queue_bytes);
    }
}

static void close_net(cli_listeners *listeners)
{
    hub_net_destroy(listeners->net);
}

#else

static hub_err open_http(cli_listeners *listeners, const hub_settings *settings, served *one,
                         hub_error *reterr)
{
    (void)listeners;
    (void)settings;
    (void)one;
    return hub_fail(reterr, HUB_EINVAL, "this build has no HTTP");
}

static size_t count_busy(const served *one)
{
    return hub_unix_server_busy(one->socket);
}

static void stop_one(const served *one)
{
    hub_unix_server_stop(one->socket);
}

static void close_one(const served *one)
{
    hub_unix_server_close(one->socket, 0);
}

static void say_ready(const served *one, const hub_settings *settings)
{
    (void)settings;
    hub_log(HUB_LOG_INFO, "listen.ready", HUB_F_TEXT("path", one->listen->address));
}

static bool reload_http(const served *one, const hub_settings *settings,
                        const hub_listen_settings *listen)
{
    (void)one;
    (void)settings;
    (void)listen;
    return true;
}

static void limit_net(cli_listeners *listeners, const hub_limits *limits)
{
    (void)listeners;
    (void)limits;
}

static void close_net(cli_listeners *listeners)
{
    (void)listeners;
}

#endif

static hub_err open_one(cli_listeners *listeners, const hub_settings *settings, served *one,
                        hub_error *reterr)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = one->listen->kind == HUB_LISTEN_HTTP
                      ? open_http(listeners, settings, one, &why)
                      : hub_unix_server_open(listeners->loop, listeners->hub, settings, one->listen,
                                             &one->socket, &why);
    return err == HUB_OK ? HUB_OK : explain(one->listen, err, &why, reterr);
}

/* ---- those that retire ----------------------------------------------------------------------- */

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    cli_listeners *listeners = timer->data;
    uint64_t now = hub_clock_now_ms();
    served **link = &listeners->retired;
    while (*link != NULL) {
        served *one = *link;
        if (count_busy(one) > 0 && now - one->retired_ms < RETIRE_MS) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        close_one(one);
        free(one);
    }
    if (listeners->retired == NULL) {
        ev_timer_stop(loop, timer);
    }
}

/* Without memory to wait it closes at once. */
static void retire(cli_listeners *listeners, const served *one)
{
    char place[256];
    print_place(one->listen, place, sizeof place);
    hub_log(HUB_LOG_INFO, "listen.closed", HUB_F_TEXT("address", place));
    stop_one(one);
    served *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        close_one(one);
        return;
    }
    *kept = *one;
    kept->retired_ms = hub_clock_now_ms();
    kept->next = listeners->retired;
    listeners->retired = kept;
    ev_timer_again(listeners->loop, &listeners->look);
}

/* ---- reloading ------------------------------------------------------------------------------- */

struct cli_listeners_next {
    cli_listeners *listeners;
    const hub_settings *settings;
    served served[HUB_LIMIT_LISTENERS];
    size_t count;
    bool is_kept[HUB_LIMIT_LISTENERS]; /* of those that are there: the next ones have it, too */
    hub_listen_settings ahead[HUB_LIMIT_LISTENERS]; /* what new sockets are opened with */
};

static bool is_same_place(const hub_listen_settings *a, const hub_listen_settings *b)
{
    return a->kind == b->kind && a->port == b->port && strcmp(a->address, b->address) == 0;
}

static const served *find_kept(cli_listeners_next *next, const hub_listen_settings *listen)
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
        served *one = &next->served[i];
        const served *kept = find_kept(next, &settings->listens[i]);
        if (kept != NULL) {
            *one = *kept;
            next->count++;
            continue;
        }
        *one = (served){.listen = &settings->listens[i], .is_new = true};
        if (one->listen->kind == HUB_LISTEN_UNIX) {
            next->ahead[i] = *one->listen;
            next->ahead[i].profile = NULL; /* that may be one that the hub does not have yet */
            one->listen = &next->ahead[i];
        }
        err = open_one(listeners, settings, one, reterr);
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
            close_one(&next->served[i]);
        }
    }
    hub_settings_unref(next->settings);
    free(next);
}

static bool is_same_word(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* What a listener keeps for as long as it listens. */
static void note_fixed(const hub_listen_settings *old, const hub_listen_settings *now,
                       hub_reload_names *restart)
{
    if ((old->tls.certificate == NULL) != (now->tls.certificate == NULL) ||
        !is_same_word(old->tls.min_version, now->tls.min_version)) {
        hub_reload_names_add(restart, "listen.tls");
    }
    if (old->kind == HUB_LISTEN_UNIX && old->mode != now->mode) {
        hub_reload_names_add(restart, "listen.mode");
    }
    if (old->kind == HUB_LISTEN_UNIX && !is_same_word(old->group, now->group)) {
        hub_reload_names_add(restart, "listen.group");
    }
}

static void take_settings(served *one, const hub_settings *settings,
                          const hub_listen_settings *listen, hub_reload_names *restart)
{
    if (!one->is_new) {
        note_fixed(one->listen, listen, restart);
    }
    if (one->socket != NULL) {
        hub_unix_server_reload(one->socket, settings, listen);
        one->listen = listen;
    } else if (!one->is_new && reload_http(one, settings, listen)) {
        one->listen = listen;
    }
}

void cli_listeners_switch(cli_listeners_next *next, hub_reload_names *restart)
{
    cli_listeners *listeners = next->listeners;
    const hub_settings *settings = next->settings;
    for (size_t i = 0; i < listeners->count; i++) {
        if (!next->is_kept[i]) {
            retire(listeners, &listeners->served[i]);
        }
    }
    limit_net(listeners, &settings->limits);
    for (size_t i = 0; i < next->count; i++) {
        served *one = &next->served[i];
        take_settings(one, settings, &settings->listens[i], restart);
        if (one->is_new) {
            say_ready(one, settings);
        }
        one->is_new = false;
        listeners->served[i] = *one;
    }
    listeners->count = next->count;
    hub_settings_unref(settings);
    free(next);
}

/* ---- begin and end --------------------------------------------------------------------------- */

int cli_listeners_open(struct ev_loop *loop, hub_orchestrator *hub, const hub_settings *settings,
                       cli_listeners **ret_listeners)
{
    cli_listeners *listeners = calloc(1, sizeof *listeners);
    if (listeners == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    listeners->loop = loop;
    listeners->hub = hub;
    ev_timer_init(&listeners->look, on_look, 0., LOOK_MS / 1000.);
    listeners->look.data = listeners;
    *ret_listeners = listeners;
    for (size_t i = 0; i < settings->listen_count; i++) {
        served *one = &listeners->served[listeners->count];
        hub_error why = {.code = HUB_OK};
        one->listen = &settings->listens[i];
        hub_err err = open_one(listeners, settings, one, &why);
        if (err != HUB_OK) {
            cli_complain("%s", why.text);
            return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_LISTEN;
        }
        listeners->count++;
        say_ready(one, settings);
    }
    return EXIT_OK;
}

static bool is_busy(const cli_listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++) {
        if (count_busy(&listeners->served[i]) > 0) {
            return true;
        }
    }
    return false;
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
    ev_now_update(listeners->loop);
    ev_timer_start(listeners->loop, &timer);
    while (is_busy(listeners) && ev_is_active(&timer)) {
        ev_run(listeners->loop, EVRUN_ONCE);
    }
    ev_timer_stop(listeners->loop, &timer);
}

void cli_listeners_close(cli_listeners *listeners, unsigned drain_ms)
{
    if (listeners == NULL) {
        return;
    }
    for (size_t i = 0; i < listeners->count; i++) {
        stop_one(&listeners->served[i]);
    }
    drain(listeners, drain_ms);
    ev_timer_stop(listeners->loop, &listeners->look);
    while (listeners->retired != NULL) {
        served *one = listeners->retired;
        listeners->retired = one->next;
        close_one(one);
        free(one);
    }
    while (listeners->count > 0) {
        close_one(&listeners->served[--listeners->count]);
    }
    close_net(listeners);
    free(listeners);
}
