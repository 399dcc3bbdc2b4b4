/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a shared object has code where code is to be run: a block that was not written (a copy
 * that is under way, a full disk) is zeros, and to run these kills the hub, when it links the file
 * or some day when it calls it. Pure functions, any thread.
 */
#ifndef HUB_MODULES_PLUGIN_CODE_H
#define HUB_MODULES_PLUGIN_CODE_H

#include "base/err.h"

/* `bytes` passed everything else of hub_plugin_check_elf: headers are inside of the file.
 * errors:  HUB_EPARSE */
HUB_MUST_CHECK hub_err hub_plugin_check_code(const unsigned char *bytes, size_t size,
                                             hub_error *reterr);

#endif
