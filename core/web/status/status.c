/* SPDX-License-Identifier: Apache-2.0 */
#include "web/status/status.h"

#include "base/buf.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/transport.h"
#include "hub/report/status.h"

static void answer_json(hub_web_exchange *exchange, int status, hub_str body)
{
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              exchange, &(hub_web_answer){.status = status,
                                                          .type = "application/json",
                                                          .parts = &body,
                                                          .count = 1});
}

static void serve_health(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    (void)instance;
    (void)request;
    answer_json(exchange, 200, HUB_STR("{\"status\":\"ok\"}"));
}

/* Whether who asks may know names of toolsets: anybody who could use MCP, or where there are rules, who
 * may read all. */
static bool may_know(const hub_orchestrator *hub, const hub_web_request *request)
{
    return hub_is_gated(hub) ? hub_identity_may_read_all(hub_web_find_identity(request))
                             : hub_web_find_principal(request) != NULL;
}

/* The hub is ready although a toolset is not: to take it out of service would not mend that. */
static void serve_ready(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    const hub_orchestrator *hub = instance;
    bool is_ready = hub_orchestrator_is_ready(hub);
    hub_buf names;
    hub_buf body;
    hub_buf_init(&names, SIZE_MAX / 4);
    hub_buf_init(&body, SIZE_MAX / 4);
    hub_buf_add(&body,
                is_ready ? HUB_STR("{\"status\":\"ready\"") : HUB_STR("{\"status\":\"not ready\""));
    if (hub_status_add_not_ready(hub, &names) && may_know(hub, request)) {
        hub_buf_add(&body, HUB_STR(",\"notReady\":"));
        hub_buf_add(&body, hub_buf_str(&names));
    }
    hub_buf_add_char(&body, '}');
    answer_json(exchange, is_ready ? 200 : 503,
                hub_buf_ok(&body) ? hub_buf_str(&body) : HUB_STR("{\"status\":\"no memory\"}"));
    hub_buf_fini(&body);
    hub_buf_fini(&names);
}

static const hub_web_row ROWS[] = {
    {.method = "GET", .path = "/healthz", .need = HUB_WEB_ANY_HOST, .handle = serve_health},
    {.method = "GET", .path = "/readyz", .need = HUB_WEB_ANY_HOST, .handle = serve_ready},
};

const hub_web_face HUB_WEB_STATUS = {
    .name = "status", .rows = ROWS, .count = sizeof ROWS / sizeof ROWS[0]};
