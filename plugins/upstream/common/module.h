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

/* The text of a raw string, NUL-terminated. NULL, with a reason in *ret_result (else it stays):
 * PATCHBAY_EINVAL (not a string, or it contains a NUL: the rest of it would be lost in silence);
 * PATCHBAY_ENOMEM. `owns`: the result. */
char *upstream_dup_text(patchbay_str raw, int32_t *ret_result);

#endif
