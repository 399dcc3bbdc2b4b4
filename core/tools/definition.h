/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which revisions of the protocol a definition may be listed: the definition of a tool, a
 * resource, a resource template or a prompt, byte for byte as its server wrote it. One definition
 * that breaks the schema costs a client the whole list, so a list holds only what is valid in the
 * revision that the client speaks. Nothing is repaired here. Pure functions, any thread; memory is
 * allocated for a reason alone.
 */
#ifndef HUB_TOOLS_DEFINITION_H
#define HUB_TOOLS_DEFINITION_H

#include "tools/catalog.h"
#include "wire/mcp.h"

/* Masks of revisions: one bit each. */
#define HUB_REVISION_BIT(revision) ((uint8_t)(1u << (revision)))
#define HUB_REVISIONS_EVERY        ((uint8_t)(HUB_REVISION_BIT(HUB_REVISION_NEWEST + 1) - 2u))
#define HUB_REVISIONS_LEGACY       ((uint8_t)(HUB_REVISION_BIT(HUB_REVISION_NEWEST_LEGACY + 1) - 2u))

typedef struct hub_definition {
    /* Revisions whose schema accepts a list with this definition, and whose official SDKs keep that
     * list. */
    uint8_t valid;
    /* Revisions in which that holds when outputSchema is left out; all of `valid` among them. Zero
     * when `valid` is: only what is right in some revision is translated for the others. */
    uint8_t valid_without_output;
    /* What to leave out then: the member outputSchema with one comma, a slice of the definition
     * whose other bytes are a JSON object. Empty when there is no such member. */
    hub_str output_member;
} hub_definition;

/* Judge a definition that hub_json_check accepted. The time is linear in its bytes: the tables that
 * it is held against are four objects deep, and each byte is read once per object around it, and once
 * for what parsers refuse. A member of the tables occurs once: some clients refuse a list where one is there
 * twice, and others read either.
 * When `valid` is 0, `ret_why` (may be NULL) says which member of the definition is wrong and what
 * was wanted: `inputSchema.type must be "object", found "string"`. */
hub_definition hub_definition_check(hub_kind kind, hub_str json, hub_error *ret_why);

#endif
