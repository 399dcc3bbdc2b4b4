/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the configuration that change (S5.8): what is watched when nothing more can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/watch.h"
#include "modules/plugin_watch.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { GUARD_SECONDS = 60 };

static bool has_no_more;
static unsigned refusals;

/* Instead of libc's: a user may have so many only (fs.inotify.max_user_instances). */
int inotify_init1(int flags)
{
    if (has_no_more) {
        refusals++;
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_inotify_init1, flags);
}

static struct {
    char folder[64];
    char path[96]; /* hub.json, through the link `data` */
    struct ev_loop *loop;
    hub_config *config;
    hub_config_watch *watch;
    unsigned changes;
} here;

static void in_folder(const char *name, char ret_path[128])
{
    (void)snprintf(ret_path, 128, "%s/%s", here.folder, name);
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    in_folder(name, path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* data -> target, at once. */
static void point_to(const char *target)
{
    char fresh[128];
    char link[128];
    in_folder("fresh", fresh);
    in_folder("data", link);
    assert_int_equal(symlink(target, fresh), 0);
    assert_int_equal(rename(fresh, link), 0);
}

static void on_change(void *ctx)
{
    (void)ctx;
    here.changes++;
    ev_break(here.loop, EVBREAK_ALL);
}

/* Run the loop until one more change has been told of. */
static void wait_change(void)
{
    unsigned before = here.changes;
    while (here.changes == before) {
        ev_run(here.loop, EVRUN_ONCE);
    }
    assert_int_equal(here.changes, before + 1);
}

static int set_up(void **state)
{
    static const char *const NO_ENVIRONMENT[] = {NULL};
    const hub_config_overrides none = {.profile = NULL};
    char path[128];
    (void)state;
    (void)alarm(GUARD_SECONDS);
    (void)snprintf(here.folder, sizeof here.folder, "/tmp/patchbay-watch-XXXXXX");
    assert_non_null(mkdtemp(here.folder));
    in_folder("one", path);
    assert_int_equal(mkdir(path, 0700), 0);
    in_folder("two", path);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file("one/hub.json", "{}");
    write_file("two/hub.json", "{ }");
    point_to("one");
    (void)snprintf(here.path, sizeof here.path, "%s/data/hub.json", here.folder);
    const char *const files[] = {here.path};
    assert_int_equal(hub_config_load(files, 1, NO_ENVIRONMENT, &none, &here.config, NULL), HUB_OK);
    here.loop = ev_loop_new(EVFLAG_AUTO);
    here.changes = 0;
    refusals = 0;
    has_no_more = false;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const NAMES[] = {"one/hub.json", "two/hub.json", "one", "two", "data", ""};
    char path[128];
    (void)state;
    hub_config_watch_destroy(here.watch);
    here.watch = NULL;
    hub_config_destroy(here.config);
    ev_loop_destroy(here.loop);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        in_folder(NAMES[i], path);
        assert_int_equal(remove(path), 0);
    }
    return 0;
}

static void start(void)
{
    assert_int_equal(
        hub_config_watch_create(here.config, here.loop, on_change, NULL, &here.watch, NULL),
        HUB_OK);
}

static void test_changes(void **state)
{
    (void)state;
    start();
    write_file("one/hub.json", "{  }");
    wait_change();
    point_to("two");
    wait_change();
    write_file("two/hub.json", "{   }");
    wait_change();
}

/* Turns of the loop until well after a look that is due has been taken. */
static void look_around(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void let_it_look(void)
{
    ev_timer later;
    ev_timer_init(&later, look_around, 4 * HUB_PLUGIN_WATCH_DELAY_MS / 1000., 0.);
    ev_now_update(here.loop);
    ev_timer_start(here.loop, &later);
    ev_run(here.loop, 0);
    ev_timer_stop(here.loop, &later);
}

/* An editor has made the old file its backup and begun to write the new one: nobody looks before it
 * is closed, though the old one's going has made a look due; also where the loop was busy meanwhile,
 * so that all of it comes at once. */
static void test_who_has_begun_to_write(void **state)
{
    static const struct timespec BUSY = {.tv_nsec = 3L * HUB_PLUGIN_WATCH_DELAY_MS * 1000000};
    char path[128];
    char backup[128];
    (void)state;
    start();
    let_it_look(); /* there is one at the start */
    in_folder("one/hub.json", path);
    in_folder("one/hub.json~", backup);
    for (int is_busy = 0; is_busy < 2; is_busy++) {
        unsigned before = here.changes;
        assert_int_equal(rename(path, backup), 0);
        ev_run(here.loop, EVRUN_ONCE); /* the look is due soon */
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        if (is_busy) {
            assert_int_equal(nanosleep(&BUSY, NULL), 0);
        }
        let_it_look();
        assert_int_equal(here.changes, before);
        assert_int_equal(write(fd, "{     }", 7 - (size_t)is_busy), 7 - is_busy);
        assert_int_equal(close(fd), 0);
        wait_change();
    }
    assert_int_equal(remove(backup), 0);
}

/* Folders far above the file are exchanged for others, at once. */
static void test_folders_above(void **state)
{
    static const char *const PARTS[] = {"one/a", "one/a/b", "two/a", "two/a/b"};
    static const char *const NO_ENVIRONMENT[] = {NULL};
    const hub_config_overrides none = {.profile = NULL};
    char path[128];
    char other[128];
    (void)state;
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        in_folder(PARTS[i], path);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_file("one/a/b/hub.json", "{}");
    write_file("two/a/b/hub.json", "{ }");
    in_folder("one/a/b/hub.json", path);
    const char *const files[] = {path};
    hub_config_destroy(here.config);
    assert_int_equal(hub_config_load(files, 1, NO_ENVIRONMENT, &none, &here.config, NULL), HUB_OK);
    start();
    in_folder("one", path);
    in_folder("two", other);
    assert_int_equal(renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE), 0);
    wait_change();
    write_file("one/a/b/hub.json", "{  }"); /* watched like any other now */
    wait_change();
    for (size_t i = sizeof PARTS / sizeof PARTS[0]; i-- > 0;) {
        in_folder(PARTS[i], path);
        (void)snprintf(other, sizeof other, "%.100s/hub.json", path);
        (void)remove(other); /* in the innermost alone */
        assert_int_equal(remove(path), 0);
    }
}

/* The links lead elsewhere, and no watch can be had for that: what was watched still is, and at the
 * next occasion the rest is, too. */
static void test_no_more_watches(void **state)
{
    (void)state;
    start();
    has_no_more = true;
    point_to("two");
    wait_change();
    assert_true(refusals > 0);
    point_to("one");
    wait_change();
    write_file("one/hub.json", "{  }");
    wait_change();
    has_no_more = false;
    point_to("two");
    wait_change();
    write_file("two/hub.json", "{    }");
    wait_change();
}

/* None at all: it says so, and leaves nothing behind. */
static void test_none(void **state)
{
    hub_error why = {.code = HUB_OK};
    (void)state;
    has_no_more = true;
    assert_int_equal(
        hub_config_watch_create(here.config, here.loop, on_change, NULL, &here.watch, &why),
        HUB_ESYSTEM);
    assert_non_null(strstr(why.text, "inotify"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_has_begun_to_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders_above, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_more_watches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
