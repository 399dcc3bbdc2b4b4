/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the load generator: how it is connected, what it asks, where an answer ends. It reads
 * no more of an answer than it must, so that what is measured is the server.
 */
#ifndef PATCHBAY_BENCH_LOAD_CLIENT_H
#define PATCHBAY_BENCH_LOAD_CLIENT_H

#include <stddef.h>
#include <sys/types.h>

enum { MAX_CLIENTS = 4096, MAX_OUTSTANDING = 1024, READ_BYTES = 1 << 20 };

/* Ids of measured requests: always ten digits, so that a request is changed in place. */
enum { FIRST_ID = 1000000000 };

typedef struct options {
    long clients;
    long outstanding;
    long calls;
    long bytes;
    const char *text; /* of that length, escaped as it stands in JSON; NULL: all the same letter */
    const char *tool;
    int is_list; /* ask for tools/list instead of calling a tool */
    int is_modern;
    int is_raw;
    int is_http;
    int is_sse;       /* HTTP, too: the transport of 2024-11-05 */
    int is_websocket; /* a frame for each message, of text; one connection per client */
    int is_unix;      /* lines over a Unix socket */
    char **target;    /* the command, or port and path, or the path of a socket */
} options;

typedef struct client {
    pid_t pid;
    int in;  /* where requests go */
    int out; /* where answers come from; the same over a socket that has both */
    char *request;
    size_t request_len;
    size_t id_at;  /* where the id stands in the request */
    char *pending; /* of requests: what the server has not taken */
    size_t pending_len;
    size_t pending_done;
    char *input;
    size_t input_len;
    size_t input_cap;
    size_t searched;
    double sent_at[MAX_OUTSTANDING];
    long next_id;
    long in_flight;
} client;

extern options opt;

/* End the program, with errno's reason. */
void die(const char *what);

/* Zeroed memory; never NULL. */
void *allocate(size_t bytes);

/* Connect, or start the server, and be ready to send `request`. Legacy clients shake hands; over
 * HTTP the first one does, and all use its session. Descriptors do not block afterwards. */
void client_open(client *to, int is_first);

/* Close, and wait for the server to end if it was started. */
void client_close(client *of);

/* Start a server, write the whole opening and a tools/list, and wait for the answer to that. */
void client_start_and_list(client *to);

/* Read once. What read() says. */
ssize_t client_read(client *from);

/* The length of the answer at the front of the input, or 0 while it is incomplete; its JSON. */
size_t client_answer_length(client *from, const char **ret_answer, size_t *ret_len);

/* Drop what is at the front of the input. */
void client_use_up(client *from, size_t used);

/* The id of an answer, or -1. */
long id_of(const char *answer, size_t len);

/* Whether it is a JSON-RPC error or a failed tool result. */
int is_error(const char *answer, size_t len);

#endif
