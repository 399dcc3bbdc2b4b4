#!/bin/sh
# mcp-proxy-python.sh PORT SERVER: streamable HTTP in front of a server on pipes; the one from PyPI.
exec "${BENCH_PYTHON:?}/mcp-proxy" --host 127.0.0.1 --port "$1" --log-level ERROR "$2"
