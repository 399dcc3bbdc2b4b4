/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of mcp_upstream as JSON Schema; a string literal, included where it is needed.
 */
"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"command\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Program to start.\"},"
    "\"url\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Of the Unix socket of a server "
    "that "
    "runs already: unix:///PATH.\"},"
    "\"args\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"env\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
    "\"cwd\":{\"type\":\"string\",\"minLength\":1},"
    "\"inherit_env\":{\"type\":\"boolean\"},"
    "\"startup_timeout_ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600000},"
    "\"protocol\":{\"enum\":[\"2024-11-05\",\"2025-03-26\",\"2025-06-18\",\"2025-11-25\","
    "\"2026-07-28\"],\"description\":\"The revision to speak, instead of asking the server.\"},"
    "\"type\":{\"const\":\"stdio\"}},"
    "\"oneOf\":[{\"required\":[\"command\"]},{\"required\":[\"url\"]}]}"
