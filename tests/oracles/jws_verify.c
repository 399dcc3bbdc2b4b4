/* SPDX-License-Identifier: Apache-2.0 */
/* Says of each line of standard input, KEYS (a JSON Web Key Set), a tab and TOKEN, whether the token is signed by one of the
 * keys: "good", or "bad". For the scripts of this folder. */
#include "base/limits.h"
#include "identity/jws.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_good(hub_str token, const hub_jwks *keys)
{
    hub_jws jws;
    bool is_signed = false;
    if (hub_jws_read(token, &jws, NULL) == HUB_OK) {
        for (const hub_jwk *key = NULL;
             !is_signed &&
             (key = hub_jwks_find(keys, jws.algorithm, hub_buf_str(&jws.kid), key)) != NULL;) {
            is_signed = hub_jws_is_signed_by(&jws, key);
        }
    }
    hub_jws_fini(&jws);
    return is_signed;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, stdin)) > 0) {
        hub_str text = {.ptr = line, .len = (size_t)len - (line[len - 1] == '\n')};
        size_t tab = hub_str_find(text, HUB_STR("\t"));
        hub_jwks *keys = NULL;
        bool good = false;
        if (tab != SIZE_MAX &&
            hub_jwks_parse((hub_str){.ptr = text.ptr, .len = tab}, &keys, NULL) == HUB_OK) {
            good = is_good(hub_str_from(text, tab + 1), keys);
        }
        hub_jwks_destroy(keys);
        (void)puts(good ? "good" : "bad");
    }
    free(line);
    return 0;
}
