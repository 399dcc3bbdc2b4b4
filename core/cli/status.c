/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay status: what a running hub says of itself, for people. */
#include "cli/running.h"

#include "base/limits.h"
#include "hub/report/status.h"
#include "tools/suspects.h"
#include "wire/json.h"

enum { EXIT_FAILED = 1 }; /* a toolset has failed */

/* ---- printing -------------------------------------------------------------------------------- */

/* Pad the row to a column. At least one space stays between two. */
static void pad(hub_buf *row, size_t column)
{
    do {
        hub_buf_add_char(row, ' ');
    } while (hub_buf_ok(row) && row->len < column);
}

/* A member as text; `none` when it is not there. */
static void add_member(hub_buf *row, hub_str object, const char *name, const char *none)
{
    hub_str value = hub_json_get(object, hub_str_of(name));
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (value.len == 0) {
        hub_buf_add(row, hub_str_of(none));
    } else if (hub_json_decode(value, &text) == HUB_OK) {
        hub_suspects_add_visible(hub_buf_str(&text), row); /* a server has said it */
    } else {
        hub_buf_add(row, value); /* a number */
    }
    hub_buf_fini(&text);
}

/* A time as people say it: 999ms, 59s, 59m, 23h, 4d. */
static void add_duration(hub_buf *row, hub_str milliseconds)
{
    static const struct {
        int64_t ms;
        const char *unit;
    } UNITS[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    int64_t ms = 0;
    if (!hub_json_to_i64(milliseconds, &ms)) {
        hub_buf_add_char(row, '-');
        return;
    }
    size_t i = 0;
    while (i + 1 < sizeof UNITS / sizeof UNITS[0] && ms < UNITS[i].ms) {
        i++;
    }
    hub_buf_printf(row, "%lld%s", (long long)(ms / UNITS[i].ms), UNITS[i].unit);
}

/* How many wait, and how many may: 3/100. A toolset without max_calls has no queue. */
static void add_queue(hub_buf *row, hub_str status)
{
    if (hub_json_get(status, HUB_STR("queueLimit")).len == 0) {
        hub_buf_add_char(row, '-');
        return;
    }
    add_member(row, status, "queued", "-");
    hub_buf_add_char(row, '/');
    add_member(row, status, "queueLimit", "-");
}

enum {
    AT_STATE = 22,
    AT_PID = 33,
    AT_PROTOCOL = 41,
    AT_TOOLS = 52,
    AT_CALLS = 58,
    AT_ERRORS = 66,
    AT_FLIGHT = 73,
    AT_QUEUED = 83,
    AT_REFUSED = 92,
    AT_MEAN = 100,
    AT_MAX = 110,
    AT_RESTARTS = 120,
    AT_AGE = 129,
    AT_LAST_ERROR = 137,
};

static const struct {
    const char *title;
    size_t column;
    const char *member; /* of `status`; NULL: filled in by hand */
} COLUMNS[] = {
    {"STATE", AT_STATE, "state"},
    {"PID", AT_PID, "pid"},
    {"PROTOCOL", AT_PROTOCOL, "protocol"},
    {"TOOLS", AT_TOOLS, "tools"},
    {"CALLS", AT_CALLS, "calls"},
    {"ERRORS", AT_ERRORS, "errors"},
    {"IN FLIGHT", AT_FLIGHT, "inFlight"},
    {"QUEUED", AT_QUEUED, NULL},
    {"REFUSED", AT_REFUSED, "refused"},
    {"MEAN MS", AT_MEAN, NULL},
    {"MAX MS", AT_MAX, NULL},
    {"RESTARTS", AT_RESTARTS, "restarts"},
    {"CATALOG", AT_AGE, NULL},
    {"LAST ERROR", AT_LAST_ERROR, "lastError"},
};

static void print_toolset(hub_str toolset)
{
    hub_str status = hub_json_get(toolset, HUB_STR("status"));
    hub_str latency = hub_json_get(status, HUB_STR("latencyMs"));
    hub_buf row;
    hub_buf_init(&row, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    add_member(&row, toolset, "key", "");
    for (size_t i = 0; i < sizeof COLUMNS / sizeof COLUMNS[0]; i++) {
        size_t column = COLUMNS[i].column;
        pad(&row, column);
        if (COLUMNS[i].member != NULL) {
            add_member(&row, status, COLUMNS[i].member, column == AT_LAST_ERROR ? "" : "-");
        } else if (column == AT_QUEUED) {
            add_queue(&row, status);
        } else if (column == AT_AGE) {
            add_duration(&row, hub_json_get(status, HUB_STR("catalogAgeMs")));
        } else {
            add_member(&row, latency, column == AT_MEAN ? "mean" : "max", "-");
        }
    }
    cli_print(hub_str_trim(hub_buf_str(&row)));
    if (hub_json_get(toolset, HUB_STR("refusedPlugin")).len > 0) {
        hub_buf_clear(&row);
        hub_buf_add(&row, HUB_STR("  "));
        add_member(&row, toolset, "refusedPlugin", "");
        cli_print(hub_buf_str(&row));
    }
    hub_buf_fini(&row);
}

static void print_head(hub_str hub)
{
    hub_buf row;
    hub_buf_init(&row, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    add_member(&row, hub, "name", "");
    hub_buf_add_char(&row, ' ');
    add_member(&row, hub, "version", "");
    hub_buf_add(&row, HUB_STR(", process "));
    add_member(&row, hub, "pid", "-");
    hub_buf_add(&row, HUB_STR(", up "));
    add_duration(&row, hub_json_get(hub, HUB_STR("upMs")));
    hub_buf_add(&row, HUB_STR(", configuration "));
    add_member(&row, hub, "generation", "-");
    hub_buf_add(&row, HUB_STR(", requests in flight "));
    add_member(&row, hub, "inFlight", "-");
    hub_buf_add(&row, HUB_STR(", refused "));
    add_member(&row, hub, "refused", "-");
    hub_buf_add(&row, HUB_STR(", servers "));
    add_member(&row, hub, "servers", "-");
    if (hub_json_get(hub, HUB_STR("serversLimit")).len > 0) {
        hub_buf_add(&row, HUB_STR(" of "));
        add_member(&row, hub, "serversLimit", "-");
    }
    cli_print(hub_buf_str(&row));
    hub_buf_clear(&row);
    hub_str refused = hub_json_get(hub, HUB_STR("refusedReload"));
    if (refused.len > 0) {
        hub_buf_add(&row, HUB_STR("the last reload was refused, "));
        add_duration(&row, hub_json_get(refused, HUB_STR("agoMs")));
        hub_buf_add(&row, HUB_STR(" ago: "));
        add_member(&row, refused, "reason", "the hub's log says why");
        cli_print(hub_buf_str(&row));
        hub_buf_clear(&row);
    }
    hub_buf_add(&row, HUB_STR("TOOLSET"));
    for (size_t i = 0; i < sizeof COLUMNS / sizeof COLUMNS[0]; i++) {
        pad(&row, COLUMNS[i].column);
        hub_buf_add(&row, hub_str_of(COLUMNS[i].title));
    }
    cli_print(hub_buf_str(&row));
    hub_buf_fini(&row);
}

/* ": enabled a,b"; nothing when there are none. */
static void add_names(hub_buf *row, hub_str object, const char *name)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(object, hub_str_of(name)));
    hub_str key;
    hub_str value;
    bool is_first = true;
    while (hub_json_next(&it, &key, &value)) {
        hub_buf_printf(row, "%s%s%s", is_first ? ": " : ",", is_first ? name : "",
                       is_first ? " " : "");
        is_first = false;
        if (hub_json_decode(value, row) != HUB_OK) {
            hub_buf_add(row, value);
        }
    }
}

/* Who sees other toolsets than the profile has. */
static void print_choices(hub_str json)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(json, HUB_STR("choices")));
    hub_str more = hub_json_get(json, HUB_STR("moreChoices"));
    hub_str key;
    hub_str choice;
    hub_buf row;
    hub_buf_init(&row, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    while (hub_json_next(&it, &key, &choice)) {
        hub_str remembered = hub_json_get(choice, HUB_STR("remembered"));
        hub_buf_clear(&row);
        add_member(&row, choice, "principal", "-");
        hub_buf_add(&row, HUB_STR(" in profile "));
        add_member(&row, choice, "profile", "-");
        add_names(&row, choice, "enabled");
        add_names(&row, choice, "disabled");
        if (hub_json_string_is(remembered, HUB_STR("lost"))) {
            hub_buf_add(&row, HUB_STR(" (not remembered: the store could not take it)"));
        } else if (hub_json_string_is(remembered, HUB_STR("unread"))) {
            hub_buf_add(&row, HUB_STR(": the store has not said what it has chosen"));
        } else if (hub_json_string_is(remembered, HUB_STR("no"))) {
            hub_buf_add(&row, HUB_STR(" (not remembered)"));
        }
        cli_print(hub_buf_str(&row));
    }
    if (more.len > 0) {
        hub_buf_clear(&row);
        hub_buf_printf(&row, "and " HUB_STR_FMT " more", HUB_STR_ARG(more));
        cli_print(hub_buf_str(&row));
    }
    hub_buf_fini(&row);
}

/* Print it; EXIT_FAILED when a toolset has failed. */
static int print_status(hub_str json, bool as_json)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(json, HUB_STR("toolsets")));
    hub_str key;
    hub_str toolset;
    int status = EXIT_OK;
    if (as_json) {
        cli_print_json(json);
    } else {
        print_head(hub_json_get(json, HUB_STR("hub")));
    }
    while (hub_json_next(&it, &key, &toolset)) {
        hub_str state = hub_json_get(hub_json_get(toolset, HUB_STR("status")), HUB_STR("state"));
        if (!as_json) {
            print_toolset(toolset);
        }
        if (hub_json_string_is(state, HUB_STR("failed"))) {
            status = EXIT_FAILED;
        }
    }
    if (!as_json) {
        print_choices(json);
    }
    return status;
}

int cli_status(cli_options *options)
{
    const cli_question question = {.method = HUB_STATUS_METHOD, .params = HUB_STR("{}")};
    hub_buf answer;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = cli_running_ask(options, &question, &answer);
    if (status == EXIT_OK) {
        status = print_status(hub_buf_str(&answer), options->json);
    }
    hub_buf_fini(&answer);
    return status;
}
