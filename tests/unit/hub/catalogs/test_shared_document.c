/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a catalog that replicas share: nobody without their key can make or change one. */
#include "hub/catalogs/shared_document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const hub_key KEY = {.bytes = {1, 2, 3}};

static hub_buf written(const hub_key *key)
{
    hub_buf out;
    hub_buf_init(&out, 4096);
    const hub_shared_document document = {.learned_at_ms = 1750000000123,
                                          .text = HUB_STR("{\"a\":1}\n")};
    hub_shared_document_write(key, &document, &out);
    assert_true(hub_buf_ok(&out));
    return out;
}

static hub_err read_it(hub_str json, hub_shared_document *ret_document)
{
    hub_error why;
    return hub_shared_document_read(&KEY, json, ret_document, &why);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    hub_shared_document document;
    hub_buf out = written(&KEY);
    assert_int_equal(read_it(hub_buf_str(&out), &document), HUB_OK);
    assert_int_equal(document.learned_at_ms, 1750000000123);
    assert_true(hub_str_is(document.text, "{\"a\":1}\n"));
    hub_buf_fini(&out);
}

static void every_other_byte_is_refused(void **state)
{
    (void)state;
    hub_shared_document document;
    hub_buf out = written(&KEY);
    for (size_t i = 0; i < out.len; i++) {
        out.ptr[i] ^= 1;
        assert_int_equal(read_it(hub_buf_str(&out), &document), HUB_EINVAL);
        out.ptr[i] ^= 1;
        hub_str cut = {.ptr = out.ptr, .len = i};
        assert_int_equal(read_it(cut, &document), HUB_EINVAL);
    }
    hub_buf_fini(&out);
}

static void another_key_is_refused(void **state)
{
    (void)state;
    static const hub_key OTHER = {.bytes = {1, 2, 4}};
    hub_shared_document document;
    hub_buf out = written(&OTHER);
    assert_int_equal(read_it(hub_buf_str(&out), &document), HUB_EINVAL);
    assert_int_equal(read_it(HUB_STR(HUB_SHARED_ASKING), &document), HUB_EINVAL);
    hub_buf_fini(&out);
}

static void no_room_is_a_failure(void **state)
{
    (void)state;
    hub_buf out;
    hub_buf_init(&out, 64);
    const hub_shared_document document = {.text = HUB_STR("{}\n")};
    hub_shared_document_write(&KEY, &document, &out);
    assert_false(hub_buf_ok(&out));
    hub_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(every_other_byte_is_refused),
        cmocka_unit_test(another_key_is_refused),
        cmocka_unit_test(no_room_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
