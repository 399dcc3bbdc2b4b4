/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server may ask of a client in mid-call: sampling, elicitation, roots. Which of them a
 * client can be asked depends on the capabilities that it declared and on its revision.
 * Pure functions, any thread.
 * spec: MCP 2026-07-28 client/sampling, client/elicitation, client/roots (Capabilities),
 * basic/patterns/mrtr (InputRequests); 2025-11-25 and 2025-06-18 client/elicitation
 */
#ifndef HUB_WIRE_INPUT_REQUEST_H
#define HUB_WIRE_INPUT_REQUEST_H

#include "wire/json.h"
#include "wire/mcp.h"

typedef enum hub_input_kind {
    HUB_INPUT_SAMPLING,
    HUB_INPUT_ELICITATION,
    HUB_INPUT_ROOTS,
} hub_input_kind;

/* One such request, as far as it decides who can be asked. */
typedef struct hub_input_request {
    hub_input_kind kind;
    bool is_url;    /* elicitation by URL, not by a form */
    bool has_tools; /* sampling with tools */
} hub_input_request;

/* "sampling/createMessage", … */
const char *hub_input_method(hub_input_kind kind);

/* Read a request: `params` is raw, empty for none.
 * errors:  HUB_EINVAL (no such method, params are no object or missing, an unknown mode) */
HUB_MUST_CHECK hub_err hub_input_request_read(hub_str method, hub_str params,
                                              hub_input_request *ret_request, hub_error *reterr);

/* Whether a client of that revision, which declared these capabilities (a raw object), can be
 * asked. */
bool hub_input_request_fits(const hub_input_request *request, hub_revision revision,
                            hub_str capabilities);

/* Whether it can be asked anything at all. */
bool hub_input_is_possible(hub_str capabilities);

#endif
