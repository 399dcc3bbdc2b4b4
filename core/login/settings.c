/* SPDX-License-Identifier: Apache-2.0 */
/* The entry's `auth`, as core/config/login.c has written it. */
#include "login/internal.h"

#include "login/document.h"
#include "wire/json.h"

#include <stdlib.h>

/* A key has lines. */
static char *dup_key(hub_str object)
{
    hub_buf text;
    char *made = NULL;
    hub_str raw = hub_json_get(object, HUB_STR("private_key"));
    hub_buf_init_secret(&text, HUB_LIMIT_LOGIN_TEXT_BYTES);
    if (hub_json_type_of(raw) == HUB_JSON_STRING && hub_json_decode(raw, &text) == HUB_OK) {
        made = hub_str_dup(hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return made;
}

typedef struct named_text {
    const char *name;
    char **at;
} named_text;

/* False: one of them is not as it should be. */
static bool read_texts(hub_str object, const named_text *texts)
{
    bool are_good = true;
    for (; are_good && texts->name != NULL; texts++) {
        *texts->at = hub_login_dup_member(object, texts->name, HUB_LIMIT_LOGIN_TEXT_BYTES, false);
        are_good = *texts->at != NULL || hub_json_get(object, hub_str_of(texts->name)).len == 0;
    }
    return are_good;
}

static bool read_key(hub_str object, login_key *key)
{
    const named_text texts[] = {
        {"algorithm", &key->algorithm}, {"key_id", &key->key_id}, {NULL, NULL}};
    key->private_key = dup_key(object);
    return read_texts(object, texts);
}

static bool read_provider(hub_str object, login_provider *provider)
{
    const named_text texts[] = {{"issuer", &provider->issuer},
                                {"client_id", &provider->client_id},
                                {"client_secret", &provider->client_secret},
                                {NULL, NULL}};
    return read_texts(object, texts) && read_key(object, &provider->key);
}

bool login_settings_read(const char *json, login_settings *settings)
{
    hub_str object = hub_str_of(json != NULL ? json : "{}");
    const named_text texts[] = {
        {"issuer", &settings->issuer},
        {"client_id", &settings->client_id},
        {"client_secret", &settings->client_secret},
        {"scopes", &settings->scopes},
        {"redirect_uri", &settings->redirect_uri},
        {"client_document", &settings->document},
        {"audience", &settings->audience},
        {"subject_token", &settings->subject_token},
        {"subject_issuer", &settings->subject_issuer},
        {NULL, NULL},
    };
    if (!read_texts(object, texts) || !read_key(object, &settings->key) ||
        !read_provider(hub_json_get(object, HUB_STR("identity_provider")), &settings->provider)) {
        return false;
    }
    if (settings->redirect_uri == NULL) {
        settings->redirect_uri = hub_login_dup_callback(settings->document);
    }
    settings->is_sure = json != NULL;
    char *grant = hub_login_dup_member(object, "grant", HUB_LIMIT_LOGIN_TEXT_BYTES, true);
    settings->grant = login_grant_find(grant);
    free(grant);
    return settings->grant != NULL;
}

static void free_key(login_key *key)
{
    hub_login_forget_text(&key->private_key);
    hub_login_forget_text(&key->algorithm);
    hub_login_forget_text(&key->key_id);
}

void login_settings_fini(login_settings *settings)
{
    hub_login_forget_text(&settings->issuer);
    hub_login_forget_text(&settings->client_id);
    hub_login_forget_text(&settings->client_secret);
    hub_login_forget_text(&settings->scopes);
    hub_login_forget_text(&settings->redirect_uri);
    hub_login_forget_text(&settings->document);
    hub_login_forget_text(&settings->audience);
    hub_login_forget_text(&settings->subject_token);
    hub_login_forget_text(&settings->subject_issuer);
    free_key(&settings->key);
    hub_login_forget_text(&settings->provider.issuer);
    hub_login_forget_text(&settings->provider.client_id);
    hub_login_forget_text(&settings->provider.client_secret);
    free_key(&settings->provider.key);
}

const char *login_subject_issuer(const hub_login *login)
{
    const login_settings *settings = &login->settings;
    return settings->subject_issuer != NULL    ? settings->subject_issuer
           : settings->provider.issuer != NULL ? settings->provider.issuer
                                               : settings->issuer;
}
