/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: names that end in ".hangs" are looked up until somebody has opened the FIFO that
 * PATCHBAY_TEST_RESOLVER names for writing, and closed it; ".here" is the loopback.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int lookup(const char *name, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret_addresses);

static int ends_with(const char *name, const char *end)
{
    size_t len = name != NULL ? strlen(name) : 0;
    return len >= strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_addresses)
{
    lookup *real = (lookup *)dlsym(RTLD_NEXT, "getaddrinfo");
    if (ends_with(name, ".hangs")) {
        char byte;
        int fifo = open(getenv("PATCHBAY_TEST_RESOLVER"), O_RDONLY | O_CLOEXEC);
        ssize_t end = read(fifo, &byte, 1);
        close(fifo);
        (void)end;
        return EAI_AGAIN;
    }
    return real(ends_with(name, ".here") ? "127.0.0.1" : name, service, hints, ret_addresses);
}
