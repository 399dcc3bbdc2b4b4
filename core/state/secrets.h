/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing of secrets: AES-256-GCM (NIST SP 800-38D) by libcrypto, with a random nonce for each
 * write. Scope, kind, owner, key and version of the record are associated data: what is sealed for
 * one record is no good for another, nor for an older version of its own.
 *
 * A key is 32 bytes, written as 64 hexadecimal digits (`openssl rand -hex 32`). A text may have
 * several, with white space between them: the first one seals, all of them open.
 *
 * libcrypto's EVP is touched when something is sealed or opened, not before: its first use costs
 * 2 MiB. Thread: [any], one at a time, but where it says otherwise.
 */
#ifndef HUB_STATE_SECRETS_H
#define HUB_STATE_SECRETS_H

#include "base/buf.h"
#include "state/store.h"

enum {
    HUB_STATE_KEY_ID_BYTES = 17, /* 16 hexadecimal digits and a NUL */
    HUB_STATE_DERIVED_BYTES = 32,
    HUB_STATE_SEAL_BYTES = 28, /* what sealing adds: nonce and tag */
};

#define HUB_STATE_KEY_VARIABLE "PATCHBAY_STATE_KEY"

/* Take the keys out of the environment, whose memory is wiped: neither a child nor who looks into
 * the process's environment finds them. To be called first of all in the process. [init] */
void hub_state_keys_take_environment(void);

/* Keys of a text. errors: HUB_EINVAL (it is no key), HUB_ELIMIT (too many), HUB_ENOMEM
 * owns:    *ret_keys, hub_state_keys_destroy */
HUB_MUST_CHECK hub_err hub_state_keys_parse(hub_str text, hub_state_keys **ret_keys,
                                            hub_error *reterr);

/* The keys there are: of the environment; else of `file` (may be NULL), which must be the user's own
 * and nobody else's to read; else of the systemd credential `patchbay.state.key`. *ret_keys is NULL
 * when there are none.
 * blocks:  reads a file
 * errors:  those of parse; HUB_ENOTFOUND, HUB_EDENIED (others may read it), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_state_keys_load(const char *file, hub_state_keys **ret_keys,
                                           hub_error *reterr);

/* Those of a file alone, whatever else there is. blocks, errors: as load */
HUB_MUST_CHECK hub_err hub_state_keys_read(const char *file, hub_state_keys **ret_keys,
                                           hub_error *reterr);

/* How many there are, and a key derived of one of them for a use (RFC 5869: HKDF of SHA-256). False:
 * out of memory. */
size_t hub_state_keys_count(const hub_state_keys *keys);
HUB_MUST_CHECK bool hub_state_keys_derive(const hub_state_keys *keys, size_t at, const char *use,
                                          unsigned char ret_key[HUB_STATE_DERIVED_BYTES]);

/* What stands for keys that cannot be had: nothing is sealed or opened, for this reason. errors:
 * HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_keys_broken(const char *why, hub_state_keys **ret_keys,
                                             hub_error *reterr);
void hub_state_keys_destroy(hub_state_keys *keys); /* wipes them; NULL is fine */

/* Which key seals, as records name it. [any] */
const char *hub_state_keys_id(const hub_state_keys *keys);

/* Seal a document for a record with its version. errors: HUB_ESYSTEM, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_seal(const hub_state_keys *keys, const hub_state_record *record,
                                      hub_buf *ret_sealed, hub_error *reterr);

/* Open what is sealed for a record: record->document, by record->key_id. `keys` may be NULL.
 * errors:  HUB_EDENIED (the key is not known; it was not sealed for this record, or is damaged),
 *          HUB_ESYSTEM, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_open(const hub_state_keys *keys, const hub_state_record *record,
                                      hub_buf *ret_document, hub_error *reterr);

#endif
