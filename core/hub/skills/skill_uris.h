/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The URIs in what a server says of its skills, with the toolset in them. Every other byte stays.
 * Pure functions, any thread.
 * spec: MCP extension Skills (SEP-2640), Skill Entries, Reading Directories
 */
#ifndef HUB_HUB_SKILLS_SKILL_URIS_H
#define HUB_HUB_SKILLS_SKILL_URIS_H

#include "base/buf.h"
#include "base/err.h"

/* Append `text` (checked JSON) with the URIs of `object`, a slice of it, mapped: its own `uri`, if it has
 * one, and the `uri` of each of its `resources`.
 * errors:  HUB_ENOMEM, and what the buffer says */
HUB_MUST_CHECK hub_err hub_skill_uris_add(hub_str toolset, hub_str text, hub_str object,
                                          hub_buf *out);

#endif
