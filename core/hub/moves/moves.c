/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/moves/moves.h"

#include "base/limits.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/notices/notifier.h"
#include "hub/notices/subscription.h"
#include "hub/search/found.h"
#include "wire/json.h"

#include <time.h>

static const hub_state_kind KIND = {.name = "session", .is_secret = false};

const char *hub_move_obstacle(const hub_session *session)
{
    if (hub_session_instance_first(session) != NULL) {
        return "sharing: session";
    }
    if (hub_session_is_apart(session)) {
        return "active_set: session";
    }
    return hub_found_is_any(session) ? "search.equip_on_find" : NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_request(hub_buf *out, int id, const char *method)
{
    hub_json_add_comma(out);
    hub_buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{", id,
                   method);
}

static void add_subscriptions(const hub_session *session, int id, hub_buf *out)
{
    hub_buf uris;
    hub_str key;
    hub_str uri;
    hub_buf_init(&uris, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_buf_add_char(&uris, '[');
    hub_subscription_add_session_uris(session, &uris);
    hub_buf_add_char(&uris, ']');
    if (!hub_buf_ok(&uris)) {
        out->failed = uris.failed;
    } else {
        hub_json_iter it = hub_json_iterate(hub_buf_str(&uris));
        while (hub_json_next(&it, &key, &uri)) {
            add_request(out, id++, "resources/subscribe");
            hub_buf_printf(out, "\"uri\":" HUB_STR_FMT "}}", HUB_STR_ARG(uri));
        }
    }
    hub_buf_fini(&uris);
}

void hub_move_add_messages(const hub_session *session, hub_buf *out)
{
    hub_str level = hub_session_log_level(session);
    hub_str capabilities = hub_session_capabilities(session);
    hub_buf_add_char(out, '[');
    add_request(out, 0, "initialize");
    hub_buf_printf(out, "\"protocolVersion\":\"%s\",\"capabilities\":" HUB_STR_FMT "}}",
                   hub_revision_date(hub_session_revision(session)), HUB_STR_ARG(capabilities));
    if (hub_session_is_initialized(session)) {
        hub_buf_add(out,
                    HUB_STR(",{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    }
    if (level.len > 0) {
        add_request(out, 1, "logging/setLevel");
        hub_buf_printf(out, "\"level\":" HUB_STR_FMT "}}", HUB_STR_ARG(level));
    }
    add_subscriptions(session, 2, out);
    hub_buf_add_char(out, ']');
}

static void add_document(const hub_move *move, hub_buf *out)
{
    hub_buf_printf(out, "{\"format\":%d,\"at\":%lld", HUB_MOVE_FORMAT, (long long)time(NULL));
    hub_buf_printf(out, ",\"home\":\"%s\",\"port\":%u", move->home.address, move->home.port);
    hub_buf_printf(out, ",\"profile\":\"" HUB_STR_FMT "\",\"streams\":%u",
                   HUB_STR_ARG(move->profile), move->streams);
    hub_buf_printf(out, ",\"sequence\":%llu,\"delivered\":%llu,\"messages\":" HUB_STR_FMT "}",
                   (unsigned long long)move->sequence, (unsigned long long)move->delivered,
                   HUB_STR_ARG(move->messages));
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_number(hub_str object, const char *key, uint64_t most, uint64_t *ret_number)
{
    return hub_json_to_u64(hub_json_get(object, hub_str_of(key)), ret_number) &&
           *ret_number <= most;
}

static bool read_members(hub_str object, hub_move *move)
{
    hub_str home;
    uint64_t port = 0;
    uint64_t streams = 0;
    move->messages = hub_json_get(object, HUB_STR("messages"));
    bool is_good = hub_json_plain(hub_json_get(object, HUB_STR("home")), &home) &&
                   hub_json_to_i64(hub_json_get(object, HUB_STR("at")), &move->recorded_s) &&
                   read_number(object, "port", UINT16_MAX, &port) &&
                   (port == 0 || hub_address_parse(home, move->home.address)) &&
                   hub_json_plain(hub_json_get(object, HUB_STR("profile")), &move->profile) &&
                   read_number(object, "streams", UINT32_MAX, &streams) &&
                   read_number(object, "sequence", UINT64_MAX, &move->sequence) &&
                   read_number(object, "delivered", move->sequence, &move->delivered) &&
                   hub_json_type_of(move->messages) == HUB_JSON_ARRAY;
    move->home.port = (uint16_t)port;
    move->streams = (uint32_t)streams;
    return is_good;
}

hub_err hub_move_read(hub_str document, hub_move *ret_move)
{
    hub_str object;
    uint64_t format = 0;
    *ret_move = (hub_move){.home.port = 0};
    if (hub_json_check(document, &object, NULL) != HUB_OK ||
        !read_number(object, "format", UINT64_MAX, &format)) {
        return HUB_EPARSE;
    }
    if (format != HUB_MOVE_FORMAT) {
        return HUB_EINVAL;
    }
    return read_members(object, ret_move) ? HUB_OK : HUB_EPARSE;
}

bool hub_move_has_method(hub_str method)
{
    static const char *const METHODS[] = {"initialize", "notifications/initialized",
                                          "logging/setLevel", "resources/subscribe"};
    size_t i = 0;
    while (i < sizeof METHODS / sizeof METHODS[0] && !hub_str_is(method, METHODS[i])) {
        i++;
    }
    return i < sizeof METHODS / sizeof METHODS[0];
}

/* ---- records --------------------------------------------------------------------------------- */

static hub_state_id record_of(hub_move_id id)
{
    return (hub_state_id){
        .kind = &KIND, .owner = hub_str_of(id.principal), .key = hub_str_of(id.session)};
}

hub_err hub_moves_get(const hub_orchestrator *hub, hub_move_id id, hub_state_done on_done,
                      void *ctx, hub_state_op **ret_op)
{
    hub_state_id record = record_of(id);
    return hub_state_get(hub_store_of(hub), &record, on_done, ctx, ret_op, NULL);
}

hub_err hub_moves_put(const hub_orchestrator *hub, hub_move_id id, uint64_t seen,
                      const hub_move *move, hub_state_done on_done, void *ctx,
                      hub_state_op **ret_op)
{
    hub_state_id record = record_of(id);
    hub_buf document;
    hub_buf_init(&document, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    add_document(move, &document);
    hub_err err = document.failed;
    if (err == HUB_OK) {
        err = hub_state_put(hub_store_of(hub), &record, seen, hub_buf_str(&document), on_done, ctx,
                            ret_op, NULL);
    }
    hub_buf_fini(&document);
    return err;
}

hub_err hub_moves_list(const hub_orchestrator *hub, const hub_state_record *after,
                       hub_state_done on_done, void *ctx, hub_state_op **ret_op)
{
    hub_state_range range = {.kind = &KIND, .is_of_all = true};
    if (after != NULL) {
        range.after_owner = after->owner;
        range.after_key = after->key;
    }
    return hub_state_list(hub_store_of(hub), &range, on_done, ctx, ret_op, NULL);
}

void hub_moves_delete(const hub_orchestrator *hub, hub_move_id id, uint64_t seen)
{
    hub_state_id record = record_of(id);
    hub_err ignored = hub_state_delete(hub_store_of(hub), &record, seen, NULL, NULL, NULL, NULL);
    (void)ignored; /* what is left grows old */
}

bool hub_moves_are_kept(const hub_orchestrator *hub)
{
    return hub_store_health(hub_store_of(hub)).condition != HUB_STATE_OFF;
}

bool hub_moves_have_room(const hub_orchestrator *hub)
{
    return hub_store_waiting(hub_store_of(hub)) < HUB_LIMIT_REPLICA_MOVES;
}

void hub_move_tell_lists(const hub_session *session)
{
    for (int topic = 0; hub_session_is_initialized(session) && topic < HUB_TOPICS; topic++) {
        if (hub_session_announced(session)->lists[topic]) {
            hub_respond_notify(hub_session_port(session), hub_topic_method((hub_topic)topic),
                               HUB_STR_EMPTY);
        }
    }
}
