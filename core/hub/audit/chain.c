/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/audit/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

/* The last line of a file that ends in `len` bytes of `text`. */
static hub_str last_line(hub_str text)
{
    text.len -= text.len > 0 && text.ptr[text.len - 1] == '\n';
    size_t begin = text.len;
    while (begin > 0 && text.ptr[begin - 1] != '\n') {
        begin--;
    }
    return hub_str_from(text, begin);
}

void hub_audit_chain_begin(hub_audit_chain *chain, hub_str file_end)
{
    unsigned char digest[HUB_DIGEST_BYTES] = {0};
    uint64_t id = 0;
    if (chain->id[0] != '\0') {
        return;
    }
    (void)!getrandom(&id, sizeof id, 0); /* cannot fail so */
    (void)snprintf(chain->id, sizeof chain->id, "%016" PRIx64, id);
    chain->seq = 0;
    if (file_end.len > 0) {
        hub_digest_of(last_line(file_end), digest);
    }
    hub_digest_hex(digest, chain->prev);
}

void hub_audit_chain_end_line(hub_audit_chain *chain, hub_buf *lines, size_t from)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_buf_printf(lines, ",\"chain\":\"%s\",\"seq\":%" PRIu64 ",\"prev\":\"%s\"}", chain->id,
                   ++chain->seq, chain->prev);
    if (hub_buf_ok(lines)) {
        hub_digest_of(hub_str_from(hub_buf_str(lines), from), digest);
        hub_digest_hex(digest, chain->prev);
    }
    hub_buf_add_char(lines, '\n');
}
