/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judgement of definitions: the first byte is the kind, the rest a definition. What it says
 * fits together, and what is left without outputSchema is JSON and is judged as was said.
 */
#include "tools/definition.h"
#include "wire/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void check_rest(hub_str json, const hub_definition *found)
{
    hub_str member = found->output_member;
    hub_str key;
    hub_str value;
    hub_buf rest;
    hub_buf_init(&rest, json.len + 1);
    REQUIRE(member.ptr > json.ptr && member.ptr + member.len < json.ptr + json.len);
    hub_buf_add(&rest, hub_str_between(json.ptr, member.ptr));
    hub_buf_add(&rest, hub_str_between(member.ptr + member.len, json.ptr + json.len));
    REQUIRE(hub_buf_ok(&rest));
    REQUIRE(hub_json_check(hub_buf_str(&rest), &value, NULL) == HUB_OK);
    REQUIRE(hub_json_count(value) + 1 == hub_json_count(json));
    bool is_twice = hub_json_get(value, HUB_STR("outputSchema")).len > 0;
    hub_definition again = hub_definition_check(HUB_KIND_TOOL, value, NULL);
    REQUIRE(is_twice || again.valid == found->valid_without_output);
    hub_json_iter it = hub_json_iterate(member);
    REQUIRE(!hub_json_next(&it, &key, &value));
    hub_buf_fini(&rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str json;
    hub_error why = {.code = HUB_OK};
    if (size == 0 || hub_json_check((hub_str){.ptr = (const char *)data + 1, .len = size - 1},
                                    &json, NULL) != HUB_OK) {
        return 0;
    }
    hub_kind kind = (hub_kind)(data[0] % HUB_KINDS);
    hub_definition found = hub_definition_check(kind, json, &why);
    REQUIRE((found.valid & ~found.valid_without_output) == 0);
    REQUIRE((found.valid_without_output & ~HUB_REVISIONS_EVERY) == 0);
    REQUIRE((found.valid == 0) == (found.valid_without_output == 0));
    REQUIRE((found.valid == 0) == (why.code == HUB_EINVAL && why.text[0] != '\0'));
    if (found.output_member.len > 0) {
        REQUIRE(kind == HUB_KIND_TOOL);
        check_rest(json, &found);
    }
    return 0;
}
