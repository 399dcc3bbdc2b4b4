/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is run as a child process and spoken to over its pipes.
 *
 *   plugin.c       the module's table: create, call, cancel, destroy
 *   config.c       its configuration: a server entry as in any `mcpServers` file
 *   connection.c   the process and its stream, from start to end: the channel
 *
 * spec: MCP 2026-07-28 basic/transports/stdio
 */
#ifndef MCP_UPSTREAM_PIPES_H
#define MCP_UPSTREAM_PIPES_H

#include <patchbay/process.h>
#include <patchbay/stream.h>

#include "upstream.h"

#define UPSTREAM_STOP_GRACE_MS 2000       /* between closing stdin, SIGTERM and SIGKILL */
#define UPSTREAM_NOISE_LINES   100        /* lines per minute that are no messages */
#define UPSTREAM_MESSAGE_BYTES (1u << 30) /* the hub bounds it: limits.upstream_message */
#define UPSTREAM_QUEUE_BYTES   (32u << 20)

/* The server entry, as configured. All owned, NULL-terminated lists. */
typedef struct upstream_config {
    char **argv;
    char **env;     /* "NAME=value" */
    char *cwd;      /* NULL: the hub's */
    char *protocol; /* the revision to speak; NULL: ask the server */
    uint64_t startup_ms;
    uint32_t spawn_flags;
} upstream_config;

typedef struct piped_server {
    mcp_server server; /* first: it is what the channel is given */
    const patchbay_stream_v1 *streams;
    const patchbay_process_v1 *processes;
    upstream_config config;
    patchbay_process *process;
    patchbay_stream *stream;
    uint64_t noise_since_ms;
    uint32_t noise_lines;
} piped_server;

extern const upstream_channel upstream_pipes;

/* config.c */
int32_t upstream_config_read(patchbay_str json, upstream_config *config, patchbay_error *reterr);
void upstream_config_free(upstream_config *config);

#endif
