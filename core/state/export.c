/* SPDX-License-Identifier: Apache-2.0 */
#include "state/export.h"

#include "base/encoding.h"
#include "base/limits.h"
#include "state/names.h"
#include "state/secrets.h"
#include "wire/json.h"

#include <inttypes.h>

enum { FORMAT = 1 };

/* ---- writing --------------------------------------------------------------------------------- */

void hub_state_export_begin(const char *epoch, hub_buf *out)
{
    hub_buf_printf(out, "{\"patchbayState\":%d,\"epoch\":", FORMAT);
    hub_json_add_string(out, hub_str_of(epoch));
    hub_buf_add(out, HUB_STR("}\n"));
}

void hub_state_export_add(const hub_state_record *record, bool decrypted, hub_buf *out)
{
    hub_buf_add_char(out, '{');
    hub_json_add_member(out, "scope", record->scope);
    hub_json_add_member(out, "kind", record->kind);
    hub_json_add_member(out, "owner", record->owner);
    hub_json_add_member(out, "key", record->key);
    hub_buf_printf(out, ",\"version\":%" PRIu64, record->version);
    if (record->is_secret) {
        hub_buf_add(out, HUB_STR(",\"secret\":true"));
    }
    if (record->key_id.len > 0 && !decrypted) {
        hub_json_add_member(out, "keyId", record->key_id);
        hub_buf_add(out, HUB_STR(",\"sealed\":\""));
        hub_hex_add(out, record->document);
        hub_buf_add_char(out, '"');
    } else if (!record->is_secret || decrypted) {
        hub_buf_add(out, HUB_STR(",\"document\":"));
        hub_json_add_compact(out, record->document); /* without line breaks */
    }
    hub_buf_add(out, HUB_STR("}\n"));
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reading {
    hub_arena *arena;
    hub_state_import_text *text;
    size_t room;
    hub_error *reterr;
} reading;

static hub_err no_memory(const reading *at)
{
    return hub_fail(at->reterr, HUB_ENOMEM, "out of memory");
}

/* A member that is a string, decoded. */
static hub_err take_text(const reading *at, hub_str line, const char *key, hub_str *ret_text)
{
    hub_str raw = hub_json_get(line, hub_str_of(key));
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = hub_json_decode(raw, &text);
    char *copy = err == HUB_OK ? hub_arena_strdup(at->arena, hub_buf_str(&text)) : NULL;
    *ret_text = (hub_str){.ptr = copy, .len = text.len};
    hub_buf_fini(&text);
    if (err == HUB_OK && copy == NULL) {
        return no_memory(at);
    }
    return err == HUB_OK
               ? HUB_OK
               : hub_fail(at->reterr, HUB_EINVAL, "\"%s\" is missing, or not a string", key);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static hub_err take_sealed(const reading *at, hub_str line, hub_state_record *record)
{
    hub_str hex;
    hub_err err = take_text(at, line, "keyId", &record->key_id);
    if (err == HUB_OK) {
        err = take_text(at, line, "sealed", &hex);
    }
    if (err != HUB_OK) {
        return err;
    }
    bool is_good = record->key_id.len == HUB_STATE_KEY_ID_BYTES - 1 && hex.len % 2 == 0 &&
                   hex.len / 2 <= HUB_LIMIT_STATE_DOCUMENT_BYTES + HUB_STATE_SEAL_BYTES;
    char *bytes = hub_arena_alloc(at->arena, hex.len / 2);
    if (bytes == NULL) {
        return no_memory(at);
    }
    for (size_t i = 0; is_good && i < hex.len / 2; i++) {
        int high = digit(hex.ptr[2 * i]);
        int low = digit(hex.ptr[2 * i + 1]);
        is_good = high >= 0 && low >= 0;
        bytes[i] = (char)(is_good ? high * 16 + low : 0);
    }
    record->document = (hub_str){.ptr = bytes, .len = hex.len / 2};
    record->is_secret = true; /* whatever the line says: it is not to become readable */
    return is_good ? HUB_OK
                   : hub_fail(at->reterr, HUB_EINVAL,
                              "\"keyId\" has 16 hexadecimal digits, and \"sealed\" an even number "
                              "of them, not too many");
}

static hub_err take_document(const reading *at, hub_str raw, hub_state_record *record)
{
    hub_err err = hub_state_check_document(raw, HUB_LIMIT_STATE_LONG_DOCUMENT_BYTES, at->reterr);
    char *copy = err == HUB_OK ? hub_arena_strdup(at->arena, raw) : NULL;
    record->document = (hub_str){.ptr = copy, .len = raw.len};
    return err == HUB_OK && copy == NULL ? no_memory(at) : err;
}

static hub_err add_record(reading *at, const hub_state_record *record)
{
    hub_state_import_text *text = at->text;
    if (text->count == HUB_LIMIT_STATE_IMPORT) {
        return hub_fail(at->reterr, HUB_ELIMIT, "more than %u records", HUB_LIMIT_STATE_IMPORT);
    }
    if (text->count == at->room) {
        size_t room = at->room > 0 ? 2 * at->room : 64;
        hub_state_record *grown = hub_arena_array(at->arena, room, sizeof *grown);
        if (grown == NULL) {
            return no_memory(at);
        }
        if (text->count > 0) {
            memcpy(grown, text->records, text->count * sizeof *grown);
        }
        text->records = grown;
        at->room = room;
    }
    text->records[text->count++] = *record;
    return HUB_OK;
}

static hub_err take_name(const reading *at, hub_str line, hub_state_record *record)
{
    hub_str *const places[] = {&record->scope, &record->kind, &record->owner, &record->key};
    static const char *const KEYS[] = {"scope", "kind", "owner", "key"};
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < sizeof KEYS / sizeof KEYS[0]; i++) {
        err = take_text(at, line, KEYS[i], places[i]);
    }
    if (err == HUB_OK) {
        err = hub_state_check_name(record, at->reterr);
    }
    if (err == HUB_OK &&
        (!hub_json_to_u64(hub_json_get(line, HUB_STR("version")), &record->version) ||
         record->version > INT64_MAX)) {
        err = hub_fail(at->reterr, HUB_EINVAL, "\"version\" is missing, or not a whole number");
    }
    return err;
}

static hub_err read_record(reading *at, hub_str line)
{
    hub_state_record record = {.version = 0};
    hub_str document = hub_json_get(line, HUB_STR("document"));
    hub_str sealed = hub_json_get(line, HUB_STR("sealed"));
    record.is_secret = hub_json_type_of(hub_json_get(line, HUB_STR("secret"))) == HUB_JSON_TRUE;
    hub_err err = take_name(at, line, &record);
    if (err != HUB_OK) {
        return err;
    }
    if ((sealed.len > 0 && document.len > 0) || (!record.is_secret && document.len == 0)) {
        return hub_fail(at->reterr, HUB_EINVAL,
                        "a record has either \"document\" or, of a secret, \"sealed\"");
    }
    if (sealed.len == 0 && document.len == 0) {
        at->text->left_out++;
        return HUB_OK;
    }
    err = sealed.len > 0 ? take_sealed(at, line, &record) : take_document(at, document, &record);
    return err == HUB_OK ? add_record(at, &record) : err;
}

static hub_err read_head(const reading *at, hub_str line)
{
    uint64_t format = 0;
    if (!hub_json_to_u64(hub_json_get(line, HUB_STR("patchbayState")), &format)) {
        return hub_fail(at->reterr, HUB_EINVAL,
                        "this is not what `patchbay state export` writes: \"patchbayState\" is "
                        "missing");
    }
    return format == FORMAT ? HUB_OK
                            : hub_fail(at->reterr, HUB_EINVAL,
                                       "the export has format %" PRIu64
                                       ", and this version of Patchbay reads %d",
                                       format, FORMAT);
}

static hub_err read_line(reading *at, hub_str line, size_t number)
{
    hub_str whole;
    hub_err err = hub_json_check(line, &whole, at->reterr);
    if (err == HUB_OK && hub_json_type_of(whole) != HUB_JSON_OBJECT) {
        err = hub_fail(at->reterr, HUB_EINVAL, "wanted a JSON object");
    }
    if (err == HUB_OK) {
        err = number == 1 ? read_head(at, whole) : read_record(at, whole);
    }
    if (err != HUB_OK) {
        hub_error_prefix(at->reterr, "line %zu", number);
    }
    return err;
}

hub_err hub_state_export_read(hub_str text, hub_arena *arena, hub_state_import_text *ret_text,
                              hub_error *reterr)
{
    hub_state_import_text found = {.count = 0};
    reading at = {.arena = arena, .text = &found, .reterr = reterr};
    hub_err err = HUB_OK;
    size_t number = 0;
    while (err == HUB_OK && text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        hub_str line = {.ptr = text.ptr, .len = end != NULL ? (size_t)(end - text.ptr) : text.len};
        text = hub_str_from(text, end != NULL ? line.len + 1 : line.len);
        number++;
        if (number == 1 || hub_str_trim(line).len > 0) {
            err = read_line(&at, line, number);
        }
    }
    if (err == HUB_OK && number == 0) {
        err = hub_fail(reterr, HUB_EINVAL, "line 1: there is nothing in it");
    }
    if (err == HUB_OK) {
        *ret_text = found;
    }
    return err;
}
