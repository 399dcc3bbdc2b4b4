/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the choices of many principals cost: 10,000 exposures, each with other toolsets active, over
 * 100 toolsets of 100 tools of 1 KB, under 20 sets of filters:
 *
 *   build/release/bench/principals
 *
 * prints the memory that they take beyond the first, the processor time for one choice, and for a
 * change of one catalog that half of them show.
 */
#include "base/limits.h"
#include "tools/exposure.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    TOOLSETS = 100,
    TOOLS = 100,
    PRINCIPALS = 10000,
    CLASSES = 20,
    DESCRIPTION_BYTES = 950,
    MOST_MIB = 64,
};

static char keys[TOOLSETS][8];
static uint64_t seed = 20260728;

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(seed >> 33) % below;
}

static double now_us(void)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void must(hub_err err)
{
    if (err != HUB_OK) {
        (void)fprintf(stderr, "principals: %s\n", hub_err_text(err));
        exit(1);
    }
}

static void ignore_drop(void *ctx, hub_str reason)
{
    (void)ctx;
    (void)reason;
}

static hub_catalog *make_catalog(unsigned version)
{
    hub_buf json;
    hub_catalog *catalog = NULL;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    for (unsigned i = 0; i < TOOLS; i++) {
        hub_buf_printf(&json,
                       "%c{\"name\":\"tool%u\",\"description\":\"%u%*s\",\"inputSchema\":{\"type\":"
                       "\"object\"}}",
                       i > 0 ? ',' : '[', i, version, DESCRIPTION_BYTES, "");
    }
    hub_buf_add_char(&json, ']');
    must(hub_catalog_parse(HUB_KIND_TOOL, hub_buf_str(&json), false, ignore_drop, NULL, &catalog,
                           NULL));
    hub_buf_fini(&json);
    return catalog;
}

/* Each class keeps another twentieth of the tools out. */
static void make_rules(hub_policy_rules *rules, hub_filter_rule *filter, const char **glob,
                       char *text, size_t size, unsigned class)
{
    (void)snprintf(text, size, "*:tool%u*", class);
    *glob = text;
    *filter = (hub_filter_rule){.kind = HUB_FILTER_DENY_TOOLS,
                                .values = {.items = glob, .count = 1, .set = true}};
    *rules = (hub_policy_rules){.filters = filter, .filter_count = 1};
}

int main(void)
{
    static hub_source sources[TOOLSETS];
    static hub_exposure *first[CLASSES];
    static hub_exposure *all[PRINCIPALS];
    static hub_policy_rules rules[CLASSES];
    static hub_filter_rule filters[CLASSES];
    static const char *globs[CLASSES];
    static char texts[CLASSES][32];
    const hub_naming_rule naming = {.naming = HUB_NAMING_PREFIX,
                                    .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_base *base = NULL;
    for (unsigned i = 0; i < TOOLSETS; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "k%02u", i);
        sources[i] = (hub_source){.toolset = hub_str_of(keys[i]),
                                  .lists = {[HUB_KIND_TOOL] = make_catalog(0)}};
    }
    must(hub_base_create(&naming, sources, TOOLSETS, NULL, &base, NULL));
    for (unsigned i = 0; i < CLASSES; i++) {
        make_rules(&rules[i], &filters[i], &globs[i], texts[i], sizeof texts[i], i);
        const hub_exposure_rules of = {.policies = {&rules[i], NULL}};
        must(hub_exposure_create(base, &of, sources, TOOLSETS, NULL, NULL, &first[i], NULL));
    }
    size_t before = allocated();
    double begun = now_us();
    for (unsigned i = 0; i < PRINCIPALS; i++) {
        hub_str off[TOOLSETS];
        size_t count = 0;
        for (unsigned k = 0; k < TOOLSETS; k++) {
            if (draw(2) == 0) {
                off[count++] = sources[k].toolset;
            }
        }
        must(hub_exposure_copy(first[i % CLASSES], &all[i]));
        must(hub_exposure_remove(all[i], off, count, NULL));
    }
    double each = (now_us() - begun) / PRINCIPALS;
    double mib = (double)(allocated() - before) / (1024. * 1024.);
    hub_catalog *other = make_catalog(1);
    begun = now_us();
    must(hub_base_update(base, sources[0].toolset, HUB_KIND_TOOL, other, NULL));
    double update = (now_us() - begun) / 1e3;
    (void)printf(
        "%d principals: %.1f MiB beyond one, %.1f us for a choice, %.1f ms for a change of "
        "a catalog that half of them show\n",
        PRINCIPALS, mib, each, update);
    hub_catalog_unref(other);
    for (unsigned i = 0; i < PRINCIPALS; i++) {
        hub_exposure_destroy(all[i]);
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        hub_exposure_destroy(first[i]);
    }
    hub_base_unref(base);
    for (unsigned i = 0; i < TOOLSETS; i++) {
        hub_catalog_unref(sources[i].lists[HUB_KIND_TOOL]);
    }
    return mib <= MOST_MIB ? 0 : 1;
}
