/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover-all-tools: every tool of every toolset, whatever is enabled or equipped (REQUIREMENTS S3.26
 * to S3.29), as far as the caller may see it.
 */
#include "base/limits.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/meta/page.h"
#include "hub/saved/ask.h"
#include "hub/saved/tools.h"
#include "tools/definition_digest.h"

#include <stdlib.h>

typedef struct discovery {
    hub_meta_page page;
    bool has_refs;
    hub_buf scratch;
    size_t total;
} discovery;

static void add_tool(discovery *all, const hub_shown_part *tools, const hub_entry *entry)
{
    hub_buf *out = all->page.out;
    hub_meta_page_entry(&all->page);
    hub_buf_add(out, HUB_STR("{\"id\":"));
    hub_json_add_string(out, entry->canonical);
    hub_json_add_key(out, HUB_STR("name"));
    hub_json_add_string(out, entry->exposed);
    hub_buf_clear(&all->scratch);
    hub_meta_page_add_tool_text(entry->item, HUB_LIMIT_TOOL_SUMMARY_BYTES, &all->scratch);
    if (all->scratch.len > 0) {
        hub_json_add_key(out, HUB_STR("description"));
        hub_json_add_string(out, hub_buf_str(&all->scratch));
    }
    const unsigned char *digest =
        all->has_refs ? hub_catalog_digest(tools->section->catalog, entry->item) : NULL;
    if (digest != NULL) {
        char hex[HUB_DIGEST_HEX_BYTES];
        hub_digest_hex(digest, hex);
        hub_buf_printf(out, ",\"refId\":\"%s\"", hex);
    }
    hub_buf_add_char(out, '}');
}

static bool is_for_caller(const discovery *all, const hub_shown_part *tools, size_t at)
{
    return hub_mask_has(tools->bits, at) &&
           hub_sight_tells_of(all->page.sight, tools->section->entries[at].item);
}

static void add_toolset(discovery *all, hub_toolset *toolset)
{
    hub_shown_part tools = {.section = NULL};
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    if (!hub_exposure_tools_of(all->page.sight.exposure, key, &tools)) {
        return;
    }
    for (size_t i = 0; i < tools.section->count; i++) {
        const hub_entry *entry = &tools.section->entries[i];
        if (!is_for_caller(all, &tools, i)) {
            continue;
        }
        all->total++;
        if (!all->page.is_full && hub_meta_page_is_behind(&all->page, entry->canonical) &&
            hub_meta_page_goes_to(&all->page, entry->canonical) &&
            hub_meta_page_matches_tool(&all->page, entry, &all->scratch)) {
            add_tool(all, &tools, entry);
        }
    }
}

/* Places are canonical ids, so toolsets come in the order of "key:". */
static int compare(const void *a, const void *b)
{
    const char *left = hub_toolset_key(*(hub_toolset *const *)a);
    const char *right = hub_toolset_key(*(hub_toolset *const *)b);
    while (*left != '\0' && *left == *right) {
        left++;
        right++;
    }
    return (unsigned char)(*left != '\0' ? *left : ':') -
           (unsigned char)(*right != '\0' ? *right : ':');
}

/* Which servers could not say what they have. */
static void add_silent(const discovery *all, hub_toolset *const *toolsets, size_t count)
{
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        if (hub_saved_is_silent(all->page.sight, toolsets[i])) {
            hub_buf_add(all->page.out, is_first ? HUB_STR(",\"unavailable\":[") : HUB_STR(","));
            hub_json_add_string(all->page.out, hub_str_of(hub_toolset_key(toolsets[i])));
            is_first = false;
        }
    }
    hub_buf_add(all->page.out, is_first ? HUB_STR_EMPTY : HUB_STR("]"));
}

static hub_err list_all(discovery *all, hub_error *reterr)
{
    const hub_orchestrator *hub = all->page.hub;
    size_t count = 0;
    hub_toolset **toolsets = calloc(hub_toolset_total(hub) + 1, sizeof(hub_toolset *));
    if (toolsets == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        if (hub_sight_may_tell_of(all->page.sight, hub_toolset_at(hub, i))) {
            toolsets[count++] = hub_toolset_at(hub, i);
        }
    }
    if (count > 0) {
        qsort(toolsets, count, sizeof(hub_toolset *), compare);
    }
    hub_buf_add_char(all->page.out, '{');
    hub_meta_page_open(&all->page, "tools");
    for (size_t i = 0; i < count; i++) {
        add_toolset(all, toolsets[i]);
    }
    hub_meta_page_close(&all->page);
    hub_buf_printf(all->page.out, ",\"totalTools\":%zu", all->total);
    add_silent(all, toolsets, count);
    hub_buf_add_char(all->page.out, '}');
    free(toolsets);
    return HUB_OK;
}

static void answer(hub_call *call, hub_str arguments)
{
    enum { USUAL = 100 };
    hub_error why = {.code = HUB_OK};
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    discovery all = {.page = {.name = {"discover-all-tools"}}};
    hub_buf_init(&all.scratch, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    all.has_refs = hub_json_type_of(hub_json_get(arguments, HUB_STR("refs"))) == HUB_JSON_TRUE;
    hub_err err = hub_meta_page_begin(&all.page, call, arguments, USUAL, &out, &why);
    if (err == HUB_OK) {
        err = list_all(&all, &why);
    }
    hub_meta_page_fini(&all.page);
    hub_buf_fini(&all.scratch);
    if (err == HUB_OK) {
        hub_meta_reply(call, &out, false);
    } else {
        hub_buf_fini(&out);
        hub_meta_reply_failure(call, err, why.text);
    }
}

static void on_asked(hub_call *call, void *ctx)
{
    char *arguments = ctx;
    if (call != NULL) {
        answer(call, hub_str_of(arguments));
    }
    free(arguments);
}

void saved_discover(hub_call *call, const hub_way *way)
{
    char *arguments = hub_str_dup(way->arguments);
    if (arguments == NULL) {
        hub_meta_reply_failure(call, HUB_ENOMEM, "out of memory");
        return;
    }
    hub_saved_ask(call, way->message->at[HUB_M_META], on_asked, arguments);
}
