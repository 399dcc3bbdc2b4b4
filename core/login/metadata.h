/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents that say where to log in: RFC 9728 of the server, RFC 8414 and OpenID Connect Discovery of its
 * authorization server. Pure functions, any thread.
 */
#ifndef HUB_LOGIN_METADATA_H
#define HUB_LOGIN_METADATA_H

#include "base/buf.h"

/* What is known of a server and of where to log in. On the heap; NULL: nobody says. */
typedef struct hub_login_places {
    char *resource;        /* what tokens are to be for */
    char *resource_scopes; /* scopes_supported of the server, with spaces between */
    char *issuer;
    char *authorization_endpoint;
    char *token_endpoint;
    char *registration_endpoint;
    char *revocation_endpoint;
    char *device_endpoint;
    bool has_s256;       /* PKCE is said to work */
    bool says_iss;       /* answers have `iss` */
    bool takes_basic;    /* client_secret_basic, or nothing is said */
    bool takes_post;     /* client_secret_post */
    bool takes_none;     /* public clients */
    bool offers_access;  /* offline_access is among its scopes */
    bool takes_document; /* client_id_metadata_document_supported */
} hub_login_places;

void hub_login_places_fini(hub_login_places *places);

/* Read RFC 9728 metadata of the server at `url`. `issuer`: the one that is wanted; NULL: the first.
 * errors:  HUB_EINVAL: it cannot be used; the text says why */
HUB_MUST_CHECK hub_err hub_login_read_resource(hub_str json, hub_str url, const char *issuer,
                                               hub_login_places *places, hub_error *reterr);

/* Read metadata of the authorization server places->issuer, which it must name byte for byte.
 * errors:  HUB_EINVAL; HUB_EPARSE: it is no such document at all */
HUB_MUST_CHECK hub_err hub_login_read_server(hub_str json, hub_str url, hub_login_places *places,
                                             hub_error *reterr);

/* Endpoints of a server of 2025-03-26 that has no metadata. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_login_assume_server(hub_login_places *places);

/* The address of a document, number `at`, into `url`; false: there are no more. */
bool hub_login_resource_place(hub_str url, unsigned at, hub_buf *out);
bool hub_login_server_place(hub_str issuer, unsigned at, hub_buf *out);

#endif
