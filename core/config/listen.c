/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where clients reach the hub (`listen`, --http, --unix) and who they must be (`auth`, --tokens).
 * Nothing is resolved and nothing is opened here: an address is a literal or "localhost".
 */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/un.h>

enum {
    MOST_MODE = 0777,
    DEFAULT_MODE = 0600,
    MOST_PORT = 65535,
    /* With its NUL, as the kernel takes it: unix(7). */
    SOCKET_PATH_BYTES = sizeof((struct sockaddr_un *)0)->sun_path,
};

#define LISTEN(member) offsetof(hub_listen_settings, member)

static const char WANTED_ADDRESS[] =
    "a port, or an address and a port, like 8787, \"127.0.0.1:8787\", \"[::1]:8787\"";

static hub_err expand_text(hub_config_reader *reader, const hub_node *node, const char **ret_text)
{
    if (node->kind != HUB_NODE_TEXT && node->kind != HUB_NODE_NUMBER) {
        return hub_config_wrong(reader, node, "text");
    }
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    reader->is_switched_off = false; /* that was a toolset */
    hub_err err = hub_config_expand(reader, node, &value);
    if (err == HUB_OK && value.len == 0) {
        err = hub_config_wrong(reader, node, "text");
    }
    if (err == HUB_OK) {
        *ret_text = hub_arena_strdup(reader->arena, hub_buf_str(&value));
        err = *ret_text != NULL ? HUB_OK : hub_config_no_memory(reader);
    }
    hub_buf_fini(&value);
    return err;
}

hub_err hub_config_read_path(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    const char *text = NULL;
    hub_err err = expand_text(reader, node, &text);
    if (err != HUB_OK) {
        return err;
    }
    if (text[0] == '~') {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "\"~\" has no meaning here: write the path out");
    }
    const char *path = hub_file_absolute(reader->folder, text, reader->arena);
    if (path == NULL) {
        return hub_config_no_memory(reader);
    }
    *(const char **)(void *)((char *)target + key->offset) = path;
    return HUB_OK;
}

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
        return is_literal(host, AF_INET6) ? NULL : "between the brackets is no IPv6 address";
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

static hub_err split_address(hub_config_reader *reader, const hub_node *node, const char *text,
                             hub_listen_settings *listen)
{
    const char *colon = strrchr(text, ':');
    hub_str host = colon == NULL ? HUB_STR("127.0.0.1") : hub_str_between(text, colon);
    if (strstr(text, "://") != NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL, "wanted %s, without a scheme",
                             WANTED_ADDRESS);
    }
    const char *port = colon == NULL ? text : colon + 1;
    if (!parse_port(hub_str_of(port), &listen->port)) {
        return is_number(port) ? hub_node_fail(node, reader->reterr, HUB_EINVAL,
                                               "%s is no port: they end at %d", port, MOST_PORT)
                               : hub_config_wrong(reader, node, WANTED_ADDRESS);
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

static hub_err read_http(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         void *target)
{
    (void)key;
    hub_listen_settings *listen = target;
    const char *text = NULL;
    if (node->kind != HUB_NODE_TEXT && node->kind != HUB_NODE_NUMBER) {
        return hub_config_wrong(reader, node, WANTED_ADDRESS);
    }
    hub_err err = expand_text(reader, node, &text);
    listen->kind = HUB_LISTEN_HTTP;
    return err == HUB_OK ? split_address(reader, node, text, listen) : err;
}

static hub_err read_unix(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         void *target)
{
    hub_listen_settings *listen = target;
    hub_err err = hub_config_read_path(reader, node, key, target);
    if (err == HUB_OK && strlen(listen->address) >= SOCKET_PATH_BYTES) {
        err = hub_node_fail(node, reader->reterr, HUB_ELIMIT,
                            "the path of a Unix socket has at most %d bytes, this one has %zu",
                            SOCKET_PATH_BYTES - 1, strlen(listen->address));
    }
    listen->kind = HUB_LISTEN_UNIX;
    return err;
}

/* Octal, as chmod takes it: "0660", 660. */
static hub_err read_mode(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         void *target)
{
    (void)key;
    hub_listen_settings *listen = target;
    bool is_word = node->kind == HUB_NODE_TEXT || node->kind == HUB_NODE_NUMBER;
    uint32_t mode = 0;
    for (size_t i = 0; is_word && i < node->text.len; i++) {
        char digit = node->text.ptr[i];
        is_word = digit >= '0' && digit <= '7' && mode <= MOST_MODE;
        mode = mode * 8 + (uint32_t)(digit - '0');
    }
    if (!is_word || node->text.len == 0 || mode > MOST_MODE) {
        return hub_config_wrong(reader, node, "octal permissions like \"0660\", at most \"0777\"");
    }
    listen->mode = mode;
    return HUB_OK;
}

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

static hub_err copy_item(hub_config_reader *reader, const hub_node *item, const char **ret_text)
{
    *ret_text = hub_arena_strdup(reader->arena, item->text);
    return *ret_text != NULL ? HUB_OK : hub_config_no_memory(reader);
}

static bool has_any(hub_str text, const char *characters)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c >= 0x7f || strchr(characters, c) != NULL) {
            return true;
        }
    }
    return text.len == 0;
}

/* What a client may send in Host: compared as it is, so what can never match is refused. */
static hub_err read_host_name(hub_config_reader *reader, const hub_node *item,
                              const char **ret_text)
{
    if (item->kind != HUB_NODE_TEXT || has_any(item->text, "/*@?#,\\")) {
        return hub_config_wrong(reader, item,
                                "a host name, with or without a port, like \"hub.example.com\"");
    }
    return copy_item(reader, item, ret_text);
}

static hub_err read_origin(hub_config_reader *reader, const hub_node *item, const char **ret_text)
{
    size_t scheme = item->kind == HUB_NODE_TEXT ? hub_str_find(item->text, HUB_STR("://")) : 0;
    if (item->kind != HUB_NODE_TEXT || scheme == SIZE_MAX ||
        has_any(hub_str_from(item->text, scheme + 3), "/*@?#,\\") ||
        has_any((hub_str){.ptr = item->text.ptr, .len = scheme}, "/*:")) {
        return hub_config_wrong(reader, item,
                                "an origin without a path, like \"https://app.example.com\"");
    }
    return copy_item(reader, item, ret_text);
}

hub_err hub_config_read_hosts(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_host_name,
                                (void *)((char *)target + key->offset));
}

hub_err hub_config_read_origins(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_origin, (void *)((char *)target + key->offset));
}

/* Room for one more listener, with its defaults; NULL on failure (*ret_err says why). */
static hub_listen_settings *add_listener(hub_config_reader *reader, const hub_node *node,
                                         hub_err *ret_err)
{
    size_t count = reader->listen_count;
    if (count >= HUB_LIMIT_LISTENERS) {
        *ret_err = hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d listeners",
                                 HUB_LIMIT_LISTENERS);
        return NULL;
    }
    hub_listen_settings *listens = hub_config_grow(reader, reader->listens, count, sizeof *listens);
    const hub_node **nodes = hub_config_grow(reader, reader->listen_nodes, count, sizeof *nodes);
    const char *source = node->line > 0
                             ? hub_arena_printf(reader->arena, "%s:%u", node->file, node->line)
                             : hub_arena_strdup(reader->arena, hub_str_of(node->file));
    if (listens == NULL || nodes == NULL || source == NULL) {
        *ret_err = hub_config_no_memory(reader);
        return NULL;
    }
    listens[count] = (hub_listen_settings){
        .mode = DEFAULT_MODE, .tls = {.min_version = "1.2"}, .source = source};
    nodes[count] = node;
    reader->listens = listens;
    reader->listen_nodes = nodes;
    reader->listen_count++;
    *ret_err = HUB_OK;
    return &listens[count];
}

/* Keys that say nothing of the listener's kind would be a wish that nobody hears. */
static hub_err check_kind(const hub_config_reader *reader, const hub_node *item)
{
    static const char *const OF_HTTP[] = {"tls", "hosts", "origins", "insecure", NULL};
    static const char *const OF_UNIX[] = {"profile", "mode", "group", NULL};
    const hub_node *http = hub_node_find(item, "http");
    const hub_node *unix_path = hub_node_find(item, "unix");
    if ((http == NULL) == (unix_path == NULL)) {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL,
                             "a listener has either \"http\" or \"unix\"");
    }
    const char *const *others = http != NULL ? OF_UNIX : OF_HTTP;
    for (; *others != NULL; others++) {
        const hub_node *other = hub_node_find(item, *others);
        if (other != NULL) {
            const char *more = strcmp(*others, "profile") == 0
                                   ? "; over HTTP every profile is served, at /mcp/NAME"
                                   : "";
            return hub_node_fail(other, reader->reterr, HUB_EINVAL,
                                 "only a listener with \"%s\" has this key%s",
                                 http != NULL ? "unix" : "http", more);
        }
    }
    return HUB_OK;
}

static hub_err check_tls(const hub_config_reader *reader, const hub_node *item,
                         const hub_tls_settings *tls)
{
    const hub_node *node = hub_node_find(item, "tls");
    if (node != NULL && (tls->certificate == NULL || tls->key == NULL)) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "wants a \"certificate\" and its \"key\", both PEM files");
    }
    return HUB_OK;
}

static hub_err read_listener(hub_config_reader *reader, const hub_node *item,
                             const hub_config_key *keys)
{
    hub_err err = HUB_OK;
    if (item->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, item, "a map like {http: 8787} or {unix: ./hub.sock}");
    }
    hub_listen_settings *listen = add_listener(reader, item, &err);
    if (listen == NULL) {
        return err;
    }
    const hub_config_key key = {.keys = keys};
    err = hub_config_read_map(reader, item, &key, listen);
    if (err == HUB_OK) {
        err = check_kind(reader, item);
    }
    return err == HUB_OK ? check_tls(reader, item, &listen->tls) : err;
}

hub_err hub_config_read_listens(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    (void)target; /* they go into the reader: a later file's list replaces an earlier one's */
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "a list like [{http: 8787}]");
    }
    reader->listen_count = 0;
    hub_err err = HUB_OK;
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        err = read_listener(reader, item, key->keys);
    }
    return err;
}

static hub_err read_flags(hub_config_reader *reader, const hub_node *node,
                          hub_config_read_fn read_address)
{
    static const hub_config_key ADDRESS = {.offset = LISTEN(address)};
    hub_err err = HUB_OK;
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        hub_listen_settings *listen = add_listener(reader, item, &err);
        if (listen != NULL) {
            err = read_address(reader, item, &ADDRESS, listen);
        }
    }
    return err;
}

hub_err hub_config_read_http_flags(hub_config_reader *reader, const hub_node *node,
                                   const hub_config_key *key, void *target)
{
    (void)key;
    (void)target;
    return read_flags(reader, node, read_http);
}

hub_err hub_config_read_unix_flags(hub_config_reader *reader, const hub_node *node,
                                   const hub_config_key *key, void *target)
{
    (void)key;
    (void)target;
    return read_flags(reader, node, read_unix);
}

hub_err hub_config_read_tokens_file(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target)
{
    reader->config.tokens_source = hub_config_place(reader, node);
    return reader->config.tokens_source == NULL ? hub_config_no_memory(reader)
                                                : hub_config_read_path(reader, node, key, target);
}

static bool is_same(const hub_listen_settings *a, const hub_listen_settings *b)
{
    bool is_any_port = a->kind == HUB_LISTEN_HTTP && a->port == 0;
    return a->kind == b->kind && !is_any_port && a->port == b->port &&
           strcmp(a->address, b->address) == 0;
}

static hub_err check_profile(const hub_config_reader *reader, const hub_node *node,
                             const hub_listen_settings *listen)
{
    const hub_settings *settings = &reader->config.settings;
    for (size_t i = 0; i < settings->profile_count; i++) {
        if (listen->profile == NULL || strcmp(settings->profiles[i].name, listen->profile) == 0) {
            return HUB_OK;
        }
    }
    return hub_node_fail(node, reader->reterr, HUB_EINVAL, "there is no profile \"%.100s\"",
                         listen->profile);
}

hub_err hub_config_finish_listens(hub_config_reader *reader)
{
    for (size_t i = 0; i < reader->listen_count; i++) {
        const hub_node *node = reader->listen_nodes[i];
        for (size_t k = 0; k < i; k++) {
            if (is_same(&reader->listens[k], &reader->listens[i])) {
                return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                                     "there is a listener at this address already, from %.160s",
                                     reader->listens[k].source);
            }
        }
        hub_err err = check_profile(reader, node, &reader->listens[i]);
        if (err != HUB_OK) {
            return err;
        }
    }
    reader->config.settings.listens = reader->listens;
    reader->config.settings.listen_count = reader->listen_count;
    return HUB_OK;
}

/* listen[].tls: for https and wss. */
static const hub_config_key TLS_KEYS[] = {
    /* PEM file: the certificate, and those that lead to its authority. */
    {.name = "certificate",
     .read = hub_config_read_path,
     .offset = offsetof(hub_tls_settings, certificate)},
    /* PEM file: its private key. */
    {.name = "key", .read = hub_config_read_path, .offset = offsetof(hub_tls_settings, key)},
    /* Default: 1.2. */
    {.name = "min_version",
     .read = read_tls_version,
     .offset = offsetof(hub_tls_settings, min_version)},
    {.name = NULL},
};

/* listen[]: an address over TCP, or a Unix socket. */
const hub_config_key HUB_CONFIG_LISTEN_KEYS[] = {
    /* PORT or ADDRESS:PORT; port 0 is any free one. Default address: 127.0.0.1. */
    {.name = "http", .read = read_http},
    /* Names that a request's Host may have. Default: localhost, 127.0.0.1, [::1]. */
    {.name = "hosts", .read = hub_config_read_hosts, .offset = LISTEN(hosts)},
    /* Origins of web pages that may use it, beside those of `hosts`. Default: none. */
    {.name = "origins", .read = hub_config_read_origins, .offset = LISTEN(origins)},
    {.name = "tls", .read = hub_config_read_map, .offset = LISTEN(tls), .keys = TLS_KEYS},
    /* Serve other machines although nobody has to authenticate. Default: false. */
    {.name = "insecure", .read = hub_config_read_bool, .offset = LISTEN(insecure)},
    /* The socket's path. */
    {.name = "unix", .read = read_unix, .offset = LISTEN(address)},
    /* What it serves. Default: the default profile. */
    {.name = "profile", .read = hub_config_read_text, .offset = LISTEN(profile)},
    /* The socket's permissions. Default: 0600. */
    {.name = "mode", .read = read_mode},
    /* The socket's group. Default: that of the process. */
    {.name = "group", .read = hub_config_read_text, .offset = LISTEN(group)},
    {.name = NULL},
};

/* auth: who may use what listens over TCP. */
const hub_config_key HUB_CONFIG_AUTH_KEYS[] = {
    /* The digests of bearer tokens, written by `patchbay token new`. Default: nobody has to
     * authenticate. */
    {.name = "tokens",
     .read = hub_config_read_tokens_file,
     .offset = offsetof(hub_config_reader, config.tokens_file)},
    {.name = NULL},
};
