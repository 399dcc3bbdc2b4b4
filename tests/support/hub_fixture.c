/* SPDX-License-Identifier: Apache-2.0 */
#include "hub_fixture.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

#if IS_SANITIZED
extern size_t __sanitizer_get_current_allocated_bytes(void);
#endif

size_t fixture_allocated(void)
{
#if IS_SANITIZED
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

void fixture_assert_part(const char *text, const char *part, bool is_wanted, const char *file,
                         int line)
{
    if (text == NULL || (strstr(text, part) != NULL) != is_wanted) {
        print_error("%s %s: %s\n", is_wanted ? "lacks" : "contains", part,
                    text != NULL ? text : "(nothing)");
        _fail(file, line);
    }
}

/* ---- the hub --------------------------------------------------------------------------------- */

static void keep_log(void *ctx, hub_str line)
{
    hub_fixture *f = ctx;
    if (f->log_len + line.len < sizeof f->log) {
        memcpy(f->log + f->log_len, line.ptr, line.len);
        f->log_len += line.len;
        f->log[f->log_len] = '\0';
    }
}

void fixture_init(hub_fixture *f)
{
    (void)alarm(FIXTURE_GUARD_SECONDS);
    memset(f, 0, sizeof *f);
    f->loop = hub_loop_new();
    assert_non_null(f->loop);
    f->folders[0] = PUPPET_DIR;
    f->profiles[0] = (hub_profile_settings){
        .name = "default", .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES, .meta_tools = true};
    f->settings = (hub_settings){
        .name = "patchbay",
        .modules = {.paths = {.items = f->folders, .count = 1, .set = true},
                    .allow_writable = true},
        .toolsets = f->toolsets,
        .toolsets_listed = true,
        .profiles = f->profiles,
        .profile_count = 1,
        .limits = {.client_message_bytes = HUB_LIMIT_CLIENT_MESSAGE_BYTES,
                   .upstream_message_bytes = HUB_LIMIT_UPSTREAM_MESSAGE_BYTES,
                   .client_queue_bytes = HUB_LIMIT_CLIENT_QUEUE_BYTES,
                   .call_timeout_ms = FIXTURE_LONG_MS,
                   .call_ceiling_ms = FIXTURE_LONG_MS,
                   .discover_timeout_ms = FIXTURE_LONG_MS,
                   .straggler_ms = HUB_LIMIT_STRAGGLER_MS,
                   .drain_ms = HUB_LIMIT_DRAIN_MS,
                   .catalog_ttl_ms = FIXTURE_LONG_MS,
                   .ask_timeout_ms = FIXTURE_LONG_MS,
                   .calls_per_session = HUB_LIMIT_CALLS_PER_SESSION,
                   .session_instances = HUB_LIMIT_SESSION_INSTANCES,
                   .list_page = HUB_LIMIT_LIST_PAGE,
                   .worker_threads = 4},
    };
    hub_log_capture(keep_log, f);
}

hub_toolset_settings *fixture_toolset(hub_fixture *f, const char *key, puppet *master, bool proxy)
{
    size_t at = f->settings.toolset_count++;
    assert_true(at < FIXTURE_TOOLSETS);
    (void)snprintf(f->configs[at], sizeof f->configs[at], "{\"puppet\":\"%" PRIuPTR "\"}",
                   (uintptr_t)master);
    f->toolsets[at] = (hub_toolset_settings){
        .key = key,
        .module = proxy ? "puppet_proxy" : "puppet",
        .config_json = f->configs[at],
        .source = "test:1",
        .enabled = true,
        .active = true,
        .lazy = true,
        .cache = true,
        .call_timeout_ms = f->settings.limits.call_timeout_ms,
    };
    return &f->toolsets[at];
}

void fixture_start(hub_fixture *f)
{
    hub_error why = {.code = HUB_OK};
    if (hub_orchestrator_create(f->loop, &f->settings, &f->hub, &why) != HUB_OK ||
        hub_orchestrator_start(f->hub, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
}

void fixture_stop(hub_fixture *f)
{
    while (f->clients != NULL) {
        client_close(f->clients);
    }
    assert_true(hub_orchestrator_destroy(f->hub, FIXTURE_LONG_MS));
    f->hub = NULL;
    hub_loop_destroy(f->loop);
    hub_log_capture(NULL, NULL);
    (void)alarm(0);
}

hub_profile *fixture_profile(hub_fixture *f)
{
    return hub_find_profile(f->hub, NULL);
}

void fixture_run_until(hub_fixture *f, fixture_condition *condition, void *ctx)
{
    while (!condition(ctx)) {
        ev_run(f->loop, EVRUN_ONCE);
    }
}

void fixture_spin(hub_fixture *f, unsigned rounds)
{
    while (rounds-- > 0) {
        ev_run(f->loop, EVRUN_NOWAIT);
    }
}

static void on_settled(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    *(bool *)timer->data = true;
}

static bool is_true(void *ctx)
{
    return *(bool *)ctx;
}

void fixture_settle(hub_fixture *f)
{
    bool done = false;
    ev_timer timer;
    ev_now_update(f->loop);
    ev_timer_init(&timer, on_settled, (HUB_LIMIT_NOTIFY_WINDOW_MS + 5) / 1000., 0.);
    timer.data = &done;
    ev_timer_start(f->loop, &timer);
    fixture_run_until(f, is_true, &done);
}

bool fixture_logged(const hub_fixture *f, const char *text)
{
    return strstr(f->log, text) != NULL;
}

/* ---- clients --------------------------------------------------------------------------------- */

static void keep_message(client *c, const char *text, size_t len)
{
    if (c->count == c->cap) {
        c->cap = c->cap == 0 ? 16 : c->cap * 2;
        void *grown = realloc(c->messages, c->cap * sizeof *c->messages);
        assert_non_null(grown);
        c->messages = grown;
    }
    c->messages[c->count] = strndup(text, len);
    assert_non_null(c->messages[c->count++]);
}

static hub_err send_to_client(hub_port *port, const hub_outgoing *outgoing)
{
    client *c = (client *)port;
    hub_buf text;
    assert_false(c->closing); /* transport.h: never from inside hub_session_close */
    if (c->refuses != HUB_OK) {
        return c->refuses;
    }
    hub_buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < outgoing->count; i++) {
        hub_buf_add(&text, outgoing->parts[i]);
    }
    assert_true(hub_buf_ok(&text));
    hub_message message;
    if (hub_message_scan(hub_buf_str(&text), &message, NULL) != HUB_OK) {
        fail_msg("not a message: %.*s", (int)text.len, text.ptr);
    }
    if (c->on_message != NULL) {
        c->on_message(c, hub_buf_str(&text));
    } else {
        keep_message(c, text.ptr, text.len);
    }
    hub_buf_fini(&text);
    return HUB_OK;
}

static const hub_port_ops CLIENT_OPS = {.send = send_to_client};

static const char *or_default(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

/* The handshake of a legacy client. */
static void shake_hands(client *c, const char *revision)
{
    char *params = NULL;
    assert_true(asprintf(&params,
                         "\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                         "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}",
                         revision, c->capabilities) > 0);
    client_request(c, "\"hello\"", "initialize", params);
    free(params);
    assert_contains(client_wait(c, "\"hello\""), revision);
    client_send(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    client_clear(c);
}

client *client_open_as(hub_fixture *f, const client_options *as)
{
    client *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->port.ops = &CLIENT_OPS;
    c->fixture = f;
    c->kind = as->kind;
    c->capabilities = or_default(as->capabilities, "{}");
    hub_session_options options = {.profile = as->profile,
                                   .transport = "test",
                                   .principal = or_default(as->principal, "tester"),
                                   .is_one_request = as->peer != NULL,
                                   .port = &c->port};
    if (as->peer != NULL) {
        options.client = hub_client_join(f->hub, options.principal, as->peer);
        assert_non_null(options.client);
    }
    assert_int_equal(hub_session_create(f->hub, &options, &c->session, NULL), HUB_OK);
    hub_client_leave(options.client); /* the session holds it */
    c->next = f->clients;
    f->clients = c;
    if (as->kind == LEGACY) {
        shake_hands(c, or_default(as->revision, "2025-11-25"));
    }
    return c;
}

client *client_open_in(hub_fixture *f, client_kind kind, const char *profile)
{
    return client_open_as(f, &(client_options){.kind = kind, .profile = profile});
}

client *client_open(hub_fixture *f, client_kind kind)
{
    return client_open_in(f, kind, NULL);
}

void client_close(client *c)
{
    client **link = &c->fixture->clients;
    while (*link != c) {
        link = &(*link)->next;
    }
    *link = c->next;
    c->closing = true;
    hub_session_close(c->session);
    client_clear(c);
    free(c->messages);
    free(c);
}

void client_send(client *c, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    assert_true(len >= 0);
    hub_clock_begin_turn(); /* as the loop does that finds it */
    hub_session_receive(c->session, &c->port, (hub_str){.ptr = text, .len = (size_t)len});
    free(text);
}

void client_request(client *c, const char *id, const char *method, const char *params)
{
    if (c->kind != MODERN) {
        client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{%s}}", id,
                    method, params);
        return;
    }
    client_send(c,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{\"_meta\":{"
                "\"" HUB_META_PROTOCOL_VERSION "\":\"2026-07-28\",\"" HUB_META_CLIENT_INFO
                "\":{\"name\":\"t\",\"version\":\"1\"},\"" HUB_META_CLIENT_CAPABILITIES
                "\":%s}%s%s}}",
                id, method, c->capabilities, params[0] != '\0' ? "," : "", params);
}

void client_call(client *c, const char *id, const char *tool, const char *arguments)
{
    char *params = NULL;
    assert_true(asprintf(&params, "\"name\":\"%s\",\"arguments\":%s", tool, arguments) > 0);
    client_request(c, id, "tools/call", params);
    free(params);
}

void client_cancel(client *c, const char *id)
{
    client_send(c,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                "\"requestId\":%s}}",
                id);
}

const char *client_reply(const client *c, const char *id)
{
    for (size_t i = c->count; i > 0; i--) {
        hub_message message;
        const char *text = c->messages[i - 1];
        if (hub_message_scan(hub_str_of(text), &message, NULL) == HUB_OK &&
            message.kind != HUB_MESSAGE_NOTIFICATION && hub_str_is(message.at[HUB_M_ID], id)) {
            return text;
        }
    }
    return NULL;
}

const char *client_wait(client *c, const char *id)
{
    const char *reply = client_reply(c, id);
    while (reply == NULL) {
        ev_run(c->fixture->loop, EVRUN_ONCE);
        reply = client_reply(c, id);
    }
    return reply;
}

size_t client_count(const client *c, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        count += strstr(c->messages[i], text) != NULL;
    }
    return count;
}

void client_clear(client *c)
{
    while (c->count > 0) {
        free(c->messages[--c->count]);
    }
}

const char *client_ask(client *c, const char *id, const char *tool, const char *arguments)
{
    client_call(c, id, tool, arguments);
    return client_wait(c, id);
}

const char *client_list(client *c, const char *id)
{
    client_request(c, id, "tools/list", "");
    return client_wait(c, id);
}
