/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor.h"

#include "identity/certificate.h"
#include "wire/json.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SOON_DAYS = 14, /* a certificate that ends within so many is told */
    DAY_S = 24 * 60 * 60,
    SAID_BYTES = 1024,
};

/* ---- proxies --------------------------------------------------------------------------------- */

static const char *const PROXIES[][2] = {
    {"https_proxy", "HTTPS_PROXY"}, {"http_proxy", "HTTP_PROXY"}, {"all_proxy", "ALL_PROXY"}};

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool has_proxy(void)
{
    bool has = false;
    for (size_t i = 0; i < sizeof PROXIES / sizeof *PROXIES; i++) {
        has = has || variable(PROXIES[i][0]) != NULL || variable(PROXIES[i][1]) != NULL;
    }
    return has;
}

/* [SCHEME://][USER@]HOST[:PORT][/] as curl and the libraries of Node and Python take it. */
static bool is_proxy(const char *value)
{
    const char *scheme = strstr(value, "://");
    const char *host = scheme != NULL ? scheme + 3 : value;
    const char *at = strrchr(host, '@');
    host = at != NULL ? at + 1 : host;
    size_t len = strcspn(host, "/");
    const char *colon = memchr(host, ':', len);
    bool is_v6 = host[0] == '[';
    if (is_v6) {
        const char *end = memchr(host, ']', len);
        colon = end != NULL ? memchr(end, ':', len - (size_t)(end - host)) : host;
    }
    size_t name = colon != NULL ? (size_t)(colon - host) : len;
    size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 1;
    bool is_port = colon == NULL || (digits > 0 && digits <= 5 && colon + 1 + digits == host + len);
    return name > 0 && is_port && strpbrk(host, " \t") == NULL;
}

/* Its value may have a password: it is not shown. */
static void look_at_proxy(cli_examination *all, const char *const names[2])
{
    const char *lower = variable(names[0]);
    const char *upper = variable(names[1]);
    const char *value = lower != NULL ? lower : upper;
    char said[SAID_BYTES];
    if (value == NULL) {
        return;
    }
    const char *name = lower != NULL ? names[0] : names[1];
    if (!is_proxy(value)) {
        (void)snprintf(said, sizeof said, "%s is not an address", name);
        cli_doctor_tell(all, CLI_BAD, "proxy", said, "write it as http://HOST:PORT");
    } else if (lower != NULL && upper != NULL && strcmp(lower, upper) != 0) {
        (void)snprintf(said, sizeof said, "%s and %s differ, and each program reads another one",
                       names[0], names[1]);
        cli_doctor_tell(all, CLI_DOUBTFUL, "proxy", said, "give both the same value");
    } else {
        (void)snprintf(said, sizeof said, "%s is set", name);
        cli_doctor_tell(all, CLI_FINE, "proxy", said, NULL);
    }
}

static bool has_name(hub_str list, const char *name)
{
    hub_str none;
    hub_str item;
    hub_json_iter iter = hub_json_iterate(list);
    bool has = false;
    while (!has && hub_json_next(&iter, &none, &item)) {
        has = hub_json_string_is(item, hub_str_of(name));
    }
    return has;
}

/* A server with a list of its own gets no other variables. */
static void look_at_passed(cli_examination *all, const hub_toolset_settings *toolset)
{
    static const char *const NAMES[] = {"HTTPS_PROXY", "https_proxy",   "HTTP_PROXY",
                                        "http_proxy",  "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"};
    hub_str list = cli_doctor_value(toolset, "pass_env");
    hub_str own = cli_doctor_value(toolset, "env");
    char subject[128];
    char said[SAID_BYTES];
    if (hub_json_type_of(list) != HUB_JSON_ARRAY) {
        return;
    }
    (void)snprintf(subject, sizeof subject, "toolset %s", toolset->key);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (variable(NAMES[i]) != NULL && !has_name(list, NAMES[i]) &&
            hub_json_get(own, hub_str_of(NAMES[i])).len == 0) {
            (void)snprintf(said, sizeof said, "its `pass_env` leaves out %s, which is set here",
                           NAMES[i]);
            cli_doctor_tell(all, CLI_DOUBTFUL, subject, said,
                            "add the name to pass_env, or leave pass_env out");
            return;
        }
    }
}

/* Whether NO_PROXY spares the addresses of this machine. */
static bool spares_itself(void)
{
    const char *lower = variable("no_proxy");
    const char *list = lower != NULL ? lower : variable("NO_PROXY");
    return list != NULL && (strchr(list, '*') != NULL || strstr(list, "localhost") != NULL ||
                            strstr(list, "127.0.0.1") != NULL);
}

static void look_at_url(cli_examination *all, const hub_toolset_settings *toolset)
{
    static const char *const OWN[] = {"http://localhost",  "http://127.",  "http://[::1]",
                                      "https://localhost", "https://127.", "https://[::1]"};
    hub_str url = HUB_STR_EMPTY;
    char subject[128];
    (void)hub_json_plain(cli_doctor_value(toolset, "url"), &url);
    (void)snprintf(subject, sizeof subject, "toolset %s", toolset->key);
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++) {
        if (has_proxy() && !spares_itself() && hub_str_starts(url, hub_str_of(OWN[i]))) {
            cli_doctor_tell(all, CLI_DOUBTFUL, subject,
                            "requests to this machine go to the proxy, too",
                            "export NO_PROXY=localhost,127.0.0.1,::1");
            return;
        }
    }
}

/* ---- authorities ----------------------------------------------------------------------------- */

/* Files of authorities that somebody named. One that cannot be read makes each connection fail. */
static void look_at_authorities(cli_examination *all)
{
    static const char *const NAMES[] = {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
                                        "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"};
    char said[SAID_BYTES];
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *path = variable(NAMES[i]);
        if (path != NULL && access(path, R_OK) != 0) {
            (void)snprintf(said, sizeof said, "%s names %s: %s", NAMES[i], path, strerror(errno));
            cli_doctor_tell(all, CLI_BAD, "certificates", said,
                            "correct the variable, or unset it");
        } else if (path != NULL) {
            (void)snprintf(said, sizeof said, "%s is there", NAMES[i]);
            cli_doctor_tell(all, CLI_FINE, "certificates", said, NULL);
        }
    }
}

void cli_doctor_environment(cli_examination *all)
{
    const hub_settings *settings = &all->config->settings;
    for (size_t i = 0; i < sizeof PROXIES / sizeof *PROXIES; i++) {
        look_at_proxy(all, PROXIES[i]);
    }
    look_at_authorities(all);
    for (size_t i = 0; i < settings->toolset_count; i++) {
        if (cli_doctor_starts(&settings->toolsets[i])) {
            look_at_passed(all, &settings->toolsets[i]);
        } else if (settings->toolsets[i].enabled) {
            look_at_url(all, &settings->toolsets[i]);
        }
    }
}

/* ---- listeners ------------------------------------------------------------------------------- */

static void look_at_certificate(cli_examination *all, const char *path)
{
    char said[SAID_BYTES];
    int64_t end = 0;
    if (path == NULL || !hub_certificate_file_end(path, &end)) {
        return; /* hub_config_load_network has said so */
    }
    int64_t left_s = end - (int64_t)time(NULL);
    bool is_near = left_s < (int64_t)SOON_DAYS * DAY_S;
    if (left_s <= 0) {
        (void)snprintf(said, sizeof said, "%s has expired", path);
    } else {
        (void)snprintf(said, sizeof said, "%s is good for %lld more days", path,
                       (long long)(left_s / DAY_S));
    }
    cli_doctor_tell(all,
                    left_s <= 0 ? CLI_BAD
                    : is_near   ? CLI_DOUBTFUL
                                : CLI_FINE,
                    "certificates", said,
                    is_near ? "renew it; a running hub takes the new file by itself" : NULL);
}

/* What prevents listening there; 0: nothing. Nobody can connect meanwhile. */
static int try_address(const hub_listen_settings *listen_at)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    char port[8];
    const char *host =
        strcmp(listen_at->address, "localhost") == 0 ? "127.0.0.1" : listen_at->address;
    (void)snprintf(port, sizeof port, "%u", (unsigned)listen_at->port);
    if (getaddrinfo(host, port, &hints, &found) != 0) {
        return 0;
    }
    int one = 1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        error = bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 0) != 0 ? errno : 0;
        (void)close(fd);
    }
    freeaddrinfo(found);
    return error;
}

static void look_at_address(cli_examination *all, const hub_listen_settings *listen_at)
{
    char said[SAID_BYTES];
    int error =
        listen_at->kind == HUB_LISTEN_HTTP && listen_at->port != 0 ? try_address(listen_at) : 0;
    if (error == EADDRINUSE) {
        (void)snprintf(said, sizeof said, "something listens at %s port %u already",
                       listen_at->address, (unsigned)listen_at->port);
        cli_doctor_tell(all, CLI_DOUBTFUL, "listeners", said,
                        "if `patchbay status` does not say that it is this hub, take another port");
    } else if (error != 0) {
        (void)snprintf(said, sizeof said, "%s port %u: %s", listen_at->address,
                       (unsigned)listen_at->port, strerror(error));
        cli_doctor_tell(all, CLI_BAD, "listeners", said,
                        "take another address, or a port from 1024 on");
    }
}

void cli_doctor_listeners(cli_examination *all)
{
    const hub_settings *settings = &all->config->settings;
    hub_error why = {.code = HUB_OK};
    if (settings->listen_count == 0) {
        return;
    }
    bool is_good = hub_config_load_network(all->config, &why) == HUB_OK;
    cli_doctor_tell(all, is_good ? CLI_FINE : CLI_BAD, "listeners",
                    is_good ? "tokens, certificates and addresses are as they must be" : why.text,
                    is_good                             ? NULL
                    : strstr(why.text, "token") != NULL ? "patchbay help token; docs/SECURITY.md"
                                                        : "correct that line");
    for (size_t i = 0; i < settings->listen_count; i++) {
        look_at_certificate(all, settings->listens[i].tls.certificate);
        look_at_address(all, &settings->listens[i]);
    }
}
