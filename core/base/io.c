/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <unistd.h>

size_t hub_write_all(int fd, hub_str text)
{
    size_t done = 0;
    while (done < text.len) {
        ssize_t count = write(fd, text.ptr + done, text.len - done);
        if (count > 0) {
            done += (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            break;
        }
    }
    return done;
}
