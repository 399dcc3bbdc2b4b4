/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where clients reach the hub (`listen`, --http, --unix) and who they must be (`auth`, --tokens).
 * Nothing is resolved and nothing is opened here: an address is a literal or "localhost".
 */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"

#include <sys/un.h>

enum {
    MOST_MODE = 0777,
    MOST_HEADER_BYTES = 64,
    /* With its NUL, as the kernel takes it: unix(7). */
    SOCKET_PATH_BYTES = sizeof((struct sockaddr_un *)0)->sun_path,
};

#define LISTEN(member) offsetof(hub_listen_settings, member)

hub_err hub_config_expand_text(hub_config_reader *reader, const hub_node *node,
                               const char **ret_text)
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
    hub_err err = hub_config_expand_text(reader, node, &text);
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

static hub_err read_http(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                         void *target)
{
    (void)key;
    hub_listen_settings *listen = target;
    const char *text = NULL;
    if (node->kind != HUB_NODE_TEXT && node->kind != HUB_NODE_NUMBER) {
        return hub_config_wrong(reader, node, HUB_CONFIG_WANTED_ADDRESS);
    }
    hub_err err = hub_config_expand_text(reader, node, &text);
    listen->kind = HUB_LISTEN_HTTP;
    return err == HUB_OK ? hub_config_split_address(reader, node, text, listen) : err;
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
    *(uint32_t *)(void *)((char *)target + key->offset) = mode;
    return HUB_OK;
}

/* A header that a proxy writes; what the hub itself reads of each request is not the proxy's. */
static hub_err read_header(hub_config_reader *reader, const hub_node *node,
                           const hub_config_key *key, void *target)
{
    static const char *const TAKEN[] = {
        "authorization", "host",      "origin",          "cookie",           "accept",
        "connection",    "forwarded", "x-forwarded-for", "x-forwarded-proto"};
    bool is_good = node->kind == HUB_NODE_TEXT && hub_config_is_header(node->text) &&
                   node->text.len <= MOST_HEADER_BYTES;
    for (size_t i = 0; is_good && i < sizeof TAKEN / sizeof *TAKEN; i++) {
        is_good = !hub_str_eq_nocase(node->text, hub_str_of(TAKEN[i]));
    }
    if (!is_good) {
        return hub_config_wrong(reader, node,
                                "the name of a header that only the proxy writes, "
                                "like X-Client-Id");
    }
    const char *text = hub_arena_strdup(reader->arena, node->text);
    *(const char **)(void *)((char *)target + key->offset) = text;
    return text != NULL ? HUB_OK : hub_config_no_memory(reader);
}

/* Without a proxy whose word counts, nobody would see anything. */
static hub_err check_headers(const hub_config_reader *reader, const hub_node *item,
                             const hub_listen_settings *listen)
{
    const char *names[] = {listen->client_id_header, listen->toolsets_header};
    static const char *const KEYS[] = {"client_id_header", "toolsets_header"};
    for (size_t i = 0; i < 2; i++) {
        const hub_node *node = hub_node_find(item, KEYS[i]);
        if (names[i] != NULL && listen->trusted_proxy_count == 0) {
            return hub_node_fail(node != NULL ? node : item, reader->reterr, HUB_EINVAL,
                                 "counts from trusted_proxies alone, and this listener has none");
        }
    }
    if (names[0] != NULL && names[1] != NULL &&
        hub_str_eq_nocase(hub_str_of(names[0]), hub_str_of(names[1]))) {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL,
                             "client_id_header and toolsets_header are the same header");
    }
    return HUB_OK;
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
    bool is_any = item->kind == HUB_NODE_TEXT && hub_str_is(item->text, "*");
    if (item->kind != HUB_NODE_TEXT || (!is_any && has_any(item->text, "/*@?#,\\"))) {
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

/* Addresses and blocks of them. */
hub_err hub_config_read_blocks(hub_config_reader *reader, const hub_node *node, const char *what,
                               hub_listen_settings *listen)
{
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "a list like [10.0.0.0/8]");
    }
    if (node->count > HUB_LIMIT_TRUSTED_PROXIES) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d %s; name blocks",
                             HUB_LIMIT_TRUSTED_PROXIES, what);
    }
    hub_cidr *blocks = hub_arena_array(reader->arena, node->count, sizeof *blocks);
    if (blocks == NULL) {
        return hub_config_no_memory(reader);
    }
    for (const hub_node *item = node->first; item != NULL; item = item->next) {
        if (item->kind != HUB_NODE_TEXT || !hub_cidr_parse(item->text, &blocks[item->index])) {
            return hub_config_wrong(reader, item,
                                    "an IP address, or a block like \"10.0.0.0/8\" with no bit "
                                    "set behind its length");
        }
    }
    listen->trusted_proxies = blocks;
    listen->trusted_proxy_count = node->count;
    return HUB_OK;
}

static hub_err read_proxies(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    (void)key;
    return hub_config_read_blocks(reader, node, "proxies", target);
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
    listens[count] = (hub_listen_settings){.source = source};
    nodes[count] = node;
    reader->listens = listens;
    reader->listen_nodes = nodes;
    reader->listen_count++;
    *ret_err = hub_config_set_defaults(reader, HUB_CONFIG_LISTEN_KEYS, &listens[count]);
    return *ret_err == HUB_OK ? &listens[count] : NULL;
}

/* Keys that say nothing of the listener's kind would be a wish that nobody hears. */
static hub_err check_kind(const hub_config_reader *reader, const hub_node *item)
{
    bool is_http = hub_node_find(item, "http") != NULL;
    if (is_http == (hub_node_find(item, "unix") != NULL)) {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL,
                             "a listener has either \"http\" or \"unix\"");
    }
    const unsigned own = is_http ? HUB_CONFIG_OF_HTTP : HUB_CONFIG_OF_UNIX;
    for (const hub_config_key *key = HUB_CONFIG_LISTEN_KEYS; key->name != NULL; key++) {
        const hub_node *other = (key->of & own) == 0 ? hub_node_find(item, key->name) : NULL;
        if (other != NULL) {
            const char *more = strcmp(key->name, "profile") == 0
                                   ? "; over HTTP every profile is served, at /mcp/NAME"
                                   : "";
            return hub_node_fail(other, reader->reterr, HUB_EINVAL,
                                 "only a listener with \"%s\" has this key%s",
                                 is_http ? "unix" : "http", more);
        }
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
    if (err == HUB_OK) {
        err = check_headers(reader, item, listen);
    }
    return err == HUB_OK ? hub_config_check_tls(reader, item, &listen->tls) : err;
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
    hub_error why = {.code = HUB_OK};
    if (listen->profile == NULL || hub_settings_have_profile(settings, listen->profile)) {
        return HUB_OK;
    }
    (void)hub_settings_fail_profile(settings, listen->profile, &why);
    return hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", why.text);
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

/* listen[]: an address over TCP, or a Unix socket. */
const hub_config_key HUB_CONFIG_LISTEN_KEYS[] = {
    {.name = "http",
     .kind = HUB_CONFIG_OTHER,
     .read = read_http,
     .about = "HTTP and WebSocket on one port (/mcp, /mcp/PROFILE, /ws, /sse): PORT or "
              "ADDRESS:PORT; the address is 127.0.0.1 unless given, port 0 is any free one. "
              "Variables are expanded.",
     .schema = "{\"type\":[\"integer\",\"string\"],\"minimum\":0,\"maximum\":65535,"
               "\"minLength\":1}",
     .example = "127.0.0.1:8787",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "unix",
     .kind = HUB_CONFIG_PATH,
     .read = read_unix,
     .offset = LISTEN(address),
     .about = "The path of a Unix socket, which is spoken to in lines, as stdio is; relative to "
              "the manifest's folder. Variables are expanded.",
     .example = "./patchbay.sock",
     .of = HUB_CONFIG_OF_UNIX},
    {.name = "hosts",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_hosts,
     .offset = LISTEN(hosts),
     .about =
         "Names that a request's Host may have, with or without a port. Default: localhost, "
         "127.0.0.1, [::1]. \"*\" allows all names, and so web pages whose name was rebound to "
         "this address.",
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[!-~]+$\"}}",
     .example = "[localhost, 127.0.0.1, \"[::1]\"]",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "origins",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_origins,
     .offset = LISTEN(origins),
     .about = "Origins of web pages that may use it, beside those of `hosts`, such as "
              "https://app.example.com.",
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\","
               "\"pattern\":\"^[^/*:]+://[^/*@?#]+$\"}}",
     .example = "[]",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "insecure",
     .kind = HUB_CONFIG_BOOL,
     .offset = LISTEN(insecure),
     .about = "Serve other machines although nobody has to authenticate.",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "metrics",
     .kind = HUB_CONFIG_BOOL,
     .offset = LISTEN(metrics),
     .about =
         "Serve /metrics for Prometheus: to those with a token; without tokens, to this machine.",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "rest",
     .kind = HUB_CONFIG_BOOL,
     .offset = LISTEN(rest),
     .about = "Serve /openapi.json and POST /tools/NAME, for agents that do not speak MCP.",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "api",
     .kind = HUB_CONFIG_BOOL,
     .offset = LISTEN(api),
     .about = "Serve /api/v1 for administration: each token sees and does what its scopes allow "
              "(`admin:read`, `admin`).",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "ui",
     .kind = HUB_CONFIG_BOOL,
     .offset = LISTEN(ui),
     .about =
         "Serve the dashboard at /ui, and /api/v1, which it asks: it shows what the token that "
         "somebody logs in with may see. `patchbay ui` makes a link.",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "trusted_proxies",
     .kind = HUB_CONFIG_OTHER,
     .read = read_proxies,
     .about = "Addresses and blocks of proxies in front of the hub. X-Forwarded-For, "
              "X-Forwarded-Proto and Forwarded count where one of them sends them; from "
              "elsewhere they change nothing.",
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":2},"
               "\"maxItems\":64}",
     .example = "[127.0.0.1, \"10.0.0.0/8\"]",
     .is_comment = true,
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "proxy_protocol",
     .kind = HUB_CONFIG_BOOL,
     .offset = LISTEN(proxy_protocol),
     .about = "Connections of trusted_proxies begin with a PROXY header, of version 1 or 2, as "
              "haproxy's send-proxy makes it.",
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "client_id_header",
     .kind = HUB_CONFIG_OTHER,
     .read = read_header,
     .offset = LISTEN(client_id_header),
     .about =
         "A header by which one of trusted_proxies names the client that it speaks for: each is "
         "a principal of its own, client:ID@PRINCIPAL. Where it is missing, or is not from "
         "there, the client sees no toolsets.",
     .schema = "{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_-]+$\"}",
     .example = "X-Client-Id",
     .is_comment = true,
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "toolsets_header",
     .kind = HUB_CONFIG_OTHER,
     .read = read_header,
     .offset = LISTEN(toolsets_header),
     .about =
         "A header in which one of trusted_proxies lists the toolsets that the client may see, "
         "with commas between. Where it is missing, or is not from there, there are none.",
     .schema = "{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_-]+$\"}",
     .example = "MCP-Toolset-Permissions",
     .is_comment = true,
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "tls",
     .kind = HUB_CONFIG_MAP,
     .offset = LISTEN(tls),
     .keys = HUB_CONFIG_TLS_KEYS,
     .about = "For https and wss.",
     .schema = "{\"required\":[\"certificate\",\"key\"]}",
     .is_comment = true,
     .of = HUB_CONFIG_OF_HTTP},
    {.name = "profile",
     .kind = HUB_CONFIG_TEXT,
     .offset = LISTEN(profile),
     .about = "What the socket serves. Default: the default profile. Over HTTP each profile has "
              "its path, /mcp/NAME.",
     .example = "review",
     .is_comment = true,
     .of = HUB_CONFIG_OF_UNIX},
    {.name = "mode",
     .kind = HUB_CONFIG_OTHER,
     .read = read_mode,
     .offset = LISTEN(mode),
     .fallback_text = "0600",
     .about = "The socket's permissions, octal.",
     .schema = "{\"type\":[\"string\",\"integer\"],\"pattern\":\"^[0-7]{1,4}$\"}",
     .of = HUB_CONFIG_OF_UNIX},
    {.name = "group",
     .kind = HUB_CONFIG_TEXT,
     .offset = LISTEN(group),
     .about = "The socket's group, a name or a number. Default: the hub's own.",
     .example = "developers",
     .is_comment = true,
     .of = HUB_CONFIG_OF_UNIX},
    {.name = "activation",
     .kind = HUB_CONFIG_TEXT,
     .offset = LISTEN(activation),
     .about = "The name (FileDescriptorName=) of a socket that systemd hands over, which listens "
              "at this address already. Without one the hub opens its own.",
     .example = "http",
     .is_comment = true,
     .of = HUB_CONFIG_OF_HTTP | HUB_CONFIG_OF_UNIX},
    {.name = NULL},
};

/* auth: who may use what listens over TCP. */
const hub_config_key HUB_CONFIG_AUTH_KEYS[] = {
    {.name = "tokens",
     .kind = HUB_CONFIG_PATH,
     .read = hub_config_read_tokens_file,
     .offset = offsetof(hub_config_reader, config.tokens_file),
     .about = "File with the digests of bearer tokens, written by `patchbay token new NAME`; "
              "relative to the manifest's folder. Variables are expanded. Without it nobody has "
              "to authenticate, unless there are issuers.",
     .example = "tokens.json",
     .is_comment = true},
    {.name = "issuers",
     .kind = HUB_CONFIG_LIST_OF,
     .read = hub_config_read_issuers,
     .most = HUB_LIMIT_ISSUERS,
     .keys = HUB_CONFIG_ISSUER_KEYS,
     .about = "Identity providers whose tokens are accepted, besides the "
              "tokens of the file.",
     .is_comment = true},
    {.name = NULL},
};
