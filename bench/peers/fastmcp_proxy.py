# SPDX-License-Identifier: Apache-2.0
"""FastMCP's proxy in front of a server on pipes: fastmcp_proxy.py PORT SERVER"""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

port, server = sys.argv[1:]
create_proxy(StdioTransport(command=server, args=[])).run(
    transport="http", host="127.0.0.1", port=int(port), path="/mcp", show_banner=False, log_level="ERROR"
)
