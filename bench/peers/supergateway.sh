#!/bin/sh
# supergateway.sh PORT SERVER: streamable HTTP in front of a server on pipes, one server per session.
exec "$(dirname "$0")/node_modules/.bin/supergateway" --port "$1" --stdio "$2" --outputTransport streamableHttp \
    --stateful --logLevel none
