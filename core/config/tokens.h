/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens file: who may use the hub over TCP. It holds names and digests, never a token:
 *     [{"name": "laptop", "id": "9f8e…", "sha256": "64 hex digits", "created": 1767225600,
 *       "expires": 1775001600, "scopes": ["tools:read"], "groups": ["dev"], "profile": "work"}]
 * What a token is good for (scopes, groups, profile) may be left out. Times are seconds since 1970; without "expires" a token is good for ever. One name may have
 * several tokens, so that they can be changed without a gap. The digest is that of the whole token,
 * which reads pbt_ID_SECRET. The file is its owner's alone (0600). [init]; blocks.
 */
#ifndef HUB_CONFIG_TOKENS_H
#define HUB_CONFIG_TOKENS_H

#include "base/arena.h"
#include "hub/kernel/settings.h"

enum {
    HUB_TOKEN_NAME_BYTES = 64,
    HUB_TOKEN_ID_BYTES = 32,                 /* the longest that is read; 12 are written */
    HUB_TOKENS_FILE_BYTES = 2 * 1024 * 1024, /* HUB_LIMIT_TOKENS with a dozen scopes each fit */
};

/* What a file says. `tokens` and `created` go together, by index. */
typedef struct hub_tokens {
    hub_token *tokens;
    int64_t *created;
    size_t count;
} hub_tokens;

/* Read a tokens file; all memory is the arena's.
 * errors:  HUB_ENOTFOUND (no such file), HUB_EDENIED (it is not its owner's alone: the text says
 *          what to do), HUB_EINVAL, HUB_EPARSE (what it holds), HUB_ELIMIT (its size, more than
 *          HUB_LIMIT_TOKENS), HUB_ESYSTEM, HUB_ENOMEM; the text begins with the path */
HUB_MUST_CHECK hub_err hub_tokens_read(const char *path, hub_arena *arena, hub_tokens *ret_tokens,
                                       hub_error *reterr);

/* The same from memory, called `path` in messages. There is room for one more in what it returns.
 */
HUB_MUST_CHECK hub_err hub_tokens_parse(const char *path, hub_str text, hub_arena *arena,
                                        hub_tokens *ret_tokens, hub_error *reterr);

/* The token with this id, or NULL. */
const hub_token *hub_tokens_find(const hub_tokens *tokens, const char *id);

/* What is wrong with a token's name: a static sentence, or NULL. */
const char *hub_tokens_name_problem(hub_str name);

/* What is wrong with what a token is to be good for: a static sentence, or NULL. */
const char *hub_tokens_rights_problem(const hub_token *token);

/* The token itself, to be shown once. */
typedef struct hub_new_token {
    char text[64]; /* NUL-terminated; wipe it with hub_tokens_wipe */
} hub_new_token;

/* Make a token of 256 random bits and append it to the file, which is created when there is none,
 * with its folders. Of `wanted` the id and the digest are not read. Another process that writes meanwhile is waited for;
 * the file is replaced at once or not at all.
 * errors:  HUB_EINVAL (no good name, scope, group or profile), HUB_ELIMIT (enough tokens); those of hub_tokens_read and of
 *          writing (HUB_ESYSTEM) */
HUB_MUST_CHECK hub_err hub_tokens_add(const char *path, const hub_token *wanted, int64_t now,
                                      hub_new_token *ret_token, hub_error *reterr);
void hub_tokens_wipe(hub_new_token *token);

/* Take every token of this name out of the file, or the one with this id.
 * errors:  HUB_ENOTFOUND (no file, or no such token); those of hub_tokens_read; HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_tokens_remove(const char *path, const char *name_or_id,
                                         size_t *ret_removed, hub_error *reterr);

#endif
