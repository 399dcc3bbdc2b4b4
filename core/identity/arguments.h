/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of access rules on the arguments of a call, over the client's own bytes: no tree is
 * built, and what is looked at has a bound (HUB_LIMIT_ACCESS_VALUES). Pure functions, any thread.
 */
#ifndef HUB_IDENTITY_ARGUMENTS_H
#define HUB_IDENTITY_ARGUMENTS_H

#include "identity/rules.h"

/* Refuse what a server could read in another way than the hub does: an object, at any depth, that
 * has the same key twice; compared decoded.
 * errors:  HUB_EINVAL, HUB_ELIMIT (more than HUB_LIMIT_ACCESS_VALUES values), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_access_check_arguments(hub_str arguments, hub_error *reterr);

/* Whether all conditions of a rule are satisfied; one without any always is. A value that is absent,
 * of another type, or a path of which nobody can say where it leads, satisfies no condition of
 * allow, challenge or confirm, and every one of deny.
 * errors:  HUB_EINVAL (two keys where a condition looks that a server may take
 *          for one), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_access_arguments_fit(const hub_access_rule *rule, hub_str arguments,
                                                bool *ret_fits, hub_error *reterr);

/* Whether two raw scalars are the same value: texts decoded, numbers by their value. */
bool hub_access_same_scalar(hub_str a, hub_str b);

/* What is wrong with a JSON Pointer (RFC 6901): a static sentence, or NULL. */
const char *hub_access_pointer_problem(hub_str pointer);

#endif
