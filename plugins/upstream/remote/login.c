/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins: the hub has the tokens (patchbay/login.h). What is refused for the lack of one waits while the
 * hub gets it, and is sent once more: a request that was refused was not done. An entry with a header
 * Authorization of its own has no logins.
 */
#include "remote.h"

#include "header_value.h"

#include <strings.h>

enum {
    LOGIN_ATTEMPTS = 3,         /* of one request: refreshed, logged in, with more scopes */
    LOGIN_WAIT_MS = 11 * 60000, /* the hub gives up before that */
};

/* ---- whether there are any ------------------------------------------------------------------- */

static int has_header(const char *lines, const char *name)
{
    size_t len = strlen(name);
    while (lines != NULL && *lines != '\0') {
        if (strncasecmp(lines, name, len) == 0 && (lines[len] == ':' || lines[len] == ';')) {
            return 1;
        }
        lines = strchr(lines, '\n');
        lines = lines != NULL ? lines + 1 : NULL;
    }
    return 0;
}

int login_has_credential(const mcp_remote *remote)
{
    return has_header(remote->config.headers, "Authorization");
}

/* Something has changed: what was refused before may be let in. */
static void on_change(void *arg, int32_t status, patchbay_str text)
{
    mcp_remote *remote = arg;
    (void)status;
    (void)text;
    upstream_restart_now(&remote->server);
}

void login_init(mcp_remote *remote, const patchbay_host_api *api, patchbay_host *host)
{
    const patchbay_login_v1 *login = api->get_interface(host, PATCHBAY_LOGIN_V1);
    if (login != NULL && !login_has_credential(remote)) {
        remote->login = login;
        login->watch(host, on_change, remote);
    }
}

/* ---- before the first request ---------------------------------------------------------------- */

static void on_prepared(void *arg, int32_t status, patchbay_str text)
{
    mcp_remote *remote = arg;
    (void)status; /* without one the server says what it wants */
    (void)text;
    remote->login_ticket = 0;
    exchange_start_held(remote);
}

void login_open(mcp_remote *remote)
{
    patchbay_host *host = remote->server.host;
    if (remote->login != NULL && remote->login_ticket == 0 &&
        remote->login->prepare(host, on_prepared, remote, &remote->login_ticket) != PATCHBAY_OK) {
        remote->login_ticket = 0;
    }
}

void login_close(mcp_remote *remote)
{
    if (remote->login_ticket != 0) {
        remote->login->forget(remote->server.host, remote->login_ticket);
        remote->login_ticket = 0;
    }
}

/* ---- with each request ----------------------------------------------------------------------- */

void login_add(const mcp_remote *remote, const patchbay_out *forwarded, patchbay_out *lines,
               uint64_t *ret_generation)
{
    *ret_generation = 0;
    if (remote->login == NULL || has_header(forwarded->ptr, "Authorization")) {
        return;
    }
    patchbay_str value = remote->login->get_authorization(remote->server.host, ret_generation);
    if (value.len > 0) {
        header_make_room(lines, value.len + sizeof "Authorization: \n");
        patchbay_out_text(lines, "Authorization: ");
        patchbay_out_raw(lines, value);
        patchbay_out_text(lines, "\n");
    }
}

/* ---- when one is refused --------------------------------------------------------------------- */

static void on_obtained(void *arg, int32_t status, patchbay_str text)
{
    exchange *x = arg;
    mcp_server *server = &x->remote->server;
    x->login_ticket = 0;
    if (server->phase != PHASE_READY && server->phase != PHASE_IDLE) {
        server->started_ms = server->loop->now_ms(server->host);
        upstream_start_timer(server, server->started_ms + server->pace.startup_ms);
    }
    if (status == PATCHBAY_OK) {
        x->logins++;
        exchange_start(x);
        return;
    }
    x->is_login_over = 1;
    x->busy = 1;
    answer_take_login_end(x, status == PATCHBAY_ENOTFOUND ? patchbay_str_make("", 0) : text);
    x->busy = 0;
    if (x->is_over) {
        answer_free(x);
    }
}

int login_try(exchange *x)
{
    mcp_remote *remote = x->remote;
    mcp_server *server = &remote->server;
    int is_scope = x->status == 403 && strcmp(x->challenge.error, "insufficient_scope") == 0;
    if (remote->login == NULL || (x->status != 401 && !is_scope) || x->is_login_over ||
        x->logins >= LOGIN_ATTEMPTS || has_header(x->forwarded.ptr, "Authorization")) {
        return 0;
    }
    patchbay_refusal refusal = {
        .struct_size = sizeof refusal,
        .is_again = x->logins > 0,
        .generation = x->generation,
        .call = x->call,
        .challenge = patchbay_str_make(x->asked.ptr, x->asked.failed ? 0 : x->asked.len),
    };
    if (remote->login->obtain(server->host, &refusal, on_obtained, x, &x->login_ticket) !=
        PATCHBAY_OK) {
        x->login_ticket = 0;
        return 0;
    }
    if (server->phase != PHASE_READY && server->phase != PHASE_IDLE) {
        upstream_start_timer(server, server->loop->now_ms(server->host) + LOGIN_WAIT_MS);
    }
    return 1;
}

void login_forget(exchange *x)
{
    if (x->login_ticket != 0) {
        x->remote->login->forget(x->remote->server.host, x->login_ticket);
        x->login_ticket = 0;
    }
}
