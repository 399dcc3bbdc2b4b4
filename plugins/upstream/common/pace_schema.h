/* SPDX-License-Identifier: Apache-2.0 */
/* What the configurations of both modules have in common, as JSON Schema: members of `properties`,
 * a string literal. pace.c reads most of them. */
"\"startup_timeout_ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600000},"
    "\"restart_delay_ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600000},"
    "\"restart_delay_max_ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600000},"
    "\"restart_reset_ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":86400000},"
    "\"health_interval_ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":3600000},"
    "\"idle_timeout_ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":86400000},"
    "\"lists\":{\"type\":\"boolean\",\"description\":\"Whether the server is asked what it "
    "offers.\"},"
    "\"protocol\":{\"enum\":[\"2024-11-05\",\"2025-03-26\",\"2025-06-18\",\"2025-11-25\","
    "\"2026-07-28\"],\"description\":\"The revision to speak, instead of asking the server.\"}"
