/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/tasks/task_ids.h"

#include "base/digest.h"
#include "hub/access/access.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/tasks/tasks.h"

#include <openssl/crypto.h>
#include <stdio.h>

enum { MAC_DIGITS = HUB_TASK_SIGNATURE_DIGITS, MAC_BYTES = MAC_DIGITS / 2 };

/* With its length in front, so that no two lists of texts are the same bytes. */
static void add_signed(hub_buf *out, hub_str text)
{
    hub_buf_add_u64(out, text.len);
    hub_buf_add_char(out, ':');
    hub_buf_add(out, text);
}

static bool sign(const hub_task_owner *owner, const hub_key *key, hub_str id,
                 char ret_digits[MAC_DIGITS + 1])
{
    const hub_replica_place *own = hub_replicas_own(hub_toolset_hub(owner->toolset));
    unsigned char mac[HUB_DIGEST_BYTES];
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, owner->era == HUB_ERA_MODERN ? HUB_STR("task/2:") : HUB_STR("task/1:"));
    add_signed(&text, hub_str_of(hub_session_who(owner->session)));
    add_signed(&text,
               hub_str_of(hub_profile_settings_of(hub_session_profile(owner->session))->name));
    add_signed(&text, hub_str_of(hub_toolset_settings_of(owner->toolset)->key));
    add_signed(&text, owner->tool);
    add_signed(&text, id);
    if (own != NULL) { /* another replica's server may have a task of the same id */
        hub_buf_printf(&text, "%s %u", own->address, own->port);
    }
    bool ok = hub_buf_ok(&text);
    if (ok) {
        hub_hmac(key->bytes, sizeof key->bytes, hub_buf_str(&text), mac);
    }
    hub_buf_fini(&text);
    for (size_t i = 0; ok && i < MAC_BYTES; i++) {
        (void)snprintf(ret_digits + 2 * i, 3, "%02x", mac[i]);
    }
    return ok;
}

bool hub_task_read_id(hub_str raw, size_t max_bytes, hub_buf *text)
{
    hub_buf_init(text, max_bytes);
    return hub_json_decode(raw, text) == HUB_OK && text->len > 0;
}

/* Append the client's id for the toolset's own, both raw strings. */
static bool add_client_id(const hub_task_owner *owner, hub_str raw, hub_buf *out)
{
    char digits[MAC_DIGITS + 1];
    hub_buf id;
    const hub_key *key = hub_key_at(hub_toolset_hub(owner->toolset), HUB_KEY_TASKS, 0);
    bool ok = hub_task_read_id(raw, HUB_LIMIT_TASK_ID_BYTES, &id) &&
              sign(owner, key, hub_buf_str(&id), digits);
    hub_buf_fini(&id);
    if (ok) {
        hub_buf_printf(out, "\"%s.%s", hub_toolset_settings_of(owner->toolset)->key, digits);
        hub_replicas_add_home(hub_toolset_hub(owner->toolset), out, MAC_DIGITS);
        hub_buf_printf(out, ".%zu", owner->tool.len);
        size_t quote = out->len;
        hub_json_add_string(out, owner->tool);
        if (hub_buf_ok(
                out)) { /* without its quotes: the first becomes the point behind the length */
            out->ptr[quote] = '.';
            out->ptr[out->len - 1] = '.';
        }
        hub_buf_add(out, hub_str_from(raw, 1));
    }
    return ok;
}

/* What is behind a signature: LENGTH.TOOL.ID, with the length as it is written here. */
static bool read_rest(hub_str text, hub_str *ret_tool, hub_str *ret_id)
{
    size_t at = 0;
    size_t len = 0;
    while (at < text.len && at < HUB_TASK_LENGTH_DIGITS && text.ptr[at] >= '0' &&
           text.ptr[at] <= '9') {
        len = 10 * len + (size_t)(text.ptr[at++] - '0');
    }
    bool is_one = at > 0 && (at == 1 || text.ptr[0] != '0') && text.len > at + 1 + len + 1 &&
                  text.ptr[at] == '.' && text.ptr[at + 1 + len] == '.';
    if (is_one) {
        *ret_tool = (hub_str){.ptr = text.ptr + at + 1, .len = len};
        *ret_id = hub_str_from(text, at + 1 + len + 1);
    }
    return is_one;
}

/* Whether one of the keys made a signature. */
static bool fits(const hub_task_owner *owner, hub_str id, const char *signature)
{
    const hub_orchestrator *hub = hub_toolset_hub(owner->toolset);
    char digits[MAC_DIGITS + 1];
    bool is_ours = false;
    const hub_key *key = hub_key_at(hub, HUB_KEY_TASKS, 0);
    for (size_t age = 0; key != NULL && !is_ours; key = hub_key_at(hub, HUB_KEY_TASKS, ++age)) {
        is_ours = sign(owner, key, id, digits) && CRYPTO_memcmp(digits, signature, MAC_DIGITS) == 0;
    }
    return is_ours;
}

hub_toolset *hub_task_find(hub_session *session, hub_era era, hub_str text, hub_str *ret_tool,
                           hub_str *ret_id)
{
    size_t dot = hub_str_find(text, HUB_STR("."));
    size_t rest = dot + 1 + MAC_DIGITS;
    if (dot != SIZE_MAX && text.len > rest && text.ptr[rest] != '.') {
        rest += HUB_REPLICA_HOME_DIGITS; /* what has led it here */
    }
    if (dot == SIZE_MAX || text.len < rest + 2 || text.ptr[rest] != '.') {
        return NULL;
    }
    const hub_source *source =
        hub_exposure_source(hub_session_exposure(session), (hub_str){.ptr = text.ptr, .len = dot});
    if (source == NULL || source->bare) {
        return NULL;
    }
    hub_task_owner owner = {.toolset = source->owner, .session = session, .era = era};
    hub_str id;
    if (!read_rest(hub_str_from(text, rest + 1), &owner.tool, &id) ||
        !fits(&owner, id, text.ptr + dot + 1) ||
        (owner.tool.len > 0 && !hub_access_shows_tool(session, source->owner, owner.tool))) {
        return NULL;
    }
    *ret_tool = owner.tool;
    *ret_id = id;
    return source->owner;
}

/* ---- in messages ----------------------------------------------------------------------------- */

hub_str hub_tasks_related_id(hub_str object)
{
    hub_str meta = hub_json_get(object, HUB_STR("_meta"));
    return hub_json_get(hub_json_get(meta, HUB_STR(HUB_META_RELATED_TASK)), HUB_STR("taskId"));
}

bool hub_task_add_for_client(const hub_task_owner *owner, hub_str json, hub_str id, hub_buf *out)
{
    hub_str related = hub_tasks_related_id(json);
    hub_str spots[2] = {id, related};
    const char *from = json.ptr;
    if (id.len > 0 && related.len > 0 && related.ptr < id.ptr) {
        spots[0] = related;
        spots[1] = id;
    }
    for (size_t i = 0; i < 2; i++) {
        if (spots[i].len == 0) {
            continue;
        }
        hub_buf_add(out, hub_str_between(from, spots[i].ptr));
        if (!add_client_id(owner, spots[i], out)) {
            return false;
        }
        from = spots[i].ptr + spots[i].len;
    }
    hub_buf_add(out, hub_str_between(from, json.ptr + json.len));
    return hub_buf_ok(out);
}

void hub_task_add_without(hub_str object, hub_str member, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(object);
    hub_str key;
    hub_str value;
    hub_buf_add_char(out, '{');
    while (hub_json_next(&it, &key, &value)) {
        if (!hub_json_string_is(key, member)) {
            hub_json_add_comma(out);
            hub_buf_add(out, key);
            hub_buf_add_char(out, ':');
            hub_buf_add(out, value);
        }
    }
    hub_buf_add_char(out, '}');
}
