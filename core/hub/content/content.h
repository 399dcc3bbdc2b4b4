/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for what toolsets offer besides tools: reading a resource, getting a prompt, completing
 * an argument of either. Each finds its toolset in the caller's views and goes to it like a tool
 * call does. Thread: [loop].
 * spec: MCP 2026-07-28 server/resources, server/prompts, server/utilities/completion
 */
#ifndef HUB_HUB_CONTENT_CONTENT_H
#define HUB_HUB_CONTENT_CONTENT_H

#include "hub/kernel/respond.h"
#include "tools/catalog.h"

/* Answer resources/read, prompts/get, completion/complete. */
void hub_content_read(const hub_request *request);
void hub_content_get_prompt(const hub_request *request);
void hub_content_complete(const hub_request *request);

/* Decode params.uri into `decoded`, which is initialised. False when it was answered that it is no
 * usable URI. */
bool hub_content_read_uri(const hub_request *request, hub_str raw, hub_buf *decoded);

/* Answer that there is no such resource, in the words of the client's revision; or, if a catalog
 * that may have it is not known yet, park the request. */
void hub_content_miss_resource(const hub_request *request, hub_str uri);

/* Whether a name is nobody's because several tools, or prompts, want it. Then the request has been
 * answered, with the names of those that the caller may see. */
bool hub_content_refuse_ambiguous(const hub_request *request, hub_kind kind, hub_str name);

#endif
