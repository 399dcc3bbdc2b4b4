/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/clients.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

const cli_client CLI_CLIENTS[] = {
    {"claude", "Claude Desktop", NULL, "~c/Claude/claude_desktop_config.json", "mcpServers", "ms",
     NULL, NULL, false},
    {"claude-code", "Claude Code", "CLAUDE_CONFIG_DIR", ".claude.json", "mcpServers", "ms", NULL,
     "stdio", false},
    {"cline", "Cline", NULL,
     "~c/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
     "mcpServers", "s", "sse", NULL, false},
    {"cursor", "Cursor", NULL, ".cursor/mcp.json", "mcpServers", "ms", NULL, NULL, false},
    {"gemini", "Gemini CLI", NULL, ".gemini/settings.json", "mcpServers", "ms", "sse", NULL, false},
    {"lmstudio", "LM Studio", NULL, ".lmstudio/mcp.json", "mcpServers", "ms", NULL, NULL, false},
    {"opencode", "opencode", NULL, "~c/opencode/opencode.json", "mcp", "ms", NULL, "local", true},
    {"vscode", "Visual Studio Code", NULL, "~c/Code/User/mcp.json", "servers", "ms", NULL, "stdio",
     false},
    {"windsurf", "Windsurf", NULL, ".codeium/windsurf/mcp_config.json", "mcpServers", "ms", NULL,
     NULL, false},
    {"zed", "Zed", NULL, "~c/zed/settings.json", "context_servers", "ms", NULL, NULL, false},
    {.name = NULL},
};

const cli_client *cli_find_client(const char *name)
{
    const cli_client *client = CLI_CLIENTS;
    while (client->name != NULL && strcmp(client->name, name) != 0) {
        client++;
    }
    return client->name != NULL ? client : NULL;
}

const char *cli_client_file(const cli_client *client, hub_arena *arena)
{
    const char *home = getenv("HOME");
    const char *settings = getenv("XDG_CONFIG_HOME");
    const char *own = client->folder != NULL ? getenv(client->folder) : NULL;
    const char *place = client->place;
    if (own != NULL && own[0] == '/') {
        return hub_arena_printf(arena, "%s/%s", own, place);
    }
    bool is_settings = strncmp(place, "~c/", 3) == 0;
    if (is_settings && settings != NULL && settings[0] == '/') {
        return hub_arena_printf(arena, "%s/%s", settings, place + 3);
    }
    if (home == NULL || home[0] != '/') {
        return NULL;
    }
    return is_settings ? hub_arena_printf(arena, "%s/.config/%s", home, place + 3)
                       : hub_arena_printf(arena, "%s/%s", home, place);
}
