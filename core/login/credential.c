/* SPDX-License-Identifier: Apache-2.0 */
#include "login/credential.h"

#include "base/limits.h"
#include "wire/json.h"

#include <inttypes.h>
#include <stdlib.h>

const hub_state_kind HUB_LOGIN_KIND = {.name = "login", .is_secret = true};
const hub_state_kind HUB_LOGIN_CLIENT_KIND = {.name = "login-client", .is_secret = true};

static const struct {
    const char *name;
    size_t offset;
} TEXTS[] = {
#define TEXT(member)                                                                               \
    {                                                                                              \
#member, offsetof(hub_credential, member)                                                  \
    }
    TEXT(url),          TEXT(resource),      TEXT(issuer),      TEXT(token_endpoint),
    TEXT(client_id),    TEXT(client_secret), TEXT(client_auth), TEXT(scope),
    TEXT(access_token), TEXT(refresh_token), TEXT(lease),       TEXT(revocation_endpoint),
#undef TEXT
};

static char **text_at(hub_credential *credential, size_t at)
{
    return (char **)(void *)((char *)credential + TEXTS[at].offset);
}

void hub_login_forget_text(char **text)
{
    if (*text != NULL) {
        explicit_bzero(*text, strlen(*text));
        free(*text);
        *text = NULL;
    }
}

void hub_credential_fini(hub_credential *credential)
{
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        hub_login_forget_text(text_at(credential, i));
    }
    *credential = (hub_credential){.url = NULL};
}

static bool is_good(hub_str text, bool is_word)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < (is_word ? 0x21 : 0x20) || text.ptr[i] >= 0x7f) {
            return false;
        }
    }
    return true;
}

char *hub_login_dup_member(hub_str object, const char *name, size_t most, bool is_word)
{
    hub_buf text;
    char *made = NULL;
    hub_buf_init_secret(&text, most);
    hub_str raw = hub_json_get(object, hub_str_of(name));
    if (hub_json_type_of(raw) == HUB_JSON_STRING && hub_json_decode(raw, &text) == HUB_OK &&
        text.len > 0 && is_good(hub_buf_str(&text), is_word)) {
        made = hub_str_dup(hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return made;
}

hub_err hub_credential_read(hub_str json, hub_credential *ret_credential)
{
    hub_str object;
    if (hub_json_check(json, &object, NULL) != HUB_OK ||
        hub_json_type_of(object) != HUB_JSON_OBJECT) {
        return HUB_EPARSE;
    }
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        *text_at(ret_credential, i) =
            hub_login_dup_member(object, TEXTS[i].name, HUB_LIMIT_LOGIN_TEXT_BYTES, false);
    }
    (void)hub_json_to_u64(hub_json_get(object, HUB_STR("expires_s")), &ret_credential->expires_s);
    (void)hub_json_to_u64(hub_json_get(object, HUB_STR("lease_until_s")),
                          &ret_credential->lease_until_s);
    return HUB_OK;
}

void hub_credential_add(hub_buf *out, const hub_credential *credential)
{
    hub_buf_add_char(out, '{');
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        const char *text =
            *(char *const *)(const void *)((const char *)credential + TEXTS[i].offset);
        if (text != NULL) {
            hub_json_add_key(out, hub_str_of(TEXTS[i].name));
            hub_json_add_string(out, hub_str_of(text));
        }
    }
    hub_json_add_key(out, HUB_STR("expires_s"));
    hub_buf_add_u64(out, credential->expires_s);
    hub_json_add_key(out, HUB_STR("lease_until_s"));
    hub_buf_add_u64(out, credential->lease_until_s);
    hub_buf_add_char(out, '}');
}

static void add_public_text(hub_buf *out, const char *name, const char *text)
{
    if (text != NULL) {
        hub_json_add_key(out, hub_str_of(name));
        hub_json_add_string(out, hub_str_of(text));
    }
}

void hub_credential_add_public(hub_buf *out, hub_str toolset, hub_str owner,
                               const hub_credential *credential)
{
    hub_buf_add(out, HUB_STR("{\"toolset\":"));
    hub_json_add_string(out, toolset);
    hub_buf_add(out, HUB_STR(",\"principal\":"));
    hub_json_add_string(out, owner);
    add_public_text(out, "server", credential->url);
    add_public_text(out, "issuer", credential->issuer);
    add_public_text(out, "scope", credential->scope);
    hub_buf_printf(out, ",\"expires\":%" PRIu64 ",\"refreshable\":%s,\"state\":\"%s\"}",
                   credential->expires_s, credential->refresh_token != NULL ? "true" : "false",
                   credential->access_token != NULL ? "logged_in" : "ended");
}
