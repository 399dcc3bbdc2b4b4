/* SPDX-License-Identifier: Apache-2.0 */
#include "pipes.h"

#include "../common/module.h"

static void free_lines(line_server *lines)
{
    upstream_fini(&lines->server);
    upstream_config_free(&lines->config);
    free(lines);
}

static int32_t create(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr)
{
    line_server *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return PATCHBAY_ENOMEM;
    }
    int32_t result = upstream_config_read(config_json, &made->config, reterr);
    made->streams = api->get_interface(host, PATCHBAY_STREAM_V1);
    made->processes = api->get_interface(host, PATCHBAY_PROCESS_V1);
    if (result == PATCHBAY_OK && (made->streams == NULL || made->processes == NULL)) {
        (void)snprintf(reterr->text, sizeof reterr->text,
                       "the hub lacks an interface that mcp_upstream needs");
        result = PATCHBAY_ENOTFOUND;
    }
    if (result == PATCHBAY_OK) {
        made->server.name = made->config.url != NULL ? made->config.url : made->config.argv[0];
        made->server.is_module = made->config.module != NULL;
        if (made->server.is_module) {
            made->server.name = made->config.module;
        }
        made->server.protocol = made->config.protocol;
        made->server.pace = made->config.pace;
        result = upstream_init(&made->server,
                               made->config.url != NULL ? &upstream_socket : &upstream_pipes, api,
                               host, reterr);
    }
    if (result != PATCHBAY_OK) {
        free_lines(made);
        return result;
    }
    *ret_inst = &made->server;
    return PATCHBAY_OK;
}

static void destroy(void *inst)
{
    free_lines(inst);
}

static const char CONFIG_SCHEMA[] =
#include "config_schema.h"
    ;

UPSTREAM_MODULE("mcp_upstream", "Tools, resources and prompts of another MCP server.",
                CONFIG_SCHEMA);
