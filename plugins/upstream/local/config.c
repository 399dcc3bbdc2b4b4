/* SPDX-License-Identifier: Apache-2.0 */
#include "pipes.h"

#include "../common/module.h"

#include <strings.h>
#include <sys/un.h>

/* unix(7), less a NUL */
#define SOCKET_PATH_BYTES (sizeof((struct sockaddr_un *)0)->sun_path - 1)

static int32_t fail(patchbay_error *reterr, int32_t code, const char *text)
{
    reterr->code = code;
    (void)snprintf(reterr->text, sizeof reterr->text, "%s", text);
    return code;
}

/* The text of a raw string, or NULL: fail_texts() says why. */
static char *dup_text(patchbay_str raw)
{
    int32_t result;
    return upstream_dup_text(raw, &result);
}

/* The same, as one line: JSON may have line breaks between its tokens, and means the same with
 * blanks. */
static char *dup_line(patchbay_str raw)
{
    char *text = dup_text(raw);
    for (char *at = text; at != NULL && *at != '\0'; at++) {
        *at = *at == '\n' || *at == '\r' ? ' ' : *at;
    }
    return text;
}

static size_t count_members(patchbay_str raw)
{
    patchbay_json_iter it = patchbay_json_iterate(raw);
    patchbay_str key;
    patchbay_str value;
    size_t count = 0;
    while (patchbay_json_next(&it, &key, &value)) {
        count++;
    }
    return count;
}

/* argv from `command` and `args`. */
static char **read_argv(patchbay_str json)
{
    patchbay_str args = patchbay_json_get(json, "args");
    char **argv = calloc(count_members(args) + 2, sizeof(char *));
    if (argv == NULL) {
        return NULL;
    }
    size_t n = 0;
    argv[n++] = dup_text(patchbay_json_get(json, "command"));
    patchbay_json_iter it = patchbay_json_iterate(args);
    patchbay_str key;
    patchbay_str value;
    while (argv[n - 1] != NULL && patchbay_json_next(&it, &key, &value)) {
        argv[n++] = dup_text(value);
    }
    return argv;
}

/* Variables of the hub's own environment that a server gets unless `pass_env` says otherwise: what
 * reaching others takes where connections are watched, and the user's keys. */
static const char PASSED[] =
    "[\"SSL_CERT_FILE\",\"SSL_CERT_DIR\",\"NODE_EXTRA_CA_CERTS\",\"REQUESTS_CA_BUNDLE\","
    "\"CURL_CA_BUNDLE\",\"HTTP_PROXY\",\"http_proxy\",\"HTTPS_PROXY\",\"https_proxy\","
    "\"ALL_PROXY\",\"all_proxy\",\"NO_PROXY\",\"no_proxy\",\"SSH_AUTH_SOCK\"]";

/* Append those that are set. */
static int pass_variables(patchbay_str names, char **env, size_t *n)
{
    patchbay_json_iter it = patchbay_json_iterate(names);
    patchbay_str key;
    patchbay_str value;
    while (patchbay_json_next(&it, &key, &value)) {
        char *name = dup_text(value);
        const char *found = name != NULL ? getenv(name) : NULL;
        if (found != NULL && asprintf(&env[*n], "%s=%s", name, found) >= 0) {
            (*n)++;
            found = NULL;
        }
        int is_lost = name == NULL || found != NULL;
        free(name);
        if (is_lost) {
            return 0;
        }
    }
    return 1;
}

/* "NAME=value" from an object of strings, behind those that are passed on, which it replaces.
 * *ret_whole: 0 where one cannot be said to a process. */
static char **read_env(patchbay_str object, patchbay_str passed, int *ret_whole)
{
    char **env = calloc(count_members(object) + count_members(passed) + 1, sizeof(char *));
    patchbay_json_iter it = patchbay_json_iterate(object);
    patchbay_str key;
    patchbay_str value;
    size_t n = 0;
    *ret_whole = env != NULL && pass_variables(passed, env, &n);
    while (*ret_whole && patchbay_json_next(&it, &key, &value)) {
        patchbay_out entry = {0};
        (void)patchbay_json_decode(key, &entry);
        patchbay_out_text(&entry, "=");
        (void)patchbay_json_decode(value, &entry);
        if (entry.failed || memchr(entry.ptr, '\0', entry.len) != NULL) {
            patchbay_out_free(&entry);
            *ret_whole = 0;
            break;
        }
        env[n++] = entry.ptr;
    }
    return env;
}

/* The path in "unix:PATH" or "unix://PATH", as it is; NULL when it is neither. */
static const char *path_of(const char *url)
{
    static const char SCHEME[] = "unix:";
    if (strncasecmp(url, SCHEME, sizeof SCHEME - 1) != 0) {
        return NULL;
    }
    const char *rest = url + sizeof SCHEME - 1;
    return strncmp(rest, "//", 2) == 0 ? rest + 2 : rest;
}

static int32_t check_path(const char *path, patchbay_error *reterr)
{
    char text[128];
    if (path == NULL || path[0] != '/') {
        return fail(reterr, PATCHBAY_EINVAL,
                    "url: wants the absolute path of a Unix socket, as in unix:///run/mcp.sock");
    }
    if (strlen(path) > SOCKET_PATH_BYTES) {
        (void)snprintf(text, sizeof text,
                       "url: the path of a Unix socket has at most %zu bytes, this one has %zu",
                       SOCKET_PATH_BYTES, strlen(path));
        return fail(reterr, PATCHBAY_EINVAL, text);
    }
    return PATCHBAY_OK;
}

static int32_t read_url(patchbay_str json, upstream_config *config, patchbay_error *reterr)
{
    static const char *const OTHERS[] = {"command",     "args",   "env",        "cwd",
                                         "inherit_env", "module", "first_line", "pass_env"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        if (patchbay_json_get(json, OTHERS[i]).len > 0) {
            return fail(reterr, PATCHBAY_EINVAL,
                        "a server with a url runs already: it has no command, args, env or cwd");
        }
    }
    config->url = dup_text(patchbay_json_get(json, "url"));
    config->path = config->url != NULL ? path_of(config->url) : NULL;
    return check_path(config->path, reterr);
}

/* What is wrong with texts that could not be taken: the schema has seen that they are strings. */
static int32_t fail_texts(patchbay_str json, const char *nul, patchbay_error *reterr)
{
    if (memmem(json.ptr, json.len, "\\u0000", 6) == NULL) {
        return fail(reterr, PATCHBAY_ENOMEM, "out of memory");
    }
    return fail(reterr, PATCHBAY_EINVAL, nul);
}

static size_t count_strings(char **list)
{
    size_t count = 0;
    while (list != NULL && list[count] != NULL) {
        count++;
    }
    return count;
}

static int32_t read_command(patchbay_str json, upstream_config *config, patchbay_error *reterr)
{
    patchbay_str cwd = patchbay_json_get(json, "cwd");
    patchbay_str inherit = patchbay_json_get(json, "inherit_env");
    if (patchbay_json_get(json, "command").len == 0) {
        return fail(reterr, PATCHBAY_EINVAL, "the server entry has neither a command nor a url");
    }
    config->argv = read_argv(json);
    patchbay_str passed = patchbay_json_get(json, "pass_env");
    int has_env = 0;
    config->env = read_env(patchbay_json_get(json, "env"),
                           passed.len > 0 ? passed : patchbay_str_of(PASSED), &has_env);
    config->cwd = cwd.len > 0 ? dup_text(cwd) : NULL;
    patchbay_str module = patchbay_json_get(json, "module");
    patchbay_str first_line = patchbay_json_get(json, "first_line");
    config->module = module.len > 0 ? dup_text(module) : NULL;
    config->first_line = first_line.len > 0 ? dup_line(first_line) : NULL;
    if ((module.len > 0 && config->module == NULL) ||
        (first_line.len > 0 && config->first_line == NULL)) {
        return fail_texts(json, "module and first_line must be text without NUL", reterr);
    }
    config->spawn_flags = patchbay_json_true(inherit) ? PATCHBAY_SPAWN_INHERIT_ENV : 0;
    if (count_strings(config->argv) != count_members(patchbay_json_get(json, "args")) + 1 ||
        (cwd.len > 0 && config->cwd == NULL)) {
        return fail_texts(json, "command, args and cwd must be text without NUL characters",
                          reterr);
    }
    if (!has_env) {
        return fail_texts(
            json, "env, pass_env: names and values must be text without NUL characters", reterr);
    }
    return PATCHBAY_OK;
}

/* A first start may download the program, unless the entry says how long a start takes. */
static void allow_download(patchbay_str json, upstream_config *config)
{
    if (patchbay_json_get(json, "startup_timeout_ms").len == 0 &&
        upstream_is_launcher((const char *const *)config->argv)) {
        config->pace.startup_ms = UPSTREAM_DOWNLOAD_MS;
    }
}

int32_t upstream_config_read(patchbay_str json, upstream_config *config, patchbay_error *reterr)
{
    patchbay_str protocol = patchbay_json_get(json, "protocol");
    upstream_pace_read(json, UPSTREAM_HEALTH_MS, &config->pace);
    config->protocol = protocol.len > 0 ? dup_text(protocol) : NULL;
    if (protocol.len > 0 && config->protocol == NULL) {
        return PATCHBAY_ENOMEM;
    }
    if (patchbay_json_get(json, "url").len > 0) {
        return read_url(json, config, reterr);
    }
    int32_t err = read_command(json, config, reterr);
    if (err == PATCHBAY_OK) {
        allow_download(json, config);
    }
    return err;
}

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }
    free(list);
}

void upstream_config_free(upstream_config *config)
{
    free_list(config->argv);
    free_list(config->env);
    free(config->cwd);
    free(config->module);
    free(config->first_line);
    free(config->url);
    free(config->protocol);
    memset(config, 0, sizeof *config);
}
