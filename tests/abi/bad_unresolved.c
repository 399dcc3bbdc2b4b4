/* SPDX-License-Identifier: Apache-2.0 */
/* Needs a function that nobody has. */
#define STUB_NAME "bad_unresolved"
#include "stub_plugin.h"

void patchbay_test_no_such_function(void);

extern PATCHBAY_EXPORT void (*const needs_it)(void);
void (*const needs_it)(void) = patchbay_test_no_such_function;
