/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.catalog/1": for toolsets whose catalog is known only later, or changes,
 * because it belongs to somebody else.
 */
#ifndef PATCHBAY_CATALOG_H
#define PATCHBAY_CATALOG_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_CATALOG_V1 "patchbay.catalog/1"

/* patchbay_request.method of the hub's own request to learn the catalog: set_tools(), then finish
 * with "{}"; or finish with PATCHBAY_UNAVAILABLE and the reason. */
#define PATCHBAY_METHOD_DISCOVER "server/discover"

/* What the instance is doing, for `list_toolsets`, `patchbay list` and the log. */
#define PATCHBAY_STATE_IDLE       0 /* not connected, and nobody asked */
#define PATCHBAY_STATE_CONNECTING 1 /* on the way */
#define PATCHBAY_STATE_READY      2 /* the catalog is current, calls are taken */
#define PATCHBAY_STATE_FAILED     3 /* the last attempt failed; the next need tries again */

typedef struct patchbay_catalog_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* The catalog is not known yet: the hub asks with PATCHBAY_METHOD_DISCOVER when somebody needs
     * it. Without this, a toolset that set no tools simply has none.
     * thread: [loop], in create() only */
    void (*defer)(patchbay_host *host);

    /* Say what state the instance is in and, if it failed, why (plain text).
     * thread: [loop] */
    void (*set_state)(patchbay_host *host, uint32_t state, patchbay_str detail);
} patchbay_catalog_v1;

#ifdef __cplusplus
}
#endif

#endif
