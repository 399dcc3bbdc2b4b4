/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a module that is not there: that it was refused and why, or where it was looked
 * for and which one may be meant. */
#include "resolver_support.h"

#include "modules/module_list.h"

#define WHAT_TO_DO ", or start with --allow-writable-plugins)"

static void assert_explained(fixture *f, const char *name, const char *format, ...)
    HUB_PRINTF(3, 4);

static void assert_explained(fixture *f, const char *name, const char *format, ...)
{
    char wanted[4 * PATH_BYTES];
    hub_error error = {.text = ""};
    va_list args;
    va_start(args, format);
    (void)vsnprintf(wanted, sizeof wanted, format, args);
    va_end(args);
    assert_int_equal(hub_module_list_explain(f->resolver, hub_str_of(name), &error), HUB_ENOTFOUND);
    assert_string_equal(error.text, wanted);
}

static void says_why_a_file_was_refused(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    assert_int_equal(chmod(file.text, 0666), 0);
    (void)create_and_scan(f);
    assert_explained(f, ALPHA,
                     "the plugin \"" ALPHA
                     "\" is there, but was refused: %s: mode 0666 lets others "
                     "write, wanted at most 0755 (chmod go-w %s" WHAT_TO_DO,
                     file.text, file.text);

    write_whole(file.text, "broken", 6, 0644);
    assert_int_equal(chmod(file.text, 0644), 0);
    hub_resolver_scan(f->resolver);
    assert_explained(f, ALPHA,
                     "the plugin \"" ALPHA "\" is there, but was refused: %s: not a shared object: "
                     "no ELF header",
                     file.text);
}

static void says_why_its_folder_was_refused(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->second.text, ALPHA, FIRST);
    assert_int_equal(chmod(f->second.text, 0777), 0);
    (void)create_and_scan(f);
    assert_explained(f, ALPHA,
                     "the plugin \"" ALPHA
                     "\" is there, but its folder was refused: %s: folder %s: "
                     "mode 0777 lets others write, wanted at most 0755 (chmod go-w %s" WHAT_TO_DO,
                     file.text, f->second.text, f->second.text);
    assert_explained(f, BETA,
                     "there is no plugin \"" BETA "\" in the plugins folders %s, %s (refused: "
                     "folder %s: mode 0777 lets others write, wanted at most 0755 (chmod go-w "
                     "%s" WHAT_TO_DO ")",
                     f->first.text, f->second.text, f->second.text, f->second.text);
    assert_int_equal(chmod(f->second.text, 0755), 0);
}

static void says_who_owns_it(void **state)
{
    fixture *f = *state;
    if (geteuid() != 0) {
        skip(); /* only root can give files away */
    }
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    assert_int_equal(chown(file.text, 65534, (gid_t)-1), 0);
    (void)create_and_scan(f);
    assert_explained(f, ALPHA,
                     "the plugin \"" ALPHA "\" is there, but was refused: %s: owned by uid 65534, "
                     "wanted root (chown root %s" WHAT_TO_DO,
                     file.text, file.text);
}

static void says_where_it_looked(void **state)
{
    fixture *f = *state;
    assert_int_equal(rmdir(f->second.text), 0);
    (void)create_and_scan(f);
    assert_explained(f, "time",
                     "there is no plugin \"time\" in the plugins folders %s, %s (there is no such "
                     "folder)",
                     f->first.text, f->second.text);
}

static void names_the_nearest(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    (void)write_plugin(f->first.text, BETA, FIRST);
    (void)create_and_scan(f);
    assert_explained(f, "alhpa_001",
                     "there is no plugin \"alhpa_001\"; did you mean \"" ALPHA "\"? The plugins "
                     "folders are %s, %s",
                     f->first.text, f->second.text);
    assert_explained(f, "", "there is no plugin \"\" in the plugins folders %s, %s", f->first.text,
                     f->second.text);
}

/* A name comes from a manifest: it leads to no other file. */
static void looks_for_names_only(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    assert_int_equal(chmod(f->second.text, 0777), 0);
    (void)create_and_scan(f);
    hub_error error = {.text = ""};
    hub_err err = hub_module_list_explain(f->resolver, HUB_STR("../first/" ALPHA), &error);
    assert_int_equal(err, HUB_ENOTFOUND);
    assert_non_null(strstr(error.text, "there is no plugin"));
    assert_int_equal(chmod(f->second.text, 0755), 0);
}

static void has_no_folders(void **state)
{
    fixture *f = *state;
    assert_int_equal(hub_resolver_create(NULL, 0, false, &f->resolver, NULL), HUB_OK);
    hub_resolver_scan(f->resolver);
    assert_explained(f, "time", "there is no plugin \"time\": no plugins folders are named");
}

/* However many there are, and however long their names. */
static void stays_one_line(void **state)
{
    fixture *f = *state;
    path paths[40];
    const char *folders[40];
    for (size_t i = 0; i < 40; i++) {
        (void)snprintf(paths[i].text, sizeof paths[i].text, "/nowhere/%0200zu", i);
        folders[i] = paths[i].text;
    }
    assert_int_equal(hub_resolver_create(folders, 40, false, &f->resolver, NULL), HUB_OK);
    hub_resolver_scan(f->resolver);
    hub_error error = {.text = ""};
    hub_err err = hub_module_list_explain(f->resolver, HUB_STR("time"), &error);
    assert_int_equal(err, HUB_ENOTFOUND);
    assert_in_range(strlen(error.text), sizeof error.text / 2, sizeof error.text - 1);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        RESOLVER_TEST(says_why_a_file_was_refused),
        RESOLVER_TEST(says_why_its_folder_was_refused),
        RESOLVER_TEST(says_who_owns_it),
        RESOLVER_TEST(says_where_it_looked),
        RESOLVER_TEST(names_the_nearest),
        RESOLVER_TEST(looks_for_names_only),
        RESOLVER_TEST(has_no_folders),
        RESOLVER_TEST(stays_one_line),
    };
    (void)alarm(GUARD_SECONDS);
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
