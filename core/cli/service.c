/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/service.h"

#include "base/log.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The socket's address: a path, or a name in the abstract namespace, which begins with '@'. */
static bool read_address(const char *name, struct sockaddr_un *ret_address, socklen_t *ret_len)
{
    size_t len = strlen(name);
    if (len < 2 || len >= sizeof ret_address->sun_path || (name[0] != '/' && name[0] != '@')) {
        return false;
    }
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret_address->sun_path, name, len);
    if (name[0] == '@') {
        ret_address->sun_path[0] = '\0';
    }
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] == '/'));
    return true;
}

static int connect_manager(const char *name)
{
    struct sockaddr_un address;
    socklen_t len;
    if (!read_address(name, &address, &len)) {
        errno = EINVAL;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, len) < 0) {
        int failure = errno;
        (void)close(fd);
        errno = failure;
        return -1;
    }
    return fd;
}

static void tell(const cli_service *service, const char *text)
{
    if (service->fd >= 0 && send(service->fd, text, strlen(text), MSG_NOSIGNAL) < 0) {
        hub_log(HUB_LOG_WARNING, "service.not_told", HUB_F_TEXT("reason", strerror(errno)));
    }
}

static void on_alive(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    tell(timer->data, "WATCHDOG=1");
}

/* How often the watchdog wants to hear from this process, in seconds; 0: it does not. */
static double read_watchdog(void)
{
    const char *pid = getenv("WATCHDOG_PID");
    const char *usec = getenv("WATCHDOG_USEC");
    if (usec == NULL || (pid != NULL && strtol(pid, NULL, 10) != (long)getpid())) {
        return 0;
    }
    unsigned long long timeout = strtoull(usec, NULL, 10);
    return timeout > 0 && timeout < UINT64_MAX / 2 ? (double)timeout / 1e6 : 0;
}

void cli_service_init(cli_service *service, struct ev_loop *loop)
{
    *service = (cli_service){.loop = loop, .fd = -1};
    const char *name = getenv("NOTIFY_SOCKET");
    if (name != NULL) {
        service->fd = connect_manager(name);
        if (service->fd < 0) {
            hub_log(HUB_LOG_WARNING, "service.not_told", HUB_F_TEXT("socket", name),
                    HUB_F_TEXT("reason", strerror(errno)));
        }
    }
    double period = read_watchdog() / 2; /* as sd_watchdog_enabled(3) advises */
    ev_timer_init(&service->alive, on_alive, period, period);
    service->alive.data = service;
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_PID");
    (void)unsetenv("WATCHDOG_USEC");
}

void cli_service_ready(cli_service *service)
{
    tell(service, "READY=1");
    if (service->fd >= 0 && service->alive.repeat > 0) {
        ev_timer_start(service->loop, &service->alive);
    }
}

void cli_service_stopping(cli_service *service, unsigned left_ms)
{
    char text[96];
    (void)snprintf(text, sizeof text, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%llu",
                   (unsigned long long)left_ms * 1000);
    tell(service, text);
}

void cli_service_fini(cli_service *service)
{
    if (service->loop != NULL) {
        ev_timer_stop(service->loop, &service->alive);
    }
    if (service->fd >= 0) {
        (void)close(service->fd);
        service->fd = -1;
    }
}
