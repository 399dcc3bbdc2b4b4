/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an issuer answers of a token that says nothing by itself: nobody is let in by an answer that is
 * not one, and what is taken out of it keeps to its limits.
 * Input: the body of an answer.
 */
#include "base/limits.h"
#include "identity/jwt.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { NOW = 1000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const AUDIENCES[] = {"a"};
    static const hub_jwt_issuer ISSUER = {
        .issuer = "https://i",
        .audiences = {.items = AUDIENCES, .count = 1, .set = true},
        .groups_at = "/g/0/~1"};
    hub_identity *identity = NULL;
    hub_error why = {.code = HUB_OK};
    hub_str answer = {.ptr = (const char *)data, .len = size};
    if (size == 0 || size > HUB_LIMIT_JWKS_BYTES) {
        return 0;
    }
    hub_err err = hub_jwt_accept_claims(answer, HUB_STR("token"), &ISSUER, NOW, &identity, &why);
    REQUIRE((err == HUB_OK) == (identity != NULL) && (err == HUB_OK || why.text[0] != '\0'));
    if (identity != NULL) {
        REQUIRE(hub_str_starts(hub_str_of(identity->name), HUB_STR("jwt:https://i#")));
        REQUIRE(identity->name[sizeof "jwt:https://i#" - 1] != '\0');
        REQUIRE(strlen(identity->name) <= HUB_LIMIT_PRINCIPAL_BYTES);
        REQUIRE(identity->scopes.count <= HUB_LIMIT_JWT_NAMES);
        REQUIRE(identity->groups.count <= HUB_LIMIT_JWT_NAMES);
        REQUIRE(identity->expires == 0 || !hub_identity_is_over(identity, NOW));
        REQUIRE(hub_identity_is_of_token(identity));
    }
    hub_identity_unref(identity);
    return 0;
}
