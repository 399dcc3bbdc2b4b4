/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the manifest.json of a bundle (.mcpb, manifest versions 0.1 to 0.4) says of starting its
 * server, as an entry of the hub's manifest. What is published is anybody's text, as in
 * registry/launch.h. Pure functions, any thread.
 */
#ifndef HUB_BUNDLE_BUNDLE_H
#define HUB_BUNDLE_BUNDLE_H

#include "registry/launch.h"

typedef struct hub_bundle_wish {
    const char *folder; /* where its files are, absolute */
    const char
        *program; /* patchbay: the server is started through it, which looks at the files … */
    const char *digest; /* … and holds them against this (bundle/tree.h) */
    const char *home;   /* ${HOME}; NULL: there is none */
    hub_launch_giver giver;
} hub_bundle_wish;

/* Of `manifest` make a launch; its `entry` is what is to be added.
 * owns:    ret_launch->entry, hub_buf_fini
 * errors:  HUB_EINVAL (not a manifest of a bundle), HUB_ENOTFOUND (nothing that runs here), HUB_EDENIED
 *          (a value is wanted that nobody gives), HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_bundle_make(const hub_node *manifest, const hub_bundle_wish *wish,
                                       hub_arena *arena, hub_launch *ret_launch, hub_error *reterr);

#endif
