/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/fanout/fanout.h"

#include "base/limits.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/transport.h"
#include "hub/meta/schemas.h"
#include "tools/definition_readable.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

enum { ID_BYTES = 64 };

typedef struct fan fan;

/* One of the calls. */
typedef struct member {
    hub_port port; /* first: a port is its member */
    fan *of;
    char *toolset;
    hub_buf request; /* the message, until it is sent */
    hub_buf answer;  /* a member of the object of the whole: "result":… or "error":… */
    char id[ID_BYTES];
    bool is_sent;
    bool is_done;
    bool is_failure;
} member;

/* The calls of one call; they belong to its session, which may end before it. */
struct fan {
    fan *next;
    fan *prev;
    hub_session *session;
    struct ev_loop *loop;
    ev_timer soon; /* never started, only fed: there is something to be done from the loop */
    hub_call_table *calls;
    uint64_t call;
    hub_port lister; /* for a list that waits for servers to say what they have */
    bool has_listed;
    bool is_listing; /* it is being waited for */
    bool is_orphan;  /* the call has ended */
    bool is_begun;
    hub_buf arguments; /* of the call */
    hub_buf meta;      /* of each request: add_meta */
    hub_buf headers;   /* that go on to servers: hub_forwarded_add */
    size_t left;
    size_t count;
    member members[];
};

typedef struct session_fans {
    fan *first;
} session_fans;

typedef struct call_fan {
    fan *fan;
} call_fan;

static session_fans *fans_of(const hub_session *session)
{
    return hub_session_part(session, &HUB_FANOUT_STATION);
}

static void destroy(fan *one)
{
    ev_clear_pending(one->loop, &one->soon);
    DL_DELETE(fans_of(one->session)->first, one);
    for (size_t i = 0; i < one->count; i++) {
        free(one->members[i].toolset);
        hub_buf_fini(&one->members[i].request);
        hub_buf_fini(&one->members[i].answer);
    }
    hub_buf_fini(&one->arguments);
    hub_buf_fini(&one->meta);
    hub_buf_fini(&one->headers);
    free(one);
}

/* ---- one of the calls ------------------------------------------------------------------------ */

static const char TOO_LARGE[] =
    "\"error\":{\"message\":\"the results of all toolsets together are too large\"}";

/* The largest gives way, whichever came first: who stays within its share is never it. */
static void make_room(fan *one)
{
    for (;;) {
        size_t bytes = 0;
        member *largest = &one->members[0];
        for (size_t i = 0; i < one->count; i++) {
            member *m = &one->members[i];
            bytes += m->answer.len;
            largest = m->answer.len > largest->answer.len ? m : largest;
        }
        if (bytes <= HUB_LIMIT_FAN_OUT_BYTES) {
            return;
        }
        hub_buf_fini(&largest->answer);
        hub_buf_init(&largest->answer, SIZE_MAX / 4);
        hub_buf_add(&largest->answer, hub_str_of(TOO_LARGE));
        largest->is_failure = true;
    }
}

static void finish_member(member *m, const char *key, hub_str value)
{
    m->is_failure = strcmp(key, "error") == 0 ||
                    hub_json_type_of(hub_json_get(value, HUB_STR("isError"))) == HUB_JSON_TRUE;
    hub_buf_printf(&m->answer, "\"%s\":", key);
    hub_buf_add(&m->answer, value);
    make_room(m->of);
    if (!m->is_done) {
        m->is_done = true;
        m->of->left--;
    }
}

static void fail_member(member *m, hub_str text)
{
    hub_buf error;
    hub_buf_init(&error, SIZE_MAX / 4);
    hub_buf_add(&error, HUB_STR("{\"message\":"));
    hub_json_add_string(&error, text);
    hub_buf_add_char(&error, '}');
    finish_member(m, "error", hub_buf_str(&error));
    hub_buf_fini(&error);
}

/* What the hub tells the client of one of them: the answer counts alone. */
static hub_err take(hub_port *port, const hub_outgoing *message)
{
    member *m = (member *)port;
    hub_buf text;
    if (!message->last || m->is_done) {
        return HUB_OK;
    }
    hub_buf_init(&text, 2 * HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    for (size_t i = 0; i < message->count; i++) {
        hub_buf_add(&text, message->parts[i]);
    }
    if (hub_buf_ok(&text)) {
        hub_str whole = hub_str_trim(hub_buf_str(&text));
        hub_str result = hub_json_get(whole, HUB_STR("result"));
        bool is_result = result.len > 0;
        hub_str value = is_result ? result : hub_json_get(whole, HUB_STR("error"));
        const char *unreadable = hub_definition_unreadable(value);
        if (unreadable != NULL) { /* it would cost the client the answers of the others */
            fail_member(m, hub_str_of(unreadable));
        } else {
            finish_member(m, is_result ? "result" : "error", value);
        }
    } else {
        fail_member(m, HUB_STR("out of memory"));
    }
    hub_buf_fini(&text);
    if (m->of->left == 0) {
        ev_feed_event(m->of->loop, &m->of->soon, EV_CUSTOM);
    }
    return HUB_OK;
}

static bool find_header(const fan *one, hub_str name, hub_buf *value)
{
    hub_str found;
    bool is_there = hub_forwarded_find(hub_buf_str(&one->headers), name, &found);
    if (is_there) {
        hub_buf_add(value, found);
    }
    return is_there;
}

static bool add_header(hub_port *port, hub_str name, hub_buf *value)
{
    return find_header(((const member *)port)->of, name, value);
}

static const hub_port_ops PORT = {.send = take, .add_header = add_header};

/* What the client says of itself with each request; but nothing that a server could ask of it, and no
 * token of its own: answers and progress would have nowhere to go. */
static void add_meta(hub_str meta, bool is_modern, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(meta);
    hub_str key;
    hub_str value;
    hub_buf_add_char(out, '{');
    while (hub_json_next(&it, &key, &value)) {
        if (hub_json_string_is(key, HUB_STR("progressToken")) ||
            hub_json_string_is(key, HUB_STR(HUB_META_CLIENT_CAPABILITIES))) {
            continue;
        }
        hub_json_add_comma(out);
        hub_buf_add(out, key);
        hub_buf_add_char(out, ':');
        hub_buf_add(out, value);
    }
    if (is_modern) {
        hub_json_add_key(out, HUB_STR(HUB_META_CLIENT_CAPABILITIES));
        hub_buf_add(out, HUB_STR("{}"));
    }
    hub_buf_add_char(out, '}');
}

static void write_request(member *m, hub_str exposed, hub_str arguments)
{
    hub_buf *out = &m->request;
    hub_buf_printf(out,
                   "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"tools/call\",\"params\":{"
                   "\"_meta\":",
                   m->id);
    hub_buf_add(out, hub_buf_str(&m->of->meta));
    hub_buf_add(out, HUB_STR(",\"name\":"));
    hub_json_add_string(out, exposed);
    hub_buf_add(out, HUB_STR(",\"arguments\":"));
    hub_buf_add(out, arguments);
    hub_buf_add(out, HUB_STR("}}"));
}

/* ---- what is asked for ----------------------------------------------------------------------- */

/* Add one toolset; the tool is called in it if the client sees it there. */
static hub_err add_member(fan *one, const hub_call *call, hub_str toolset, hub_str tool)
{
    const hub_entry *entry = hub_sight_find_own(hub_call_sight(call), HUB_KIND_TOOL, toolset, tool);
    hub_str arguments = hub_json_get(hub_buf_str(&one->arguments), HUB_STR("arguments"));
    for (size_t i = 0; i < one->count; i++) {
        if (hub_str_is(toolset, one->members[i].toolset)) {
            return HUB_OK;
        }
    }
    hub_assert(one->count < HUB_LIMIT_FAN_OUT); /* the schema says so */
    member *m = &one->members[one->count];
    m->toolset = hub_str_dup(toolset);
    if (m->toolset == NULL) {
        return HUB_ENOMEM;
    }
    m->port.ops = &PORT;
    m->of = one;
    hub_buf_init(&m->request, SIZE_MAX / 4);
    hub_buf_init(&m->answer, SIZE_MAX / 4);
    (void)snprintf(m->id, sizeof m->id, "patchbay/fanout/%llu/%zu", (unsigned long long)one->call,
                   one->count);
    one->count++;
    one->left++;
    if (entry == NULL || toolset.len == 0 ||
        entry->owner == hub_meta_toolset(hub_session_hub(one->session))) {
        fail_member(m, HUB_STR("it has no such tool that can be called now"));
        return HUB_OK;
    }
    write_request(m, entry->exposed,
                  hub_json_type_of(arguments) == HUB_JSON_OBJECT ? arguments : HUB_STR("{}"));
    return HUB_OK;
}

/* All toolsets that have the tool, for this client. */
static hub_err add_all(fan *one, const hub_call *call, hub_str tool, hub_error *reterr)
{
    const hub_orchestrator *hub = hub_session_hub(one->session);
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < hub_toolset_total(hub); i++) {
        hub_str key = hub_str_of(hub_toolset_key(hub_toolset_at(hub, i)));
        if (hub_sight_find_own(hub_call_sight(call), HUB_KIND_TOOL, key, tool) == NULL) {
            continue;
        }
        if (one->count == HUB_LIMIT_FAN_OUT) {
            return hub_fail(reterr, HUB_EINVAL,
                            "more than %d toolsets have that tool: name those that are meant in "
                            "`toolsets`",
                            HUB_LIMIT_FAN_OUT);
        }
        err = add_member(one, call, key, tool);
    }
    if (err == HUB_OK && one->count == 0) {
        err =
            hub_fail(reterr, HUB_ENOTFOUND,
                     "no toolset has a tool of that name: `tool` is its name without the toolset");
    }
    return err;
}

static hub_err add_named(fan *one, const hub_call *call, hub_str named, hub_str tool)
{
    hub_json_iter it = hub_json_iterate(named);
    hub_str key;
    hub_str raw;
    hub_err err = HUB_OK;
    while (err == HUB_OK && hub_json_next(&it, &key, &raw)) {
        hub_buf text;
        hub_buf_init(&text, raw.len + 1);
        err = hub_json_decode(raw, &text);
        if (err == HUB_OK) {
            err = add_member(one, call, hub_buf_str(&text), tool);
        }
        hub_buf_fini(&text);
    }
    return err;
}

static hub_err fill(fan *one, const hub_call *call, hub_error *reterr)
{
    hub_str raw = hub_json_get(hub_buf_str(&one->arguments), HUB_STR("tool"));
    hub_str named = hub_json_get(hub_buf_str(&one->arguments), HUB_STR("toolsets"));
    hub_buf tool;
    hub_buf_init(&tool, raw.len + 1);
    hub_err err = hub_json_decode(raw, &tool);
    if (err == HUB_OK && hub_json_count(named) > 0) {
        err = add_named(one, call, named, hub_buf_str(&tool));
    } else if (err == HUB_OK) {
        err = add_all(one, call, hub_buf_str(&tool), reterr);
    }
    hub_buf_fini(&tool);
    return err == HUB_ENOMEM ? hub_fail(reterr, err, "out of memory") : err;
}

/* ---- servers that have yet to say what they have ---------------------------------------------- */

static hub_err take_list(hub_port *port, const hub_outgoing *message)
{
    fan *one = (fan *)((char *)port - offsetof(fan, lister));
    if (message->last && one->is_listing) {
        one->is_listing = false;
        ev_feed_event(one->loop, &one->soon, EV_CUSTOM);
    }
    return HUB_OK;
}

static bool add_list_header(hub_port *port, hub_str name, hub_buf *value)
{
    return find_header((const fan *)((const char *)port - offsetof(fan, lister)), name, value);
}

static const hub_port_ops LISTER = {.send = take_list, .add_header = add_list_header};

/* Whether there is a toolset for the client whose tools nobody knows yet. */
static bool is_any_unknown(const fan *one, const hub_call *call)
{
    const hub_orchestrator *hub = hub_session_hub(one->session);
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset =
            hub_sight_toolset(hub_call_sight(call), hub_toolset_at(hub, i));
        if (hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL &&
            hub_sight_may_tell_of(hub_call_sight(call), toolset)) {
            return true;
        }
    }
    return false;
}

/* Ask for the list, as the client could: it waits for them as long as any list does. */
static void ask_for_list(fan *one)
{
    hub_buf request;
    hub_buf_init(&request, SIZE_MAX / 4);
    hub_buf_printf(&request,
                   "{\"jsonrpc\":\"2.0\",\"id\":\"patchbay/fanout/%llu/list\",\"method\":"
                   "\"tools/list\",\"params\":{\"_meta\":",
                   (unsigned long long)one->call);
    hub_buf_add(&request, hub_buf_str(&one->meta));
    hub_buf_add(&request, HUB_STR("}}"));
    if (hub_buf_ok(&request)) {
        one->is_listing = true;
        hub_session_receive(one->session, &one->lister, hub_buf_str(&request));
    }
    hub_buf_fini(&request);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void answer(const fan *one, hub_call *call)
{
    size_t failed = 0;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"results\":["));
    for (size_t i = 0; i < one->count; i++) {
        const member *m = &one->members[i];
        failed += m->is_failure;
        hub_json_add_comma(&out);
        hub_buf_add(&out, HUB_STR("{\"toolset\":"));
        hub_json_add_string(&out, hub_str_of(m->toolset));
        hub_buf_add_char(&out, ',');
        hub_buf_add(&out, hub_buf_str(&m->answer));
        hub_buf_add_char(&out, '}');
        if (!hub_buf_ok(&m->answer)) {
            out.failed = m->answer.failed;
        }
    }
    hub_buf_printf(&out, "],\"succeeded\":%zu,\"failed\":%zu}", one->count - failed, failed);
    hub_meta_reply(call, &out, failed == one->count);
}

static void begin(fan *one)
{
    one->is_begun = true;
    for (size_t i = 0; i < one->count && !one->is_orphan; i++) {
        member *m = &one->members[i];
        if (m->is_done) {
            continue;
        }
        m->is_sent = true;
        if (hub_buf_ok(&m->request)) {
            hub_session_receive(one->session, &m->port, hub_buf_str(&m->request));
        } else {
            fail_member(m, HUB_STR("out of memory"));
        }
        hub_buf_fini(&m->request);
    }
}

/* From the loop: find the tools, then call them. False: the call has been answered, or is to wait. */
static bool go_on(fan *one, hub_call *call)
{
    hub_error why = {.code = HUB_OK, .text = "out of memory"};
    if (!one->has_listed && is_any_unknown(one, call)) {
        one->has_listed = true;
        ask_for_list(one);
        if (one->is_listing) {
            return false;
        }
    }
    if (one->is_orphan || one->is_begun) {
        return true;
    }
    hub_err err = fill(one, call, &why);
    if (err == HUB_OK) {
        begin(one);
        return true;
    }
    call_fan *part = hub_call_part_of(call, &HUB_FANOUT_STATION);
    part->fan = NULL;
    one->left = 0;
    one->is_orphan = true;
    hub_meta_reply_failure(call, err, why.text);
    return true;
}

static void on_soon(struct ev_loop *loop, ev_timer *timer, int events)
{
    fan *one = timer->data;
    (void)loop;
    (void)events;
    hub_call *call = one->is_orphan ? NULL : hub_call_find(one->calls, one->call, NULL);
    if (call != NULL && !one->is_begun && !one->is_listing && !go_on(one, call)) {
        return;
    }
    if (one->is_listing || one->left > 0) {
        return;
    }
    call = one->is_orphan ? NULL : hub_call_find(one->calls, one->call, NULL);
    if (call != NULL) {
        call_fan *part = hub_call_part_of(call, &HUB_FANOUT_STATION);
        part->fan = NULL;
        answer(one, call);
    }
    destroy(one);
}

/* The call ends before they do: nobody waits for them. */
static void drop(hub_call *call)
{
    call_fan *part = hub_call_find_part(call, &HUB_FANOUT_STATION);
    fan *one = part != NULL ? part->fan : NULL;
    if (one == NULL) {
        return;
    }
    part->fan = NULL;
    one->is_orphan = true;
    for (size_t i = 0; i < one->count; i++) {
        member *m = &one->members[i];
        char raw[ID_BYTES + 2];
        (void)snprintf(raw, sizeof raw, "\"%s\"", m->id);
        hub_call *own =
            m->is_done || !m->is_sent ? NULL : hub_session_find_call(one->session, hub_str_of(raw));
        if (own != NULL) {
            hub_call_drop(own);
        }
        if (!m->is_done && (own != NULL || !m->is_sent)) {
            m->is_done = true;
            one->left--;
        }
    }
    ev_feed_event(one->loop, &one->soon, EV_CUSTOM); /* it may still be in use here */
}

static void session_ends(hub_session *session)
{
    while (fans_of(session)->first != NULL) {
        destroy(fans_of(session)->first);
    }
}

static fan *create(hub_call *call, const hub_way *way)
{
    fan *one = calloc(1, sizeof *one + HUB_LIMIT_FAN_OUT * sizeof one->members[0]);
    if (one == NULL) {
        return NULL;
    }
    one->session = hub_call_session(call);
    one->loop = hub_call_loop(call);
    one->calls = hub_call_table_of(call);
    one->call = hub_call_id(call);
    one->lister.ops = &LISTER;
    ev_init(&one->soon, on_soon);
    one->soon.data = one;
    hub_buf_init(&one->arguments, SIZE_MAX / 4);
    hub_buf_init(&one->meta, SIZE_MAX / 4);
    hub_buf_init(&one->headers, SIZE_MAX / 4);
    hub_buf_add(&one->arguments, way->arguments);
    add_meta(way->message->at[HUB_M_META], hub_call_context(call)->era == HUB_ERA_MODERN,
             &one->meta);
    hub_buf_add(&one->headers, hub_call_context(call)->headers);
    DL_APPEND(fans_of(one->session)->first, one);
    return one;
}

static void call_in_toolsets(hub_call *call, const hub_way *way)
{
    fan *one = create(call, way);
    if (one == NULL || !hub_buf_ok(&one->arguments) || !hub_buf_ok(&one->meta) ||
        !hub_buf_ok(&one->headers)) {
        if (one != NULL) {
            destroy(one);
        }
        hub_meta_reply_failure(call, HUB_ENOMEM, "out of memory");
        return;
    }
    call_fan *part = hub_call_part_of(call, &HUB_FANOUT_STATION);
    part->fan = one;
    ev_feed_event(one->loop, &one->soon, EV_CUSTOM); /* not from inside the request */
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define FANOUT_SHOWN                                                                               \
    OBJECT "\"required\":[\"tool\"],\"properties\":{\"tool\":{\"type\":\"string\","                \
           "\"description\":\"Its name without the toolset\"},\"arguments\":{\"type\":\"object\"," \
           "\"description\":\"Those of that tool\"},\"toolsets\":{\"type\":\"array\",\"items\":{"  \
           "\"type\":\"string\"},\"description\":\"Keys; all that have the tool if left out\"}}}"
#define FANOUT_ACCEPTED                                                                            \
    OBJECT "\"required\":[\"tool\"],\"properties\":{\"tool\":{\"type\":\"string\"},"               \
           "\"arguments\":{\"type\":[\"object\",\"null\"]},\"toolsets\":{\"type\":[\"array\","     \
           "\"null\"],\"items\":{\"type\":\"string\"},\"maxItems\":16}}}"

_Static_assert(HUB_LIMIT_FAN_OUT == 16, "the schema says so");

const hub_meta_tool HUB_FANOUT_TOOLS[] = {
    {.name = "call_in_toolsets",
     .in_static = true,
     .description = "Calls the same tool in several toolsets at once, and shows their results side "
                    "by side. It may change or destroy things.",
     .input_schema = FANOUT_SHOWN,
     .accepted_schema = FANOUT_ACCEPTED,
     .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":true}",
     .change = call_in_toolsets},
    {.name = NULL},
};

static hub_station_place place;

const hub_station HUB_FANOUT_STATION = {
    .name = "fanout",
    .place = &place,
    .bytes = {[HUB_PART_SESSION] = sizeof(session_fans), [HUB_PART_CALL] = sizeof(call_fan)},
    .drop = drop,
    .session_ends = session_ends,
};
