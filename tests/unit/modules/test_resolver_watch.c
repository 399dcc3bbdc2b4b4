/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver while it watches its folders. What must *not* happen is shown by doing something
 * else after it, and seeing that only the something else is reported. */
#include "resolver_support.h"

enum { EVENTS = 40000 /* more than the kernel queues: 16384 */ };

static void write_and_rename(const char *folder, const char *name, const char *version)
{
    char file[80];
    (void)snprintf(file, sizeof file, "%s.so", name);
    path to = join(folder, file);
    path temporary = join(folder, ".new");
    size_t size;
    char *bytes = plugin_bytes(name, version, &size);
    write_whole(temporary.text, bytes, size, 0644);
    free(bytes);
    assert_int_equal(rename(temporary.text, to.text), 0);
}

static void sees_a_plugin_moved_in(void **state)
{
    fixture *f = *state;
    create_and_watch(f);
    write_and_rename(f->first.text, ALPHA, FIRST);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    assert_ptr_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)), f->changes[0].module);
}

static void sees_a_plugin_written_in_place(void **state)
{
    fixture *f = *state;
    create_and_watch(f);
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    assert_int_equal(count_logged(f, "resolver.refused"), 0);
}

static void sees_links(void **state)
{
    fixture *f = *state;
    path target = write_plugin(f->scratch.text, ALPHA, FIRST);
    path other = write_plugin(f->scratch.text, BETA, FIRST);
    create_and_watch(f);
    assert_int_equal(symlink(target.text, join(f->first.text, ALPHA ".so").text), 0);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    assert_int_equal(link(other.text, join(f->first.text, BETA ".so").text), 0);
    await_changes(f, 2);
    assert_change(f, 1, BETA, HUB_MODULE_ADDED, FIRST);
}

static void reports_what_changed_before_it_watched(void **state)
{
    fixture *f = *state;
    (void)create_and_scan(f);
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    assert_int_equal(hub_resolver_watch(f->resolver, f->loop, keep_change, f, NULL), HUB_OK);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
}

static void reports_changes_of_an_explicit_scan(void **state)
{
    fixture *f = *state;
    create_and_watch(f);
    (void)write_plugin(f->first.text, BETA, FIRST);
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    hub_resolver_scan(f->resolver);
    assert_int_equal(f->count, 2);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    assert_change(f, 1, BETA, HUB_MODULE_ADDED, FIRST);
    (void)write_plugin(f->first.text, GAMMA, FIRST);
    await_changes(f, 3); /* and not twice */
    assert_change(f, 2, GAMMA, HUB_MODULE_ADDED, FIRST);
}

static void sees_a_replacement_by_rename_and_by_overwriting(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    create_and_watch(f);
    const hub_module *oldest = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    write_and_rename(f->first.text, ALPHA, SECOND);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_REPLACED, SECOND);
    assert_int_equal(f->changes[0].module->generation, 2);
    (void)write_plugin(f->first.text, ALPHA, THIRD);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_REPLACED, THIRD);
    assert_int_equal(f->changes[1].module->generation, 3);
    assert_string_equal(oldest->table->version, FIRST);
    assert_string_equal(f->changes[0].module->table->version, SECOND);
}

static void sees_a_removal_and_a_return(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    create_and_watch(f);
    const hub_module *module = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    assert_int_equal(unlink(file.text), 0);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_REMOVED, FIRST);
    assert_ptr_equal(f->changes[0].module, module);
    assert_null(hub_resolver_find(f->resolver, HUB_STR(ALPHA)));
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_ADDED, FIRST);
    path moved = join(f->scratch.text, "elsewhere.so");
    assert_int_equal(rename(file.text, moved.text), 0);
    await_changes(f, 3);
    assert_change(f, 2, ALPHA, HUB_MODULE_REMOVED, FIRST);
}

static void joins_changes_that_come_together(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    create_and_watch(f);
    for (int i = 0; i < 10; i++) { /* ten versions, but one replacement */
        char version[32];
        (void)snprintf(version, sizeof version, "3.0.%04d", i);
        write_and_rename(f->first.text, ALPHA, version);
    }
    (void)write_plugin(f->second.text, BETA, FIRST);
    await_changes(f, 2);
    assert_change(f, 0, ALPHA, HUB_MODULE_REPLACED, "3.0.0009");
    assert_change(f, 1, BETA, HUB_MODULE_ADDED, FIRST);
    assert_int_equal(f->changes[0].module->generation, 2);
}

static void is_silent_about_a_touched_file(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    create_and_watch(f);
    assert_int_equal(utimensat(AT_FDCWD, file.text, NULL, 0), 0);
    assert_int_equal(chmod(file.text, 0755), 0);
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    (void)write_plugin(f->first.text, BETA, FIRST);
    await_changes(f, 1);
    assert_change(f, 0, BETA, HUB_MODULE_ADDED, FIRST);
}

static void leaves_a_file_alone_while_it_is_being_written(void **state)
{
    fixture *f = *state;
    size_t size;
    char *bytes = plugin_bytes(ALPHA, FIRST, &size);
    path file = join(f->first.text, ALPHA ".so");
    create_and_watch(f);
    int fd = open(file.text, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size / 2), size / 2);
    (void)write_plugin(f->first.text, BETA, FIRST); /* makes it look, but not at alpha */
    await_changes(f, 1);
    assert_change(f, 0, BETA, HUB_MODULE_ADDED, FIRST);
    assert_int_equal(write(fd, bytes + size / 2, size - size / 2), size - size / 2);
    (void)close(fd);
    free(bytes);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_ADDED, FIRST);
    assert_int_equal(count_logged(f, "resolver.refused"), 0);
}

/* truncate(2) opens nothing, so nothing is closed. Where a writer only pauses, the file is left alone. */
static void sees_a_file_that_is_cut_by_its_path(void **state)
{
    fixture *f = *state;
    path open_file = write_plugin(f->first.text, ALPHA, FIRST);
    path cut = write_plugin(f->first.text, BETA, FIRST);
    size_t size;
    free(plugin_bytes(BETA, FIRST, &size));
    create_and_watch(f);
    int fd = open(open_file.text, O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)size / 2), 0);
    assert_int_equal(truncate(cut.text, (off_t)size / 2), 0);
    while (count_refusals(f) == 0) {
        (void)ev_run(f->loop, EVRUN_ONCE);
    }
    assert_string_not_equal(reason_of(f, cut.text), "(not refused)");
    assert_string_equal(reason_of(f, open_file.text), "(not refused)");
    (void)close(fd);
    (void)write_plugin(f->first.text, BETA, SECOND);
    await_changes(f, 1);
    assert_change(f, 0, BETA, HUB_MODULE_REPLACED, SECOND);
    assert_string_not_equal(reason_of(f, open_file.text), "(not refused)");
}

static void keeps_the_old_module_when_the_new_file_is_bad(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    create_and_watch(f);
    write_whole(file.text, "bad", 3, 0644);
    (void)write_plugin(f->first.text, BETA, FIRST);
    await_changes(f, 1);
    assert_change(f, 0, BETA, HUB_MODULE_ADDED, FIRST);
    assert_string_equal(version_of(f, ALPHA), FIRST);
    assert_string_equal(reason_of(f, file.text), "not a shared object: no ELF header");
    (void)write_plugin(f->first.text, ALPHA, SECOND);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_REPLACED, SECOND);
    assert_int_equal(count_refusals(f), 0);
}

static void hands_a_name_from_folder_to_folder(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->second.text, ALPHA, SECOND);
    create_and_watch(f);
    path winner = write_plugin(f->first.text, ALPHA, FIRST);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_REPLACED, FIRST);
    assert_int_equal(count_refusals(f), 1);
    assert_int_equal(unlink(winner.text), 0);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_REPLACED, SECOND);
    assert_int_equal(count_refusals(f), 0);
}

static void sees_permissions_mended(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    (void)write_plugin(f->second.text, BETA, FIRST);
    assert_int_equal(chmod(file.text, 0666) | chmod(f->second.text, 0777), 0);
    create_and_watch(f);
    assert_int_equal(count_refusals(f), 2);
    assert_int_equal(chmod(file.text, 0644), 0);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    assert_int_equal(chmod(f->second.text, 0755), 0);
    await_changes(f, 2);
    assert_change(f, 1, BETA, HUB_MODULE_ADDED, FIRST);
}

static void waits_for_a_folder_that_does_not_exist(void **state)
{
    fixture *f = *state;
    path outer = join(f->scratch.text, "outer");
    f->first = join(outer.text, "inner");
    create_and_watch(f);
    assert_int_equal(mkdir(outer.text, 0755), 0);
    assert_int_equal(mkdir(f->first.text, 0755), 0);
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    write_and_rename(f->first.text, ALPHA, SECOND); /* watched like any other now */
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_REPLACED, SECOND);

    remove_tree(outer.text); /* gone, and back, complete in one step */
    await_changes(f, 3);
    assert_change(f, 2, ALPHA, HUB_MODULE_REMOVED, SECOND);
    path built = make_folder(f->scratch.text, "built");
    (void)make_folder(built.text, "inner");
    (void)write_plugin(join(built.text, "inner").text, BETA, FIRST);
    assert_int_equal(rename(built.text, outer.text), 0);
    await_changes(f, 4);
    assert_change(f, 3, BETA, HUB_MODULE_ADDED, FIRST);
}

/* Folders above the plugins' are exchanged: what is there then counts, and is watched. */
static void follows_folders_above(void **state)
{
    fixture *f = *state;
    path outer = make_folder(f->scratch.text, "outer");
    path away = join(f->scratch.text, "away");
    path middle = make_folder(outer.text, "middle");
    f->first = make_folder(middle.text, "inner");
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    create_and_watch(f);
    assert_int_equal(rename(outer.text, away.text), 0);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_REMOVED, FIRST);
    assert_int_equal(rename(away.text, outer.text), 0);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_ADDED, FIRST);
    path other = make_folder(make_folder(make_folder(f->scratch.text, "other").text, "middle").text,
                             "inner");
    (void)write_plugin(other.text, ALPHA, SECOND);
    assert_int_equal(renameat2(AT_FDCWD, join(f->scratch.text, "other").text, AT_FDCWD, outer.text,
                               RENAME_EXCHANGE),
                     0);
    await_changes(f, 3);
    assert_change(f, 2, ALPHA, HUB_MODULE_REPLACED, SECOND);
    write_and_rename(f->first.text, ALPHA, THIRD);
    await_changes(f, 4);
    assert_change(f, 3, ALPHA, HUB_MODULE_REPLACED, THIRD);
}

static void point_to(const fixture *f, const char *target)
{
    path fresh = join(f->scratch.text, "fresh");
    assert_int_equal(symlink(target, fresh.text), 0);
    assert_int_equal(rename(fresh.text, join(f->scratch.text, "current").text), 0);
}

/* A link on the way to the folder leads elsewhere, as a release or a mounted volume is exchanged.
 */
static void follows_links_that_are_exchanged(void **state)
{
    fixture *f = *state;
    path one = make_folder(make_folder(f->scratch.text, "one").text, "plugins");
    path two = make_folder(make_folder(f->scratch.text, "two").text, "plugins");
    (void)write_plugin(one.text, ALPHA, FIRST);
    (void)write_plugin(two.text, ALPHA, SECOND);
    point_to(f, "one");
    f->first = join(join(f->scratch.text, "current").text, "plugins");
    create_and_watch(f);
    point_to(f, "two");
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_REPLACED, SECOND);
    (void)write_plugin(one.text, BETA, FIRST); /* nobody's any more */
    write_and_rename(f->first.text, ALPHA, THIRD);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_REPLACED, THIRD);
    point_to(f, "nowhere"); /* until it is made */
    await_changes(f, 3);
    assert_change(f, 2, ALPHA, HUB_MODULE_REMOVED, THIRD);
    assert_int_equal(
        rename(join(f->scratch.text, "one").text, join(f->scratch.text, "nowhere").text), 0);
    await_changes(f, 5);
    assert_change(f, 3, ALPHA, HUB_MODULE_ADDED, FIRST);
    assert_change(f, 4, BETA, HUB_MODULE_ADDED, FIRST);
}

/* A link to itself leads nowhere, and not round and round. */
static void follows_no_circle(void **state)
{
    fixture *f = *state;
    point_to(f, "current");
    f->first = join(join(f->scratch.text, "current").text, "plugins");
    create_and_watch(f);
    (void)make_folder(make_folder(f->scratch.text, "one").text, "plugins");
    (void)write_plugin(join(f->scratch.text, "one/plugins").text, ALPHA, FIRST);
    point_to(f, "one");
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
}

/* The event that a file was closed is lost among others: it must not count as busy for ever. */
static void survives_a_flood_of_events(void **state)
{
    fixture *f = *state;
    path noise[] = {join(f->first.text, "noise.1"), join(f->first.text, "noise.2")};
    write_whole(noise[0].text, "x", 1, 0644);
    write_whole(noise[1].text, "x", 1, 0644);
    size_t size;
    char *bytes = plugin_bytes(ALPHA, FIRST, &size);
    create_and_watch(f);
    int fd = open(join(f->first.text, ALPHA ".so").text, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    for (int i = 0; i < EVENTS; i++) { /* by turns: equal events in a row become one */
        assert_int_equal(chmod(noise[i % 2].text, 0600), 0);
    }
    (void)close(fd);
    free(bytes);
    await_changes(f, 1);
    assert_change(f, 0, ALPHA, HUB_MODULE_ADDED, FIRST);
    write_and_rename(f->first.text, ALPHA, SECOND);
    await_changes(f, 2);
    assert_change(f, 1, ALPHA, HUB_MODULE_REPLACED, SECOND);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        RESOLVER_TEST(sees_a_plugin_moved_in),
        RESOLVER_TEST(sees_a_plugin_written_in_place),
        RESOLVER_TEST(sees_links),
        RESOLVER_TEST(reports_what_changed_before_it_watched),
        RESOLVER_TEST(reports_changes_of_an_explicit_scan),
        RESOLVER_TEST(sees_a_replacement_by_rename_and_by_overwriting),
        RESOLVER_TEST(sees_a_removal_and_a_return),
        RESOLVER_TEST(joins_changes_that_come_together),
        RESOLVER_TEST(is_silent_about_a_touched_file),
        RESOLVER_TEST(leaves_a_file_alone_while_it_is_being_written),
        RESOLVER_TEST(sees_a_file_that_is_cut_by_its_path),
        RESOLVER_TEST(keeps_the_old_module_when_the_new_file_is_bad),
        RESOLVER_TEST(hands_a_name_from_folder_to_folder),
        RESOLVER_TEST(sees_permissions_mended),
        RESOLVER_TEST(waits_for_a_folder_that_does_not_exist),
        RESOLVER_TEST(follows_folders_above),
        RESOLVER_TEST(follows_links_that_are_exchanged),
        RESOLVER_TEST(follows_no_circle),
        RESOLVER_TEST(survives_a_flood_of_events),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
