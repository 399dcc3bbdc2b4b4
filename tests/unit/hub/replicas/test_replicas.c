/* SPDX-License-Identifier: Apache-2.0 */
/* Homes, proofs and callers: what replicas tell each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "hub/kernel/hub.h"
#include "hub/kernel/keys.h"
#include "hub/replicas/caller.h"
#include "hub/replicas/replicas.h"

/* ---- a hub that has keys and settings, and nothing else ---------------------------------------- */

static hub_key keys[2];
static size_t key_count;
static hub_cidr peers[1];
static hub_listen_settings listen;
static void *part; /* of the station, as the kernel would keep it */

const hub_key *hub_key_at(const hub_orchestrator *hub, hub_key_use use, size_t age)
{
    (void)hub;
    assert_int_equal(use, HUB_KEY_STATES);
    return age < key_count ? &keys[age] : NULL;
}

void *hub_hub_part(const hub_orchestrator *hub, const hub_station *station)
{
    (void)hub;
    assert_ptr_equal(station, &HUB_REPLICAS_STATION);
    return part;
}

/* A hub that begins anew at a place, with the keys that there are. */
static void begin_at(const char *address, uint16_t port)
{
    free(part);
    part = calloc(1, HUB_REPLICAS_STATION.bytes[HUB_PART_HUB]);
    assert_non_null(part);
    listen = (hub_listen_settings){
        .address = address, .port = port, .trusted_proxies = peers, .trusted_proxy_count = 1};
    assert_true(hub_replicas_configure(NULL, &listen));
}

static void use_keys(unsigned char first, unsigned char second)
{
    memset(keys[0].bytes, first, sizeof keys[0].bytes);
    memset(keys[1].bytes, second, sizeof keys[1].bytes);
    key_count = second != 0 ? 2 : 1;
    begin_at("10.0.0.5", 8790);
}

static int begin(void **state)
{
    (void)state;
    assert_true(hub_cidr_parse(HUB_STR("10.0.0.0/24"), &peers[0]));
    use_keys(1, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(part);
    part = NULL;
    return 0;
}

#define RANDOM HUB_STR("00112233445566778899aabbccddeeff")
static const hub_replica_place OWN = {.address = "10.0.0.5", .port = 8790};
static const hub_replica_place OTHER = {.address = "10.0.0.6", .port = 8790};

static hub_replica_home find(hub_str random, const char *digits, hub_replica_place *ret_place)
{
    return hub_replicas_find_home(NULL, random, hub_str_of(digits), ret_place);
}

/* What the replica at a place calls itself. */
static void name_of(const hub_replica_place *home, hub_str random, char *ret_digits)
{
    begin_at(home->address, home->port);
    hub_replicas_name_home(NULL, random, ret_digits);
    begin_at(OWN.address, OWN.port);
}

/* ---- homes ------------------------------------------------------------------------------------- */

static void test_a_home_is_found_by_its_name(void **state)
{
    (void)state;
    char digits[HUB_REPLICA_HOME_DIGITS + 1];
    hub_replica_place place;
    assert_string_equal(hub_replicas_own(NULL)->address, OWN.address);
    assert_int_equal(hub_replicas_own(NULL)->port, OWN.port);
    name_of(&OWN, RANDOM, digits);
    assert_int_equal(strlen(digits), HUB_REPLICA_HOME_DIGITS);
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_HERE);
    name_of(&OTHER, RANDOM, digits);
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_ELSEWHERE);
    assert_string_equal(place.address, OTHER.address);
    assert_int_equal(place.port, OTHER.port);
    const hub_replica_place v6 = {.address = "fd00::5", .port = 65535};
    name_of(&v6, RANDOM, digits);
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_NOWHERE); /* it is no peer … */
    assert_true(hub_cidr_parse(HUB_STR("fd00::/64"), &peers[0]));
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_ELSEWHERE); /* … and now it is */
    assert_string_equal(place.address, "fd00::5");
    assert_int_equal(place.port, 65535);
}

static void test_the_place_stays(void **state)
{
    (void)state;
    hub_listen_settings other = listen;
    other.port = 8791;
    assert_false(hub_replicas_configure(NULL, &other));
    assert_int_equal(hub_replicas_own(NULL)->port, OWN.port);
    assert_true(hub_replicas_trust(NULL, "10.0.0.7"));
    other = listen;
    other.trusted_proxy_count = 0;
    assert_true(hub_replicas_configure(NULL, &other)); /* others may be trusted from now on */
    assert_false(hub_replicas_trust(NULL, "10.0.0.7"));
}

static void test_a_name_that_was_changed_is_none(void **state)
{
    (void)state;
    char digits[HUB_REPLICA_HOME_DIGITS + 1];
    hub_replica_place place;
    name_of(&OTHER, RANDOM, digits);
    for (size_t i = 0; i < HUB_REPLICA_HOME_DIGITS; i++) {
        char was = digits[i];
        digits[i] = was == '0' ? '1' : '0';
        assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_NOWHERE);
        digits[i] = 'g';
        assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_NOWHERE);
        digits[i] = was;
    }
    assert_int_equal(find(HUB_STR("10112233445566778899aabbccddeeff"), digits, &place),
                     HUB_HOME_NOWHERE); /* of another session */
    digits[HUB_REPLICA_HOME_DIGITS - 1] = '\0';
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_NOWHERE);
    assert_int_equal(find(RANDOM, "", &place), HUB_HOME_NOWHERE);
}

/* Neither address nor port can be read off it, and the same home has another name each time. */
static void test_a_name_tells_nothing(void **state)
{
    (void)state;
    char one[HUB_REPLICA_HOME_DIGITS + 1];
    char two[HUB_REPLICA_HOME_DIGITS + 1];
    name_of(&OWN, RANDOM, one);
    name_of(&OWN, HUB_STR("10112233445566778899aabbccddeeff"), two);
    size_t same = 0;
    for (size_t i = 0; i < HUB_REPLICA_HOME_DIGITS; i++) {
        same += one[i] == two[i];
    }
    assert_true(same < HUB_REPLICA_HOME_DIGITS / 3);
    assert_null(strstr(one, "0a000005")); /* 10.0.0.5 */
    assert_null(strstr(one, "2256"));     /* 8790 */
}

static void test_previous_keys_are_taken(void **state)
{
    (void)state;
    char digits[HUB_REPLICA_HOME_DIGITS + 1];
    hub_replica_place place;
    name_of(&OTHER, RANDOM, digits);
    use_keys(2, 1);
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_ELSEWHERE);
    use_keys(2, 0);
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_NOWHERE);
}

static void test_a_text_has_a_home(void **state)
{
    (void)state;
    hub_replica_place place;
    hub_buf text;
    hub_buf_init(&text, 4096);
    hub_buf_add(&text, HUB_STR("\"up."));
    hub_buf_add(&text, RANDOM);
    begin_at(OTHER.address, OTHER.port);
    hub_replicas_add_home(NULL, &text, RANDOM.len);
    begin_at(OWN.address, OWN.port);
    hub_buf_add(&text, HUB_STR(".4.tool.id\""));
    assert_int_equal(hub_replicas_find_home_in(NULL, hub_buf_str(&text), &place),
                     HUB_HOME_ELSEWHERE);
    assert_string_equal(place.address, OTHER.address);
    text.ptr[10] = text.ptr[10] == '0' ? '1' : '0';
    assert_int_equal(hub_replicas_find_home_in(NULL, hub_buf_str(&text), &place), HUB_HOME_NOWHERE);
    hub_buf_fini(&text);
    static const char *const NONE[] = {"", "\"\"", "no point", "a.", "a.00112233", "7"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        assert_int_equal(hub_replicas_find_home_in(NULL, hub_str_of(NONE[i]), &place),
                         HUB_HOME_NOWHERE);
    }
    /* A hub that takes no requests names nothing, and finds nothing. */
    char digits[HUB_REPLICA_HOME_DIGITS + 1];
    name_of(&OTHER, RANDOM, digits);
    begin_at(NULL, 0);
    hub_buf_init(&text, 4096);
    hub_replicas_add_home(NULL, &text, 0);
    assert_int_equal(text.len, 0);
    assert_int_equal(find(RANDOM, digits, &place), HUB_HOME_NOWHERE);
}

/* ---- proofs ------------------------------------------------------------------------------------ */

static void test_a_proof_is_of_all_of_a_claim(void **state)
{
    (void)state;
    char proof[HUB_DIGEST_HEX_BYTES];
    const hub_replica_claim claim = {.use = HUB_STR("request"),
                                     .challenge = RANDOM,
                                     .number = 7,
                                     .text = HUB_STR("POST /mcp HTTP/1.1\r\n")};
    hub_replicas_prove(NULL, &claim, proof);
    assert_true(hub_replicas_accept(NULL, &claim, hub_str_of(proof)));
    hub_replica_claim others[] = {claim, claim, claim, claim};
    others[0].use = HUB_STR("greeting");
    others[1].challenge = HUB_STR("10112233445566778899aabbccddeeff");
    others[2].number = 8;
    others[3].text = HUB_STR("POST /mcp HTTP/1.0\r\n");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(hub_replicas_accept(NULL, &others[i], hub_str_of(proof)));
    }
    assert_false(hub_replicas_accept(NULL, &claim, HUB_STR_EMPTY));
    assert_false(hub_replicas_accept(NULL, &claim, hub_str_from(hub_str_of(proof), 1)));
    use_keys(2, 1);
    assert_true(hub_replicas_accept(NULL, &claim, hub_str_of(proof)));
    use_keys(2, 0);
    assert_false(hub_replicas_accept(NULL, &claim, hub_str_of(proof)));
}

/* ---- callers ----------------------------------------------------------------------------------- */

static hub_err read_again(const hub_identity *identity, hub_identity **ret_identity)
{
    hub_buf text;
    hub_buf_init(&text, 4096);
    hub_replica_caller_add(&text, identity);
    assert_true(hub_buf_ok(&text));
    assert_null(memchr(text.ptr, '\n', text.len)); /* it is the value of a header */
    hub_err err = hub_replica_caller_read(hub_buf_str(&text), ret_identity);
    hub_buf_fini(&text);
    return err;
}

static void test_a_caller_is_the_same_elsewhere(void **state)
{
    (void)state;
    const char *scopes[] = {"admin", "tools:read"};
    const char *groups[] = {"gr\xc3\xbc"
                            "n \"x\"\\"};
    hub_identity draft = {
        .name = "client:a@jwt:https://issuer.example#me",
        .scopes = {.items = scopes, .count = 2, .set = true},
        .groups = {.items = groups, .count = 1, .set = true},
        .claims = HUB_STR("{\"a\" : [1,\n 2],\"b\":\"\xc3\xbc\"}"),
        .profile = "dev",
        .client = "a",
        .toolsets = {.set = true},
        .expires = 1790000000,
        .source = UINT64_C(0xfedcba9876543210),
    };
    memset(draft.credential, 0xa5, sizeof draft.credential);
    hub_identity *read = NULL;
    assert_int_equal(read_again(&draft, &read), HUB_OK);
    assert_string_equal(read->name, draft.name);
    assert_int_equal(read->scopes.count, 2);
    assert_string_equal(read->scopes.items[1], "tools:read");
    assert_string_equal(read->groups.items[0], groups[0]);
    assert_true(hub_str_is(read->claims, "{\"a\":[1,2],\"b\":\"\xc3\xbc\"}"));
    assert_string_equal(read->profile, "dev");
    assert_string_equal(read->client, "a");
    assert_true(read->toolsets.set); /* none is permitted, which is not the same as all */
    assert_int_equal(read->toolsets.count, 0);
    assert_int_equal(read->expires, draft.expires);
    assert_true(read->source == draft.source);
    assert_memory_equal(read->credential, draft.credential, sizeof draft.credential);
    assert_false(hub_identity_is_of_certificate(read));
    hub_identity_unref(read);
    assert_int_equal(read_again(&HUB_IDENTITY_ANONYMOUS, &read), HUB_OK);
    assert_false(read->toolsets.set);
    assert_int_equal(read->claims.len, 0);
    hub_identity_unref(read);
}

static void test_what_is_no_caller(void **state)
{
    (void)state;
    static const char *const WRONG[] = {
        "",
        "{}",
        "[]",
        "{\"name\":\"\"}",
        "{\"name\":7}",
        "{\"name\":\"a\\u0000b\"}",
        "{\"name\":\"a\",\"scopes\":\"admin\"}",
        "{\"name\":\"a\",\"groups\":[7]}",
        "{\"name\":\"a\",\"claims\":[]}",
        "{\"name\":\"a\",\"expires\":\"never\"}",
        "{\"name\":\"a\",\"credential\":\"00\"}",
        "{\"name\":\"a\",\"source\":\"xyz\"}",
        "{\"name\":\"a\"",
    };
    hub_identity *read = NULL;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        assert_int_equal(hub_replica_caller_read(hub_str_of(WRONG[i]), &read), HUB_EPARSE);
    }
    /* What a newer replica says beside that is for newer ones. */
    assert_int_equal(hub_replica_caller_read(HUB_STR("{\"name\":\"a\",\"mood\":{}}"), &read),
                     HUB_OK);
    hub_identity_unref(read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_home_is_found_by_its_name, begin, end),
        cmocka_unit_test_setup_teardown(test_the_place_stays, begin, end),
        cmocka_unit_test_setup_teardown(test_a_name_that_was_changed_is_none, begin, end),
        cmocka_unit_test_setup_teardown(test_a_name_tells_nothing, begin, end),
        cmocka_unit_test_setup_teardown(test_previous_keys_are_taken, begin, end),
        cmocka_unit_test_setup_teardown(test_a_text_has_a_home, begin, end),
        cmocka_unit_test_setup_teardown(test_a_proof_is_of_all_of_a_claim, begin, end),
        cmocka_unit_test(test_a_caller_is_the_same_elsewhere),
        cmocka_unit_test(test_what_is_no_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
