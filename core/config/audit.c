/* SPDX-License-Identifier: Apache-2.0 */
/* Where the audit goes: nowhere, into the log, or to a file. */
#include "config/reader.h"

hub_err hub_config_read_audit(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    hub_audit_settings *audit = (void *)((char *)target + key->offset);
    static const hub_config_key PATH = {.offset = offsetof(hub_audit_settings, file)};
    bool is_word = node->kind == HUB_NODE_TEXT;
    audit->file = NULL;
    if (is_word && hub_str_is(node->text, "off")) {
        audit->is_on = false;
        return HUB_OK;
    }
    audit->is_on = true;
    audit->source = hub_config_place(reader, node);
    if (audit->source == NULL) {
        return hub_config_no_memory(reader);
    }
    return is_word && hub_str_is(node->text, "log")
               ? HUB_OK
               : hub_config_read_path(reader, node, &PATH, audit);
}
