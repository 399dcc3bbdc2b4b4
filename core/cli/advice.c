/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/advice.h"

#include "base/buf.h"
#include "base/name_list.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "tools/naming.h"
#include "wire/json.h"

/* Contested names that are told one by one; of more, how many there are. */
enum { MOST_CONTESTED = 20, SHOWN_BYTES = 400 };

/* What model APIs refuse at the top of an input schema. */
static const char *const REFUSED[] = {"oneOf", "anyOf", "allOf", "enum", "not"};
/* … and the longest name of an argument that they take. */
enum { ARGUMENT_BYTES = 64 };

typedef struct adviser {
    hub_advice_on_line *on_line;
    void *ctx;
    const char *profile;
    size_t contested;
} adviser;

static void tell(const adviser *to, hub_buf *line)
{
    hub_buf_add_char(line, '\0');
    if (hub_buf_ok(line)) {
        to->on_line(to->ctx, line->ptr);
    }
    hub_buf_fini(line);
}

static hub_str cut(hub_str text)
{
    return (hub_str){.ptr = text.ptr, .len = text.len < SHOWN_BYTES ? text.len : SHOWN_BYTES};
}

/* ---- names ----------------------------------------------------------------------------------- */

static void on_contested(void *ctx, hub_kind kind, hub_str name, hub_str wanted_by)
{
    adviser *to = ctx;
    if (to->contested++ >= MOST_CONTESTED) {
        return;
    }
    hub_buf line;
    hub_buf_init(&line, 2048);
    hub_buf_printf(&line,
                   "profile \"%s\": the %s name \"" HUB_STR_FMT
                   "\" belongs to nobody, because several want it: " HUB_STR_FMT
                   "%s; each has its prefixed name instead",
                   to->profile, hub_kind_noun(kind, 1), HUB_STR_ARG(cut(name)),
                   HUB_STR_ARG(cut(wanted_by)), wanted_by.len > SHOWN_BYTES ? "…" : "");
    tell(to, &line);
}

/* Whether a profile before this one has the same names. */
static bool was_told(const hub_orchestrator *hub, size_t at)
{
    const hub_exposure *own = hub_profile_exposure(hub_profile_at(hub, at));
    bool was_told = false;
    for (size_t i = 0; own != NULL && i < at; i++) {
        const hub_exposure *other = hub_profile_exposure(hub_profile_at(hub, i));
        was_told =
            was_told || (other != NULL && hub_exposure_base(other) == hub_exposure_base(own));
    }
    return was_told;
}

static void advise_on_names(const hub_profile *profile, adviser *to)
{
    const hub_exposure *exposure = hub_profile_exposure(profile);
    to->profile = hub_profile_name(profile);
    to->contested = 0;
    if (exposure != NULL &&
        !hub_base_list_contested(hub_exposure_base(exposure), on_contested, to)) {
        to->on_line(to->ctx, "out of memory: contested names are not looked for");
    }
    if (to->contested > MOST_CONTESTED) {
        hub_buf line;
        hub_buf_init(&line, 512);
        bool is_one = to->contested == MOST_CONTESTED + 1;
        hub_buf_printf(&line, "profile \"%s\": %zu more %s to nobody", to->profile,
                       to->contested - MOST_CONTESTED, is_one ? "name belongs" : "names belong");
        tell(to, &line);
    }
}

/* ---- schemas --------------------------------------------------------------------------------- */

static bool is_refused(hub_str schema)
{
    bool is_refused = false;
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        is_refused = is_refused || hub_json_get(schema, hub_str_of(REFUSED[i])).len > 0;
    }
    return is_refused;
}

/* Whether an argument has a name that is not of letters, digits, "_", "." and "-". */
static bool has_odd_arguments(hub_str schema)
{
    hub_str key;
    hub_str value;
    bool is_odd = false;
    hub_str properties = hub_json_get(schema, HUB_STR("properties"));
    for (hub_json_iter it = hub_json_iterate(properties); hub_json_next(&it, &key, &value);) {
        hub_str name;
        bool is_good = hub_json_plain(key, &name) && name.len > 0 && name.len <= ARGUMENT_BYTES;
        for (size_t i = 0; is_good && i < name.len; i++) {
            is_good = hub_naming_is_char(name.ptr[i]);
        }
        is_odd = is_odd || !is_good;
    }
    return is_odd;
}

static void tell_of_schemas(const hub_toolset *toolset, const hub_name_list *names,
                            const char *trouble, const adviser *to)
{
    if (names->count == 0) {
        return;
    }
    hub_buf line;
    hub_buf_init(&line, 2048);
    hub_buf_printf(&line,
                   "toolset \"%s\": clients may drop %s whose input schema has %s, because model "
                   "APIs refuse that: %s",
                   hub_toolset_key(toolset), hub_kind_noun(HUB_KIND_TOOL, names->count), trouble,
                   names->text);
    tell(to, &line);
}

static void advise_on_schemas(const hub_toolset *toolset, const adviser *to)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    hub_name_list refused = {.count = 0};
    hub_name_list odd = {.count = 0};
    for (size_t i = 0; tools != NULL && i < tools->count; i++) {
        hub_str schema = hub_json_get(tools->items[i].json, HUB_STR("inputSchema"));
        if (is_refused(schema)) {
            hub_name_list_add(&refused, tools->items[i].name);
        }
        if (has_odd_arguments(schema)) {
            hub_name_list_add(&odd, tools->items[i].name);
        }
    }
    tell_of_schemas(toolset, &refused,
                    "oneOf, anyOf, allOf, enum or not at the top (an override with `flat: true` "
                    "leaves these out)",
                    to);
    tell_of_schemas(toolset, &odd,
                    "an argument whose name is not 1 to 64 letters, digits, \"_\", \".\" and \"-\"",
                    to);
}

void hub_advice_give(const hub_orchestrator *hub, hub_advice_on_line *on_line, void *ctx)
{
    adviser to = {.on_line = on_line, .ctx = ctx};
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        if (!was_told(hub, i)) {
            advise_on_names(hub_profile_at(hub, i), &to);
        }
    }
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        advise_on_schemas(hub_toolset_at(hub, i), &to);
    }
}
