/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs as logins need them: where a document may be asked for, what well-known addresses there are, and
 * fields of forms and queries. Pure functions, any thread.
 */
#ifndef HUB_LOGIN_URL_H
#define HUB_LOGIN_URL_H

#include "base/buf.h"

/* An http or https URL; spans into its text. */
typedef struct hub_login_url {
    hub_str origin; /* scheme, host, port */
    hub_str path;   /* with its "/"; empty: there is none */
    hub_str query;  /* behind the "?"; empty: there is none */
    bool is_https;
    bool is_loopback; /* its host is this machine, by its literal name */
} hub_login_url;

/* False: it is no such URL, has user information or a fragment, or bytes that no URL has. */
bool hub_login_url_read(hub_str text, hub_login_url *ret_url);

/* Whether a server at `of` may send the hub to `url`: to https anywhere; to plain http of this machine
 * only if the server itself is there. */
bool hub_login_url_may(hub_str url, hub_str of);

/* Whether `url` lies at `above` or beneath it: the same origin, and the path goes on from it. */
bool hub_login_url_is_beneath(hub_str url, hub_str above);

/* Append the address of a well-known document of `of`: inserted between its origin and its path, or behind
 * both. An only "/" is no path. */
void hub_login_url_add_inserted(hub_buf *out, const hub_login_url *of, hub_str well_known);
void hub_login_url_add_appended(hub_buf *out, const hub_login_url *of, hub_str well_known);

/* Append `&name=value`, without the "&" at the start or behind a "?". An empty value is left out. */
void hub_login_add_field(hub_buf *out, const char *name, hub_str value);

/* The decoded value of a field, into `value`. False: it is not there, there twice, or malformed. */
bool hub_login_find_field(hub_str query, const char *name, hub_buf *value);

#endif
