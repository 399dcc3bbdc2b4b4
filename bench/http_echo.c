/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit for HTTP: one epoll loop that answers every POST with bytes it has ready, after looking
 * for the end of the request and nothing else. Prints its port.
 *
 *   http_echo [--bytes N]
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_FDS = 65536, REQUEST_BYTES = 64 * 1024, EVENTS = 256 };

typedef struct client {
    size_t len;
    char bytes[REQUEST_BYTES];
} client;

static client *clients[MAX_FDS];
static char *answer;
static size_t answer_len;

static void make_answer(size_t bytes)
{
    char *body = malloc(bytes + 256);
    answer = malloc(bytes + 512);
    if (body == NULL || answer == NULL) {
        abort();
    }
    size_t len = (size_t)sprintf(
        body,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
    memset(body + len, 'a', bytes);
    len += bytes;
    len += (size_t)sprintf(body + len, "\"}]}}");
    answer_len = (size_t)sprintf(
        answer, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
        len);
    memcpy(answer + answer_len, body, len);
    answer_len += len;
    free(body);
}

/* The length of the request at the front, or 0 while it is incomplete. */
static size_t request_length(const client *from)
{
    const char *end = memmem(from->bytes, from->len, "\r\n\r\n", 4);
    const char *length =
        end != NULL ? memmem(from->bytes, (size_t)(end - from->bytes), "Content-Length: ", 16)
                    : NULL;
    if (length == NULL) {
        return 0;
    }
    size_t total = (size_t)(end - from->bytes) + 4 + strtoul(length + 16, NULL, 10);
    return total <= from->len ? total : 0;
}

static int serve(int fd)
{
    client *from = clients[fd];
    ssize_t got = read(fd, from->bytes + from->len, sizeof from->bytes - from->len);
    if (got <= 0) {
        return 0;
    }
    from->len += (size_t)got;
    for (size_t used = request_length(from); used > 0; used = request_length(from)) {
        if (write(fd, answer, answer_len) != (ssize_t)answer_len) {
            return 0;
        }
        from->len -= used;
        memmove(from->bytes, from->bytes + used, from->len);
    }
    return from->len < sizeof from->bytes;
}

static void take(int epoll, int listener)
{
    int on = 1;
    int fd = accept(listener, NULL, NULL);
    if (fd < 0 || fd >= MAX_FDS || (clients[fd] = calloc(1, sizeof *clients[fd])) == NULL) {
        abort();
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, fd,
                    &(struct epoll_event){.events = EPOLLIN, .data.fd = fd});
}

int main(int argc, char **argv)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof here;
    struct epoll_event events[EVENTS];
    make_answer(argc == 3 ? strtoul(argv[2], NULL, 10) : 200);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int epoll = epoll_create1(0);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) != 0 || listen(listener, 1024) != 0 ||
        getsockname(listener, (struct sockaddr *)&here, &len) != 0) {
        perror("http_echo");
        return 1;
    }
    (void)printf("%u\n", ntohs(here.sin_port));
    (void)fflush(stdout);
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, listener,
                    &(struct epoll_event){.events = EPOLLIN, .data.fd = listener});
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                take(epoll, listener);
            } else if (!serve(fd)) {
                free(clients[fd]);
                (void)close(fd);
            }
        }
    }
}
