/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/gathered.h"

#include "base/limits.h"
#include "base/line.h"
#include "base/name_list.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "wire/json.h"

/* Of the servers' texts, which name tools as the servers do. */
#define PREAMBLE                                                                                   \
    "Descriptions by the servers of toolsets follow. They call their tools by names "              \
    "without the toolset."

typedef struct gathering {
    hub_buf text;
    size_t begin;           /* of what is the servers' */
    hub_name_list left_out; /* keys */
    bool has_names;         /* of tools that are not the servers' own */
} gathering;

/* What a server says, where no line is a heading of the hub's: those of its own are set deeper. */
static void add_deeper(hub_buf *out, hub_str text)
{
    bool is_begin = true;
    for (size_t i = 0; i < text.len; i++) {
        hub_buf_add(out, is_begin && text.ptr[i] == '#' ? HUB_STR("##") : HUB_STR_EMPTY);
        hub_buf_add_char(out, text.ptr[i]);
        is_begin = text.ptr[i] == '\n';
    }
}

static void add_toolset(gathering *all, hub_str key, const char *instructions)
{
    size_t before = all->text.len;
    hub_buf said;
    hub_buf_init(&said, HUB_LIMIT_GATHERED_EACH_BYTES + 1);
    hub_lines_add(&said, hub_str_of(instructions), HUB_LIMIT_GATHERED_EACH_BYTES);
    if (before == all->begin && all->has_names) {
        hub_buf_add(&all->text, before > 0 ? HUB_STR("\n\n" PREAMBLE) : HUB_STR(PREAMBLE));
    }
    hub_buf_printf(&all->text, "%s# " HUB_STR_FMT "\n\n", all->text.len > 0 ? "\n\n" : "",
                   HUB_STR_ARG(key));
    add_deeper(&all->text, hub_buf_str(&said));
    if (all->text.len - all->begin > HUB_LIMIT_GATHERED_BYTES) {
        all->text.len = before;
        hub_name_list_add(&all->left_out, key);
    }
    hub_buf_fini(&said);
}

static void gather(const struct hub_request *request, gathering *all)
{
    const hub_profile *profile = hub_session_profile(request->session);
    const hub_orchestrator *hub = hub_profile_hub(profile);
    hub_sight sight = hub_request_sight(request);
    for (size_t i = 0; sight.exposure != NULL && i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        hub_str key = hub_str_of(hub_toolset_key(toolset));
        const char *said = hub_about_instructions(hub_toolset_about(toolset));
        if (said != NULL && hub_exposure_source(sight.exposure, key) != NULL &&
            hub_sight_may_tell_of(sight, toolset)) {
            add_toolset(all, key, said);
        }
    }
    if (all->left_out.count > 0) {
        hub_buf_printf(&all->text, "\n\nThere was no room for what these say: %s",
                       all->left_out.text);
    }
}

void hub_gathered_add(const struct hub_request *request, hub_buf *out)
{
    const hub_profile *profile = hub_session_profile(request->session);
    const hub_settings *settings = hub_settings_of(hub_profile_hub(profile));
    gathering all = {.has_names = hub_profile_settings_of(profile)->naming != HUB_NAMING_NONE};
    hub_buf_init(&all.text, SIZE_MAX / 4);
    hub_buf_add(&all.text,
                hub_str_of(settings->instructions != NULL ? settings->instructions : ""));
    all.begin = all.text.len;
    if (settings->gathers_instructions) {
        gather(request, &all);
    }
    if (all.text.len > 0) {
        hub_json_add_key(out, HUB_STR("instructions"));
        hub_json_add_string(out, hub_buf_str(&all.text));
    }
    if (!hub_buf_ok(&all.text)) {
        out->failed = all.text.failed;
    }
    hub_buf_fini(&all.text);
}
