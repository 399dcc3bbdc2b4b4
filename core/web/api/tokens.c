/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of the tokens file, as `patchbay token` has them: list, make, revoke. A token is shown once, to
 * who has it made, and is good for no more than its maker may. The thread reads and writes the file. */
#include "base/limits.h"
#include "base/log.h"
#include "config/tokens.h"
#include "hub/kernel/hub.h"
#include "web/api/later.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARENA_BYTES = 16 * 1024 * 1024, MOST_DAYS = 36500 };

typedef struct job {
    hub_api_later later;
    hub_arena *arena;
    const char *path;
    hub_tokens tokens;
    hub_token wanted; /* of one that is made */
    hub_new_token made;
    const char *name; /* of what is revoked, or its id */
    size_t removed;
    hub_error why;
} job;

static void drop(job *one)
{
    hub_tokens_wipe(&one->made);
    hub_arena_destroy(one->arena);
    hub_api_later_free(&one->later);
}

/* NULL: it has been answered. */
static job *begin(const hub_api_asked *asked)
{
    const char *path = hub_settings_of(asked->hub)->auth.tokens_file;
    if (path == NULL) {
        hub_api_fail(asked->exchange, 409, "conflict",
                     "the hub has no tokens file: name one with auth: {tokens: FILE}");
        return NULL;
    }
    job *one = calloc(1, sizeof *one);
    hub_arena *arena = one != NULL ? hub_arena_create(ARENA_BYTES) : NULL;
    const char *kept = arena != NULL ? hub_arena_strdup(arena, hub_str_of(path)) : NULL;
    if (kept == NULL) {
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        hub_arena_destroy(arena);
        free(one);
        return NULL;
    }
    one->arena = arena;
    one->path = kept;
    return one;
}

/* Give up before it was handed over. */
static void refuse(const hub_api_asked *asked, job *one, const hub_error *why)
{
    hub_api_fail_with(asked->exchange, why);
    hub_arena_destroy(one->arena);
    free(one);
}

/* ---- list ------------------------------------------------------------------------------------ */

/* [worker] */
static void read_tokens(hub_api_later *later)
{
    job *one = (job *)later;
    hub_err err = hub_tokens_read(one->path, one->arena, &one->tokens, &one->why);
    one->why.code = err;
}

static void add_token(hub_buf *out, const hub_token *token, int64_t created)
{
    hub_json_add_comma(out);
    hub_buf_add_char(out, '{');
    hub_json_add_member(out, "name", hub_str_of(token->name));
    hub_json_add_member(out, "id", hub_str_of(token->id));
    hub_buf_printf(out, ",\"created\":%lld", (long long)created);
    if (token->expires != 0) {
        hub_buf_printf(out, ",\"expires\":%lld", (long long)token->expires);
    }
    hub_names_add(&token->scopes, "scopes", out);
    hub_names_add(&token->groups, "groups", out);
    if (token->profile != NULL) {
        hub_json_add_member(out, "profile", hub_str_of(token->profile));
    }
    hub_buf_add_char(out, '}');
}

static void finish_list(hub_api_later *later)
{
    job *one = (job *)later;
    hub_web_exchange *exchange = hub_api_later_exchange(later);
    if (exchange != NULL && one->why.code != HUB_OK) {
        hub_api_fail_with(exchange, &one->why);
    } else if (exchange != NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        hub_buf_add(&out, HUB_STR("{\"tokens\":["));
        for (size_t i = 0; i < one->tokens.count; i++) {
            add_token(&out, &one->tokens.tokens[i], one->tokens.created[i]);
        }
        hub_buf_add(&out, HUB_STR("]}"));
        hub_api_answer(exchange, 200, &out);
    }
    drop(one);
}

static void serve_list(hub_api_asked *asked)
{
    job *one = begin(asked);
    if (one != NULL) {
        hub_api_work(asked, &one->later, read_tokens, finish_list);
    }
}

/* ---- revoke ---------------------------------------------------------------------------------- */

/* [worker] */
static void remove_tokens(hub_api_later *later)
{
    job *one = (job *)later;
    hub_err err = hub_tokens_remove(one->path, one->name, &one->removed, &one->why);
    one->why.code = err;
}

static void finish_revoke(hub_api_later *later)
{
    job *one = (job *)later;
    hub_web_exchange *exchange = hub_api_later_exchange(later);
    if (one->why.code == HUB_OK) {
        hub_log(HUB_LOG_INFO, "token.revoked", HUB_F_TEXT("token", one->name),
                HUB_F_INT("count", one->removed), HUB_F_TEXT("by", later->held->name));
    }
    if (exchange != NULL && one->why.code != HUB_OK) {
        hub_api_fail_with(exchange, &one->why);
    } else if (exchange != NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_buf_printf(&out, "{\"revoked\":%zu}", one->removed);
        hub_api_answer(exchange, 200, &out);
    }
    drop(one);
}

static void serve_revoke(hub_api_asked *asked)
{
    job *one = begin(asked);
    if (one == NULL) {
        return;
    }
    one->name = hub_arena_strdup(one->arena, asked->named[0]);
    if (one->name == NULL) {
        refuse(asked, one, &(hub_error){.code = HUB_ENOMEM});
    } else {
        hub_api_work(asked, &one->later, remove_tokens, finish_revoke);
    }
}

/* ---- make ------------------------------------------------------------------------------------ */

/* A member that is a list of strings, in the arena.
 * errors:  HUB_EINVAL, HUB_ENOMEM */
static hub_err read_names(job *one, hub_str body, const char *key, hub_names *names)
{
    hub_str list = hub_json_get(body, hub_str_of(key));
    hub_json_iter it = hub_json_iterate(list);
    hub_str none;
    hub_str raw;
    size_t room = 0;
    if (list.len == 0) {
        return HUB_OK;
    }
    if (hub_json_type_of(list) != HUB_JSON_ARRAY) {
        return hub_fail(&one->why, HUB_EINVAL, "%s must be a list of strings", key);
    }
    while (hub_json_next(&it, &none, &raw)) {
        room++;
    }
    const char **items = hub_arena_array(one->arena, room + 1, sizeof *items);
    it = hub_json_iterate(list);
    *names = (hub_names){.items = items, .set = true};
    while (items != NULL && names->count < room && hub_json_next(&it, &none, &raw)) {
        hub_str text;
        if (!hub_json_plain(raw, &text)) {
            return hub_fail(&one->why, HUB_EINVAL, "%s must be a list of plain strings", key);
        }
        items[names->count] = hub_arena_strdup(one->arena, text);
        if (items[names->count++] == NULL) {
            items = NULL;
        }
    }
    return items != NULL ? HUB_OK : hub_fail(&one->why, HUB_ENOMEM, "out of memory");
}

static hub_err read_text(job *one, hub_str body, const char *key, const char **ret_text)
{
    hub_str text;
    hub_str raw = hub_json_get(body, hub_str_of(key));
    if (raw.len == 0) {
        return HUB_OK;
    }
    if (!hub_json_plain(raw, &text)) {
        return hub_fail(&one->why, HUB_EINVAL, "%s must be a plain string", key);
    }
    *ret_text = hub_arena_strdup(one->arena, text);
    return *ret_text != NULL ? HUB_OK : hub_fail(&one->why, HUB_ENOMEM, "out of memory");
}

static hub_err read_days(job *one, hub_str body)
{
    uint64_t days = 0;
    hub_str raw = hub_json_get(body, HUB_STR("days"));
    if (raw.len > 0 && (!hub_json_to_whole(raw, &days) || days == 0 || days > MOST_DAYS)) {
        return hub_fail(&one->why, HUB_EINVAL, "days must be a number from 1 to %d", MOST_DAYS);
    }
    one->wanted.expires = days > 0 ? (int64_t)time(NULL) + (int64_t)days * 86400 : 0;
    return HUB_OK;
}

static bool are_among(const hub_names *wanted, const hub_names *own)
{
    size_t at = 0;
    while (at < wanted->count && hub_names_have(own, hub_str_of(wanted->items[at]))) {
        at++;
    }
    return at == wanted->count;
}

/* A token has at most the rights of whom it is made by. The operator has all. */
static hub_err check_rights(job *one, const hub_api_asked *asked)
{
    const hub_identity *maker = asked->identity;
    hub_token *wanted = &one->wanted;
    bool is_late =
        maker->expires != 0 && (wanted->expires == 0 || wanted->expires > maker->expires);
    bool is_wide = maker->profile != NULL &&
                   (wanted->profile == NULL || strcmp(wanted->profile, maker->profile) != 0);
    if (asked->is_operator) {
        return HUB_OK;
    }
    if (!are_among(&wanted->scopes, &maker->scopes) ||
        !are_among(&wanted->groups, &maker->groups) || is_late || is_wide) {
        return hub_fail(&one->why, HUB_EDENIED,
                        "a token has at most its maker's rights: its scopes, groups, profile and "
                        "time; more is for `patchbay token new`");
    }
    return HUB_OK;
}

/* [worker] */
static void make(hub_api_later *later)
{
    job *one = (job *)later;
    hub_err err =
        hub_tokens_add(one->path, &one->wanted, (int64_t)time(NULL), &one->made, &one->why);
    one->why.code = err;
}

static void finish_make(hub_api_later *later)
{
    job *one = (job *)later;
    hub_web_exchange *exchange = hub_api_later_exchange(later);
    if (one->why.code == HUB_OK) {
        hub_log(HUB_LOG_INFO, "token.made", HUB_F_TEXT("token", one->wanted.name),
                HUB_F_TEXT("by", later->held->name));
    }
    if (exchange != NULL && one->why.code != HUB_OK) {
        hub_api_fail_with(exchange, &one->why);
    } else if (exchange != NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_buf_add_char(&out, '{');
        hub_json_add_member(&out, "name", hub_str_of(one->wanted.name));
        hub_json_add_member(&out, "token", hub_str_of(one->made.text));
        hub_buf_add_char(&out, '}');
        hub_api_answer(exchange, 200, &out);
    }
    drop(one);
}

static void serve_make(hub_api_asked *asked)
{
    hub_str body = asked->request->body;
    job *one = begin(asked);
    if (one == NULL) {
        return;
    }
    hub_err err = read_text(one, body, "name", &one->wanted.name);
    err = err == HUB_OK ? read_text(one, body, "profile", &one->wanted.profile) : err;
    err = err == HUB_OK ? read_names(one, body, "scopes", &one->wanted.scopes) : err;
    err = err == HUB_OK ? read_names(one, body, "groups", &one->wanted.groups) : err;
    err = err == HUB_OK ? read_days(one, body) : err;
    if (err == HUB_OK && one->wanted.name == NULL) {
        err = hub_fail(&one->why, HUB_EINVAL, "name must be a string: whose token it is");
    }
    err = err == HUB_OK ? check_rights(one, asked) : err;
    if (err != HUB_OK) {
        const hub_error why = one->why;
        refuse(asked, one, &why);
    } else {
        hub_api_work(asked, &one->later, make, finish_make);
    }
}

const hub_api_route HUB_API_TOKEN_ROUTES[] = {
    {.method = "GET",
     .path = "/tokens",
     .scope = HUB_API_READ,
     .summary = "The tokens of the tokens file: names and rights, never a token.",
     .handle = serve_list},
    {.method = "POST",
     .path = "/tokens",
     .scope = HUB_API_ADMIN,
     .summary = "Make a token with at most the caller's rights; it is shown in the answer, and "
                "never again.",
     .body = "{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":"
             "\"string\"},\"scopes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
             "\"groups\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"profile\":{"
             "\"type\":\"string\"},\"days\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":"
             "36500}}}",
     .handle = serve_make},
    {.method = "DELETE",
     .path = "/tokens/{token}",
     .scope = HUB_API_ADMIN,
     .summary = "Revoke all tokens of a name, or the one with that id.",
     .handle = serve_revoke},
    {.method = NULL},
};
