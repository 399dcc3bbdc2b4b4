/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin for black-box tests, written against the bare ABI: its tools come from its
 * configuration, and the name of the tool that is called decides what happens. The tests compile it
 * under other names and replies, with FIXTURE_NAME and FIXTURE_REPLY, and hand each toolset the
 * tools it is to have.
 *
 *   config: {"tools": [MCP Tool, …], "fail": "reason"}   with "fail", create() refuses
 */
#include <patchbay/json.h>

#ifndef FIXTURE_NAME
#define FIXTURE_NAME "fixture"
#endif
#ifndef FIXTURE_REPLY
#define FIXTURE_REPLY FIXTURE_NAME
#endif

typedef struct fixture {
    const patchbay_host_api *api;
    patchbay_host *host;
} fixture;

static int32_t create(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr)
{
    patchbay_str reason = patchbay_json_get(config_json, "fail");
    if (reason.len > 0) {
        (void)snprintf(reterr->text, sizeof reterr->text, "told to fail: %.*s", (int)reason.len,
                       reason.ptr);
        reterr->code = PATCHBAY_EINVAL;
        return PATCHBAY_EINVAL;
    }
    fixture *self = (fixture *)calloc(1, sizeof *self);
    if (self == NULL) {
        return PATCHBAY_ENOMEM;
    }
    self->api = api;
    self->host = host;
    patchbay_str tools = patchbay_json_get(config_json, "tools");
    if (tools.len == 0) {
        tools = patchbay_str_of("[{\"name\":\"ping\",\"inputSchema\":{\"type\":\"object\"}}]");
    }
    int32_t status = api->set_tools(host, tools);
    if (status != PATCHBAY_OK) {
        (void)snprintf(reterr->text, sizeof reterr->text, "set_tools: %d", (int)status);
        reterr->code = status;
        free(self);
        return status;
    }
    *ret_inst = self;
    return PATCHBAY_OK;
}

static void finish(fixture *self, patchbay_call id, int32_t status, const char *json)
{
    (void)self->api->finish(self->host, id, status, patchbay_str_of(json));
}

static void finish_echo(fixture *self, patchbay_call id, const patchbay_request *request)
{
    patchbay_out out = {0};
    patchbay_out_raw(&out,
                     patchbay_str_of("{\"content\":[{\"type\":\"text\",\"text\":\"" FIXTURE_REPLY
                                     "\"}],\"structuredContent\":{\"tool\":\""));
    patchbay_out_raw(&out, request->tool);
    patchbay_out_raw(&out, patchbay_str_of("\",\"arguments\":"));
    patchbay_out_raw(&out, request->args_json);
    patchbay_out_raw(&out, patchbay_str_of("}}"));
    (void)self->api->finish(self->host, id, PATCHBAY_RESULT, patchbay_str_make(out.ptr, out.len));
    patchbay_out_free(&out);
}

static void call(void *inst, patchbay_call id, const patchbay_request *request)
{
    fixture *self = (fixture *)inst;
    static const struct {
        const char *tool;
        int32_t status;
        const char *json;
    } endings[] = {
        {"not_implemented", PATCHBAY_NOT_IMPLEMENTED, "not written"},
        {"invalid_input", PATCHBAY_INVALID_INPUT, "no such colour"},
        {"unavailable", PATCHBAY_UNAVAILABLE, "the line is down"},
        {"failed", PATCHBAY_FAILED, "it broke"},
        {"rpc_error", PATCHBAY_RPC_ERROR, "{\"code\":4242,\"message\":\"own error\"}"},
        {"bad_json", PATCHBAY_RESULT, "{\"content\":[}"},
    };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (patchbay_str_eq(request->tool, patchbay_str_of(endings[i].tool))) {
            finish(self, id, endings[i].status, endings[i].json);
            return;
        }
    }
    if (patchbay_str_eq(request->tool, patchbay_str_of("hold"))) {
        return; /* unfinished until cancelled or destroyed */
    }
    if (patchbay_str_eq(request->tool, patchbay_str_of("print"))) {
        (void)printf("a plugin that prints to standard output\n");
        (void)fflush(stdout);
    }
    if (patchbay_str_eq(request->tool, patchbay_str_of("set_tools"))) {
        (void)self->api->set_tools(self->host, patchbay_json_get(request->args_json, "tools"));
    }
    finish_echo(self, id, request);
    if (patchbay_str_eq(request->tool, patchbay_str_of("twice"))) {
        finish(self, id, PATCHBAY_FAILED, "a second ending");
    }
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
    .name = FIXTURE_NAME,
    .version = "1.0.0",
    .description = "Does what the tests tell it.",
    .config_schema_json = "{\"type\":\"object\",\"properties\":{\"tools\":{\"type\":\"array\"},"
                          "\"fail\":{\"type\":\"string\"}},\"additionalProperties\":false}",
    .create = create,
    .call = call,
    .destroy = destroy,
};
