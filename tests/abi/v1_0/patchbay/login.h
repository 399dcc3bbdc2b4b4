/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.login/1": logins to servers, for proxies. The hub keeps tokens, refreshes them
 * and has users log in; a proxy asks for the value of the header Authorization before each request, and
 * says what the server answered when that was refused. It sees nothing else of a login.
 */
#ifndef PATCHBAY_LOGIN_H
#define PATCHBAY_LOGIN_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_LOGIN_V1 "patchbay.login/1"

/* How obtaining has ended: `status` is PATCHBAY_OK, there is a token now that was not refused yet;
 * PATCHBAY_ENOTFOUND, nobody knows where to log in; anything else, and `text` says what to do, to people.
 * Runs on the loop, once for each obtain() or prepare() that took it, before destroy(), never within it.
 * thread: [loop]     blocks: no */
typedef void patchbay_on_login(void *arg, int32_t status, patchbay_str text);

/* The server refuses a request. Spans are copied. */
typedef struct patchbay_refusal {
    uint32_t struct_size;
    uint32_t is_again;   /* the token is one that obtain() has just brought */
    uint64_t generation; /* of the token that was sent, as get_authorization() said; 0: none was */
    patchbay_call call;  /* whose request it is; id 0: the proxy's own */
    patchbay_str challenge; /* the value of WWW-Authenticate, lines joined by commas */
} patchbay_refusal;

typedef struct patchbay_login_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* The value of Authorization for requests to the toolset's own server, and to nobody else; borrowed
     * until the loop goes on. Empty: there is none, and requests go without. *ret_generation tells it
     * from others; 0: there is none.
     * thread: [loop]     blocks: no */
    patchbay_str (*get_authorization)(patchbay_host *host, uint64_t *ret_generation);

    /* Wait until it is known whether there is one: before the first request.
     * thread: [loop]     blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_ENOTFOUND (this toolset has no logins), PATCHBAY_ENOMEM,
     *          PATCHBAY_ELIMIT: on_login is not called */
    int32_t (*prepare)(patchbay_host *host, patchbay_on_login *on_login, void *arg,
                       uint64_t *ret_ticket);

    /* Get a token in place of the one that was refused. That can take as long as a user takes.
     * thread: [loop]     blocks: no
     * returns: as prepare() */
    int32_t (*obtain)(patchbay_host *host, const patchbay_refusal *refusal,
                      patchbay_on_login *on_login, void *arg, uint64_t *ret_ticket);

    /* Nobody waits for that any more: on_login is not called. Of a ticket that has ended,
     * nothing happens.
     * thread: [loop]     blocks: no */
    void (*forget)(patchbay_host *host, uint64_t ticket);

    /* Be told (with PATCHBAY_OK) whenever there is another token than before, for as long as the instance
     * lives. thread: [loop]     blocks: no */
    void (*watch)(patchbay_host *host, patchbay_on_login *on_change, void *arg);
} patchbay_login_v1;

#ifdef __cplusplus
}
#endif

#endif
