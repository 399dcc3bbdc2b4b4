/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay ui: a link to the dashboard of a running hub. */
#include "cli/running.h"

#include "base/limits.h"
#include "hub/admin/admin.h"
#include "wire/json.h"

/* Print the text of a member; false: there is none. */
static bool say(hub_str object, const char *name, void (*print)(hub_str text))
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    bool is_there = hub_json_decode(hub_json_get(object, hub_str_of(name)), &text) == HUB_OK;
    if (is_there) {
        print(hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return is_there;
}

static void complain(hub_str text)
{
    cli_complain(HUB_STR_FMT, HUB_STR_ARG(text));
}

static int print_link(hub_str answer)
{
    hub_str body = hub_json_get(answer, HUB_STR("body"));
    if (!hub_str_is(hub_json_get(answer, HUB_STR("status")), "200")) {
        (void)say(hub_json_get(body, HUB_STR("error")), "message", complain);
        return EXIT_CONFIG;
    }
    if (!say(body, "url", cli_print)) {
        cli_complain("the listener with `ui: true` has no fixed port: give it one");
        return EXIT_CONFIG;
    }
    return EXIT_OK;
}

int cli_ui(cli_options *options)
{
    const cli_question question = {
        .method = HUB_ADMIN_METHOD,
        .params = HUB_STR("{\"method\":\"POST\",\"path\":\"/api/v1/invite\",\"body\":{}}")};
    hub_buf answer;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = cli_running_ask(options, &question, &answer);
    if (status == EXIT_OK) {
        status = print_link(hub_buf_str(&answer));
    }
    hub_buf_fini(&answer);
    return status;
}
