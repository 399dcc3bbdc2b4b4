/* SPDX-License-Identifier: Apache-2.0 */
/* The first word is wrong. */
#define STUB_MAGIC 0x50414259u
#define STUB_NAME  "bad_magic"
#include "stub_plugin.h"
