/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's own Client ID Metadata Document, which its HTTP listeners serve: an authorization server that
 * takes such documents knows the hub by the document's address, and nobody registers anything.
 * spec: draft-ietf-oauth-client-id-metadata-document; MCP 2026-07-28 basic/authorization. Any thread.
 */
#ifndef HUB_LOGIN_DOCUMENT_H
#define HUB_LOGIN_DOCUMENT_H

#include "base/buf.h"

#define HUB_LOGIN_CALLBACK_PATH "/oauth/callback"
#define HUB_LOGIN_DOCUMENT_PATH "/oauth/client.json"

/* Append the document of the hub at `origin`: scheme, host and port. */
void hub_login_add_client_document(hub_str origin, hub_buf *out);

/* Where browsers come back to for a client whose document is at `address`, if that is a hub's own. NULL: it
 * is not, or no memory. owns: the result */
char *hub_login_dup_callback(const char *address);

#endif
