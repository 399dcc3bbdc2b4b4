/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hub thinks of definitions, for check.py: each line of the input is a kind (tools,
 * resources, templates, prompts), a space and a definition; each line of the output is the two
 * masks, where the member outputSchema begins and how long it is, and the reason.
 */
#include "tools/definition.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const KINDS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = "tools",
    [HUB_KIND_RESOURCE] = "resources",
    [HUB_KIND_TEMPLATE] = "templates",
    [HUB_KIND_PROMPT] = "prompts",
};

static bool judge(hub_str line)
{
    size_t space = hub_str_find(line, HUB_STR(" "));
    if (space == SIZE_MAX) {
        return false;
    }
    hub_str word = {.ptr = line.ptr, .len = space};
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_str json;
        hub_error why = {.text = ""};
        if (!hub_str_is(word, KINDS[kind])) {
            continue;
        }
        if (hub_json_check(hub_str_from(line, space), &json, &why) != HUB_OK) {
            (void)fprintf(stderr, "%s\n", why.text);
            return false;
        }
        hub_definition found = hub_definition_check((hub_kind)kind, json, &why);
        size_t at = found.output_member.len > 0 ? (size_t)(found.output_member.ptr - json.ptr) : 0;
        (void)printf("%u %u %zu %zu %s\n", found.valid, found.valid_without_output, at,
                     found.output_member.len, why.text);
        return true;
    }
    return false;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    bool ok = true;
    for (ssize_t len; ok && (len = getline(&line, &size, stdin)) >= 0;) {
        ok = judge(hub_str_trim((hub_str){.ptr = line, .len = (size_t)len}));
    }
    free(line);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
