/* SPDX-License-Identifier: Apache-2.0 */
/* What serving over the network takes beside the configuration: secrets, and a guard. */
#include "config/config.h"

#include "config/reader.h"
#include "config/tokens.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { GROUP_BYTES = 16 * 1024 };

bool hub_config_is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    if (inet_pton(AF_INET6, address, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
    }
    return strcmp(address, "localhost") == 0;
}

/* `what` is a key of listen[].tls. A secret must not be open to all; groups that may read keys are
 * common. */
static hub_err check_pem(const hub_listen_settings *listen, const char *what, const char *path,
                         bool is_secret, hub_error *reterr)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0) {
        int cause = errno;
        char text[128];
        if (fd >= 0) {
            (void)close(fd); /* read only */
        }
        return hub_fail(reterr, cause == ENOENT ? HUB_ENOTFOUND : HUB_ESYSTEM, "%s: tls.%s: %s: %s",
                        listen->source, what, path, strerror_r(cause, text, sizeof text));
    }
    (void)close(fd); /* read only */
    if (!S_ISREG(status.st_mode)) {
        return hub_fail(reterr, HUB_EINVAL, "%s: tls.%s: %s: not a regular file", listen->source,
                        what, path);
    }
    if (is_secret && (status.st_mode & S_IRWXO) != 0) {
        return hub_fail(reterr, HUB_EINVAL,
                        "%s: tls.%s: %s: every user of this machine has access to it (mode %04o): "
                        "chmod 600 it",
                        listen->source, what, path, (unsigned)status.st_mode & 07777u);
    }
    return HUB_OK;
}

static bool has_group(const char *name)
{
    char *end = NULL;
    unsigned long number = strtoul(name, &end, 10);
    bool is_number = name[0] >= '0' && name[0] <= '9' && *end == '\0' && number < UINT32_MAX;
    char room[GROUP_BYTES]; /* too small for a large group: then it is there */
    struct group entry;
    struct group *found = NULL;
    return is_number || getgrnam_r(name, &entry, room, sizeof room, &found) == ERANGE ||
           found != NULL;
}

static hub_err check_socket(const hub_listen_settings *listen, hub_error *reterr)
{
    struct stat status;
    const char *slash = strrchr(listen->address, '/'); /* there is one: the path is absolute */
    int len = slash == listen->address ? 1 : (int)(slash - listen->address);
    char folder[sizeof((struct sockaddr_un *)0)->sun_path];
    (void)snprintf(folder, sizeof folder, "%.*s", len, listen->address);
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return hub_fail(reterr, HUB_ENOTFOUND, "%s: unix: there is no folder %s: make it first",
                        listen->source, folder);
    }
    if (listen->group != NULL && !has_group(listen->group)) {
        return hub_fail(reterr, HUB_EINVAL, "%s: group: there is no group \"%.64s\"",
                        listen->source, listen->group);
    }
    return HUB_OK;
}

static hub_err check_listener(hub_config *config, const hub_listen_settings *listen,
                              hub_error *reterr)
{
    hub_err err = HUB_OK;
    if (listen->kind == HUB_LISTEN_UNIX) {
        return check_socket(listen, reterr);
    }
    if (listen->tls.certificate != NULL) {
        err = hub_config_note_file(config, listen->tls.certificate, false, reterr);
        if (err == HUB_OK) {
            err = check_pem(listen, "certificate", listen->tls.certificate, false, reterr);
        }
    }
    if (err == HUB_OK && listen->tls.key != NULL) {
        err = hub_config_note_file(config, listen->tls.key, false, reterr);
    }
    if (err == HUB_OK && listen->tls.key != NULL) {
        err = check_pem(listen, "key", listen->tls.key, true, reterr);
    }
    if (err == HUB_OK && !config->settings.auth.required && !listen->insecure &&
        !listen->tls.clients.required && !hub_config_is_loopback(listen->address)) {
        err = hub_fail(reterr, HUB_EDENIED,
                       "%s: other machines reach %s, and nobody has to authenticate: make a token "
                       "with `patchbay token new NAME` and name its file (auth: {tokens: FILE}, "
                       "--tokens), or listen on 127.0.0.1, or say that it shall be so (insecure: "
                       "true, --insecure)",
                       listen->source, listen->address);
    }
    return err;
}

/* A file that is not there yet is the first thing that a new user meets. */
static void add_advice(const char *path, hub_err err, hub_error *reterr)
{
    if (err == HUB_ENOTFOUND && reterr != NULL) {
        (void)hub_fail(reterr, err, "%.300s: make it with `patchbay token new NAME --tokens %s`",
                       reterr->text, path);
    }
}

hub_err hub_config_load_network(hub_config *config, hub_error *reterr)
{
    hub_settings *settings = &config->settings;
    hub_err err = HUB_OK;
    settings->auth.required = settings->auth.issuer_count > 0;
    if (config->tokens_file != NULL) {
        hub_tokens tokens = {.count = 0};
        err = hub_config_note_file(config, config->tokens_file, false, reterr);
        if (err == HUB_OK) {
            err = hub_tokens_read(config->tokens_file, config->arena, &tokens, reterr);
        }
        if (err != HUB_OK) {
            add_advice(config->tokens_file, err, reterr);
            hub_error_prefix(reterr, "%s", config->tokens_source);
            return err == HUB_EDENIED ? HUB_EINVAL : err;
        }
        settings->auth.required = true;
        settings->auth.tokens_file = config->tokens_file;
        settings->auth.tokens = tokens.tokens;
        settings->auth.token_count = tokens.count;
    }
    for (size_t i = 0; err == HUB_OK && i < settings->listen_count; i++) {
        err = check_listener(config, &settings->listens[i], reterr);
    }
    return err;
}
