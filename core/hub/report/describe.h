/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is and how it is doing, as JSON: for the meta-tools, which clients see, and for the
 * command line. Thread: [loop].
 */
#ifndef HUB_HUB_REPORT_DESCRIBE_H
#define HUB_HUB_REPORT_DESCRIBE_H

#include "base/buf.h"
#include "hub/kernel/types.h"
#include "tools/exposure.h"

/* Append an array with one object per toolset: key, module, description, active, state, reason,
 * toolCount, summary (one line for people), status (hub/report/status.h). `profile` NULL: the
 * default one. `reads_texts`: also what is suspect about definitions, which takes reading them all.
 */
void hub_describe_toolsets(hub_orchestrator *hub, const char *profile, bool reads_texts,
                           hub_buf *out);

/* Append an array with one object per module and per refused file: name, version, path, summary. */
void hub_describe_modules(hub_orchestrator *hub, hub_buf *out);

/* Append the exposed name that a reference means in the profile (NULL: the default one): an exposed
 * name itself, or "toolset__tool" whatever the naming mode (split at the first "__"). False when it
 * means nothing. */
bool hub_describe_resolve(hub_orchestrator *hub, const char *profile, hub_str reference,
                          hub_buf *out);

/* What the toolset is for, as far as anybody has said; may be empty. Borrowed. */
hub_str hub_describe_purpose(const hub_toolset *toolset);

/* What is wrong with a toolset, in a word (off, failed, connecting), or NULL; why it is, as far as that
 * is known, is appended to `why`, one bounded line. */
const char *hub_describe_trouble(const hub_toolset *toolset, bool active, hub_buf *why);

#endif
