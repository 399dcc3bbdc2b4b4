/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes changes of an audit file show: each line ends with three members that tie it to the line
 * before it. A process has a chain of its own (several may append to one file), which begins at the line
 * that the file ended with, and goes on when the file is rotated.
 *
 *     …,"chain":"ID","seq":N,"prev":"HEX"}
 *
 * `prev` is the SHA-256 of the whole line before it in this chain, without its line break; in the first
 * line of a chain that of the line that the file ended with, or zeros where the file was empty. Whoever
 * can write the file could make a whole chain anew: what shows then is the last digest, kept elsewhere.
 * Any thread, one at a time.
 */
#ifndef HUB_HUB_AUDIT_CHAIN_H
#define HUB_HUB_AUDIT_CHAIN_H

#include "base/buf.h"
#include "base/digest.h"

enum { HUB_CHAIN_ID_BYTES = 17 }; /* 16 hexadecimal digits, with the NUL */

typedef struct hub_audit_chain {
    char id[HUB_CHAIN_ID_BYTES]; /* empty: it has not begun */
    uint64_t seq;                /* of the last line; 0: there is none */
    char prev[HUB_DIGEST_HEX_BYTES];
} hub_audit_chain;

/* Begin it behind what a file ends with (audit_file.h), if it has not begun. Its last line may be whole
 * or not. */
void hub_audit_chain_begin(hub_audit_chain *chain, hub_str file_end);

/* End the line that begins at `from` in the buffer, an object that wants its end, and go on with it. */
void hub_audit_chain_end_line(hub_audit_chain *chain, hub_buf *lines, size_t from);

#endif
