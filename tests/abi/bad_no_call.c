/* SPDX-License-Identifier: Apache-2.0 */
/* A mandatory entry is missing. */
#include <stddef.h>

#define STUB_CALL NULL
#define STUB_NAME "bad_no_call"
#include "stub_plugin.h"
