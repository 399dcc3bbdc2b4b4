# SPDX-License-Identifier: Apache-2.0
"""Thirty configuration files of eight programs, as their users have them, and what import makes of each.

(program, text of the file, {key: entry of the manifest}, [what is said, each with what to do])
"""

FS = ["-y", "@modelcontextprotocol/server-filesystem"]

FILES = [
    # ---- Claude Desktop
    ("claude", """{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop", "/home/me/Downloads"]
    }
  }
}
""", {"filesystem": {"command": "npx", "args": [*FS, "/home/me/Desktop", "/home/me/Downloads"]}}, []),
    ("claude", """{
    "mcpServers": {
        "github": {
            "command": "docker",
            "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
            "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "<YOUR_TOKEN>"}
        }
    },
    "globalShortcut": "Ctrl+Space"
}""", {"github": {"command": "docker", "args": [
        "run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
        "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "<YOUR_TOKEN>"}}}, []),
    ("claude", '{"mcpServers":{"postgres":{"command":"npx","args":["-y","@modelcontextprotocol/server-postgres",'
               '"postgresql://localhost/mydb"]},"sqlite":{"command":"uvx","args":["mcp-server-sqlite","--db-path","~/test.db"]}}}',
     {"postgres": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://localhost/mydb"]},
      "sqlite": {"command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "~/test.db"]}}, []),
    ("claude", """{
  "mcpServers": {
    "linear": {"command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.example/sse"]},
    "Weather Service": {"command": "uv", "args": ["--directory", "/src/weather", "run", "weather.py"]},
    "broken": {"args": ["-y"]}
  }
}""", {"linear": {"command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.example/sse"]},
       "weather-service": {"command": "uv", "args": ["--directory", "/src/weather", "run", "weather.py"]}},
     ['left out: "broken" is not a server: it has no "command" and no "url"']),
    # ---- Claude Code
    ("claude-code", """{
  "numStartups": 12,
  "mcpServers": {
    "sentry": {"type": "http", "url": "https://mcp.sentry.example/mcp"},
    "asana": {"type": "sse", "url": "https://mcp.asana.example/sse"}
  },
  "projects": {"/home/me/x": {"mcpServers": {}}}
}""", {"sentry": {"url": "https://mcp.sentry.example/mcp"}, "asana": {"type": "sse", "url": "https://mcp.asana.example/sse"}}, []),
    ("claude-code", """{"mcpServers": {"api-server": {"type": "http", "url": "${API_BASE_URL:-https://api.example.com}/mcp",
        "headers": {"Authorization": "Bearer ${API_KEY}"}}}}""",
     {"api-server": {"url": "${API_BASE_URL:-https://api.example.com}/mcp", "headers": {"Authorization": "Bearer ${API_KEY}"}}}, []),
    ("claude-code", """{"mcpServers": {"airtable": {"type": "stdio", "command": "npx", "args": ["-y", "airtable-mcp-server"],
        "env": {"AIRTABLE_API_KEY": "${AIRTABLE_API_KEY}"}}, "hub": {"command": "/usr/bin/patchbay", "args": ["serve"]}}}""",
     {"airtable": {"command": "npx", "args": ["-y", "airtable-mcp-server"], "env": {"AIRTABLE_API_KEY": "${AIRTABLE_API_KEY}"}}},
     ['left out: "hub" is this hub']),
    ("claude-code", """{"mcpServers": {"db": {"type": "stdio", "command": "npx", "args": [], "env": {}, "oauth": {"clientId": "x"}}}}""",
     {"db": {"command": "npx", "args": [], "env": {}}}, ['"oauth" is not taken over: the hub has nothing like it']),
    # ---- Cursor
    ("cursor", """{
  "mcpServers": {
    "context7": {"url": "https://mcp.context7.example/mcp", "headers": {"CONTEXT7_API_KEY": "KEY"}},
    "playwright": {"command": "npx @playwright/mcp@latest"}
  }
}""", {"context7": {"url": "https://mcp.context7.example/mcp", "headers": {"CONTEXT7_API_KEY": "KEY"}},
       "playwright": {"command": "npx", "args": ["@playwright/mcp@latest"]}}, []),
    ("cursor", """{
  // Figma runs here
  "mcpServers": {
    "Figma": {"url": "http://127.0.0.1:3845/sse"},
    "supabase": {
      "command": "npx",
      "args": ["-y", "@supabase/mcp-server-supabase@latest", "--read-only", "--project-ref=${env:SUPABASE_REF}"],
      "env": {"SUPABASE_ACCESS_TOKEN": "${env:SUPABASE_ACCESS_TOKEN}"},
    },
  },
}""", {"figma": {"url": "http://127.0.0.1:3845/sse"},
       "supabase": {"command": "npx", "args": ["-y", "@supabase/mcp-server-supabase@latest", "--read-only",
                                               "--project-ref=${env:SUPABASE_REF}"],
                    "env": {"SUPABASE_ACCESS_TOKEN": "${env:SUPABASE_ACCESS_TOKEN}"}}}, []),
    ("cursor", """{"mcpServers": {"tools": {"type": "stdio", "command": "${userHome}/bin/tools", "args": ["${workspaceFolder}${/}src"],
        "envFile": "${userHome}/.tools.env", "env": {"MODE": "fast"}}}}""",
     {}, ["which the hub does not have: write the folder"]),
    ("cursor", """{"mcpServers": {"tools": {"command": "tools", "envFile": "${userHome}/.tools.env", "env": {"MODE": "fast"}}}}""",
     {"tools": {"command": "tools", "env": {"TOKEN": "a$$b", "NAME": "two words", "MODE": "fast"}}},
     ["are written into the manifest as they are now"]),
    # ---- Visual Studio Code
    ("vscode", """{
  "inputs": [{"type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true}],
  "servers": {
    "Perplexity": {"type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"],
                   "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}"}}
  }
}""", {"perplexity": {"command": "npx", "args": ["-y", "server-perplexity-ask"],
                      "env": {"PERPLEXITY_API_KEY": "${secret:perplexity-key}"}}}, ["patchbay secret set perplexity-key"]),
    ("vscode", """{"servers": {"github": {"type": "http", "url": "https://api.githubcopilot.example/mcp/",
        "headers": {"Authorization": "Bearer ${input:github_mcp_pat}"}, "gallery": "https://x.example", "version": "1.0.0"}},
        "inputs": [{"type": "promptString", "id": "github_mcp_pat", "description": "PAT"}]}""",
     {"github": {"url": "https://api.githubcopilot.example/mcp/", "headers": {"Authorization": "Bearer ${GITHUB_MCP_PAT}"}}},
     ["set the variable ${GITHUB_MCP_PAT} for the hub"]),
    ("vscode", """{"servers": {"pg": {"command": "docker", "args": ["run", "-i", "--rm", "mcp/postgres", "${input:pg_url}"]}},
        "inputs": [{"type": "promptString", "id": "pg_url", "default": "postgresql://host/mydb"}]}""",
     {"pg": {"command": "docker", "args": ["run", "-i", "--rm", "mcp/postgres", "${PG_URL:-postgresql://host/mydb}"]}},
     ["set the variable ${PG_URL} for the hub, unless its default is good"]),
    ("vscode", """{"servers": {"fetch": {"command": "uvx", "args": ["mcp-server-fetch"], "dev": {"watch": "src/**/*.ts"}},
        "memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "cwd": "${workspaceFolder}"},
        "ask": {"command": "x", "args": ["${command:extension.pick}"]}}}""",
     {"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}},
     ['"memory" asks for ${workspaceFolder}', '"ask" asks for ${command:extension.pick}']),
    # ---- Zed
    ("zed", """// Zed settings
{
  "ui_font_size": 16,
  "context_servers": {
    "postgres-context-server": {"command": {"path": "npx", "args": ["-y", "pg-mcp"], "env": {"DATABASE_URL": "x"}}, "settings": {}}
  }
}""", {"postgres-context-server": {"command": "npx", "args": ["-y", "pg-mcp"], "env": {"DATABASE_URL": "x"}}}, []),
    ("zed", """{"context_servers": {"local": {"source": "custom", "command": "some-command", "args": ["arg-1"], "env": {}},
        "remote": {"source": "custom", "url": "https://remote.example/mcp", "headers": {"Authorization": "Bearer t"}}}}""",
     {"local": {"command": "some-command", "args": ["arg-1"], "env": {}},
      "remote": {"url": "https://remote.example/mcp", "headers": {"Authorization": "Bearer t"}}}, []),
    ("zed", """{"context_servers": {"from-extension": {"source": "extension", "settings": {"a": 1}, "enabled": true}}}""",
     {}, ['left out: "from-extension" is not a server']),
    # ---- opencode
    ("opencode", """{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "everything": {"type": "local", "command": ["npx", "-y", "@modelcontextprotocol/server-everything"], "enabled": true,
                   "environment": {"MY_ENV_VAR": "v"}}
  }
}""", {"everything": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"], "enabled": True,
                      "env": {"MY_ENV_VAR": "v"}}}, []),
    ("opencode", """{"mcp": {"jira": {"type": "remote", "url": "https://jira.example.com/mcp", "enabled": false},
        "grep": {"type": "remote", "url": "https://mcp.grep.example", "headers": {"K": "{env:K}"}}}}""",
     {"jira": {"url": "https://jira.example.com/mcp", "enabled": False},
      "grep": {"url": "https://mcp.grep.example", "headers": {"K": "${env:K}"}}}, []),
    ("opencode", """{"mcp": {"slow": {"type": "local", "command": ["bun", "x", "slow"], "timeout": 10000}, "off": {"enabled": false}}}""",
     {"slow": {"command": "bun", "args": ["x", "slow"], "timeout": "10000ms"}}, ['left out: "off" is not a server']),
    # ---- Cline
    ("cline", """{
  "mcpServers": {
    "time": {"command": "uvx", "args": ["mcp-server-time"], "alwaysAllow": ["now"], "disabled": false, "timeout": 30}
  }
}""", {"time": {"command": "uvx", "args": ["mcp-server-time"], "disabled": False, "timeout": "30s"}}, []),
    ("cline", """{"mcpServers": {"remote": {"url": "https://r.example/sse", "headers": {"Authorization": "Bearer t"},
        "autoApprove": [], "disabled": true}, "http": {"type": "streamableHttp", "url": "https://h.example/mcp"}}}""",
     {"remote": {"type": "sse", "url": "https://r.example/sse", "headers": {"Authorization": "Bearer t"}, "disabled": True},
      "http": {"url": "https://h.example/mcp"}}, []),
    ("cline", """{"mcpServers": {"github.com/upstash/context7-mcp": {"command": "npx", "args": ["-y", "@upstash/context7-mcp@latest"],
        "transportType": "stdio", "timeout": 3600}}}""",
     {"github-com-upstash-context7-mcp": {"command": "npx", "args": ["-y", "@upstash/context7-mcp@latest"], "timeout": "3600s"}}, []),
    ("cline", """{"mcpServers": {"win": {"command": "cmd", "args": ["/c", "npx", "-y", "x"]}, "n": null, "l": ["x"]}}""",
     {"win": {"command": "cmd", "args": ["/c", "npx", "-y", "x"]}},
     ['left out: "n" is not a server: wanted a map', 'left out: "l" is not a server: wanted a map']),
    # ---- Windsurf
    ("windsurf", """{
  "mcpServers": {
    "figma": {"serverUrl": "https://figma.example/sse"},
    "google-maps": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-google-maps"], "env": {"GOOGLE_MAPS_API_KEY": "k"}}
  }
}""", {"figma": {"url": "https://figma.example/sse"},
       "google-maps": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-google-maps"], "env": {"GOOGLE_MAPS_API_KEY": "k"}}}, []),
    ("windsurf", """{"mcpServers": {"remote": {"serverUrl": "https://r.example/mcp", "headers": {"API_KEY": "Bearer ${env:AUTH_TOKEN}"},
        "disabledTools": ["a"]}}}""",
     {"remote": {"url": "https://r.example/mcp", "headers": {"API_KEY": "Bearer ${env:AUTH_TOKEN}"}}},
     ['"disabledTools" is not taken over']),
    ("windsurf", """{"mcpServers": {"puppeteer": {"command": "npx", "args": ["-y", "puppeteer"], "disabled": true},
        "puppeteer ": {"command": "npx", "args": ["-y", "other"]}}}""",
     {"puppeteer": {"command": "npx", "args": ["-y", "puppeteer"], "disabled": True},
      "puppeteer-": {"command": "npx", "args": ["-y", "other"]}}, []),
    ("windsurf", """{"mcpServers": {"a": {"command": "x"}, "A": {"command": "y"}}}""",
     {"a": {"command": "x"}}, ['the manifest has a toolset "a" already']),
]
