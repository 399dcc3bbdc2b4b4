/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners over real sockets: addresses, caps, descriptors that run out, and how libwebsockets is
 * started. RELIABILITY rows R06 (connection flood), C05 (bind where meant), R11. */
#include "net_fixture.h"

#include "net/internal.h"

#include <linux/tcp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* ---- addresses ------------------------------------------------------------------------------- */

/* Where the i-th socket of a listener really listens, without port. */
static const char *bound_address(const hub_listener *listener, size_t i)
{
    static char text[INET6_ADDRSTRLEN];
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    assert_true(i < listener->count);
    assert_int_equal(getsockname(listener->accept[i].fd, (struct sockaddr *)&bound, &len), 0);
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    bool is_v4 = bound.ss_family == AF_INET;
    memcpy(&v4, &bound, sizeof v4);
    memcpy(&v6, &bound, sizeof v6);
    assert_int_equal(ntohs(is_v4 ? v4.sin_port : v6.sin6_port), hub_listener_port(listener));
    const void *address = is_v4 ? (const void *)&v4.sin_addr : (const void *)&v6.sin6_addr;
    assert_non_null(inet_ntop(bound.ss_family, address, text, sizeof text));
    return text;
}

static bool has_ipv6(void)
{
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&loopback, sizeof loopback) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return has;
}

/* An echo through the address. */
static void talk(net_fixture *f, const char *address, const hub_listener *listener)
{
    size_t opened = f->opened;
    int fd = net_try_dial(address, hub_listener_port(listener));
    assert_true(fd >= 0);
    net_send(f, fd, 10, 0);
    assert_int_equal(net_receive(f, fd, 10, 0), 10);
    assert_string_equal(hub_link_peer(f->owners[opened].link),
                        strchr(address, ':') != NULL ? "::1" : "127.0.0.1");
    (void)close(fd);
    RUN_UNTIL(f, f->owners[opened].ended == 1);
}

/* C05: no other address than the one that was named. */
static void test_ipv4(void **state)
{
    net_fixture *f = *state;
    hub_listener *listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    assert_true(hub_listener_port(listener) > 0);
    assert_int_equal(listener->count, 1);
    assert_string_equal(bound_address(listener, 0), "127.0.0.1");
    talk(f, "127.0.0.1", listener);
    assert_int_equal(net_try_dial("127.0.0.2", hub_listener_port(listener)), -1);
    assert_int_equal(errno, ECONNREFUSED);
}

static void test_every_address(void **state)
{
    net_fixture *f = *state;
    hub_listener *listener = net_listen(f, &(hub_listen_settings){.address = "0.0.0.0"});
    assert_int_equal(listener->count, 1);
    assert_string_equal(bound_address(listener, 0), "0.0.0.0");
    talk(f, "127.0.0.1", listener);
}

/* "::" is every address of IPv6, and of IPv6 alone. */
static void test_ipv6(void **state)
{
    net_fixture *f = *state;
    if (!has_ipv6()) {
        skip();
    }
    hub_listener *one = net_listen(f, &(hub_listen_settings){.address = "::1"});
    assert_string_equal(bound_address(one, 0), "::1");
    talk(f, "::1", one);
    hub_listener *all = net_listen(f, &(hub_listen_settings){.address = "::"});
    assert_string_equal(bound_address(all, 0), "::");
    talk(f, "::1", all);
    /* Another program may have that port of IPv4, so it is not tried. */
    int is_alone = 0;
    socklen_t len = sizeof is_alone;
    assert_int_equal(getsockopt(all->accept[0].fd, IPPROTO_IPV6, IPV6_V6ONLY, &is_alone, &len), 0);
    assert_int_equal(is_alone, 1);
}

static void test_localhost(void **state)
{
    net_fixture *f = *state;
    hub_listener *listener = net_listen(f, &(hub_listen_settings){.address = "localhost"});
    assert_int_equal(listener->count, has_ipv6() ? 2 : 1);
    assert_string_equal(bound_address(listener, 0), "127.0.0.1");
    talk(f, "127.0.0.1", listener);
    if (has_ipv6()) {
        assert_string_equal(bound_address(listener, 1), "::1");
        talk(f, "::1", listener);
    }
}

static void test_a_port_in_use(void **state)
{
    net_fixture *f = *state;
    hub_listener *first = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    hub_listen_settings again = {.address = "127.0.0.1", .port = hub_listener_port(first)};
    const char *why = net_cannot_listen(f, &again, HUB_EEXIST);
    assert_non_null(strstr(why, "127.0.0.1"));
    assert_non_null(strstr(why, "choose another port"));
    again.address = "localhost";
    why = net_cannot_listen(f, &again, HUB_EEXIST);
    assert_non_null(strstr(why, "127.0.0.1"));
    hub_listener_close(first);
    first = net_listen(f, &again); /* the one before left nothing behind */
    talk(f, "127.0.0.1", first);
}

/* A port of localhost that somebody has over IPv6 would send half the clients to him. */
static void test_a_port_half_in_use(void **state)
{
    net_fixture *f = *state;
    if (!has_ipv6()) {
        skip();
    }
    hub_listener *first = net_listen(f, &(hub_listen_settings){.address = "::1"});
    hub_listen_settings settings = {.address = "localhost", .port = hub_listener_port(first)};
    const char *why = net_cannot_listen(f, &settings, HUB_EEXIST);
    assert_non_null(strstr(why, "::1"));
    assert_int_equal(net_try_dial("127.0.0.1", hub_listener_port(first)), -1);
}

static void test_no_such_address(void **state)
{
    net_fixture *f = *state;
    static const char *const BAD[] = {
        "hub.example.com", "", "127.0.0.1:80", "127.1", "[::1]", "192.0.2.1", "2001:db8::1",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        const char *why =
            net_cannot_listen(f, &(hub_listen_settings){.address = BAD[i]}, HUB_EINVAL);
        assert_non_null(strstr(why, BAD[i]));
    }
}

/* ---- in a network of our own ------------------------------------------------------------------
 */

static void set_loopback(bool is_up)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = is_up ? IFF_UP : 0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    (void)close(fd);
}

/* The network before; -1 when this process may not have its own. */
static int enter_own_network(void)
{
    int before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (before >= 0 && unshare(CLONE_NEWNET) != 0) {
        (void)close(before);
        return -1;
    }
    set_loopback(true);
    return before;
}

static void leave_own_network(int before)
{
    assert_int_equal(setns(before, CLONE_NEWNET), 0);
    (void)close(before);
}

static void set_free_ports(const char *range)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "we");
    assert_non_null(file);
    assert_true(fputs(range, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* "Any free port" of localhost is free for both families. */
static void test_a_port_free_in_both(void **state)
{
    net_fixture *f = *state;
    int before = has_ipv6() ? enter_own_network() : -1;
    if (before < 0) {
        skip();
    }
    set_free_ports("40000 40003");
    for (uint16_t port = 40000; port < 40003; port++) {
        (void)net_listen(f, &(hub_listen_settings){.address = "::1", .port = port});
    }
    hub_listener *listener = net_listen(f, &(hub_listen_settings){.address = "localhost"});
    assert_int_equal(hub_listener_port(listener), 40003);
    assert_int_equal(listener->count, 2);
    const char *why =
        net_cannot_listen(f, &(hub_listen_settings){.address = "localhost"}, HUB_EEXIST);
    assert_non_null(strstr(why, "port"));
    set_free_ports("50000 60000"); /* for the clients */
    talk(f, "127.0.0.1", listener);
    talk(f, "::1", listener);
    leave_own_network(before);
}

/* A peer that vanishes without a word is gone when it has taken nothing for long enough, though
 * nothing waits here: the kernel has it all. */
static void test_a_vanished_peer(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    hub_str word = {.ptr = "\0\x1f", .len = 2};
    int before = enter_own_network();
    if (before < 0) {
        skip();
    }
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    int fd = net_open(f, &owner);
    set_loopback(false);
    assert_int_equal(hub_link_write(owner->link, &word, 1), HUB_OK);
    assert_int_equal(hub_link_queued(owner->link), 0);
    RUN_UNTIL(f, owner->ended == 1);
    (void)close(fd);
    leave_own_network(before);
}

/* ---- caps ------------------------------------------------------------------------------------ */

/* R06: at the caps, and one beyond them. Whoever is beyond is closed at once. */
static void test_connections_per_address(void **state)
{
    net_fixture *f = *state;
    int fds[5];
    net_owner *owners[5];
    f->listener = net_listen(f, &(hub_listen_settings){.address = "0.0.0.0"});
    for (size_t i = 0; i < 5; i++) {
        fds[i] = net_open(f, &owners[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        int refused = net_dial(f);
        assert_int_equal(net_receive(f, refused, 1, 0), 0);
        (void)close(refused);
    }
    assert_int_equal(f->opened, 5);
    assert_int_equal(net_logged(f, "net.refused"), 1); /* not once per connection */
    assert_int_equal(net_logged(f, "connections_per_address"), 1);

    /* Another address is served, and so is this one when there is room. */
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002)};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons(hub_listener_port(f->listener))};
    int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(other, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(other, (struct sockaddr *)&to, sizeof to), 0);
    RUN_UNTIL(f, f->opened == 6);
    assert_string_equal(hub_link_peer(f->owners[5].link), "127.0.0.2");
    (void)close(fds[0]);
    RUN_UNTIL(f, owners[0]->ended == 1);
    fds[0] = net_open(f, &owners[0]);
    (void)close(other);
    for (size_t i = 0; i < 5; i++) {
        (void)close(fds[i]);
    }
}

static void test_connections_in_all(void **state)
{
    net_fixture *f = *state;
    int fds[8];
    net_owner *owners[8];
    hub_net_destroy(f->net);
    f->limits.connections_per_address = 100;
    net_fixture_start(f);
    hub_listener *second = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    for (size_t i = 0; i < 8; i++) {
        fds[i] = net_open(f, &owners[i]);
    }
    assert_int_equal(hub_net_link_count(f->net), 8);
    int refused = net_try_dial("127.0.0.1", hub_listener_port(second)); /* of all listeners */
    assert_int_equal(net_receive(f, refused, 1, 0), 0);
    (void)close(refused);
    assert_int_equal(net_logged(f, "limits.connections is reached"), 1);
    (void)close(fds[7]);
    RUN_UNTIL(f, owners[7]->ended == 1);
    fds[7] = net_open(f, &owners[7]);
    for (size_t i = 0; i < 8; i++) {
        (void)close(fds[i]);
    }
}

/* Links outlive the listener they came by. */
static void test_close_a_listener(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    uint16_t port = hub_listener_port(f->listener);
    int fd = net_open(f, &owner);
    hub_listener_close(f->listener);
    hub_listener_close(NULL);
    net_send(f, fd, 10, 0);
    assert_int_equal(net_receive(f, fd, 10, 0), 10);
    assert_int_equal(net_try_dial("127.0.0.1", port), -1);
    (void)close(fd);
}

/* What a connection has from its listener, without a call of its own. */
static void test_options(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int value = 0;
    socklen_t len = sizeof value;
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    int fd = net_open(f, &owner);
    int accepted = lws_get_socket_fd(owner->link->wsi);
    assert_int_equal(getsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &value, &len), 0);
    assert_int_not_equal(value, 0);
    assert_int_equal(getsockopt(accepted, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len), 0);
    assert_int_equal(value, 2 * f->limits.stall_ms);
    assert_true(fcntl(accepted, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(accepted, F_GETFL) & O_NONBLOCK);
    (void)close(fd);
}

/* ---- descriptors that run out ---------------------------------------------------------------- */

enum { CLIENTS = 40 };

/* A net of its own limits that may have `more` descriptors than are open now. */
static void restart_with_descriptors(net_fixture *f, struct rlimit *ret_before, rlim_t more)
{
    hub_net_destroy(f->net);
    f->limits.connections = 100;
    f->limits.connections_per_address = 100;
    net_fixture_start(f);
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    int next = dup(0);
    assert_true(next >= 0);
    (void)close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, ret_before), 0);
    struct rlimit few = {.rlim_cur = (rlim_t)next + more, .rlim_max = ret_before->rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void connect_clients(const net_fixture *f, const int *fds, size_t count)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons(hub_listener_port(f->listener))};
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(connect(fds[i], (struct sockaddr *)&to, sizeof to), 0);
    }
}

/* Nothing happens but that time passes. */
static void assert_idle(net_fixture *f)
{
    enum { TICKS = 8, TURNS_PER_TICK = 10 };
    net_pass_ticks(f, 1);
    unsigned before = ev_iteration(f->loop);
    net_pass_ticks(f, TICKS);
    assert_in_range(ev_iteration(f->loop) - before, TICKS, TICKS * TURNS_PER_TICK);
}

/* Connections beyond the descriptors wait until there are some, the loop is idle meanwhile, and
 * what is left for others is left. */
static void test_few_descriptors(void **state)
{
    net_fixture *f = *state;
    struct rlimit before;
    int fds[CLIENTS];
    int others[HUB_NET_RESERVED_FDS];
    for (size_t i = 0; i < CLIENTS; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    restart_with_descriptors(f, &before, HUB_NET_RESERVED_FDS + 5);
    connect_clients(f, fds, CLIENTS);
    RUN_UNTIL(f, f->opened == 5);
    assert_idle(f);
    assert_int_equal(f->opened, 5);
    assert_int_equal(net_logged(f, "net.refused"), 1);
    assert_int_equal(net_logged(f, "ulimit -n"), 1);
    for (size_t i = 0; i < HUB_NET_RESERVED_FDS; i++) {
        others[i] = dup(0);
        assert_true(others[i] >= 0);
    }
    for (size_t i = 0; i < HUB_NET_RESERVED_FDS; i++) {
        (void)close(others[i]);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    /* One was turned away each time that it was tried; the others are served now. */
    (void)close(fds[0]);
    RUN_UNTIL(f, hub_net_link_count(f->net) > 20);
    for (size_t i = 1; i < CLIENTS; i++) {
        (void)close(fds[i]);
    }
    RUN_UNTIL(f, hub_net_link_count(f->net) == 0);
}

/* When there is none at all, accept fails: that is not tried again and again. */
static void test_no_descriptors(void **state)
{
    net_fixture *f = *state;
    struct rlimit before;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    restart_with_descriptors(f, &before, 0);
    connect_clients(f, &fd, 1);
    assert_idle(f);
    assert_int_equal(f->opened, 0);
    assert_int_equal(net_logged(f, "net.refused"), 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    RUN_UNTIL(f, f->opened == 1); /* by itself */
    (void)close(fd);
}

/* The end of a link is noticed before the next try by time. */
static void test_resume_with_a_free_descriptor(void **state)
{
    net_fixture *f = *state;
    struct rlimit before;
    int fds[3];
    for (size_t i = 0; i < 3; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    restart_with_descriptors(f, &before, HUB_NET_RESERVED_FDS + 1);
    connect_clients(f, fds, 2); /* one is served, one is turned away */
    RUN_UNTIL(f, f->opened == 1 && !f->net->is_accepting);
    connect_clients(f, fds + 2, 1);
    unsigned ticks = f->ticks;
    (void)close(fds[0]);
    RUN_UNTIL(f, f->opened == 2);
    assert_true(f->ticks <= ticks + 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    (void)close(fds[1]);
    (void)close(fds[2]);
}

/* The limit of descriptors is raised as far as the connections need, and never lowered. */
static void test_the_limit_of_descriptors(void **state)
{
    net_fixture *f = *state;
    struct rlimit before;
    struct rlimit now;
    hub_net_destroy(f->net);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit low = {.rlim_cur = 100, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    net_fixture_start(f);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_true(now.rlim_cur >= 100 + f->limits.connections || now.rlim_cur == now.rlim_max);
    assert_int_equal(now.rlim_max, before.rlim_max);
    hub_net_destroy(f->net);
    struct rlimit high = {.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &high), 0);
    net_fixture_start(f);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(now.rlim_cur, high.rlim_cur);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* ---- the working directory ------------------------------------------------------------------- */

/* libwebsockets is started elsewhere, where no stranger's library lies, and we come back: also to
 * where one may not read. */
static void test_the_working_directory(void **state)
{
    net_fixture *f = *state;
    char home[4096];
    char here[4096];
    char now[4096];
    char folder[] = "/tmp/patchbay-net-XXXXXX";
    hub_net_destroy(f->net);
    assert_non_null(getcwd(home, sizeof home));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_non_null(getcwd(here, sizeof here));
    FILE *bait = fopen("x_evlib_ev.so", "we");
    assert_non_null(bait);
    (void)fputs("not a library", bait);
    assert_int_equal(fclose(bait), 0);
    assert_int_equal(chmod(folder, S_IXUSR), 0);
    net_fixture_start(f);
    assert_non_null(getcwd(now, sizeof now));
    assert_string_equal(now, here);
    assert_int_equal(chmod(folder, S_IRWXU), 0);
    assert_int_equal(unlink("x_evlib_ev.so"), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(chdir(home), 0);
}

#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, net_setup, net_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(test_ipv4),
        NET_TEST(test_every_address),
        NET_TEST(test_ipv6),
        NET_TEST(test_localhost),
        NET_TEST(test_a_port_in_use),
        NET_TEST(test_a_port_half_in_use),
        NET_TEST(test_no_such_address),
        NET_TEST(test_a_port_free_in_both),
        NET_TEST(test_a_vanished_peer),
        NET_TEST(test_connections_per_address),
        NET_TEST(test_connections_in_all),
        NET_TEST(test_close_a_listener),
        NET_TEST(test_options),
        NET_TEST(test_few_descriptors),
        NET_TEST(test_no_descriptors),
        NET_TEST(test_resume_with_a_free_descriptor),
        NET_TEST(test_the_limit_of_descriptors),
        NET_TEST(test_the_working_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
