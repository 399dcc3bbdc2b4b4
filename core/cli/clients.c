/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/clients.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_client CLI_CLIENTS[] = {
    {.name = "claude",
     .title = "Claude Desktop",
     .place = "~c/Claude/claude_desktop_config.json",
     .key = "mcpServers",
     .unit = "ms"},
    {.name = "claude-code",
     .title = "Claude Code",
     .folder = "CLAUDE_CONFIG_DIR",
     .place = ".claude.json",
     .key = "mcpServers",
     .unit = "ms",
     .entry_type = "stdio",
     .has_projects = true},
    {.name = "cline",
     .title = "Cline",
     .place = "~c/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
     .key = "mcpServers",
     .unit = "s",
     .url_type = "sse"},
    {.name = "cursor",
     .title = "Cursor",
     .place = ".cursor/mcp.json",
     .key = "mcpServers",
     .unit = "ms"},
    {.name = "gemini",
     .title = "Gemini CLI",
     .place = ".gemini/settings.json",
     .key = "mcpServers",
     .unit = "ms",
     .url_type = "sse",
     .has_bare_names = true},
    {.name = "lmstudio",
     .title = "LM Studio",
     .place = ".lmstudio/mcp.json",
     .key = "mcpServers",
     .unit = "ms"},
    {.name = "opencode",
     .title = "opencode",
     .place = "~c/opencode/opencode.json",
     .key = "mcp",
     .unit = "ms",
     .entry_type = "local",
     .has_command_list = true,
     .may_be_jsonc = true},
    {.name = "vscode",
     .title = "Visual Studio Code",
     .place = "~c/Code/User/mcp.json",
     .key = "servers",
     .unit = "ms",
     .entry_type = "stdio"},
    {.name = "windsurf",
     .title = "Windsurf",
     .place = ".codeium/windsurf/mcp_config.json",
     .key = "mcpServers",
     .unit = "ms"},
    {.name = "zed",
     .title = "Zed",
     .place = "~c/zed/settings.json",
     .key = "context_servers",
     .unit = "ms"},
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

void cli_name_clients(hub_buf *out)
{
    for (const cli_client *client = CLI_CLIENTS; client->name != NULL; client++) {
        hub_buf_printf(out, "%s%s", client == CLI_CLIENTS ? "" : ", ", client->name);
    }
}

static const char *find_place(const cli_client *client, hub_arena *arena)
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

const char *cli_client_file(const cli_client *client, hub_arena *arena)
{
    const char *file = find_place(client, arena);
    const char *other =
        file != NULL && client->may_be_jsonc ? hub_arena_printf(arena, "%sc", file) : NULL;
    return other != NULL && access(file, F_OK) != 0 && access(other, F_OK) == 0 ? other : file;
}
