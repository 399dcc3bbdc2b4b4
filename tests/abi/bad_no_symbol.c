/* SPDX-License-Identifier: Apache-2.0 */
/* Exports something, but not the table. */
#include <patchbay/plugin.h>

extern PATCHBAY_EXPORT const int some_other_symbol;
const int some_other_symbol = 1;
