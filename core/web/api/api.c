/* SPDX-License-Identifier: Apache-2.0 */
#include "web/api/api.h"

#include "hub/admin/admin.h"
#include "hub/kernel/settings.h"
#include "web/api/later.h"
#include "web/api/route.h"
#include "web/api/sessions.h"

#include <stdlib.h>

struct hub_api {
    hub_orchestrator *hub;
    struct hub_api_pending *pending;
    hub_api_sessions *sessions;
    hub_api_thread *thread; /* for files */
    hub_api_piece piece;    /* empty while nobody reads events */
};

static const hub_administrator ADMINISTRATOR = {.serve = hub_api_serve_message};

hub_err hub_api_create(hub_orchestrator *hub, hub_api **ret_api, hub_error *reterr)
{
    hub_api *api = calloc(1, sizeof *api);
    hub_api_sessions *sessions = hub_api_sessions_create(hub);
    hub_api_thread *thread = hub_api_thread_create(hub);
    if (api == NULL || sessions == NULL || thread == NULL) {
        hub_api_thread_destroy(thread);
        hub_api_sessions_destroy(sessions);
        free(api);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    api->hub = hub;
    hub_buf_init(&api->piece.text, SIZE_MAX / 4);
    api->sessions = sessions;
    api->thread = thread;
    hub_admin_set(hub, &ADMINISTRATOR, api);
    *ret_api = api;
    return HUB_OK;
}

static void end_pending(hub_api *api, bool all)
{
    hub_api_pending *next;
    for (hub_api_pending *at = api->pending; at != NULL; at = next) {
        next = at->next;
        if (all || at->only_looks) {
            at->end(at);
        }
    }
}

void hub_api_stop(hub_api *api)
{
    if (api != NULL) {
        end_pending(api, false);
    }
}

void hub_api_destroy(hub_api *api)
{
    if (api != NULL) {
        end_pending(api, true);
        hub_admin_set(api->hub, NULL, NULL);
        hub_api_thread_destroy(api->thread);
        hub_api_sessions_destroy(api->sessions);
        free(api);
    }
}

hub_orchestrator *hub_api_hub(const hub_api *api)
{
    return api->hub;
}

hub_api_sessions *hub_api_sessions_of(hub_api *api)
{
    return api->sessions;
}

hub_api_thread *hub_api_thread_of(hub_api *api)
{
    return api->thread;
}

void hub_api_end_looks(hub_api *api, const hub_identity *identity)
{
    hub_api_pending *next;
    for (hub_api_pending *at = api->pending; at != NULL; at = next) {
        next = at->next;
        if (at->only_looks && at->identity == identity) {
            at->end(at);
        }
    }
}

hub_api_pending **hub_api_pending_of(hub_api *api)
{
    return &api->pending;
}

hub_api_piece *hub_api_piece_of(hub_api *api)
{
    return &api->piece;
}

/* ---- over HTTP ------------------------------------------------------------------------------- */

static bool is_served(const hub_listen_settings *listen)
{
    return listen->api || listen->ui;
}

static hub_identity *judge(void *instance, hub_str token)
{
    const hub_api *api = instance;
    return hub_api_sessions_judge(api->sessions, token);
}

static void serve(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    hub_api_serve(instance, request, exchange, false, NULL);
}

enum { MOST_BODY = 4 * 1024 * 1024 }; /* the arguments of a call */

#define ROW(verb, most)                                                                            \
    {                                                                                              \
        .method = (verb), .path = HUB_API_PREFIX "/*", .need = HUB_WEB_CALLER,                     \
        .max_body_bytes = (most), .handle = serve                                                  \
    }

static const hub_web_row ROWS[] = {
    ROW("GET", 0),
    ROW("POST", MOST_BODY),
    ROW("PUT", MOST_BODY),
    ROW("DELETE", 0),
};

const hub_web_face HUB_WEB_API = {.name = "api",
                                  .rows = ROWS,
                                  .count = sizeof ROWS / sizeof ROWS[0],
                                  .is_served = is_served,
                                  .refuses_neighbours = true,
                                  .secret_prefix = HUB_API_SECRET_PREFIX,
                                  .judge = judge};
