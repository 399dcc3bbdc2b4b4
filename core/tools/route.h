/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a URI leads. A toolset's resources are known by their own URIs; where two have one URI, it
 * is that of the first (exposure.h), and the other's is exposed with its toolset in it
 * (mapped_uri.h). Any resource can be reached in this way, exposed so or not: who means a certain
 * toolset says so. Pure functions, but for reading the exposure. Thread: [loop].
 */
#ifndef HUB_TOOLS_ROUTE_H
#define HUB_TOOLS_ROUTE_H

#include "tools/exposure.h"

/* The resource, or the template, that a URI belongs to in a revision (exposure.h); NULL when there is
 * none. `own_uri`, which is initialised, gets what the toolset itself calls it; it differs from `uri` if that has the
 * toolset in it. Without memory, the buffer says so. */
const hub_entry *hub_route_resource(const hub_exposure *exposure, hub_revision revision,
                                    hub_str uri, hub_buf *own_uri);

#endif
