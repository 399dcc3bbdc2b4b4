/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"

enum {
    EVENTS_BYTES = 16 * 1024,
    ARM_TRIES = 8, /* against a path that somebody creates and removes all the time */
    GONE = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED,
    APPEARED = IN_CREATE | IN_MOVED_TO,
    SETTLED = IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
};

/* IN_MASK_ADD: a folder can be watched for itself and as the parent of another. */
static const uint32_t PARENT_MASK = IN_MASK_ADD | IN_ONLYDIR | APPEARED | GONE;
static const uint32_t FOLDER_MASK =
    IN_MASK_ADD | IN_ONLYDIR | APPEARED | GONE | SETTLED | IN_MODIFY | IN_ATTRIB;

typedef struct place {
    const char *path;
    size_t watched_len; /* of path: all of it, or the nearest parent that exists (0: the root) */
    int wd;             /* -1: cannot be watched */
} place;

struct hub_plugin_watch {
    struct ev_loop *loop;
    ev_io readable; /* the inotify descriptor */
    ev_timer due;   /* the next look */
    bool rearm;     /* a watched folder came or went: set all watches anew */
    void (*on_change)(void *ctx);
    void *ctx;
    char **busy; /* paths of files that are being written */
    size_t busy_count;
    size_t count;
    place places[]; /* one per folder */
};

static bool is_folder(const place *at)
{
    return at->path[at->watched_len] == '\0';
}

static void look_soon(hub_plugin_watch *watch)
{
    if (!ev_is_active(&watch->due)) {
        ev_timer_set(&watch->due, (double)HUB_PLUGIN_WATCH_DELAY_MS / 1000.0, 0.0);
        ev_timer_start(watch->loop, &watch->due);
    }
}

static size_t find_busy(const hub_plugin_watch *watch, const char *path)
{
    for (size_t i = 0; i < watch->busy_count; i++) {
        if (strcmp(watch->busy[i], path) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void clear_busy(hub_plugin_watch *watch, const char *path)
{
    size_t at = find_busy(watch, path);
    if (at != SIZE_MAX) {
        free(watch->busy[at]);
        watch->busy[at] = watch->busy[--watch->busy_count];
    }
}

static void clear_all_busy(hub_plugin_watch *watch)
{
    while (watch->busy_count > 0) {
        free(watch->busy[--watch->busy_count]);
    }
}

/* Without memory the file is not known to be busy: at worst it is refused as truncated, and loaded
 * when it was closed. */
static void set_busy(hub_plugin_watch *watch, const char *path)
{
    if (find_busy(watch, path) != SIZE_MAX) {
        return;
    }
    char **grown = realloc(watch->busy, (watch->busy_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return;
    }
    watch->busy = grown;
    watch->busy[watch->busy_count] = strdup(path);
    watch->busy_count += watch->busy[watch->busy_count] != NULL;
}

/* The start of the path of the place, up to `len`; "/" for none of it. */
static void copy_prefix(const place *at, size_t len, char *ret_prefix)
{
    memcpy(ret_prefix, at->path, len);
    ret_prefix[len] = '\0';
    if (len == 0) {
        memcpy(ret_prefix, "/", 2);
    }
}

/* One part less: the length of the parent's path. */
static size_t parent_len(const place *at, size_t len)
{
    while (len > 0 && at->path[--len] != '/') {
        /* back to the slash */
    }
    return len;
}

/* One part more: up to the next slash or the end. */
static size_t child_len(const place *at, size_t len)
{
    return len + 1 + strcspn(at->path + len + 1, "/");
}

/* Watch the folder, or the nearest parent that can be watched. */
static void arm_place(int fd, place *at, char *prefix)
{
    for (int tries = 0; tries < ARM_TRIES; tries++) {
        size_t len = strlen(at->path);
        at->wd = -1;
        for (;;) {
            copy_prefix(at, len, prefix);
            bool is_whole = at->path[len] == '\0';
            at->wd = inotify_add_watch(fd, prefix, is_whole ? FOLDER_MASK : PARENT_MASK);
            if (at->wd >= 0 || len == 0) {
                break;
            }
            len = parent_len(at, len);
        }
        at->watched_len = len;
        if (at->wd < 0 || is_folder(at)) {
            return;
        }
        copy_prefix(at, child_len(at, len), prefix);
        if (access(prefix, F_OK) != 0) {
            return; /* it did not appear before the watch was set: the watch will tell */
        }
    }
}

/* Set all watches on a new inotify instance: watches of what is gone go with the old one. */
static hub_err arm(hub_plugin_watch *watch, hub_error *reterr)
{
    size_t longest = 0;
    for (size_t i = 0; i < watch->count; i++) {
        size_t len = strlen(watch->places[i].path);
        longest = len > longest ? len : longest;
    }
    char *prefix = malloc(longest + 2);
    if (prefix == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) {
        free(prefix);
        return hub_fail(reterr, HUB_ESYSTEM, "no inotify: %s", strerrordesc_np(errno));
    }
    for (size_t i = 0; i < watch->count; i++) {
        arm_place(fd, &watch->places[i], prefix);
        if (watch->places[i].wd < 0) {
            hub_log(HUB_LOG_WARNING, "resolver.not_watched",
                    HUB_F_TEXT("path", watch->places[i].path),
                    HUB_F_TEXT("reason", strerrordesc_np(errno)));
        }
    }
    free(prefix);
    int old = watch->readable.fd;
    ev_io_stop(watch->loop, &watch->readable);
    ev_io_set(&watch->readable, fd, EV_READ);
    ev_io_start(watch->loop, &watch->readable);
    if (old >= 0) {
        (void)close(old);
    }
    clear_all_busy(watch); /* the events that would end it are lost */
    return HUB_OK;
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_plugin_watch *watch = timer->data;
    if (watch->rearm) {
        hub_error error;
        watch->rearm = false;
        if (arm(watch, &error) != HUB_OK) { /* the old watches stay */
            hub_log(HUB_LOG_WARNING, "resolver.not_watched", HUB_F_TEXT("reason", error.text));
        }
    }
    watch->on_change(watch->ctx); /* nothing may follow: it can destroy the watch */
}

/* A file of a watched folder. */
static void see_file(hub_plugin_watch *watch, const place *at, uint32_t mask, const char *name)
{
    size_t room = strlen(at->path) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL) {
        look_soon(watch);
        return;
    }
    (void)snprintf(path, room, "%s/%s", at->path, name); /* fits */
    struct stat about;
    bool ignored = (mask & IN_MODIFY) != 0;
    if (ignored) {
        set_busy(watch, path);
    } else if ((mask & SETTLED) != 0) {
        clear_busy(watch, path);
    } else if ((mask & IN_CREATE) != 0) {
        /* A new file is written and closed next; a link has its content already. */
        ignored = lstat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0;
    }
    free(path);
    if (!ignored) {
        look_soon(watch);
    }
}

static void see_event(hub_plugin_watch *watch, const place *at, uint32_t mask, const char *name)
{
    if ((mask & GONE) != 0) {
        watch->rearm = true;
        look_soon(watch);
    } else if (is_folder(at)) {
        if (name[0] != '\0') {
            see_file(watch, at, mask, name);
        } else {
            look_soon(watch); /* the folder's own mode changed */
        }
    } else {
        hub_str child = hub_str_between(at->path + at->watched_len + 1,
                                        at->path + child_len(at, at->watched_len));
        if (hub_str_is(child, name)) {
            watch->rearm = true;
            look_soon(watch);
        }
    }
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    hub_plugin_watch *watch = watcher->data;
    char buffer[EVENTS_BYTES];
    ssize_t size = read(watcher->fd, buffer, sizeof buffer);
    struct inotify_event event;
    for (ssize_t at = 0; at < size; at += (ssize_t)(sizeof event + event.len)) {
        memcpy(&event, buffer + at, sizeof event);
        const char *name = event.len > 0 ? buffer + at + sizeof event : "";
        if ((event.mask & IN_Q_OVERFLOW) != 0) {
            watch->rearm = true;
            look_soon(watch);
        }
        for (size_t i = 0; i < watch->count; i++) {
            if (watch->places[i].wd == event.wd && event.wd >= 0) {
                see_event(watch, &watch->places[i], event.mask, name);
            }
        }
    }
}

hub_err hub_plugin_watch_create(const char *const *folders, size_t count, struct ev_loop *loop,
                                void (*on_change)(void *ctx), void *ctx,
                                hub_plugin_watch **ret_watch, hub_error *reterr)
{
    hub_plugin_watch *watch = calloc(1, sizeof *watch + count * sizeof watch->places[0]);
    if (watch == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    watch->loop = loop;
    watch->on_change = on_change;
    watch->ctx = ctx;
    watch->count = count;
    for (size_t i = 0; i < count; i++) {
        watch->places[i].path = folders[i];
    }
    ev_timer_init(&watch->due, on_due, 0.0, 0.0);
    watch->due.data = watch;
    ev_io_init(&watch->readable, on_readable, -1, EV_READ);
    watch->readable.data = watch;
    hub_err err = arm(watch, reterr);
    if (err != HUB_OK) {
        free(watch);
        return err;
    }
    look_soon(watch);
    *ret_watch = watch;
    return HUB_OK;
}

void hub_plugin_watch_destroy(hub_plugin_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    ev_timer_stop(watch->loop, &watch->due);
    ev_io_stop(watch->loop, &watch->readable);
    (void)close(watch->readable.fd);
    clear_all_busy(watch);
    free(watch->busy);
    free(watch);
}

bool hub_plugin_watch_is_busy(const hub_plugin_watch *watch, const char *path)
{
    return find_busy(watch, path) != SIZE_MAX;
}
