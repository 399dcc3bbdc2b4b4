/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Nobody else includes it, nor libwebsockets. */
#ifndef TRANSPORTS_NET_INTERNAL_H
#define TRANSPORTS_NET_INTERNAL_H

#include "base/cidr.h"
#include "base/map.h"
#include "identity/certificate.h"
#include "net/deadline.h"
#include "net/net.h"

#include <arpa/inet.h>
#include <libwebsockets.h>

/* Written in one go: what the kernel does not take of it, libwebsockets keeps. Large enough for few
 * calls, small enough to be taken whole by most sockets. */
#define HUB_NET_WRITE_BYTES (64u * 1024)

/* So many of them before everybody else has a turn. */
#define HUB_NET_WRITES_PER_TURN 16

/* Messages up to this length leave at the end of the loop's turn, so many at most, and before that
 * when the room of one write is used up. */
#define HUB_NET_BATCH_BYTES    (4u * 1024)
#define HUB_NET_BATCH_MESSAGES 64

/* The least that is allocated for bytes that wait: many small messages share it. */
#define HUB_NET_CHUNK_BYTES (16u * 1024)

/* Bytes of a paused peer that are taken in all the same, so that its end is noticed. */
#define HUB_NET_HELD_BYTES (64u * 1024)

/* After the last word: how long a peer may take to hear it, while what it sends is thrown away. A
 * connection closed with unread bytes is reset, and the peer may never see the answer. */
#define HUB_NET_LINGER_MS 2000

/* Descriptors that are left for children and files when connections use them up. */
#define HUB_NET_RESERVED_FDS 16

/* Open links of one peer address. */
typedef struct net_address {
    UT_hash_handle hh;
    unsigned links;
    char text[HUB_ADDRESS_TEXT_BYTES];
} net_address;

/* Bytes that wait for the peer. */
typedef struct net_chunk {
    struct net_chunk *next;
    size_t begin; /* sent so far */
    size_t end;
    size_t room;
    char pre[LWS_PRE]; /* libwebsockets may write in front of what it is given */
    char bytes[];
} net_chunk;

/* What a link has limited time for. */
typedef enum net_wait {
    NET_WAIT_HANDSHAKE,
    NET_WAIT_STALL,
    NET_WAIT_LINGER,
    NET_WAITS,
} net_wait;

struct hub_link {
    hub_net *net;
    struct lws *wsi; /* NULL once libwebsockets has closed it */
    const hub_link_events *events;
    void *owner;
    net_address *address;
    hub_link *next; /* of all links */
    hub_link *prev;
    hub_link *todo_next; /* of those that something is to be done for, from the loop */
    hub_deadline wait;
    uint64_t acked_bytes; /* by the peer's machine, when NET_WAIT_STALL began */
    net_chunk *chunks;    /* oldest first */
    net_chunk *last_chunk;
    size_t queued;
    size_t in_flight; /* what libwebsockets was given last, at most, while it has some of it left */
    char *held;       /* came while the owner had paused */
    size_t held_len;
    size_t kept;         /* by the owner */
    size_t output_bytes; /* of memory, in chunks */
    hub_budget_account account;
    bool is_tls;
    bool is_paused;
    bool is_rx_off;
    bool is_closing; /* nothing more is written by the owner */
    bool is_lingering;
    bool is_doomed; /* to be ended from the loop */
    bool is_todo;
};

/* A connection of a proxy that has not said yet whose it is. */
typedef struct net_announced net_announced;

struct hub_listener {
    hub_net *net;
    hub_listener *next;
    struct lws_vhost *vhost;
    struct ssl_ctx_st *tls;   /* the vhost's; NULL: none */
    hub_authority *clients;   /* whose certificates clients show; NULL: they are asked for none */
    uint64_t refused_log_ms;  /* when a refused one was logged last, */
    unsigned refused_clients; /* … and how many have not been since */
    hub_net_on_link *on_link;
    void *ctx;
    ev_io accept[2]; /* "localhost" has two addresses */
    size_t count;
    uint16_t port;
    bool is_tls;
    const hub_cidr *proxies; /* whose word counts; borrowed */
    size_t proxy_count;
    bool are_announced; /* … and who say in front of each connection whose it is */
};

struct hub_net {
    struct ev_loop *loop;
    hub_net_limits limits;
    size_t max_queue_bytes;
    hub_budget *budget;
    struct lws_context *context;
    struct lws_vhost *plain;
    struct ssl_ctx_st *made_tls; /* of the vhost that was made last */
    hub_listener *listeners;
    hub_link *links;
    hub_net_numbers numbers;
    size_t link_count;
    net_announced *announced;
    size_t announced_count;
    hub_deadlines announcing;
    net_address *addresses; /* uthash */
    hub_deadlines waiting[NET_WAITS];
    hub_link *todo;
    ev_timer todo_timer; /* 0 s: runs what cannot be done inside of a callback */
    ev_timer tick_timer;
    unsigned ticks;
    hub_net_tick *tickers;
    hub_net_tick *next_ticker; /* while they run */
    hub_link *adopting;        /* libwebsockets calls back before it returns */
    char *scratch;             /* LWS_PRE + HUB_NET_WRITE_BYTES: of the batch, or of one write */
    char *gathered;            /* as large, behind it: what of the batch is for one link */
    struct {
        hub_link *link; /* NULL: gone */
        size_t len;
    } batch[HUB_NET_BATCH_MESSAGES]; /* one behind the other in `scratch` */
    size_t batch_count;
    size_t batch_fill;
    ev_timer batch_end; /* never started, only fed: behind all that the turn has to do */
    size_t max_fd;      /* descriptors from here on are beyond libwebsockets' table */
    uint64_t refused_log_ms;
    unsigned refused;
    bool is_accepting;
    bool is_closing;
};

/* net.c */
void net_update_tick(hub_net *net);
void net_pause_accepting(hub_net *net, const char *reason);
void net_note_refusal(hub_net *net, const char *reason);

/* library.c */
HUB_MUST_CHECK hub_err net_start_library(hub_net *net, hub_error *reterr);
HUB_MUST_CHECK hub_err net_create_vhost(hub_net *net, const struct lws_context_creation_info *info,
                                        struct lws_vhost **ret_vhost, hub_error *reterr);

/* listener.c */
void net_set_accepting(hub_net *net, bool is_accepting);
void net_forget_address(hub_net *net, net_address *address); /* unless it has links */

/* The connection is of that address, as text: make a link of it, or close it. */
void net_take_link(hub_listener *listener, int fd, const char *from);

/* announced.c */
void net_announced_take(hub_listener *listener, int fd, const char *proxy);
void net_announced_check(hub_net *net, uint64_t now_ms);
void net_announced_end(const hub_net *net, const hub_listener *listener); /* all of the listener */

/* tls.c */
HUB_MUST_CHECK hub_err net_tls_vhost(hub_net *net, const hub_tls_settings *tls,
                                     hub_listener *listener, hub_error *reterr);

/* clients.c */
HUB_MUST_CHECK hub_err net_clients_take(hub_listener *listener, const hub_tls_settings *tls,
                                        hub_error *reterr);
void net_clients_end(hub_listener *listener); /* what the context still refers to */

/* link.c */
extern const struct lws_protocols NET_PROTOCOLS[];
void net_link_adopt(hub_listener *listener, int fd, net_address *address);
void net_link_kill(hub_link *link); /* now; not from inside a libwebsockets callback */
void net_link_doom(hub_link *link); /* soon, from the loop */
void net_link_run_todo(hub_net *net);
/* The connection has broken; `error`: what errno says of that, 0: nothing. */
void net_link_note_failure(const hub_link *link, int error);
void net_link_update_rx(hub_link *link);
/* Say what is held for the link, with `more` bytes that are to be. */
hub_err net_link_settle(hub_link *link, size_t more);
void net_link_linger(hub_link *link);

/* output.c */
bool net_is_partial(const hub_link *link); /* libwebsockets has some of it left */
void net_link_writable(hub_link *link);
void net_link_drop_output(hub_link *link);
void net_flush_batch(hub_net *net);

/* waiting.c */
bool net_is_waiting(const hub_link *link, net_wait wait);
void net_start_waiting(hub_link *link, net_wait wait);
void net_stop_waiting(hub_link *link);
bool net_is_handshake_done(const hub_link *link);
void net_end_handshake(hub_link *link); /* it is done */
void net_check_deadlines(hub_net *net, uint64_t now_ms);

#endif
