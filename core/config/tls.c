/* SPDX-License-Identifier: Apache-2.0 */
/* listen[].tls: the hub's own certificate, and those of its clients. */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"
#include "identity/certificate.h"

#define CLIENTS(member) offsetof(hub_client_certificates, member)

/* 1.2 is a number in YAML, unless quoted. */
static hub_err read_tls_version(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    static const char *const VERSIONS[] = {"1.2", "1.3"};
    bool is_word = node->kind == HUB_NODE_TEXT || node->kind == HUB_NODE_NUMBER;
    for (size_t i = 0; is_word && i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        if (hub_str_is(node->text, VERSIONS[i])) {
            *(const char **)(void *)((char *)target + key->offset) = VERSIONS[i];
            return HUB_OK;
        }
    }
    return hub_config_wrong(reader, node, "\"1.2\" or \"1.3\"");
}

hub_err hub_config_check_tls(const hub_config_reader *reader, const hub_node *item,
                             const hub_tls_settings *tls)
{
    const hub_node *node = hub_node_find(item, "tls");
    if (node != NULL && (tls->certificate == NULL || tls->key == NULL)) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "wants a \"certificate\" and its \"key\", both PEM files");
    }
    return HUB_OK;
}

/* ---- clients --------------------------------------------------------------------------------- */

/* A file is watched, and its text is what counts: another text is another setting. */
static hub_err read_pem(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                        void *target)
{
    const char *path = NULL;
    const hub_config_key file = {.offset = 0};
    hub_err err = hub_config_read_path(reader, node, &file, &path);
    if (err == HUB_OK) {
        err = hub_config_note_file(&reader->config, path, false, reader->reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    hub_error why = {.code = HUB_OK};
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_AUTHORITY_BYTES);
    err = hub_file_read(path, &text, NULL, &why);
    if (err == HUB_OK && text.len == 0) {
        err = hub_fail(&why, HUB_EINVAL, "%.200s: the file is empty", path);
    }
    if (err == HUB_OK) {
        const char *copy = hub_arena_strdup(reader->arena, hub_buf_str(&text));
        *(hub_str *)(void *)((char *)target + key->offset) =
            (hub_str){.ptr = copy, .len = copy != NULL ? text.len : 0};
        err = copy != NULL ? HUB_OK : hub_config_no_memory(reader);
    } else {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", why.text);
    }
    hub_buf_fini(&text);
    return err;
}

static hub_err read_clients(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    hub_client_certificates *clients = (void *)((char *)target + key->offset);
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map like {ca: clients.pem}");
    }
    hub_err err = hub_config_read_map(reader, node, key, target);
    if (err != HUB_OK) {
        return err;
    }
    if (clients->ca.len == 0) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "wants \"ca\": a PEM file of the authorities whose certificates are "
                             "accepted");
    }
    hub_authority *authority = NULL;
    hub_error why = {.code = HUB_OK};
    err = hub_authority_create(clients, &authority, &why);
    hub_authority_unref(authority);
    return err == HUB_OK ? HUB_OK : hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", why.text);
}

static const hub_config_word PRINCIPALS[] = {
    {.word = "cn", .value = HUB_CERTIFICATE_CN},
    {.word = "san", .value = HUB_CERTIFICATE_SAN},
    {.word = "fingerprint", .value = HUB_CERTIFICATE_FINGERPRINT},
    {.word = NULL},
};

static const hub_config_key CLIENT_KEYS[] = {
    {.name = "ca",
     .kind = HUB_CONFIG_OTHER,
     .read = read_pem,
     .offset = CLIENTS(ca),
     .about = "PEM file of the authorities whose certificates are accepted. It is watched. "
              "Variables are expanded.",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "clients.pem"},
    {.name = "required",
     .kind = HUB_CONFIG_BOOL,
     .offset = CLIENTS(required),
     .about = "A client without a certificate is refused. Otherwise a token is "
              "enough."},
    {.name = "principal",
     .kind = HUB_CONFIG_WORD,
     .offset = CLIENTS(principal),
     .fallback = HUB_CERTIFICATE_CN,
     .words = PRINCIPALS,
     .about =
         "The part of the certificate that is the client's name: the "
         "common name; the only URI, e-mail address or DNS "
         "name among the alternative names, in this order; or the SHA-256 of the certificate."},
    {.name = "crl",
     .kind = HUB_CONFIG_OTHER,
     .read = read_pem,
     .offset = CLIENTS(crl),
     .about = "PEM file with the revocation list of each authority. It is watched. Once one is out "
              "of date, no certificate is accepted. Variables are expanded.",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "revoked.pem",
     .is_comment = true},
    {.name = NULL},
};

/* listen[].tls: for https and wss. */
const hub_config_key HUB_CONFIG_TLS_KEYS[] = {
    {.name = "certificate",
     .kind = HUB_CONFIG_PATH,
     .offset = offsetof(hub_tls_settings, certificate),
     .about = "PEM file: the certificate, and those that lead to its authority.",
     .example = "hub.pem"},
    {.name = "key",
     .kind = HUB_CONFIG_PATH,
     .offset = offsetof(hub_tls_settings, key),
     .about = "PEM file: its private key, for its owner's eyes only.",
     .example = "hub.key"},
    {.name = "min_version",
     .kind = HUB_CONFIG_OTHER,
     .read = read_tls_version,
     .offset = offsetof(hub_tls_settings, min_version),
     .fallback_text = "1.2",
     .about = "The oldest TLS that is spoken.",
     .schema = "{\"enum\":[\"1.2\",\"1.3\",1.2,1.3]}"},
    {.name = "clients",
     .kind = HUB_CONFIG_MAP,
     .read = read_clients,
     .offset = offsetof(hub_tls_settings, clients),
     .keys = CLIENT_KEYS,
     .about = "Clients are asked for certificates, and are principals cert:NAME by them.",
     .schema = "{\"required\":[\"ca\"]}",
     .example = "{ ca: clients.pem, required: true, principal: cn, crl: revoked.pem }",
     .is_comment = true},
    {.name = NULL},
};
