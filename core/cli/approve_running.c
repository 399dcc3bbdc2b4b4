/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay approve --http or --unix: a hub that runs approves what its servers have told it. */
#include "cli/locking.h"
#include "cli/running.h"

#include "base/limits.h"
#include "tools/pin.h"
#include "wire/json.h"

#include <stdlib.h>

/* What is to be approved. */
typedef struct wanted {
    char *toolset; /* NULL: all */
    const char *tool;
    size_t count; /* of what was shown, or approved */
} wanted;

static bool is_meant(const wanted *of, hub_str change)
{
    bool is = of->toolset == NULL ||
              hub_json_string_is(hub_json_get(change, HUB_STR("toolset")), hub_str_of(of->toolset));
    return is && (of->tool == NULL ||
                  hub_json_string_is(hub_json_get(change, HUB_STR("name")), hub_str_of(of->tool)));
}

/* Append a text; nothing where there is none. */
static void add_decoded(hub_str raw, hub_buf *out)
{
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    if (hub_json_decode(raw, &text) == HUB_OK) {
        hub_buf_add(out, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

/* ---- showing --------------------------------------------------------------------------------- */

/* One side of a change; false: there is none. What is kept is in `text` and `hex`. */
static bool read_side(hub_str change, const char *key, bool is_origin, hub_buf *text, char *hex,
                      hub_lock_entry *ret_entry)
{
    hub_str raw = hub_json_get(change, hub_str_of(key));
    hub_buf scratch;
    if (hub_json_type_of(raw) == HUB_JSON_NULL || raw.len == 0) {
        return false;
    }
    hub_buf_init(&scratch, SIZE_MAX / 4);
    bool is_read = is_origin ? hub_json_decode(raw, text) == HUB_OK
                             : hub_pin_digest(raw, &scratch, hex) == HUB_OK;
    hub_buf_fini(&scratch);
    ret_entry->definition = is_origin ? hub_buf_str(text) : raw;
    ret_entry->digest = hub_str_of(is_origin ? "" : hex);
    return is_read;
}

static void show(wanted *of, hub_str change)
{
    char what[32] = "";
    char hex[2][HUB_DIGEST_HEX_BYTES];
    hub_lock_entry entries[2] = {{.name = HUB_STR_EMPTY}, {.name = HUB_STR_EMPTY}};
    hub_buf texts[4];
    for (size_t i = 0; i < 4; i++) {
        hub_buf_init(&texts[i], HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    }
    hub_str kind;
    if (hub_json_plain(hub_json_get(change, HUB_STR("what")), &kind) && kind.len < sizeof what) {
        memcpy(what, kind.ptr, kind.len);
        what[kind.len] = '\0';
    }
    bool is_origin = strcmp(what, "origin") == 0;
    add_decoded(hub_json_get(change, HUB_STR("toolset")), &texts[0]);
    add_decoded(hub_json_get(change, HUB_STR("name")), &texts[1]);
    entries[0].name = entries[1].name = hub_buf_str(&texts[1]);
    bool has_old = read_side(change, "before", is_origin, &texts[2], hex[0], &entries[0]);
    bool has_now = read_side(change, "now", is_origin, &texts[3], hex[1], &entries[1]);
    cli_lock_print(&of->count, hub_buf_str(&texts[0]), what, has_old ? &entries[0] : NULL,
                   has_now || !has_old ? &entries[1] : NULL);
    for (size_t i = 0; i < 4; i++) {
        hub_buf_fini(&texts[i]);
    }
}

/* ---- approving ------------------------------------------------------------------------------- */

/* One change, as it was when it was told. */
static int approve(cli_running *hub, wanted *of, hub_str change)
{
    hub_str name = hub_json_get(change, HUB_STR("name"));
    hub_str digest = hub_json_get(change, HUB_STR("digest"));
    hub_str ignored;
    hub_buf body;
    hub_buf answer;
    hub_buf_init(&body, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add(&body, HUB_STR("{\"toolset\":"));
    hub_buf_add(&body, hub_json_get(change, HUB_STR("toolset")));
    if (!hub_str_is(name, "\"\"")) {
        hub_buf_add(&body, HUB_STR(",\"tool\":"));
        hub_buf_add(&body, name);
    }
    if (digest.len > 0) {
        hub_buf_add(&body, HUB_STR(",\"digest\":"));
        hub_buf_add(&body, digest);
    }
    hub_buf_add_char(&body, '}');
    const cli_api_request request = {
        .method = "POST", .path = "/approvals", .body = hub_buf_str(&body)};
    int status = cli_running_api(hub, &request, &answer, &ignored);
    of->count += status == EXIT_OK;
    if (status == EXIT_OK) {
        hub_buf_clear(&body);
        hub_buf_add(&body, HUB_STR("approved "));
        add_decoded(hub_json_get(change, HUB_STR("toolset")), &body);
        hub_buf_add(&body, hub_str_is(name, "\"\"") ? HUB_STR_EMPTY : HUB_STR(":"));
        add_decoded(name, &body);
        cli_report(hub_buf_str(&body));
    }
    hub_buf_fini(&answer);
    hub_buf_fini(&body);
    return status;
}

static int run(const cli_options *options, cli_running *hub, wanted *of)
{
    hub_buf answer;
    hub_str body = HUB_STR_EMPTY;
    hub_str key;
    hub_str change;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = cli_running_api(hub, &(cli_api_request){.path = "/approvals"}, &answer, &body);
    hub_json_iter it = hub_json_iterate(hub_json_get(body, HUB_STR("changes")));
    while (status == EXIT_OK && hub_json_next(&it, &key, &change)) {
        if (is_meant(of, change) && options->diff) {
            show(of, change);
        } else if (is_meant(of, change)) {
            status = approve(hub, of, change);
        }
    }
    if (status == EXIT_OK && of->count == 0) {
        cli_print(
            HUB_STR("nothing to approve: all that the hub knows of is as the lock file has it"));
    }
    hub_buf_fini(&answer);
    return status;
}

int cli_approve_running(cli_options *options)
{
    wanted of = {.count = 0};
    cli_running *hub = NULL;
    int status = cli_read_scope(options, &of.toolset, &of.tool);
    status = status == EXIT_OK ? cli_running_open(options, &hub) : status;
    status = status == EXIT_OK ? run(options, hub, &of) : status;
    cli_running_close(hub);
    free(of.toolset);
    return status;
}
