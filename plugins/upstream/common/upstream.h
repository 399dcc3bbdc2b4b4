/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upstream: another MCP server. One instance is one server; one connection serves every client.
 * Nothing here knows how the server is reached: that is the channel's business (channel.h). Two
 * modules are made of it: mcp_upstream (a child process and its pipes, or a Unix socket: ../local)
 * and mcp_remote (HTTP, WebSocket: ../remote).
 *
 *   server.c         the instance: made, connected, disconnected, ended; what it sends
 *   restart.c        when a server that failed is tried again
 *   health.c         whether it is alive, and whether anybody needs it
 *   incoming.c       what arrives, told apart; log messages and progress
 *   handshake.c      which era the server speaks, and which revision
 *   lists.c          its catalog: tools, resources, resource templates, prompts
 *   calls.c          client requests: held while connecting, forwarded, answered
 *   subscriptions.c  which resources are watched, and how the server is told
 *   questions.c      what the server asks of clients
 *   unusable.c       answers that are none, refused.c: whose they are
 *   quote.c          what a server says of its troubles, made fit to be repeated
 *   duplex.c         what channels share that are one connection, both ways
 *   module.c         what both modules need to be modules
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
#include <patchbay/wire.h>

#include "channel.h"

#define UPSTREAM_PROBE_MS        5000   /* for the answer to server/discover */
#define UPSTREAM_STARTUP_MS      30000  /* from start to ready, unless configured */
#define UPSTREAM_DOWNLOAD_MS     300000 /* … of a command that fetches its program (launcher.c) */
#define UPSTREAM_AGAIN_MS        500 /* between two readings of a list, however often it changes */
#define UPSTREAM_PAGES           100 /* of one list */
#define UPSTREAM_CATALOG_BYTES   (16u << 20)  /* of all pages of a list */
#define UPSTREAM_LONG_BYTES      (256u << 10) /* … that is read in turns */
#define UPSTREAM_HELD_CALLS      1024         /* that wait for the connection */
#define UPSTREAM_WATCHED         4096         /* resources that clients want to hear of */
#define UPSTREAM_LISTEN_MS       60000 /* a listen stream that ends sooner is not opened again */
#define UPSTREAM_RESTART_MS      500   /* from a failure to the next attempt, at first */
#define UPSTREAM_RESTART_MOST_MS 60000 /* … and however often it failed */
#define UPSTREAM_RESET_MS        60000 /* a server that was well for so long has not failed before */
#define UPSTREAM_PATIENCE_MS     5000 /* who needs the server waits for an attempt that is so near */
#define UPSTREAM_REASON_BYTES    768  /* of why a server failed; the hub keeps as much */
#define UPSTREAM_QUOTE_BYTES     512  /* … of it in the server's own words */
#define UPSTREAM_REFUSAL_BYTES   200  /* of why its last message was refused */
#define UPSTREAM_OWN_REQUESTS    64   /* of the module itself that may be out */
#define UPSTREAM_CATALOG_TRIES   5    /* of a server whose lists cannot be used */
#define UPSTREAM_RETELLING       16 /* subscriptions told again at a time, to a server that is new */
#define UPSTREAM_PULSE           "pulse" /* id of what is asked to see whether the server is alive */

#define UPSTREAM_MODERN_VERSION "2026-07-28"
#define UPSTREAM_LISTS          4 /* PATCHBAY_TOOLS to PATCHBAY_PROMPTS */

typedef enum upstream_phase {
    PHASE_IDLE,         /* no connection */
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

typedef struct listed_call {
    patchbay_call call;
    uint32_t after; /* number of the module's last own request before it */
    uint32_t reserved;
} listed_call;

/* A growing list of calls. */
typedef struct call_list {
    listed_call *items;
    size_t count;
    size_t cap;
} call_list;

/* One list of the catalog, and the reading of it. */
typedef struct upstream_list {
    patchbay_out items; /* read so far: "[", then comma-separated elements */
    patchbay_out page;  /* a result that is long, until the next turn of the loop */
    char *cursor;       /* of the page asked for, raw */
    uint32_t pages;
    int has_elements; /* … in those */
    int has_names;    /* … one of which at least has a name */
    uint32_t request; /* number of the request that is out; 0: none is */
    int is_handed; /* `page` waits; or all pages are there, and the hub reads them, a part in each turn of the loop */
    int is_offered;  /* the server says that it has such things */
    int is_told;     /* … and that it tells of changes */
    int is_guess;    /* it says nothing: an error is an answer, too */
    int is_blind;    /* … of anything: only "no such method" is an answer */
    int is_set;      /* the hub has a list */
    int is_old;      /* … and what it should have become could not be read */
    int read_again;  /* it has changed since it was asked for */
    uint64_t due_ms; /* … and is not asked for again before */
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

/* How often things are done, in milliseconds; as configured. */
typedef struct upstream_pace {
    uint64_t startup_ms;      /* from start to ready */
    uint64_t restart_ms;      /* from the first failure to the next attempt; doubled by each */
    uint64_t restart_most_ms; /* … up to this */
    uint64_t reset_ms;        /* failures before a time as long as this are forgotten */
    uint64_t health_ms;       /* silence after which the server is asked; 0: it never is */
    uint64_t idle_ms;         /* after which a server that nobody needs is ended; 0: never */
    int skips_lists;          /* what the server offers is never asked for */
} upstream_pace;

/* What is known of the server being alive. */
typedef struct upstream_pulse {
    uint64_t due_ms;    /* when it is looked at next; 0: it is not */
    uint32_t asked;     /* number of the last question */
    uint32_t questions; /* asked in a row, without an answer */
    int is_heard;       /* it has said something since it was looked at */
    int has_answered;   /* … to a first question, once */
} upstream_pulse;

/* Something the server asked of a client. Freed when the hub has told how it ended. */
typedef struct server_question server_question;

struct mcp_server {
    const upstream_channel *channel;
    const patchbay_host_api *api;
    patchbay_host *host;
    const patchbay_loop_v1 *loop;
    const patchbay_wire_v1 *wire;
    const patchbay_catalog_v1 *catalog;
    const patchbay_client_v1 *client;

    /* As configured; the strings are the module's. */
    const char *name;     /* of the server, for people */
    int is_module;        /* it is this program, serving a module of that name */
    const char *protocol; /* the revision to speak; NULL: ask the server */
    upstream_pace pace;

    upstream_phase phase;
    upstream_era era;       /* remembered from one connection to the next */
    char version[16];       /* the revision in use */
    int is_guess;           /* legacy, because it was silent when it was asked */
    int is_late_modern;     /* … and then said, too late, that it is modern */
    uint32_t silent_probes; /* in a row */
    uint32_t spared_probes; /* attempts that believe the guess, before it is asked again */
    int said_modern;        /* it refused initialize as a modern server does */
    patchbay_timer *timer;  /* of the phase: the probe's, the start-up's, then of reading lists */
    patchbay_timer *again;  /* to read lists again */
    patchbay_timer *hand;   /* to the next turn, in which the hub reads more of a list */
    uint64_t started_ms;

    /* What it was taken for when it last refused a call as one of the other era does; how often it was asked
     * again for that, and spoke the same; and how many calls it has refused so since. */
    upstream_era doubted_era;
    uint32_t vain_doubts;
    uint32_t doubtful_calls;

    uint32_t connection;   /* how many there have been */
    uint32_t last_request; /* number of the last request of our own */

    patchbay_timer *retry;  /* to the next attempt, after a failure */
    uint64_t retry_ms;      /* when that is; 0: none is planned */
    uint64_t not_before_ms; /* the channel wants no attempt before: it may be set by it */
    uint64_t ready_ms;      /* when the server became ready last */
    uint32_t failures;      /* in a row */
    uint32_t restarts;      /* attempts after a failure, in all */
    int skips_probe;        /* the next attempt takes it for a legacy one: the probe killed it */
    int skipped_probe;      /* … and so does this one, until it refuses that */
    uint32_t bad_catalogs;  /* attempts in a row that failed because of its lists */
    int is_given_up;        /* … so often that it is left alone until somebody asks for it */
    int32_t last_status;    /* what calls come to meanwhile: PATCHBAY_… */
    char last_error[UPSTREAM_REASON_BYTES];

    patchbay_timer
        *cut_timer;  /* an answer came that was cut off: it fails, unless this is the end */
    char cut_id[48]; /* … of this request, raw */
    char cut_why[UPSTREAM_REFUSAL_BYTES];
    int is_ending; /* the connection is over: the channel is about to say why */

    uint32_t refused; /* messages that belong to no request, since it was connected */
    uint32_t strays;  /* answers that nothing waited for */
    char refusal[UPSTREAM_REFUSAL_BYTES]; /* of the last message that was refused; empty: none */

    patchbay_timer *watch; /* to the next look at its health or idleness */
    upstream_pulse pulse;
    uint64_t idle_due_ms; /* when its idleness is looked at next; 0: it is not */
    uint64_t active_ms;   /* when somebody needed it last */
    int has_tasks;        /* it has begun a task, and may be at work on it */

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
    watched_resource *retold;  /* … of those that a new legacy server is told */
    size_t retelling;          /* so many answers to that are out */
    uint32_t retold_after;     /* number of the last request before that */
    size_t watched_count;
    size_t subscribing; /* of them, whose call waits */
    uint32_t listening; /* number of the listen request that is acknowledged; 0: none */
    uint32_t opening;   /* … of the one that is not yet */
    uint64_t opened_ms; /* when a stream was last opened again because it had ended */
    int listen_again;   /* what is wanted changed while one was being opened */
    int has_gap;        /* nobody listened for a while: what is there may be old */

    server_question *questions; /* the hub bounds them: so many per call */
    uint32_t last_question;     /* number of the last one */
};

/* server.c */
/* Make `server`, which is all zeros but for what is configured, ready for the other functions. The
 * module frees what is configured after upstream_fini().
 * returns: PATCHBAY_OK; PATCHBAY_ENOTFOUND (the hub lacks an interface); PATCHBAY_ENOMEM */
int32_t upstream_init(mcp_server *server, const upstream_channel *channel,
                      const patchbay_host_api *api, patchbay_host *host, patchbay_error *reterr);
void upstream_fini(mcp_server *server);    /* it may be half made */
void upstream_connect(mcp_server *server); /* unless it is connected */
/* As upstream_disconnect(), for something that the server did or said: `what` follows its name. If
 * it comes to nothing from the start, a configured revision may be why. */
void upstream_fail(mcp_server *server, const char *what);
void upstream_fail_as(mcp_server *server, const char *what, upstream_cause cause);
/* What a message is that is larger than any may be: while lists are read, one of those. */
upstream_cause upstream_cause_of_size(const mcp_server *server);
/* Send a message of ours; on failure the connection ends. */
void upstream_send(mcp_server *server, const upstream_outgoing *message);
/* Send a request of our own: its id is `name` and a number, which is returned. `params` is a JSON
 * object. */
uint32_t upstream_request(mcp_server *server, const char *name, const char *method,
                          patchbay_str params);
/* Append `"_meta":{…}` to an object under construction, for a server that wants it. */
void upstream_add_meta(mcp_server *server, patchbay_out *params);
void upstream_start_timer(mcp_server *server, uint64_t until_ms);
void upstream_log(mcp_server *server, int32_t level, const char *text);

/* pace.c */
/* Read what the configuration says of it; what it does not say has its usual value. `health_ms`:
 * the usual one of this kind of server. */
void upstream_pace_read(patchbay_str json, uint64_t health_ms, upstream_pace *pace);

/* launcher.c */
/* Whether a command fetches a program before it runs it (npx, uvx, docker, …), through `env` or a
 * shell, too. `argv` has at least one word. */
int upstream_is_launcher(const char *const *argv);

/* restart.c */
int upstream_restart_init(mcp_server *server); /* 0: out of memory */
void upstream_restart_fini(mcp_server *server);
/* The connection ends, for whatever reason: if the server was well for long enough, it has not
 * failed before. */
void upstream_restart_settle(mcp_server *server);
/* The connection that ends now has failed, or could not be made: plan the next attempt. */
void upstream_restart_plan(mcp_server *server, const char *reason, upstream_cause cause);
void upstream_restart_forget(mcp_server *server);
/* Somebody who looks after the hub asks for the server: try now what is planned for later. */
void upstream_restart_now(mcp_server *server);
/* Whether the next attempt is too far away to wait for it; the text says why and when, and
 * server->last_status what a call comes to. */
int upstream_restart_is_far(mcp_server *server, char *ret_text, size_t size);
void upstream_report(mcp_server *server); /* tell the hub how the server fares */

/* health.c */
int upstream_health_init(mcp_server *server); /* 0: out of memory */
void upstream_health_fini(mcp_server *server);
void upstream_health_begin(mcp_server *server); /* it is ready */
void upstream_health_end(mcp_server *server);
/* Whether somebody waits for an answer; or needs it at all, be it for what it may tell. */
int upstream_is_at_work(const mcp_server *server);
int upstream_is_needed(const mcp_server *server);

/* The hub wants it to stop if it is not (patchbay/rest). */
void upstream_rest(mcp_server *server, patchbay_call call, const patchbay_request *request);

/* incoming.c */
/* Take an id of ours apart. Returns its number, 0 when it is none; `ret_name` is its name. */
uint32_t upstream_read_id(patchbay_str raw, patchbay_str *ret_name);

/* handshake.c */
void upstream_handshake_begin(mcp_server *server);
void upstream_handshake_renew(mcp_server *server);
void upstream_handshake_timeout(mcp_server *server);
/* Begin anew if the server has said too late that it is modern, and nobody needs it as it is. */
void upstream_handshake_mend(mcp_server *server);
/* It has refused a call as one that speaks another revision does: begin anew, unless it is at work. Less and
 * less often while it speaks the same: then it refuses such calls for reasons of its own. */
void upstream_handshake_doubt(mcp_server *server);
void upstream_take_discovery(mcp_server *server, const patchbay_message *message);
void upstream_take_initialization(mcp_server *server, const patchbay_message *message);
void upstream_become_ready(mcp_server *server); /* the catalog is there */

/* quote.c */
/* Make one line of `text`: control characters and what is not UTF-8 become spaces, and what is too
 * long for `size` bytes (4 at least) ends in "...". */
void upstream_quote(patchbay_str text, char *ret_line, size_t size);
/* … of a raw value: of its text if it is a string. */
void upstream_quote_json(patchbay_str raw, char *ret_line, size_t size);
/* … of the message of a raw error object. */
void upstream_quote_error(patchbay_str error, char *ret_line, size_t size);
/* A time for people, in seconds: "30 s", "0.25 s". */
#define UPSTREAM_TIME_BYTES 32
void upstream_write_time(uint64_t ms, char *ret_text);

/* lists.c */
/* Hand on what the server says of itself in the result of `initialize` or `server/discover`. */
void upstream_tell_about(mcp_server *server, patchbay_str result);

/* Read what the server says it has; `capabilities` may be empty: it said nothing. */
void upstream_lists_begin(mcp_server *server, patchbay_str capabilities);
/* Read a list, or once more after the reading that is on. */
void upstream_list_read(mcp_server *server, uint32_t kind);
void upstream_list_read_all(mcp_server *server);
/* Read those again of whose changes the server does not tell. Whether something is being read now.
 */
int upstream_lists_reread(mcp_server *server);
/* A list has changed: read it, now or when it was not read for a while. */
void upstream_list_changed(mcp_server *server, uint32_t kind);
/* Take the answer to the request `name`-`number`; 0 when it is none about lists. */
int upstream_list_take(mcp_server *server, patchbay_str name, uint32_t number,
                       const patchbay_message *message);
/* The answer to the request `name`-`number` cannot be used: `why`. 0 when it is none about lists. */
int upstream_list_refused(mcp_server *server, patchbay_str name, uint32_t number, const char *why);
/* Time is up: keep what there was of lists that are still being read. */
void upstream_lists_give_up(mcp_server *server);
void upstream_lists_disconnect(mcp_server *server);
void upstream_lists_hand(mcp_server *server); /* have the hub read more of what is handed to it */
void upstream_lists_refresh(mcp_server *server); /* read those that changed while they were read */

/* unusable.c */
int upstream_unusable_init(mcp_server *server); /* 0: out of memory */
void upstream_unusable_fini(mcp_server *server);
void upstream_unusable_forget(mcp_server *server); /* the connection ends */
/* Say that an answer cannot be used, in at most UPSTREAM_REASON_BYTES. */
void upstream_write_unusable(const mcp_server *server, const char *why, char *ret_text);

/* calls.c */
void upstream_call(mcp_server *server, patchbay_call call, const patchbay_request *request);
void upstream_cancel(mcp_server *server, patchbay_call call);
void upstream_answer(mcp_server *server, const patchbay_message *message);
/* A call that was sent will not be answered. */
void upstream_fail_call(mcp_server *server, patchbay_call call, int32_t status, const char *why);
/* Whether a call was sent and not answered; and the only one, id 0 if other requests are out. */
int upstream_is_out(const mcp_server *server, patchbay_call call);
patchbay_call upstream_only_call(const mcp_server *server);
/* Forward a request that is the hub's own, or finish it. */
void upstream_forward_errand(mcp_server *server, patchbay_call call,
                             const patchbay_request *request);
void upstream_finish(mcp_server *server, patchbay_call call, int32_t status, patchbay_str json);
void upstream_finish_text(mcp_server *server, patchbay_call call, int32_t status, const char *text);
void upstream_calls_ready(
    mcp_server *server); /* send what was held, answer who wants the catalog */
void upstream_fail_calls(mcp_server *server, int32_t status, const char *reason);
void upstream_free_calls(mcp_server *server);

/* subscriptions.c */
void upstream_subscribe(mcp_server *server, patchbay_call call, const patchbay_request *request);
void upstream_unsubscribe(mcp_server *server, patchbay_call call, const patchbay_request *request);
/* A legacy server has answered resources/subscribe, or nobody waits for it any more. */
void upstream_subscribed(mcp_server *server, patchbay_call call, int is_done);
void upstream_subscriptions_begin(mcp_server *server); /* tell a new process what is watched */
/* A legacy one has answered that, or will not: request `number`. */
void upstream_retold(mcp_server *server, uint32_t number);
void upstream_subscriptions_disconnect(mcp_server *server, const char *reason);
void upstream_subscriptions_free(mcp_server *server);
/* The listen stream `number`: acknowledged with what it has; ended, with an error object if any. */
void upstream_listen_acknowledged(mcp_server *server, uint32_t number, patchbay_str notifications);
void upstream_listen_ended(mcp_server *server, uint32_t number, patchbay_str error);
/* Whether a notification of a modern server is to be heard: it came on the stream in use. */
int upstream_listen_hears(const mcp_server *server, patchbay_str params);

/* questions.c */
/* `origin`: the call it is asked for; id 0: the server does not say. */
void upstream_ask(mcp_server *server, const patchbay_message *message, patchbay_call origin);
void upstream_ask_cancelled(mcp_server *server, patchbay_str id);
/* Answer a question with an error. */
void upstream_refuse(mcp_server *server, patchbay_str id, int32_t code, const char *why);
/* The hub says that the roots which the server was told have changed. */
void upstream_roots_changed(mcp_server *server, patchbay_call call,
                            const patchbay_request *request);

#endif
