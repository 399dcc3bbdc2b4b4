/* SPDX-License-Identifier: Apache-2.0 */
/* A resource has changed: who is told, and under which URI. */
#include "base/limits.h"
#include "hub/access/access.h"
#include "hub/notices/subscription_internal.h"
#include "hub/notices/update_pace.h"
#include "tools/mapped_uri.h"

void hub_subscriber_add_uri(const hub_subscriber *subscriber, hub_str own_uri, hub_buf *out)
{
    if (subscriber->is_mapped) {
        hub_mapped_uri_add(
            hub_str_of(hub_toolset_settings_of(subscriber->subscription->toolset)->key), own_uri,
            out);
    } else {
        hub_buf_add(out, own_uri);
    }
}

/* Tell one subscriber, under the URI that it knows. */
static void tell(hub_subscriber *subscriber, hub_str uri)
{
    const hub_listen *listen = subscriber->listen;
    hub_buf known;
    hub_buf params;
    if (hub_session_is_closing(subscriber->session) || subscriber->is_asleep ||
        subscriber->is_repeat || (listen != NULL && listen->is_over) ||
        !hub_access_lets_hear(subscriber->session, subscriber->subscription->toolset, uri)) {
        return;
    }
    if (listen != NULL && !listen->is_acknowledged) {
        subscriber->has_missed = true;
        return;
    }
    if (!hub_update_pace_admit(subscriber)) {
        return;
    }
    hub_buf_init(&known, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_subscriber_add_uri(subscriber, uri, &known);
    hub_buf_add_char(&params, '{');
    if (listen != NULL) {
        hub_listen_add_meta(listen, &params);
    }
    hub_json_add_key(&params, HUB_STR("uri"));
    hub_json_add_string(&params, hub_buf_str(&known));
    hub_buf_add_char(&params, '}');
    if (hub_buf_ok(&known) && hub_buf_ok(&params)) {
        hub_respond_notify(listen != NULL ? listen->port : hub_session_port(subscriber->session),
                           HUB_STR("notifications/resources/updated"), hub_buf_str(&params));
    }
    hub_buf_fini(&params);
    hub_buf_fini(&known);
}

void hub_subscriber_tell(hub_subscriber *subscriber)
{
    tell(subscriber, hub_subscription_uri(subscriber->subscription));
}

/* Whether `uri` goes on behind its first `len` bytes with something that lies inside of it. */
static bool is_inside(hub_str uri, size_t len)
{
    return uri.ptr[len - 1] == '/' || uri.ptr[len] == '/' || uri.ptr[len] == '?' ||
           uri.ptr[len] == '#';
}

/* A resource that has changed may be one inside of that which somebody subscribed to. */
void hub_subscription_tell(hub_toolset *toolset, hub_str uri)
{
    for (size_t len = uri.len; len > 0; len--) {
        if (len < uri.len && !is_inside(uri, len)) {
            continue;
        }
        const hub_subscription *subscription =
            hub_subscription_find(toolset, (hub_str){.ptr = uri.ptr, .len = len});
        hub_subscriber *at = subscription != NULL ? subscription->first : NULL;
        for (; at != NULL; at = at->next) {
            tell(at, uri);
        }
    }
}

void hub_subscription_tell_missed(const hub_listen *listen)
{
    for (hub_subscriber *at = listen->subscribers.first; at != NULL; at = at->list_next) {
        if (at->has_missed) {
            at->has_missed = false;
            tell(at, hub_subscription_uri(at->subscription));
        }
    }
}

static void add_uris(const hub_subscriber_list *list, hub_buf *out)
{
    for (const hub_subscriber *at = list->first; at != NULL; at = at->list_next) {
        hub_buf known;
        hub_buf_init(&known, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_subscriber_add_uri(at, hub_subscription_uri(at->subscription), &known);
        hub_json_add_comma(out);
        hub_json_add_string(out, hub_buf_str(&known));
        if (!hub_buf_ok(&known)) {
            out->failed = known.failed;
        }
        hub_buf_fini(&known);
    }
}

void hub_subscription_add_uris(const hub_listen *listen, hub_buf *out)
{
    add_uris(&listen->subscribers, out);
}

void hub_subscription_add_session_uris(const hub_session *session, hub_buf *out)
{
    add_uris(&hub_notices_in(session)->subscribers, out);
}
