/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extensions that a server announces. The hub announces them to every client, together with those of
 * other servers, so one that a client cannot read would cost it the whole hub. Thread: [any].
 * spec: MCP 2026-07-28 schema, ServerCapabilities
 */
#ifndef HUB_HUB_KERNEL_EXTENSIONS_H
#define HUB_HUB_KERNEL_EXTENSIONS_H

#include "hub/kernel/capabilities.h"

/* hub_capabilities_read without those extensions whose value is no object, cannot be read
 * (tools/definition_readable.h) or is too large, whose key occurs twice, or that are none of the
 * first HUB_LIMIT_EXTENSIONS (base/limits.h). Keys of extensions are spelled without needless
 * escapes; all else stays byte for byte.
 * `ret_left_out` (may be NULL) says the last that was left out; else it is not touched.
 * owns:    *ret_capabilities, release it with hub_capabilities_fini
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_extensions_read(hub_str json, hub_capabilities *ret_capabilities,
                                           hub_error *ret_left_out);

#endif
