/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/metrics/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A small file of /proc, NUL-terminated; false when it cannot be read. */
static bool read_file(const char *path, char *ret_text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, ret_text, room - 1) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    ret_text[len > 0 ? len : 0] = '\0';
    return len > 0;
}

static uint64_t us_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

static void add_processor(hub_exposition *to)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0) {
        hub_exposition_family(to, "process_cpu_seconds", HUB_METRICS_COUNTER,
                              "Processor time of the hub, without its servers.");
        hub_exposition_seconds(to, HUB_NO_LABELS, us_of(used.ru_utime) + us_of(used.ru_stime));
    }
}

/* spec: proc_pid_statm(5) */
static void add_memory(hub_exposition *to)
{
    char text[128];
    uint64_t whole;
    uint64_t resident;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!read_file("/proc/self/statm", text, sizeof text) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &whole, &resident) != 2) {
        return;
    }
    hub_exposition_family(to, "process_virtual_memory_bytes", HUB_METRICS_GAUGE,
                          "Address space of the hub.");
    hub_exposition_count(to, HUB_NO_LABELS, whole * page);
    hub_exposition_family(to, "process_resident_memory_bytes", HUB_METRICS_GAUGE,
                          "Memory of the hub, without its servers.");
    hub_exposition_count(to, HUB_NO_LABELS, resident * page);
}

static void add_descriptors(hub_exposition *to)
{
    struct rlimit most;
    DIR *folder = opendir("/proc/self/fd");
    uint64_t count = 0;
    if (folder != NULL) {
        while (readdir(folder) != NULL) {
            count++;
        }
        (void)closedir(folder);
        hub_exposition_family(to, "process_open_fds", HUB_METRICS_GAUGE, "Open descriptors.");
        hub_exposition_count(to, HUB_NO_LABELS, count > 3 ? count - 3 : 0); /* ".", "..", its own */
    }
    if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
        hub_exposition_family(to, "process_max_fds", HUB_METRICS_GAUGE,
                              "Descriptors that the hub may open.");
        hub_exposition_count(to, HUB_NO_LABELS, most.rlim_cur);
    }
}

/* Field 22 of stat, behind the name of the program, which may have anything in it: ticks since the
 * machine was started.
 * spec: proc_pid_stat(5) */
static void add_start(hub_exposition *to)
{
    char text[1024];
    struct timespec now;
    struct timespec up;
    uint64_t ticks;
    if (!read_file("/proc/self/stat", text, sizeof text) ||
        clock_gettime(CLOCK_REALTIME, &now) != 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0) {
        return;
    }
    char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at != NULL && sscanf(at, "%" SCNu64, &ticks) == 1) {
        uint64_t booted_us = ((uint64_t)now.tv_sec - (uint64_t)up.tv_sec) * 1000000u;
        hub_exposition_family(to, "process_start_time_seconds", HUB_METRICS_GAUGE,
                              "When the hub was started, since 1970.");
        hub_exposition_seconds(to, HUB_NO_LABELS,
                               booted_us + ticks * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    }
}

void hub_metrics_add_process(hub_exposition *to)
{
    add_processor(to);
    add_memory(to);
    add_descriptors(to);
    add_start(to);
}
