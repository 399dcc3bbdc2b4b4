/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose certificates name a client, as plain values: read from a manifest (config/), obeyed by
 * certificate.h. Any thread, once made.
 */
#ifndef HUB_IDENTITY_CERTIFICATE_SETTINGS_H
#define HUB_IDENTITY_CERTIFICATE_SETTINGS_H

#include "base/str.h"

/* What of a certificate is the name of its principal, behind "cert:". */
typedef enum hub_certificate_name {
    HUB_CERTIFICATE_CN,  /* the common name of its subject */
    HUB_CERTIFICATE_SAN, /* its only URI, else its only e-mail address, else its only DNS name */
    HUB_CERTIFICATE_FINGERPRINT, /* SHA-256 of all of it, 64 hexadecimal digits in lower case */
} hub_certificate_name;

typedef struct hub_client_certificates {
    hub_str ca;    /* PEM: the authorities that are trusted; empty: clients are not asked for any */
    hub_str crl;   /* PEM: revocation lists, one for each authority; empty: there are none */
    bool required; /* who shows none is not let in */
    hub_certificate_name principal;
} hub_client_certificates;

#endif
