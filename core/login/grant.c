/* SPDX-License-Identifier: Apache-2.0 */
#include "login/internal.h"

static const login_grant GRANTS[] = {
    {.name = "authorization_code",
     .wants_pkce = true,
     .is_kept = true,
     .registered = "[\"authorization_code\",\"refresh_token\"]",
     .begin = login_ask_user},
    {.name = "device_code",
     .is_kept = true,
     .redirect = LOGIN_DEVICE_GRANT,
     .registered = "[\"" LOGIN_DEVICE_GRANT "\",\"refresh_token\"]",
     .begin = login_ask_device},
    {.name = "client_credentials", .wants_pkce = true, .begin = login_ask_as_client},
    {.name = "token_exchange", .is_of_caller = true, .begin = login_exchange_token},
    {.name = "id_jag",
     .is_of_caller = true,
     .redirect = LOGIN_JWT_BEARER_GRANT,
     .registered = "[\"" LOGIN_JWT_BEARER_GRANT "\"]",
     .begin = login_ask_by_assertion},
};

const login_grant *login_grant_find(const char *name)
{
    for (size_t i = 0; i < sizeof GRANTS / sizeof GRANTS[0]; i++) {
        if (name == NULL || strcmp(name, GRANTS[i].name) == 0) {
            return &GRANTS[i];
        }
    }
    return NULL;
}
