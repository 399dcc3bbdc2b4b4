/* SPDX-License-Identifier: Apache-2.0 */
/* Cannot live with a hub as old as this one. */
#define STUB_ABI_MIN PATCHBAY_ABI_VERSION(1, 7)
#define STUB_NAME    "bad_too_new"
#include "stub_plugin.h"
