/* SPDX-License-Identifier: Apache-2.0 */
/* How the hub is: the same that `patchbay status` shows. */
#include "base/limits.h"
#include "hub/admin/events.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/sight.h"
#include "hub/report/describe.h"
#include "hub/report/status.h"
#include "web/api/route.h"

static void serve_status(hub_api_asked *asked)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    if (asked->right >= HUB_API_READ) {
        hub_status_add_all(asked->hub, &out);
    } else {
        hub_session *session = hub_api_look(asked);
        if (session == NULL) {
            return;
        }
        hub_status_add(hub_session_audience(session), hub_session_exposure(session), &out);
        hub_session_close(session);
    }
    hub_api_answer(asked->exchange, 200, &out);
}

static void serve_modules(hub_api_asked *asked)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&out, HUB_STR("{\"modules\":"));
    hub_describe_modules(asked->hub, &out);
    hub_buf_add_char(&out, '}');
    hub_api_answer(asked->exchange, 200, &out);
}

const hub_api_route HUB_API_STATUS_ROUTES[] = {
    {.method = "GET",
     .path = "/status",
     .scope = HUB_API_CALLER,
     .summary =
         "How the hub is, and each toolset that the caller may know of; with admin:read, all.",
     .handle = serve_status},
    {.method = "GET",
     .path = "/modules",
     .scope = HUB_API_READ,
     .summary = "The plugins that are loaded, and the files that were refused, with the reason.",
     .handle = serve_modules},
    {.method = NULL},
};
