/* SPDX-License-Identifier: Apache-2.0 */
/* What read(2) and write(2) leave to their callers. Any thread. */
#ifndef HUB_BASE_IO_H
#define HUB_BASE_IO_H

#include "base/str.h"

/* Write all of `text` to a blocking descriptor, however many calls that takes. Returns how much was
 * written; when that is not all, errno says why. */
size_t hub_write_all(int fd, hub_str text);

#endif
