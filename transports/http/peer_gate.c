/* SPDX-License-Identifier: Apache-2.0 */
#include "http/peer_gate.h"

#include "base/log.h"
#include "hub/replicas/caller.h"
#include "http/judge.h"
#include "http/peers.h"
#include "http/routes.h"

#include <stdlib.h>

/* Of a connection that a replica has made; behind the connection's pointer `greeted`. */
struct hub_http_greeted {
    uint64_t number; /* of its latest request */
    char challenge[HUB_REPLICA_CHALLENGE_DIGITS + 1];
};

static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};

static bool refuse(const hub_http_task *task, const char *reason)
{
    hub_log(HUB_LOG_WARNING, "replica.refused", HUB_F_TEXT("reason", reason),
            HUB_F_TEXT("peer", hub_link_peer(task->connection->link)));
    task->connection->keep_alive = false;
    hub_http_answer_refusal(task->connection, 403, NONE, reason);
    return false;
}

/* Only the first one counts twice: the spans of a request lie in one text, in their order. */
static bool answer_greeting(hub_http_connection *connection, hub_str own)
{
    struct hub_http_greeted *greeted = connection->greeted;
    char both[2 * HUB_REPLICA_CHALLENGE_DIGITS];
    char proof[HUB_DIGEST_HEX_BYTES];
    if (greeted == NULL) {
        greeted = calloc(1, sizeof *greeted);
        connection->greeted = greeted;
    }
    if (greeted == NULL || hub_replicas_challenge(greeted->challenge) != HUB_OK) {
        hub_http_answer_last(connection, 503,
                             "There is no memory, or there are no random numbers.");
        return false;
    }
    greeted->number = 0;
    memcpy(both, own.ptr, HUB_REPLICA_CHALLENGE_DIGITS);
    memcpy(both + HUB_REPLICA_CHALLENGE_DIGITS, greeted->challenge, HUB_REPLICA_CHALLENGE_DIGITS);
    hub_replicas_prove(connection->server->hub,
                       &(hub_replica_claim){.use = HUB_STR("greeting"),
                                            .challenge = {.ptr = both, .len = sizeof both},
                                            .text = HUB_STR_EMPTY},
                       proof);
    const hub_http_header headers[] = {
        {HUB_STR(HUB_HTTP_PEER_CHALLENGE), hub_str_of(greeted->challenge)},
        {HUB_STR(HUB_HTTP_PEER_PROOF), hub_str_of(proof)},
    };
    (void)hub_http_answer_whole(
        connection, &(hub_http_answer){.status = 204, .headers = headers, .header_count = 2});
    return false;
}

static bool greet(const hub_http_task *task)
{
    hub_str own = hub_http_value(task->request, HUB_HTTP_PEER_CHALLENGE);
    return own.len == HUB_REPLICA_CHALLENGE_DIGITS
               ? answer_greeting(task->connection, own)
               : refuse(task, "A greeting has a challenge of its own.");
}

/* "NUMBER PROOF", in the last header: all of the head in front of it is what it proves. */
static bool is_sealed(const hub_http_task *task)
{
    const hub_http_request *request = task->request;
    struct hub_http_greeted *greeted = task->connection->greeted;
    const hub_http_header *seal =
        request->header_count > 0 ? &request->headers[request->header_count - 1] : NULL;
    if (greeted == NULL || seal == NULL ||
        !hub_str_eq_nocase(seal->name, HUB_STR(HUB_HTTP_PEER_SEAL))) {
        return false;
    }
    uint64_t number = 0;
    size_t at = 0;
    while (at < seal->value.len && hub_http_is_digit(seal->value.ptr[at]) && at < 18) {
        number = 10 * number + (uint64_t)(seal->value.ptr[at++] - '0');
    }
    if (number != greeted->number + 1 || at == seal->value.len || seal->value.ptr[at] != ' ') {
        return false;
    }
    greeted->number = number;
    const hub_replica_claim claim = {.use = HUB_STR("request"),
                                     .challenge = hub_str_of(greeted->challenge),
                                     .number = number,
                                     .text = hub_str_between(request->method.ptr, seal->name.ptr)};
    return hub_replicas_accept(task->server->hub, &claim, hub_str_from(seal->value, at + 1));
}

/* By the rules of this replica: it has to know whom the other one names. */
static bool take_caller(hub_http_task *task)
{
    hub_http_server *server = task->server;
    hub_identity **identity = &task->connection->identity;
    hub_str caller = hub_http_value(task->request, HUB_HTTP_PEER_CALLER);
    if (hub_replica_caller_read(caller, identity) != HUB_OK) {
        return refuse(task, "A request of a replica says who is asking.");
    }
    const char *who = hub_principal_of_credential((*identity)->name);
    if (!hub_auth_knows(&server->settings->auth, who) &&
        !hub_identity_is_of_certificate(*identity)) {
        return refuse(task, "The principal that the replica names is not known here.");
    }
    task->identity = *identity;
    return true;
}

bool hub_http_peer_admit(hub_http_task *task)
{
    const hub_http_request *request = task->request;
    hub_http_connection *connection = task->connection;
    if (!hub_replicas_trust(task->server->hub, hub_link_peer(connection->link))) {
        return refuse(task, "The address is not one of replicas.peers.");
    }
    if (hub_str_is(request->method, "GET") && hub_str_is(request->path, HUB_HTTP_PEER_PATH)) {
        return greet(task);
    }
    if (!is_sealed(task)) {
        return refuse(task, "The request is not sealed by a replica that has the keys of "
                            "replicas.key_file, or comes again.");
    }
    if (!take_caller(task)) {
        return false;
    }
    const hub_http_header *origin = hub_http_known(request, HUB_HTTP_ORIGIN);
    if (origin != NULL) { /* the other one has judged it */
        connection->origin = hub_str_dup(origin->value);
    }
    hub_http_note_metadata(task);
    return hub_http_routes_find_session_route(task) ||
           refuse(task, "There is nothing for replicas at this path.");
}

bool hub_http_peer_has_body(const hub_http_task *task)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_digest_of(task->body, digest);
    hub_digest_hex(digest, hex);
    return hub_str_is(hub_http_value(task->request, HUB_HTTP_PEER_DIGEST), hex) ||
           refuse(task, "The body is not the one that was sealed.");
}
