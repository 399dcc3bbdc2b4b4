/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete plugin that does nothing. A file of this folder defines one STUB_ macro differently
 * and so has exactly one defect.
 */
#ifndef PATCHBAY_TESTS_STUB_PLUGIN_H
#define PATCHBAY_TESTS_STUB_PLUGIN_H

#include <patchbay/plugin.h>

#ifndef STUB_MAGIC
#define STUB_MAGIC PATCHBAY_MAGIC
#endif
#ifndef STUB_STRUCT_SIZE
#define STUB_STRUCT_SIZE sizeof(patchbay_plugin)
#endif
#ifndef STUB_ABI
#define STUB_ABI PATCHBAY_ABI
#endif
#ifndef STUB_ABI_MIN
#define STUB_ABI_MIN PATCHBAY_ABI_VERSION(1, 0)
#endif
#ifndef STUB_VERSION
#define STUB_VERSION "1.0.0000"
#endif
#ifndef STUB_CONFIG_SCHEMA
#define STUB_CONFIG_SCHEMA "{\"type\":\"object\"}"
#endif

#ifndef STUB_CREATE
#define STUB_CREATE create
static int32_t create(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr)
{
    (void)api;
    (void)host;
    (void)config_json;
    (void)reterr;
    *ret_inst = NULL;
    return PATCHBAY_OK;
}
#endif

#ifndef STUB_CALL
#define STUB_CALL call
static void call(void *inst, patchbay_call id, const patchbay_request *request)
{
    (void)inst;
    (void)id;
    (void)request;
}
#endif

#ifndef STUB_DESTROY
#define STUB_DESTROY destroy
static void destroy(void *inst)
{
    (void)inst;
}
#endif

const patchbay_plugin patchbay_plugin_v1 = {
    .magic = STUB_MAGIC,
    .struct_size = STUB_STRUCT_SIZE,
    .abi = STUB_ABI,
    .abi_min = STUB_ABI_MIN,
    .name = STUB_NAME,
    .version = STUB_VERSION,
    .description = "A plugin for tests.",
    .config_schema_json = STUB_CONFIG_SCHEMA,
    .create = STUB_CREATE,
    .call = STUB_CALL,
    .destroy = STUB_DESTROY,
};

#endif
