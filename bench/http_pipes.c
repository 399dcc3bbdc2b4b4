/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit for a hub between HTTP and pipes: one epoll loop in front of one server, which checks
 * nothing. It finds the id of a message, puts a number of its own in its place, and the client's back
 * into the answer; of HTTP it looks for the length of a body and nothing else. Prints its port.
 *
 *   http_pipes COMMAND [ARGUMENT]…
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    MAX_FDS = 65536,
    MESSAGE_BYTES = 1 << 20, /* of one message, and of all that is on its way to the server */
    ID_BYTES = 32,
    EVENTS = 256,
};

typedef struct client {
    char id[ID_BYTES]; /* of the request that the server has */
    size_t id_len;
    size_t len;
    char bytes[64 * 1024];
} client;

static client *clients[MAX_FDS]; /* by descriptor, which is the id that the server is given */
static int to_server;
static int from_server;
static char requests[MESSAGE_BYTES];
static size_t requests_len;
static char answers[MESSAGE_BYTES];
static size_t answers_len;

static void end(const char *what)
{
    perror(what);
    exit(1);
}

/* Where the id of a message stands, or NULL. */
static const char *find_id(const char *message, size_t len, size_t *ret_len)
{
    const char *id = memmem(message, len, "\"id\":", 5);
    if (id != NULL) {
        id += 5;
        *ret_len = 0;
        while (*ret_len < ID_BYTES && id[*ret_len] != ',' && id[*ret_len] != '}') {
            (*ret_len)++;
        }
    }
    return id;
}

static void put(const char *bytes, size_t len)
{
    if (requests_len + len > sizeof requests) {
        end("too much at once");
    }
    memcpy(requests + requests_len, bytes, len);
    requests_len += len;
}

/* To the server, at the end of the turn. */
static void pass_on(client *from, int fd, const char *message, size_t len)
{
    size_t id_len;
    const char *id = find_id(message, len, &id_len);
    if (id == NULL) {
        static const char TAKEN[] = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
        put(message, len);
        (void)!write(fd, TAKEN, sizeof TAKEN - 1);
    } else {
        char own[ID_BYTES];
        memcpy(from->id, id, id_len);
        from->id_len = id_len;
        put(message, (size_t)(id - message));
        put(own, (size_t)sprintf(own, "%d", fd));
        put(id + id_len, len - (size_t)(id + id_len - message));
    }
    put("\n", 1);
}

/* The length of the head at the front, and of its body; 0 while they are incomplete. */
static size_t request_length(const client *from, size_t *ret_head)
{
    const char *last = memmem(from->bytes, from->len, "\r\n\r\n", 4);
    const char *length =
        last != NULL ? memmem(from->bytes, (size_t)(last - from->bytes), "Content-Length: ", 16)
                     : NULL;
    if (length == NULL) {
        return 0;
    }
    *ret_head = (size_t)(last - from->bytes) + 4;
    size_t total = *ret_head + strtoul(length + 16, NULL, 10);
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
    size_t head = 0;
    for (size_t used; (used = request_length(from, &head)) > 0;) {
        pass_on(from, fd, from->bytes + head, used - head);
        from->len -= used;
        memmove(from->bytes, from->bytes + used, from->len);
    }
    return from->len < sizeof from->bytes;
}

/* iovec has no const; writev only reads. */
static struct iovec part(const char *bytes, size_t len)
{
    union {
        const char *from;
        void *to;
    } unconst = {.from = bytes};
    return (struct iovec){.iov_base = unconst.to, .iov_len = len};
}

static void answer(const char *line, size_t len)
{
    size_t own_len;
    const char *own = find_id(line, len, &own_len);
    long fd = own != NULL ? strtol(own, NULL, 10) : -1;
    if (fd < 0 || fd >= MAX_FDS || clients[fd] == NULL) {
        return;
    }
    const client *to = clients[fd];
    char head[128];
    int head_len = sprintf(
        head, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
        len - own_len + to->id_len);
    struct iovec parts[] = {
        part(head, (size_t)head_len),
        part(line, (size_t)(own - line)),
        part(to->id, to->id_len),
        part(own + own_len, len - (size_t)(own + own_len - line)),
    };
    (void)!writev((int)fd, parts, 4);
}

static void take_answers(void)
{
    ssize_t got = read(from_server, answers + answers_len, sizeof answers - answers_len);
    if (got <= 0) {
        exit(0);
    }
    answers_len += (size_t)got;
    const char *line = answers;
    const char *stop = answers + answers_len;
    for (const char *newline; (newline = memchr(line, '\n', (size_t)(stop - line))) != NULL;
         line = newline + 1) {
        answer(line, (size_t)(newline - line));
    }
    answers_len = (size_t)(stop - line);
    memmove(answers, line, answers_len);
}

static void flush(void)
{
    for (size_t done = 0; done < requests_len;) {
        ssize_t count = write(to_server, requests + done, requests_len - done);
        if (count < 0) {
            end("the server");
        }
        done += (size_t)count;
    }
    requests_len = 0;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void take(int epoll, int listener)
{
    int on = 1;
    int fd = accept(listener, NULL, NULL);
    if (fd < 0 || fd >= MAX_FDS || (clients[fd] = calloc(1, sizeof *clients[fd])) == NULL) {
        end("accept");
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(epoll, fd);
}

static void start_server(char **command)
{
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        end("pipe");
    }
    if (fork() == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        execvp(command[0], command);
        end(command[0]);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    to_server = in[1];
    from_server = out[0];
}

static int open_listener(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof here;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) != 0 || listen(listener, 1024) != 0 ||
        getsockname(listener, (struct sockaddr *)&here, &len) != 0) {
        end("listen");
    }
    (void)printf("%u\n", ntohs(here.sin_port));
    (void)fflush(stdout);
    return listener;
}

int main(int argc, char **argv)
{
    struct epoll_event events[EVENTS];
    if (argc < 2) {
        (void)fputs("usage: http_pipes COMMAND [ARGUMENT]…\n", stderr);
        return 2;
    }
    start_server(argv + 1);
    int listener = open_listener();
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(epoll, listener);
    watch(epoll, from_server);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                take(epoll, listener);
            } else if (fd == from_server) {
                take_answers();
            } else if (!serve(fd)) {
                free(clients[fd]);
                clients[fd] = NULL;
                (void)close(fd);
            }
        }
        flush();
    }
}
