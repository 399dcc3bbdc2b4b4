/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that run in processes of their own: the resolver finds and checks them, and links
 * nothing. */
#include "resolver_support.h"

static bool is_all(const void *ctx, hub_str name)
{
    (void)ctx;
    (void)name;
    return true;
}

static bool is_the_one(const void *ctx, hub_str name)
{
    return hub_str_is(name, ctx);
}

static bool is_mapped(const char *name)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        found = found || strstr(line, name) != NULL;
    }
    (void)fclose(maps);
    return found;
}

static void links_none_that_is_outside(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    (void)write_plugin(f->first.text, BETA, FIRST);
    hub_resolver_keep_outside(create(f), is_the_one, ALPHA);
    hub_resolver_scan(f->resolver);
    const hub_module *alpha = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    const hub_module *beta = hub_resolver_find(f->resolver, HUB_STR(BETA));
    assert_non_null(alpha);
    assert_non_null(beta);
    assert_true(alpha->is_outside);
    assert_false(beta->is_outside);
    assert_string_equal(alpha->name, ALPHA);
    assert_string_equal(alpha->table->name, ALPHA);
    assert_null(alpha->table->create);
    assert_null(alpha->config_schema);
    assert_false(is_mapped(ALPHA));
    assert_true(is_mapped(BETA));
    assert_int_equal(count_logged(f, "resolver.found module=" ALPHA), 1);
}

/* Up to the point where it would be linked. */
static void checks_it_all_the_same(void **state)
{
    fixture *f = *state;
    path text = join(f->first.text, ALPHA ".so");
    path open = write_plugin(f->first.text, BETA, FIRST);
    path odd = write_plugin(f->second.text, GAMMA, FIRST);
    path renamed = join(f->second.text, "Gamma.so");
    write_whole(text.text, "no library", 10, 0644);
    assert_int_equal(chmod(open.text, 0666), 0);
    assert_int_equal(rename(odd.text, renamed.text), 0);
    hub_resolver_keep_outside(create(f), is_all, NULL);
    hub_resolver_scan(f->resolver);
    assert_int_equal(count_refusals(f), 3);
    assert_non_null(strstr(reason_of(f, text.text), "ELF"));
    assert_non_null(strstr(reason_of(f, open.text), "0666"));
    assert_string_equal(reason_of(f, renamed.text),
                        "the file's name is \"Gamma\", wanted [a-z][a-z0-9_-]{0,63}.so");
}

static void a_replaced_one_is_another_module(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    hub_resolver_keep_outside(create(f), is_all, NULL);
    hub_resolver_scan(f->resolver);
    const hub_module *first = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    (void)write_plugin(f->first.text, ALPHA, FIRST); /* the same bytes */
    hub_resolver_scan(f->resolver);
    assert_ptr_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)), first);
    (void)write_plugin(f->first.text, ALPHA, SECOND);
    hub_resolver_scan(f->resolver);
    const hub_module *second = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    assert_ptr_not_equal(second, first);
    assert_true(second->is_outside);
    assert_int_equal(second->generation, 2);
    assert_true(second->hash != first->hash);
}

static void can_be_linked_later(void **state)
{
    fixture *f = *state;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    hub_resolver_keep_outside(create(f), is_all, NULL);
    hub_resolver_scan(f->resolver);
    const hub_module *outside = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    const hub_module *linked = NULL;
    assert_int_equal(hub_resolver_link(f->resolver, outside, &linked, NULL), HUB_OK);
    assert_false(linked->is_outside);
    assert_string_equal(linked->table->version, FIRST);
    assert_ptr_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)), linked);
    /* It stays so, until its file changes. */
    hub_resolver_scan(f->resolver);
    assert_ptr_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)), linked);
    assert_int_equal(hub_resolver_link(f->resolver, outside, &linked, NULL), HUB_ENOTFOUND);
}

static void one_that_cannot_be_linked_stays_outside(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    hub_error why = {.text = ""};
    hub_resolver_keep_outside(create(f), is_all, NULL);
    hub_resolver_scan(f->resolver);
    const hub_module *outside = hub_resolver_find(f->resolver, HUB_STR(ALPHA));
    const hub_module *linked = outside;
    write_whole(file.text, "no library", 10, 0644);
    assert_int_equal(hub_resolver_link(f->resolver, outside, &linked, &why), HUB_EPARSE);
    assert_ptr_equal(linked, outside);
    assert_ptr_equal(hub_resolver_find(f->resolver, HUB_STR(ALPHA)), outside);
}

static void a_single_file_can_be_all_there_is(void **state)
{
    fixture *f = *state;
    path file = write_plugin(f->first.text, ALPHA, FIRST);
    hub_error why = {.text = ""};
    size_t count = 0;
    assert_int_equal(hub_resolver_create(NULL, 0, false, &f->resolver, NULL), HUB_OK);
    assert_int_equal(hub_resolver_offer_file(f->resolver, file.text, &why), HUB_OK);
    assert_string_equal(version_of(f, ALPHA), FIRST);
    (void)hub_resolver_modules(f->resolver, &count);
    assert_int_equal(count, 1);
    assert_int_equal(
        hub_resolver_offer_file(f->resolver, join(f->first.text, "none.so").text, &why),
        HUB_ESYSTEM);
    assert_string_equal(version_of(f, ALPHA), FIRST);
}

static unsigned announced;

static void count_file(const char *file)
{
    announced += strstr(file, ALPHA) != NULL;
}

static void says_what_it_is_about_to_link(void **state)
{
    fixture *f = *state;
    announced = 0;
    (void)write_plugin(f->first.text, ALPHA, FIRST);
    hub_resolver_announce(create(f), count_file);
    hub_resolver_scan(f->resolver);
    assert_int_equal(announced, 1);
    hub_resolver_scan(f->resolver); /* nothing new */
    assert_int_equal(announced, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_none_that_is_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(checks_it_all_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_replaced_one_is_another_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(can_be_linked_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_linked_stays_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_single_file_can_be_all_there_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_what_it_is_about_to_link, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
