/* SPDX-License-Identifier: Apache-2.0 */
/* Records of sessions that move: what is read of one, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "hub/moves/moves.h"

static hub_err read_text(const char *document, hub_move *ret_move)
{
    return hub_move_read(hub_str_of(document), ret_move);
}

static void test_what_a_record_says(void **state)
{
    hub_move move;
    (void)state;
    assert_int_equal(
        read_text("{\"format\":1,\"at\":1790000000,\"home\":\"10.0.0.5\",\"port\":8790,"
                  "\"profile\":\"dev\",\"streams\":3,\"sequence\":7,\"delivered\":6,"
                  "\"messages\":[{}],\"of a later version\":{}}",
                  &move),
        HUB_OK);
    assert_string_equal(move.home.address, "10.0.0.5");
    assert_int_equal(move.home.port, 8790);
    assert_int_equal(move.recorded_s, 1790000000);
    assert_true(hub_str_is(move.profile, "dev"));
    assert_int_equal(move.streams, 3);
    assert_int_equal(move.sequence, 7);
    assert_int_equal(move.delivered, 6);
    assert_true(hub_str_is(move.messages, "[{}]"));
}

static void test_a_home_is_an_address_or_none(void **state)
{
    static const char *const HOMES[] = {
        "\"home\":\"\",\"port\":0",          "\"home\":\"fd00::5\",\"port\":65535",
        "\"home\":\"hub1\",\"port\":8790",   "\"home\":\"10.0.0.5\",\"port\":65536",
        "\"home\":\"10.0.0.5\",\"port\":-1", "\"home\":7,\"port\":0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof HOMES / sizeof HOMES[0]; i++) {
        hub_move move;
        char text[256];
        (void)snprintf(text, sizeof text,
                       "{\"format\":1,\"at\":1,%s,\"profile\":\"\",\"streams\":0,\"sequence\":0,"
                       "\"delivered\":0,\"messages\":[]}",
                       HOMES[i]);
        assert_int_equal(read_text(text, &move), i < 2 ? HUB_OK : HUB_EPARSE);
    }
}

static void test_what_is_none(void **state)
{
    static const char *const NONE[] = {
        "",
        "[]",
        "{}",
        "{\"format\":\"1\"}",
        "{\"format\":1}",
        /* More was delivered than there was. */
        "{\"format\":1,\"at\":1,\"home\":\"\",\"port\":0,\"profile\":\"\",\"streams\":0,"
        "\"sequence\":1,\"delivered\":2,\"messages\":[]}",
        "{\"format\":1,\"at\":1,\"home\":\"\",\"port\":0,\"profile\":\"\",\"streams\":4294967296,"
        "\"sequence\":1,\"delivered\":1,\"messages\":[]}",
        "{\"format\":1,\"at\":1,\"home\":\"\",\"port\":0,\"profile\":\"\",\"streams\":0,"
        "\"sequence\":1,\"delivered\":1,\"messages\":{}}",
    };
    hub_move move;
    (void)state;
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        assert_int_equal(read_text(NONE[i], &move), HUB_EPARSE);
    }
    assert_int_equal(read_text("{\"format\":2,\"in\":\"another way\"}", &move), HUB_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_record_says),
        cmocka_unit_test(test_a_home_is_an_address_or_none),
        cmocka_unit_test(test_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
