/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole hub in the test process: settings made in code, toolsets that are puppets, clients whose
 * ports keep what they are sent. Nothing sleeps: the loop runs until a condition holds, and one
 * alarm ends a test that hangs.
 *
 *     static hub_fixture f;
 *     fixture_init(&f);
 *     fixture_toolset(&f, "git", &master, false);      (settings may still be changed)
 *     fixture_start(&f);
 *     client *c = client_open(&f, LEGACY);
 *     client_call(c, "7", "git__status", "{}");
 *     assert_non_null(client_wait(c, "7"));            (the whole reply with that raw id)
 *     fixture_stop(&f);
 */
#ifndef PATCHBAY_TESTS_HUB_FIXTURE_H
#define PATCHBAY_TESTS_HUB_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/loop.h"
#include "hub/active/manager.h"
#include "hub/ask/ask.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/transport.h"
#include "hub/notices/notifier.h"
#include "hub/orchestrator/orchestrator.h"
#include "puppet.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

enum {
    FIXTURE_GUARD_SECONDS = 300,
    FIXTURE_TOOLSETS = 16,
    FIXTURE_PROFILES = 4,
    FIXTURE_LONG_MS = 600000, /* a time that no test waits for */
};

typedef enum client_kind { BARE, LEGACY, MODERN } client_kind;

/* A client: its session, its port, what was written to it. */
typedef struct client {
    hub_port port; /* first: a port is its client */
    struct hub_fixture *fixture;
    client_kind kind;
    const char *capabilities; /* that it declares */
    hub_session *session;
    hub_err refuses; /* what send answers: HUB_OK, or the failure of a client that is gone */
    char **messages;
    size_t count;
    size_t cap;
    bool closing;                                            /* nothing may be written now */
    void (*on_message)(struct client *client, hub_str text); /* instead of keeping it */
    void *ctx;
    struct client *next;
} client;

typedef struct hub_fixture {
    struct ev_loop *loop;
    hub_settings settings;
    hub_profile_settings profiles[FIXTURE_PROFILES];
    hub_toolset_settings toolsets[FIXTURE_TOOLSETS];
    char configs[FIXTURE_TOOLSETS][64];
    const char *folders[1];
    hub_orchestrator *hub;
    client *clients;
    size_t log_len;
    char log[256 * 1024];
} hub_fixture;

/* Default settings: one profile with prefixes and meta-tools, no toolsets, long timeouts. */
void fixture_init(hub_fixture *f);

/* Name a toolset of the module puppet, or puppet_proxy. It is active at start. */
hub_toolset_settings *fixture_toolset(hub_fixture *f, const char *key, puppet *master, bool proxy);

/* Compose and start; it must work. */
void fixture_start(hub_fixture *f);

/* Close all clients, take the hub down, wait until the puppets are destroyed. */
void fixture_stop(hub_fixture *f);

/* The first profile, which the hub keeps. */
hub_profile *fixture_profile(hub_fixture *f);

/* Run the loop until the condition holds. */
typedef bool fixture_condition(void *ctx);
void fixture_run_until(hub_fixture *f, fixture_condition *condition, void *ctx);

/* Run the loop for what is ready now, `rounds` times, without waiting. */
void fixture_spin(hub_fixture *f, unsigned rounds);

/* Run the loop until it has written what is due within its notification window. */
void fixture_settle(hub_fixture *f);

/* Whether a line of the log holds all of it. */
bool fixture_logged(const hub_fixture *f, const char *text);

/* Open a session in the first profile. A LEGACY client has done its handshake with the newest
 * legacy revision; a MODERN one sends `_meta` with each request; a BARE one sends what it is told.
 */
client *client_open(hub_fixture *f, client_kind kind);
client *client_open_in(hub_fixture *f, client_kind kind, const char *profile);

/* The same, by whom and as what; what is NULL is as above. */
typedef struct client_options {
    client_kind kind;
    const char *profile;
    const char *principal;
    const char *peer;         /* its session is for one request, of the client at this address */
    const char *capabilities; /* a JSON object; used as long as the client */
    const char *revision;     /* of a LEGACY client */
} client_options;
client *client_open_as(hub_fixture *f, const client_options *options);
void client_close(client *c);

/* Send bytes as they are. */
void client_send(client *c, const char *format, ...) HUB_PRINTF(2, 3);

/* Send a request. `params` is the content of the params object, without braces; may be "". */
void client_request(client *c, const char *id, const char *method, const char *params);

/* Send tools/call. */
void client_call(client *c, const char *id, const char *tool, const char *arguments);

/* Cancel a request. */
void client_cancel(client *c, const char *id);

/* The reply with that raw id among what was written: the last one; NULL when there is none. */
const char *client_reply(const client *c, const char *id);

/* The same, running the loop until it is there. */
const char *client_wait(client *c, const char *id);

/* How many messages contain the text. */
size_t client_count(const client *c, const char *text);

/* Forget what was written. */
void client_clear(client *c);

/* Send and wait for the reply: a call, tools/list. */
const char *client_ask(client *c, const char *id, const char *tool, const char *arguments);
const char *client_list(client *c, const char *id);

/* Shorthands for puppets. */
static inline patchbay_str puppet_str(const char *text)
{
    return (patchbay_str){.ptr = text, .len = strlen(text)};
}

static inline int32_t puppet_finish(puppet_instance *instance, patchbay_call call,
                                    const char *result)
{
    return instance->api->finish(instance->host, call, PATCHBAY_RESULT, puppet_str(result));
}

/* A tool definition. */
#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

#define assert_contains(text, part) fixture_assert_part((text), (part), true, __FILE__, __LINE__)
#define assert_lacks(text, part)    fixture_assert_part((text), (part), false, __FILE__, __LINE__)
void fixture_assert_part(const char *text, const char *part, bool is_wanted, const char *file,
                         int line);

/* Bytes allocated now, by whoever. */
size_t fixture_allocated(void);

#endif
