/* SPDX-License-Identifier: Apache-2.0 */
#include "config/reader.h"

#include <sys/un.h>

enum {
    PATH_BYTES = sizeof((struct sockaddr_un *)0)->sun_path - 1, /* unix(7), less a NUL */
};

static const hub_str SCHEME = {.ptr = "unix:", .len = sizeof "unix:" - 1};

bool hub_config_is_socket_url(hub_str url)
{
    return url.len >= SCHEME.len &&
           hub_str_eq_nocase((hub_str){.ptr = url.ptr, .len = SCHEME.len}, SCHEME);
}

hub_err hub_config_check_socket_url(hub_config_reader *reader, const hub_node *node, hub_str url)
{
    hub_str path = hub_str_from(url, SCHEME.len);
    if (hub_str_starts(path, HUB_STR("//"))) {
        path = hub_str_from(path, 2);
    }
    if (!hub_str_starts(path, HUB_STR("/"))) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "wants the absolute path of a Unix socket, as in "
                             "unix:///run/mcp.sock");
    }
    if (path.len > PATH_BYTES) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "the path of a Unix socket has at most %d bytes, this one has %zu",
                             PATH_BYTES, path.len);
    }
    return HUB_OK;
}
