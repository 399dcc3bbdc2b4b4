/* SPDX-License-Identifier: Apache-2.0 */
/* toolsets.KEY.auth: how the hub logs in to a server. Written as the JSON that core/login reads. */
#include "config/reader.h"

#include "base/limits.h"
#include "wire/json.h"

/* What it may say; each is a node until all of it is read. */
typedef struct login_draft {
    const hub_node *grant;
    const hub_node *issuer;
    const hub_node *client_id;
    const hub_node *client_secret;
    const hub_node *scopes;
    const hub_node *redirect_uri;
    const hub_node *client_document;
    const hub_node *private_key;
    const hub_node *algorithm;
    const hub_node *key_id;
    const hub_node *audience;
    const hub_node *subject_token;
    const hub_node *subject_issuer;
    const hub_node *identity_provider;
} login_draft;

#define SAID(member)                                                                               \
    {                                                                                              \
        .name = #member, .kind = HUB_CONFIG_OTHER, .read = hub_config_read_node,                   \
        .offset = offsetof(login_draft, member)                                                    \
    }

/* The schema in toolset_keys.c says the same. */
static const hub_config_key KEYS[] = {
    SAID(grant),           SAID(issuer),
    SAID(client_id),       SAID(client_secret),
    SAID(scopes),          SAID(redirect_uri),
    SAID(client_document), SAID(private_key),
    SAID(algorithm),       SAID(key_id),
    SAID(audience),        SAID(subject_token),
    SAID(subject_issuer),  SAID(identity_provider),
    {.name = NULL},
};

static const hub_config_key PROVIDER_KEYS[] = {
    SAID(issuer),    SAID(client_id), SAID(client_secret), SAID(private_key),
    SAID(algorithm), SAID(key_id),    {.name = NULL},
};

/* The words of `grant`, and those of them that are made of the caller's own token. */
static const char *const GRANTS[] = {"authorization_code", "device_code", "client_credentials",
                                     "token_exchange", "id_jag"};

static const hub_config_key HERE = {.offset = 0};

static bool is_printable(hub_str text, bool may_have_lines)
{
    for (size_t i = 0; i < text.len; i++) {
        bool is_line_end = may_have_lines && (text.ptr[i] == '\n' || text.ptr[i] == '\r');
        if (!is_line_end && (text.ptr[i] < 0x20 || text.ptr[i] >= 0x7f)) {
            return false;
        }
    }
    return true;
}

/* A text with variables; its value may be secret. */
static hub_err add_text(hub_config_reader *reader, const hub_node *node, const char *key,
                        hub_buf *out)
{
    if (node == NULL) {
        return HUB_OK;
    }
    if (node->kind != HUB_NODE_TEXT && node->kind != HUB_NODE_NUMBER) {
        return hub_config_wrong_kind(reader, node, "text");
    }
    hub_buf value;
    hub_buf_init_secret(&value, HUB_LIMIT_LOGIN_TEXT_BYTES);
    hub_err err = hub_config_hide_named(reader, hub_str_of(key), node->text);
    if (err == HUB_OK) {
        err = hub_config_expand_secret(reader, node, &value);
    }
    hub_str text = hub_buf_str(&value);
    if (err == HUB_OK && !is_printable(text, strcmp(key, "private_key") == 0)) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "wants printable ASCII");
    }
    if (err == HUB_OK && text.len == 0 && !reader->is_switched_off) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "is empty");
    }
    if (err == HUB_OK && text.len > 0) {
        hub_json_add_key(out, hub_str_of(key));
        hub_json_add_string(out, text);
    }
    hub_buf_fini(&value);
    return err;
}

static hub_err add_scopes(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    hub_names scopes = {.count = 0};
    hub_err err = node != NULL ? hub_config_read_scopes(reader, node, &HERE, &scopes) : HUB_OK;
    if (err != HUB_OK || scopes.count == 0) {
        return err;
    }
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOGIN_TEXT_BYTES);
    for (size_t i = 0; i < scopes.count; i++) {
        hub_buf_add(&text, i > 0 ? HUB_STR(" ") : HUB_STR_EMPTY);
        hub_buf_add(&text, hub_str_of(scopes.items[i]));
    }
    hub_json_add_key(out, HUB_STR("scopes"));
    hub_json_add_string(out, hub_buf_str(&text));
    err = hub_buf_ok(&text) ? HUB_OK
                            : hub_node_fail(node, reader->reterr, HUB_ELIMIT, "too many scopes");
    hub_buf_fini(&text);
    return err;
}

static bool is_one_of(const hub_node *node, const char *const *words, size_t count)
{
    size_t at = 0;
    while (at < count && !hub_str_is(node->text, words[at])) {
        at++;
    }
    return node->kind == HUB_NODE_TEXT && at < count;
}

static bool is_grant(const login_draft *draft, const char *name)
{
    return draft->grant != NULL && hub_str_is(draft->grant->text, name);
}

static bool has_proof(const login_draft *draft)
{
    return draft->client_secret != NULL || draft->private_key != NULL;
}

/* A client belongs to the authorization server that knows it, and its secret is shown to no other. */
static hub_err check_client(hub_config_reader *reader, const hub_node *node,
                            const login_draft *draft)
{
    if (has_proof(draft) && (draft->issuer == NULL || draft->client_id == NULL)) {
        return hub_node_fail(
            node, reader->reterr, HUB_EINVAL,
            "a client_secret or a private_key wants a client_id and an issuer: it is "
            "for that authorization server alone");
    }
    if (draft->client_secret != NULL && draft->private_key != NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "has both a client_secret and a private_key: write one of them");
    }
    if ((is_grant(draft, "client_credentials") || is_grant(draft, "token_exchange")) &&
        !has_proof(draft)) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "grant: " HUB_STR_FMT " wants issuer, client_id, and client_secret or "
                             "private_key",
                             HUB_STR_ARG(draft->grant->text));
    }
    return HUB_OK;
}

/* What only a grant of the caller's own token has. */
static hub_err check_exchange(hub_config_reader *reader, const hub_node *node,
                              const login_draft *draft)
{
    static const char *const KINDS[] = {"access_token", "id_token", "jwt"};
    bool is_jag = is_grant(draft, "id_jag");
    bool is_of_caller = is_jag || is_grant(draft, "token_exchange");
    const hub_node *vain = is_of_caller                   ? NULL
                           : draft->subject_token != NULL ? draft->subject_token
                                                          : draft->subject_issuer;
    if (vain != NULL) {
        return hub_node_fail(vain, reader->reterr, HUB_EINVAL,
                             "is for grant: token_exchange and grant: id_jag");
    }
    if (draft->audience != NULL && !is_grant(draft, "token_exchange")) {
        return hub_node_fail(draft->audience, reader->reterr, HUB_EINVAL,
                             "is for grant: token_exchange");
    }
    if (is_jag != (draft->identity_provider != NULL)) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "grant: id_jag and identity_provider want each other: the one that "
                             "exchanges the caller's token for an assertion");
    }
    if (draft->subject_token != NULL &&
        !is_one_of(draft->subject_token, KINDS, sizeof KINDS / sizeof KINDS[0])) {
        return hub_config_wrong(reader, draft->subject_token,
                                "\"access_token\", \"id_token\" or \"jwt\"");
    }
    return HUB_OK;
}

static hub_err check(hub_config_reader *reader, const hub_node *node, const login_draft *draft)
{
    if (draft->grant != NULL &&
        !is_one_of(draft->grant, GRANTS, sizeof GRANTS / sizeof GRANTS[0])) {
        return hub_config_wrong(reader, draft->grant,
                                "\"authorization_code\", \"device_code\", \"client_credentials\", "
                                "\"token_exchange\" or \"id_jag\"");
    }
    hub_err err = check_client(reader, node, draft);
    return err == HUB_OK ? check_exchange(reader, node, draft) : err;
}

typedef struct login_text {
    const char *key;
    const hub_node *node;
} login_text;

static hub_err add_texts(hub_config_reader *reader, const login_text *texts, hub_buf *out)
{
    hub_err err = HUB_OK;
    for (; err == HUB_OK && texts->key != NULL; texts++) {
        err = add_text(reader, texts->node, texts->key, out);
    }
    return err;
}

/* Who exchanges callers' tokens for assertions. */
static hub_err add_provider(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    login_draft draft = {.grant = NULL};
    if (node == NULL) {
        return HUB_OK;
    }
    hub_err err = hub_config_read_map_of(reader, node, PROVIDER_KEYS, NULL, &draft);
    if (err == HUB_OK && (draft.issuer == NULL || draft.client_id == NULL)) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "wants an issuer and a client_id");
    }
    if (err == HUB_OK) {
        err = check_client(reader, node, &draft);
    }
    const login_text texts[] = {
        {"issuer", draft.issuer},
        {"client_id", draft.client_id},
        {"client_secret", draft.client_secret},
        {"private_key", draft.private_key},
        {"algorithm", draft.algorithm},
        {"key_id", draft.key_id},
        {NULL, NULL},
    };
    hub_json_add_key(out, HUB_STR("identity_provider"));
    hub_buf_add_char(out, '{');
    if (err == HUB_OK) {
        err = add_texts(reader, texts, out);
    }
    hub_buf_add_char(out, '}');
    return err;
}

static hub_err add_map(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    login_draft draft = {.grant = NULL};
    hub_err err = hub_config_read_map_of(reader, node, KEYS, NULL, &draft);
    if (err == HUB_OK) {
        err = check(reader, node, &draft);
    }
    const login_text texts[] = {
        {"grant", draft.grant},
        {"issuer", draft.issuer},
        {"client_id", draft.client_id},
        {"client_secret", draft.client_secret},
        {"redirect_uri", draft.redirect_uri},
        {"client_document", draft.client_document},
        {"private_key", draft.private_key},
        {"algorithm", draft.algorithm},
        {"key_id", draft.key_id},
        {"audience", draft.audience},
        {"subject_token", draft.subject_token},
        {"subject_issuer", draft.subject_issuer},
        {NULL, NULL},
    };
    hub_buf_add_char(out, '{');
    if (err == HUB_OK) {
        err = add_texts(reader, texts, out);
    }
    if (err == HUB_OK) {
        err = add_scopes(reader, draft.scopes, out);
    }
    if (err == HUB_OK) {
        err = add_provider(reader, draft.identity_provider, out);
    }
    hub_buf_add_char(out, '}');
    return err;
}

static hub_err add_login(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    if (node->kind == HUB_NODE_MAP) {
        return add_map(reader, node, out);
    }
    if (node->kind == HUB_NODE_TEXT && hub_str_is(node->text, "oauth")) {
        hub_buf_add(out, HUB_STR("{}"));
        return HUB_OK;
    }
    if (node->kind == HUB_NODE_TEXT && hub_str_is(node->text, "none")) {
        return HUB_OK;
    }
    return hub_config_wrong_kind(reader, node, "\"oauth\", \"none\", or a map");
}

/* The entry's own Authorization; NULL: it has none. */
static const hub_node *find_authorization(const hub_config_toolset_draft *draft)
{
    const hub_node *headers = hub_node_find(draft->node, "headers");
    const hub_node *at = headers != NULL && headers->kind == HUB_NODE_MAP ? headers->first : NULL;
    while (at != NULL && !hub_str_eq_nocase(hub_str_of(at->key), HUB_STR("Authorization"))) {
        at = at->next;
    }
    return at;
}

/* Whether a token is made of the caller's own, by what is written of `auth`. */
static bool is_of_caller(hub_str login)
{
    hub_str grant = hub_json_get(login, HUB_STR("grant"));
    return hub_json_string_is(grant, HUB_STR("token_exchange")) ||
           hub_json_string_is(grant, HUB_STR("id_jag"));
}

/* With `credentials: principal` each has a login that is made by a user. `login`: what is written of
 * `auth`; NULL: nothing is. */
static hub_err check_principals(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                                const hub_str *login)
{
    static const char WHAT[] = "credentials: principal gives each user a login of their own";
    if (!draft->toolset.is_per_principal) {
        return login == NULL || !is_of_caller(*login)
                   ? HUB_OK
                   : hub_node_fail(draft->login, reader->reterr, HUB_EINVAL,
                                   "a token that is made of the caller's own is the caller's "
                                   "alone: write credentials: principal beside it");
    }
    if (draft->toolset.sharing_session) {
        return hub_node_fail(draft->node, reader->reterr, HUB_EINVAL,
                             "%s, and a connection: leave out sharing: session", WHAT);
    }
    const hub_node *authorization = find_authorization(draft);
    if (authorization != NULL) {
        return hub_node_fail(authorization, reader->reterr, HUB_EINVAL,
                             "%s: leave out this header, which would be the same for all", WHAT);
    }
    if (login != NULL && login->len == 0) {
        return hub_node_fail(draft->login, reader->reterr, HUB_EINVAL, "%s: leave out auth: none",
                             WHAT);
    }
    if (login != NULL &&
        hub_json_string_is(hub_json_get(*login, HUB_STR("grant")), HUB_STR("client_credentials"))) {
        return hub_node_fail(draft->login, reader->reterr, HUB_EINVAL,
                             "%s: with grant: client_credentials the hub logs in as itself", WHAT);
    }
    return HUB_OK;
}

hub_err hub_config_add_login(hub_config_reader *reader, hub_config_toolset_draft *draft)
{
    const hub_node *node = draft->login;
    if (node == NULL || node->kind == HUB_NODE_NULL) {
        return check_principals(reader, draft, NULL);
    }
    hub_buf json;
    hub_buf_init_secret(&json, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = add_login(reader, node, &json);
    if (err == HUB_OK && !hub_buf_ok(&json)) {
        err = hub_node_fail(node, reader->reterr, json.failed, "%s", hub_err_text(json.failed));
    }
    if (err == HUB_OK) {
        hub_str written = hub_buf_str(&json);
        err = check_principals(reader, draft, &written);
    }
    if (err == HUB_OK) {
        draft->toolset.login = hub_arena_strdup(reader->arena, hub_buf_str(&json));
        err = draft->toolset.login != NULL ? HUB_OK : hub_config_no_memory(reader);
    }
    hub_buf_fini(&json);
    return err;
}

/* Whose tokens are exchanged, as JSON. The same as login_subject_issuer. */
static hub_str subject_issuer(hub_str login)
{
    hub_str provider = hub_json_get(login, HUB_STR("identity_provider"));
    const hub_str places[] = {hub_json_get(login, HUB_STR("subject_issuer")),
                              hub_json_get(provider, HUB_STR("issuer")),
                              hub_json_get(login, HUB_STR("issuer"))};
    size_t at = 0;
    while (at + 1 < sizeof places / sizeof places[0] && places[at].len == 0) {
        at++;
    }
    return places[at];
}

hub_err hub_config_finish_login(hub_config_reader *reader, const hub_config_toolset *toolset)
{
    hub_auth_settings *auth = &reader->config.settings.auth;
    hub_str login = hub_str_of(toolset->settings.login);
    bool is_known = false;
    if (!is_of_caller(login)) {
        return HUB_OK;
    }
    hub_str issuer = subject_issuer(login);
    for (size_t i = 0; i < auth->issuer_count; i++) {
        is_known = is_known || hub_json_string_is(issuer, hub_str_of(auth->issuers[i].jwt.issuer));
    }
    auth->keeps_tokens = auth->keeps_tokens || is_known;
    return is_known ? HUB_OK
                    : hub_node_fail(toolset->node, reader->reterr, HUB_EINVAL,
                                    "auth: tokens of " HUB_STR_FMT " are exchanged, and "
                                    "auth.issuers has no such issuer: nobody could show one",
                                    HUB_STR_ARG(issuer));
}
