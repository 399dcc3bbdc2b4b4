/* SPDX-License-Identifier: Apache-2.0 */
#include "http/challenge.h"

#include "http/judge.h"
#include "wire/json.h"

enum { MOST_BYTES = 64 * 1024 }; /* of the answer, which is the hub's own */

static hub_str scope_of(hub_str answer)
{
    hub_str error = hub_json_get(answer, HUB_STR("error"));
    return hub_json_get(hub_json_get(error, HUB_STR("data")), HUB_STR("scope"));
}

void hub_http_challenge_read(const hub_http_connection *connection, const hub_outgoing *message,
                             hub_http_challenge *ret_challenge)
{
    *ret_challenge = (hub_http_challenge){.is_there = false};
    hub_buf_init(&ret_challenge->text, MOST_BYTES);
    if (message->code != HUB_RPC_INSUFFICIENT_SCOPE) {
        return;
    }
    hub_buf answer;
    hub_buf_init(&answer, MOST_BYTES);
    for (size_t i = 0; i < message->count; i++) {
        hub_buf_add(&answer, message->parts[i]);
    }
    hub_buf_add(&ret_challenge->text, HUB_STR("Bearer error=\"insufficient_scope\", scope=\""));
    bool is_read =
        hub_buf_ok(&answer) && hub_json_decode(scope_of(hub_str_trim(hub_buf_str(&answer))),
                                               &ret_challenge->text) == HUB_OK;
    hub_buf_add_char(&ret_challenge->text, '"');
    hub_http_add_metadata(connection, &ret_challenge->text);
    ret_challenge->is_there = is_read && hub_buf_ok(&ret_challenge->text);
    ret_challenge->header =
        (hub_http_header){HUB_STR("WWW-Authenticate"), hub_buf_str(&ret_challenge->text)};
    hub_buf_fini(&answer);
}

void hub_http_challenge_fini(hub_http_challenge *challenge)
{
    hub_buf_fini(&challenge->text);
}
