/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors inside the hub. A function that can fail returns hub_err; where a human needs to know
 * more, its last parameter is a hub_error that the function which noticed fills. There is no
 * global "last error". Internal codes never equal wire codes: wire/mcp.c maps them in one table.
 */
#ifndef HUB_BASE_ERR_H
#define HUB_BASE_ERR_H

#include "base/str.h"

#define HUB_MUST_CHECK                 __attribute__((warn_unused_result))
#define HUB_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

/* code, name, what it means */
#define HUB_ERRORS(X)                                                                              \
    X(OK, "ok", "success")                                                                         \
    X(EINVAL, "invalid", "an argument or a document is not valid")                                 \
    X(EPARSE, "parse", "the text is not well-formed")                                              \
    X(ENOMEM, "memory", "out of memory")                                                           \
    X(ELIMIT, "limit", "a limit is reached")                                                       \
    X(ENOTFOUND, "not-found", "there is no such thing")                                            \
    X(EEXIST, "exists", "it is there already")                                                     \
    X(EDENIED, "denied", "the policy does not allow it")                                           \
    X(ECOLLISION, "collision", "two things would have one name")                                   \
    X(EBUSY, "busy", "another operation is in progress")                                           \
    X(ESTATE, "state", "not possible in this state")                                               \
    X(ESTALE, "stale", "the handle refers to something that has ended")                            \
    X(ECONFLICT, "conflict", "it was changed by somebody else in the meantime")                    \
    X(EUNAVAILABLE, "unavailable", "a peer or a plugin cannot be reached now")                     \
    X(EABI, "abi", "a plugin does not fit this hub")                                               \
    X(ESYSTEM, "system", "the operating system refused")

typedef enum hub_err {
#define HUB_ERR_CODE(code, name, text) HUB_##code,
    HUB_ERRORS(HUB_ERR_CODE)
#undef HUB_ERR_CODE
} hub_err;

/* A reason for humans: one line, NUL-terminated, cut when too long. A plain value struct. */
typedef struct hub_error {
    hub_err code;
    char text[508];
} hub_error;

/* The short name of a code, for logs and JSON output. */
const char *hub_err_name(hub_err code);

/* The sentence of a code, for when there is no better text. */
const char *hub_err_text(hub_err code);

/* Fill `reterr` (may be NULL) and return `code`, so that failing is one statement.
 * Control characters in the finished text, and bytes that are not UTF-8, are replaced by '?': texts
 * end up on terminals and in JSON. The arguments may point into *reterr. */
hub_err hub_fail(hub_error *reterr, hub_err code, const char *format, ...) HUB_PRINTF(3, 4);

/* Put "prefix: " in front of a reason that a callee left; does nothing when reterr is NULL. */
void hub_error_prefix(hub_error *reterr, const char *format, ...) HUB_PRINTF(2, 3);

/* For our own bugs, never for input; stays on in release builds. */
#define hub_assert(condition)                                                                      \
    ((condition) ? (void)0 : hub_assert_failed(#condition, __FILE__, __LINE__))
_Noreturn void hub_assert_failed(const char *condition, const char *file, int line);

#endif
