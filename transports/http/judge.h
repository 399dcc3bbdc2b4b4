/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sends a request, by its Authorization: the hub's own tokens (auth.h), then those of issuers
 * (issuers/issuers.h), which may take a while; without one, by the client's certificate; and what a refusal tells clients of where to get a
 * token (RFC 6750 section 3, RFC 9728 section 5.1). Thread: [loop].
 */
#ifndef HTTP_JUDGE_H
#define HTTP_JUDGE_H

#include "http/internal.h"

/* Like hub_auth_check, of a request. LATER only when it may wait: then the connection is told, by
 * hub_http_connection_on_judged. */
hub_auth_result hub_http_judge(const hub_http_task *task, bool may_wait,
                               hub_identity **ret_identity, const char **ret_reason);

/* Whether what was let in by an identity, over a connection on which this certificate was shown (NULL:
 * none), may go on by the settings of now; the identity is renewed. */
bool hub_http_is_still_good(const hub_http_server *server, hub_identity **identity,
                            const hub_identity *shown);

/* When the first of the two ends (seconds since 1970; 0: never). Either may be NULL. */
int64_t hub_http_end_of(const hub_identity *identity, const hub_identity *shown);

/* Whether a credential that was refused may have been guessed: a signature cannot be. */
bool hub_http_is_guess(const hub_http_task *task);

/* Remember where the metadata of the endpoint that is asked for is, for whoever refuses this request:
 * nothing where there are no issuers. */
void hub_http_note_metadata(const hub_http_task *task);

/* Append `, resource_metadata="…"` where there is any. */
void hub_http_add_metadata(const hub_http_connection *connection, hub_buf *challenge);

/* Answer what is not OK, and not LATER. */
void hub_http_refuse_credential(const hub_http_task *task, hub_auth_result result,
                                const char *reason);

#endif
