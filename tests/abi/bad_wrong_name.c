/* SPDX-License-Identifier: Apache-2.0 */
/* The name is fine, but not the file's. */
#define STUB_NAME "something_else"
#include "stub_plugin.h"
