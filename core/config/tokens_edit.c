/* SPDX-License-Identifier: Apache-2.0 */
/* Changing the tokens file: one writer at a time, and the whole file at once. */
#include "config/tokens.h"

#include "base/digest.h"
#include "base/encoding.h"
#include "base/limits.h"
#include "config/file.h"
#include "wire/json.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    DIGEST_BYTES = sizeof((hub_token *)0)->sha256,
    SECRET_BYTES = 32,
    SECRET_CHARS = 43, /* in base64 without padding */
    ID_BYTES = 6,      /* among a thousand tokens, two will not meet */
    ARENA_MAX_BYTES = 16 * 1024 * 1024,
};

static void add_names(hub_buf *out, const char *key, const hub_names *names)
{
    if (!names->set) {
        return;
    }
    hub_buf_printf(out, ", \"%s\": [", key);
    for (size_t i = 0; i < names->count; i++) {
        hub_buf_add(out, i == 0 ? HUB_STR_EMPTY : HUB_STR(", "));
        hub_json_add_string(out, hub_str_of(names->items[i]));
    }
    hub_buf_add_char(out, ']');
}

/* One token per line, for people and for diffs. */
static hub_err write_tokens(const char *path, const hub_tokens *tokens, hub_error *reterr)
{
    hub_buf out;
    hub_buf_init(&out, HUB_TOKENS_FILE_BYTES);
    hub_buf_add(&out, HUB_STR("["));
    for (size_t i = 0; i < tokens->count; i++) {
        const hub_token *token = &tokens->tokens[i];
        hub_buf_printf(&out, "%s\n  {\"name\": \"%s\", \"id\": \"%s\", \"sha256\": \"",
                       i == 0 ? "" : ",", token->name, token->id);
        hub_hex_add(&out, (hub_str){.ptr = (const char *)token->sha256, .len = DIGEST_BYTES});
        hub_buf_printf(&out, "\", \"created\": %lld", (long long)tokens->created[i]);
        if (token->expires != 0) {
            hub_buf_printf(&out, ", \"expires\": %lld", (long long)token->expires);
        }
        add_names(&out, "scopes", &token->scopes);
        add_names(&out, "groups", &token->groups);
        if (token->profile != NULL) {
            hub_buf_printf(&out, ", \"profile\": \"%s\"", token->profile);
        }
        hub_buf_add(&out, HUB_STR("}"));
    }
    hub_buf_add(&out, HUB_STR("\n]\n"));
    hub_err err = hub_buf_ok(&out)
                      ? hub_file_replace_private(path, hub_buf_str(&out), reterr)
                      : hub_fail(reterr, out.failed, "%s: %s", path, hub_err_text(out.failed));
    hub_buf_fini(&out);
    return err;
}

/* Change the tokens of a file while nobody else does. */
typedef hub_err (*change_fn)(hub_tokens *tokens, hub_arena *arena, void *ctx, hub_error *reterr);

typedef struct file_edit {
    const char *path;
    bool may_create;
    change_fn change;
    void *ctx;
} file_edit;

static hub_err edit_locked(const file_edit *edit, hub_arena *arena, hub_error *reterr)
{
    hub_tokens tokens = {.count = 0};
    hub_err err = hub_tokens_read(edit->path, arena, &tokens, reterr);
    if (err == HUB_ENOTFOUND && edit->may_create) {
        err = hub_tokens_parse(edit->path, HUB_STR("[]"), arena, &tokens, reterr);
    }
    if (err == HUB_OK) {
        err = edit->change(&tokens, arena, edit->ctx, reterr);
    }
    return err == HUB_OK ? write_tokens(edit->path, &tokens, reterr) : err;
}

static hub_err edit_file(const file_edit *edit, hub_error *reterr)
{
    int lock = -1;
    hub_arena *arena = hub_arena_create(ARENA_MAX_BYTES);
    const char *folder = arena == NULL ? NULL : hub_file_folder(edit->path, arena);
    if (folder == NULL) {
        hub_arena_destroy(arena);
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", edit->path);
    }
    hub_err err = edit->may_create ? hub_file_make_folder(folder, reterr) : HUB_OK;
    if (err == HUB_OK) {
        err = hub_file_lock_folder(folder, &lock, reterr);
    }
    if (err == HUB_OK) {
        err = edit_locked(edit, arena, reterr);
        (void)close(lock);
    }
    hub_arena_destroy(arena);
    return err;
}

/* base64url without padding (RFC 4648 section 5). */
static void encode_secret(const uint8_t *secret, char *text)
{
    char encoded[4 * ((SECRET_BYTES + 2) / 3) + 1];
    (void)EVP_EncodeBlock((unsigned char *)encoded, secret, SECRET_BYTES);
    for (size_t i = 0; i < SECRET_CHARS; i++) {
        char c = encoded[i];
        text[i] = (char)(c == '+' ? '-' : c == '/' ? '_' : c);
    }
    text[SECRET_CHARS] = '\0';
    OPENSSL_cleanse(encoded, sizeof encoded);
}

static hub_err make_token(char *id, hub_new_token *token, hub_error *reterr)
{
    uint8_t random[ID_BYTES + SECRET_BYTES];
    char secret[SECRET_CHARS + 1];
    /* So few bytes come whole, or not at all: getrandom(2). */
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return hub_fail(reterr, HUB_ESYSTEM, "no random numbers can be had");
    }
    for (size_t i = 0; i < ID_BYTES; i++) {
        (void)snprintf(id + 2 * i, 3, "%02x", random[i]);
    }
    encode_secret(random + ID_BYTES, secret);
    (void)snprintf(token->text, sizeof token->text, "pbt_%s_%s", id, secret);
    OPENSSL_cleanse(secret, sizeof secret);
    OPENSSL_cleanse(random, sizeof random);
    return HUB_OK;
}

typedef struct token_addition {
    const hub_token *wanted;
    int64_t now;
    hub_new_token *token;
} token_addition;

static hub_err add_token(hub_tokens *tokens, hub_arena *arena, void *ctx, hub_error *reterr)
{
    const token_addition *addition = ctx;
    if (tokens->count >= HUB_LIMIT_TOKENS) {
        return hub_fail(reterr, HUB_ELIMIT, "there are %d tokens already: revoke some",
                        HUB_LIMIT_TOKENS);
    }
    char id[2 * ID_BYTES + 1];
    hub_err err = make_token(id, addition->token, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_token token = *addition->wanted;
    token.id = hub_arena_strdup(arena, hub_str_of(id));
    const char *text = addition->token->text;
    hub_digest_of(hub_str_of(text), token.sha256);
    if (token.id == NULL || hub_tokens_find(tokens, id) != NULL) {
        return hub_fail(reterr, HUB_ESYSTEM, "no token can be made");
    }
    tokens->tokens[tokens->count] = token;
    tokens->created[tokens->count] = addition->now;
    tokens->count++;
    return HUB_OK;
}

hub_err hub_tokens_add(const char *path, const hub_token *wanted, int64_t now,
                       hub_new_token *ret_token, hub_error *reterr)
{
    const char *problem = hub_tokens_name_problem(hub_str_of(wanted->name));
    problem = problem != NULL ? problem : hub_tokens_rights_problem(wanted);
    if (problem != NULL) {
        return hub_fail(reterr, HUB_EINVAL, "%s", problem);
    }
    token_addition what = {.wanted = wanted, .now = now, .token = ret_token};
    const file_edit edit = {.path = path, .may_create = true, .change = add_token, .ctx = &what};
    hub_err err = edit_file(&edit, reterr);
    if (err != HUB_OK) {
        hub_tokens_wipe(ret_token);
    }
    return err;
}

void hub_tokens_wipe(hub_new_token *token)
{
    OPENSSL_cleanse(token, sizeof *token);
}

typedef struct token_removal {
    const char *name_or_id;
    size_t removed;
} token_removal;

static hub_err remove_tokens(hub_tokens *tokens, hub_arena *arena, void *ctx, hub_error *reterr)
{
    (void)arena; /* nothing new is needed */
    token_removal *removal = ctx;
    size_t kept = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        const hub_token *token = &tokens->tokens[i];
        if (strcmp(token->name, removal->name_or_id) == 0 ||
            strcmp(token->id, removal->name_or_id) == 0) {
            continue;
        }
        tokens->tokens[kept] = tokens->tokens[i];
        tokens->created[kept] = tokens->created[i];
        kept++;
    }
    removal->removed = tokens->count - kept;
    tokens->count = kept;
    return removal->removed > 0
               ? HUB_OK
               : hub_fail(reterr, HUB_ENOTFOUND,
                          "there is no token \"%s\": see patchbay token list", removal->name_or_id);
}

hub_err hub_tokens_remove(const char *path, const char *name_or_id, size_t *ret_removed,
                          hub_error *reterr)
{
    token_removal what = {.name_or_id = name_or_id};
    const file_edit edit = {.path = path, .change = remove_tokens, .ctx = &what};
    hub_err err = edit_file(&edit, reterr);
    if (err == HUB_OK) {
        *ret_removed = what.removed;
    }
    return err;
}
