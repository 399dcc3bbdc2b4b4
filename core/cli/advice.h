/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `patchbay check` says of a hub whose servers have said what they offer: nothing is wrong with
 * the configuration, but somebody may miss a tool. Thread: [loop].
 */
#ifndef HUB_CLI_ADVICE_H
#define HUB_CLI_ADVICE_H

#include "hub/kernel/types.h"

/* Told once for each thing: one line of bounded length. */
typedef void hub_advice_on_line(void *ctx, const char *line);

/* Names that belong to nobody in some profile, because several tools or prompts want them; and tools
 * whose input schema model APIs refuse. */
void hub_advice_give(const hub_orchestrator *hub, hub_advice_on_line *on_line, void *ctx);

#endif
