/* SPDX-License-Identifier: Apache-2.0 */
/* Variants: each sees its own lists of the toolset that is another one for it, and nobody else's. */
#include "section_support.h"

static int ANN;
static int BOB;

/* "wiki" is another one for each; "git" is the same for all. */
typedef struct stage {
    setup s;
    hub_exposure *exposure;
    hub_source other[2];
} stage;

static stage begin(hub_naming naming)
{
    stage made = {.s = make_setup(naming)};
    add(&made.s, "git", "[" TOOL("log") "," TOOL("page") "]", false);
    hub_source *wiki = add(&made.s, "wiki", "[]", false);
    hub_catalog_unref(wiki->lists[HUB_KIND_TOOL]);
    wiki->lists[HUB_KIND_TOOL] = NULL; /* it stands in for the others: nothing is known of it */
    wiki->varies = true;
    made.exposure = build(&made.s);
    for (int i = 0; i < 2; i++) {
        made.other[i] = *wiki;
        made.other[i].owner = i == 0 ? &ANN : &BOB;
        made.other[i].lists[HUB_KIND_TOOL] =
            parse(i == 0 ? "[" TOOL("page") "," TOOL("ann") "]" : "[" TOOL("bob") "]");
    }
    return made;
}

static void end(stage *of)
{
    hub_exposure_destroy(of->exposure);
    for (int i = 0; i < 2; i++) {
        hub_catalog_unref(of->other[i].lists[HUB_KIND_TOOL]);
    }
    hub_catalog_unref(of->s.sources[0].lists[HUB_KIND_TOOL]);
}

static hub_exposure *look(const stage *of, int who, uint64_t version)
{
    const hub_exposure_others others = {
        .sources = &of->other[who], .count = 1, .ctx = of->other[who].owner, .version = version};
    hub_exposure *variant = NULL;
    assert_int_equal(hub_exposure_get_variant(of->exposure, &others, &variant), HUB_OK);
    assert_ptr_equal(hub_exposure_find_variant(of->exposure, others.ctx, version), variant);
    return variant;
}

static void *owner_of(const hub_exposure *exposure, const char *name)
{
    const hub_entry *entry = find(exposure, name);
    return entry != NULL ? entry->owner : NULL;
}

static void test_each_sees_its_own(void **state)
{
    (void)state;
    stage of = begin(HUB_NAMING_PREFIX);
    hub_exposure *ann = look(&of, 0, 1);
    hub_exposure *bob = look(&of, 1, 2);
    assert_ptr_equal(owner_of(ann, "wiki__ann"), &ANN);
    assert_ptr_equal(owner_of(bob, "wiki__bob"), &BOB);
    assert_null(find(ann, "wiki__bob"));
    assert_null(find(bob, "wiki__ann"));
    assert_null(find(of.exposure, "wiki__ann"));
    assert_non_null(find(ann, "git__log"));
    assert_ptr_equal(find(ann, "git__log"), find(bob, "git__log")); /* one section for all */
    assert_int_not_equal(hub_exposure_newest_serial(ann), hub_exposure_newest_serial(bob));
    end(&of);
}

static void test_it_follows(void **state)
{
    (void)state;
    stage of = begin(HUB_NAMING_PREFIX);
    hub_exposure *ann = look(&of, 0, 1);
    hub_catalog *more = parse("[" TOOL("log") "," TOOL("push") "]");
    uint64_t before = hub_exposure_newest_serial(ann);
    assert_int_equal(
        hub_base_update(hub_exposure_base(of.exposure), HUB_STR("git"), HUB_KIND_TOOL, more, NULL),
        HUB_OK);
    assert_null(hub_exposure_find_variant(of.exposure, &ANN, 1));
    assert_ptr_equal(look(&of, 0, 1), ann); /* the same one, with what is new */
    assert_non_null(find(ann, "git__push"));
    assert_true(hub_exposure_newest_serial(ann) > before);
    assert_null(hub_exposure_find_variant(of.exposure, &ANN, 2)); /* it has other lists itself */

    hub_str wiki = HUB_STR("wiki");
    assert_int_equal(hub_exposure_remove(of.exposure, &wiki, 1, NULL), HUB_OK);
    assert_null(find(look(&of, 0, 1), "wiki__ann"));
    hub_exposure_drop_variant(of.exposure, &ANN);
    assert_null(hub_exposure_find_variant(of.exposure, &ANN, 1));
    hub_exposure_drop_variant(of.exposure, &ANN); /* nothing happens */
    hub_catalog_unref(more);
    end(&of);
}

static void test_no_name_depends_on_who_asks(void **state)
{
    (void)state;
    stage of = begin(HUB_NAMING_NONE);
    const hub_exposure *seen[] = {of.exposure, look(&of, 0, 1), look(&of, 1, 2)};
    for (size_t i = 0; i < 3; i++) {
        assert_null(owner_of(seen[i], "page")); /* of git, which is nobody's here */
        assert_non_null(find(seen[i], "page"));
    }
    assert_ptr_equal(owner_of(seen[1], "wiki__page"), &ANN);
    bool is_named = false;
    assert_false(hub_exposure_may_show(of.exposure, &of.s.sources[1], HUB_KIND_TOOL,
                                       HUB_STR("anything"), &is_named));
    assert_true(hub_exposure_may_show(of.exposure, &of.s.sources[1], HUB_KIND_TOOL,
                                      HUB_STR("wiki__anything"), &is_named));
    end(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_sees_its_own),
        cmocka_unit_test(test_it_follows),
        cmocka_unit_test(test_no_name_depends_on_who_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
