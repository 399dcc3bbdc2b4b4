/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skills: directories of instructions that servers serve as resources (the extension
 * io.modelcontextprotocol/skills). `skills/list` is gathered from all toolsets that the client sees and
 * whose servers have the extension; `skills/get` and `resources/directory/read` go to the one that a URI
 * leads to, and so does `resources/read` of a file that no list names.
 *
 * A skill's URI is that of its server alone: two servers may have the same. So the hub's entries have
 * the toolset in each URI, always (tools/mapped_uri.h): what a user has approved keeps its URI whatever
 * other servers come. A URI as the server itself writes it, as in its instructions, leads to the toolset
 * that lists it, or to the only one with skills; the answer then has the server's own URIs.
 *
 * Files, digests and front matter are the server's bytes. What a client is shown goes by the exposure and
 * by the rules of access, for each skill by the URI of its SKILL.md. Thread: [loop].
 * spec: MCP extension Skills (SEP-2640), Listing Skills, Getting a Skill, Reading Directories
 */
#ifndef HUB_HUB_SKILLS_SKILLS_H
#define HUB_HUB_SKILLS_SKILLS_H

#include "hub/kernel/respond.h"
#include "hub/kernel/station.h"

extern const hub_station HUB_SKILLS_STATION;

/* Answer skills/list, skills/get, resources/directory/read. */
void hub_skills_list(const hub_request *request);
void hub_skills_get(const hub_request *request);
void hub_skills_read_directory(const hub_request *request);

/* Answer resources/read of a file of a skill that no list of resources names. False: it is none, and
 * nothing has happened. */
bool hub_skills_read(const hub_request *request);

#endif
