/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A saved toolset as a document: a selection of tools of any toolsets under a name. As it is in the
 * store, in files, in a manifest (as JSON), and in exports:
 *
 *     {"name": "dev-essentials", "description": "…", "version": 3, "createdAt": "2026-11-24T18:00:00Z",
 *      "updatedAt": "…", "owner": "token:ann",
 *      "tools": [{"id": "git:status", "digest": "64 hexadecimal digits"}, "docker:ps"]}
 *
 * A tool is its canonical id, "toolset:tool", with the digest of the definition that was meant
 * (tools/definition_digest.h) or without: then any definition is. `namespacedName`, "toolset.tool",
 * of files of HyperTool is understood, too; their digests are made in another way, and not kept.
 * Pure functions. Thread: [any].
 */
#ifndef HUB_HUB_SAVED_DOCUMENT_H
#define HUB_HUB_SAVED_DOCUMENT_H

#include "base/buf.h"
#include "base/err.h"
#include "tools/selection.h"

/* A time as text, and its NUL. */
#define HUB_SAVED_TIME_BYTES 21

/* All strings belong to it. */
typedef struct hub_saved {
    struct hub_arena *arena;
    hub_str name;
    hub_str description;
    hub_str owner; /* who made it; empty: nobody says */
    hub_str created_at;
    hub_str updated_at;
    uint64_t version; /* 1, and one more with each change */
    hub_selected *tools;
    size_t count; /* 1 … HUB_LIMIT_SAVED_TOOLS */
} hub_saved;

/* Whether a text may be the name of one: 2 to 50 of a-z, 0-9 and '-'.
 * errors:  HUB_EINVAL; the text quotes it */
HUB_MUST_CHECK hub_err hub_saved_check_name(hub_str name, hub_error *reterr);

/* errors:  HUB_EINVAL (more than HUB_LIMIT_SAVED_DESCRIPTION_CHARS characters) */
HUB_MUST_CHECK hub_err hub_saved_check_description(hub_str description, hub_error *reterr);

/* Take a canonical id apart. With `is_namespaced`, "toolset.tool" will do as well.
 * errors:  HUB_EINVAL */
HUB_MUST_CHECK hub_err hub_saved_split(hub_str id, bool is_namespaced, hub_str *ret_toolset,
                                       hub_str *ret_tool, hub_error *reterr);

/* Read a document. `name` is what it is kept under; empty: it says it itself.
 * owns:    *ret_saved, hub_saved_destroy
 * errors:  HUB_EPARSE (not a JSON object), HUB_EINVAL, HUB_ELIMIT (more than HUB_LIMIT_SAVED_TOOLS),
 *          HUB_ENOMEM; the text says where */
HUB_MUST_CHECK hub_err hub_saved_read(hub_str name, hub_str json, hub_saved **ret_saved,
                                      hub_error *reterr);
void hub_saved_destroy(hub_saved *saved); /* NULL is fine */

/* Append it as a document. A failure marks the buffer. */
void hub_saved_write(const hub_saved *saved, hub_buf *out);

/* The time now. */
void hub_saved_now(char ret_text[HUB_SAVED_TIME_BYTES]);

/* Its tools as a selection. owns:  *ret_selection. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_saved_select(const hub_saved *saved, hub_selection **ret_selection);

/* Read 64 hexadecimal digits. */
bool hub_saved_read_digest(hub_str hex, unsigned char ret_digest[HUB_DIGEST_BYTES]);

#endif
