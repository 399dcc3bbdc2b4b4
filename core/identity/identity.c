/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/identity.h"

#include "base/buf.h"
#include "base/limits.h"

#include <stdlib.h>

hub_identity HUB_IDENTITY_LOCAL = {.name = "local"};
hub_identity HUB_IDENTITY_ANONYMOUS = {.name = "anonymous"};
hub_identity HUB_IDENTITY_NOBODY = {.name = "nobody", .expires = 1};

static const char CLIENT[] = "client:";

/* ---- one block for all of it ----------------------------------------------------------------- */

static size_t names_bytes(const hub_names *names)
{
    size_t bytes = names->count * sizeof *names->items;
    for (size_t i = 0; i < names->count; i++) {
        bytes += strlen(names->items[i]) + 1;
    }
    return bytes;
}

static const char *copy_text(char **at, hub_str text)
{
    char *copy = *at;
    if (text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    copy[text.len] = '\0';
    *at += text.len + 1;
    return copy;
}

/* The array is in front of all texts, where it is aligned. */
static hub_names copy_names(const char ***array, char **at, const hub_names *names)
{
    hub_names copy = {.items = *array, .count = names->count, .set = names->set};
    for (size_t i = 0; i < names->count; i++) {
        (*array)[i] = copy_text(at, hub_str_of(names->items[i]));
    }
    *array += names->count;
    return copy;
}

static void forget_token(char *token)
{
    if (token != NULL) {
        explicit_bzero(token, strlen(token));
        free(token);
    }
}

hub_identity *hub_identity_make(const hub_identity *draft)
{
    size_t profile = draft->profile != NULL ? strlen(draft->profile) + 1 : 0;
    size_t client = draft->client != NULL ? strlen(draft->client) + 1 : 0;
    hub_identity *identity =
        malloc(sizeof *identity + names_bytes(&draft->scopes) + names_bytes(&draft->groups) +
               names_bytes(&draft->toolsets) + client + strlen(draft->name) + 1 +
               draft->claims.len + 1 + profile);
    char *token = draft->token != NULL ? hub_str_dup(hub_str_of(draft->token)) : NULL;
    if (identity == NULL || (token == NULL) != (draft->token == NULL)) {
        free(identity);
        forget_token(token);
        return NULL;
    }
    const char **array = (void *)(identity + 1);
    char *at = (char *)(array + draft->scopes.count + draft->groups.count + draft->toolsets.count);
    *identity = *draft;
    identity->refs = 1;
    identity->token = token;
    identity->scopes = copy_names(&array, &at, &draft->scopes);
    identity->groups = copy_names(&array, &at, &draft->groups);
    identity->toolsets = copy_names(&array, &at, &draft->toolsets);
    identity->client = client > 0 ? copy_text(&at, hub_str_of(draft->client)) : NULL;
    identity->name = copy_text(&at, hub_str_of(draft->name));
    identity->claims.ptr = copy_text(&at, draft->claims);
    identity->profile = profile > 0 ? copy_text(&at, hub_str_of(draft->profile)) : NULL;
    return identity;
}

hub_identity *hub_identity_narrow(const hub_identity *identity, hub_str client,
                                  const hub_names *toolsets)
{
    hub_identity draft = *identity;
    hub_buf name;
    hub_buf id;
    hub_buf_init(&name, SIZE_MAX / 4);
    hub_buf_init(&id, SIZE_MAX / 4);
    draft.toolsets = *toolsets;
    if (client.len > 0) {
        hub_buf_add(&id, client);
        hub_buf_add_char(&id, '\0');
        hub_buf_printf(&name, "%s" HUB_STR_FMT "@%s", CLIENT, HUB_STR_ARG(client), identity->name);
        draft.client = id.ptr;
        draft.token = NULL; /* it is the proxy's */
        draft.name = name.ptr;
    }
    hub_identity *made = hub_buf_ok(&name) && hub_buf_ok(&id) ? hub_identity_make(&draft) : NULL;
    hub_buf_fini(&name);
    hub_buf_fini(&id);
    return made;
}

bool hub_client_id_is_good(hub_str text)
{
    static const char PLAIN[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    bool is_good = text.len > 0 && text.len <= HUB_LIMIT_CLIENT_ID_BYTES;
    for (size_t i = 0; is_good && i < text.len; i++) {
        is_good = memchr(PLAIN, text.ptr[i], sizeof PLAIN - 1) != NULL;
    }
    return is_good;
}

bool hub_principal_has_kind(hub_str name)
{
    static const char *const KINDS[] = {"token:", "jwt:", "cert:", "uid:", "client:"};
    bool has = hub_str_is(name, "local") || hub_str_is(name, "anonymous");
    for (size_t i = 0; !has && i < sizeof KINDS / sizeof *KINDS; i++) {
        has = hub_str_starts(name, hub_str_of(KINDS[i]));
    }
    return has;
}

const char *hub_principal_of_credential(const char *principal)
{
    const char *end =
        strncmp(principal, CLIENT, sizeof CLIENT - 1) == 0 ? strchr(principal, '@') : NULL;
    return end != NULL ? end + 1 : principal;
}

hub_identity *hub_identity_ref(hub_identity *identity)
{
    identity->refs += identity->refs > 0;
    return identity;
}

void hub_identity_unref(hub_identity *identity)
{
    if (identity != NULL && identity->refs > 0 && --identity->refs == 0) {
        forget_token(identity->token);
        free(identity);
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_there(const uint8_t digest[HUB_IDENTITY_DIGEST_BYTES])
{
    static const uint8_t NONE[HUB_IDENTITY_DIGEST_BYTES];
    return memcmp(digest, NONE, sizeof NONE) != 0;
}

bool hub_identity_is_of_token(const hub_identity *identity)
{
    return is_there(identity->credential);
}

bool hub_identity_is_of_certificate(const hub_identity *identity)
{
    return is_there(identity->certificate);
}

bool hub_identity_may_read_all(const hub_identity *identity)
{
    return identity != NULL && (hub_names_have(&identity->scopes, HUB_STR(HUB_SCOPE_ADMIN)) ||
                                hub_names_have(&identity->scopes, HUB_STR(HUB_SCOPE_ADMIN_READ)));
}

static bool are_same_names(const hub_names *a, const hub_names *b)
{
    bool are_same = a->count == b->count;
    for (size_t i = 0; are_same && i < a->count; i++) {
        are_same = strcmp(a->items[i], b->items[i]) == 0;
    }
    return are_same;
}

bool hub_identity_has_same_rights(const hub_identity *a, const hub_identity *b)
{
    hub_str profiles[] = {hub_str_of(a->profile), hub_str_of(b->profile)};
    return a == b ||
           (strcmp(a->name, b->name) == 0 && are_same_names(&a->scopes, &b->scopes) &&
            are_same_names(&a->groups, &b->groups) && a->toolsets.set == b->toolsets.set &&
            are_same_names(&a->toolsets, &b->toolsets) && hub_str_eq(a->claims, b->claims) &&
            (a->profile == NULL) == (b->profile == NULL) && hub_str_eq(profiles[0], profiles[1]));
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *hub_scope_problem(hub_str scope)
{
    bool is_good = scope.len > 0 && scope.len <= HUB_LIMIT_SCOPE_BYTES;
    for (size_t i = 0; is_good && i < scope.len; i++) {
        char c = scope.ptr[i];
        is_good = c > 0x20 && c < 0x7f && c != '"' && c != '\\' && c != ',';
    }
    return is_good ? NULL
                   : "a scope has 1 to 128 printable ASCII characters, no space, comma, quote or "
                     "backslash";
}

const char *hub_group_problem(hub_str group)
{
    bool is_good = group.len > 0 && group.len <= HUB_LIMIT_SCOPE_BYTES;
    for (size_t i = 0; is_good && i < group.len;) {
        hub_str rest = hub_str_from(group, i);
        size_t length = hub_str_utf8_length(rest);
        is_good = length > 0 && rest.ptr[0] != ',' && !hub_str_is_control(rest, length);
        i += length;
    }
    return is_good ? NULL : "a group has 1 to 128 bytes, no comma and no control character";
}
