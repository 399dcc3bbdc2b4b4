/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of shared stores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "state/address.h"

static hub_err read_it(const char *place, hub_state_address *ret_address, char *ret_password,
                       hub_error *reterr)
{
    hub_buf password;
    hub_buf_init_secret(&password, 64);
    hub_err err = hub_state_address_read(hub_str_of(place), ret_address, &password, reterr);
    (void)snprintf(ret_password, 65, HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&password)));
    hub_buf_fini(&password);
    return err;
}

static void test_good_ones(void **state)
{
    (void)state;
    static const struct {
        const char *place;
        hub_state_address is;
        const char *password;
        const char *shown;
    } CASES[] = {
        {"valkey://store", {.host = "store", .port = 6379}, "", "valkey://store"},
        {"redis://store:7000/15",
         {.host = "store", .port = 7000, .database = 15},
         "",
         "redis://store:7000/15"},
        {"valkey://hub:p%40ss%2F@10.0.0.1/",
         {.host = "10.0.0.1", .port = 6379, .user = "hub"},
         "p@ss/",
         "valkey://hub@10.0.0.1/"},
        {"rediss://:secret@[fe80::1]:65535/2",
         {.host = "fe80::1", .port = 65535, .database = 2, .is_tls = true},
         "secret",
         "rediss://@[fe80::1]:65535/2"},
        {"valkeys://[::1]", {.host = "::1", .port = 6379, .is_tls = true}, "", "valkeys://[::1]"},
        {"valkey+unix:///run/v@lkey/valkey.sock",
         {.socket = "/run/v@lkey/valkey.sock", .port = 6379, .is_unix = true},
         "",
         "valkey+unix:///run/v@lkey/valkey.sock"},
        {"redis+unix://hub:x@/run/r.sock?db=3",
         {.socket = "/run/r.sock", .port = 6379, .database = 3, .user = "hub", .is_unix = true},
         "x",
         "redis+unix://hub@/run/r.sock?db=3"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_state_address address;
        char password[65];
        hub_buf shown;
        assert_true(hub_state_address_is(hub_str_of(CASES[i].place)));
        assert_int_equal(read_it(CASES[i].place, &address, password, NULL), HUB_OK);
        assert_string_equal(address.host, CASES[i].is.host);
        assert_string_equal(address.socket, CASES[i].is.socket);
        assert_string_equal(address.user, CASES[i].is.user);
        assert_int_equal(address.port, CASES[i].is.port);
        assert_int_equal(address.database, CASES[i].is.database);
        assert_int_equal(address.is_tls, CASES[i].is.is_tls);
        assert_int_equal(address.is_unix, CASES[i].is.is_unix);
        assert_string_equal(password, CASES[i].password);
        hub_buf_init(&shown, 256);
        hub_state_address_add_shown(hub_str_of(CASES[i].place), &shown);
        hub_buf_add_char(&shown, '\0');
        assert_string_equal(shown.ptr, CASES[i].shown);
        hub_buf_fini(&shown);
    }
}

static void test_bad_ones(void **state)
{
    (void)state;
    static const struct {
        const char *place;
        const char *says;
    } CASES[] = {
        {"http://store", "begins with valkey://"},
        {"redis-sentinel://a:1,b:2/mymaster", "does not speak to sentinel"},
        {"valkey+cluster://a", "does not speak to cluster"},
        {"valkey://", "HOST[:PORT]"},
        {"valkey://a,b", "several servers"},
        {"valkey://a:0", "1 to 65535"},
        {"valkey://a:65536", "1 to 65535"},
        {"valkey://a:99999999999999999999", "1 to 65535"},
        {"valkey://a/x", "number of a database"},
        {"valkey://u:p%@a", "percent-encoded"},
        {"valkey://u:p%00@a", "percent-encoded"},
        {"valkey+unix://run/valkey.sock", "absolute path"},
        {"valkey+unix:///run/valkey.sock?db=-1", "absolute path"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_state_address address;
        char password[65];
        hub_error why = {.text = ""};
        assert_int_equal(read_it(CASES[i].place, &address, password, &why), HUB_EINVAL);
        assert_non_null(strstr(why.text, CASES[i].says));
    }
    assert_false(hub_state_address_is(HUB_STR("/run/state.db")));
    assert_false(hub_state_address_is(HUB_STR("./a/b://c")));
    assert_false(hub_state_address_is(HUB_STR("off")));
}

static void test_bounds(void **state)
{
    (void)state;
    hub_state_address address;
    char password[65];
    char place[512];
    char name[HUB_STATE_HOST_BYTES + 1];
    memset(name, 'a', sizeof name);
    (void)snprintf(place, sizeof place, "valkey://%.*s", HUB_STATE_HOST_BYTES - 1, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_OK);
    (void)snprintf(place, sizeof place, "valkey://%.*s", HUB_STATE_HOST_BYTES, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_EINVAL);
    (void)snprintf(place, sizeof place, "valkey+unix:///%.*s", HUB_STATE_SOCKET_BYTES - 2, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_OK);
    (void)snprintf(place, sizeof place, "valkey+unix:///%.*s", HUB_STATE_SOCKET_BYTES - 1, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_EINVAL);
    (void)snprintf(place, sizeof place, "valkey://%.*s@h", HUB_STATE_USER_BYTES - 1, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_OK);
    (void)snprintf(place, sizeof place, "valkey://%.*s@h", HUB_STATE_USER_BYTES, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_EINVAL);
    (void)snprintf(place, sizeof place, "valkey://u:%.*s@h", 64, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_OK);
    (void)snprintf(place, sizeof place, "valkey://u:%.*s@h", 65, name);
    assert_int_equal(read_it(place, &address, password, NULL), HUB_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_ones),
        cmocka_unit_test(test_bad_ones),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
