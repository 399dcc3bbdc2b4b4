/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says of the credential that it wants: WWW-Authenticate, with any number of
 * challenges in any number of lines. Read once, from left to right; what is malformed ends its line.
 * spec: RFC 9110, section 11.6.1; RFC 6750, section 3; MCP 2026-07-28 basic/authorization.
 * Pure functions, any thread.
 */
#ifndef MCP_REMOTE_CHALLENGE_H
#define MCP_REMOTE_CHALLENGE_H

#include <patchbay/json.h>

#define CHALLENGE_LINES       8    /* of one answer; more are not read */
#define CHALLENGE_BYTES       4096 /* of all of them together, for the hub */
#define CHALLENGE_ERROR_BYTES 32   /* longer ones are not known */
#define CHALLENGE_SCOPE_BYTES 256  /* longer ones are cut: they are for people */

/* Of the first challenge of the scheme Bearer. All zeros: nothing was said. */
typedef struct challenge {
    int is_bearer;
    int is_oauth; /* it names where a login begins: resource_metadata */
    char error[CHALLENGE_ERROR_BYTES];
    char scope[CHALLENGE_SCOPE_BYTES]; /* one line, as upstream_quote makes it */
} challenge;

/* Read a line's value into `c`, which begins as zeros. */
void challenge_read(patchbay_str value, challenge *c);

#endif
