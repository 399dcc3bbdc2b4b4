/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What access rules and the choices of many principals cost in a hub, with 100 toolsets of 100 tools
 * of 1 KB:
 *
 *   build/release/bench/access [able-|asked-]one|ruled|many|idle|hidden|unknown [COUNT [PRINCIPALS]]
 *
 * one     one principal, and no rules
 * ruled   one principal, and 20 rules, of which one is about it
 * many    10,000 principals in 20 classes, each with other toolsets active, and connected
 * idle    the same, and all but one have gone again: each request over HTTP may be a session of its own
 *
 * able-…  of the first three: clients can be asked something
 * asked-… the same, and toolsets know how to ask
 *
 * hidden  one principal calls a tool that a rule hides from it
 * unknown the same call, where there is no such tool
 *
 * prints the memory that is allocated then, and makes COUNT calls, of all principals by turns, within
 * measured(), which callgrind counts (access_counts.py).
 */
#include "base/limits.h"
#include "base/loop.h"
#include "hub/kernel/profile.h"
#include "hub/orchestrator/orchestrator.h"
#include "programs.h"

#include <ev.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOOLSETS = 100, PRINCIPALS = 10000, CLASSES = 20, TEXT_BYTES = 4096, GUARD_MS = 5000 };

typedef struct person {
    hub_port port; /* first: a port is its person */
    hub_session *session;
} person;

static struct ev_loop *loop;
static hub_orchestrator *hub;
static person people[PRINCIPALS];
static unsigned long answers;
static unsigned long failures;
static const char *config = "{\"tools\":100,\"wide\":true}";
static const char *capabilities = "{}";
static bool misses; /* what is called is tool_100, which nobody has or a rule hides */
static uint64_t seed = 20260728;

static void fail(const char *what)
{
    (void)fprintf(stderr, "access: %s\n", what);
    exit(1);
}

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(seed >> 33) % below;
}

static hub_err take_answer(hub_port *port, const hub_outgoing *message)
{
    (void)port;
    if (message->last) {
        answers++;
        failures += message->code != 0;
        for (size_t i = 0; i < message->count; i++) {
            const hub_str *part = &message->parts[i];
            failures += memmem(part->ptr, part->len, "\"isError\":true", 14) != NULL;
        }
    }
    return HUB_OK;
}

static const hub_port_ops PORT = {.send = take_answer};

static void ask(person *who, hub_str message)
{
    unsigned long before = answers;
    hub_session_receive(who->session, &who->port, message);
    while (answers == before) {
        ev_run(loop, EVRUN_ONCE);
    }
}

/* ---- the hub --------------------------------------------------------------------------------- */

/* Each class is denied another tool of every toolset. */
static void make_rules(hub_access_settings *ret_access)
{
    static hub_access_rule rules[CLASSES];
    static char texts[CLASSES][2][32];
    static const char *items[CLASSES][2];
    for (int i = 0; i < CLASSES; i++) {
        (void)snprintf(texts[i][0], sizeof texts[i][0], "class%d", i);
        (void)snprintf(texts[i][1], sizeof texts[i][1], "*:tool_%d", misses ? 100 : i);
        items[i][0] = texts[i][0];
        items[i][1] = texts[i][1];
        rules[i] = (hub_access_rule){
            .who = {.groups = {.items = &items[i][0], .count = 1, .set = true}},
            .tools = {.match = {.items = &items[i][1], .count = 1, .set = true}},
            .then = HUB_ACCESS_DENY,
        };
    }
    *ret_access = (hub_access_settings){
        .is_set = true, .otherwise = HUB_ACCESS_ALLOW, .rules = rules, .count = CLASSES};
}

static void start_hub(bool has_rules)
{
    static const char *folders[] = {ACCESS_NOOP_PLUGINS};
    static char keys[TOOLSETS][8];
    static hub_toolset_settings toolsets[TOOLSETS];
    static hub_profile_settings profile = {.name = "default",
                                           .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES,
                                           .meta_tools = HUB_META_TOOLSETS};
    static hub_settings settings = {
        .name = "patchbay",
        .modules = {.paths = {.items = folders, .count = 1, .set = true}, .allow_writable = true},
        .toolsets = toolsets,
        .toolset_count = TOOLSETS,
        .toolsets_listed = true,
        .profiles = &profile,
        .profile_count = 1,
        .log_level = HUB_LOG_ERROR,
        .limits = {.client_message_bytes = HUB_LIMIT_CLIENT_MESSAGE_BYTES,
                   .upstream_message_bytes = HUB_LIMIT_UPSTREAM_MESSAGE_BYTES,
                   .client_queue_bytes = HUB_LIMIT_CLIENT_QUEUE_BYTES,
                   .call_timeout_ms = HUB_LIMIT_CALL_MS,
                   .call_ceiling_ms = HUB_LIMIT_CALL_CEILING_MS,
                   .discover_timeout_ms = HUB_LIMIT_DISCOVER_MS,
                   .straggler_ms = HUB_LIMIT_STRAGGLER_MS,
                   .catalog_ttl_ms = HUB_LIMIT_CATALOG_TTL_MS,
                   .ask_timeout_ms = HUB_LIMIT_ASK_MS,
                   .calls_per_session = HUB_LIMIT_CALLS_PER_SESSION,
                   .list_page = HUB_LIMIT_LIST_PAGE,
                   .worker_threads = 1},
    };
    hub_error why = {.code = HUB_OK};
    for (int i = 0; i < TOOLSETS; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "k%02d", i);
        toolsets[i] = (hub_toolset_settings){.key = keys[i],
                                             .module = "noop",
                                             .source = "access",
                                             .config_json = config,
                                             .enabled = true,
                                             .active = true,
                                             .call_timeout_ms = HUB_LIMIT_CALL_MS};
    }
    if (has_rules) {
        make_rules(&settings.access);
    }
    hub_log_setup(HUB_LOG_ERROR, false);
    loop = hub_loop_new();
    if (loop == NULL || hub_orchestrator_create(loop, &settings, &hub, &why) != HUB_OK ||
        hub_orchestrator_start(hub, &why) != HUB_OK) {
        fail(why.text);
    }
}

/* ---- people ---------------------------------------------------------------------------------- */

static void connect(person *who, int number)
{
    char name[32];
    char group[32];
    const char *groups[] = {group};
    hub_error why = {.code = HUB_OK};
    (void)snprintf(name, sizeof name, "token:p%d", number);
    (void)snprintf(group, sizeof group, "class%d", number % CLASSES);
    const hub_identity draft = {.name = name, .groups = {.items = groups, .count = 1, .set = true}};
    hub_identity *identity = hub_identity_make(&draft);
    who->port.ops = &PORT;
    const hub_session_options options = {
        .transport = "http", .identity = identity, .port = &who->port};
    if (identity == NULL || hub_session_create(hub, &options, &who->session, &why) != HUB_OK) {
        fail(why.text);
    }
    hub_identity_unref(identity);
    char initialize[300];
    (void)snprintf(initialize, sizeof initialize,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"2025-11-25\",\"capabilities\":%s,"
                   "\"clientInfo\":{\"name\":\"access\",\"version\":\"1\"}}}",
                   capabilities);
    ask(who, hub_str_of(initialize));
    hub_session_receive(who->session, &who->port,
                        HUB_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
}

/* Half of the toolsets are not for this one. */
static void choose(person *who)
{
    hub_buf text;
    hub_buf_init(&text, TEXT_BYTES);
    hub_buf_add(&text,
                HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"disable_toolset\",\"arguments\":{\"toolsets\":["));
    for (unsigned i = 1; i < TOOLSETS; i++) {
        if (draw(2) == 0) {
            hub_json_add_comma(&text);
            hub_buf_printf(&text, "\"k%02u\"", i);
        }
    }
    hub_buf_add(&text, HUB_STR("]}}}"));
    ask(who, hub_buf_str(&text));
    hub_buf_fini(&text);
}

#define CALL(name)                                                                                 \
    HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"" name \
            "\",\"arguments\":{\"text\":\"aaaaaaaaaaaaaaaa\"}}}")

static void call(person *who)
{
    ask(who, misses ? CALL("k00__tool_100") : CALL("k00__tool_42"));
}

/* What callgrind is told to look at: by its name, so it has to be a function of its own. */
__attribute__((noinline)) static void measured(unsigned long count, int of)
{
    for (unsigned long i = 0; i < count; i++) {
        call(&people[i % (unsigned long)of]);
    }
}

int access_main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool is_able = strncmp(what, "able-", 5) == 0;
    bool is_asked = strncmp(what, "asked-", 6) == 0;
    if (is_able || is_asked) {
        what = strchr(what, '-') + 1;
        capabilities = "{\"elicitation\":{},\"sampling\":{}}";
    }
    if (is_asked) {
        config = "{\"tools\":100,\"wide\":true,\"asks\":true}";
    }
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    bool is_idle = strcmp(what, "idle") == 0;
    bool is_many = is_idle || strcmp(what, "many") == 0;
    int most = argc > 3 ? (int)strtol(argv[3], NULL, 10) : PRINCIPALS;
    int of = !is_many ? 1 : most > 0 && most < PRINCIPALS ? most : PRINCIPALS;
    bool is_hidden = strcmp(what, "hidden") == 0;
    misses = is_hidden || strcmp(what, "unknown") == 0;
    config = is_hidden ? "{\"tools\":101,\"wide\":true}" : config;
    if (!is_many && !misses && strcmp(what, "one") != 0 && strcmp(what, "ruled") != 0) {
        (void)fputs(
            "usage: access [able-|asked-]one|ruled|many|idle|hidden|unknown [COUNT [PRINCIPALS]]\n",
            stderr);
        return 2;
    }
    start_hub(strcmp(what, "one") != 0);
    for (int i = 0; i < of; i++) {
        connect(&people[i], i);
        if (i > 0) { /* the first keeps all, and with them their modules at work */
            choose(&people[i]);
        }
        call(&people[i]); /* what is made for it is made now */
        if (is_idle && i > 0) {
            hub_session_close(people[i].session);
        }
    }
    of = is_idle ? 1 : of;
    struct mallinfo2 info = mallinfo2();
    (void)printf("%s: %.1f MiB allocated\n", what,
                 (double)(info.uordblks + info.hblkhd) / (1024. * 1024.));
    measured(count, of);
    if (misses ? failures != count + 1 : failures > 0) {
        fail("wrong answers");
    }
    for (int i = 0; i < of; i++) {
        hub_session_close(people[i].session);
    }
    (void)hub_orchestrator_destroy(hub, GUARD_MS);
    hub_loop_destroy(loop);
    return 0;
}
