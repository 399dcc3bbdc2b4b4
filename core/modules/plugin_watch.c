/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cause.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"

enum {
    EVENTS_BYTES = 16 * 1024,
    MOST_LINKS = 40, /* as many as Linux follows */
    ARM_TRIES = 8,   /* against a path that somebody creates and removes all the time */
    GONE = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED,
    APPEARED = IN_CREATE | IN_MOVED_TO,
    SETTLED = IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
};

/* IN_MASK_ADD: a folder can be watched for more than one reason. */
static const uint32_t EACH_MASK = IN_MASK_ADD | IN_ONLYDIR | GONE;
static const uint32_t WAITING_MASK = APPEARED | IN_DELETE | IN_MOVED_FROM | IN_ATTRIB;
static const uint32_t FOLDER_MASK = APPEARED | SETTLED | IN_MODIFY | IN_ATTRIB;

/* Why a folder on the way to a place is watched. */
typedef enum post_kind {
    POST_ABOVE, /* it, and all in it, could get another name */
    POST_WAITS, /* something in it: a link that could lead elsewhere, or a folder that is missing */
    POST_FOLDER, /* it is the place */
} post_kind;

typedef struct post {
    int wd;
    post_kind kind;
    size_t place;
    char *name; /* of what is waited for */
} post;

typedef struct posts {
    int fd; /* the inotify descriptor */
    size_t count;
    post *items;
} posts;

struct hub_plugin_watch {
    struct ev_loop *loop;
    ev_io readable;      /* the inotify descriptor */
    ev_timer due;        /* the next look */
    ev_timer quiet;      /* whether those who write have left without a word */
    uint64_t written_ms; /* the last write */
    bool rearm;          /* a watched folder came or went: set all watches anew */
    void (*on_change)(void *ctx);
    void *ctx;
    char **busy; /* paths of files that are being written */
    size_t busy_count;
    posts posts;
    size_t count;
    const char *places[]; /* the folders' paths */
};

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

/* Whether somebody has a regular file open for writing: it can have no read lease then. Who opens it
 * meanwhile is made to wait, and the signal that says so (SIGURG) is nobody's. Only the owner of the file
 * may ask; to others, and where there are no leases, it is as if there were a writer. */
static bool has_writer(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool has_none = fd >= 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 &&
                    fcntl(fd, F_SETLEASE, F_RDLCK) == 0 && fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return !has_none;
}

static void start_quiet(hub_plugin_watch *watch, uint64_t delay_ms)
{
    ev_timer_set(&watch->quiet, (double)delay_ms / 1000.0, 0.0);
    ev_timer_start(watch->loop, &watch->quiet);
}

/* A write that no closing will follow (truncate(2)) is over when it is quiet. Those who pause and have
 * the file open close it some time. */
static void on_quiet(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_plugin_watch *watch = timer->data;
    uint64_t since_ms = hub_clock_now_ms() - watch->written_ms;
    if (since_ms < HUB_PLUGIN_WATCH_QUIET_MS) {
        start_quiet(watch, HUB_PLUGIN_WATCH_QUIET_MS - since_ms);
        return;
    }
    for (size_t i = watch->busy_count; i > 0; i--) {
        if (!has_writer(watch->busy[i - 1])) {
            clear_busy(watch, watch->busy[i - 1]);
            look_soon(watch);
        }
    }
}

/* Each write sets the clock back, and no timer. */
static void note_write(hub_plugin_watch *watch)
{
    watch->written_ms = hub_clock_now_ms();
    if (!ev_is_active(&watch->quiet)) {
        start_quiet(watch, HUB_PLUGIN_WATCH_QUIET_MS);
    }
}

/* Without memory the file is not known to be busy: at worst it is refused as truncated, and loaded
 * when it was closed. */
static void set_busy(hub_plugin_watch *watch, const char *path)
{
    note_write(watch);
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

/* ---- setting watches ------------------------------------------------------------------------- */

static void free_posts(posts *of)
{
    for (size_t i = 0; i < of->count; i++) {
        free(of->items[i].name);
    }
    free(of->items);
    *of = (posts){.fd = -1};
}

static bool add_post(posts *to, const post *about, hub_str name)
{
    char *copy = name.len > 0 ? hub_str_dup(name) : NULL;
    post *grown = realloc(to->items, (to->count + 1) * sizeof *grown);
    to->items = grown != NULL ? grown : to->items;
    if (grown == NULL || (name.len > 0 && copy == NULL)) {
        free(copy);
        return false;
    }
    grown[to->count] = *about;
    grown[to->count++].name = copy;
    return true;
}

/* A path that is being walked along. */
typedef struct walk {
    posts *posts;
    size_t place;
    char path[PATH_MAX];
    size_t at;  /* so much of it is a folder without links; 0: the root */
    size_t end; /* with the next part */
    unsigned links;
    unsigned tries;
    hub_err err;
    int cause; /* HUB_ESYSTEM: an errno */
} walk;

/* Watch the first `len` characters of the path. -1 with errno when that cannot be. */
static int add_watch(walk *along, size_t len, uint32_t mask)
{
    char after = along->path[len];
    along->path[len] = '\0';
    int wd = inotify_add_watch(along->posts->fd, len > 0 ? along->path : "/", EACH_MASK | mask);
    along->path[len] = after;
    return wd;
}

static bool keep(walk *along, int wd, post_kind kind, hub_str name)
{
    const post about = {.wd = wd, .kind = kind, .place = along->place};
    if (!add_post(along->posts, &about, name)) {
        along->err = HUB_ENOMEM;
    }
    return along->err == HUB_OK;
}

/* What the next part is, if it is a link: put its target in its place, and begin there. Whether the
 * walk can go on. */
static bool follow(walk *along, const char *target)
{
    char next[PATH_MAX];
    size_t kept = target[0] == '/' ? 0 : along->at;
    int len = snprintf(next, sizeof next, "%.*s%s%s%s", (int)kept, along->path,
                       target[0] == '/' ? "" : "/", target, along->path + along->end);
    if (len < 0 || (size_t)len >= sizeof next || ++along->links > MOST_LINKS) {
        return false; /* nobody can open it; the link is watched */
    }
    memcpy(along->path, next, (size_t)len + 1);
    along->at = kept;
    return true;
}

/* The next part is no folder: have its folder say when it comes, or leads elsewhere. Whether the
 * walk can go on. */
static bool wait_for_part(walk *along)
{
    char target[PATH_MAX];
    hub_str name = hub_str_between(along->path + along->at + 1, along->path + along->end);
    int wd = add_watch(along, along->at, WAITING_MASK);
    if (wd < 0) {
        along->err = HUB_ESYSTEM;
        along->cause = errno;
        return false;
    }
    if (!keep(along, wd, POST_WAITS, name)) {
        return false;
    }
    char after = along->path[along->end];
    along->path[along->end] = '\0';
    ssize_t len = readlink(along->path, target, sizeof target - 1);
    bool has_come = len < 0 && access(along->path, R_OK | X_OK) == 0;
    along->path[along->end] = after;
    if (len > 0) {
        target[len] = '\0';
        return follow(along, target);
    }
    return has_come && ++along->tries < ARM_TRIES; /* before the watch was set */
}

/* One part more. Whether the walk can go on. */
static bool step(walk *along)
{
    along->end = along->at + 1 + strcspn(along->path + along->at + 1, "/");
    bool is_last = along->path[along->end] == '\0';
    int wd = add_watch(along, along->end, IN_DONT_FOLLOW | (is_last ? FOLDER_MASK : 0));
    if (wd < 0 && (errno != EACCES || is_last)) {
        return wait_for_part(along);
    }
    along->at = along->end;
    /* One that may be passed through, but not read, cannot be watched. */
    return wd < 0 || keep(along, wd, is_last ? POST_FOLDER : POST_ABOVE, HUB_STR_EMPTY);
}

/* Watch a folder and all that its path leads through, as far as that exists. */
static hub_err arm_place(posts *into, const char *path, size_t place)
{
    walk along = {.posts = into, .place = place};
    int len = snprintf(along.path, sizeof along.path, "%s", path);
    if (len < 0 || (size_t)len >= sizeof along.path) {
        along.err = HUB_ESYSTEM;
        along.cause = ENAMETOOLONG;
    }
    if (along.err == HUB_OK && len == 0) { /* the root */
        (void)keep(&along, add_watch(&along, 0, FOLDER_MASK), POST_FOLDER, HUB_STR_EMPTY);
    }
    while (along.err == HUB_OK && along.path[along.at] != '\0' && step(&along)) {
        /* to the end, or to what is missing */
    }
    if (along.err == HUB_ESYSTEM) {
        hub_log(HUB_LOG_WARNING, "files.not_watched", HUB_F_TEXT("path", path),
                HUB_F_TEXT("reason", strerrordesc_np(along.cause)));
        return HUB_OK; /* the others are, and so is the way to it */
    }
    return along.err;
}

/* Set all watches on a new inotify instance: watches of what is gone go with the old one. */
static hub_err arm(hub_plugin_watch *watch, hub_error *reterr)
{
    posts now = {.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    if (now.fd < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "no inotify: %s", strerrordesc_np(errno));
    }
    for (size_t i = 0; i < watch->count; i++) {
        hub_err err = arm_place(&now, watch->places[i], i);
        if (err != HUB_OK) {
            (void)close(now.fd);
            free_posts(&now);
            return hub_fail(reterr, err, "%s", hub_err_text(err));
        }
    }
    ev_io_stop(watch->loop, &watch->readable);
    ev_io_set(&watch->readable, now.fd, EV_READ);
    ev_io_start(watch->loop, &watch->readable);
    if (watch->posts.fd >= 0) {
        (void)close(watch->posts.fd);
    }
    free_posts(&watch->posts);
    watch->posts = now;
    clear_all_busy(watch); /* the events that would end it are lost */
    return HUB_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A file of a watched folder. */
static void see_file(hub_plugin_watch *watch, const char *folder, uint32_t mask, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL) {
        look_soon(watch);
        return;
    }
    (void)snprintf(path, room, "%s/%s", folder, name); /* fits */
    struct stat about;
    bool ignored = (mask & IN_MODIFY) != 0;
    if (ignored) {
        set_busy(watch, path);
    } else if ((mask & SETTLED) != 0) {
        clear_busy(watch, path);
    } else if ((mask & IN_CREATE) != 0) {
        /* A new file is written and closed next; a link has its content already. */
        ignored = lstat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0 &&
                  about.st_nlink == 1;
        if (ignored) {
            set_busy(watch, path);
        }
    }
    free(path);
    if (!ignored) {
        look_soon(watch);
    }
}

static void see_event(hub_plugin_watch *watch, const post *at, uint32_t mask, const char *name)
{
    bool is_awaited = at->kind == POST_WAITS && strcmp(at->name, name) == 0;
    if ((mask & GONE) != 0 || is_awaited) {
        watch->rearm = true;
        look_soon(watch);
    } else if (at->kind == POST_FOLDER && name[0] != '\0') {
        see_file(watch, watch->places[at->place], mask, name);
    } else if (at->kind == POST_FOLDER) {
        look_soon(watch); /* the folder's own mode changed */
    }
}

/* Those that are there now, as far as the buffer holds them. */
static void read_events(hub_plugin_watch *watch)
{
    char buffer[EVENTS_BYTES];
    ssize_t size = read(watch->posts.fd, buffer, sizeof buffer);
    struct inotify_event event;
    for (ssize_t at = 0; at < size; at += (ssize_t)(sizeof event + event.len)) {
        memcpy(&event, buffer + at, sizeof event);
        const char *name = event.len > 0 ? buffer + at + sizeof event : "";
        if ((event.mask & IN_Q_OVERFLOW) != 0) {
            watch->rearm = true;
            look_soon(watch);
        }
        for (size_t i = 0; i < watch->posts.count; i++) {
            if (watch->posts.items[i].wd == event.wd && event.wd >= 0) {
                see_event(watch, &watch->posts.items[i], event.mask, name);
            }
        }
    }
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (!hub_loop_mend(loop, watcher, events)) {
        read_events(watcher->data);
    }
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_plugin_watch *watch = timer->data;
    read_events(watch); /* who has begun to write since is busy */
    if (watch->rearm) {
        hub_error error;
        watch->rearm = false;
        if (arm(watch, &error) != HUB_OK) { /* the old watches stay, until the next event */
            watch->rearm = true;
            hub_log(HUB_LOG_WARNING, "files.not_watched", HUB_F_TEXT("reason", error.text));
        }
    }
    const char *before = hub_cause_set(HUB_BY_PLUGINS);
    watch->on_change(watch->ctx); /* nothing of the watch may follow: it can destroy it */
    (void)hub_cause_set(before);
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
    watch->posts.fd = -1;
    watch->count = count;
    for (size_t i = 0; i < count; i++) {
        watch->places[i] = folders[i];
    }
    ev_timer_init(&watch->due, on_due, 0.0, 0.0);
    watch->due.data = watch;
    ev_timer_init(&watch->quiet, on_quiet, 0.0, 0.0);
    watch->quiet.data = watch;
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
    ev_timer_stop(watch->loop, &watch->quiet);
    ev_io_stop(watch->loop, &watch->readable);
    (void)close(watch->posts.fd);
    free_posts(&watch->posts);
    clear_all_busy(watch);
    free(watch->busy);
    free(watch);
}

bool hub_plugin_watch_is_busy(const hub_plugin_watch *watch, const char *path)
{
    return find_busy(watch, path) != SIZE_MAX;
}
