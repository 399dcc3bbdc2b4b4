/* SPDX-License-Identifier: Apache-2.0 */
/* A call and its client, as the kernel's files work with them: the copies that its id and context
 * point into, and its place among its session's calls. Thread: [loop]. */
#ifndef HUB_HUB_KERNEL_CALL_KEPT_H
#define HUB_HUB_KERNEL_CALL_KEPT_H

#include "hub/kernel/call.h"

/* Copy what of the request must outlive its message. What the session has declared once outlives
 * its calls anyway.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_call_keep(hub_call *call, const hub_session *session, hub_str id,
                                     const hub_request_context *context);

/* The same for a request that takes the call up again; older copies stay. Capabilities that have
 * not changed, as is the rule, are not kept twice.
 * errors:  HUB_ELIMIT (all of them take more than HUB_LIMIT_CLIENT_MESSAGE_BYTES), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_call_keep_later(hub_call *call, hub_str id,
                                           const hub_request_context *context);

void hub_call_forget_kept(hub_call *call);

/* Make a call one of a session's; take it out again, where nothing happens when it was nobody's. */
void hub_call_join(hub_call *call, hub_session *session);
void hub_call_part(hub_call *call);

#endif
