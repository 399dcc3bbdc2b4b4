/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the way of a call, each done a given number of times inside of measured(), so that
 * callgrind can count what one costs.
 *
 *   micro CASE COUNT
 *
 * scan    one call with 200 bytes of arguments is checked and taken apart
 * frame   one such line is found among others, and framed again from five parts
 * route   a call finds its tool among 10,000, is handed to a native module, and answered
 * splice  a call goes to a server over a Unix socket, and its answer comes back under the client's
 *         id (a child process would need system calls that valgrind does not have)
 * counted the same as splice, while metrics are counted
 * unsampled  the same, while traces are sent, but not of these calls
 * sampled    the same, while all are recorded (nothing leaves before the end)
 * list    tools/list of 1,000 tools
 * equipped the same, where they are those of a saved toolset, of 2,000 that there are
 * enable  a toolset of 10,000 tools, whose catalog is known, is disabled and enabled again
 * equip   a saved toolset of 1,000 of them is put away and equipped again
 * learn   the 10,000 tools of a server, 7 MB of them, become known: each turn of the loop that it takes is
 *         a call of turn()
 * changed one of 100 toolsets says another list
 * alone   the same, where there is no other toolset
 * shared  the same, of 100 toolsets that 20 exposures show
 */
#include "base/framing.h"
#include "base/limits.h"
#include "base/loop.h"
#include "hub/kernel/objects.h"
#include "hub/orchestrator/orchestrator.h"
#include "hub/telemetry/telemetry.h"
#include "programs.h"
#include "sections.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ARGUMENT_BYTES = 200, REQUEST_BYTES = 1024, LINES = 16, GUARD_MS = 5000, WAIT_MS = 600000 };

/* A client that counts its answers. */
typedef struct client {
    hub_port port; /* first: a port is its client */
    struct ev_loop *loop;
    hub_orchestrator *hub;
    hub_session *session;
    unsigned long answers;
    size_t answer_bytes;
    bool failed;
    bool looks; /* whether a tool failed, too; not while it is measured */
} client;

typedef struct micro_case {
    const char *name;
    bool (*prepare)(void);
    void (*step)(void);
    bool (*check)(unsigned long count);
} micro_case;

static client me;
static char request[REQUEST_BYTES];
static size_t request_len;
static char lines[LINES * REQUEST_BYTES];
static size_t lines_len;
static unsigned long good;

static void fail(const char *what)
{
    (void)fprintf(stderr, "micro: %s\n", what);
    exit(1);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void make_call(const char *tool)
{
    char text[ARGUMENT_BYTES + 1];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    request_len = (size_t)snprintf(
        request, sizeof request,
        "{\"jsonrpc\":\"2.0\",\"id\":1000000000,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"%s\",\"arguments\":{\"text\":\"%s\"}}}",
        tool, text);
}

/* The same with an id that is not in flight: ten digits, counted up where they stand. */
static hub_str with_next_id(void)
{
    static const char BEFORE[] = "{\"jsonrpc\":\"2.0\",\"id\":";
    char *digit = request + sizeof BEFORE - 1 + 9;
    for (; *digit == '9'; digit--) {
        *digit = '0';
    }
    ++*digit;
    return (hub_str){.ptr = request, .len = request_len};
}

static bool prepare_scan(void)
{
    make_call("up__tool_0");
    return true;
}

static void scan(void)
{
    hub_message message;
    hub_str bytes = {.ptr = request, .len = request_len};
    good += hub_message_scan(bytes, &message, NULL) == HUB_OK;
}

static bool all_good(unsigned long count)
{
    return good == count;
}

static bool prepare_frame(void)
{
    make_call("up__tool_0");
    for (int i = 0; i < LINES; i++) {
        memcpy(lines + lines_len, request, request_len);
        lines_len += request_len;
        lines[lines_len++] = '\n';
    }
    return true;
}

static void frame(void)
{
    static hub_framing framing;
    static size_t at;
    size_t used;
    hub_str message;
    hub_framed framed;
    if (at == 0) {
        hub_framing_init(&framing, HUB_LIMIT_CLIENT_MESSAGE_BYTES, false);
    }
    hub_str rest = {.ptr = lines + at, .len = lines_len - at};
    if (hub_framing_next(&framing, rest, &used, &message) != HUB_FRAME_MESSAGE) {
        fail("that was no frame");
    }
    at = at + used < lines_len ? at + used : 0;
    hub_str parts[5];
    for (size_t i = 0; i < 5; i++) {
        parts[i] = (hub_str){.ptr = message.ptr + i * 50, .len = 50};
    }
    hub_framing_wrap(&framing, parts, 5, &framed);
    good += framed.total_bytes == 5 * 50 + 1;
}

/* ---- a hub ----------------------------------------------------------------------------------- */

static hub_err take_answer(hub_port *port, const hub_outgoing *message)
{
    client *to = (client *)port;
    if (message->last) {
        to->answers++;
        to->answer_bytes = 0;
        for (size_t i = 0; i < message->count; i++) {
            to->answer_bytes += message->parts[i].len;
        }
        to->failed |= message->code != 0;
        for (size_t i = 0; to->looks && i < message->count; i++) {
            const hub_str *part = &message->parts[i];
            to->failed |= memmem(part->ptr, part->len, "\"isError\":true", 14) != NULL;
        }
    }
    return HUB_OK;
}

static const hub_port_ops PORT = {.send = take_answer};

static const hub_listen_settings COUNTING = {.metrics = true}; /* nobody opens it */
static bool is_counted;
static hub_saved_settings equipped; /* no name: nothing is */
static unsigned meta_tools;         /* groups of them; 0: none */

static bool start_hub(const char *module, const char *config)
{
    static const char *folders[] = {MICRO_PLUGINS, MICRO_NOOP_PLUGINS};
    static hub_toolset_settings toolset = {.key = "up",
                                           .source = "micro",
                                           .enabled = true,
                                           .active = true,
                                           .lazy = true,
                                           .call_timeout_ms = WAIT_MS};
    static hub_profile_settings profile = {.name = "default",
                                           .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    static hub_settings settings = {
        .name = "patchbay",
        .modules = {.paths = {.items = folders, .count = 2, .set = true}, .allow_writable = true},
        .toolsets = &toolset,
        .toolset_count = 1,
        .toolsets_listed = true,
        .profiles = &profile,
        .profile_count = 1,
        .log_level = HUB_LOG_ERROR,
        .limits = {.client_message_bytes = HUB_LIMIT_CLIENT_MESSAGE_BYTES,
                   .upstream_message_bytes = HUB_LIMIT_UPSTREAM_MESSAGE_BYTES,
                   .client_queue_bytes = HUB_LIMIT_CLIENT_QUEUE_BYTES,
                   .call_timeout_ms = WAIT_MS,
                   .call_ceiling_ms = WAIT_MS,
                   .discover_timeout_ms = WAIT_MS,
                   .straggler_ms = HUB_LIMIT_STRAGGLER_MS,
                   .catalog_ttl_ms = WAIT_MS,
                   .ask_timeout_ms = WAIT_MS,
                   .calls_per_session = HUB_LIMIT_CALLS_PER_SESSION,
                   .list_page = HUB_LIMIT_LIST_PAGE,
                   .worker_threads = 1},
    };
    hub_error why = {.code = HUB_OK};
    hub_session_options session = {.transport = "stdio", .principal = "local", .port = &me.port};
    settings.listens = is_counted ? &COUNTING : NULL;
    settings.listen_count = is_counted;
    settings.saved = &equipped;
    settings.saved_count = equipped.name != NULL;
    profile.equip = equipped.name;
    profile.meta_tools = meta_tools;
    toolset.module = module;
    toolset.config_json = config;
    hub_log_setup(HUB_LOG_ERROR, false);
    me.port.ops = &PORT;
    me.loop = hub_loop_new();
    if (me.loop == NULL || hub_orchestrator_create(me.loop, &settings, &me.hub, &why) != HUB_OK ||
        hub_orchestrator_start(me.hub, &why) != HUB_OK ||
        hub_session_create(me.hub, &session, &me.session, &why) != HUB_OK) {
        fail(why.text);
    }
    return true;
}

static void say(hub_str message)
{
    hub_session_receive(me.session, &me.port, message);
}

/* As measured(). */
__attribute__((noinline)) static void turn(void)
{
    ev_run(me.loop, EVRUN_ONCE);
}

static void ask(hub_str message)
{
    unsigned long before = me.answers;
    say(message);
    while (me.answers == before) {
        turn();
    }
}

static void initialize(void)
{
    ask(HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"micro\",\"version\":\"1\"}}}"));
    say(HUB_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
}

/* A legacy client that has its tools: the toolset is connected from here on. */
static bool open_session(void)
{
    initialize();
    ask(HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}"));
    me.answers = 0;
    return !me.failed;
}

static bool prepare_route(void)
{
    make_call("up__tool_5000");
    return start_hub("noop", "{\"tools\":10000}") && open_session();
}

static const char *tools_file; /* of the server; NULL: it has one tool */

/* Become a server for the first that connects. It ends with its connection. */
static void serve_once(int from)
{
    int connection = accept(from, NULL, NULL);
    if (connection >= 0 && dup2(connection, STDIN_FILENO) >= 0 &&
        dup2(connection, STDOUT_FILENO) >= 0) {
        (void)close(connection);
        (void)execl(MICRO_UPSTREAM, MICRO_UPSTREAM, tools_file != NULL ? "--tools-file" : NULL,
                    tools_file, (char *)NULL);
    }
    _exit(1);
}

static struct sockaddr_un here = {.sun_family = AF_UNIX};
static char folder[] = "/tmp/patchbay-micro-XXXXXX";
static int listener;

static void stop_listening(void)
{
    (void)close(listener);
    (void)unlink(here.sun_path);
    (void)rmdir(folder);
}

/* A hub in front of that server, which was not asked for anything yet. */
static bool start_before_server(void)
{
    static char config[128];
    if (mkdtemp(folder) == NULL) {
        fail("no folder for a socket");
    }
    (void)snprintf(here.sun_path, sizeof here.sun_path, "%s/s", folder);
    (void)snprintf(config, sizeof config, "{\"url\":\"unix://%s\"}", here.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (const struct sockaddr *)&here, sizeof here) != 0 ||
        listen(listener, 1) != 0) {
        fail("no socket");
    }
    if (fork() == 0) {
        serve_once(listener);
    }
    bool is_started = start_hub("mcp_upstream", config);
    if (is_started) {
        initialize();
    }
    return is_started;
}

static bool prepare_splice(void)
{
    make_call("up__tool_0");
    if (!start_before_server()) {
        return false;
    }
    ask(HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}"));
    stop_listening();
    me.answers = 0;
    return !me.failed;
}

enum { LEARNT_TOOLS = 10000 };

static bool prepare_learn(void)
{
    static char path[] = "/tmp/patchbay-micro-XXXXXX";
    int file = mkstemp(path);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    for (int i = 0; out != NULL && i < LEARNT_TOOLS; i++) {
        (void)fprintf(
            out,
            "%s{\"name\":\"tool_%d\",\"title\":\"Tool number %d\",\"description\":\"Does "
            "something with the things that its arguments name, and says in a text what "
            "came of it.\\nThe text has lines.\\n\",\"inputSchema\":{\"type\":\"object\","
            "\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"Where the "
            "thing is, as the server names it.\"},\"count\":{\"type\":\"integer\","
            "\"minimum\":0,\"maximum\":100,\"description\":\"How many of them there are to "
            "be.\"},\"mode\":{\"type\":\"string\",\"enum\":[\"fast\",\"slow\"]}},\"required\":"
            "[\"path\"],\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":"
            "true,\"openWorldHint\":false}}",
            i > 0 ? "," : "", i, i);
    }
    if (out == NULL || fclose(out) != 0) {
        fail("no file for tools");
    }
    tools_file = path;
    return start_before_server();
}

static void learn(void)
{
    ask(HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}"));
}

static bool has_learnt(unsigned long count)
{
    stop_listening();
    (void)unlink(tools_file);
    return count == 1 && !me.failed && me.answer_bytes > 10000;
}

static bool prepare_counted(void)
{
    is_counted = true;
    return prepare_splice();
}

static const char *sampled; /* the share of calls that is */

static const char *get_variable(void *ctx, const char *name)
{
    static const char *const ROWS[][2] = {
        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9/v1/traces"},
        {"OTEL_TRACES_SAMPLER", "traceidratio"},
        {"OTEL_BSP_SCHEDULE_DELAY", "600000"},
        {"OTEL_BSP_MAX_QUEUE_SIZE", "65536"},
        {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "65536"},
    };
    (void)ctx;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        if (strcmp(name, ROWS[i][0]) == 0) {
            return ROWS[i][1];
        }
    }
    return strcmp(name, "OTEL_TRACES_SAMPLER_ARG") == 0 ? sampled : NULL;
}

static bool prepare_traced(const char *share)
{
    static const hub_otel_source SOURCE = {.get = get_variable};
    hub_otel_settings settings;
    sampled = share;
    return prepare_splice() && hub_otel_read(&SOURCE, &settings) == HUB_OK &&
           hub_telemetry_start(me.hub, &settings, NULL) == HUB_OK;
}

static bool prepare_unsampled(void)
{
    return prepare_traced("0.000000001"); /* not 0: each call is drawn for */
}

static bool prepare_sampled(void)
{
    return prepare_traced("1");
}

static bool prepare_list_of(const char *config)
{
    static const char TEXT[] = "{\"jsonrpc\":\"2.0\",\"id\":1000000000,\"method\":\"tools/list\"}";
    memcpy(request, TEXT, sizeof TEXT);
    request_len = sizeof TEXT - 1;
    return start_hub("noop", config) && open_session();
}

static bool prepare_list(void)
{
    return prepare_list_of("{\"tools\":1000}");
}

/* Equip tool_1000 to tool_1999. */
static void choose_equipped(void)
{
    static char document[64 * 1024];
    size_t len = (size_t)snprintf(document, sizeof document, "{\"name\":\"half\",\"tools\":[");
    for (int i = 1000; i < 2000; i++) {
        len += (size_t)snprintf(document + len, sizeof document - len, "%s\"up:tool_%d\"",
                                i > 1000 ? "," : "", i);
    }
    (void)snprintf(document + len, sizeof document - len, "]}");
    equipped = (hub_saved_settings){.name = "half", .document = document, .source = "micro"};
}

static bool prepare_equipped(void)
{
    choose_equipped();
    return prepare_list_of("{\"tools\":2000}");
}

static bool prepare_enable(void)
{
    meta_tools = HUB_META_TOOLSETS;
    return prepare_list_of("{\"tools\":10000}");
}

static bool prepare_equip(void)
{
    meta_tools = HUB_META_SAVED;
    choose_equipped();
    return prepare_list_of("{\"tools\":10000}");
}

static void use_own_tool(const char *name, const char *arguments)
{
    static unsigned long id;
    char text[REQUEST_BYTES];
    int len = snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%lu,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"%s\",\"arguments\":%s}}",
                       ++id, name, arguments);
    ask((hub_str){.ptr = text, .len = (size_t)len});
}

static void enable(void)
{
    use_own_tool("disable_toolset", "{\"toolset\":\"up\"}");
    use_own_tool("enable_toolset", "{\"toolset\":\"up\"}");
}

static void equip(void)
{
    use_own_tool("unequip-toolset", "{}");
    use_own_tool("equip-toolset", "{\"name\":\"half\"}");
}

static void call(void)
{
    ask(with_next_id());
}

/* And one more is a good one: all were asked for the same. */
static bool all_answered(unsigned long count)
{
    bool is_right = me.answers == count;
    me.looks = true;
    call();
    return is_right && !me.failed && me.answer_bytes > 50;
}

static bool all_listed(unsigned long count)
{
    return all_answered(count) && me.answer_bytes > 1000 * 100;
}

/* Both of two calls for each, and one more of each succeeds. */
static bool all_chosen(unsigned long count)
{
    bool is_right = me.answers == 2 * count;
    me.looks = true;
    (meta_tools == HUB_META_SAVED ? equip : enable)();
    call();
    return is_right && !me.failed && me.answer_bytes > 1000 * 100;
}

static void stop_hub(void)
{
    if (me.hub != NULL) {
        hub_session_close(me.session);
        (void)hub_orchestrator_destroy(me.hub, GUARD_MS);
        hub_loop_destroy(me.loop);
    }
}

/* ---- */

static const micro_case CASES[] = {
    {"scan", prepare_scan, scan, all_good},
    {"frame", prepare_frame, frame, all_good},
    {"route", prepare_route, call, all_answered},
    {"splice", prepare_splice, call, all_answered},
    {"counted", prepare_counted, call, all_answered},
    {"unsampled", prepare_unsampled, call, all_answered},
    {"sampled", prepare_sampled, call, all_answered},
    {"list", prepare_list, call, all_listed},
    {"equipped", prepare_equipped, call, all_listed},
    {"learn", prepare_learn, learn, has_learnt},
    {"enable", prepare_enable, enable, all_chosen},
    {"equip", prepare_equip, equip, all_chosen},
    {"changed", sections_prepare_one_of_many, sections_change, sections_check},
    {"alone", sections_prepare_only_one, sections_change, sections_check},
    {"shared", sections_prepare_shared, sections_change, sections_check},
};

/* What callgrind is told to look at: by its name, so it has to be a function of its own. */
__attribute__((noinline)) static void measured(void (*step)(void), unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        step();
    }
}

int micro_main(int argc, char **argv)
{
    unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    for (size_t i = 0; count > 0 && i < sizeof CASES / sizeof CASES[0]; i++) {
        if (strcmp(argv[1], CASES[i].name) == 0) {
            if (!CASES[i].prepare()) {
                fail("could not prepare");
            }
            measured(CASES[i].step, count);
            if (!CASES[i].check(count)) {
                fail("wrong answers");
            }
            stop_hub();
            return 0;
        }
    }
    (void)fputs("usage: micro CASE COUNT; the cases:", stderr);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        (void)fprintf(stderr, " %s", CASES[i].name);
    }
    (void)fputc('\n', stderr);
    return 2;
}
