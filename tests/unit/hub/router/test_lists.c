/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as bytes: many toolsets, kinds, namings, page sizes, filters and changes, each held against
 * what clients have been told since the first release. */
#include "echo_puppet.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TOOLSETS = 9, ITEMS = 12, LIST_BYTES = 16 * 1024, STEPS = 5 };

static hub_fixture fixture;
static puppet masters[TOOLSETS];
static char lists[TOOLSETS][HUB_KINDS][LIST_BYTES];

static const char *const KEYS[TOOLSETS] = {"git", "a-b",  "a0", "linear",   "docker",
                                           "z",   "mail", "q7", "week-days"};
static const char *const METHODS[HUB_KINDS] = {"tools/list", "resources/list",
                                               "resources/templates/list", "prompts/list"};

/* ---- what the toolsets offer ----------------------------------------------------------------- */

/* Names that no two toolsets share, in an order that is far from sorted. */
static void write_item(char *out, size_t size, hub_kind kind, size_t toolset, size_t item)
{
    static const char *const SEPARATORS[] = {"-", "_", ".", "\\u002d"};
    size_t number = (item * 7 + toolset * 5) % ITEMS;
    const char *separator = SEPARATORS[(toolset + number) % 4];
    switch (kind) {
    case HUB_KIND_TOOL:
        (void)snprintf(out, size,
                       "{\"x\":1.%zu0,\"name\":\"t%zu%s%zu\",\"description\":\"%.*s\","
                       "\"annotations\":{\"readOnlyHint\":%s},\"inputSchema\":{\"type\":"
                       "\"object\"},\"_meta\":{\"ui\":{\"resourceUri\":\"ui://app%zu\"}}}",
                       number, toolset, separator, number, (int)(number * 3),
                       "What it is for, in words of whoever has it.",
                       number % 3 == 0 ? "true" : "false", number % 4);
        break;
    case HUB_KIND_RESOURCE: /* some are offered by several */
        (void)snprintf(out, size, "{\"name\":\"r%zu\",\"uri\":\"%s%zu\",\"y\":[%zu ]}", number,
                       number % 3 == 0 ? "ui://app" : "file:///d",
                       number % 3 == 0 ? number / 3 : number + toolset, toolset);
        break;
    case HUB_KIND_TEMPLATE:
        (void)snprintf(out, size, "{\"uriTemplate\":\"t%zu:{v}\",\"name\":\"%zu of %zu\"}",
                       number + toolset % 2, number, toolset);
        break;
    default:
        (void)snprintf(out, size, "{\"name\":\"p%zu%s%zu\",\"title\":\"\\u0041\"}", toolset,
                       separator, number);
        break;
    }
}

static const char *write_list(hub_kind kind, size_t toolset, size_t count)
{
    char *list = lists[toolset][kind];
    size_t len = (size_t)snprintf(list, LIST_BYTES, "[");
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(list + len, LIST_BYTES - len, "%s", i > 0 ? " ," : "");
        write_item(list + len, LIST_BYTES - len, kind, toolset, i);
        len += strlen(list + len);
    }
    (void)snprintf(list + len, LIST_BYTES - len, "]");
    return list;
}

/* ---- what clients are told ------------------------------------------------------------------- */

static uint64_t digest(uint64_t from, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        from = (from ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    }
    return from;
}

/* What a reply lists of toolsets; the hub's own tools, which come first, are left out. */
static hub_str items_of(const char *reply, hub_kind kind)
{
    static const char *const ENDS[] = {"],\"nextCursor\"", "],\"ttlMs\"", "]}}"};
    const char *from = strstr(reply, "\":[");
    assert_non_null(from);
    const char *end = NULL;
    for (size_t i = 0; end == NULL; i++) {
        end = strstr(from, ENDS[i]);
    }
    from = kind == HUB_KIND_TOOL ? strstr(from, "{\"x\":1.") : from + 3;
    return from != NULL && from < end ? hub_str_between(from, end) : HUB_STR_EMPTY;
}

/* All pages of a list, as if they were one. */
static uint64_t read_list(client *c, hub_kind kind, uint64_t sum)
{
    static const char NEXT[] = "\"nextCursor\":\"";
    char params[1024] = "";
    bool is_last = false;
    for (bool is_first = true; !is_last;) {
        client_clear(c);
        client_request(c, "1", METHODS[kind], params);
        const char *reply = client_wait(c, "1");
        hub_str items = items_of(reply, kind);
        if (items.len > 0) {
            sum = digest(sum, ",", is_first ? 0 : 1);
            sum = digest(sum, items.ptr, items.len);
            is_first = false;
        }
        const char *next = strstr(reply, NEXT);
        is_last = next == NULL;
        if (!is_last) {
            const char *cursor = next + sizeof NEXT - 1;
            const char *end = strchr(cursor, '"');
            (void)snprintf(params, sizeof params, "\"cursor\":\"%.*s\"", (int)(end - cursor),
                           cursor);
        }
    }
    return digest(sum, "\n", 1);
}

static uint64_t read_all(client *c, uint64_t sum)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        sum = read_list(c, (hub_kind)kind, sum);
    }
    return sum;
}

static void set(size_t toolset, hub_kind kind, size_t count)
{
    const puppet_instance *t = masters[toolset].latest;
    assert_int_equal(
        t->catalog->set(t->host, (uint32_t)kind, puppet_str(write_list(kind, toolset, count))),
        PATCHBAY_OK);
}

/* Lists after each of several changes, of a legacy and of a modern client. */
static void run(hub_naming naming, uint32_t page, bool filters, uint64_t sums[STEPS])
{
    static const char *const DENIED[] = {"*:t*_3", "git:*"};
    static const char *const OWN[] = {"t1*", "t3?1", "t3.*"};
    static hub_filter_rule rule = {HUB_FILTER_DENY_TOOLS,
                                   {.items = DENIED, .count = 2, .set = true}};
    fixture_init(&fixture);
    memset(masters, 0, sizeof masters);
    fixture.settings.limits.list_page = page;
    fixture.profiles[0].naming = naming;
    fixture.profiles[0].meta_tools = true;
    for (size_t i = 0; i < TOOLSETS; i++) {
        masters[i].tools = write_list(HUB_KIND_TOOL, i, ITEMS);
        masters[i].resources = write_list(HUB_KIND_RESOURCE, i, ITEMS);
        masters[i].templates = write_list(HUB_KIND_TEMPLATE, i, ITEMS / 2);
        masters[i].prompts = write_list(HUB_KIND_PROMPT, i, ITEMS / 3);
        hub_toolset_settings *toolset = fixture_toolset(&fixture, KEYS[i], &masters[i], i % 3 != 0);
        if (filters && (i == 1 || i == 3)) {
            toolset->tools_allow = (hub_names){.items = OWN, .count = 3, .set = true};
        }
    }
    if (filters) {
        fixture.settings.policy.filters = &rule;
        fixture.settings.policy.filter_count = 1;
        fixture.profiles[0].policy.read_only = true;
    }
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client *m = client_open(&fixture, MODERN);
    for (size_t step = 0; step < STEPS; step++) {
        switch (step) {
        case 1:
            (void)client_ask(c, "9", "disable_toolset", "{\"toolsets\":[\"linear\",\"a-b\"]}");
            break;
        case 2:
            set(4, HUB_KIND_TOOL, 3);
            set(4, HUB_KIND_RESOURCE, 0);
            set(5, HUB_KIND_PROMPT, ITEMS);
            break;
        case 3:
            (void)client_ask(c, "9", "enable_toolset", "{\"toolset\":\"a-b\"}");
            break;
        case 4:
            set(4, HUB_KIND_TOOL, ITEMS);
            set(4, HUB_KIND_RESOURCE, ITEMS);
            (void)client_ask(c, "9", "disable_toolset", "{\"toolset\":\"git\"}");
            break;
        default:
            break;
        }
        sums[step] = read_all(m, read_all(c, UINT64_C(14695981039346656037)));
    }
    fixture_stop(&fixture);
}

static void test_bytes(void **state)
{
    static const struct {
        hub_naming naming;
        bool filters;
        uint64_t sums[STEPS];
    } CASES[] = {
#include "lists.inc"
    };
    static const uint32_t PAGES[] = {1000, 7, 1};
    (void)state;
    for (size_t i = 0; i < 3 * sizeof CASES / sizeof CASES[0]; i++) {
        uint64_t sums[STEPS];
        run(CASES[i / 3].naming, PAGES[i % 3], CASES[i / 3].filters, sums);
        for (size_t step = 0; step < STEPS; step++) {
            if (sums[step] != CASES[i / 3].sums[step]) {
                fail_msg("case %zu, pages of %u, step %zu: 0x%016" PRIx64, i / 3, PAGES[i % 3],
                         step, sums[step]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
