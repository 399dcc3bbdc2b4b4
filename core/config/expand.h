/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables in configured text: ${VAR}, ${VAR:-default}, ${env:VAR}, ${file:/path}, ${secret:NAME}
 * (of the store), ${credential:NAME} (of systemd) and $$ for a dollar. One pass: what a variable or a file holds is never looked at again, and nothing nests.
 * Any other dollar stands for itself. No message ever shows what a variable, a file or a default
 * holds. Pure functions but for ${file:…} and what find_secret does, which block.
 */
#ifndef HUB_CONFIG_EXPAND_H
#define HUB_CONFIG_EXPAND_H

#include "base/buf.h"

/* Larger secrets do not exist; larger files are a mistake. */
#define HUB_EXPAND_FILE_BYTES (64u * 1024)

/* Where a secret is kept. */
typedef enum hub_secret_kind {
    HUB_SECRET_STORED,     /* ${secret:NAME}: in the hub's store */
    HUB_SECRET_CREDENTIAL, /* ${credential:NAME}: systemd hands it over (LoadCredential=) */
} hub_secret_kind;

/* Whether it can be the name of one: it must be safe as a file name, too. */
bool hub_is_secret_name(hub_str name);

bool hub_is_utf8(hub_str text);

/* Where values come from. */
typedef struct hub_expand_source {
    const char *const *env; /* NULL-terminated NAME=value list; NULL: empty */
    bool is_lenient;        /* a variable that is not set, and any secret, are their own names */
    bool has_files;         /* ${file:…} may be read; else it is refused */
    /* Told of each such file before it is read; may fail. NULL: nobody wants to know. */
    hub_err (*on_file)(void *ctx, const char *path, hub_error *reterr);
    /* Told of each value that comes from a variable or a file, and that one's name, before anything
     * is done with it; may fail. NULL: likewise. */
    hub_err (*on_value)(void *ctx, hub_str name, hub_str value, hub_error *reterr);
    /* Append a secret, which it takes care to mask; may fail. NULL: there are none here. */
    hub_err (*find_secret)(void *ctx, hub_secret_kind kind, hub_str name, hub_buf *value,
                           hub_error *reterr);
    void *ctx;
} hub_expand_source;

/* The value of a variable, or NULL. Of two entries the first counts, as in getenv. */
const char *hub_expand_find(const hub_expand_source *source, hub_str name);

/* Append `text` with its variables replaced. ${VAR:-default} takes the default when VAR is unset or
 * empty. A file loses one newline at its end. `ret_open_file` (may be NULL) is set, never cleared,
 * when a file was read that everybody on the machine can read.
 * errors:  HUB_EINVAL (malformed, unset, not UTF-8, a NUL character), HUB_ENOTFOUND or HUB_ESYSTEM
 *          (the file), HUB_ELIMIT (a file over HUB_EXPAND_FILE_BYTES, or the buffer), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_expand(hub_str text, const hub_expand_source *source, hub_buf *out,
                                  bool *ret_open_file, hub_error *reterr);

#endif
