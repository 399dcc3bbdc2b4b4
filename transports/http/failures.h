/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has shown bad credentials lately, by peer address, so that guessing and floods of it cost
 * little, and are told of once (RELIABILITY A13). A good credential is never asked for here: behind
 * one proxy all have one address. Only failures count; addresses that never failed are not in the table.
 * Its size is bounded: whoever failed first is forgotten first. Thread: [loop].
 */
#ifndef HTTP_FAILURES_H
#define HTTP_FAILURES_H

#include "base/err.h"

typedef struct hub_http_failures hub_http_failures;

/* NULL when out of memory. */
hub_http_failures *hub_http_failures_create(void);
void hub_http_failures_destroy(hub_http_failures *failures); /* NULL is fine */

/* Seconds that this address has to wait, 0 when its budget is not spent. `now_ms` never falls. */
uint32_t hub_http_failures_wait_s(const hub_http_failures *failures, const char *address,
                                  uint64_t now_ms);

/* Count a failure of this address. When there is no memory it is not counted. True: it was the last
 * of the budget, and from now on others are not judged; once in each window. */
bool hub_http_failures_note(hub_http_failures *failures, const char *address, uint64_t now_ms);

#endif
