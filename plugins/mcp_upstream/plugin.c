/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

static void free_upstream(mcp_server *server)
{
    upstream_free_calls(server);
    upstream_subscriptions_free(server);
    upstream_lists_disconnect(server);
    upstream_config_free(&server->config);
    free(server);
}

static int find_interfaces(mcp_server *server)
{
    const patchbay_host_api *api = server->api;
    server->loop = api->get_interface(server->host, PATCHBAY_LOOP_V1);
    server->streams = api->get_interface(server->host, PATCHBAY_STREAM_V1);
    server->processes = api->get_interface(server->host, PATCHBAY_PROCESS_V1);
    server->wire = api->get_interface(server->host, PATCHBAY_WIRE_V1);
    server->catalog = api->get_interface(server->host, PATCHBAY_CATALOG_V1);
    server->client = api->get_interface(server->host, PATCHBAY_CLIENT_V1);
    return server->loop != NULL && server->streams != NULL && server->processes != NULL &&
           server->wire != NULL && server->catalog != NULL && server->client != NULL;
}

static void on_timer(void *ctx)
{
    upstream_handshake_timeout(ctx);
}

static int32_t create(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr)
{
    mcp_server *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return PATCHBAY_ENOMEM;
    }
    made->api = api;
    made->host = host;
    int32_t result = upstream_config_read(config_json, &made->config, reterr);
    if (result == PATCHBAY_OK && !find_interfaces(made)) {
        (void)snprintf(reterr->text, sizeof reterr->text,
                       "the hub lacks an interface that mcp_upstream needs");
        result = PATCHBAY_ENOTFOUND;
    }
    if (result == PATCHBAY_OK) {
        made->timer = made->loop->timer(host, on_timer, made);
        result = made->timer != NULL ? PATCHBAY_OK : PATCHBAY_ENOMEM;
    }
    if (result != PATCHBAY_OK) {
        free_upstream(made);
        return result;
    }
    made->catalog->defer(host);
    *ret_inst = made;
    return PATCHBAY_OK;
}

static void call(void *inst, patchbay_call id, const patchbay_request *request)
{
    upstream_call(inst, id, request);
}

static void cancel(void *inst, patchbay_call id)
{
    upstream_cancel(inst, id);
}

static void destroy(void *inst)
{
    mcp_server *server = inst;
    upstream_disconnect(server, "the toolset was disabled", 0);
    server->loop->timer_free(server->timer);
    free_upstream(server);
}

PATCHBAY_EXPORT const patchbay_plugin patchbay_plugin_v1 = {
    .magic = PATCHBAY_MAGIC,
    .struct_size = sizeof(patchbay_plugin),
    .abi = PATCHBAY_ABI,
    .abi_min = PATCHBAY_ABI,
    .name = "mcp_upstream",
    .version = "1.0.0",
    .description = "What another MCP server offers: tools, resources, prompts.",
    .config_schema_json =
#include "config_schema.h"
        ,
    .flags = PATCHBAY_PLUGIN_PROXY,
    .create = create,
    .call = call,
    .cancel = cancel,
    .destroy = destroy,
};
