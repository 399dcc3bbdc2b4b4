/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upstream: another MCP server, run as a child process and spoken to over its pipes. One
 * instance of this module is one server; one connection serves every client.
 *
 *   plugin.c         the module's table: create, call, cancel, destroy
 *   config.c         its configuration: a server entry as in any `mcpServers` file
 *   connection.c     the process and its stream, from start to end
 *   incoming.c       what arrives on the stream, told apart; log messages and progress
 *   handshake.c      which era the server speaks, and which revision
 *   lists.c          its catalog: tools, resources, resource templates, prompts
 *   calls.c          client requests: held while connecting, forwarded, answered
 *   subscriptions.c  which resources are watched, and how the server is told
 *   questions.c      what the server asks of clients
 *
 * Ids. A client's request goes out under the hub's call id, so an answer is matched by the hub
 * itself. The module's own requests have string ids, "NAME-NUMBER", and no id is used twice.
 *
 * Capabilities. One connection serves clients that can do different things, and a legacy server is
 * told once, before any of them is known. So it is offered all that a client can be asked
 * (sampling, elicitation, roots), and each question is put only to a client that declared what it
 * takes; else it is refused with the reason. A modern server is told with each call what the client
 * behind it can do.
 * Thread: [loop], all of it. Nothing here blocks.
 */
#ifndef MCP_UPSTREAM_H
#define MCP_UPSTREAM_H

#include <patchbay/catalog.h>
#include <patchbay/client.h>
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
#define UPSTREAM_HELD_CALLS    1024  /* that wait for the connection */
#define UPSTREAM_QUESTIONS     64    /* of the server, open at a time */
#define UPSTREAM_WATCHED       10000 /* resources that clients want to hear of */
#define UPSTREAM_LISTEN_MS     60000 /* a listen stream that ends sooner is not opened again */

#define UPSTREAM_MODERN_VERSION "2026-07-28"
#define UPSTREAM_LISTS          4 /* PATCHBAY_TOOLS to PATCHBAY_PROMPTS */

/* The server entry, as configured. All owned, NULL-terminated lists. */
typedef struct upstream_config {
    char **argv;
    char **env;     /* "NAME=value" */
    char *cwd;      /* NULL: the hub's */
    char *protocol; /* the revision to speak; NULL: ask the server */
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

/* One list of the catalog, and the reading of it. */
typedef struct upstream_list {
    patchbay_out items; /* read so far: "[", then comma-separated elements */
    char *cursor;       /* of the page asked for, raw */
    uint32_t pages;
    uint32_t request; /* number of the request that is out; 0: not being read */
    int is_offered;   /* the server says that it has such things */
    int is_told;      /* … and that it tells of changes */
    int is_guess;     /* it says nothing: an error is an answer, too */
    int is_set;       /* the hub has a list */
    int read_again;   /* it changed while it was being read */
} upstream_list;

/* A resource that clients want to hear of. */
typedef struct watched_resource {
    struct watched_resource *next;
    patchbay_call call; /* the hub's resources/subscribe while it waits; id 0: it does not */
    enum {
        WATCHED_NEW,
        WATCHED_ASKED, /* modern: the listen stream that is being opened names it */
        WATCHED_TAKEN, /* … and the server has agreed */
    } state;
    size_t len;
    char uri[]; /* decoded */
} watched_resource;

/* Something the server asked of a client. Freed when the hub has told how it ended. */
typedef struct server_question server_question;

typedef struct mcp_server {
    const patchbay_host_api *api;
    patchbay_host *host;
    const patchbay_loop_v1 *loop;
    const patchbay_stream_v1 *streams;
    const patchbay_process_v1 *processes;
    const patchbay_wire_v1 *wire;
    const patchbay_catalog_v1 *catalog;
    const patchbay_client_v1 *client;
    upstream_config config;

    upstream_phase phase;
    upstream_era era; /* remembered from one process to the next */
    char version[16]; /* the revision in use */
    patchbay_process *process;
    patchbay_stream *stream;
    patchbay_timer *timer; /* of the phase: the probe's, the start-up's, then of reading lists */
    uint64_t started_ms;
    uint64_t noise_since_ms;
    uint32_t noise_lines;
    uint32_t connection;   /* how many there have been */
    uint32_t last_request; /* number of the last request of our own */

    upstream_list lists[UPSTREAM_LISTS];

    held_call *held; /* waiting for the connection, oldest first */
    size_t held_count;
    call_list in_flight;   /* of clients: sent, not answered */
    call_list errands;     /* the hub's own: levels and subscriptions */
    call_list discoverers; /* the hub's own requests for the catalog */

    char level[16]; /* the log level that is wanted, raw; empty: none */
    int has_levels; /* a legacy server that wants to be told */

    watched_resource *watched;
    watched_resource *telling; /* the next to be said to have changed */
    size_t watched_count;
    size_t subscribing; /* of them, whose call waits */
    uint32_t listening; /* number of the listen request that is acknowledged; 0: none */
    uint32_t opening;   /* … of the one that is not yet */
    uint64_t opened_ms; /* when a stream was last opened again because it had ended */
    int listen_again;   /* what is wanted changed while one was being opened */
    int has_gap;        /* nobody listened for a while: what is there may be old */

    server_question *questions;
    size_t question_count;
} mcp_server;

/* config.c */
int32_t upstream_config_read(patchbay_str json, upstream_config *config, patchbay_error *reterr);
void upstream_config_free(upstream_config *config);

/* connection.c */
void upstream_connect(mcp_server *server); /* start the server, unless it is started */
/* End the connection; every call that waits for it fails with `reason`. */
void upstream_disconnect(mcp_server *server, const char *reason, int failed);
/* The same for something that the server did or said: `what` follows its name. */
void upstream_fail(mcp_server *server, const char *what);
/* Send a message of ours; on failure the connection ends. */
void upstream_send(mcp_server *server, const patchbay_str *parts, uint32_t count);
/* Send a request of our own: its id is `name` and a number, which is returned. `params` is a JSON
 * object. */
uint32_t upstream_request(mcp_server *server, const char *name, const char *method,
                          patchbay_str params);
/* Append `"_meta":{…}` to an object under construction, for a server that wants it. */
void upstream_add_meta(mcp_server *server, patchbay_out *params);
void upstream_start_timer(mcp_server *server, uint64_t until_ms);
void upstream_log(mcp_server *server, int32_t level, const char *text);

/* incoming.c */
void upstream_receive(mcp_server *server, patchbay_str line);
/* Take an id of ours apart. Returns its number, 0 when it is none; `ret_name` is its name. */
uint32_t upstream_read_id(patchbay_str raw, patchbay_str *ret_name);

/* handshake.c */
void upstream_handshake_begin(mcp_server *server);
void upstream_handshake_timeout(mcp_server *server);
void upstream_take_discovery(mcp_server *server, const patchbay_message *message);
void upstream_take_initialization(mcp_server *server, const patchbay_message *message);
void upstream_become_ready(mcp_server *server); /* the catalog is there */

/* lists.c */
/* Read what the server says it has; `capabilities` may be empty: it said nothing. */
void upstream_lists_begin(mcp_server *server, patchbay_str capabilities);
/* Read a list, or once more after the reading that is on. */
void upstream_list_read(mcp_server *server, uint32_t kind);
void upstream_list_read_all(mcp_server *server);
/* Take the answer to the request `name`-`number`; 0 when it is none about lists. */
int upstream_list_take(mcp_server *server, patchbay_str name, uint32_t number,
                       const patchbay_message *message);
/* Time is up: keep what there was of lists that are still being read. */
void upstream_lists_give_up(mcp_server *server);
void upstream_lists_disconnect(mcp_server *server);

/* calls.c */
void upstream_call(mcp_server *server, patchbay_call call, const patchbay_request *request);
void upstream_cancel(mcp_server *server, patchbay_call call);
void upstream_answer(mcp_server *server, const patchbay_message *message);
/* Forward a request that is the hub's own, or finish it. */
void upstream_forward_errand(mcp_server *server, patchbay_call call,
                             const patchbay_request *request);
void upstream_finish(mcp_server *server, patchbay_call call, int32_t status, patchbay_str json);
void upstream_finish_text(mcp_server *server, patchbay_call call, int32_t status, const char *text);
void upstream_calls_ready(
    mcp_server *server); /* send what was held, answer who wants the catalog */
void upstream_fail_calls(mcp_server *server, const char *reason);
void upstream_free_calls(mcp_server *server);

/* subscriptions.c */
void upstream_subscribe(mcp_server *server, patchbay_call call, const patchbay_request *request);
void upstream_unsubscribe(mcp_server *server, patchbay_call call, const patchbay_request *request);
/* A legacy server has answered resources/subscribe, or nobody waits for it any more. */
void upstream_subscribed(mcp_server *server, patchbay_call call, int is_done);
void upstream_subscriptions_begin(mcp_server *server); /* tell a new process what is watched */
void upstream_subscriptions_disconnect(mcp_server *server, const char *reason);
void upstream_subscriptions_free(mcp_server *server);
/* The listen stream `number`: acknowledged with what it has; ended, with an error object if any. */
void upstream_listen_acknowledged(mcp_server *server, uint32_t number, patchbay_str notifications);
void upstream_listen_ended(mcp_server *server, uint32_t number, patchbay_str error);
/* Whether a notification of a modern server is to be heard: it came on the stream in use. */
int upstream_listen_hears(const mcp_server *server, patchbay_str params);

/* questions.c */
void upstream_ask(mcp_server *server, const patchbay_message *message);
void upstream_ask_cancelled(mcp_server *server, patchbay_str id);
void upstream_respond(mcp_server *server, patchbay_str id, const char *member, patchbay_str json);
void upstream_refuse(mcp_server *server, patchbay_str id, int32_t code, const char *text);

#endif
