/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the environment says of OpenTelemetry, for a hub that serves. Thread: [loop].
 */
#ifndef HUB_CLI_TELEMETRY_H
#define HUB_CLI_TELEMETRY_H

#include "hub/kernel/types.h"

/* Send to a collector what the variables name; nothing, where none of them names one. What is wrong with
 * them is in the log, and keeps no hub from serving. */
void cli_telemetry_begin(hub_orchestrator *hub);

#endif
