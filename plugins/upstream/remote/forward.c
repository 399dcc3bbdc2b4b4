/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of a client's request that go on to the server with what is sent on that client's behalf
 * (`forward_headers`). They stand in place of configured ones of the same name. What the hub says
 * by itself (the handshake, lists, subscriptions) has none of them.
 */
#include "remote.h"

#include "header_value.h"

#include <strings.h>

static int32_t refuse(patchbay_error *reterr, const char *why)
{
    reterr->code = PATCHBAY_EINVAL;
    (void)snprintf(reterr->text, sizeof reterr->text, "forward_headers: %s", why);
    return PATCHBAY_EINVAL;
}

static int32_t read_name(patchbay_str raw, patchbay_out *names, patchbay_error *reterr)
{
    patchbay_out name = {0};
    int32_t result = PATCHBAY_OK;
    if (!patchbay_json_decode(raw, &name) || name.failed) {
        result = PATCHBAY_ENOMEM;
    } else if (!header_is_token(patchbay_str_make(name.ptr, name.len))) {
        result = refuse(reterr, "wants names of headers");
    } else if (header_is_own(patchbay_str_make(name.ptr, name.len))) {
        result = refuse(reterr, "names a header that the hub itself sets");
    } else {
        patchbay_out_raw(names, patchbay_str_make(name.ptr, name.len));
        patchbay_out_text(names, "\n");
    }
    patchbay_out_free(&name);
    return result;
}

int32_t forward_read(patchbay_str array, char **ret_names, patchbay_error *reterr)
{
    patchbay_out names = {0};
    patchbay_json_iter it = patchbay_json_iterate(array);
    patchbay_str key;
    patchbay_str value;
    int32_t result = PATCHBAY_OK;
    while (result == PATCHBAY_OK && patchbay_json_next(&it, &key, &value)) {
        result = read_name(value, &names, reterr);
    }
    if (result == PATCHBAY_OK && names.failed) {
        result = PATCHBAY_ENOMEM;
    }
    if (result != PATCHBAY_OK) {
        patchbay_out_free(&names);
    }
    *ret_names = names.ptr;
    return result;
}

/* The next line of a text whose lines all end; 0 when there is none. */
static int next_line(const char **at, patchbay_str *ret_line)
{
    const char *end = *at != NULL ? strchr(*at, '\n') : NULL;
    if (end == NULL) {
        return 0;
    }
    *ret_line = patchbay_str_make(*at, (size_t)(end - *at));
    *at = end + 1;
    return 1;
}

/* No line of a header can begin in a value: it would be one that nobody has named. */
static int is_one_line(patchbay_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '\n' || value.ptr[i] == '\r' || value.ptr[i] == '\0') {
            return 0;
        }
    }
    return 1;
}

void forward_take(const mcp_remote *remote, patchbay_call call, patchbay_out *lines)
{
    const mcp_server *server = &remote->server;
    const char *at = remote->config.forward_headers;
    patchbay_str name;
    if (!PATCHBAY_HAS(patchbay_client_v1, server->client, get_header)) {
        return; /* an older hub refuses the key */
    }
    while (next_line(&at, &name)) {
        patchbay_str value = server->client->get_header(server->host, call, name);
        if (value.len > 0 && is_one_line(value)) {
            header_make_room(lines, name.len + value.len + sizeof ": \n");
            patchbay_out_raw(lines, name);
            patchbay_out_text(lines, ": ");
            patchbay_out_raw(lines, value);
            patchbay_out_text(lines, "\n");
        }
    }
}

static patchbay_str name_of(patchbay_str line)
{
    size_t len = 0;
    while (len < line.len && line.ptr[len] != ':' && line.ptr[len] != ';') {
        len++;
    }
    return patchbay_str_make(line.ptr, len);
}

static int has_name(const char *lines, patchbay_str name)
{
    patchbay_str line;
    while (next_line(&lines, &line)) {
        patchbay_str other = name_of(line);
        if (other.len == name.len && strncasecmp(other.ptr, name.ptr, name.len) == 0) {
            return 1;
        }
    }
    return 0;
}

void forward_add(const mcp_remote *remote, const patchbay_out *forwarded, patchbay_out *lines)
{
    const char *at = remote->config.headers;
    patchbay_str line;
    header_make_room(lines, (at != NULL ? strlen(at) : 0) + forwarded->len);
    while (next_line(&at, &line)) {
        if (!has_name(forwarded->ptr, name_of(line))) {
            patchbay_out_raw(lines, line);
            patchbay_out_text(lines, "\n");
        }
    }
    patchbay_out_raw(lines, patchbay_str_make(forwarded->ptr, forwarded->len));
}
