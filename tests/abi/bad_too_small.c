/* SPDX-License-Identifier: Apache-2.0 */
/* The table ends before the members of 1.0 do. */
#define STUB_STRUCT_SIZE 40
#define STUB_NAME        "bad_too_small"
#include "stub_plugin.h"
