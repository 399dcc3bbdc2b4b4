/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/naming.h"

#include "base/limits.h"

#include <inttypes.h>

enum { SUFFIX_BYTES = 9 }; /* '_' and eight hex digits */

/* NULL: the toolset is not part of the name. */
static const char *const SEPARATORS[] = {[HUB_NAMING_PREFIX] = "__",
                                         [HUB_NAMING_FLAT] = "_",
                                         [HUB_NAMING_DOT] = ".",
                                         [HUB_NAMING_NONE] = NULL};

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool hub_naming_is_char(char c)
{
    return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* '_' for a byte that the mode does not keep. */
static char clean(hub_naming naming, char c)
{
    bool keep = naming == HUB_NAMING_FLAT ? is_alnum(c) || c == '_' : hub_naming_is_char(c);
    return keep ? c : '_';
}

static void add_clean(hub_naming naming, hub_str text, hub_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        hub_buf_add_char(out, clean(naming, text.ptr[i]));
    }
}

static void expose(hub_naming naming, hub_str toolset, hub_str tool, size_t max_bytes, bool suffix,
                   hub_buf *out)
{
    size_t begin = out->len;
    if (SEPARATORS[naming] != NULL) {
        add_clean(naming, toolset, out);
        hub_buf_add(out, hub_str_of(SEPARATORS[naming]));
        size_t prefix_len = out->len - begin;
        if (hub_buf_ok(out) && tool.len > prefix_len &&
            memcmp(tool.ptr, out->ptr + begin, prefix_len) == 0) {
            out->len = begin; /* the tool brings the prefix along */
        }
    }
    add_clean(naming, tool, out);
    if (!hub_buf_ok(out) || (!suffix && out->len - begin <= max_bytes)) {
        return;
    }
    size_t keep = max_bytes > SUFFIX_BYTES ? max_bytes - SUFFIX_BYTES : 0;
    if (out->len - begin > keep) {
        out->len = begin + keep;
    }
    uint64_t hash = hub_str_hash(toolset) * 31 + hub_str_hash(tool);
    hub_buf_printf(out, "_%08" PRIx32, (uint32_t)(hash ^ hash >> 32));
}

hub_err hub_naming_check_key(hub_str key, hub_error *reterr)
{
    if (hub_str_is(key, HUB_META_TOOLSET)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the toolset key \"_meta\" is reserved for the hub's meta-tools");
    }
    bool good = key.len > 0 && key.len <= HUB_LIMIT_TOOLSET_KEY_BYTES && key.ptr[0] >= 'a' &&
                key.ptr[0] <= 'z' && key.ptr[key.len - 1] != '_' &&
                hub_str_find(key, HUB_STR("__")) == SIZE_MAX;
    for (size_t i = 0; good && i < key.len; i++) {
        char c = key.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    }
    if (!good) {
        return hub_fail(reterr, HUB_EINVAL,
                        "\"" HUB_STR_FMT "\" is not a toolset key: use a lower-case letter, then "
                        "up to 63 of a-z, 0-9, '-' and single '_', which must not be the last",
                        HUB_STR_ARG(key));
    }
    return HUB_OK;
}

void hub_naming_expose(hub_naming naming, hub_str toolset, hub_str tool, size_t max_bytes,
                       hub_buf *out)
{
    expose(naming, toolset, tool, max_bytes, false, out);
}

void hub_naming_expose_suffixed(hub_naming naming, hub_str toolset, hub_str tool, size_t max_bytes,
                                hub_buf *out)
{
    expose(naming, toolset, tool, max_bytes, true, out);
}

bool hub_naming_may_be(const hub_naming_rule *rule, hub_str toolset, hub_str exposed)
{
    if (SEPARATORS[rule->naming] == NULL) {
        return true;
    }
    hub_str separator = hub_str_of(SEPARATORS[rule->naming]);
    size_t wanted = toolset.len + separator.len;
    size_t kept = rule->max_name_bytes > SUFFIX_BYTES ? rule->max_name_bytes - SUFFIX_BYTES : 0;
    bool is_cut = exposed.len == rule->max_name_bytes && wanted > kept;
    wanted = is_cut ? kept : wanted;
    if (exposed.len < wanted || (!is_cut && exposed.len == wanted)) {
        return false;
    }
    for (size_t i = 0; i < wanted; i++) {
        char c =
            i < toolset.len ? clean(rule->naming, toolset.ptr[i]) : separator.ptr[i - toolset.len];
        if (exposed.ptr[i] != c) {
            return false;
        }
    }
    return true;
}

void hub_naming_add_key(hub_naming naming, hub_str toolset, hub_buf *out)
{
    add_clean(naming, toolset, out);
}

void hub_naming_canonical(hub_str toolset, hub_str tool, hub_buf *out)
{
    hub_buf_add(out, toolset);
    hub_buf_add_char(out, ':');
    hub_buf_add(out, tool);
}

hub_err hub_naming_split(hub_str reference, hub_str *ret_toolset, hub_str *ret_tool)
{
    size_t at = hub_str_find(reference, HUB_STR("__"));
    if (at == SIZE_MAX || at == 0 || at + 2 == reference.len) {
        return HUB_EINVAL;
    }
    *ret_toolset = (hub_str){.ptr = reference.ptr, .len = at};
    *ret_tool = hub_str_from(reference, at + 2);
    return HUB_OK;
}
