/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the listener of other replicas lets in (replicas.listen): connections from the addresses of
 * replicas.peers whose requests are sealed with the keys of replicas.key_file. What they bring is of
 * clients that another replica has judged, for sessions that live here; nothing is passed on again.
 * Thread: [loop].
 */
#ifndef HTTP_PEER_GATE_H
#define HTTP_PEER_GATE_H

#include "http/internal.h"

/* Whether a request is let in: then it is its caller's, with the rights that the replica says. Else it is
 * answered, be it a greeting. */
bool hub_http_peer_admit(hub_http_task *task);

/* Whether the body is the one that was sealed; else it is answered. */
bool hub_http_peer_has_body(const hub_http_task *task);

#endif
