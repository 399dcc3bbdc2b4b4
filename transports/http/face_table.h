/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which row of which face answers a request: all rows of all faces (web/face.h) in one order, made
 * once, so that one look-up finds the path whatever their number. Rows that no request could reach,
 * or that two faces have, are refused when the table is made. Pure functions, any thread.
 */
#ifndef HTTP_FACE_TABLE_H
#define HTTP_FACE_TABLE_H

#include "web/face.h"

typedef struct hub_http_face_table hub_http_face_table;

/* A row at work. */
typedef struct hub_http_face_row {
    const hub_web_row *row;
    const hub_web_face *face;
    void *instance;
} hub_http_face_row;

/* A path, with all the rows that have it. */
typedef struct hub_http_place {
    hub_str path; /* without the star: one that had it ends in "/" */
    bool is_prefix;
    hub_web_need need;             /* the most that one of its rows needs */
    char allow[64];                /* its methods, as the header has them */
    const hub_http_face_row *rows; /* of the table */
    size_t count;                  /* of them */
    const struct hub_http_place
        *outer; /* the longest other one that this path is beneath, or NULL */
} hub_http_place;

/* Make the table of all rows of `served`, which is borrowed for the call; faces and instances must
 * outlive the table.
 * owns:    *ret_table, destroy it with hub_http_face_table_destroy
 * errors:  HUB_EINVAL (a row that is not as web/face.h has it), HUB_ECOLLISION (two rows with one
 *          method and path), HUB_ENOMEM; the text names face and path */
HUB_MUST_CHECK hub_err hub_http_face_table_create(const hub_web_served *served, size_t count,
                                                  hub_http_face_table **ret_table,
                                                  hub_error *reterr);
void hub_http_face_table_destroy(hub_http_face_table *table); /* NULL is fine */

/* The place of a path as the request has it, or NULL. */
const hub_http_place *hub_http_face_table_find(const hub_http_face_table *table, hub_str path);

/* The row of a method, where HEAD is served as GET; NULL: the place has no such method. */
const hub_http_face_row *hub_http_place_row(const hub_http_place *place, hub_str method);

#endif
