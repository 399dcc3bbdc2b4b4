/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tables of keys say (config/keys.h), for editors and for people:
 * schemas/manifest.schema.json, examples/manifest-reference.yaml, patchbay.yaml(5). And what the table of errors
 * (wire/errors.h) says: docs/ERRORS.md. Used by patchbay-settings when the project is built, and by tests; no part
 * of the hub.
 */
#ifndef HUB_CONFIG_DESCRIBE_H
#define HUB_CONFIG_DESCRIBE_H

#include "config/keys.h"

/* Append the JSON Schema of a manifest, with line breaks. */
void hub_describe_schema(hub_buf *out);

/* Append the reference manifest: every key with its default or an example. */
void hub_describe_reference(hub_buf *out);

/* Append the manual page patchbay.yaml(5), as scdoc reads it. */
void hub_describe_manual(hub_buf *out);

/* Append docs/ERRORS.md: every error that the hub answers, with its cause and what helps. */
void hub_describe_errors(hub_buf *out);

/* Append the first part of docs/REFERENCE.md: every key of a manifest, and the hub's own tools. (The
 * commands are the command line's: cmake/reference.py.) */
void hub_describe_tables(hub_buf *out);

/* Append what a key means, with its bounds and its words. */
void hub_describe_about(const hub_config_key *key, hub_buf *out);

/* Append " From 1KiB to 1GiB." of a number, a size or a duration; nothing of other kinds. */
void hub_describe_bounds(const hub_config_key *key, hub_buf *out);

#endif
