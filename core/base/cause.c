/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cause.h"

static _Thread_local const char *cause = HUB_BY_HUB;

const char *hub_cause(void)
{
    return cause;
}

const char *hub_cause_set(const char *by)
{
    const char *before = cause;
    cause = by;
    return before;
}
