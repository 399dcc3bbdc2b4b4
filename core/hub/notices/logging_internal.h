/* SPDX-License-Identifier: Apache-2.0 */
/* What logging.c keeps with sessions; tests look at it, too. */
#ifndef HUB_HUB_NOTICES_LOGGING_INTERNAL_H
#define HUB_HUB_NOTICES_LOGGING_INTERNAL_H

#include "base/bucket.h"
#include "hub/notices/logging.h"

/* With a session. */
typedef struct session_logging {
    bool has_level; /* legacy: logging/setLevel has come … */
    int level;      /* … with this one */
    hub_bucket messages;
    uint64_t dropped; /* messages that were not sent, and not told of yet */
} session_logging;

session_logging *hub_logging_in(const hub_session *session);

#endif
