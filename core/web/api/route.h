/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes of the API: what a row of its table says, what a handler gets, and how it answers. A group of
 * routes is a table in a file of its own, named in GROUPS of routes.c; the OpenAPI document and the
 * tests follow from the rows. Thread: [loop].
 */
#ifndef HUB_WEB_API_ROUTE_H
#define HUB_WEB_API_ROUTE_H

#include "base/buf.h"
#include "hub/kernel/types.h"
#include "tools/exposure.h"
#include "web/api/api.h"
#include "wire/json.h"

#define HUB_API_PREFIX "/api/v1"

/* Who may: each may what those before it may. */
typedef enum hub_api_scope {
    HUB_API_CALLER = 1, /* whoever may use MCP: it shows or does what is the caller's own */
    HUB_API_READ,       /* admin:read, or admin */
    HUB_API_ADMIN,      /* admin */
} hub_api_scope;

typedef struct hub_api_asked hub_api_asked;

/* Answer, or wait, as hub_web_handle. */
typedef void hub_api_handle(hub_api_asked *asked);

/* A parameter of the query. */
typedef struct hub_api_param {
    const char *name;   /* NULL ends a list */
    const char *schema; /* JSON Schema of its value */
    const char *about;
} hub_api_param;

typedef struct hub_api_route {
    const char *method; /* NULL ends a table */
    const char *path;   /* beneath HUB_API_PREFIX; "{name}" is one segment, which is decoded */
    hub_api_scope scope;
    const char *summary; /* one sentence */
    const hub_api_param *params;
    const char *body; /* JSON Schema of the body, an object; NULL: none is taken */
    bool streams;     /* events, for who wants them */
    hub_api_handle *handle;
} hub_api_route;

enum { HUB_API_NAMED = 2 }; /* segments of a path that have a name */

struct hub_api_asked {
    hub_api *api;
    hub_orchestrator *hub;
    const hub_api_route *route;
    const hub_web_request *request;
    hub_web_exchange *exchange;
    hub_identity *identity; /* borrowed */
    bool is_operator;
    hub_api_scope right; /* the most that the caller may */
    const char *profile; /* whose tools it sees; NULL: the default one's */
    hub_str named[HUB_API_NAMED];
    hub_buf names; /* holds them */
};

/* ---- the table ------------------------------------------------------------------------------- */

/* All routes, in order: begin with (0, 0). NULL: no more. */
const hub_api_route *hub_api_next_route(size_t *group, size_t *at);

extern const hub_api_route HUB_API_ABOUT_ROUTES[];
extern const hub_api_route HUB_API_STATUS_ROUTES[];
extern const hub_api_route HUB_API_TOOLSET_ROUTES[];
extern const hub_api_route HUB_API_TOOL_ROUTES[];
extern const hub_api_route HUB_API_SAVED_ROUTES[];
extern const hub_api_route HUB_API_EXPLAIN_ROUTES[];
extern const hub_api_route HUB_API_APPROVAL_ROUTES[];
extern const hub_api_route HUB_API_PRINCIPAL_ROUTES[];
extern const hub_api_route HUB_API_TOKEN_ROUTES[];
extern const hub_api_route HUB_API_CONFIGURATION_ROUTES[];
extern const hub_api_route HUB_API_AUDIT_ROUTES[];
extern const hub_api_route HUB_API_CALL_ROUTES[];
extern const hub_api_route HUB_API_EXPORT_ROUTES[];
extern const hub_api_route HUB_API_EVENT_ROUTES[];
extern const hub_api_route HUB_API_SESSION_ROUTES[];
extern const hub_api_route HUB_API_LOGIN_ROUTES[];

/* Find the route of a request and have it answered. */
void hub_api_serve(hub_api *api, const hub_web_request *request, hub_web_exchange *exchange,
                   bool is_operator, const char *profile);

/* The schema of a body that says nothing. */
#define HUB_API_NO_MEMBERS "{\"type\":\"object\",\"additionalProperties\":false}"

/* ---- for handlers ---------------------------------------------------------------------------- */

/* The value of a parameter of the query, decoded into `out`. False: there is none. */
bool hub_api_query(const hub_api_asked *asked, const char *name, hub_buf *out);

/* The same as a number from 0 to `most`. False: it is none, which has been answered. */
bool hub_api_query_number(const hub_api_asked *asked, const char *name, uint64_t otherwise,
                          uint64_t most, uint64_t *ret_number);

/* Answer with JSON, and free what the buffer holds. What failed is answered with 503. */
void hub_api_answer(hub_web_exchange *exchange, int status, hub_buf *json);

/* Answer that it cannot be. `code` is one word for programs, the rest a sentence for people. */
void hub_api_fail(hub_web_exchange *exchange, int status, const char *code, const char *format, ...)
    HUB_PRINTF(4, 5);

/* The same for why the hub could not do it. */
void hub_api_fail_with(hub_web_exchange *exchange, const hub_error *why);

/* The toolset that the path names, or NULL, which has been answered. Of what the caller may not see
 * it says the same as of what is not there. */
hub_toolset *hub_api_find_toolset(const hub_api_asked *asked);

/* The tool that the path names by its id, if the caller may see it; NULL: it is not there. `seen` is the
 * caller's exposure. *ret_exposed is what the caller calls it; empty: it cannot. */
const hub_item *hub_api_find_tool(const hub_api_asked *asked, hub_exposure *seen, hub_str *ret_key,
                                  hub_str *ret_exposed);

/* A session of the caller's, for one look; close it with hub_session_close. NULL: that has been
 * answered. */
hub_session *hub_api_look(const hub_api_asked *asked);

/* Call one of the hub's own, be it that the caller's profile lists it or not; answers with its
 * structured content, and of one that fails with an error of the API. */
void hub_api_call_own(hub_api_asked *asked, const char *name, hub_str arguments);

/* The same for a block by which a model asks for a call (export/block.h): answered with the block that
 * answers it. */
void hub_api_call_block(hub_api_asked *asked, hub_str name, hub_str arguments, bool is_anthropic,
                        hub_str block);

/* ---- for api.c alone ------------------------------------------------------------------------- */

hub_orchestrator *hub_api_hub(const hub_api *api);

/* Those who read events, and calls whose answer is awaited (events.c, call.c). */
struct hub_api_pending;
struct hub_api_pending **hub_api_pending_of(hub_api *api);

/* End the streams of a session that is over. */
void hub_api_end_looks(hub_api *api, const hub_identity *identity);

/* The other door (rpc.c). */
struct hub_request;
void hub_api_serve_message(void *ctx, const struct hub_request *request);

#endif
