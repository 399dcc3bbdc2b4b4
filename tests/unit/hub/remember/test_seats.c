/* SPDX-License-Identifier: Apache-2.0 */
/* Principals whose records are known at once: so many, of which those that were used last stay. */
#include "hub/remember/seat.h"
#include "hub_fixture.h"

#include <stdio.h>
#include <string.h>

static hub_fixture fixture;

static void start(void)
{
    fixture_init(&fixture);
    fixture.settings.remember = HUB_REMEMBER_ALL;
    fixture_start(&fixture);
}

static hub_str name_of(int number, char text[32])
{
    (void)snprintf(text, 32, "token:p%d", number);
    return hub_str_of(text);
}

static seat *make(int number)
{
    char text[32];
    return seat_make(fixture.hub, HUB_STR("default"), name_of(number, text));
}

static seat *find(int number)
{
    char text[32];
    return seat_find(fixture.hub, HUB_STR("default"), name_of(number, text));
}

static void fill(void)
{
    for (int i = 0; i < HUB_LIMIT_REMEMBER_SEATS; i++) {
        assert_non_null(make(i));
    }
    assert_int_equal(remember_of(fixture.hub)->count, HUB_LIMIT_REMEMBER_SEATS);
    assert_non_null(find(0));
}

/* One more takes the place of the one that was used least recently. */
static void test_one_more(void **state)
{
    (void)state;
    start();
    fill();
    seat_touch(find(0));
    assert_non_null(make(HUB_LIMIT_REMEMBER_SEATS));
    assert_int_equal(remember_of(fixture.hub)->count, HUB_LIMIT_REMEMBER_SEATS);
    assert_non_null(find(0));
    assert_null(find(1));
    assert_non_null(find(2));
    assert_non_null(find(HUB_LIMIT_REMEMBER_SEATS));
    fixture_stop(&fixture);
}

/* Nothing goes that is at work, that waits, or that could not be written. */
static void test_what_is_in_use_stays(void **state)
{
    (void)state;
    static keeper waits = {.on_kept = NULL};
    static held request = {.call = NULL};
    start();
    fill();
    find(0)->is_equipping = true;
    find(1)->has_failed = true;
    find(2)->keepers = &waits;
    find(3)->held = &request;
    find(4)->is_dirty = true;
    assert_non_null(make(HUB_LIMIT_REMEMBER_SEATS));
    for (int i = 0; i < 5; i++) {
        assert_non_null(find(i));
    }
    assert_null(find(5));
    for (seat *at = remember_of(fixture.hub)->used; at != NULL; at = at->next) {
        at->is_equipping = true;
    }
    assert_null(make(HUB_LIMIT_REMEMBER_SEATS + 1)); /* all are */
    assert_int_equal(remember_of(fixture.hub)->count, HUB_LIMIT_REMEMBER_SEATS);
    for (seat *at = remember_of(fixture.hub)->used; at != NULL; at = at->next) {
        at->is_equipping = false;
    }
    find(2)->keepers = NULL;
    find(3)->held = NULL;
    find(4)->is_dirty = false;
    fixture_stop(&fixture);
}

static void test_names_that_are_too_long(void **state)
{
    (void)state;
    static char name[HUB_LIMIT_PRINCIPAL_BYTES + 1];
    static char profile[HUB_LIMIT_STATE_KEY_BYTES + 1];
    memset(name, 'n', sizeof name);
    memset(profile, 'p', sizeof profile);
    start();
    const hub_str names[] = {{.ptr = name, .len = sizeof name - 1},
                             {.ptr = name, .len = sizeof name}};
    const hub_str profiles[] = {{.ptr = profile, .len = sizeof profile - 1},
                                {.ptr = profile, .len = sizeof profile}};
    assert_non_null(seat_make(fixture.hub, profiles[0], names[0]));
    assert_non_null(seat_find(fixture.hub, profiles[0], names[0]));
    assert_null(seat_make(fixture.hub, profiles[1], names[0]));
    assert_null(seat_make(fixture.hub, profiles[0], names[1]));
    assert_null(seat_find(fixture.hub, profiles[0], names[1]));
    fixture_stop(&fixture);
}

/* A profile and a principal are two words: one is never taken for the other. */
static void test_no_two_are_one(void **state)
{
    (void)state;
    start();
    seat *one = seat_make(fixture.hub, HUB_STR("a"), HUB_STR("token:b"));
    seat *other = seat_make(fixture.hub, HUB_STR("ato"), HUB_STR("ken:b"));
    assert_non_null(one);
    assert_non_null(other);
    assert_ptr_not_equal(one, other);
    assert_ptr_equal(seat_find(fixture.hub, HUB_STR("a"), HUB_STR("token:b")), one);
    assert_null(seat_find(fixture.hub, HUB_STR("a"), HUB_STR("uid:b")));
    assert_null(seat_find(fixture.hub, HUB_STR("b"), HUB_STR("token:b")));
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_more),
        cmocka_unit_test(test_what_is_in_use_stays),
        cmocka_unit_test(test_names_that_are_too_long),
        cmocka_unit_test(test_no_two_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
