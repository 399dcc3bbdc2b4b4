/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A native toolset that costs nothing: every call of every tool is answered at once, on the loop,
 * with a text that was made beforehand. Configuration: {"tools": N}, "tool_0" and on; with
 * "wide": true each definition has 1 KB; with "asks": true it looks up how clients are asked something,
 * as proxies do, and asks nothing.
 */
#include <patchbay/client.h>
#include <patchbay/plugin.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOOL_BYTES = 1200, WIDE_BYTES = 880, MAX_TOOLS = 100000 };

typedef struct noop {
    const patchbay_host_api *api;
    patchbay_host *host;
} noop;

static const char RESULT[] = "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}";
static const char CONFIG_SCHEMA[] =
    "{\"type\":\"object\",\"properties\":{\"tools\":{\"type\":"
    "\"integer\",\"minimum\":1,\"maximum\":100000},\"wide\":{\"type\":\"boolean\"},"
    "\"asks\":{\"type\":\"boolean\"}}}";

/* The number in a configuration that has satisfied the schema: no other member is looked for. */
static long count_of(patchbay_str config)
{
    long count = 0;
    for (size_t i = 0; i < config.len; i++) {
        if (config.ptr[i] >= '0' && config.ptr[i] <= '9') {
            count = 10 * count + (config.ptr[i] - '0');
        }
    }
    return count > 0 ? count : 1;
}

static char *put(char *at, const char *text)
{
    size_t len = strlen(text);
    memcpy(at, text, len);
    return at + len;
}

/* Written by hand: when a toolset is enabled, it is the hub that is measured. */
static char *put_tool(char *at, long number, int pad)
{
    char digits[24];
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    at = put(put(put(at, "{\"name\":\"tool_"), first),
             "\",\"description\":\"Answers with a text that it has ready.");
    memset(at, ' ', (size_t)pad);
    return put(at + pad, "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{"
                         "\"type\":\"string\"}}}}");
}

static int32_t offer(const noop *self, long count, int pad)
{
    char *tools = malloc((size_t)count * TOOL_BYTES + 2);
    if (tools == NULL) {
        return PATCHBAY_ENOMEM;
    }
    char *end = tools;
    *end++ = '[';
    for (long i = 0; i < count; i++) {
        end = put_tool(end, i, pad);
        *end++ = ',';
    }
    end[-1] = ']';
    int32_t status = self->api->set_tools(
        self->host, (patchbay_str){.ptr = tools, .len = (size_t)(end - tools)});
    free(tools);
    return status;
}

static int32_t create(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr)
{
    noop *self = malloc(sizeof *self);
    int32_t status = PATCHBAY_ENOMEM;
    if (self != NULL) {
        *self = (noop){.api = api, .host = host};
        bool is_wide = memchr(config_json.ptr, 'w', config_json.len) != NULL; /* as above */
        if (memmem(config_json.ptr, config_json.len, "asks", 4) != NULL) {
            (void)api->get_interface(host, PATCHBAY_CLIENT_V1);
        }
        status = offer(self, count_of(config_json), is_wide ? WIDE_BYTES : 0);
    }
    if (status != PATCHBAY_OK) {
        reterr->code = status;
        (void)snprintf(reterr->text, sizeof reterr->text, "the tools were refused: %d", status);
        free(self);
        return status;
    }
    *ret_inst = self;
    return PATCHBAY_OK;
}

static void call(void *inst, patchbay_call handle, const patchbay_request *request)
{
    const noop *self = inst;
    (void)request;
    (void)self->api->finish(self->host, handle, PATCHBAY_RESULT,
                            (patchbay_str){.ptr = RESULT, .len = sizeof RESULT - 1});
}

static void destroy(void *inst)
{
    free(inst);
}

PATCHBAY_EXPORT const patchbay_plugin patchbay_plugin_v1 = {
    .magic = PATCHBAY_MAGIC,
    .struct_size = sizeof(patchbay_plugin),
    .abi = PATCHBAY_ABI,
    .abi_min = PATCHBAY_ABI,
    .name = "noop",
    .version = "1.0.0",
    .description = "Tools that do nothing.",
    .config_schema_json = CONFIG_SCHEMA,
    .create = create,
    .call = call,
    .destroy = destroy,
};
