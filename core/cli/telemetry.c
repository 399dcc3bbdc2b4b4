/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/telemetry.h"

#include "base/log.h"
#ifdef PATCHBAY_HTTP
#include "hub/telemetry/telemetry.h"
#endif

#include <stdlib.h>

#ifdef PATCHBAY_HTTP

static const char *get_variable(void *ctx, const char *name)
{
    (void)ctx;
    return getenv(name);
}

static void tell_ignored(void *ctx, const char *name, const char *why)
{
    (void)ctx;
    hub_log(HUB_LOG_WARNING, "telemetry.ignored", HUB_F_TEXT("variable", name),
            HUB_F_TEXT("reason", why));
}

void cli_telemetry_begin(hub_orchestrator *hub)
{
    static const hub_otel_source SOURCE = {.get = get_variable, .on_ignored = tell_ignored};
    hub_error why = {.code = HUB_OK};
    hub_otel_settings settings;
    hub_err err = hub_otel_read(&SOURCE, &settings);
    if (err == HUB_OK && hub_otel_is_on(&settings)) {
        err = hub_telemetry_start(hub, &settings, &why);
    }
    if (err != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "telemetry.off",
                HUB_F_TEXT("reason", why.code != HUB_OK ? why.text : hub_err_text(err)));
    }
    hub_otel_fini(&settings);
}

#else

void cli_telemetry_begin(hub_orchestrator *hub)
{
    (void)hub;
    if (getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != NULL) {
        hub_log(HUB_LOG_WARNING, "telemetry.off",
                HUB_F_TEXT("reason", "this build has no HTTP, and sends nothing to a collector"));
    }
}

#endif
