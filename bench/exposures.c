/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exposures of one base cost (S2.14), with 10,000 tools of 1 KB in one toolset:
 *
 *   build/release/bench/exposures
 *
 * prints the processor time for making the section, for enabling the toolset once its catalog is
 * known (with and without filters), for equipping a saved toolset of 1,000 of its tools, and the
 * memory that 19 further exposures with different masks take, whose lists are all read.
 */
#include "base/limits.h"
#include "tools/definition_digest.h"
#include "tools/exposure.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TOOLS = HUB_LIMIT_TOOLS_PER_TOOLSET, EXPOSURES = 20, ROUNDS = 20, DESCRIPTION_BYTES = 950 };

static const hub_str KEY = {.ptr = "big", .len = 3};

static double now_ms(void)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static void must(hub_err err)
{
    if (err != HUB_OK) {
        (void)fprintf(stderr, "exposures: %s\n", hub_err_text(err));
        exit(1);
    }
}

static void ignore_drop(void *ctx, hub_str reason)
{
    (void)ctx;
    (void)reason;
}

static hub_catalog *make_catalog(void)
{
    hub_buf json;
    hub_catalog *catalog = NULL;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    for (unsigned i = 0; i < TOOLS; i++) {
        hub_buf_printf(
            &json,
            "%c{\"name\":\"tool%u\",\"description\":\"%*s\",\"inputSchema\":{\"type\":\"object\"}}",
            i > 0 ? ',' : '[', i, DESCRIPTION_BYTES, "");
    }
    hub_buf_add_char(&json, ']');
    must(hub_catalog_parse(HUB_KIND_TOOL, hub_buf_str(&json), false, ignore_drop, NULL, &catalog,
                           NULL));
    hub_buf_fini(&json);
    return catalog;
}

static hub_exposure *make_exposure(hub_base *base, const hub_policy_rules *policy,
                                   const hub_source *source, size_t count)
{
    hub_exposure *exposure = NULL;
    const hub_exposure_rules rules = {.policies = {policy, NULL}};
    must(hub_exposure_create(base, &rules, source, count, NULL, NULL, &exposure, NULL));
    return exposure;
}

static void measure_enabling(const char *what, hub_base *base, const hub_policy_rules *policy,
                             const hub_source *source)
{
    hub_exposure *exposure = make_exposure(base, policy, NULL, 0);
    double most = 0;
    double first = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double began = now_ms();
        must(hub_exposure_add(exposure, source, 1, NULL));
        double took = now_ms() - began;
        first = i == 0 ? took : first;
        most = took > most ? took : most;
        must(hub_exposure_remove(exposure, &KEY, 1, NULL));
    }
    (void)printf("enabling, %s: %.3f ms the first time, at most %.3f ms\n", what, first, most);
    hub_exposure_destroy(exposure);
}

/* The selection of a saved toolset of that many tools, each with the digest of its definition. */
static hub_selection *make_selection(hub_catalog *catalog, size_t count)
{
    static hub_selected items[HUB_LIMIT_SAVED_TOOLS];
    hub_selection *selection = NULL;
    for (size_t i = 0; i < count; i++) {
        items[i] = (hub_selected){
            .toolset = KEY, .tool = catalog->items[i * (TOOLS / count)].name, .has_digest = true};
        must(hub_definition_digest(catalog->items[i * (TOOLS / count)].original, items[i].digest));
    }
    must(hub_selection_create(items, count, &selection));
    return selection;
}

static void measure_choosing(hub_base *base, const hub_source *source)
{
    hub_selection *selection = make_selection(source->lists[HUB_KIND_TOOL], HUB_LIMIT_SAVED_TOOLS);
    hub_exposure *exposure = make_exposure(base, NULL, source, 1);
    double first = 0;
    double most = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double began = now_ms();
        must(hub_exposure_choose(exposure, source, 1, selection, NULL));
        double took = now_ms() - began;
        first = i == 0 ? took : first; /* no digest is known yet */
        most = i > 0 && took > most ? took : most;
        must(hub_exposure_choose(exposure, source, 1, NULL, NULL));
    }
    (void)printf("choosing %zu of them: %.3f ms the first time, at most %.3f ms then\n",
                 hub_selection_count(selection), first, most);
    hub_exposure_destroy(exposure);
    hub_selection_unref(selection);
}

/* Read its whole list, in pages. */
static void read_list(hub_exposure *exposure)
{
    hub_shown *shown = hub_exposure_shown(exposure, HUB_KIND_TOOL);
    hub_shown_place from = {.part = 0};
    for (bool is_end = false; !is_end;) {
        hub_shown_page page;
        must(hub_shown_take(shown, from, HUB_LIMIT_LIST_PAGE, &page));
        is_end = page.is_end;
        from = hub_shown_after(shown, page.last->canonical);
        hub_shown_page_fini(&page);
    }
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int main(void)
{
    static const char *const DENIED[] = {"*:tool*7", "*:tool1*"};
    const hub_filter_rule filter = {HUB_FILTER_DENY_TOOLS,
                                    {.items = DENIED, .count = 2, .set = true}};
    const hub_policy_rules filtered = {.filters = &filter, .filter_count = 1, .read_only = false};
    const hub_naming_rule rule = {.naming = HUB_NAMING_PREFIX,
                                  .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_source source = {.toolset = KEY};
    hub_base *base = NULL;
    hub_catalog *catalog = make_catalog();
    must(hub_base_create(&rule, &source, 1, NULL, &base, NULL));
    double began = now_ms();
    must(hub_base_update(base, KEY, HUB_KIND_TOOL, catalog, NULL));
    (void)printf("a section of %d tools: %.3f ms\n", TOOLS, now_ms() - began);
    source.lists[HUB_KIND_TOOL] = catalog;
    measure_enabling("without filters", base, NULL, &source);
    measure_enabling("with filters", base, &filtered, &source);
    measure_choosing(base, &source);
    hub_exposure *exposures[EXPOSURES];
    hub_policy_rules policies[EXPOSURES];
    hub_filter_rule filters[EXPOSURES];
    char globs[EXPOSURES][16];
    const char *items[EXPOSURES];
    size_t before = 0;
    for (unsigned i = 0; i < EXPOSURES; i++) {
        (void)snprintf(globs[i], sizeof globs[i], "*:tool*%u", i);
        items[i] = globs[i];
        filters[i] =
            (hub_filter_rule){HUB_FILTER_DENY_TOOLS, {.items = &items[i], .count = 1, .set = true}};
        policies[i] = (hub_policy_rules){.filters = &filters[i], .filter_count = 1};
        exposures[i] = make_exposure(base, &policies[i], &source, 1);
        read_list(exposures[i]);
        before = i == 0 ? allocated() : before;
    }
    (void)printf("%d exposures: %zd bytes above one; pages that are kept, of all: %zu bytes\n",
                 EXPOSURES, (ssize_t)(allocated() - before), hub_base_kept_bytes(base));
    for (unsigned i = 0; i < EXPOSURES; i++) {
        hub_exposure_destroy(exposures[i]);
    }
    hub_base_unref(base);
    hub_catalog_unref(catalog);
    return 0;
}
