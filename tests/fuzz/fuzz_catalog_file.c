/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a remembered catalog. The input is taken for a whole file, which is refused or can be
 * written again and read back; and, since the digest keeps nearly all inputs out, for a list in a
 * file whose digest is right: one that is a JSON array comes back byte for byte.
 */
#include "base/limits.h"
#include "hub/catalogs/catalog_file.h"
#include "wire/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static hub_err read_file(hub_str text, hub_catalog_record *record)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_catalog_file_read(text, HUB_STR(ID), record, &why);
    REQUIRE(why.code == err && (err == HUB_OK || why.text[0] != '\0'));
    return err;
}

static void on_drop(void *ctx, hub_str reason)
{
    (void)ctx;
    REQUIRE(reason.len > 0);
}

/* What the hub does with a record. */
static void use(const hub_catalog_record *record)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog *catalog = NULL;
        if (record->lists[kind].len > 0 &&
            hub_catalog_parse((hub_kind)kind, record->lists[kind], kind % 2 == 0, on_drop, NULL,
                              &catalog, NULL) == HUB_OK) {
            hub_catalog_unref(catalog);
        }
    }
}

static void expect_same(const hub_catalog_record *a, const hub_catalog_record *b)
{
    REQUIRE(a->learned_at_ms == b->learned_at_ms && a->is_modern == b->is_modern);
    REQUIRE(hub_str_eq(a->capabilities, b->capabilities));
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        REQUIRE(hub_str_eq(a->lists[kind], b->lists[kind]));
    }
}

static void check_whole(hub_str text)
{
    hub_catalog_record record;
    hub_catalog_record again;
    hub_buf copy;
    if (read_file(text, &record) != HUB_OK) {
        return;
    }
    use(&record);
    hub_buf_init(&copy, HUB_LIMIT_CATALOG_FILE_BYTES);
    hub_catalog_file_write(&record, &copy);
    if (hub_buf_ok(&copy)) {
        REQUIRE(read_file(hub_buf_str(&copy), &again) == HUB_OK);
        expect_same(&record, &again);
    }
    hub_buf_fini(&copy);
}

static void check_list(hub_str list)
{
    hub_catalog_record record = {.id = HUB_STR(ID), .lists = {[HUB_KIND_TOOL] = list}};
    hub_catalog_record again;
    hub_str value;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CATALOG_FILE_BYTES);
    hub_catalog_file_write(&record, &text);
    hub_err err = hub_buf_ok(&text) ? read_file(hub_buf_str(&text), &again) : HUB_ELIMIT;
    bool is_list = hub_json_check(list, &value, NULL) == HUB_OK && value.len == list.len &&
                   hub_json_type_of(list) == HUB_JSON_ARRAY;
    if (err == HUB_OK) {
        use(&again);
    }
    if (is_list && err != HUB_ELIMIT) {
        REQUIRE(err == HUB_OK);
        expect_same(&record, &again);
    }
    hub_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str text = {.ptr = (const char *)data, .len = size};
    check_whole(text);
    check_list(text);
    return 0;
}
