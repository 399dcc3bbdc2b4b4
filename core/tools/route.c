/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/route.h"

#include "tools/mapped_uri.h"

/* The template that a URI belongs to; without memory, the buffer says so. */
static const hub_entry *find_template(const hub_exposure *exposure, hub_revision revision,
                                      const void *owner, hub_str uri, hub_buf *own_uri)
{
    const hub_entry *entry = NULL;
    hub_err err = hub_exposure_match(exposure, revision, owner, uri, &entry);
    if (err != HUB_OK) {
        own_uri->failed = err;
    }
    return entry;
}

const hub_entry *hub_route_resource(const hub_exposure *exposure, hub_revision revision,
                                    hub_str uri, hub_buf *own_uri)
{
    hub_str toolset;
    bool is_mapped = hub_mapped_uri_read(uri, &toolset, own_uri);
    const hub_source *source = is_mapped ? hub_exposure_source(exposure, toolset) : NULL;
    const hub_entry *entry = NULL;
    if (source != NULL && hub_buf_ok(own_uri)) {
        hub_str own = hub_buf_str(own_uri);
        entry = hub_exposure_find_own(exposure, revision, HUB_KIND_RESOURCE, source->toolset, own);
        entry =
            entry != NULL ? entry : find_template(exposure, revision, source->owner, own, own_uri);
    }
    if (entry == NULL && hub_buf_ok(own_uri)) {
        hub_buf_clear(own_uri);
        hub_buf_add(own_uri, uri);
        entry = hub_exposure_find(exposure, revision, HUB_KIND_RESOURCE, uri);
        entry = entry != NULL ? entry : find_template(exposure, revision, NULL, uri, own_uri);
    }
    return entry;
}
