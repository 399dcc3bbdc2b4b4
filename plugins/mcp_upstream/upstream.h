/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upstream: another MCP server, run as a child process and spoken to over its pipes. One
 * instance of this module is one server; one connection serves every client.
 *
 *   plugin.c      the module's table: create, call, cancel, destroy
 *   config.c      its configuration: a server entry as in any `mcpServers` file
 *   connection.c  the process and its stream, from start to end, and what arrives on it
 *   handshake.c   which era the server speaks, and its catalog
 *   calls.c       client requests: held while connecting, forwarded, answered
 *
 * Ids. A client's request goes out under the hub's call id, so an answer is matched by the hub
 * itself. The module's own requests have string ids, one per purpose.
 * Thread: [loop], all of it. Nothing here blocks.
 */
#ifndef MCP_UPSTREAM_H
#define MCP_UPSTREAM_H

#include <patchbay/catalog.h>
#include <patchbay/json.h>
#include <patchbay/loop.h>
#include <patchbay/process.h>
#include <patchbay/stream.h>
#include <patchbay/wire.h>

#define UPSTREAM_PROBE_MS      5000        /* for the answer to server/discover */
#define UPSTREAM_STARTUP_MS    30000       /* from start to ready, unless configured */
#define UPSTREAM_STOP_GRACE_MS 2000        /* between closing stdin, SIGTERM and SIGKILL */
#define UPSTREAM_NOISE_LINES   100         /* lines per minute that are no messages */
#define UPSTREAM_PAGES         100         /* of one list */
#define UPSTREAM_MESSAGE_BYTES (1u << 30)  /* the hub bounds it: limits.upstream_message */
#define UPSTREAM_CATALOG_BYTES (16u << 20) /* of all pages of a list */
#define UPSTREAM_QUEUE_BYTES   (32u << 20)
#define UPSTREAM_HELD_CALLS    1024 /* that wait for the connection */

/* The server entry, as configured. All owned, NULL-terminated lists. */
typedef struct upstream_config {
    char **argv;
    char **env; /* "NAME=value" */
    char *cwd;  /* NULL: the hub's */
    uint64_t startup_ms;
    uint32_t spawn_flags;
} upstream_config;

typedef enum upstream_phase {
    PHASE_IDLE,         /* no process */
    PHASE_PROBING,      /* server/discover is out: is it modern? */
    PHASE_INITIALIZING, /* initialize is out */
    PHASE_LISTING,      /* the first catalog is being read */
    PHASE_READY,
} upstream_phase;

typedef enum upstream_era {
    ERA_UNKNOWN,
    ERA_LEGACY,
    ERA_MODERN,
} upstream_era;

/* A request that waits for the connection, copied into one piece of memory. */
typedef struct held_call {
    struct held_call *next;
    patchbay_call call;
    patchbay_request request;
    char bytes[];
} held_call;

/* A growing list of calls. */
typedef struct call_list {
    patchbay_call *items;
    size_t count;
    size_t cap;
} call_list;

typedef struct mcp_server {
    const patchbay_host_api *api;
    patchbay_host *host;
    const patchbay_loop_v1 *loop;
    const patchbay_stream_v1 *streams;
    const patchbay_process_v1 *processes;
    const patchbay_wire_v1 *wire;
    const patchbay_catalog_v1 *catalog;
    upstream_config config;

    upstream_phase phase;
    upstream_era era; /* remembered from one process to the next */
    char version[16]; /* the revision in use */
    patchbay_process *process;
    patchbay_stream *stream;
    patchbay_timer *timer; /* of the phase: the probe's, then the start-up's */
    uint64_t started_ms;
    uint64_t noise_since_ms;
    uint32_t noise_lines;

    patchbay_out tools; /* the catalog being read: tools so far, comma-separated */
    char *cursor;       /* of the page asked for */
    uint32_t pages;
    int listing;    /* tools/list is out */
    int list_again; /* the list changed while it was being read */

    held_call *held; /* waiting for the connection, oldest first */
    size_t held_count;
    call_list in_flight;   /* sent, not answered */
    call_list discoverers; /* the hub's own requests for the catalog */
} mcp_server;

/* config.c */
int32_t upstream_config_read(patchbay_str json, upstream_config *config, patchbay_error *reterr);
void upstream_config_free(upstream_config *config);

/* connection.c */
void upstream_connect(mcp_server *server); /* start the server, unless it is started */
/* End the connection; every call that waits for it fails with `reason`. */
void upstream_disconnect(mcp_server *server, const char *reason, int failed);
/* Send a message of ours; on failure the connection ends. */
void upstream_send(mcp_server *server, const patchbay_str *parts, uint32_t count);
void upstream_start_timer(mcp_server *server, uint64_t until_ms);

/* handshake.c */
void upstream_handshake_begin(mcp_server *server);
void upstream_handshake_timeout(mcp_server *server);
void upstream_handshake_answer(mcp_server *server, const patchbay_message *message);
void upstream_list_tools(
    mcp_server *server); /* read the catalog, or once more after the one running */

/* calls.c */
void upstream_call(mcp_server *server, patchbay_call call, const patchbay_request *request);
void upstream_cancel(mcp_server *server, patchbay_call call);
void upstream_answer(mcp_server *server, const patchbay_message *message);
void upstream_ready(mcp_server *server); /* send what was held, answer who asked for the catalog */
void upstream_fail_calls(mcp_server *server, const char *reason);
void upstream_free_calls(mcp_server *server);

#endif
