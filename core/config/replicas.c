/* SPDX-License-Identifier: Apache-2.0 */
/* replicas: what a hub is told of the other hubs behind the same address. */
#include "config/reader.h"

#include "base/cidr.h"

hub_err hub_config_read_peers(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    (void)key;
    (void)target;
    return hub_config_read_blocks(reader, node, "peers", &reader->config.replica);
}

/* Others call this replica by that address: "every address" and a name say nothing to them. */
hub_err hub_config_read_replica(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    static const char WANTED[] = "the IP address and port at which the other replicas reach this "
                                 "one, as 10.0.0.5:8790 or [fd00::5]:8790";
    hub_listen_settings *listen = &reader->config.replica;
    char address[HUB_ADDRESS_TEXT_BYTES];
    const char *text = NULL;
    (void)key;
    (void)target;
    if (node->kind != HUB_NODE_TEXT) {
        return hub_config_wrong(reader, node, WANTED);
    }
    hub_err err = hub_config_expand_text(reader, node, &text);
    if (err == HUB_OK) {
        err = hub_config_split_address(reader, node, text, listen);
    }
    if (err != HUB_OK) {
        return err;
    }
    if (!hub_address_parse(hub_str_of(listen->address), address) || listen->port == 0 ||
        strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0) {
        return hub_config_wrong(reader, node, WANTED);
    }
    listen->address = hub_arena_strdup(reader->arena, hub_str_of(address));
    listen->kind = HUB_LISTEN_HTTP;
    listen->source = "replicas.listen";
    return listen->address != NULL ? HUB_OK : hub_config_no_memory(reader);
}

hub_err hub_config_finish_replicas(hub_config_reader *reader)
{
    const hub_listen_settings *listen = &reader->config.replica;
    const char *key_file = reader->config.settings.replicas.key_file;
    bool has_peers = listen->trusted_proxy_count > 0;
    if (listen->address == NULL && !has_peers) {
        return HUB_OK;
    }
    if (listen->address == NULL || !has_peers || key_file == NULL) {
        return hub_fail(reader->reterr, HUB_EINVAL,
                        "replicas: to pass requests on takes listen, peers and key_file; %s is "
                        "missing",
                        listen->address == NULL ? "listen"
                        : !has_peers            ? "peers"
                                                : "key_file");
    }
    return HUB_OK;
}
