/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/mcp.h"

#include "wire/json.h"

static const char *const REVISIONS[] = {
    [HUB_REVISION_NONE] = "",
    [HUB_REVISION_2024_11_05] = "2024-11-05",
    [HUB_REVISION_2025_03_26] = "2025-03-26",
    [HUB_REVISION_2025_06_18] = "2025-06-18",
    [HUB_REVISION_2025_11_25] = "2025-11-25",
    [HUB_REVISION_2026_07_28] = "2026-07-28",
};

static const int RPC_CODES[] = {
    [HUB_OK] = HUB_RPC_INTERNAL_ERROR,         [HUB_EINVAL] = HUB_RPC_INVALID_REQUEST,
    [HUB_EPARSE] = HUB_RPC_PARSE_ERROR,        [HUB_ENOMEM] = HUB_RPC_INTERNAL_ERROR,
    [HUB_ELIMIT] = HUB_RPC_INVALID_REQUEST,    [HUB_ENOTFOUND] = HUB_RPC_INVALID_PARAMS,
    [HUB_EEXIST] = HUB_RPC_INVALID_PARAMS,     [HUB_EDENIED] = HUB_RPC_INVALID_PARAMS,
    [HUB_ECOLLISION] = HUB_RPC_INVALID_PARAMS, [HUB_EBUSY] = HUB_RPC_OVERLOADED,
    [HUB_ESTATE] = HUB_RPC_INVALID_REQUEST,    [HUB_ESTALE] = HUB_RPC_INTERNAL_ERROR,
    [HUB_EUNAVAILABLE] = HUB_RPC_UNAVAILABLE,  [HUB_EABI] = HUB_RPC_INTERNAL_ERROR,
    [HUB_ESYSTEM] = HUB_RPC_INTERNAL_ERROR,    [HUB_ECONFLICT] = HUB_RPC_INVALID_REQUEST,
};

static const struct {
    const char *code;
    bool retryable;
} TOOL_ERRORS[] = {
#define TOOL_ERROR(name, retryable, cause, cure) [HUB_TOOL_##name] = {"TOOL_" #name, retryable},
    HUB_TOOL_ERRORS(TOOL_ERROR)
#undef TOOL_ERROR
};

static const char *const LEVELS[] = {"\"debug\"", "\"info\"",     "\"notice\"", "\"warning\"",
                                     "\"error\"", "\"critical\"", "\"alert\"",  "\"emergency\""};

hub_revision hub_revision_parse(hub_str date)
{
    for (int i = HUB_REVISION_2024_11_05; i <= HUB_REVISION_NEWEST; i++) {
        if (hub_str_is(date, REVISIONS[i])) {
            return (hub_revision)i;
        }
    }
    return HUB_REVISION_NONE;
}

const char *hub_revision_date(hub_revision revision)
{
    return REVISIONS[revision];
}

hub_era hub_revision_era(hub_revision revision)
{
    return revision > HUB_REVISION_NEWEST_LEGACY ? HUB_ERA_MODERN : HUB_ERA_LEGACY;
}

int hub_rpc_code(hub_err err)
{
    return RPC_CODES[err];
}

int hub_rpc_no_resource(hub_era era)
{
    return era == HUB_ERA_MODERN ? HUB_RPC_INVALID_PARAMS : HUB_RPC_NO_RESOURCE_LEGACY;
}

const char *hub_tool_error_code(hub_tool_error error)
{
    return TOOL_ERRORS[error].code;
}

bool hub_tool_error_retryable(hub_tool_error error)
{
    return TOOL_ERRORS[error].retryable;
}

int hub_level_read(hub_str raw)
{
    for (int i = HUB_LEVEL_DEBUG; i < HUB_LEVEL_NONE; i++) {
        hub_str level = hub_level_json(i);
        if (hub_json_string_is(raw, (hub_str){.ptr = level.ptr + 1, .len = level.len - 2})) {
            return i;
        }
    }
    return HUB_LEVEL_NONE;
}

hub_str hub_level_json(int level)
{
    return hub_str_of(LEVELS[level]);
}
