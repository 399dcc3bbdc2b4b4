/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says of the login that it wants: the first Bearer challenge of a WWW-Authenticate
 * header. spec: RFC 9110, section 11.6.1; RFC 6750, section 3; RFC 9728, section 5.1. Any thread.
 */
#ifndef HUB_LOGIN_CHALLENGE_H
#define HUB_LOGIN_CHALLENGE_H

#include "base/str.h"

enum { HUB_LOGIN_CHALLENGE_BYTES = 1024 }; /* longer values are not used */

/* Empty texts: it does not say. */
typedef struct hub_login_challenge {
    bool is_bearer;
    char resource_metadata[HUB_LOGIN_CHALLENGE_BYTES];
    char scope[HUB_LOGIN_CHALLENGE_BYTES];
    char error[64];
} hub_login_challenge;

void hub_login_challenge_read(hub_str value, hub_login_challenge *ret_challenge);

#endif
