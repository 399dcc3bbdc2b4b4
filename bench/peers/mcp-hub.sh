#!/bin/sh
# mcp-hub.sh PORT SERVER: HTTP+SSE in front of many servers, here one. It has no streamable HTTP.
config=${BENCH_FOLDER:?}/mcp-hub.json
printf '{"mcpServers": {"up": {"command": "%s", "args": []}}}\n' "$2" >"$config"
exec "$(dirname "$0")/node_modules/.bin/mcp-hub" --port "$1" --config "$config"
