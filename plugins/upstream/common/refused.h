/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that the hub refuses, read once more: whose answer was that? The hub's scanner stops at
 * the first fault, and many servers write the id behind the result. So this looks at quotes and
 * brackets alone: neither the depth nor the number of values matters, nor which bytes a string has.
 * One pass, no memory. Pure functions, any thread.
 */
#ifndef UPSTREAM_REFUSED_H
#define UPSTREAM_REFUSED_H

#include <patchbay/json.h>

#define REFUSED_ID_BYTES 256 /* of an id that is repeated to the server */

/* What the text says of itself. Spans point into it. */
typedef struct refused_message {
    patchbay_str id; /* raw; empty: there is none that can be trusted */
    int has_method;  /* so it is no answer */
    int has_outcome; /* a result or an error */
    int is_cut;      /* its end is missing, or its structure is broken */
    int is_in_batch; /* it is an element of an array */
} refused_message;

/* Walks over the messages of a text: one, or the elements of a batch. */
typedef struct refused_iter {
    const char *at;
    const char *end;
    int is_batch;
} refused_iter;

refused_iter refused_iterate(patchbay_str text);

/* The next object; 0 at the end, and where no object begins.
 * An id is trusted if it is the only one of a message whose structure holds up to its end; of one
 * that is cut, if it stands before the result: what follows could be text of the result. */
int refused_next(refused_iter *it, refused_message *ret_message);

/* The number that an id means, however it is written: 7, "7" and 7.0 are all meant to be 7. Anything
 * else: UINT64_MAX. */
uint64_t refused_number(patchbay_str id);

#endif
