/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by the examples of FIPS 180-4, HMAC by those of RFC 4231. */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MILLION = 1000000 };

static void assert_digest(hub_str text, const char *expected)
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_digest_of(text, bytes);
    hub_digest_hex(bytes, hex);
    assert_string_equal(hex, expected);
}

static void test_examples(void **state)
{
    (void)state;
    assert_digest(HUB_STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest(HUB_STR("abc"),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest(HUB_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *many = malloc(MILLION);
    assert_non_null(many);
    memset(many, 'a', MILLION);
    assert_digest((hub_str){.ptr = many, .len = MILLION},
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(many);
}

/* However it is cut into pieces. */
static void test_pieces(void **state)
{
    (void)state;
    char text[200];
    unsigned char whole[HUB_DIGEST_BYTES];
    unsigned char pieces[HUB_DIGEST_BYTES];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)i;
    }
    hub_digest_of((hub_str){.ptr = text, .len = sizeof text}, whole);
    for (size_t size = 1; size <= sizeof text; size++) {
        hub_digest digest;
        hub_digest_init(&digest);
        for (size_t at = 0; at < sizeof text; at += size) {
            size_t left = sizeof text - at;
            hub_digest_add(&digest, text + at, left < size ? left : size);
        }
        hub_digest_end(&digest, pieces);
        assert_memory_equal(pieces, whole, sizeof whole);
    }
}

static void assert_signed(const unsigned char *key, size_t key_size, hub_str text,
                          const char *expected)
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_hmac(key, key_size, text, bytes);
    hub_digest_hex(bytes, hex);
    assert_string_equal(hex, expected);
}

static void test_signatures(void **state)
{
    (void)state;
    unsigned char key[HUB_HMAC_KEY_BYTES];
    char text[50];
    memset(key, 0x0b, sizeof key);
    assert_signed(key, 20, HUB_STR("Hi There"),
                  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    assert_signed((const unsigned char *)"Jefe", 4, HUB_STR("what do ya want for nothing?"),
                  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(text, 0xdd, sizeof text);
    assert_signed(key, 20, (hub_str){.ptr = text, .len = sizeof text},
                  "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    /* The longest key: no example is that long; this is Python's hmac. */
    for (size_t i = 0; i < sizeof key; i++) {
        key[i] = (unsigned char)i;
    }
    assert_signed(key, sizeof key, HUB_STR("text"),
                  "641d21a27db22a6a1e8bc28f948eee3c9e7c855f3e74f1fdf67f026e0e4fe70e");
    assert_signed(key, 0, HUB_STR(""),
                  "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
