/* SPDX-License-Identifier: Apache-2.0 */
/* auth.issuers: whose tokens are taken beside the hub's own. Nothing is fetched here. */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"
#include "identity/jwk.h"

#define ISSUER(member)        offsetof(hub_issuer_settings, member)
#define INTROSPECTION(member) offsetof(hub_introspection_settings, member)

static const char **member_of(void *target, const hub_config_key *key)
{
    return (const char **)(void *)((char *)target + key->offset);
}

static hub_err read_expanded(hub_config_reader *reader, const hub_node *node, bool is_secret,
                             const char **ret_text)
{
    hub_buf value;
    if (node->kind != HUB_NODE_TEXT) {
        return hub_config_wrong(reader, node, "text");
    }
    hub_buf_init_secret(&value, HUB_LIMIT_CONFIG_BYTES);
    reader->is_switched_off = false; /* that was a toolset */
    hub_err err = is_secret ? hub_config_expand_secret(reader, node, &value)
                            : hub_config_expand(reader, node, &value);
    if (err == HUB_OK && value.len == 0) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "wanted text, found nothing");
    }
    if (err == HUB_OK && is_secret) {
        err = hub_config_hide(reader, hub_buf_str(&value), reader->reterr);
    }
    if (err == HUB_OK) {
        *ret_text = hub_arena_strdup(reader->arena, hub_buf_str(&value));
        err = *ret_text != NULL ? HUB_OK : hub_config_no_memory(reader);
    }
    hub_buf_fini(&value);
    return err;
}

static hub_err read_text(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         void *target)
{
    return read_expanded(reader, node, false, member_of(target, key));
}

static hub_err read_secret(hub_config_reader *reader, const hub_node *node,
                           const hub_config_key *key, void *target)
{
    return read_expanded(reader, node, true, member_of(target, key));
}

static bool is_graphic(const char *text, const char *but)
{
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text > '~' || strchr(but, *text) != NULL) {
            return false;
        }
    }
    return true;
}

/* https, or http of this machine: what is read from there decides who is let in. */
static bool is_safe_url(const char *url)
{
    static const char *const LOCAL[] = {"http://localhost", "http://127.0.0.1", "http://[::1]"};
    bool is_safe = strncmp(url, "https://", 8) == 0 && url[8] != '\0' && url[8] != '/';
    for (size_t i = 0; i < sizeof LOCAL / sizeof LOCAL[0]; i++) {
        size_t len = strlen(LOCAL[i]);
        is_safe = is_safe || (strncmp(url, LOCAL[i], len) == 0 && strchr(":/", url[len]) != NULL);
    }
    return is_safe && is_graphic(url, "\"\\<>@ ");
}

static hub_err read_url(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                        void *target)
{
    hub_err err = read_text(reader, node, key, target);
    return err == HUB_OK && !is_safe_url(*member_of(target, key))
               ? hub_config_wrong(reader, node,
                                  "an https:// URL, or an http:// one of this machine")
               : err;
}

/* In the name of a principal "#" ends it; behind "?" nothing of an issuer can be found. */
static hub_err read_issuer_name(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    hub_err err = read_url(reader, node, key, target);
    const char *name = *member_of(target, key);
    if (err == HUB_OK && (strpbrk(name, "#?") != NULL || strlen(name) > HUB_LIMIT_ISSUER_BYTES)) {
        err =
            hub_node_fail(node, reader->reterr, HUB_EINVAL,
                          "an issuer is a URL of at most %d bytes without \"?\" and \"#\", as the "
                          "tokens have it in `iss`",
                          HUB_LIMIT_ISSUER_BYTES);
    }
    return err;
}

static hub_err read_pointer(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    hub_err err = read_text(reader, node, key, target);
    const char *pointer = *member_of(target, key);
    return err == HUB_OK && (pointer[0] != '/' || strlen(pointer) > HUB_LIMIT_JWT_POINTER_BYTES)
               ? hub_config_wrong(
                     reader, node,
                     "a JSON Pointer like \"/realm_access/roles\", of at most 256 bytes")
               : err;
}

static hub_err read_audience(hub_config_reader *reader, const hub_node *item, const char **ret_text)
{
    hub_err err = read_expanded(reader, item, false, ret_text);
    return err == HUB_OK && !is_graphic(*ret_text, "\"\\")
               ? hub_config_wrong(reader, item, "an audience, as tokens have it in `aud`")
               : err;
}

static hub_err read_audiences(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_audience,
                                (void *)((char *)target + key->offset));
}

static hub_err read_key_file(hub_config_reader *reader, const hub_node *node, const char *path,
                             hub_issuer_settings *issuer)
{
    hub_buf text;
    hub_jwks *keys = NULL;
    hub_error why = {.code = HUB_OK};
    hub_buf_init(&text, HUB_LIMIT_JWKS_BYTES);
    hub_err err = hub_config_note_file(&reader->config, path, false, reader->reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_file_read(path, &text, NULL, &why);
    if (err == HUB_OK) {
        err = hub_jwks_parse(hub_buf_str(&text), &keys, &why);
    }
    if (err == HUB_OK) {
        const char *copy = hub_arena_strdup(reader->arena, hub_buf_str(&text));
        issuer->keys = (hub_str){.ptr = copy, .len = copy != NULL ? text.len : 0};
        err = copy != NULL ? HUB_OK : hub_config_no_memory(reader);
    } else {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "%.200s: %s", path, why.text);
    }
    hub_jwks_destroy(keys);
    hub_buf_fini(&text);
    return err;
}

/* A URL, or a file. */
static hub_err read_keys(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         void *target)
{
    hub_issuer_settings *issuer = target;
    const char *path = NULL;
    (void)key;
    if (node->kind == HUB_NODE_TEXT && hub_str_find(node->text, HUB_STR("://")) != SIZE_MAX) {
        const hub_config_key url = {.offset = ISSUER(keys_url)};
        return read_url(reader, node, &url, target);
    }
    const hub_config_key file = {.offset = 0};
    hub_err err = hub_config_read_path(reader, node, &file, &path);
    return err == HUB_OK ? read_key_file(reader, node, path, issuer) : err;
}

static const hub_config_key INTROSPECTION_KEYS[] = {
    {.name = "url",
     .kind = HUB_CONFIG_OTHER,
     .read = read_url,
     .offset = INTROSPECTION(url),
     .about = "Its introspection endpoint.",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "https://id.example.com/introspect"},
    {.name = "client_id",
     .kind = HUB_CONFIG_OTHER,
     .read = read_text,
     .offset = INTROSPECTION(client_id),
     .about = "The hub's own name there. Variables are expanded.",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "patchbay"},
    {.name = "client_secret",
     .kind = HUB_CONFIG_OTHER,
     .read = read_secret,
     .offset = INTROSPECTION(client_secret),
     .about = "… and its secret. Variables and ${secret:NAME} are expanded.",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "\"${secret:introspection}\""},
    {.name = NULL},
};

static const hub_config_word ADDRESSES[] = {
    {"any", 0, false},
    {"public", 1, false},
    {.word = NULL},
};

const hub_config_key HUB_CONFIG_ISSUER_KEYS[] = {
    {.name = "issuer",
     .kind = HUB_CONFIG_OTHER,
     .read = read_issuer_name,
     .offset = ISSUER(jwt.issuer),
     .about = "Its name, as tokens have it in `iss`, byte for byte. Its keys are found from there "
              "(RFC 8414, OpenID Connect Discovery).",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "https://id.example.com/realms/main"},
    {.name = "audiences",
     .kind = HUB_CONFIG_OTHER,
     .read = read_audiences,
     .offset = ISSUER(jwt.audiences),
     .about =
         "Tokens are taken that are for one of these (`aud`): mostly the URL that clients use.",
     .schema =
         "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"minItems\":1}",
     .example = "[\"https://hub.example.com/mcp\"]"},
    {.name = "jwks",
     .kind = HUB_CONFIG_OTHER,
     .read = read_keys,
     .about = "Where its keys are, if not where it says: a URL, or a file, which is watched.",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "./keys.json",
     .is_comment = true},
    {.name = "ca",
     .kind = HUB_CONFIG_PATH,
     .offset = ISSUER(ca),
     .about = "PEM file of the authorities that the issuer is trusted by, instead of the system's.",
     .example = "authority.pem",
     .is_comment = true},
    {.name = "addresses",
     .kind = HUB_CONFIG_CHOICE,
     .offset = ISSUER(only_public),
     .words = ADDRESSES,
     .about = "public: nothing connects to an internal address for it, wherever it says that its "
              "keys are, also not when a name leads there, nor by a proxy.",
     .example = "public",
     .is_comment = true},
    {.name = "scopes_claim",
     .kind = HUB_CONFIG_OTHER,
     .read = read_pointer,
     .offset = ISSUER(jwt.scopes_at),
     .about = "JSON Pointer of the claim that has the scopes. Default: `scope`, else `scp`.",
     .schema = "{\"type\":\"string\",\"pattern\":\"^/\"}",
     .example = "/realm_access/roles",
     .is_comment = true},
    {.name = "groups_claim",
     .kind = HUB_CONFIG_OTHER,
     .read = read_pointer,
     .offset = ISSUER(jwt.groups_at),
     .about = "JSON Pointer of the claim that has the groups. Default: /groups.",
     .schema = "{\"type\":\"string\",\"pattern\":\"^/\"}",
     .example = "/realm_access/groups",
     .is_comment = true},
    {.name = "scopes",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_scopes,
     .offset = ISSUER(scopes),
     .about = "Scopes that clients are told to ask for: few, since clients ask for all of them.",
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1}}",
     .example = "[\"tools:read\"]",
     .is_comment = true},
    {.name = "introspection",
     .kind = HUB_CONFIG_MAP,
     .offset = ISSUER(introspection),
     .keys = INTROSPECTION_KEYS,
     .about = "For tokens that are not signed: the issuer is asked of each (RFC 7662).",
     .example = "{ url: https://id.example.com/introspect, client_id: patchbay, client_secret: "
                "\"${secret:introspection}\" }",
     .is_comment = true},
    {.name = NULL},
};

static const hub_config_key WITHIN = {.keys = HUB_CONFIG_ISSUER_KEYS};

/* ---- what makes an issuer another one -------------------------------------------------------- */

static void mix(uint64_t *print, hub_str text)
{
    for (size_t i = 0; i <= text.len; i++) { /* with an end, so that no two texts run together */
        *print = (*print ^ (i < text.len ? (unsigned char)text.ptr[i] : 0x100u)) * 0x100000001b3u;
    }
}

static uint64_t print_of(const hub_issuer_settings *issuer)
{
    uint64_t print = 0xcbf29ce484222325u;
    const char *const TEXTS[] = {issuer->jwt.issuer,
                                 issuer->jwt.scopes_at,
                                 issuer->jwt.groups_at,
                                 issuer->keys_url,
                                 issuer->ca,
                                 issuer->introspection.url,
                                 issuer->introspection.client_id};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        mix(&print, hub_str_of(TEXTS[i]));
    }
    for (size_t i = 0; i < issuer->jwt.audiences.count; i++) {
        mix(&print, hub_str_of(issuer->jwt.audiences.items[i]));
    }
    mix(&print, issuer->keys);
    mix(&print, issuer->only_public ? HUB_STR("public") : HUB_STR_EMPTY);
    return print != 0 ? print : 1;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static hub_err check_issuer(hub_config_reader *reader, const hub_node *node,
                            const hub_issuer_settings *issuer)
{
    const hub_introspection_settings *asked = &issuer->introspection;
    if (issuer->jwt.issuer == NULL || issuer->jwt.audiences.count == 0) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "an issuer has \"issuer\", its URL, and \"audiences\": without them "
                             "tokens that are for others would open this hub");
    }
    if ((asked->url != NULL || asked->client_id != NULL || asked->client_secret != NULL) &&
        (asked->url == NULL || asked->client_id == NULL || asked->client_secret == NULL)) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "introspection wants \"url\", \"client_id\" and \"client_secret\"");
    }
    return HUB_OK;
}

hub_err hub_config_read_issuers(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    hub_config *config = &reader->config;
    (void)target;
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "a list like [{issuer: https://id.example.com, …}]");
    }
    if (node->count > key->most) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %u issuers", key->most);
    }
    hub_issuer_settings *issuers = hub_arena_array(reader->arena, node->count, sizeof *issuers);
    hub_err err = issuers != NULL ? HUB_OK : hub_config_no_memory(reader);
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        hub_issuer_settings *issuer = &issuers[item->index];
        *issuer = (hub_issuer_settings){.keys_url = NULL};
        err =
            item->kind == HUB_NODE_MAP
                ? hub_config_read_map(reader, item, &WITHIN, issuer)
                : hub_config_wrong(reader, item, "a map like {issuer: https://id.example.com, …}");
        if (err == HUB_OK) {
            err = check_issuer(reader, item, issuer);
        }
        for (size_t i = 0; err == HUB_OK && i < item->index; i++) {
            if (strcmp(issuers[i].jwt.issuer, issuer->jwt.issuer) == 0) {
                err =
                    hub_node_fail(item, reader->reterr, HUB_EINVAL, "this issuer is there already");
            }
        }
        if (err == HUB_OK) {
            issuer->print = print_of(issuer);
        }
    }
    config->settings.auth.issuers = issuers;
    config->settings.auth.issuer_count = err == HUB_OK ? node->count : 0;
    return err;
}
