/* SPDX-License-Identifier: Apache-2.0 */
/* URLs, as libcurl reads them: RFC 3986. Pure functions. */
#ifndef MCP_REMOTE_URL_H
#define MCP_REMOTE_URL_H

#include <patchbay/plugin.h>

/* Whether it is a URL of http or https.
 * returns: PATCHBAY_OK; PATCHBAY_EINVAL (it is none); PATCHBAY_ENOMEM */
int32_t url_check(const char *url);

/* What may be shown of a URL: no user, no password, no query.
 * owns: the result; NULL when it is no URL of http or https, or out of memory */
char *url_dup_shown(const char *url);

/* Scheme, host and port. The same rules. */
char *url_dup_origin(const char *url);

/* `reference` as seen from `base`, absolute. The same rules. */
char *url_dup_resolved(const char *base, const char *reference);

/* Whether scheme, host and port are the same (RFC 6454). */
int url_same_origin(const char *a, const char *b);

/* Whether it leads to that host and port; `host` of IPv6 is without brackets. */
int url_leads_to(const char *url, const char *host, const char *port);

#endif
