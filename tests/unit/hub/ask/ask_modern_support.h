/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of 2026-07-28 that are asked, one hub and one tool in each test program.
 */
#ifndef PATCHBAY_TESTS_ASK_MODERN_SUPPORT_H
#define PATCHBAY_TESTS_ASK_MODERN_SUPPORT_H

#include "ask_support.h"

#include "hub/ask/ask.h"

static hub_fixture fixture;
static asker tool;

static inline client *open_by(const char *principal)
{
    return client_open_as(
        &fixture, &(client_options){.kind = MODERN, .capabilities = ALL, .principal = principal});
}

/* Call the tool, which asks `k`; the requestState of the answer, on the heap. */
static inline char *begin(client *c, const char *id)
{
    client_call(c, id, "t__a", "{\"x\":1,\"y\":2}");
    return state_of(client_wait(c, id));
}

static inline void retry(client *c, const char *id, const char *state, const char *answers)
{
    client_retry(c, id, "t__a", "{\"x\":1,\"y\":2}", state, answers);
}

/* The code of an error reply with that id, 0 when it is none. */
static inline int64_t code_of(const client *c, const char *id)
{
    hub_message message;
    int64_t code = 0;
    const char *reply = client_reply(c, id);
    assert_non_null(reply);
    assert_int_equal(hub_message_scan(hub_str_of(reply), &message, NULL), HUB_OK);
    (void)hub_json_to_i64(message.at[HUB_M_ERROR_CODE], &code);
    return code;
}

static inline void start(puppet *master)
{
    if (master->on_call == NULL) {
        master->on_call = asker_called_elicits;
    }
    asker_start(&fixture, master, &tool);
    tool.on_answer = asker_finish_with_answer;
}

/* The same, with another time for the client to answer in. */
static inline void start_with(puppet *master, uint32_t ask_timeout_ms)
{
    start(master);
    fixture.settings.limits.ask_timeout_ms = ask_timeout_ms;
}

static inline void expect_refused(client *c, const char *method, const char *params)
{
    client_clear(c);
    client_request(c, "\"x\"", method, params);
    assert_int_equal(code_of(c, "\"x\""), HUB_RPC_INVALID_PARAMS);
    assert_int_equal(c->count, 1);
}

#endif
