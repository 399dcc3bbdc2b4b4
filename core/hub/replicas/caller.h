/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is asking, from one replica to another: a JSON object of one line with what the credential says
 * of its owner, and never the credential. The receiver judges by its own rules.
 *
 *     {"name":"token:ops","scopes":["admin"],"groups":[],"claims":{…},"profile":"dev","client":"…",
 *      "toolsets":["docs"],"expires":1790000000,"source":"7","credential":"HEX","certificate":"HEX"}
 *
 * Members that say nothing are left out; others are ignored, so that replicas of two neighbouring
 * versions understand each other. Pure functions, any thread.
 */
#ifndef HUB_HUB_REPLICAS_CALLER_H
#define HUB_HUB_REPLICAS_CALLER_H

#include "base/buf.h"
#include "identity/identity.h"

void hub_replica_caller_add(hub_buf *out, const hub_identity *identity);

/* owns:    *ret_identity, one reference
 * errors:  HUB_EPARSE (it is none), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_replica_caller_read(hub_str text, hub_identity **ret_identity);

#endif
