/* SPDX-License-Identifier: Apache-2.0 */
#include "web/metrics/metrics.h"

#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/settings.h"
#include "hub/metrics/metrics.h"

static bool is_served(const hub_listen_settings *listen)
{
    return listen->metrics;
}

/* Prometheus asks for all that it reads, with weights; who does not name this one gets the other. */
static bool wants_openmetrics(const hub_web_request *request)
{
    hub_str accept;
    return hub_web_find_header(request, HUB_STR("Accept"), &accept) &&
           hub_str_find(accept, HUB_STR("application/openmetrics-text")) != SIZE_MAX;
}

/* Names of toolsets and tools are labels: where there are rules, not everybody may know them. */
static void refuse(hub_web_exchange *exchange)
{
    const hub_str text =
        HUB_STR("with access rules, metrics are for tokens with the scope " HUB_SCOPE_ADMIN_READ
                ": `patchbay token new NAME --scopes " HUB_SCOPE_ADMIN_READ "` makes one\n");
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              exchange, &(hub_web_answer){.status = 403,
                                                          .type = "text/plain; charset=utf-8",
                                                          .parts = &text,
                                                          .count = 1});
}

static void serve_metrics(void *instance, const hub_web_request *request,
                          hub_web_exchange *exchange)
{
    if (hub_is_gated(instance) && !hub_identity_may_read_all(hub_web_find_identity(request))) {
        refuse(exchange);
        return;
    }
    bool is_openmetrics = wants_openmetrics(request);
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_METRICS_BYTES);
    hub_metrics_expose(instance, is_openmetrics, &out);
    const hub_web_header never = {HUB_STR("Cache-Control"), HUB_STR("no-store")};
    const hub_str text = hub_buf_ok(&out) ? hub_buf_str(&out) : HUB_STR("out of memory\n");
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              exchange,
                              &(hub_web_answer){
                                  .status = hub_buf_ok(&out) ? 200 : 503,
                                  .type = is_openmetrics
                                              ? "application/openmetrics-text; version=1.0.0; "
                                                "charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8",
                                  .headers = &never,
                                  .header_count = 1,
                                  .parts = &text,
                                  .count = 1,
                              });
    hub_buf_fini(&out);
}

static const hub_web_row ROWS[] = {
    {.method = "GET",
     .path = "/metrics",
     .need = HUB_WEB_TOKEN_OR_LOOPBACK,
     .handle = serve_metrics},
};

const hub_web_face HUB_WEB_METRICS = {.name = "metrics",
                                      .rows = ROWS,
                                      .count = sizeof ROWS / sizeof ROWS[0],
                                      .is_served = is_served,
                                      .refuses_neighbours = true};
