#!/bin/sh
# fastmcp.sh PORT SERVER: streamable HTTP in front of a server on pipes, by FastMCP's proxy.
exec "${BENCH_PYTHON:?}/python" "$(dirname "$0")/fastmcp_proxy.py" "$1" "$2"
