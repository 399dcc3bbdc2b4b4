/* SPDX-License-Identifier: Apache-2.0 */
/* How libwebsockets is started: what it reads from the process must suit us and not a stranger. */
#include "net/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of one link: a TLS record and more. */
#define CONTEXT_BUFFER_BYTES (64u * 1024)

/* Descriptors beside the connections: of children, plugins and files. */
#define OTHER_FDS 4096

/* Its own limit of a TLS handshake, behind ours. */
#define LIBRARY_TIMEOUT_S (2 * HUB_LIMIT_HANDSHAKE_MS / 1000)

/* ---- its log --------------------------------------------------------------------------------- */

enum { LINES_PER_PERIOD = 20, LOG_PERIOD_MS = 10000, LINE_BYTES = 160 };

/* There is one log in libwebsockets, for the whole process. [loop] */
static struct {
    uint64_t since_ms;
    unsigned lines;
    char last[LINE_BYTES];
} library_log;

/* Its complaints are about peers, or follow an error that we report ourselves. */
static void log_line(int level, const char *line)
{
    (void)level;
    uint64_t now = hub_clock_now_ms();
    hub_str text = hub_str_trim(hub_str_of(line));
    size_t len = text.len < LINE_BYTES ? text.len : LINE_BYTES - 1;
    memcpy(library_log.last, text.ptr, len);
    library_log.last[len] = '\0';
    if (now - library_log.since_ms >= LOG_PERIOD_MS) {
        library_log.since_ms = now;
        library_log.lines = 0;
    }
    if (library_log.lines++ < LINES_PER_PERIOD) {
        hub_log(HUB_LOG_DEBUG, "net.library", HUB_F_STR("text", text));
    }
}

/* ---- its memory ------------------------------------------------------------------------------ */

/* It does not look at all that it allocates for a vhost (4.1.6: the heads of the lists of
 * connections), and would crash at the first connection: so its failures are counted. One allocator
 * for the whole process. [loop] */
static unsigned refusals;

static void *allocate(void *data, size_t size, const char *reason)
{
    (void)reason;
    if (size == 0) {
        free(data);
        return NULL;
    }
    void *now = realloc(data, size);
    refusals += now == NULL;
    return now;
}

hub_err net_create_vhost(hub_net *net, const struct lws_context_creation_info *info,
                         struct lws_vhost **ret_vhost, hub_error *reterr)
{
    refusals = 0;
    library_log.last[0] = '\0';
    struct lws_vhost *vhost = lws_create_vhost(net->context, info);
    if (refusals > 0) { /* what was made of it is the context's, and ends with it */
        return hub_fail(reterr, HUB_ENOMEM, "libwebsockets cannot be set up: out of memory");
    }
    if (vhost == NULL) {
        return hub_fail(reterr, HUB_ESYSTEM, "libwebsockets cannot be set up (%s)",
                        library_log.last);
    }
    *ret_vhost = vhost;
    return HUB_OK;
}

/* ---- its context ----------------------------------------------------------------------------- */

/* Some versions look for the event library in the working directory first, which may be anybody's:
 * let it look in /. */
static struct lws_context *create_away(struct lws_context_creation_info *info, hub_error *reterr)
{
    struct lws_context *context = NULL;
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (here < 0 || chdir("/") != 0) {
        (void)hub_fail(reterr, HUB_ESYSTEM, "the working directory cannot be left for a moment: %s",
                       strerror(errno));
    } else {
        context = lws_create_context(info);
        if (context == NULL) {
            (void)hub_fail(reterr, HUB_ESYSTEM,
                           "libwebsockets cannot be started (%s): is its libev plugin installed "
                           "(package libwebsockets-evlib-ev)?",
                           library_log.last);
        }
        if (fchdir(here) != 0) {
            hub_log(HUB_LOG_WARNING, "net.working_directory",
                    HUB_F_TEXT("reason", strerror(errno)));
        }
    }
    if (here >= 0) {
        (void)close(here);
    }
    return context;
}

/* It makes tables for as many descriptors as the process may have, which can be very many, or for
 * 2560 when they are too many for it. So it is told what we need, and the process keeps what it
 * has, or gets what we need if that is more. */
static struct lws_context *create_context(hub_net *net, struct lws_context_creation_info *info,
                                          hub_error *reterr)
{
    struct rlimit had;
    rlim_t wanted = (rlim_t)net->limits.connections + OTHER_FDS;
    if (getrlimit(RLIMIT_NOFILE, &had) != 0) {
        (void)hub_fail(reterr, HUB_ESYSTEM, "the limit of file descriptors: %s", strerror(errno));
        return NULL;
    }
    struct rlimit limit = {.rlim_cur = wanted < had.rlim_max ? wanted : had.rlim_max,
                           .rlim_max = had.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    struct lws_context *context = create_away(info, reterr);
    if (had.rlim_cur > limit.rlim_cur) {
        (void)setrlimit(RLIMIT_NOFILE, &had);
    }
    net->max_fd = limit.rlim_cur;
    return context;
}

hub_err net_start_library(hub_net *net, hub_error *reterr)
{
    void *loops[] = {net->loop};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .options = LWS_SERVER_OPTION_LIBEV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
        .foreign_loops = loops,
        .user = net,
        .pt_serv_buf_size = CONTEXT_BUFFER_BYTES,
        .timeout_secs = LIBRARY_TIMEOUT_S,
    };
    library_log.last[0] = '\0';
    lws_set_log_level(LLL_ERR | LLL_WARN, log_line);
    lws_set_allocator(allocate);
    net->context = create_context(net, &info, reterr);
    if (net->context == NULL) {
        return HUB_ESYSTEM;
    }
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.options = 0;
    info.vhost_name = "plain";
    info.protocols = NET_PROTOCOLS;
    return net_create_vhost(net, &info, &net->plain, reterr);
}
