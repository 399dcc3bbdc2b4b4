/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both modules need to be modules: entries of the table, and how their configuration is read.
 * Thread: [loop].
 */
#ifndef UPSTREAM_MODULE_H
#define UPSTREAM_MODULE_H

#include "upstream.h"

/* patchbay_plugin.call and .cancel. `inst` begins with an mcp_server. */
void upstream_module_call(void *inst, patchbay_call id, const patchbay_request *request);
void upstream_module_cancel(void *inst, patchbay_call id);

/* A module's table, named and described, with the JSON Schema of its configuration. Its file has the
 * functions create and destroy. */
#define UPSTREAM_MODULE(module_name, text, schema)                                                 \
    PATCHBAY_EXPORT const patchbay_plugin patchbay_plugin_v1 = {                                   \
        .magic = PATCHBAY_MAGIC,                                                                   \
        .struct_size = sizeof(patchbay_plugin),                                                    \
        .abi = PATCHBAY_ABI,                                                                       \
        .abi_min = PATCHBAY_ABI,                                                                   \
        .name = module_name,                                                                       \
        .version = "1.0.0",                                                                        \
        .description = text,                                                                       \
        .config_schema_json = schema,                                                              \
        .flags = PATCHBAY_PLUGIN_PROXY,                                                            \
        .create = create,                                                                          \
        .call = upstream_module_call,                                                              \
        .cancel = upstream_module_cancel,                                                          \
        .destroy = destroy,                                                                        \
    }

/* The text of a raw string, NUL-terminated. NULL, with a reason in *ret_result (else it stays):
 * PATCHBAY_EINVAL (not a string, or it contains a NUL: the rest of it would be lost in silence);
 * PATCHBAY_ENOMEM. `owns`: the result. */
char *upstream_dup_text(patchbay_str raw, int32_t *ret_result);

#endif
