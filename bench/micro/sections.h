/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of micro.c about what is known of toolsets, without a hub around it. */
#ifndef PATCHBAY_BENCH_SECTIONS_H
#define PATCHBAY_BENCH_SECTIONS_H

#include <stdbool.h>

/* One of 100 toolsets of 100 tools says another list, in what somebody sees of all; or the only one; or one of 100
 * of which 20 see different ones. */
bool sections_prepare_one_of_many(void);
bool sections_prepare_only_one(void);
bool sections_prepare_shared(void);
void sections_change(void);
bool sections_check(unsigned long count); /* and all of it is gone */

#endif
