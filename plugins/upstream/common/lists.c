/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalog of the server. All its lists are read at once when the connection begins, page by
 * page, and the one that changed when the server says so: one reading at a time, and one more if it
 * changed again meanwhile. A list that cannot be read leaves the last good one in place; a server
 * that has tools, but cannot tell which, has failed.
 * spec: MCP 2026-07-28 server/utilities/pagination, server/tools (Capabilities), server/resources,
 * server/prompts
 */
#include "upstream.h"

static const struct {
    const char *id;
    const char *method;
    const char *member;     /* of the result */
    const char *capability; /* of the server */
    const char *name;       /* for people */
} LISTS[UPSTREAM_LISTS] = {
    [PATCHBAY_TOOLS] = {"tools", "tools/list", "tools", "tools", "tools"},
    [PATCHBAY_RESOURCES] = {"resources", "resources/list", "resources", "resources", "resources"},
    [PATCHBAY_RESOURCE_TEMPLATES] = {"templates", "resources/templates/list", "resourceTemplates",
                                     "resources", "resource templates"},
    [PATCHBAY_PROMPTS] = {"prompts", "prompts/list", "prompts", "prompts", "prompts"},
};

static void complain(mcp_server *server, uint32_t kind, const char *what)
{
    char text[UPSTREAM_REASON_BYTES];
    (void)snprintf(text, sizeof text, "the server's list of %s %s", LISTS[kind].name, what);
    upstream_log(server, PATCHBAY_LOG_WARNING, text);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Ask for the page at `cursor` (raw JSON string, or empty for the first). */
static void request_page(mcp_server *server, uint32_t kind, patchbay_str cursor)
{
    patchbay_out params = {0};
    patchbay_out_text(&params, "{");
    if (cursor.len > 0) {
        patchbay_out_key(&params, "cursor");
        patchbay_out_raw(&params, cursor);
    }
    upstream_add_meta(server, &params);
    patchbay_out_text(&params, "}");
    if (params.failed) {
        upstream_fail(server, "cannot be asked: out of memory");
    } else {
        uint32_t number = upstream_request(server, LISTS[kind].id, LISTS[kind].method,
                                           patchbay_str_make(params.ptr, params.len));
        if (number != 0) {
            server->lists[kind].request = number;
        }
    }
    patchbay_out_free(&params);
}

static int is_being_read(const upstream_list *list)
{
    return list->request != 0 || list->is_handed;
}

static void forget_reading(upstream_list *list)
{
    patchbay_out_free(&list->items);
    patchbay_out_free(&list->page);
    free(list->cursor);
    list->cursor = NULL;
    list->request = 0;
    list->is_handed = 0;
    list->pages = 0;
    list->has_elements = 0;
    list->has_names = 0;
}

void upstream_list_read(mcp_server *server, uint32_t kind)
{
    upstream_list *list = &server->lists[kind];
    if (is_being_read(list)) {
        list->read_again = 1;
        return;
    }
    list->read_again = 0;
    patchbay_out_text(&list->items, "[");
    if (kind == PATCHBAY_TOOLS && server->channel->begin_tools != NULL) {
        server->channel->begin_tools(server);
    }
    if (server->phase == PHASE_READY) {
        upstream_start_timer(server, server->loop->now_ms(server->host) + server->pace.startup_ms);
    }
    request_page(server, kind, patchbay_str_make(NULL, 0));
}

void upstream_list_read_all(mcp_server *server)
{
    uint32_t connection = server->connection;
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS && server->connection == connection; kind++) {
        if (server->lists[kind].is_offered) {
            upstream_list_read(server, kind);
        }
    }
}

static int is_reading(const mcp_server *server)
{
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        if (is_being_read(&server->lists[kind])) {
            return 1;
        }
    }
    return 0;
}

int upstream_lists_reread(mcp_server *server)
{
    uint32_t connection = server->connection;
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS && server->connection == connection; kind++) {
        const upstream_list *list = &server->lists[kind];
        if (list->is_offered && (!list->is_told || list->is_old)) {
            upstream_list_read(server, kind);
        }
    }
    return server->connection == connection && is_reading(server);
}

static void note_set(upstream_list *list)
{
    list->is_set = 1;
    list->is_old = 0;
}

static void set_nothing(mcp_server *server, uint32_t kind)
{
    if (server->catalog->set(server->host, kind, patchbay_str_of("[]")) == PATCHBAY_OK) {
        note_set(&server->lists[kind]);
    } else {
        complain(server, kind, "cannot be emptied");
    }
}

void upstream_lists_refresh(mcp_server *server)
{
    uint64_t now = server->loop->now_ms(server->host);
    uint64_t wait = UINT64_MAX;
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS && server->phase != PHASE_IDLE; kind++) {
        upstream_list *list = &server->lists[kind];
        if (!list->read_again || is_being_read(list)) {
            continue;
        }
        if (now >= list->due_ms && server->phase == PHASE_READY) {
            list->due_ms = now + UPSTREAM_AGAIN_MS;
            upstream_list_read(server, kind);
            continue;
        }
        uint64_t left = list->due_ms > now ? list->due_ms - now : UPSTREAM_AGAIN_MS; /* not ready */
        wait = left < wait ? left : wait;
    }
    if (wait != UINT64_MAX && server->phase != PHASE_IDLE) {
        server->loop->timer_start(server->again, wait);
    }
}

void upstream_list_changed(mcp_server *server, uint32_t kind)
{
    server->lists[kind].read_again = 1;
    upstream_lists_refresh(server);
}

/* A list has been read, or will not be. What changed meanwhile is read again, but only once the
 * server is ready, and not at once: one whose lists never stop changing would do nothing else. */
static void end_reading(mcp_server *server, uint32_t kind)
{
    upstream_list *list = &server->lists[kind];
    forget_reading(list);
    if (list->read_again) {
        list->due_ms = server->loop->now_ms(server->host) + UPSTREAM_AGAIN_MS;
        upstream_lists_refresh(server);
    }
    if (server->phase == PHASE_LISTING && !is_reading(server)) {
        upstream_become_ready(server);
    } else if (server->phase == PHASE_READY && !is_reading(server)) {
        upstream_calls_ready(server); /* the hub may have asked for the reading */
    }
}

/* The list cannot be had. The last good one stays. If there never was one there is none, unless the
 * server said that it has tools: it is of no use without them, and tried again later. What was only
 * guessed at is not there at all; but the hub waits for a list of tools, and is given one. */
static void give_up(mcp_server *server, uint32_t kind, const char *why, upstream_cause cause)
{
    upstream_list *list = &server->lists[kind];
    int is_tools = kind == PATCHBAY_TOOLS;
    if (is_tools && !list->is_set && (!list->is_guess || list->is_blind)) {
        char text[UPSTREAM_REASON_BYTES];
        (void)snprintf(text, sizeof text, "does not tell its tools: the list %s", why);
        upstream_fail_as(server, text, cause);
        return;
    }
    if (!list->is_guess) {
        complain(server, kind, why);
    }
    if (!list->is_set && (list->is_guess != 0) == is_tools) {
        set_nothing(server, kind);
    }
    list->is_old = list->is_set;
    end_reading(server, kind);
}

static void give_up_for(mcp_server *server, uint32_t kind, patchbay_str error)
{
    enum { CODE_NO_METHOD = -32601 };
    char text[UPSTREAM_REASON_BYTES];
    char words[UPSTREAM_QUOTE_BYTES];
    int64_t code = 0;
    (void)patchbay_json_int(patchbay_json_get(error, "code"), &code);
    server->lists[kind].is_blind = server->lists[kind].is_blind && code != CODE_NO_METHOD;
    upstream_quote_error(error, words, sizeof words);
    (void)snprintf(text, sizeof text, "cannot be had: %s", words);
    give_up(server, kind, text, CAUSE_FAILURE);
}

/* Whether one of the elements has a name: as a rule the first one. */
static int has_names(patchbay_str page)
{
    patchbay_json_iter it = patchbay_json_iterate(page);
    patchbay_str key;
    patchbay_str item;
    while (patchbay_json_next(&it, &key, &item)) {
        patchbay_str name = patchbay_json_get(item, "name");
        if (name.len > 0 && name.ptr[0] == '"') {
            return 1;
        }
    }
    return 0;
}

static void add_items(upstream_list *list, patchbay_str items)
{
    patchbay_out_text(&list->items, list->items.len > 1 ? "," : "");
    patchbay_out_raw(&list->items, items);
}

/* Append the elements of a page, as they are; the channel may have no use for some. */
static void add_page(mcp_server *server, uint32_t kind, patchbay_str page)
{
    upstream_list *list = &server->lists[kind];
    int (*take_tool)(mcp_server *, patchbay_str) =
        kind == PATCHBAY_TOOLS ? server->channel->take_tool : NULL;
    patchbay_json_iter it = patchbay_json_iterate(page);
    patchbay_str key;
    patchbay_str item;
    if (!patchbay_json_next(&it, &key, &item)) {
        return; /* it is empty */
    }
    list->has_elements = 1;
    list->has_names = list->has_names || has_names(page);
    if (take_tool == NULL) {
        add_items(list, patchbay_str_make(page.ptr + 1, page.len - 2)); /* without its brackets */
        return;
    }
    do {
        if (take_tool(server, item)) {
            add_items(list, item);
        }
    } while (patchbay_json_next(&it, &key, &item));
}

/* Whether the list goes on at `cursor`. A server that pages for ever is cut off with what it gave.
 */
static int goes_on(mcp_server *server, uint32_t kind, patchbay_str cursor)
{
    upstream_list *list = &server->lists[kind];
    if (cursor.len < 2 || cursor.ptr[0] != '"') {
        return 0;
    }
    int repeats = list->cursor != NULL && patchbay_str_eq(cursor, patchbay_str_of(list->cursor));
    if (repeats || ++list->pages >= UPSTREAM_PAGES || list->items.len > UPSTREAM_CATALOG_BYTES) {
        complain(server, kind, "does not end; it was cut off");
        return 0;
    }
    free(list->cursor);
    list->cursor = malloc(cursor.len + 1);
    if (list->cursor == NULL) {
        return 0;
    }
    memcpy(list->cursor, cursor.ptr, cursor.len);
    list->cursor[cursor.len] = '\0';
    return 1;
}

/* Whether the error says that behind the server is this hub itself, which reads on from here. */
static int is_loop(patchbay_str error)
{
    return patchbay_json_is(patchbay_json_get(patchbay_json_get(error, "data"), "code"),
                            patchbay_str_of("E_HUB_LOOP"));
}

/* What came round the circle is this hub's own: it is dropped, not kept. */
static void end_loop(mcp_server *server)
{
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        if (server->lists[kind].is_set) {
            set_nothing(server, kind);
        }
    }
    upstream_fail(server,
                  "leads back to this hub (a loop of hubs): one has to let go of the other");
}

/* What has become of a list that the hub was given, or has read more of. */
static void note_handed(mcp_server *server, uint32_t kind, int32_t status)
{
    upstream_list *list = &server->lists[kind];
    list->is_handed = status == PATCHBAY_EAGAIN;
    if (list->is_handed) {
        server->loop->timer_start(server->hand, 0);
    } else if (status != PATCHBAY_OK) {
        give_up(server, kind, "is too long, or otherwise more than this hub takes", CAUSE_CATALOG);
    } else {
        note_set(list);
        end_reading(server, kind);
    }
}

/* Give all pages to the hub. One that cannot read them in turns reads them at once. */
static void give_pages(mcp_server *server, uint32_t kind)
{
    upstream_list *list = &server->lists[kind];
    patchbay_str json = patchbay_str_make(list->items.ptr, list->items.len);
    int has_turns = PATCHBAY_HAS(patchbay_catalog_v1, server->catalog, set_in_turns);
    int32_t status = has_turns ? server->catalog->set_in_turns(server->host, kind, &json)
                               : server->catalog->set(server->host, kind, json);
    patchbay_out_free(&list->items); /* the hub has its own copy */
    note_handed(server, kind, status);
}

/* All pages are there. To find and copy the last one has taken its turn, if they are long. */
static void hand_over(mcp_server *server, uint32_t kind)
{
    upstream_list *list = &server->lists[kind];
    list->request = 0;
    if (list->items.len > UPSTREAM_LONG_BYTES) {
        note_handed(server, kind, PATCHBAY_EAGAIN);
    } else {
        give_pages(server, kind);
    }
}

/* The page, and where the list goes on, in one pass: a page may have megabytes. */
static patchbay_str find_page(patchbay_str result, const char *member, patchbay_str *ret_cursor)
{
    patchbay_json_iter it = patchbay_json_iterate(result);
    patchbay_str page = patchbay_str_make(NULL, 0);
    patchbay_str key;
    patchbay_str value;
    *ret_cursor = page;
    while (patchbay_json_next(&it, &key, &value)) {
        if (page.len == 0 && patchbay_json_is(key, patchbay_str_of(member))) {
            page = value;
        } else if (ret_cursor->len == 0 && patchbay_json_is(key, patchbay_str_of("nextCursor"))) {
            *ret_cursor = value;
        }
    }
    return page;
}

static void take_page(mcp_server *server, uint32_t kind, patchbay_str result)
{
    upstream_list *list = &server->lists[kind];
    patchbay_str cursor;
    patchbay_str page = find_page(result, LISTS[kind].member, &cursor);
    if (page.len == 0 || page.ptr[0] != '[') {
        give_up(server, kind, "is not an array", CAUSE_CATALOG);
        return;
    }
    add_page(server, kind, page);
    if (goes_on(server, kind, cursor)) {
        request_page(server, kind, cursor);
        return;
    }
    patchbay_out_text(&list->items, "]");
    if (list->items.failed) {
        give_up(server, kind, "was dropped: out of memory", CAUSE_FAILURE);
    } else if (list->has_elements && !list->has_names && kind == PATCHBAY_TOOLS) {
        give_up(server, kind, "has elements, but none with a name", CAUSE_CATALOG);
    } else {
        hand_over(server, kind);
    }
}

/* A page that is long is looked at in the next turn: to scan its message has taken this one. */
static void take_answer(mcp_server *server, uint32_t kind, const patchbay_message *message)
{
    upstream_list *list = &server->lists[kind];
    if (message->kind == PATCHBAY_MSG_ERROR && is_loop(message->error)) {
        end_loop(server);
    } else if (message->kind == PATCHBAY_MSG_ERROR) {
        give_up_for(server, kind, message->error);
    } else if (message->result.len > UPSTREAM_LONG_BYTES) {
        list->request = 0;
        patchbay_out_raw(&list->page, message->result);
        if (list->page.failed) {
            give_up(server, kind, "was dropped: out of memory", CAUSE_FAILURE);
        } else {
            note_handed(server, kind, PATCHBAY_EAGAIN);
        }
    } else {
        take_page(server, kind, message->result);
    }
}

static void take_long_page(mcp_server *server, uint32_t kind)
{
    upstream_list *list = &server->lists[kind];
    patchbay_out page = list->page;
    list->page = (patchbay_out){0};
    list->is_handed = 0;
    take_page(server, kind, patchbay_str_make(page.ptr, page.len));
    patchbay_out_free(&page);
}

void upstream_lists_hand(mcp_server *server)
{
    uint32_t kind = 0;
    while (kind < UPSTREAM_LISTS && !server->lists[kind].is_handed) {
        kind++;
    }
    if (kind == UPSTREAM_LISTS) {
        return;
    }
    server->loop->timer_start(server->hand, 0); /* for what is left then */
    if (server->lists[kind].page.len > 0) {
        take_long_page(server, kind);
    } else if (server->lists[kind].items.len > 0) {
        give_pages(server, kind);
    } else {
        note_handed(server, kind, server->catalog->set_in_turns(server->host, kind, NULL));
    }
}

int upstream_list_take(mcp_server *server, patchbay_str name, uint32_t number,
                       const patchbay_message *message)
{
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        if (patchbay_str_eq(name, patchbay_str_of(LISTS[kind].id))) {
            if (server->lists[kind].request == number) {
                take_answer(server, kind, message);
            }
            return 1; /* or it is late, or repeated */
        }
    }
    return 0;
}

int upstream_list_refused(mcp_server *server, patchbay_str name, uint32_t number, const char *why)
{
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        if (patchbay_str_eq(name, patchbay_str_of(LISTS[kind].id))) {
            if (server->lists[kind].request == number) {
                char text[UPSTREAM_REASON_BYTES];
                server->lists[kind].is_guess = 0; /* the server has such things */
                (void)snprintf(text, sizeof text, "cannot be used: %s", why);
                give_up(server, kind, text, CAUSE_CATALOG);
            }
            return 1;
        }
    }
    return 0;
}

void upstream_lists_give_up(mcp_server *server)
{
    char text[UPSTREAM_REASON_BYTES];
    char time[UPSTREAM_TIME_BYTES];
    upstream_write_time(server->pace.startup_ms, time);
    (void)snprintf(text, sizeof text, "was not there within %s (startup_timeout)%s%s", time,
                   server->refusal[0] != '\0' ? "; a message of the server cannot be used: " : "",
                   server->refusal);
    uint32_t connection = server->connection;
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS && server->connection == connection; kind++) {
        if (server->lists[kind].request != 0) {
            server->lists[kind].read_again = 0;
            give_up(server, kind, text, CAUSE_FAILURE);
        }
    }
}

void upstream_lists_disconnect(mcp_server *server)
{
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        forget_reading(&server->lists[kind]);
        server->lists[kind].read_again = 0;
    }
}

/* ---- beginning ----------------------------------------------------------------------------- */

/* What the server says it has. One that declares none of its lists may be careless: its tools are
 * asked for, all the same. One that said nothing at all may have everything. */
static void read_capabilities(mcp_server *server, patchbay_str capabilities)
{
    int says_nothing = capabilities.len == 0;
    int declared = 0;
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        upstream_list *list = &server->lists[kind];
        patchbay_str capability = patchbay_json_get(capabilities, LISTS[kind].capability);
        list->is_offered = says_nothing || (capability.len > 0 && capability.ptr[0] == '{');
        list->is_told =
            says_nothing || patchbay_json_true(patchbay_json_get(capability, "listChanged"));
        list->is_guess = says_nothing;
        list->is_blind = says_nothing;
        declared = declared || list->is_offered;
    }
    if (!declared && !server->pace.skips_lists) {
        server->lists[PATCHBAY_TOOLS].is_offered = 1;
        server->lists[PATCHBAY_TOOLS].is_guess = 1;
    }
    server->has_levels =
        server->era == ERA_LEGACY && patchbay_json_get(capabilities, "logging").len > 0;
}

void upstream_lists_begin(mcp_server *server, patchbay_str capabilities)
{
    uint32_t connection = server->connection;
    int is_object = capabilities.len > 0 && capabilities.ptr[0] == '{';
    if (server->pace.skips_lists) {
        capabilities = patchbay_str_of("{}"); /* as if it had none */
        is_object = 1;
    }
    read_capabilities(server, is_object ? capabilities : patchbay_str_make(NULL, 0));
    server->phase = PHASE_LISTING;
    upstream_start_timer(server, server->started_ms + server->pace.startup_ms);
    if (server->catalog->set_capabilities(
            server->host, is_object ? capabilities : patchbay_str_of("{}")) != PATCHBAY_OK) {
        upstream_log(server, PATCHBAY_LOG_WARNING, "what the server can do was refused");
    }
    for (uint32_t kind = 0; kind < UPSTREAM_LISTS; kind++) {
        /* The hub waits for a list of tools; others that are gone since last time are emptied. */
        if (!server->lists[kind].is_offered &&
            (server->lists[kind].is_set || kind == PATCHBAY_TOOLS)) {
            set_nothing(server, kind);
        }
    }
    upstream_subscriptions_begin(server); /* before the lists: no change falls in between */
    if (server->connection != connection) {
        return;
    }
    if (server->pace.skips_lists) {
        upstream_become_ready(server);
    } else {
        upstream_list_read_all(server);
    }
}
