/* SPDX-License-Identifier: Apache-2.0 */
#include "login/document.h"

#include "base/limits.h"
#include "login/url.h"
#include "wire/json.h"

static void add_address(hub_str origin, const char *path, hub_buf *out)
{
    hub_buf address;
    hub_buf_init(&address, HUB_LIMIT_LOGIN_TEXT_BYTES);
    hub_buf_add(&address, origin);
    hub_buf_add(&address, hub_str_of(path));
    hub_json_add_string(out, hub_buf_str(&address));
    hub_buf_fini(&address);
}

void hub_login_add_client_document(hub_str origin, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"client_id\":"));
    add_address(origin, HUB_LOGIN_DOCUMENT_PATH, out);
    hub_buf_add(out, HUB_STR(",\"client_name\":\"Patchbay\",\"client_uri\":"));
    add_address(origin, "/", out);
    hub_buf_add(out, HUB_STR(",\"redirect_uris\":["));
    add_address(origin, HUB_LOGIN_CALLBACK_PATH, out);
    hub_buf_add(out, HUB_STR("],\"grant_types\":[\"authorization_code\",\"refresh_token\"],"
                             "\"response_types\":[\"code\"],"
                             "\"token_endpoint_auth_method\":\"none\"}"));
}

char *hub_login_dup_callback(const char *address)
{
    hub_login_url url;
    hub_buf callback;
    char *made = NULL;
    if (address == NULL || !hub_login_url_read(hub_str_of(address), &url) ||
        !hub_str_is(url.path, HUB_LOGIN_DOCUMENT_PATH)) {
        return NULL;
    }
    hub_buf_init(&callback, HUB_LIMIT_LOGIN_TEXT_BYTES);
    hub_buf_add(&callback, url.origin);
    hub_buf_add(&callback, HUB_STR(HUB_LOGIN_CALLBACK_PATH));
    made = hub_buf_ok(&callback) ? hub_buf_take(&callback) : NULL;
    hub_buf_fini(&callback);
    return made;
}
