/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver without watching: order of folders and names, who may write, changes between scans.
 * No group is anybody's own here; those are in test_resolver_group.c. Watching is in
 * test_resolver_watch.c, damaged and ill-built plugins in tests/abi. */
#include "resolver_support.h"

#include "fake_accounts.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

enum { STRANGER = 65534, SWAP_SCANS = 300, REPLACEMENTS = 40 };

static size_t count_fds(void)
{
    size_t count = 0;
    DIR *fds = opendir("/proc/self/fd");
    assert_non_null(fds);
    while (readdir(fds) != NULL) {
        count++;
    }
    (void)closedir(fds);
    return count;
}

static void finds_modules_sorted_by_name(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->second.text, ALPHA, FIRST);
    (void)write_plugin(f->first.text, GAMMA, FIRST);
    (void)write_plugin(f->first.text, BETA, FIRST);
    write_whole(join(f->first.text, "README.md").text, "no plugin", 9, 0644);
    write_whole(join(f->first.text, ".hidden.so").text, "no plugin", 9, 0644);
    write_whole(join(f->first.text, ".so").text, "no plugin", 9, 0644);
    (void)create_and_scan(f);
    size_t count;
    const hub_module *const *modules = hub_resolver_modules(f->resolver, &count);
    assert_int_equal(count, 3);
    assert_string_equal(modules[0]->name, ALPHA);
    assert_string_equal(modules[1]->name, BETA);
    assert_string_equal(modules[2]->name, GAMMA);
    assert_int_equal(count_refusals(f), 0);
    assert_null(hub_resolver_find(f->resolver, HUB_STR("README")));
    assert_null(hub_resolver_find(f->resolver, HUB_STR("alpha_00")));
    assert_int_equal(count_logged(f, " info resolver.loaded module=" ALPHA " version=" FIRST
                                     " generation=1 path="),
                     1);
}

static void gives_a_name_to_the_first_folder(void **state)
{
    fixture *f = *state;
    path winner = write_plugin(f->first.text, ALPHA, FIRST);
    path loser = write_plugin(f->second.text, ALPHA, SECOND);
    char taken[2 * PATH_BYTES];
    (void)snprintf(taken, sizeof taken, "name \"" ALPHA "\" is taken by %s", winner.text);
    (void)create_and_scan(f);
    assert_string_equal(version_of(f, ALPHA), FIRST);
    assert_string_equal(reason_of(f, loser.text), taken);

    hub_resolver_scan(f->resolver); /* the same again */
    assert_int_equal(count_logged(f, "resolver.refused"), 1);

    assert_int_equal(unlink(winner.text), 0);
    hub_resolver_scan(f->resolver);
    assert_string_equal(version_of(f, ALPHA), SECOND);
    assert_int_equal(count_refusals(f), 0);

    (void)write_plugin(f->first.text, ALPHA, THIRD); /* and takes it back */
    hub_resolver_scan(f->resolver);
    assert_string_equal(version_of(f, ALPHA), THIRD);
    assert_string_equal(reason_of(f, loser.text), taken);
    assert_int_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA))->generation, 3);
}

static void a_refused_file_takes_no_name(void **state)
{
    fixture *f = *state;
    path broken = join(f->first.text, ALPHA ".so");
    write_whole(broken.text, "broken", 6, 0644);
    (void)write_plugin(f->second.text, ALPHA, SECOND);
    (void)create_and_scan(f);
    assert_string_equal(version_of(f, ALPHA), SECOND);
    assert_string_equal(reason_of(f, broken.text), "not a shared object: no ELF header");
    assert_int_equal(count_refusals(f), 1);
}

static void lists_refusals_sorted_by_path(void **state)
{
    fixture *f = *state;
    static const char *const NAMES[] = {"c.so", "a.so", "b.so"};
    for (size_t i = 0; i < 3; i++) {
        write_whole(join(f->second.text, NAMES[i]).text, "x", 1, 0644);
        write_whole(join(f->first.text, NAMES[i]).text, "x", 1, 0644);
    }
    (void)create_and_scan(f);
    size_t count;
    const hub_refusal *refusals = hub_resolver_refusals(f->resolver, &count);
    assert_int_equal(count, 6);
    for (size_t i = 1; i < count; i++) {
        assert_true(strcmp(refusals[i - 1].path, refusals[i].path) < 0);
    }
    assert_int_equal(count_logged(f, " warning resolver.refused path="), 6);
}

static void wants_absolute_folders(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"plugins", "./plugins", "", "~/plugins"};
    for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
        const char *folders[] = {"/tmp", PATHS[i]};
        char wanted[64];
        hub_error error;
        hub_resolver *resolver = NULL;
        (void)snprintf(wanted, sizeof wanted, "plugin folder \"%s\": not an absolute path",
                       PATHS[i]);
        assert_int_equal(hub_resolver_create(folders, 2, false, &resolver, &error), HUB_EINVAL);
        assert_string_equal(error.text, wanted);
        assert_null(resolver);
    }
}

static void lives_with_a_missing_folder(void **state)
{
    fixture *f = *state;
    assert_int_equal(rmdir(f->first.text), 0);
    (void)write_plugin(f->second.text, ALPHA, FIRST);
    (void)create_and_scan(f);
    hub_resolver_scan(f->resolver);
    assert_string_equal(version_of(f, ALPHA), FIRST);
    assert_int_equal(count_refusals(f), 0);
    assert_int_equal(count_logged(f, "resolver.no_folder path="), 1);
}

/* One folder or file with a mode or an owner that does not do, and what is said of it. */
typedef struct permission {
    const char *part; /* below scratch; "" for scratch itself */
    bool is_file;
    mode_t mode;
    uid_t owner;
    const char *reason;
} permission;

#define PLUGIN           "/first/" ALPHA ".so"
#define LETS_WRITE(mode) "mode " mode " lets others write, wanted at most 0755 (chmod go-w "
#define OWNED_BY_SOMEONE "owned by uid 65534, wanted root (chown root "
#define OR_NOT           ", or start with --allow-writable-plugins)"

static const permission PERMISSIONS[] = {
    {"/first", false, 0775, 0, LETS_WRITE("0775")},
    {"/first", false, 0757, 0, LETS_WRITE("0757")},
    {"/first", false, 0777, 0, LETS_WRITE("0777")},
    {"/first", false, 01777, 0, LETS_WRITE("1777")},
    {"/first", false, 0755, STRANGER, OWNED_BY_SOMEONE},
    {"", false, 0775, 0, LETS_WRITE("0775")},
    {"", false, 0755, STRANGER, OWNED_BY_SOMEONE},
    {PLUGIN, true, 0664, 0, LETS_WRITE("0664")},
    {PLUGIN, true, 0646, 0, LETS_WRITE("0646")},
    {PLUGIN, true, 0777, 0, LETS_WRITE("0777")},
    {PLUGIN, true, 0644, STRANGER, OWNED_BY_SOMEONE},
};

static void check_permission(fixture *f, const permission *p)
{
    char wanted[4 * PATH_BYTES];
    path changed;
    (void)snprintf(changed.text, sizeof changed.text, "%s%s", f->scratch.text, p->part);
    if (p->owner != 0 && geteuid() != 0) {
        return; /* only root can give files away */
    }
    assert_int_equal(p->owner == 0 ? 0 : chown(changed.text, p->owner, (gid_t)-1), 0);
    assert_int_equal(chmod(changed.text, p->mode), 0);
    (void)create_and_scan(f);
    assert_null(hub_resolver_find(f->resolver, HUB_STR(ALPHA)));
    (void)snprintf(wanted, sizeof wanted, "%s%s%s%s%s" OR_NOT, p->is_file ? "" : "folder ",
                   p->is_file ? "" : changed.text, p->is_file ? "" : ": ", p->reason, changed.text);
    assert_string_equal(reason_of(f, p->is_file ? changed.text : f->first.text), wanted);

    hub_resolver *trusting = NULL;
    const char *folders[] = {f->first.text};
    assert_int_equal(hub_resolver_create(folders, 1, true, &trusting, NULL), HUB_OK);
    hub_resolver_scan(trusting);
    assert_non_null(hub_resolver_find(trusting, HUB_STR(ALPHA)));
    hub_resolver_destroy(trusting);

    assert_int_equal(p->owner == 0 ? 0 : chown(changed.text, geteuid(), (gid_t)-1), 0);
    assert_int_equal(chmod(changed.text, p->is_file ? 0644 : 0755), 0);
    hub_resolver_scan(f->resolver); /* mended: the same resolver sees it */
    assert_non_null(hub_resolver_find(f->resolver, HUB_STR(ALPHA)));
    assert_int_equal(count_refusals(f), 0);
}

static void refuses_what_others_can_change(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    for (size_t i = 0; i < sizeof PERMISSIONS / sizeof PERMISSIONS[0]; i++) {
        check_permission(f, &PERMISSIONS[i]);
    }
}

static void follows_links_only_to_what_others_cannot_change(void **state)
{
    fixture *f = *state;
    path open_folder = make_folder(f->scratch.text, "open");
    path target = write_plugin(open_folder.text, ALPHA, FIRST);
    path link = join(f->first.text, ALPHA ".so");
    path dangling = join(f->first.text, BETA ".so");
    assert_int_equal(symlink("../open/" ALPHA ".so", link.text), 0);
    assert_int_equal(symlink("/nowhere/at/all.so", dangling.text), 0);
    (void)create_and_scan(f);
    assert_string_equal(version_of(f, ALPHA), FIRST);
    assert_string_equal(reason_of(f, dangling.text), "cannot be opened: No such file or directory");

    char wanted[4 * PATH_BYTES];
    assert_int_equal(chmod(open_folder.text, 0777), 0);
    (void)create_and_scan(f);
    (void)snprintf(wanted, sizeof wanted, "folder %s: " LETS_WRITE("0777") "%s" OR_NOT,
                   open_folder.text, open_folder.text);
    assert_string_equal(reason_of(f, link.text), wanted);
    assert_int_equal(chmod(open_folder.text, 0755), 0);
    hub_resolver_scan(f->resolver); /* the file is as it was, what was wrong is not */
    assert_string_equal(version_of(f, ALPHA), FIRST);
    assert_int_equal(chmod(target.text, 0666), 0);
    (void)create_and_scan(f);
    (void)snprintf(wanted, sizeof wanted, LETS_WRITE("0666") "%s" OR_NOT, link.text);
    assert_string_equal(reason_of(f, link.text), wanted);
}

static void looks_at_the_real_path_of_a_folder_too(void **state)
{
    fixture *f = *state;
    path open_folder = make_folder(f->scratch.text, "open");
    path inner = make_folder(open_folder.text, "inner");
    path link = join(f->scratch.text, "link");
    (void)write_plugin(inner.text, ALPHA, FIRST);
    assert_int_equal(symlink("open/inner", link.text), 0);
    f->first = link;
    (void)create_and_scan(f);
    assert_string_equal(version_of(f, ALPHA), FIRST);

    char wanted[4 * PATH_BYTES];
    assert_int_equal(chmod(open_folder.text, 0777), 0); /* on neither the link's path nor last */
    (void)create_and_scan(f);
    (void)snprintf(wanted, sizeof wanted, "folder %s: " LETS_WRITE("0777") "%s" OR_NOT,
                   open_folder.text, open_folder.text);
    assert_string_equal(reason_of(f, link.text), wanted);

    path link_in_open = join(open_folder.text, "link");
    assert_int_equal(symlink("../second", link_in_open.text), 0);
    (void)write_plugin(f->second.text, ALPHA, FIRST);
    f->first = link_in_open; /* leads to a good folder, but others can make it lead elsewhere */
    (void)create_and_scan(f);
    assert_string_equal(reason_of(f, link_in_open.text), wanted);
}

static void refuses_what_is_no_regular_file(void **state)
{
    fixture *f = *state;
    path folder = make_folder(f->first.text, "folder.so");
    path fifo = join(f->first.text, "fifo.so");
    assert_int_equal(mkfifo(fifo.text, 0600), 0);
    (void)create_and_scan(f); /* and does not hang on it */
    assert_string_equal(reason_of(f, folder.text), "not a regular file");
    assert_string_equal(reason_of(f, fifo.text), "not a regular file");
}

static void keeps_a_module_when_its_file_is_overwritten(void **state)
{
    fixture *f = *state;
    static const char ZEROS[64 * 1024];
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    (void)create_and_scan(f);
    const hub_module *module = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    write_whole(file.text, ZEROS, sizeof ZEROS, 0644);
    assert_string_equal(module->table->version, FIRST);
    void *inst = NULL;
    assert_int_equal(module->table->create(NULL, NULL, HUB_STR("{}"), &inst, NULL), PATCHBAY_OK);
    write_whole(file.text, "", 0, 0644);
    assert_int_equal(module->table->create(NULL, NULL, HUB_STR("{}"), &inst, NULL), PATCHBAY_OK);

    hub_resolver_scan(f->resolver); /* the new bytes are bad: the old module stays */
    assert_ptr_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)), module);
    assert_string_equal(reason_of(f, file.text), "not a shared object: the file is empty");

    (void)write_plugin(f->first.text, ALPHA, SECOND);
    hub_resolver_scan(f->resolver);
    assert_string_equal(version_of(f, ALPHA), SECOND);
    assert_string_equal(module->table->version, FIRST); /* beside it */
    assert_int_equal(module->generation, 1);
    assert_int_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA))->generation, 2);
    assert_int_equal(count_refusals(f), 0);
}

static void does_not_replace_equal_bytes(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    (void)create_and_scan(f);
    const hub_module *module = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    assert_int_equal(unlink(file.text), 0);
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    assert_int_equal(chmod(file.text, 0755), 0);
    hub_resolver_scan(f->resolver);
    assert_ptr_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)), module);
    assert_int_equal(count_logged(f, "resolver.loaded"), 1);
}

static void forgets_removed_files_but_not_their_modules(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    path broken = join(f->first.text, "broken.so");
    write_whole(broken.text, "x", 1, 0644);
    (void)create_and_scan(f);
    const hub_module *module = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    assert_int_equal(unlink(file.text) | unlink(broken.text), 0);
    hub_resolver_scan(f->resolver);
    assert_null(hub_resolver_find(f->resolver, HUB_STR(ALPHA)));
    assert_int_equal(count_refusals(f), 0);
    assert_string_equal(module->table->version, FIRST);
    assert_string_equal(module->path, file.text);
    (void)write_plugin(f->first.text, ALPHA, SECOND);
    hub_resolver_scan(f->resolver);
    assert_int_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA))->generation, 2);
}

static void uses_no_descriptor_for_a_loaded_module(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    (void)create_and_scan(f);
    size_t before = count_fds();
    for (int i = 0; i < REPLACEMENTS; i++) {
        char version[32];
        (void)snprintf(version, sizeof version, "2.0.%04d", i);
        (void)write_plugin(f->first.text, ALPHA, version);
        hub_resolver_scan(f->resolver);
        assert_string_equal(version_of(f, ALPHA), version); /* never the one loaded before */
    }
    assert_int_equal(count_fds(), before);
}

static void loads_a_file_from_anywhere(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    path other = write_plugin(f->scratch.text, ALPHA, SECOND);
    const hub_module *module = NULL;
    hub_error error;
    (void)create_and_scan(f);
    assert_int_equal(hub_resolver_load_file(f->resolver, other.text, &module, &error), HUB_OK);
    assert_string_equal(module->table->version, SECOND);
    assert_string_equal(version_of(f, ALPHA), FIRST);
    assert_int_equal(hub_resolver_load_file(f->resolver, "/none.so", &module, &error), HUB_ESYSTEM);
    assert_string_equal(error.text, "cannot be opened: No such file or directory");

    path renamed = join(f->scratch.text, "other.so");
    assert_int_equal(rename(other.text, renamed.text), 0);
    assert_int_equal(hub_resolver_load_file(f->resolver, renamed.text, &module, &error),
                     HUB_EINVAL);
    assert_string_equal(error.text, "name is \"" ALPHA "\", wanted \"other\" as the file says");
    assert_int_equal(chmod(renamed.text, 0666), 0);
    assert_int_equal(hub_resolver_load_file(f->resolver, renamed.text, &module, &error),
                     HUB_EDENIED);
    assert_int_equal(count_refusals(f), 0);
}

/* Somebody swaps a file that may be loaded and one that may not, as fast as he can. */
typedef struct swapper {
    path good;
    path evil;
    path at;
    atomic_bool stop;
} swapper;

static void *swap_files(void *arg)
{
    swapper *s = arg;
    while (!s->stop) {
        const path *next[] = {&s->good, &s->evil};
        for (size_t i = 0; i < 2; i++) {
            path copy;
            (void)snprintf(copy.text, sizeof copy.text, "%.*s.swap", PATH_BYTES - 6, next[i]->text);
            if (link(next[i]->text, copy.text) != 0 || rename(copy.text, s->at.text) != 0) {
                return arg;
            }
            (void)unlink(copy.text); /* rename does nothing between links of one file */
        }
    }
    return NULL;
}

static void never_loads_what_it_did_not_check(void **state)
{
    fixture *f = *state;
    swapper s = {.good = write_plugin(f->scratch.text, ALPHA, FIRST),
                 .evil = write_plugin(f->second.text, ALPHA, SECOND),
                 .at = join(f->first.text, ALPHA ".so")};
    pthread_t thread;
    void *failed = NULL;
    size_t refused = 0;
    assert_int_equal(chmod(s.evil.text, 0666), 0);
    assert_int_equal(link(s.good.text, s.at.text), 0);
    const char *folders[] = {f->first.text};
    assert_int_equal(hub_resolver_create(folders, 1, false, &f->resolver, NULL), HUB_OK);
    assert_int_equal(pthread_create(&thread, NULL, swap_files, &s), 0);
    for (int i = 0; i < SWAP_SCANS || refused < SWAP_SCANS / 10; i++) {
        hub_resolver_scan(f->resolver);
        assert_string_not_equal(version_of(f, ALPHA), SECOND);
        refused += count_refusals(f);
    }
    s.stop = true;
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        RESOLVER_TEST(finds_modules_sorted_by_name),
        RESOLVER_TEST(gives_a_name_to_the_first_folder),
        RESOLVER_TEST(a_refused_file_takes_no_name),
        RESOLVER_TEST(lists_refusals_sorted_by_path),
        RESOLVER_TEST(wants_absolute_folders),
        RESOLVER_TEST(lives_with_a_missing_folder),
        RESOLVER_TEST(refuses_what_others_can_change),
        RESOLVER_TEST(follows_links_only_to_what_others_cannot_change),
        RESOLVER_TEST(looks_at_the_real_path_of_a_folder_too),
        RESOLVER_TEST(refuses_what_is_no_regular_file),
        RESOLVER_TEST(keeps_a_module_when_its_file_is_overwritten),
        RESOLVER_TEST(does_not_replace_equal_bytes),
        RESOLVER_TEST(forgets_removed_files_but_not_their_modules),
        RESOLVER_TEST(uses_no_descriptor_for_a_loaded_module),
        RESOLVER_TEST(loads_a_file_from_anywhere),
        RESOLVER_TEST(never_loads_what_it_did_not_check),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
