/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/shared_record.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/catalogs/catalog_record.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/shared_document.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/keys.h"
#include "hub/kernel/toolset.h"

static const hub_key *key_of(const hub_toolset *toolset)
{
    return hub_key_at(hub_toolset_hub(toolset), HUB_KEY_CATALOGS, 0);
}

/* By a key: from a digest alone, somebody who reads the store could guess a weak secret of the
 * configuration. */
bool hub_shared_record_name(const hub_toolset *toolset, hub_shared_record *record)
{
    const hub_key *key = key_of(toolset);
    unsigned char mac[HUB_DIGEST_BYTES];
    if (!hub_catalog_record_id(toolset, record->id)) {
        return false;
    }
    hub_hmac(key->bytes, sizeof key->bytes, hub_str_of(record->id), mac);
    hub_digest_hex(mac, record->id);
    return true;
}

bool hub_shared_record_is_heard(const hub_toolset *toolset)
{
    return hub_toolset_state(toolset) == PATCHBAY_STATE_READY ||
           hub_toolset_state(toolset) == PATCHBAY_STATE_CONNECTING;
}

/* ---- taking ---------------------------------------------------------------------------------- */

void hub_shared_record_add_text(const hub_toolset *toolset, const hub_shared_record *record,
                                hub_buf *out)
{
    hub_buf_init(out, HUB_LIMIT_CATALOG_SHARED_BYTES);
    hub_catalog_record_add(toolset, hub_str_of(record->id), 0, out);
}

static bool says(const hub_shared_record *record, hub_str text)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_digest_of(text, digest);
    return memcmp(digest, record->digest, sizeof digest) == 0;
}

/* Whether the toolset has what the store says already. */
static bool has_it(const hub_toolset *toolset, const hub_shared_record *record)
{
    hub_buf text;
    hub_shared_record_add_text(toolset, record, &text);
    bool is_same = hub_buf_ok(&text) && says(record, hub_buf_str(&text));
    hub_buf_fini(&text);
    return is_same;
}

static hub_err adopt(hub_toolset *toolset, const hub_shared_record *record, hub_str text,
                     hub_error *reterr)
{
    hub_catalog_record catalog;
    hub_err err = hub_catalog_file_read(text, hub_str_of(record->id), &catalog, reterr);
    if (err == HUB_OK) {
        catalog.learned_at_ms = record->learned_at_ms;
        err = hub_catalog_record_adopt(toolset, &catalog, true, reterr);
    }
    if (err == HUB_OK) {
        hub_log(HUB_LOG_INFO, "tools.shared.taken", HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_INT("toolCount", hub_toolset_count(toolset, HUB_KIND_TOOL)));
    }
    return err;
}

/* Make what the record says the toolset's, unless that has something as new, or hears it itself. */
static hub_err use(hub_toolset *toolset, const hub_shared_record *record, hub_str text,
                   hub_error *reterr)
{
    toolset_catalogs *part = hub_catalogs_of(toolset);
    bool is_newer = hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL ||
                    record->learned_at_ms > part->learned_at_ms;
    if (!is_newer || hub_shared_record_is_heard(toolset) || part->discovery != NULL) {
        return HUB_OK;
    }
    if (has_it(toolset, record)) {
        part->learned_at_ms = record->learned_at_ms;
        return HUB_OK;
    }
    return adopt(toolset, record, text, reterr);
}

void hub_shared_record_take(hub_toolset *toolset, hub_shared_record *record,
                            const hub_state_record *found)
{
    hub_shared_document document;
    hub_error why;
    record->version = found->version;
    record->is_known = false;
    if (hub_str_is(found->document, HUB_SHARED_ASKING)) {
        return;
    }
    hub_err err = hub_shared_document_read(key_of(toolset), found->document, &document, &why);
    if (err == HUB_OK) {
        int64_t now_ms = hub_clock_wall_ms(); /* a clock that is ahead makes nothing newer */
        hub_digest_of(document.text, record->digest);
        record->learned_at_ms = document.learned_at_ms < now_ms ? document.learned_at_ms : now_ms;
        err = use(toolset, record, document.text, &why);
    }
    record->is_known = err == HUB_OK;
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "tools.shared.ignored",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)), HUB_F_TEXT("record", record->id),
                HUB_F_TEXT("reason", why.text));
    }
}

/* ---- telling --------------------------------------------------------------------------------- */

bool hub_shared_record_is_told(const hub_toolset *toolset, const hub_shared_record *record,
                               hub_str text)
{
    int64_t ttl_ms = (int64_t)hub_settings_of(hub_toolset_hub(toolset))->limits.catalog_ttl_ms;
    int64_t later_ms = hub_catalogs_of(toolset)->learned_at_ms - record->learned_at_ms;
    return record->is_known && says(record, text) && later_ms >= 0 && later_ms < ttl_ms / 2;
}

void hub_shared_record_write(const hub_toolset *toolset, hub_shared_record *record, hub_str text,
                             hub_buf *out)
{
    hub_shared_document document = {.learned_at_ms = hub_catalogs_of(toolset)->learned_at_ms,
                                    .text = text};
    hub_shared_document_write(key_of(toolset), &document, out);
    hub_digest_of(text, record->digest);
    record->learned_at_ms = document.learned_at_ms;
}
