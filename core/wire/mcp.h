/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of the Model Context Protocol that are not code: revisions, error codes, reserved keys.
 * spec: MCP 2026-07-28 basic/index (Error Codes, _meta), basic/versioning
 */
#ifndef HUB_WIRE_MCP_H
#define HUB_WIRE_MCP_H

#include "base/err.h"

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

/* JSON-RPC and MCP error codes that go over the wire. */
enum {
    HUB_RPC_PARSE_ERROR = -32700,
    HUB_RPC_INVALID_REQUEST = -32600,
    HUB_RPC_METHOD_NOT_FOUND = -32601,
    HUB_RPC_INVALID_PARAMS = -32602,
    HUB_RPC_INTERNAL_ERROR = -32603,
    HUB_RPC_HEADER_MISMATCH = -32020,
    HUB_RPC_NO_RESOURCE_LEGACY = -32002, /* HUB_RPC_INVALID_PARAMS for modern clients */
    HUB_RPC_URL_ELICITATION = -32042,    /* of 2025-11-25 alone */
    HUB_RPC_MISSING_CAPABILITY = -32021,
    HUB_RPC_UNSUPPORTED_VERSION = -32022,
    /* The hub's own, outside of the range that JSON-RPC reserves (basic/index, Error Codes). */
    HUB_RPC_OVERLOADED = -31001,  /* a limit is reached: try again later */
    HUB_RPC_UNAVAILABLE = -31002, /* the toolset behind the request cannot be reached */
    HUB_RPC_TIMED_OUT = -31003,   /* nobody answered in time */
    HUB_RPC_SHUTTING_DOWN = -31004,
    HUB_RPC_NOT_CONFIRMED = -31006,      /* its user did not say yes */
    HUB_RPC_INSUFFICIENT_SCOPE = -31005, /* another credential is needed: data.scope says which */
};

/* The wire code of an internal error. */
int hub_rpc_code(hub_err err);

/* The wire code for a resource that does not exist.
 * spec: MCP 2026-07-28 server/resources, Error Handling; 2025-11-25 likewise */
int hub_rpc_no_resource(hub_era era);

/* The error codes that a tool result of the hub carries (REQUIREMENTS S4.10). */
typedef enum hub_tool_error {
    HUB_TOOL_NOT_IMPLEMENTED,
    HUB_TOOL_INVALID_INPUT,
    HUB_TOOL_UNAVAILABLE,
    HUB_TOOL_EXECUTION_FAILED,
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

#endif
