/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a proxy says of its client: whatever it is, an address comes out of it or nothing, and a header
 * of the PROXY protocol is the same however it is cut.
 * Input: the beginning of a connection, read as a PROXY header and as the head of a request.
 */
#include "http/forwarded.h"
#include "net/proxy_protocol.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void require_address(const char *text)
{
    char again[HUB_ADDRESS_TEXT_BYTES];
    REQUIRE(text[0] == '\0' ||
            (hub_address_parse(hub_str_of(text), again) && strcmp(text, again) == 0));
}

/* The first prefix that decides says what the whole says. */
static void try_protocol(hub_str all)
{
    size_t used = 0;
    char address[HUB_ADDRESS_TEXT_BYTES];
    net_proxy_progress whole = net_proxy_read(all, &used, address);
    if (whole != NET_PROXY_DONE) {
        return;
    }
    require_address(address);
    REQUIRE(used > 0 && used <= all.len && used <= NET_PROXY_HEADER_BYTES);
    for (size_t len = 0; len <= used; len++) {
        size_t used_of_part;
        char part[HUB_ADDRESS_TEXT_BYTES];
        net_proxy_progress progress =
            net_proxy_read((hub_str){.ptr = all.ptr, .len = len}, &used_of_part, part);
        REQUIRE(progress == (len < used ? NET_PROXY_MORE : NET_PROXY_DONE));
        REQUIRE(len < used || (used_of_part == used && strcmp(part, address) == 0));
    }
}

static void try_headers(hub_str all)
{
    hub_cidr blocks[2];
    hub_http_scan scan;
    hub_http_request request;
    hub_http_forwarded forwarded;
    REQUIRE(hub_cidr_parse(HUB_STR("10.0.0.0/8"), &blocks[0]));
    REQUIRE(hub_cidr_parse(HUB_STR("fd00::/8"), &blocks[1]));
    const hub_listen_settings listen = {.trusted_proxies = blocks, .trusted_proxy_count = 2};
    hub_http_scan_init(&scan, 1024);
    if (hub_http_request_next(&scan, all, &request) != HUB_HTTP_DONE) {
        return;
    }
    hub_http_forwarded_read(&request, &listen, "192.0.2.1", &forwarded);
    REQUIRE(!forwarded.is_trusted && !forwarded.is_secure && forwarded.client[0] == '\0');
    hub_http_forwarded_read(&request, &listen, "10.1.2.3", &forwarded);
    REQUIRE(forwarded.is_trusted);
    require_address(forwarded.client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0) {
        hub_str all = {.ptr = (const char *)data, .len = size};
        try_protocol(all);
        try_headers(all);
    }
    return 0;
}
