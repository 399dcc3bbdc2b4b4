/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.client/1": the client behind a call. What a toolset may say to it before
 * the answer (log messages), and what it may ask of it (sampling, elicitation, roots). The hub
 * speaks the client's dialect: a client of a handshake revision gets a request on its call's
 * stream; a client of 2026-07-28 gets an `input_required` result, and the call goes on when it
 * retries with the answers. The toolset does not see the difference.
 *
 * Whatever a call asks within one turn of the loop goes to the client together.
 */
#ifndef PATCHBAY_CLIENT_H
#define PATCHBAY_CLIENT_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_CLIENT_V1 "patchbay.client/1"

/* How a question ended: `status` of patchbay_on_answer. */
#define PATCHBAY_ANSWERED 0 /* `json` is the client's result object */
#define PATCHBAY_REFUSED  1 /* `json` is the JSON-RPC error object that it answered with */
#define PATCHBAY_NO_ANSWER                                                                         \
    2 /* it is gone, cancelled the call, or took too long: `json` is text                          \
       */

/* An id for message(): the call is one of those that the instance has in flight, but nobody says
 * which. */
#define PATCHBAY_SOME_CALL UINT64_MAX

/* An id for ask(): no call is the cause. */
#define PATCHBAY_NO_CALL (UINT64_MAX - 1)

/* The answer to a question. Runs on the loop, exactly once per question that ask() took, before
 * destroy(). After PATCHBAY_NO_ANSWER the call is over and finish() would change nothing, unless
 * the question was taken back with withdraw().
 * thread: [loop]     blocks: no */
typedef void patchbay_on_answer(void *arg, patchbay_call call, int32_t status, patchbay_str json);

/* Every span is copied. */
typedef struct patchbay_question {
    uint32_t struct_size;
    uint32_t reserved;
    /* Tells the questions of a call apart; modern clients see it, and one that knows it from before
     * may send the answer along with its request. Empty: the hub makes one. */
    patchbay_str key;
    patchbay_str method;      /* sampling/createMessage, elicitation/create or roots/list */
    patchbay_str params_json; /* its params object; empty for none */
    patchbay_on_answer *on_answer;
    void *arg;
} patchbay_question;

typedef struct patchbay_client_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* The client's capabilities (MCP ClientCapabilities), a JSON object, borrowed until the call
     * ends; "{}" for a call that is over.
     * thread: [loop]     blocks: no */
    patchbay_str (*get_capabilities)(patchbay_host *host, patchbay_call call);

    /* Ask the client. The call's deadline stands still until the answer is there.
     * With call id 0 the question belongs to no call in particular (a server over one pipe does not
     * say): it goes to the session whose calls the instance is working on, if that is a single one.
     * With PATCHBAY_NO_CALL only roots/list may be asked, and only of a session of a handshake
     * revision: of the one whose calls the instance has, if that is a single one; else of the one
     * whose roots it was told last, while that lives; else of the only session there is in the
     * profiles that the toolset is active in.
     * thread: [any]      blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (unknown method, params no object, key used already);
     *          PATCHBAY_ESTATE (the client did not declare the capability, or there is no single
     *          session); PATCHBAY_ESTALE (the call is over); PATCHBAY_ELIMIT (too many questions);
     *          PATCHBAY_ENOMEM. From another thread only EINVAL, ENOMEM, ESTATE (closing) and
     *          ELIMIT (as set_tools()): the rest is told as PATCHBAY_NO_ANSWER */
    int32_t (*ask)(patchbay_host *host, patchbay_call call, const patchbay_question *question);

    /* Send the client a log message: the params object of MCP's notifications/message, with `level`
     * and `data`, `logger` if wanted. It arrives if the client asked for that level, or has never
     * asked for any and is of a handshake revision: from "info" on. With call id 0 it goes to every
     * such client of a handshake revision. Announce it, set_capabilities() of catalog.h with
     * "logging": who was not told of messages gets those alone that it asked for. With
     * PATCHBAY_SOME_CALL it goes to the session whose calls the instance is working on, if that is
     * a single one and each of its calls wants that level; else to nobody.
     * thread: [any]      blocks: no
     * returns: as patchbay_host_api.notify(); PATCHBAY_ESTATE on the loop thread, for
     *          PATCHBAY_SOME_CALL, when there is no single session */
    int32_t (*message)(patchbay_host *host, patchbay_call call, patchbay_str params_json);

    /* Let go of the connection that the call's answer would take, where the client can come back
     * for it (SSE polling, MCP 2025-11-25 basic/transports): for calls that take long. Elsewhere
     * nothing happens.
     * thread: [any]      blocks: no
     * returns: as patchbay_host_api.notify() */
    int32_t (*release)(patchbay_host *host, patchbay_call call);

    /* Results of this instance may say `input_required` themselves (a proxy to a server of
     * 2026-07-28): the hub then keeps the params of calls of clients that have to be asked
     * directly, asks them, and makes the call again with the answers.
     * thread: [loop]     blocks: no */
    void (*expect_input_required)(patchbay_host *host, uint32_t is_expected);

    /* A header of the HTTP request that the call came with: its value, borrowed until the call
     * ends. Empty unless the toolset's entry in the manifest names it in `forward_headers`, for a
     * client that did not send it, and for one that does not come over HTTP; of a WebSocket it is
     * that of the handshake. `name` in any case; lines of one name come joined by commas. Clients
     * decide what it says: it proves nothing by itself.
     * thread: [loop]     blocks: no
     * since:  PATCHBAY_HAS(patchbay_client_v1, client, get_header) */
    patchbay_str (*get_header)(patchbay_host *host, patchbay_call call, patchbay_str name);

    /* Take back a question that is open: the client need not answer it any more. One of a handshake
     * revision is told so; of one of 2026-07-28, which cannot be told, the answer will be ignored.
     * on_answer() hears PATCHBAY_NO_ANSWER, after this has returned; the call goes on. `call` and
     * `key` are those of ask(); with call id 0, all calls of the instance are looked through.
     * thread: [any]      blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_ENOTFOUND (no such question is open: it may just have been
     *          answered); PATCHBAY_EINVAL (no key). From another thread EINVAL, ENOMEM, ESTATE and
     *          ELIMIT, as ask()
     * since:   PATCHBAY_HAS(patchbay_client_v1, client, withdraw) */
    int32_t (*withdraw)(patchbay_host *host, patchbay_call call, patchbay_str key);

    /* Something that a user was sent to by URL is done: the params object of
     * notifications/elicitation/complete (MCP 2025-11-25), with `elicitationId`. It goes to the
     * clients that this toolset sent there under that id (elicitation/create, or the JSON-RPC error
     * -32042), once to each, and to nobody else; not to those of other revisions, which have no
     * such message. `call`: on whose stream, should it be that of such a client; id 0: any.
     * thread: [any]      blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (no such object); PATCHBAY_ENOTFOUND (there is no such
     *          client). From another thread EINVAL, ENOMEM, ESTATE and ELIMIT, as ask()
     * since:   PATCHBAY_HAS(patchbay_client_v1, client, elicitation_complete) */
    int32_t (*elicitation_complete)(patchbay_host *host, patchbay_call call,
                                    patchbay_str params_json);

    /* A task of the toolset has changed: the params object of MCP's notifications/tasks/status,
     * with the toolset's own `taskId`. The client that made the task is told, if it can be.
     * Announce tasks: set_capabilities() of catalog.h. thread: [loop]     blocks: no returns:
     * PATCHBAY_OK; PATCHBAY_EINVAL (no object, no taskId) since:  PATCHBAY_HAS(patchbay_client_v1,
     * client, task_changed) */
    int32_t (*task_changed)(patchbay_host *host, patchbay_str params_json);
} patchbay_client_v1;

#ifdef __cplusplus
}
#endif

#endif
