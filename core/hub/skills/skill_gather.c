/* SPDX-License-Identifier: Apache-2.0 */
/* skills/list: the lists of all servers that have skills, page by page and several at a time, as one. */
#include "hub/skills/skills_internal.h"

#include "base/limits.h"
#include "hub/access/access.h"
#include "hub/catalogs/parking.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/transport.h"
#include "hub/kernel/way.h"
#include "hub/skills/skill_uris.h"
#include "tools/definition_readable.h"
#include "tools/mapped_uri.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

enum { ID_BYTES = 64 };

/* One server's list. */
typedef struct member {
    hub_port port; /* first: a port is its member */
    skill_gather *of;
    char *toolset;
    char id[ID_BYTES];
    hub_buf cursor;  /* raw: of the page that comes next; empty for the first */
    hub_buf entries; /* with commas between them; at most its share of HUB_LIMIT_SKILLS_BYTES */
    unsigned pages;
    bool is_out; /* a page has been asked for */
    bool is_done;
    bool has_failed; /* before it had any page */
} member;

/* It belongs to its session, which may end before the call is answered, and the call before it. */
struct skill_gather {
    skill_gather *next;
    skill_gather *prev;
    hub_session *session;
    struct ev_loop *loop;
    ev_timer soon; /* never started, only fed: there is something to be done from the loop */
    hub_call_table *calls;
    uint64_t call;
    bool is_orphan;       /* the call has ended */
    hub_buf capabilities; /* what each request says that the client can do */
    hub_buf meta;         /* of each request, raw */
    size_t out;           /* requests that are out */
    size_t left;          /* lists that are not complete */
    size_t count;
    member members[];
};

static session_skills *gathers_of(const hub_session *session)
{
    return hub_session_part(session, &HUB_SKILLS_STATION);
}

void skill_gather_destroy(skill_gather *gather)
{
    ev_clear_pending(gather->loop, &gather->soon);
    DL_DELETE(gathers_of(gather->session)->first, gather);
    for (size_t i = 0; i < gather->count; i++) {
        free(gather->members[i].toolset);
        hub_buf_fini(&gather->members[i].cursor);
        hub_buf_fini(&gather->members[i].entries);
    }
    hub_buf_fini(&gather->capabilities);
    hub_buf_fini(&gather->meta);
    free(gather);
}

/* ---- one page -------------------------------------------------------------------------------- */

static void end_list(member *m)
{
    m->is_done = true;
    m->of->left--;
}

/* What it has so far is listed: a list may be partial (Listing Skills, Semantics). */
static void cut_list(member *m, hub_str why)
{
    hub_log(HUB_LOG_WARNING, "skills.list.partial", HUB_F_TEXT("toolset", m->toolset),
            HUB_F_INT("pages", m->pages), HUB_F_STR("reason", why));
    m->has_failed = m->pages == 0;
    end_list(m);
}

/* Whether an entry is one that a client can read and ask for again, and that this one may have: the list of all
 * servers would be lost with one that cannot be read. */
static bool may_list(const member *m, const hub_toolset *toolset, hub_str entry)
{
    hub_str raw = hub_json_get(entry, HUB_STR("uri"));
    hub_buf uri;
    hub_buf mapped;
    hub_buf_init(&uri, HUB_LIMIT_URI_BYTES);
    hub_buf_init(&mapped, HUB_LIMIT_URI_BYTES);
    bool may = hub_json_type_of(raw) == HUB_JSON_STRING && hub_json_decode(raw, &uri) == HUB_OK &&
               hub_definition_unreadable(entry) == NULL;
    if (may) {
        hub_mapped_uri_add(hub_str_of(m->toolset), hub_buf_str(&uri), &mapped);
        may =
            hub_buf_ok(&mapped) && hub_access_lets_hear(m->of->session, toolset, hub_buf_str(&uri));
    }
    hub_buf_fini(&mapped);
    hub_buf_fini(&uri);
    return may;
}

/* Add an entry, unless it goes beyond the share of its server: HUB_ELIMIT. */
static hub_err add_entry(member *m, hub_str entry)
{
    hub_buf mapped;
    hub_buf_init(&mapped, HUB_LIMIT_SKILLS_BYTES / m->of->count - m->entries.len);
    if (m->entries.len > 0) {
        hub_buf_add_char(&mapped, ',');
    }
    hub_err err = hub_skill_uris_add(hub_str_of(m->toolset), entry, entry, &mapped);
    err = err == HUB_OK ? mapped.failed : err;
    if (err == HUB_OK) {
        hub_buf_add(&m->entries, hub_buf_str(&mapped));
        err = m->entries.failed;
    }
    hub_buf_fini(&mapped);
    return err;
}

static hub_err add_entries(member *m, const hub_toolset *toolset, hub_str skills)
{
    hub_json_iter it = hub_json_iterate(skills);
    hub_str key;
    hub_str entry;
    hub_err err = HUB_OK;
    while (err == HUB_OK && hub_json_next(&it, &key, &entry)) {
        if (may_list(m, toolset, entry)) {
            err = add_entry(m, entry);
        }
    }
    return err;
}

static void take_page(member *m, hub_str result)
{
    hub_str skills = hub_json_get(result, HUB_STR("skills"));
    hub_str cursor = hub_json_get(result, HUB_STR("nextCursor"));
    const hub_toolset *toolset =
        hub_find_toolset(hub_session_hub(m->of->session), hub_str_of(m->toolset));
    if (toolset == NULL || hub_json_type_of(skills) != HUB_JSON_ARRAY) {
        cut_list(m, HUB_STR("its server's answer has no array of skills"));
        return;
    }
    m->pages++;
    hub_buf_clear(&m->cursor);
    if (add_entries(m, toolset, skills) != HUB_OK) {
        cut_list(m, HUB_STR("it is larger than what one of so many servers may list"));
    } else if (hub_json_type_of(cursor) != HUB_JSON_STRING) {
        end_list(m);
    } else if (m->pages == HUB_LIMIT_SKILL_PAGES) {
        cut_list(m, HUB_STR("its server has more pages than the hub asks for"));
    } else {
        hub_buf_add(&m->cursor, cursor);
    }
}

/* The message that an error of a server has, decoded or not: for the log. */
static hub_str reason_of(hub_str error)
{
    hub_str text = hub_json_get(error, HUB_STR("message"));
    hub_str plain;
    return hub_json_plain(text, &plain) ? plain : text;
}

static hub_err take(hub_port *port, const hub_outgoing *message)
{
    member *m = (member *)port;
    hub_buf text;
    if (!message->last || !m->is_out) {
        return HUB_OK;
    }
    m->is_out = false;
    m->of->out--;
    hub_buf_init(&text, 2 * HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    for (size_t i = 0; i < message->count; i++) {
        hub_buf_add(&text, message->parts[i]);
    }
    hub_str whole = hub_str_trim(hub_buf_str(&text));
    hub_str result = hub_json_get(whole, HUB_STR("result"));
    if (!hub_buf_ok(&text)) {
        cut_list(m, HUB_STR("out of memory"));
    } else if (result.len == 0) {
        cut_list(m, reason_of(hub_json_get(whole, HUB_STR("error"))));
    } else {
        take_page(m, result);
    }
    hub_buf_fini(&text);
    ev_feed_event(m->of->loop, &m->of->soon, EV_CUSTOM);
    return HUB_OK;
}

static const hub_port_ops PORT = {.send = take};

static void write_request(const member *m, hub_buf *out)
{
    hub_buf_printf(
        out, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"skills/list\",\"params\":{", m->id);
    if (m->of->meta.len > 0) {
        hub_buf_add(out, HUB_STR("\"_meta\":"));
        hub_buf_add(out, hub_buf_str(&m->of->meta));
    }
    if (m->cursor.len > 0) {
        hub_json_add_key(out, HUB_STR("cursor"));
        hub_buf_add(out, hub_buf_str(&m->cursor));
    }
    hub_buf_add(out, HUB_STR("}}"));
}

/* Begin the call that asks for the next page; how it ends, the port is told. False: it did not begin. */
static bool send_page(member *m, hub_toolset *toolset, const hub_call *asker, hub_str text)
{
    hub_message message;
    hub_call *call;
    hub_request_context context = *hub_call_context(asker);
    context.capabilities = hub_buf_str(&m->of->capabilities);
    context.progress_token = HUB_STR_EMPTY;
    if (hub_message_scan(text, &message, NULL) != HUB_OK ||
        hub_session_has_request(m->of->session, message.at[HUB_M_ID]) || /* its client's own */
        hub_call_begin(m->of->session, &m->port, message.at[HUB_M_ID], &context, &call) != HUB_OK) {
        return false;
    }
    m->is_out = true;
    m->of->out++;
    hub_way way = {.toolset = toolset, .arguments = HUB_STR("{}"), .message = &message};
    hub_call_send(call, &way);
    return true;
}

static void ask(member *m, const hub_call *asker)
{
    const hub_source *source =
        hub_exposure_source(hub_session_exposure(m->of->session), hub_str_of(m->toolset));
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    write_request(m, &text);
    if (source == NULL) {
        cut_list(m, HUB_STR("its toolset is not active any more"));
    } else if (!hub_buf_ok(&text) || !send_page(m, source->owner, asker, hub_buf_str(&text))) {
        if (m->of->out == 0) { /* else, one that ends leaves its place to this one */
            cut_list(m, HUB_STR("too many requests are in flight"));
        }
    }
    hub_buf_fini(&text);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool has_failed(const skill_gather *gather)
{
    for (size_t i = 0; i < gather->count; i++) {
        if (!gather->members[i].has_failed) {
            return false;
        }
    }
    return true;
}

static void respond(const skill_gather *gather, hub_call *call)
{
    hub_buf out;
    hub_buf_init(&out, 2 * HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"skills\":["));
    for (size_t i = 0; i < gather->count; i++) {
        const hub_buf *entries = &gather->members[i].entries;
        out.failed = hub_buf_ok(entries) ? out.failed : entries->failed;
        if (entries->len > 0) {
            hub_json_add_comma(&out);
            hub_buf_add(&out, hub_buf_str(entries));
        }
    }
    hub_buf_add(&out, HUB_STR("]}"));
    if (has_failed(gather)) {
        hub_call_fail(call, PATCHBAY_UNAVAILABLE,
                      HUB_STR("no server could list its skills: the hub's log says why"));
    } else if (hub_buf_ok(&out)) {
        hub_call_finish(call, &(hub_outcome){.status = PATCHBAY_RESULT, .json = hub_buf_str(&out)});
    } else {
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    }
    hub_buf_fini(&out);
}

static hub_call *asker_of(const skill_gather *gather)
{
    return gather->is_orphan ? NULL : hub_call_find(gather->calls, gather->call, NULL);
}

/* A page may come, or the call end, while another one is asked for. */
static void ask_all(skill_gather *gather)
{
    for (size_t i = 0; i < gather->count && gather->out < HUB_LIMIT_FAN_OUT; i++) {
        const hub_call *asker = asker_of(gather);
        member *m = &gather->members[i];
        if (asker != NULL && !m->is_done && !m->is_out) {
            ask(m, asker);
        }
    }
}

static void on_soon(struct ev_loop *loop, ev_timer *timer, int events)
{
    skill_gather *gather = timer->data;
    (void)loop;
    (void)events;
    ask_all(gather);
    hub_call *call = asker_of(gather);
    if (call != NULL && gather->left > 0) {
        return;
    }
    if (call != NULL) {
        call_skills *part = hub_call_part_of(call, &HUB_SKILLS_STATION);
        part->gather = NULL;
        respond(gather, call);
    }
    skill_gather_destroy(gather);
}

void skill_gather_abandon(skill_gather *gather)
{
    gather->is_orphan = true;
    for (size_t i = 0; i < gather->count; i++) {
        member *m = &gather->members[i];
        char raw[ID_BYTES + 2];
        (void)snprintf(raw, sizeof raw, "\"%s\"", m->id);
        hub_call *own = m->is_out ? hub_session_find_call(gather->session, hub_str_of(raw)) : NULL;
        m->is_out = false;
        if (own != NULL) {
            hub_call_drop(own);
        }
    }
    ev_feed_event(gather->loop, &gather->soon, EV_CUSTOM); /* it may still be in use here */
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* A server asks nobody anything while it lists; but it may know which extensions the client has. */
static void add_capabilities(const hub_request *request, hub_buf *out)
{
    hub_str extensions = hub_json_get(request->context.capabilities, HUB_STR("extensions"));
    hub_buf_add_char(out, '{');
    if (hub_json_type_of(extensions) == HUB_JSON_OBJECT) {
        hub_json_add_key(out, HUB_STR("extensions"));
        hub_buf_add(out, extensions);
    }
    hub_buf_add_char(out, '}');
}

static bool add_member(skill_gather *gather, const hub_toolset *toolset)
{
    member *m = &gather->members[gather->count];
    m->toolset = hub_str_dup(hub_str_of(hub_toolset_key(toolset)));
    m->port.ops = &PORT;
    m->of = gather;
    hub_buf_init(&m->cursor, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&m->entries, HUB_LIMIT_SKILLS_BYTES);
    (void)snprintf(m->id, sizeof m->id, "patchbay/skills/%llu/%zu",
                   (unsigned long long)gather->call, gather->count);
    gather->count++;
    gather->left++;
    return m->toolset != NULL;
}

static bool fill(skill_gather *gather, const hub_request *request, const hub_source *const *sources,
                 size_t count)
{
    bool is_good = true;
    for (size_t i = 0; is_good && i < count; i++) {
        const hub_toolset *toolset = sources[i]->owner;
        if (hub_toolset_capabilities(toolset)->has_skills) {
            is_good = add_member(gather, toolset);
        }
    }
    hub_buf_add(&gather->meta, request->message->at[HUB_M_META]);
    add_capabilities(request, &gather->capabilities);
    return is_good && hub_buf_ok(&gather->meta) && hub_buf_ok(&gather->capabilities);
}

static skill_gather *create(const hub_request *request, hub_call *call)
{
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_session_exposure(request->session), &count);
    skill_gather *gather = calloc(1, sizeof *gather + count * sizeof gather->members[0]);
    if (gather == NULL) {
        return NULL;
    }
    gather->session = request->session;
    gather->loop = hub_call_loop(call);
    gather->calls = hub_call_table_of(call);
    gather->call = hub_call_id(call);
    ev_init(&gather->soon, on_soon);
    gather->soon.data = gather;
    hub_buf_init(&gather->capabilities, SIZE_MAX / 4);
    hub_buf_init(&gather->meta, SIZE_MAX / 4);
    DL_APPEND(gathers_of(gather->session)->first, gather);
    if (!fill(gather, request, sources, count)) {
        skill_gather_destroy(gather);
        return NULL;
    }
    return gather;
}

void hub_skills_list(const hub_request *request)
{
    hub_str cursor = request->message->at[HUB_M_CURSOR];
    if (hub_parking_list(request)) {
        return;
    }
    if (!skills_are_served(request)) {
        skills_refuse_method(request);
        return;
    }
    if (cursor.len > 0 && hub_json_type_of(cursor) != HUB_JSON_NULL) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                          HUB_STR("Invalid cursor: skills are listed on one page"), HUB_STR_EMPTY);
        return;
    }
    hub_call *call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    if (request->context.era == HUB_ERA_MODERN) {
        hub_call_set_reading(call); /* it may be kept, by what ttlMs says */
    }
    skill_gather *gather = create(request, call);
    if (gather == NULL) {
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return;
    }
    call_skills *part = hub_call_part_of(call, &HUB_SKILLS_STATION);
    part->gather = gather;
    ev_feed_event(gather->loop, &gather->soon, EV_CUSTOM); /* not from inside the request */
}
