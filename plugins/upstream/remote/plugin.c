/* SPDX-License-Identifier: Apache-2.0 */
#include "remote.h"

#include "../common/module.h"
#include "url.h"
#include "websocket.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static void free_remote(mcp_remote *remote)
{
    upstream_fini(&remote->server);
    websocket_fini(remote);
    if (remote->http != NULL) {
        http_client_flush(remote->http); /* the end of the session */
    }
    http_client_free(remote->http);
    tool_headers_free(&remote->tool_headers);
    free(remote->shown);
    remote_config_free(&remote->config);
    free(remote);
}

/* A file that is not there is said at once, and not with the first call; and to read a pipe, or a device,
 * would be to wait for ever. */
static int32_t check_files(const remote_config *config, patchbay_error *reterr)
{
    const struct {
        const char *key;
        const char *path;
    } files[] = {{"ca", config->ca}, {"certificate", config->certificate}, {"key", config->key}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct stat status;
        const char *path = files[i].path;
        int is_there = path == NULL || (access(path, R_OK) == 0 && stat(path, &status) == 0);
        if (!is_there || (path != NULL && !S_ISREG(status.st_mode))) {
            reterr->code = PATCHBAY_EINVAL;
            (void)snprintf(reterr->text, sizeof reterr->text, "%s: cannot read %s: %s",
                           files[i].key, path,
                           is_there ? "it is not a regular file" : strerror(errno));
            return PATCHBAY_EINVAL;
        }
    }
    return PATCHBAY_OK;
}

static int32_t make(mcp_remote *remote, const patchbay_host_api *api, patchbay_host *host,
                    patchbay_error *reterr)
{
    const http_client_options options = {
        .ca_file = remote->config.ca,
        .only_public = remote->config.only_public,
        .certificate = remote->config.certificate,
        .key = remote->config.key,
        .connect_timeout_ms = remote->config.connect_timeout_ms,
    };
    remote->shown = remote->config.is_websocket ? websocket_dup_shown(remote->config.url)
                                                : url_dup_shown(remote->config.url);
    if (remote->shown == NULL) {
        return PATCHBAY_ENOMEM;
    }
    remote->server.name = remote->shown;
    remote->server.protocol = remote->config.protocol;
    remote->server.pace = remote->config.pace;
    int32_t result = http_client_create(api, host, &options, &remote->http);
    if (result == PATCHBAY_OK && remote->config.is_websocket) {
        result = websocket_init(remote, api, host);
    }
    const upstream_channel *channel =
        remote->config.is_websocket ? &websocket_channel : &remote_channel;
    if (result == PATCHBAY_OK) {
        result = upstream_init(&remote->server, channel, api, host, reterr);
    }
    if (result == PATCHBAY_OK && !remote->config.is_websocket) {
        login_init(remote, api, host);
    }
    return result;
}

static int32_t create(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr)
{
    mcp_remote *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return PATCHBAY_ENOMEM;
    }
    int32_t result = remote_config_read(config_json, &made->config, reterr);
    if (result == PATCHBAY_OK) {
        result = check_files(&made->config, reterr);
    }
    if (result == PATCHBAY_OK) {
        result = make(made, api, host, reterr);
    }
    if (result != PATCHBAY_OK) {
        free_remote(made);
        return result;
    }
    *ret_inst = &made->server;
    return PATCHBAY_OK;
}

static void destroy(void *inst)
{
    free_remote(inst);
}

static const char CONFIG_SCHEMA[] =
#include "config_schema.h"
    ;

UPSTREAM_MODULE("mcp_remote",
                "Tools, resources and prompts of another MCP server, over HTTP "
                "or WebSocket.",
                CONFIG_SCHEMA);
