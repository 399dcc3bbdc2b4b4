/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests whose session lives at another replica, or whose open question or task: they are passed on to it whole, and its answer is
 * the client's, byte for byte. A request that came from a replica is never passed on again. Thread: [loop].
 */
#ifndef HTTP_PASS_H
#define HTTP_PASS_H

#include "http/internal.h"
#include "wire/message.h"

/* Pass a request on if the id of a session, which is not known here, names another replica as its home, or
 * this one, which it may have left if it `moves` (takeover.h). `request_id` is raw, or empty. False: it does
 * not, and nothing was answered. */
bool hub_http_pass(const hub_http_task *task, hub_str session_id, hub_str request_id, bool moves);

/* The same of a request without a session that brings back what another replica gave out: the requestState
 * of a question that is open there, or the id of a task that it made. */
bool hub_http_pass_message(const hub_http_task *task, const hub_message *message);

#endif
