/* SPDX-License-Identifier: Apache-2.0 */
/* There is no name. */
#include <stddef.h>

#define STUB_NAME NULL
#include "stub_plugin.h"
