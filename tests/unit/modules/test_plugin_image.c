/* SPDX-License-Identifier: Apache-2.0 */
/* The copy of a plugin's file, and the hash by which a file that was merely touched is told. */
#include "modules/plugin_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = 21 }; /* pieces of eight, and a rest */

static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    hub_plugin_image image;
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(hub_plugin_image_init(&image, fd, "copy", NULL), HUB_OK);
    assert_int_equal(image.size, size);
    if (size > 0) {
        assert_memory_equal(image.bytes, bytes, size);
    }
    uint64_t hash = image.hash;
    hub_plugin_image_fini(&image);
    (void)close(fd);
    return hash;
}

/* Whatever bit is another one, and at whatever place the end is. */
static void test_every_bit_counts(void **state)
{
    (void)state;
    unsigned char bytes[SIZE] = "what is in the file";
    uint64_t seen[SIZE * 8 + SIZE + 1];
    size_t count = 0;
    for (size_t size = 0; size <= SIZE; size++) {
        seen[count++] = hash_of(bytes, size);
    }
    assert_true(hash_of(bytes, SIZE) == seen[count - 1]);
    for (size_t bit = 0; bit < (size_t)SIZE * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        seen[count++] = hash_of(bytes, SIZE);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_true(seen[i] != seen[j]);
        }
    }
}

/* Two changes do not make up for each other. */
static void test_top_bits_of_two_pieces(void **state)
{
    (void)state;
    unsigned char bytes[SIZE] = {0};
    uint64_t before = hash_of(bytes, SIZE);
    bytes[7] = 0x80;
    bytes[15] = 0x80;
    assert_true(hash_of(bytes, SIZE) != before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_top_bits_of_two_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
