/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private copy of a plugin's file in memory, which nobody can change any more, and loading the
 * library from that copy. A copy has a name of its own each time, else the dynamic loader would
 * give back the library that it loaded under this name before. Since the library's file is not in
 * the plugin's folder, $ORIGIN in its run path means nothing.
 */
#ifndef HUB_MODULES_PLUGIN_IMAGE_H
#define HUB_MODULES_PLUGIN_IMAGE_H

#include "base/err.h"

typedef struct hub_plugin_image {
    int fd; /* sealed memfd */
    const unsigned char *bytes;
    size_t size;
    uint64_t hash; /* of all bytes: tells a file that was merely touched */
} hub_plugin_image;

/* Copy everything from `fd`. `name` shows up in /proc/self/maps and in debuggers.
 * owns:    the image, give it to hub_plugin_image_fini
 * errors:  HUB_ELIMIT (too large), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_plugin_image_init(hub_plugin_image *image, int fd, const char *name,
                                             hub_error *reterr);

/* A library that was loaded from it stays. */
void hub_plugin_image_fini(hub_plugin_image *image);

/* Load the library with all its symbols resolved, and find the plugin's table. Constructors run.
 * owns:    *ret_handle, for hub_plugin_image_unload or for ever
 * thread:  [loop]
 * errors:  HUB_EABI (cannot be linked, no such symbol), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_plugin_image_load(const hub_plugin_image *image, void **ret_handle,
                                             const patchbay_plugin **ret_table, hub_error *reterr);

/* Have debuggers, profilers and core dumps look for the symbols of a library that stays in the plugin's file:
 * the copy's descriptor is closed. Not for one that may be unloaded. */
void hub_plugin_image_rename(void *handle, const char *path);

/* Unload a library that was refused and none of whose functions ran but constructors. */
void hub_plugin_image_unload(void *handle);

#endif
