/* SPDX-License-Identifier: Apache-2.0 */
/* The name is not well-formed; and a terminal sequence in it must not get out. */
#define STUB_NAME "Ill \033[31m"
#include "stub_plugin.h"
