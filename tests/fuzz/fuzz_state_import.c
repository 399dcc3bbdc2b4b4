/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports of the store that somebody has edited. What is accepted holds what the store takes, and
 * comes out again as it went in; what is refused says in which line.
 */
#include "base/limits.h"
#include "state/export.h"
#include "state/names.h"
#include "state/secrets.h"

#include <string.h>

enum { ARENA_BYTES = 16 * 1024 * 1024 };

static void check_record(const hub_state_record *record)
{
    hub_assert(hub_state_check_name(record, NULL) == HUB_OK);
    if (record->key_id.len > 0) {
        hub_assert(record->is_secret);
        hub_assert(record->key_id.len == HUB_STATE_KEY_ID_BYTES - 1);
        hub_assert(record->document.len <= HUB_LIMIT_STATE_DOCUMENT_BYTES + HUB_STATE_SEAL_BYTES);
    } else {
        hub_assert(hub_state_check_document(record->document, HUB_LIMIT_STATE_LONG_DOCUMENT_BYTES,
                                            NULL) == HUB_OK);
    }
}

static bool is_same(const hub_state_record *a, const hub_state_record *b)
{
    return hub_str_eq(a->scope, b->scope) && hub_str_eq(a->kind, b->kind) &&
           hub_str_eq(a->owner, b->owner) && hub_str_eq(a->key, b->key) &&
           hub_str_eq(a->key_id, b->key_id) && a->version == b->version &&
           a->is_secret == b->is_secret;
}

/* Written and read again. */
static void check_return(const hub_state_import_text *text, hub_arena *arena)
{
    hub_buf out;
    hub_state_import_text again;
    hub_buf_init(&out, ARENA_BYTES);
    hub_state_export_begin("", &out);
    for (size_t i = 0; i < text->count; i++) {
        check_record(&text->records[i]);
        hub_state_export_add(&text->records[i], text->records[i].key_id.len == 0, &out);
    }
    if (hub_buf_ok(&out) &&
        hub_state_export_read(hub_buf_str(&out), arena, &again, NULL) == HUB_OK) {
        hub_assert(again.count == text->count);
        for (size_t i = 0; i < again.count; i++) {
            hub_assert(is_same(&again.records[i], &text->records[i]));
        }
    }
    hub_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_arena *arena = hub_arena_create(ARENA_BYTES);
    hub_state_import_text text = {.count = 0};
    hub_error error = {.text = ""};
    if (arena == NULL) {
        return 0;
    }
    hub_err err = hub_state_export_read((hub_str){.ptr = (const char *)data, .len = size}, arena,
                                        &text, &error);
    if (err == HUB_OK) {
        check_return(&text, arena);
    } else {
        hub_assert(err == error.code &&
                   (err == HUB_ENOMEM || strncmp(error.text, "line ", 5) == 0));
    }
    hub_arena_destroy(arena);
    return 0;
}
