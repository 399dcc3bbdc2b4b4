/* SPDX-License-Identifier: Apache-2.0 */
/* There is no version. */
#include <stddef.h>

#define STUB_VERSION NULL
#define STUB_NAME    "bad_no_version"
#include "stub_plugin.h"
