/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite_stir.h"

#include "base/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    EVENTS_BYTES = 4096,
    MOST_TRIES = 64, /* folders from the root, and some that are made meanwhile */
};

/* The folder itself: its files are written, made, removed, renamed; it goes away. */
static const uint32_t HERE = IN_ONLYDIR | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO |
                             IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;
/* One above it: the next one on the way appears. */
static const uint32_t ABOVE =
    IN_ONLYDIR | IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

struct hub_sqlite_stir {
    const hub_state_engine_options *options;
    ev_io readable; /* the inotify descriptor */
    int wd;
    bool is_here; /* it is the folder that is watched, and not one above */
    size_t name;  /* where the file's name begins in `path` */
    char path[];
};

/* The first `len` bytes of the path, as a folder. */
static int add_watch(hub_sqlite_stir *stir, size_t len, uint32_t mask)
{
    char after = stir->path[len];
    stir->path[len] = '\0';
    int wd = inotify_add_watch(stir->readable.fd, len > 0 ? stir->path : "/", mask);
    int cause = errno;
    stir->path[len] = after;
    errno = cause;
    return wd;
}

static bool is_folder_there(hub_sqlite_stir *stir, size_t len)
{
    char after = stir->path[len];
    stir->path[len] = '\0';
    bool is_there = access(stir->path, F_OK) == 0;
    stir->path[len] = after;
    return is_there;
}

/* The length of the next shorter folder of the path. */
static size_t above(const hub_sqlite_stir *stir, size_t len)
{
    while (len > 0 && stir->path[len - 1] != '/') {
        len--;
    }
    return len > 0 ? len - 1 : 0;
}

/* Watch the folder or, while it is not there, the nearest one above it. */
static bool arm(hub_sqlite_stir *stir)
{
    size_t folder = stir->name - 1;
    size_t len = folder;
    int wd = -1;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        size_t child = len;
        wd = add_watch(stir, len, len == folder ? HERE : ABOVE);
        if (wd < 0 && (errno == ENOSPC || errno == ENOMEM || len == 0)) {
            return false;
        }
        if (wd < 0) {
            len = above(stir, len);
            continue;
        }
        if (len == folder) {
            break;
        }
        /* What is missing may have been made before the watch was set. */
        for (child = folder; above(stir, child) > len; child = above(stir, child)) {
        }
        if (above(stir, child) != len || !is_folder_there(stir, child)) {
            break;
        }
        (void)inotify_rm_watch(stir->readable.fd, wd); /* its last event is another watch's */
        len = child;
    }
    if (stir->wd >= 0 && stir->wd != wd) {
        (void)inotify_rm_watch(stir->readable.fd, stir->wd); /* gone already, perhaps */
    }
    stir->wd = wd;
    stir->is_here = len == folder;
    return wd >= 0;
}

/* The file, or one that SQLite has beside it. */
static bool is_ours(const hub_sqlite_stir *stir, const char *name)
{
    const char *own = stir->path + stir->name;
    size_t len = strlen(own);
    return strncmp(name, own, len) == 0 && (name[len] == '\0' || strcmp(name + len, "-wal") == 0 ||
                                            strcmp(name + len, "-journal") == 0);
}

/* What events mean. */
typedef struct meaning {
    bool is_stirred;
    bool must_arm;
} meaning;

static void see(const hub_sqlite_stir *stir, const struct inotify_event *event, const char *name,
                meaning *all)
{
    const uint32_t gone = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;
    if ((event->mask & IN_Q_OVERFLOW) != 0) {
        all->must_arm = true;
    } else if (event->wd == stir->wd) { /* others were removed */
        all->must_arm = all->must_arm || !stir->is_here || (event->mask & gone) != 0;
        all->is_stirred = all->is_stirred || (stir->is_here && is_ours(stir, name));
    }
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    hub_sqlite_stir *stir = watcher->data;
    char buffer[EVENTS_BYTES];
    struct inotify_event event;
    meaning all = {.is_stirred = false};
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    ssize_t size = read(watcher->fd, buffer, sizeof buffer);
    for (ssize_t at = 0; at < size; at += (ssize_t)(sizeof event + event.len)) {
        memcpy(&event, buffer + at, sizeof event);
        see(stir, &event, event.len > 0 ? buffer + at + sizeof event : "", &all);
    }
    if (all.must_arm && !arm(stir)) {
        stir->options->on_deaf(stir->options->ctx, strerrordesc_np(errno));
    }
    if (all.is_stirred || all.must_arm) {           /* the file may be there already, or gone */
        stir->options->on_stir(stir->options->ctx); /* nothing may follow: it can end this */
    }
}

hub_err hub_sqlite_stir_create(const hub_state_engine_options *options, hub_sqlite_stir **ret_stir,
                               hub_error *reterr)
{
    size_t len = strlen(options->place);
    hub_sqlite_stir *stir = calloc(1, sizeof *stir + len + 1);
    if (stir == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    memcpy(stir->path, options->place, len + 1);
    stir->name = (size_t)(strrchr(stir->path, '/') - stir->path) + 1;
    stir->options = options;
    stir->wd = -1;
    ev_io_init(&stir->readable, on_readable, inotify_init1(IN_NONBLOCK | IN_CLOEXEC), EV_READ);
    stir->readable.data = stir;
    if (stir->readable.fd < 0 || !arm(stir)) {
        hub_err err = hub_fail(reterr, HUB_ESYSTEM, "changes by others are not noticed: %s",
                               strerrordesc_np(errno));
        if (stir->readable.fd >= 0) {
            (void)close(stir->readable.fd); /* nothing was written */
        }
        free(stir);
        return err;
    }
    ev_io_start(options->loop, &stir->readable);
    *ret_stir = stir;
    return HUB_OK;
}

void hub_sqlite_stir_destroy(hub_sqlite_stir *stir)
{
    if (stir != NULL) {
        ev_io_stop(stir->options->loop, &stir->readable);
        (void)close(stir->readable.fd);
        free(stir);
    }
}
