/* SPDX-License-Identifier: Apache-2.0 */
/* "127.0.0.1:8787" and the like: an address is a literal or "localhost", nothing is looked up. */
#include "config/reader.h"

#include <arpa/inet.h>

enum { MOST_PORT = 65535 };

const char HUB_CONFIG_WANTED_ADDRESS[] =
    "a port, or an address and a port, like 8787, \"127.0.0.1:8787\", \"[::1]:8787\"";

/* The digits behind the last colon. */
static bool parse_port(hub_str text, uint16_t *ret_port)
{
    unsigned port = 0;
    for (size_t i = 0; i < text.len && port <= MOST_PORT; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        port = port * 10 + (unsigned)(text.ptr[i] - '0');
    }
    if (text.len == 0 || port > MOST_PORT) {
        return false;
    }
    *ret_port = (uint16_t)port;
    return true;
}

/* One that is too large, perhaps. */
static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool is_literal(const char *host, int family)
{
    struct in6_addr address; /* the larger of the two */
    return inet_pton(family, host, &address) == 1;
}

/* What is wrong with the host, NULL when nothing is. `host` has lost its brackets. */
static const char *host_problem(const char *host, bool has_brackets)
{
    if (has_brackets) {
        return is_literal(host, AF_INET6) ? NULL : "between the brackets is not an IPv6 address";
    }
    if (strcmp(host, "localhost") == 0 || is_literal(host, AF_INET)) {
        return NULL;
    }
    if (is_literal(host, AF_INET6) || strchr(host, ':') != NULL) {
        return "an IPv6 address stands in brackets, like \"[::1]:8787\"";
    }
    if (host[0] == '\0' || strcmp(host, "*") == 0) {
        return "say which address: 127.0.0.1 for this machine only, 0.0.0.0 or [::] for all "
               "networks";
    }
    return "the address is a number like 127.0.0.1, or localhost: names are not looked up";
}

hub_err hub_config_split_address(hub_config_reader *reader, const hub_node *node, const char *text,
                                 hub_listen_settings *listen)
{
    const char *colon = strrchr(text, ':');
    hub_str host = colon == NULL ? HUB_STR("127.0.0.1") : hub_str_between(text, colon);
    if (strstr(text, "://") != NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL, "wanted %s, without a scheme",
                             HUB_CONFIG_WANTED_ADDRESS);
    }
    const char *port = colon == NULL ? text : colon + 1;
    if (!parse_port(hub_str_of(port), &listen->port)) {
        return is_number(port) ? hub_node_fail(node, reader->reterr, HUB_EINVAL,
                                               "%s is not a port: they end at %d", port, MOST_PORT)
                               : hub_config_wrong(reader, node, HUB_CONFIG_WANTED_ADDRESS);
    }
    bool has_brackets = host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    if (has_brackets) {
        host = (hub_str){.ptr = host.ptr + 1, .len = host.len - 2};
    }
    listen->address = hub_arena_strdup(reader->arena, host);
    if (listen->address == NULL) {
        return hub_config_no_memory(reader);
    }
    const char *problem = host_problem(listen->address, has_brackets);
    return problem == NULL ? HUB_OK
                           : hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", problem);
}
