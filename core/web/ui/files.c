/* SPDX-License-Identifier: Apache-2.0 */
#include "web/ui/files.h"

/* PATCHBAY_WEB_DIR is where the files are while the program is built. */
#define FILE_BYTES(symbol, file)                                                                   \
    __asm__(".section .rodata\n"                                                                   \
            ".global hub_web_" #symbol "\n"                                                        \
            ".global hub_web_" #symbol "_end\n"                                                    \
            "hub_web_" #symbol ":\n"                                                               \
            ".incbin \"" PATCHBAY_WEB_DIR "/" file "\"\n"                                          \
            "hub_web_" #symbol "_end:\n"                                                           \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern const char hub_web_##symbol[];                                                          \
    extern const char hub_web_##symbol##_end[]

FILE_BYTES(index, "index.html");
FILE_BYTES(app, "app.js");
FILE_BYTES(dom, "dom.js");
FILE_BYTES(api, "api.js");
FILE_BYTES(overview, "overview.js");
FILE_BYTES(tools, "tools.js");
FILE_BYTES(live, "live.js");
FILE_BYTES(saved, "saved.js");
FILE_BYTES(approvals, "approvals.js");
FILE_BYTES(logins, "logins.js");
FILE_BYTES(people, "people.js");
FILE_BYTES(configuration, "configuration.js");
FILE_BYTES(connect, "connect.js");
FILE_BYTES(style, "style.css");
FILE_BYTES(icon, "icon.svg");

static const hub_web_file FILES[] = {
    {"", "text/html; charset=utf-8", hub_web_index, hub_web_index_end},
    {"app.js", "text/javascript; charset=utf-8", hub_web_app, hub_web_app_end},
    {"dom.js", "text/javascript; charset=utf-8", hub_web_dom, hub_web_dom_end},
    {"api.js", "text/javascript; charset=utf-8", hub_web_api, hub_web_api_end},
    {"overview.js", "text/javascript; charset=utf-8", hub_web_overview, hub_web_overview_end},
    {"tools.js", "text/javascript; charset=utf-8", hub_web_tools, hub_web_tools_end},
    {"live.js", "text/javascript; charset=utf-8", hub_web_live, hub_web_live_end},
    {"saved.js", "text/javascript; charset=utf-8", hub_web_saved, hub_web_saved_end},
    {"approvals.js", "text/javascript; charset=utf-8", hub_web_approvals, hub_web_approvals_end},
    {"logins.js", "text/javascript; charset=utf-8", hub_web_logins, hub_web_logins_end},
    {"people.js", "text/javascript; charset=utf-8", hub_web_people, hub_web_people_end},
    {"configuration.js", "text/javascript; charset=utf-8", hub_web_configuration,
     hub_web_configuration_end},
    {"connect.js", "text/javascript; charset=utf-8", hub_web_connect, hub_web_connect_end},
    {"style.css", "text/css; charset=utf-8", hub_web_style, hub_web_style_end},
    {"icon.svg", "image/svg+xml", hub_web_icon, hub_web_icon_end},
};

const hub_web_file *hub_web_file_find(hub_str name)
{
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        if (hub_str_is(name, FILES[i].name)) {
            return &FILES[i];
        }
    }
    return NULL;
}
