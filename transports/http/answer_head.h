/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an answer of another replica ends (RFC 9112 sections 6 and 7): its head is kept until it is
 * whole, its body is only measured. What cannot be read is refused. No I/O, any thread.
 */
#ifndef HTTP_ANSWER_HEAD_H
#define HTTP_ANSWER_HEAD_H

#include "http/chunked.h"

/* A plain value struct; what is not named in a comment is private. */
typedef struct hub_http_answer_head {
    int status;
    bool closes; /* the connection ends with this answer */
    bool is_chunked;
    bool is_until_end; /* the body ends with the connection */
    uint64_t left;     /* bytes of the body that are still to come */
    hub_http_chunked chunks;
} hub_http_answer_head;

void hub_http_answer_head_init(hub_http_answer_head *head);

/* Append bytes of a head to `text`, which had those before. DONE: the head is whole, with the empty line
 * behind it, and the first *ret_used bytes belong to it. REFUSED: it is none. */
hub_http_progress hub_http_answer_head_next(hub_http_answer_head *head, hub_str bytes,
                                            hub_buf *text, size_t *ret_used);

/* The first *ret_used bytes belong to the body. DONE: it ends with them. */
hub_http_progress hub_http_answer_body_next(hub_http_answer_head *head, hub_str bytes,
                                            size_t *ret_used);

/* Whether the end of the connection is the end of the answer. */
bool hub_http_answer_ends_with(const hub_http_answer_head *head);

/* The value of the first header of this name in a whole head, or the empty span. */
hub_str hub_http_answer_header(hub_str head, hub_str name);

#endif
