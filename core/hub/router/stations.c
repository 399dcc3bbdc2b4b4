/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/stations.h"

#include "hub/access/access.h"
#include "hub/active/manager.h"
#include "hub/admin/admin.h"
#include "hub/arguments/arguments.h"
#include "hub/ask/ask.h"
#include "hub/audit/audit.h"
#include "hub/catalogs/discovery.h"
#include "hub/confirm/confirm.h"
#include "hub/fanout/fanout.h"
#include "hub/forward/forward.h"
#include "hub/instances/principal_instance.h"
#include "hub/instances/session_instance.h"
#include "hub/limits/queue.h"
#include "hub/limits/rates.h"
#include "hub/limits/servers.h"
#include "hub/limits/shared_rates.h"
#include "hub/limits/tool_rates.h"
#ifdef PATCHBAY_HTTP
#include "hub/login/logins.h"
#include "hub/login/work.h"
#endif
#include "hub/metrics/metrics.h"
#include "hub/middleware/middleware.h"
#include "hub/notices/logging.h"
#include "hub/notices/notifier.h"
#include "hub/kernel/progress.h"
#include "hub/output/output.h"
#include "hub/overrides/overrides.h"
#include "hub/pins/pins.h"
#include "hub/promises/promises.h"
#include "hub/remember/remember.h"
#include "hub/replicas/manifests.h"
#include "hub/replicas/replicas.h"
#include "hub/report/reload_state.h"
#include "hub/report/status.h"
#include "hub/results/results.h"
#include "hub/saved/saved.h"
#include "hub/search/finder.h"
#include "hub/skills/skills.h"
#include "hub/tasks/tasks.h"
#ifdef PATCHBAY_HTTP
#include "hub/telemetry/telemetry.h"
#endif

/* In the order in which a call passes them on its way to a module; its outcome passes them in the
 * other. */
const hub_station *const HUB_STATIONS[] = {
#ifdef PATCHBAY_HTTP
    &HUB_TELEMETRY_STATION, /* it is recorded for a collector, all of it */
#endif
    &HUB_OVERRIDES_STATION,    /* arguments that are not its sender's to set */
    &HUB_ACCESS_STATION,       /* may its sender do it? */
    &HUB_RATES_STATION,        /* may it be asked for now? */
    &HUB_SHARED_RATES_STATION, /* … with what all hubs have let by? */
    &HUB_FORWARD_STATION,      /* headers that go on to servers */
    &HUB_PROGRESS_STATION,     /* held back, it leaves before the answer */
    &HUB_ADMIN_STATION,        /* it is told to those who look on, … */
    &HUB_AUDIT_STATION,        /* from here on it is noted, … */
    &HUB_AWAY_STATION,         /* … its client may go and come back, … */
    &HUB_STATUS_STATION,       /* … it is counted … */
    &HUB_MIDDLEWARE_STATION,   /* … and logged, and its result timed; */
    &HUB_RESULTS_STATION,      /* one that is too large is cut, or kept, … */
    &HUB_OUTPUT_STATION,       /* … of what its client knows of */
    &HUB_TASKS_STATION,        /* is it, or does it become, a task? */
    &HUB_ARGUMENTS_STATION,    /* do they fit the tool? */
    &HUB_PROMISES_STATION,     /* does its result? */
    &HUB_CONFIRM_STATION,      /* does its user have to say yes? */
    &HUB_CATALOGS_STATION,     /* is the tool still there? */
    &HUB_TOOL_RATES_STATION,   /* may it be called so often? */
    &HUB_SERVERS_STATION,      /* when was the toolset used last? */
    &HUB_PRINCIPALS_STATION,   /* is its instance that of who calls? */
    &HUB_INSTANCES_STATION,    /* has the session an instance of its own? */
    &HUB_QUEUE_STATION,        /* has the toolset a place? */
#ifdef PATCHBAY_HTTP
    &HUB_LOGINS_STATION, /* does somebody have to log in to its server? */
    &HUB_LOGIN_WORKS_STATION,
#endif
    &HUB_ASK_STATION,       /* answers that it brings, questions that it has */
    &HUB_LOGGING_STATION,   /* the level that it wants */
    &HUB_REISSUE_STATION,   /* kept, in case that it has to be made again */
    &HUB_ACTIVE_STATION,    /* what is active in which profile */
    &HUB_REMEMBER_STATION,  /* … and what of it the next start finds */
    &HUB_SAVED_STATION,     /* … and what was equipped, by name */
    &HUB_FANOUT_STATION,    /* which calls a call has made */
    &HUB_SKILLS_STATION,    /* which lists a list is made of, whose URIs an answer has */
    &HUB_FINDER_STATION,    /* which tools there are to be found */
    &HUB_PINS_STATION,      /* what is not as somebody has approved it */
    &HUB_NOTICES_STATION,   /* what clients are told unasked */
    &HUB_RELOAD_STATION,    /* what became of reloads */
    &HUB_REPLICAS_STATION,  /* where the other hubs behind its address bring requests */
    &HUB_MANIFESTS_STATION, /* whether these have the same manifest */
    &HUB_METRICS_STATION,   /* what is counted for others, by what status tells it of calls */
};

const size_t HUB_STATION_COUNT = sizeof HUB_STATIONS / sizeof HUB_STATIONS[0];
