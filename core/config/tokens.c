/* SPDX-License-Identifier: Apache-2.0 */
#include "config/tokens.h"

#include "base/limits.h"
#include "config/file.h"
#include "wire/json.h"

enum { DIGEST_BYTES = sizeof((hub_token *)0)->sha256 };

/* A token's name becomes the principal. Those that the hub gives itself are nobody's to take. */
const char *hub_tokens_name_problem(hub_str name)
{
    static const char *const RESERVED[] = {"anonymous", "local"};
    if (name.len == 0 || name.len > HUB_TOKEN_NAME_BYTES) {
        return "a token's name has 1 to 64 characters";
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && (i == 0 || strchr("._@-", c) == NULL)) {
            return "a token's name is a letter or digit, then letters, digits, \".\", \"_\", \"@\" "
                   "and \"-\"";
        }
    }
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++) {
        if (hub_str_eq_nocase(name, hub_str_of(RESERVED[i]))) {
            return "\"anonymous\" and \"local\" are the hub's own names for clients without a "
                   "token";
        }
    }
    return NULL;
}

static bool is_id(hub_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_')) {
            return false;
        }
    }
    return id.len > 0 && id.len <= HUB_TOKEN_ID_BYTES;
}

static bool parse_digest(hub_str hex, uint8_t *digest)
{
    if (hex.len != 2 * (size_t)DIGEST_BYTES) {
        return false;
    }
    memset(digest, 0, DIGEST_BYTES);
    for (size_t i = 0; i < hex.len; i++) {
        char c = hex.ptr[i];
        bool is_letter = c >= 'a' && c <= 'f';
        if (!is_letter && (c < '0' || c > '9')) {
            return false;
        }
        digest[i / 2] = (uint8_t)(digest[i / 2] << 4 | (is_letter ? c - 'a' + 10 : c - '0'));
    }
    return true;
}

/* NULL, or what is wrong with a member of an entry. */
static const char *read_member(hub_str key, hub_str value, hub_arena *arena, hub_token *token,
                               int64_t *created)
{
    hub_str text = HUB_STR_EMPTY;
    bool is_text = hub_json_plain(value, &text);
    if (hub_json_string_is(key, HUB_STR("name"))) {
        token->name = hub_arena_strdup(arena, text);
        return is_text ? hub_tokens_name_problem(text) : "\"name\" is not text";
    }
    if (hub_json_string_is(key, HUB_STR("id"))) {
        token->id = hub_arena_strdup(arena, text);
        return is_text && is_id(text) ? NULL : "\"id\" is not 1 to 32 of A-Z, a-z, 0-9, - and _";
    }
    if (hub_json_string_is(key, HUB_STR("sha256"))) {
        return is_text && parse_digest(text, token->sha256)
                   ? NULL
                   : "\"sha256\" is not 64 lower-case hexadecimal digits";
    }
    if (hub_json_string_is(key, HUB_STR("created"))) {
        return hub_json_to_i64(value, created) ? NULL : "\"created\" is not seconds since 1970";
    }
    if (hub_json_string_is(key, HUB_STR("expires"))) {
        bool is_time = hub_json_to_i64(value, &token->expires) && token->expires > 0;
        return is_time ? NULL : "\"expires\" is not seconds since 1970; leave it out for never";
    }
    return "it has a member that is none of name, id, sha256, created, expires";
}

static const char *read_entry(hub_str entry, hub_arena *arena, hub_token *token, int64_t *created)
{
    static const char *const NEEDED[] = {"name", "id", "sha256"};
    if (hub_json_type_of(entry) != HUB_JSON_OBJECT) {
        return "it is not an object";
    }
    hub_json_iter it = hub_json_iterate(entry);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        const char *problem = read_member(key, value, arena, token, created);
        if (problem != NULL) {
            return problem;
        }
    }
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++) {
        if (hub_json_get(entry, hub_str_of(NEEDED[i])).len == 0) {
            return "it lacks \"name\", \"id\" or \"sha256\"";
        }
    }
    return NULL;
}

const hub_token *hub_tokens_find(const hub_tokens *tokens, const char *id)
{
    for (size_t i = 0; i < tokens->count; i++) {
        if (strcmp(tokens->tokens[i].id, id) == 0) {
            return &tokens->tokens[i];
        }
    }
    return NULL;
}

static hub_err read_entries(const char *path, hub_str list, hub_arena *arena, hub_tokens *tokens,
                            hub_error *reterr)
{
    hub_json_iter it = hub_json_iterate(list);
    hub_str key;
    hub_str entry;
    while (hub_json_next(&it, &key, &entry)) {
        hub_token token = {.name = NULL};
        int64_t created = 0;
        const char *problem = read_entry(entry, arena, &token, &created);
        if (hub_arena_failed(arena) != HUB_OK) {
            return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", path);
        }
        if (problem == NULL && hub_tokens_find(tokens, token.id) != NULL) {
            problem = "its id is another token's, too";
        }
        if (problem != NULL) {
            return hub_fail(reterr, HUB_EINVAL, "%s: token %zu: %s", path, tokens->count + 1,
                            problem);
        }
        tokens->tokens[tokens->count] = token;
        tokens->created[tokens->count] = created;
        tokens->count++;
    }
    return HUB_OK;
}

hub_err hub_tokens_parse(const char *path, hub_str text, hub_arena *arena, hub_tokens *tokens,
                         hub_error *reterr)
{
    hub_str list = HUB_STR_EMPTY;
    hub_err err = hub_json_check(text, &list, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "%s: not a tokens file", path);
        return err;
    }
    if (hub_json_type_of(list) != HUB_JSON_ARRAY) {
        return hub_fail(reterr, HUB_EINVAL, "%s: not a tokens file: wanted a list of tokens", path);
    }
    size_t count = hub_json_count(list);
    if (count > HUB_LIMIT_TOKENS) {
        return hub_fail(reterr, HUB_ELIMIT, "%s: more than %d tokens", path, HUB_LIMIT_TOKENS);
    }
    /* Room for one more, for whoever adds it. */
    tokens->tokens = hub_arena_array(arena, count + 1, sizeof *tokens->tokens);
    tokens->created = hub_arena_array(arena, count + 1, sizeof *tokens->created);
    if (tokens->tokens == NULL || tokens->created == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", path);
    }
    return read_entries(path, list, arena, tokens, reterr);
}

hub_err hub_tokens_read(const char *path, hub_arena *arena, hub_tokens *ret_tokens,
                        hub_error *reterr)
{
    hub_tokens tokens = {.count = 0};
    hub_buf text;
    hub_buf_init(&text, HUB_TOKENS_FILE_BYTES);
    hub_err err = hub_file_read_private(path, &text, reterr);
    if (err == HUB_OK) {
        err = hub_tokens_parse(path, hub_buf_str(&text), arena, &tokens, reterr);
    }
    hub_buf_fini(&text);
    if (err == HUB_OK) {
        *ret_tokens = tokens;
    }
    return err;
}
