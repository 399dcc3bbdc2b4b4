/* SPDX-License-Identifier: Apache-2.0 */
#include "config/tokens.h"

#include "base/encoding.h"
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

/* As hub_config_is_key has it. */
static bool is_profile(hub_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = c >= 'a' && c <= 'z';
        if (!is_letter && (i == 0 || (c != '-' && c != '_' && (c < '0' || c > '9')))) {
            return false;
        }
    }
    return name.len > 0 && name.len <= HUB_LIMIT_TOOLSET_KEY_BYTES;
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

static const char *names_problem(const hub_names *names, const char *(*problem_of)(hub_str name))
{
    const char *problem = names->count > HUB_LIMIT_SCOPES_PER_TOKEN
                              ? "a token has at most 64 scopes and 64 groups"
                              : NULL;
    for (size_t i = 0; problem == NULL && i < names->count; i++) {
        problem = problem_of(hub_str_of(names->items[i]));
    }
    return problem;
}

const char *hub_tokens_rights_problem(const hub_token *token)
{
    const char *problem = names_problem(&token->scopes, hub_scope_problem);
    if (problem == NULL) {
        problem = names_problem(&token->groups, hub_group_problem);
    }
    return problem != NULL || token->profile == NULL || is_profile(hub_str_of(token->profile))
               ? problem
               : "a profile's name is a lower-case letter, then lower-case letters, digits, \"-\" "
                 "and \"_\"";
}

/* A list of names, decoded; NULL, or what is wrong with it. */
static const char *read_names(hub_str list, hub_arena *arena, hub_names *names)
{
    static const char WANTED[] = "\"scopes\" and \"groups\" are lists of text";
    hub_json_iter it = hub_json_iterate(list);
    hub_str key;
    hub_str value;
    const char **items = hub_arena_array(arena, hub_json_count(list), sizeof *items);
    *names = (hub_names){.items = items, .set = true};
    if (items == NULL || hub_json_type_of(list) != HUB_JSON_ARRAY) {
        return WANTED;
    }
    while (hub_json_next(&it, &key, &value)) {
        hub_buf text;
        hub_buf_init(&text, value.len);
        bool is_text = hub_json_decode(value, &text) == HUB_OK && text.len > 0 &&
                       memchr(text.ptr, '\0', text.len) == NULL;
        items[names->count] = is_text ? hub_arena_strdup(arena, hub_buf_str(&text)) : NULL;
        hub_buf_fini(&text);
        if (items[names->count++] == NULL) {
            return WANTED;
        }
    }
    return NULL;
}

/* What a token is good for: true when it is such a member. */
static bool read_right(hub_str key, hub_str value, hub_arena *arena, hub_token *token,
                       const char **ret_problem)
{
    if (hub_json_string_is(key, HUB_STR("scopes"))) {
        *ret_problem = read_names(value, arena, &token->scopes);
    } else if (hub_json_string_is(key, HUB_STR("groups"))) {
        *ret_problem = read_names(value, arena, &token->groups);
    } else if (hub_json_string_is(key, HUB_STR("profile"))) {
        hub_str text = HUB_STR_EMPTY;
        bool is_text = hub_json_plain(value, &text);
        token->profile = hub_arena_strdup(arena, text);
        *ret_problem = is_text && token->profile != NULL ? NULL : "\"profile\" is not text";
    } else {
        return false;
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
        return is_text && hub_hex_read(text, token->sha256, DIGEST_BYTES)
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
    const char *problem = "it has a member that is none of name, id, sha256, created, expires, "
                          "scopes, groups, profile";
    (void)read_right(key, value, arena, token, &problem);
    return problem;
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
    return hub_tokens_rights_problem(token);
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
