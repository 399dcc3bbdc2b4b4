/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/jws_algorithm.h"

static const hub_jws_algorithm ALGORITHMS[] = {
    {.name = "RS256", .kind = HUB_JWS_RSA, .digest = "SHA256"},
    {.name = "RS384", .kind = HUB_JWS_RSA, .digest = "SHA384"},
    {.name = "RS512", .kind = HUB_JWS_RSA, .digest = "SHA512"},
    {.name = "PS256", .kind = HUB_JWS_RSA, .digest = "SHA256", .is_pss = true},
    {.name = "PS384", .kind = HUB_JWS_RSA, .digest = "SHA384", .is_pss = true},
    {.name = "PS512", .kind = HUB_JWS_RSA, .digest = "SHA512", .is_pss = true},
    {.name = "ES256",
     .kind = HUB_JWS_EC,
     .digest = "SHA256",
     .curve = "P-256",
     .integer_bytes = 32},
    {.name = "ES384",
     .kind = HUB_JWS_EC,
     .digest = "SHA384",
     .curve = "P-384",
     .integer_bytes = 48},
    {.name = "ES512",
     .kind = HUB_JWS_EC,
     .digest = "SHA512",
     .curve = "P-521",
     .integer_bytes = 66},
    {.name = "EdDSA", .kind = HUB_JWS_ED25519},
    {.name = "Ed25519", .kind = HUB_JWS_ED25519},
};

const hub_jws_algorithm *hub_jws_algorithm_of(hub_str name)
{
    for (size_t i = 0; i < sizeof ALGORITHMS / sizeof ALGORITHMS[0]; i++) {
        if (hub_str_is(name, ALGORITHMS[i].name)) {
            return &ALGORITHMS[i];
        }
    }
    return NULL;
}
