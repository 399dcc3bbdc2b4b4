/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/catalog_record.h"

#include "base/digest.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/kernel/extensions.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/toolset_rules.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- which record ---------------------------------------------------------------------------- */

static void add_part(hub_digest *digest, const char *text)
{
    hub_digest_add(digest, text, strlen(text) + 1); /* with its NUL: no part runs into the next */
}

static_assert((int)HUB_CATALOG_ID_BYTES == HUB_DIGEST_HEX_BYTES, "an id is a digest");

static const hub_module *module_of(const hub_toolset *toolset)
{
    return hub_resolver_find(hub_resolver_of(hub_toolset_hub(toolset)),
                             hub_str_of(hub_toolset_settings_of(toolset)->module));
}

bool hub_catalog_record_is_remote(const hub_toolset *toolset)
{
    hub_str config = hub_str_of(hub_toolset_settings_of(toolset)->config_json);
    return hub_json_get(config, HUB_STR("url")).len > 0;
}

bool hub_catalog_record_is_wanted(const hub_toolset *toolset)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    return settings->cache && !settings->is_per_principal;
}

bool hub_catalog_record_id(const hub_toolset *toolset, char ret_id[HUB_CATALOG_ID_BYTES])
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    const hub_module *module = module_of(toolset);
    unsigned char bytes[HUB_DIGEST_BYTES];
    /* A server on the network does not care where the hub was started. */
    char *directory = module == NULL                          ? NULL
                      : hub_catalog_record_is_remote(toolset) ? strdup("")
                                                              : getcwd(NULL, 0);
    if (directory == NULL) {
        return false;
    }
    hub_digest digest;
    hub_digest_init(&digest);
    add_part(&digest, settings->key);
    add_part(&digest, module->name);
    add_part(&digest, module->table->version);
    add_part(&digest, settings->config_json);
    if (settings->is_isolated) { /* its version is not known */
        hub_digest_add(&digest, &module->hash, sizeof module->hash);
        add_part(&digest, settings->process_json != NULL ? settings->process_json : "");
    }
    add_part(&digest, directory);
    hub_digest_end(&digest, bytes);
    hub_digest_hex(bytes, ret_id);
    free(directory);
    return true;
}

/* ---- making it ------------------------------------------------------------------------------- */

static hub_str list_json(const hub_catalog *list)
{
    return list != NULL ? (hub_str){.ptr = list->bytes, .len = list->len} : HUB_STR_EMPTY;
}

void hub_catalog_record_add(const hub_toolset *toolset, hub_str id, int64_t learned_at_ms,
                            hub_buf *out)
{
    hub_catalog_record record = {
        .id = id,
        .learned_at_ms = learned_at_ms,
        .is_modern = hub_toolset_is_modern(toolset),
        .capabilities = hub_str_of(hub_toolset_capabilities(toolset)->json),
    };
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        record.lists[kind] = list_json(hub_toolset_list(toolset, (hub_kind)kind));
    }
    hub_buf about;
    hub_buf_init(&about, SIZE_MAX / 4);
    hub_about_write(hub_toolset_about(toolset), &about);
    record.about = hub_buf_str(&about);
    hub_catalog_file_write(&record, out);
    hub_buf_fini(&about);
}

/* ---- taking it ------------------------------------------------------------------------------- */

/* What a record says, as a toolset keeps it. */
typedef struct offer {
    hub_catalog *lists[HUB_KINDS];
    hub_capabilities capabilities;
    hub_about about;
} offer;

/* What is left out of lists was logged when they were learnt, too; but by another hub, of which no log
 * may be left. */
static hub_err read_offer(const hub_toolset *toolset, const hub_catalog_record *record,
                          offer *found, hub_error *reterr)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    const hub_module *module = module_of(toolset);
    bool is_native = !settings->is_isolated && module != NULL &&
                     (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0;
    hub_err err = HUB_OK;
    for (int kind = 0; err == HUB_OK && kind < HUB_KINDS; kind++) {
        if (record->lists[kind].len > 0) {
            err = hub_toolset_read_list(settings, is_native, (hub_kind)kind, record->lists[kind],
                                        &found->lists[kind], reterr);
        }
    }
    if (err == HUB_OK && record->capabilities.len > 0) {
        err = hub_extensions_read(record->capabilities, &found->capabilities, NULL);
    }
    if (err == HUB_OK && record->about.len > 0) {
        err = hub_about_read(record->about, &found->about);
    }
    return err;
}

static void drop_offer(offer *found)
{
    hub_capabilities_fini(&found->capabilities);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog_unref(found->lists[kind]);
    }
}

/* Clients that have seen other lists are told. */
static void replace(hub_toolset *toolset, offer *found, bool is_modern)
{
    hub_toolset_suppose_era(toolset, is_modern);
    hub_toolset_set_capabilities(toolset, &found->capabilities);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (found->lists[kind] != NULL || hub_toolset_list(toolset, (hub_kind)kind) != NULL) {
            hub_toolset_set_list(toolset, (hub_kind)kind, found->lists[kind]);
        }
    }
}

hub_err hub_catalog_record_adopt(hub_toolset *toolset, const hub_catalog_record *record,
                                 bool is_news, hub_error *reterr)
{
    offer found = {.lists = {NULL}};
    hub_err err = read_offer(toolset, record, &found, reterr);
    if (err != HUB_OK) {
        drop_offer(&found);
        return err;
    }
    hub_catalogs_of(toolset)->is_recalled = true;
    hub_toolset_set_about(toolset, &found.about);
    if (is_news) {
        replace(toolset, &found, record->is_modern);
    } else {
        hub_toolset_recall(toolset, found.lists, &found.capabilities, record->is_modern);
    }
    hub_catalogs_of(toolset)->learned_at_ms = record->learned_at_ms; /* lists count as of now */
    return HUB_OK;
}
