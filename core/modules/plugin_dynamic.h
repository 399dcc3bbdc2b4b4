/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the dynamic loader follows in a shared object, which it trusts: the dynamic section and the
 * tables that this leads to, each of their offsets and indices, and that there is code where code
 * is to be run. A file that was damaged (a copy that did not get to its end, a block of zeros) is
 * refused here; one that somebody made to deceive may pass, and is trusted (docs/SECURITY.md).
 * Pure functions, any thread.
 * spec: System V ABI, chapter 5; the GNU extensions as ld.so of glibc reads them
 */
#ifndef HUB_MODULES_PLUGIN_DYNAMIC_H
#define HUB_MODULES_PLUGIN_DYNAMIC_H

#include "base/err.h"

/* `bytes` passed everything else of hub_plugin_check_elf. Time is linear in what the tables have.
 * errors:  HUB_EPARSE, naming the table */
HUB_MUST_CHECK hub_err hub_plugin_check_dynamic(const unsigned char *bytes, size_t size,
                                                hub_error *reterr);

#endif
