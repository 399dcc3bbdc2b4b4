/* SPDX-License-Identifier: Apache-2.0 */
/* What ABI 1.0 was: built against the header of that release, loaded by every later hub. */
#define STUB_NAME "good_v1_0"
#include "stub_plugin.h"
