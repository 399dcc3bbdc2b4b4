/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/own_request.h"

#include "wire/mcp.h"

#include <inttypes.h>

void hub_own_request_add(hub_buf *out, uint64_t id, const char *method, hub_str members,
                         const char *client)
{
    hub_buf_printf(out,
                   "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64
                   ",\"method\":\"%s\",\"params\":{\"_meta\":{"
                   "\"" HUB_META_PROTOCOL_VERSION "\":\"%s\",\"" HUB_META_CLIENT_INFO
                   "\":{\"name\":\"%s\",\"version\":\"" PATCHBAY_VERSION
                   "\"},\"" HUB_META_CLIENT_CAPABILITIES "\":{}}",
                   id, method, hub_revision_date(HUB_REVISION_NEWEST), client);
    hub_buf_add(out, members.len > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
    hub_buf_add(out, members);
    hub_buf_add(out, HUB_STR("}}"));
}
