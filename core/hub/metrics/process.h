/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of this process, by the names that Prometheus' own clients use. Any thread. */
#ifndef HUB_HUB_METRICS_PROCESS_H
#define HUB_HUB_METRICS_PROCESS_H

#include "hub/metrics/exposition.h"

/* Append what can be found out.
 * blocks:  no: files of /proc, which are no files */
void hub_metrics_add_process(hub_exposition *to);

#endif
