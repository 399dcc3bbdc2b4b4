/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of the Model Context Protocol that are not code: revisions, error codes, reserved keys.
 * spec: MCP 2026-07-28 basic/index (Error Codes, _meta), basic/versioning
 */
#ifndef HUB_WIRE_MCP_H
#define HUB_WIRE_MCP_H

#include "base/err.h"
#include "wire/errors.h"

/* Legacy revisions open with an `initialize` handshake; modern ones carry version and capabilities
 * in every request (basic/versioning, Terminology). */
typedef enum hub_era {
    HUB_ERA_LEGACY,
    HUB_ERA_MODERN,
} hub_era;

/* Revisions in order of age; the newest of each era are named. */
typedef enum hub_revision {
    HUB_REVISION_NONE,
    HUB_REVISION_2024_11_05,
    HUB_REVISION_2025_03_26, /* JSON-RPC batches */
    HUB_REVISION_2025_06_18, /* structured content; no batches */
    HUB_REVISION_2025_11_25,
    HUB_REVISION_2026_07_28, /* modern */
} hub_revision;

#define HUB_REVISION_NEWEST_LEGACY HUB_REVISION_2025_11_25
#define HUB_REVISION_NEWEST        HUB_REVISION_2026_07_28
#define HUB_REVISIONS              (HUB_REVISION_NEWEST + 1) /* of an array with one for each */

/* The revision called `date`, or HUB_REVISION_NONE. */
hub_revision hub_revision_parse(hub_str date);
const char *hub_revision_date(hub_revision revision);
hub_era hub_revision_era(hub_revision revision);

/* JSON-RPC and MCP error codes that go over the wire: HUB_RPC_PARSE_ERROR and so on. */
enum {
#define HUB_RPC_ERROR(name, code, cause, cure) HUB_RPC_##name = (code),
    HUB_RPC_ERRORS(HUB_RPC_ERROR)
#undef HUB_RPC_ERROR
};

/* The wire code of an internal error. */
int hub_rpc_code(hub_err err);

/* The wire code for a resource that does not exist.
 * spec: MCP 2026-07-28 server/resources, Error Handling; 2025-11-25 likewise */
int hub_rpc_no_resource(hub_era era);

/* The error codes that a tool result of the hub carries (REQUIREMENTS S4.10). */
typedef enum hub_tool_error {
#define HUB_TOOL_ERROR(name, retryable, cause, cure) HUB_TOOL_##name,
    HUB_TOOL_ERRORS(HUB_TOOL_ERROR)
#undef HUB_TOOL_ERROR
} hub_tool_error;

const char *hub_tool_error_code(hub_tool_error error);
bool hub_tool_error_retryable(hub_tool_error error);

/* Severities of log messages, the most talkative first. NONE is above all of them.
 * spec: MCP 2026-07-28 server/utilities/logging (Log Levels) */
enum { HUB_LEVEL_DEBUG, HUB_LEVEL_INFO, HUB_LEVEL_NONE = 8 };

/* The level that a raw string names; HUB_LEVEL_NONE when it is none. */
int hub_level_read(hub_str raw);

/* The level's name as a raw string. */
hub_str hub_level_json(int level);

#define HUB_META_PREFIX              "io.modelcontextprotocol/"
#define HUB_META_PROTOCOL_VERSION    HUB_META_PREFIX "protocolVersion"
#define HUB_META_CLIENT_INFO         HUB_META_PREFIX "clientInfo"
#define HUB_META_CLIENT_CAPABILITIES HUB_META_PREFIX "clientCapabilities"
#define HUB_META_LOG_LEVEL           HUB_META_PREFIX "logLevel"
#define HUB_META_SUBSCRIPTION_ID     HUB_META_PREFIX "subscriptionId"
#define HUB_META_SERVER_INFO         HUB_META_PREFIX "serverInfo"
#define HUB_META_RELATED_TASK        HUB_META_PREFIX "related-task"

/* The extension that 2026-07-28 has for tasks; 2025-11-25 has them in its core. */
#define HUB_EXTENSION_TASKS HUB_META_PREFIX "tasks"

/* Skills have methods of their own: whoever declares it has them. */
#define HUB_EXTENSION_SKILLS HUB_META_PREFIX "skills"

/* MCP Apps: views that servers bring, which clients with this extension show. */
#define HUB_EXTENSION_APPS HUB_META_PREFIX "ui"

#endif
