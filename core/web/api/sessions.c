/* SPDX-License-Identifier: Apache-2.0 */
#include "web/api/sessions.h"

#include "base/clock.h"
#include "base/digest.h"
#include "hub/kernel/hub.h"
#include "identity/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CODES = 16, MOST_SESSIONS = 64, SESSION_SECONDS = 12 * 3600 };

typedef struct entry {
    hub_identity *identity; /* NULL: there is none */
    unsigned char digest[HUB_DIGEST_BYTES];
    uint64_t until_ms; /* monotonic */
} entry;

struct hub_api_sessions {
    hub_orchestrator *hub;
    entry codes[MOST_CODES];
    entry open[MOST_SESSIONS];
};

static void drop(entry *one)
{
    hub_identity_unref(one->identity);
    *one = (entry){.identity = NULL};
}

/* A free place, or that of the one that ends first. */
static entry *take_place(entry *list, size_t count)
{
    entry *best = &list[0];
    for (size_t i = 0; i < count; i++) {
        if (list[i].until_ms < best->until_ms) {
            best = &list[i];
        }
    }
    drop(best);
    return best;
}

/* The entry of a text that is good still. */
static entry *find(entry *list, size_t count, hub_str text)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    uint64_t now_ms = hub_clock_now_ms();
    hub_digest_of(text, digest);
    for (size_t i = 0; i < count; i++) {
        if (list[i].identity != NULL && list[i].until_ms <= now_ms) {
            drop(&list[i]);
        }
        if (list[i].identity != NULL && memcmp(list[i].digest, digest, sizeof digest) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static hub_err make_text(const char *prefix, char ret_text[HUB_API_SECRET_BYTES])
{
    hub_key key;
    char hex[2 * HUB_DIGEST_BYTES + 1];
    hub_err err = hub_key_make(&key);
    if (err == HUB_OK) {
        hub_digest_hex(key.bytes, hex);
        (void)snprintf(ret_text, HUB_API_SECRET_BYTES, "%s%s", prefix, hex); /* has room */
    }
    return err;
}

hub_api_sessions *hub_api_sessions_create(hub_orchestrator *hub)
{
    hub_api_sessions *sessions = calloc(1, sizeof *sessions);
    if (sessions != NULL) {
        sessions->hub = hub;
    }
    return sessions;
}

void hub_api_sessions_destroy(hub_api_sessions *sessions)
{
    if (sessions != NULL) {
        for (size_t i = 0; i < MOST_CODES; i++) {
            drop(&sessions->codes[i]);
        }
        for (size_t i = 0; i < MOST_SESSIONS; i++) {
            drop(&sessions->open[i]);
        }
        free(sessions);
    }
}

/* Who is meant, for as long as a session lasts: by an identity of its own, which tells sessions apart. */
static hub_identity *make_identity(const hub_identity *of, bool is_admin)
{
    static const char *ADMIN[] = {HUB_SCOPE_ADMIN};
    hub_identity draft = *of;
    int64_t until = hub_clock_wall_ms() / 1000 + SESSION_SECONDS;
    if (is_admin) {
        draft.scopes = (hub_names){.items = ADMIN, .count = 1, .set = true};
    }
    draft.expires = draft.expires != 0 && draft.expires < until ? draft.expires : until;
    return hub_identity_make(&draft);
}

hub_err hub_api_sessions_invite(hub_api_sessions *sessions, const hub_identity *identity,
                                bool is_admin, char ret_code[HUB_API_SECRET_BYTES])
{
    hub_err err = make_text("", ret_code);
    hub_identity *own = err == HUB_OK ? make_identity(identity, is_admin) : NULL;
    if (own == NULL) {
        return err != HUB_OK ? err : HUB_ENOMEM;
    }
    entry *one = take_place(sessions->codes, MOST_CODES);
    one->identity = own;
    one->until_ms = hub_clock_now_ms() + HUB_API_CODE_SECONDS * 1000;
    hub_digest_of(hub_str_of(ret_code), one->digest);
    return HUB_OK;
}

hub_err hub_api_sessions_open(hub_api_sessions *sessions, hub_str code,
                              char ret_secret[HUB_API_SECRET_BYTES])
{
    entry *invited = find(sessions->codes, MOST_CODES, code);
    if (invited == NULL) {
        return HUB_ENOTFOUND;
    }
    hub_err err = make_text(HUB_API_SECRET_PREFIX, ret_secret);
    if (err == HUB_OK) {
        entry *one = take_place(sessions->open, MOST_SESSIONS);
        one->identity = hub_identity_ref(invited->identity);
        one->until_ms = hub_clock_now_ms() + (uint64_t)SESSION_SECONDS * 1000;
        hub_digest_of(hub_str_of(ret_secret), one->digest);
    }
    drop(invited);
    return err;
}

hub_identity *hub_api_sessions_judge(hub_api_sessions *sessions, hub_str secret)
{
    entry *one = find(sessions->open, MOST_SESSIONS, secret);
    if (one == NULL) {
        return NULL;
    }
    const hub_auth_settings *auth = &hub_settings_of(sessions->hub)->auth;
    hub_identity *now = hub_identity_ref(one->identity);
    bool is_good = !hub_identity_is_of_token(now) ||
                   (hub_auth_renew(auth, &now) && hub_identity_has_same_rights(now, one->identity));
    hub_identity_unref(now);
    if (!is_good || hub_identity_is_over(one->identity, hub_clock_wall_ms() / 1000)) {
        drop(one);
        return NULL;
    }
    return hub_identity_ref(one->identity);
}

bool hub_api_sessions_close(hub_api_sessions *sessions, const hub_identity *identity)
{
    for (size_t i = 0; i < MOST_SESSIONS; i++) {
        if (sessions->open[i].identity == identity && identity != NULL) {
            drop(&sessions->open[i]);
            return true;
        }
    }
    return false;
}
