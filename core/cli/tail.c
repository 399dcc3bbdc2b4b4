/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay tail: calls of a running hub as they begin and end, and what else happens, a line each. */
#include "cli/running.h"

#include "base/limits.h"
#include "tools/suspects.h"
#include "wire/json.h"

#include <stdio.h>
#include <time.h>

enum { WAIT_S = 8, QUERY_BYTES = 64 };

/* What an event must say to be shown: MEMBER=VALUE of the command line. */
static const struct {
    const char *word;
    const char *members[2]; /* any of them */
} FILTERS[] = {
    {"toolset", {"toolset", NULL}},
    {"tool", {"name", NULL}},
    {"principal", {"who", "by"}},
    {"event", {"event", NULL}},
};

enum { FILTER_COUNT = sizeof FILTERS / sizeof FILTERS[0] };

/* ---- choosing -------------------------------------------------------------------------------- */

/* The row that a word of the command line names; FILTER_COUNT: none does. */
static size_t find_filter(const char *word)
{
    size_t at = 0;
    size_t len = strcspn(word, "=");
    while (at < FILTER_COUNT && (strlen(FILTERS[at].word) != len || word[len] != '=' ||
                                 strncmp(FILTERS[at].word, word, len) != 0)) {
        at++;
    }
    return at;
}

static bool fits(hub_str event, const char *word)
{
    const char *value = strchr(word, '=') + 1;
    bool fits = false;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    for (size_t i = 0; !fits && i < 2; i++) {
        const char *member = FILTERS[find_filter(word)].members[i];
        hub_buf_clear(&text);
        fits = member != NULL &&
               hub_json_decode(hub_json_get(event, hub_str_of(member)), &text) == HUB_OK &&
               hub_str_glob(hub_str_of(value), hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return fits;
}

static bool is_wanted(const cli_options *options, hub_str event)
{
    bool is = true;
    for (size_t i = 0; is && i < options->argument_count; i++) {
        is = fits(event, options->arguments[i]);
    }
    return is;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* A member's text, or the value itself; nothing where there is none. */
static void add_value(hub_buf *line, hub_str value)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    if (hub_json_decode(value, &text) != HUB_OK) {
        hub_buf_clear(&text);
        hub_buf_add(&text, value);
    }
    hub_suspects_add_visible(hub_buf_str(&text), line);
    hub_buf_fini(&text);
}

/* In UTC: calls have a number of milliseconds, what the log says a text. */
static void add_time(hub_buf *line, hub_str event)
{
    int64_t ms = 0;
    struct tm at;
    char text[16] = "";
    hub_str said;
    if (hub_json_to_i64(hub_json_get(event, HUB_STR("timeMs")), &ms)) {
        time_t seconds = (time_t)(ms / 1000);
        (void)strftime(text, sizeof text, "%H:%M:%S", gmtime_r(&seconds, &at)); /* has room */
        hub_buf_add(line, hub_str_of(text));
    } else if (hub_json_plain(hub_json_get(event, HUB_STR("time")), &said) && said.len >= 19) {
        hub_buf_add(line, (hub_str){.ptr = said.ptr + 11, .len = 8});
    }
}

/* Every member but those that stand in front. */
static void add_members(hub_buf *line, hub_str event)
{
    hub_json_iter it = hub_json_iterate(event);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (hub_json_string_is(key, HUB_STR("event")) || hub_json_string_is(key, HUB_STR("time")) ||
            hub_json_string_is(key, HUB_STR("timeMs")) ||
            hub_json_string_is(key, HUB_STR("level"))) {
            continue;
        }
        hub_buf_add_char(line, ' ');
        add_value(line, key);
        hub_buf_add_char(line, '=');
        add_value(line, value);
    }
}

static void print_event(const cli_options *options, hub_str event)
{
    hub_buf line;
    if (options->json) {
        cli_print_json(event);
        return;
    }
    hub_buf_init(&line, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    add_time(&line, event);
    hub_buf_add_char(&line, ' ');
    add_value(&line, hub_json_get(event, HUB_STR("event")));
    add_members(&line, event);
    cli_print(hub_buf_str(&line));
    hub_buf_fini(&line);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Print what has come; *next is where it goes on. */
static int take(const cli_options *options, cli_running *hub, uint64_t *next)
{
    char query[QUERY_BYTES];
    hub_buf answer;
    hub_str body;
    hub_str key;
    hub_str event;
    uint64_t missed = 0;
    (void)snprintf(query, sizeof query, "since=%llu&wait=%d", (unsigned long long)*next,
                   *next == 0 ? 0 : WAIT_S); /* has room */
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status =
        cli_running_api(hub, &(cli_api_request){.path = "/events", .query = query}, &answer, &body);
    if (status == EXIT_OK) {
        hub_json_iter it = hub_json_iterate(hub_json_get(body, HUB_STR("events")));
        while (hub_json_next(&it, &key, &event)) {
            if (is_wanted(options, event)) {
                print_event(options, event);
            }
        }
        if (hub_json_to_u64(hub_json_get(body, HUB_STR("missed")), &missed) && missed > 0) {
            cli_complain("%llu events came too fast to be shown", (unsigned long long)missed);
        }
        status =
            hub_json_to_u64(hub_json_get(body, HUB_STR("next")), next) ? EXIT_OK : EXIT_INTERNAL;
        if (fflush(stdout) != 0 || ferror(stdout) != 0) {
            status = EXIT_INTERNAL; /* nobody reads any more */
        }
    }
    hub_buf_fini(&answer);
    return status;
}

int cli_tail(cli_options *options)
{
    cli_running *hub = NULL;
    uint64_t next = 0;
    for (size_t i = 0; i < options->argument_count; i++) {
        if (find_filter(options->arguments[i]) == FILTER_COUNT) {
            cli_complain("\"%s\" chooses nothing: say toolset=KEY, tool=NAME, principal=NAME or "
                         "event=NAME",
                         options->arguments[i]);
            return EXIT_USAGE;
        }
    }
    int status = cli_running_open(options, &hub);
    while (status == EXIT_OK) {
        status = take(options, hub, &next);
    }
    cli_running_close(hub);
    return status;
}
