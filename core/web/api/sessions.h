/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of browsers. A code, which is good once and for a minute, is exchanged for a secret, which is
 * good for twelve hours, for whom the code was made, and at this API alone. Both are kept by their
 * digests, in memory: they end with the hub. A session by a token ends with that token. No cookie has to
 * do with it: the page keeps the secret and sends it in Authorization. Thread: [loop].
 */
#ifndef HUB_WEB_API_SESSIONS_H
#define HUB_WEB_API_SESSIONS_H

#include "web/api/api.h"

typedef struct hub_api_sessions hub_api_sessions;

#define HUB_API_SECRET_PREFIX "pbs_"

enum { HUB_API_SECRET_BYTES = 80, HUB_API_CODE_SECONDS = 60 }; /* with the NUL */

/* owns:    the result; NULL: out of memory */
hub_api_sessions *hub_api_sessions_create(hub_orchestrator *hub);
void hub_api_sessions_destroy(hub_api_sessions *sessions); /* NULL is fine */

/* Make a code for somebody; the oldest one goes where there are too many. With `is_admin`, the session
 * will have the scope admin.
 * errors:  HUB_ESYSTEM (no random numbers), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_api_sessions_invite(hub_api_sessions *sessions,
                                               const hub_identity *identity, bool is_admin,
                                               char ret_code[HUB_API_SECRET_BYTES]);

/* Exchange a code. errors:  HUB_ENOTFOUND (it is not, or no more, good), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_api_sessions_open(hub_api_sessions *sessions, hub_str code,
                                             char ret_secret[HUB_API_SECRET_BYTES]);

/* Whose session it is; NULL: nobody's. owns:    the result, one reference */
hub_identity *hub_api_sessions_judge(hub_api_sessions *sessions, hub_str secret);

/* End the session that has this identity. False: it is of none. */
bool hub_api_sessions_close(hub_api_sessions *sessions, const hub_identity *identity);

#endif
