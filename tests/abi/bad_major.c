/* SPDX-License-Identifier: Apache-2.0 */
/* Built against another major version. */
#define STUB_ABI  PATCHBAY_ABI_VERSION(2, 3)
#define STUB_NAME "bad_major"
#include "stub_plugin.h"
