/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where catalogs are remembered: the manifest's folder, or the one that a user's programs keep such
 * things in.
 * spec: XDG Base Directory Specification, XDG_CACHE_HOME: a path that is not absolute is ignored
 */
#include "config/reader.h"

static const char *absolute(const hub_config_reader *reader, hub_str variable)
{
    const char *path = hub_expand_find(&reader->variables, variable);
    return path != NULL && path[0] == '/' ? path : NULL;
}

hub_err hub_config_finish_cache(hub_config_reader *reader)
{
    const char **folder = &reader->config.settings.cache_folder;
    if (!reader->has_cache) {
        *folder = NULL;
        return HUB_OK;
    }
    if (*folder != NULL) {
        return HUB_OK;
    }
    const char *cache = absolute(reader, HUB_STR("XDG_CACHE_HOME"));
    const char *home = absolute(reader, HUB_STR("HOME"));
    if (cache == NULL && home == NULL) {
        return HUB_OK; /* a service without a home: it has to be told */
    }
    *folder = cache != NULL ? hub_arena_printf(reader->arena, "%s/patchbay", cache)
                            : hub_arena_printf(reader->arena, "%s/.cache/patchbay", home);
    return *folder != NULL ? HUB_OK : hub_config_no_memory(reader);
}
