/* SPDX-License-Identifier: Apache-2.0 */
/* What replicas compare of their manifests: a digest for each section, before variables are put in. */
#include "config/reader.h"

#include "base/digest.h"
#include "base/limits.h"
#include "wire/json.h"

/* So many bytes of a digest say that two texts are different. */
enum { DIGITS = 16 };

/* Where a replica listens is its own. */
static bool is_own(const hub_node *node)
{
    bool is_top = node->parent != NULL && node->parent->parent == NULL;
    bool is_of_replicas = node->parent != NULL && node->parent->key != NULL &&
                          strcmp(node->parent->key, "replicas") == 0;
    return node->key != NULL && strcmp(node->key, "listen") == 0 && (is_top || is_of_replicas);
}

/* As deep as a document may be (hub_node_parse). */
static void add_node(hub_digest *digest, const hub_node *node)
{
    const unsigned char kind = (unsigned char)node->kind;
    const char *key = node->key != NULL ? node->key : "";
    hub_digest_add(digest, &kind, sizeof kind);
    hub_digest_add(digest, &node->count, sizeof node->count);
    hub_digest_add(digest, key, strlen(key) + 1);
    hub_digest_add(digest, &node->text.len, sizeof node->text.len);
    hub_digest_add(digest, node->text.ptr, node->text.len);
    for (const hub_node *child = node->first; child != NULL; child = child->next) {
        if (!is_own(child)) {
            add_node(digest, child);
        }
    }
}

/* A section in all documents from that one on. */
static void add_section(const hub_config_reader *reader, size_t from, const char *name,
                        hub_buf *out)
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_digest digest;
    hub_digest_init(&digest);
    for (; from < reader->document_count; from++) {
        const hub_node *node = hub_node_find(reader->documents[from].root, name);
        if (node != NULL) {
            add_node(&digest, node);
        }
    }
    hub_digest_end(&digest, bytes);
    hub_digest_hex(bytes, hex);
    hub_json_add_key(out, hub_str_of(name));
    hub_json_add_string(out, (hub_str){.ptr = hex, .len = DIGITS});
}

static bool was_before(const hub_config_reader *reader, size_t document, const char *name)
{
    while (document > 0) {
        if (hub_node_find(reader->documents[--document].root, name) != NULL) {
            return true;
        }
    }
    return false;
}

hub_err hub_config_digest_sections(hub_config_reader *reader)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_buf_add_char(&out, '{');
    for (size_t i = 0; i < reader->document_count; i++) {
        const hub_node *root = reader->documents[i].root;
        const hub_node *node = root->kind == HUB_NODE_MAP ? root->first : NULL;
        for (; node != NULL; node = node->next) {
            if (!is_own(node) && !was_before(reader, i, node->key)) {
                add_section(reader, i, node->key, &out);
            }
        }
    }
    hub_buf_add_char(&out, '}');
    char *text =
        hub_buf_ok(&out) ? hub_arena_strdup(reader->config.arena, hub_buf_str(&out)) : NULL;
    hub_buf_fini(&out);
    reader->config.settings.replicas.sections = text;
    return text != NULL ? HUB_OK : hub_config_no_memory(reader);
}
