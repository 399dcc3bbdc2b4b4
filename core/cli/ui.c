/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay ui: a link to the dashboard of a running hub. */
#include "cli/running.h"

#include "base/limits.h"
#include "wire/json.h"

static int print_link(hub_str body)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    bool is_there = hub_json_decode(hub_json_get(body, HUB_STR("url")), &text) == HUB_OK;
    if (is_there) {
        cli_print(hub_buf_str(&text));
    } else {
        cli_complain("the listener with `ui: true` has no fixed port: give it one");
    }
    hub_buf_fini(&text);
    return is_there ? EXIT_OK : EXIT_CONFIG;
}

int cli_ui(cli_options *options)
{
    const cli_api_request request = {.method = "POST", .path = "/invite", .body = HUB_STR("{}")};
    cli_running *hub = NULL;
    hub_buf answer;
    hub_str body;
    hub_buf_init(&answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    int status = cli_running_open(options, &hub);
    if (status == EXIT_OK) {
        status = cli_running_api(hub, &request, &answer, &body);
    }
    if (status == EXIT_OK) {
        status = print_link(body);
    }
    cli_running_close(hub);
    hub_buf_fini(&answer);
    return status;
}
