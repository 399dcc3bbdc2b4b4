#!/bin/sh
# mcp-proxy.sh PORT SERVER: streamable HTTP in front of a server on pipes.
exec "$(dirname "$0")/node_modules/.bin/mcp-proxy" --host 127.0.0.1 --port "$1" --server stream -- "$2"
