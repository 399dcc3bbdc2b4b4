/* SPDX-License-Identifier: Apache-2.0 */
/* Bindings as toolset.c works with them. Only the kernel includes it. */
#ifndef HUB_HUB_KERNEL_BINDING_H
#define HUB_HUB_KERNEL_BINDING_H

#include "hub/kernel/toolset.h"

/* Make a binding to the newest module. The toolset's own binding is not touched.
 * errors:  as hub_toolset_use */
HUB_MUST_CHECK hub_err hub_binding_make(hub_toolset *toolset, const hub_toolset_settings *settings,
                                        hub_binding **ret_binding, hub_error *reterr);

/* Stop taking calls. With `at_once` those in flight fail, else they may end. */
void hub_binding_retire(hub_binding *binding, bool at_once);

/* Forget what the instance said of its catalog before it was the toolset's. */
void hub_binding_forget_first(hub_binding *binding);

/* A toolset that leaves goes with its last binding. */
void hub_toolset_end_if_left(hub_toolset *toolset);

/* Keep a text that is shown to many: without secrets, cut at `size` with its NUL. */
void hub_binding_keep_text(char *kept, size_t size, hub_str text);

#endif
