/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is spoken to in lines: one that is run as a child process, over its pipes, or one
 * that runs already, over a Unix socket.
 *
 *   plugin.c       the module's table: create, call, cancel, destroy
 *   config.c       its configuration: a server entry as in any `mcpServers` file
 *   lines.c        what both ways share: messages in and out
 *   connection.c   the process and its pipes, from start to end: a channel
 *   socket.c       the connection to a Unix socket: another one
 *
 * spec: MCP 2026-07-28 basic/transports/stdio
 */
#ifndef MCP_UPSTREAM_PIPES_H
#define MCP_UPSTREAM_PIPES_H

#include <patchbay/process.h>
#include <patchbay/stream.h>

#include "../common/duplex.h"

#define UPSTREAM_STOP_GRACE_MS 2000       /* between closing stdin, SIGTERM and SIGKILL */
#define UPSTREAM_HEALTH_MS     30000      /* of silence, before the server is asked for a sign */
#define UPSTREAM_LAST_WORDS_MS 1000       /* for the end of the output of a process that exited */
#define UPSTREAM_STDERR_LINES  3          /* of the last ones, in the reason for its end */
#define UPSTREAM_MESSAGE_BYTES (1u << 30) /* the hub bounds it: limits.upstream_message */

/* The server entry, as configured. All owned, NULL-terminated lists. */
typedef struct upstream_config {
    char **argv;
    char **env;       /* "NAME=value" */
    char *cwd;        /* NULL: the hub's */
    char *module;     /* what it serves, if it is this program; NULL: another one */
    char *first_line; /* what it gets before any message; NULL: nothing */
    char *url;        /* of a Unix socket; NULL: the server is a command */
    const char *path; /* the end of it */
    char *protocol;   /* the revision to speak; NULL: ask the server */
    upstream_pace pace;
    uint32_t spawn_flags;
} upstream_config;

typedef struct line_server {
    mcp_server server; /* first: it is what the channel is given */
    const patchbay_stream_v1 *streams;
    const patchbay_process_v1 *processes;
    upstream_config config;
    patchbay_process *process; /* NULL over a socket */
    patchbay_stream *stream;
    char exited[64];            /* how the process did; empty: it has not */
    char ended[192];            /* how its output did; empty: it has not */
    int is_too_large;           /* … of a message that is larger than any may be */
    patchbay_timer *last_words; /* one of the two has; NULL: neither */
    duplex_noise noise;
} line_server;

extern const upstream_channel upstream_pipes;
extern const upstream_channel upstream_socket;

/* lines.c */
line_server *lines_of(mcp_server *server);
/* Read and write messages; both descriptors are the stream's now, or closed. 0 on failure. */
int lines_open(line_server *lines, int read_fd, int write_fd,
               void (*on_end)(void *ctx, patchbay_str reason));
/* What is wrong with the stream, for the end of a sentence. Notes whether it is a message's size. */
void lines_describe_end(line_server *lines, patchbay_str reason, char *ret_text, size_t size);
int32_t lines_send(mcp_server *server, const upstream_outgoing *message);

/* config.c */
int32_t upstream_config_read(patchbay_str json, upstream_config *config, patchbay_error *reterr);
void upstream_config_free(upstream_config *config);

#endif
