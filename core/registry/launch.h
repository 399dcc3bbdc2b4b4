/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a registry of MCP servers says of a server (server.json, schema 2025-12-11) as an entry of a
 * manifest: the command that starts it, in exactly one version, or the URL where it is. What is
 * published there is anybody's text: it never becomes a variable of the manifest, an option of the
 * program that starts it, or a version that changes by itself. Pure functions, any thread.
 */
#ifndef HUB_REGISTRY_LAUNCH_H
#define HUB_REGISTRY_LAUNCH_H

#include "config/node.h"

/* A value that somebody must or may give. */
typedef struct hub_launch_input {
    const char *name;        /* of the variable, header, option or argument */
    const char *description; /* may be NULL */
    const char *fallback;    /* NULL: there is none */
    const hub_node *choices; /* a list of all that it may be; NULL: anything */
    bool is_required;
    bool is_secret;
} hub_launch_input;

/* Who gives values. The nth of one input, from 0, as a manifest writes it (variables are expanded);
 * NULL: no (further) one. It lives as long as the launch. */
typedef struct hub_launch_giver {
    const char *(*give)(void *ctx, const hub_launch_input *input, size_t nth);
    void *ctx;
} hub_launch_giver;

/* What is wanted of it. */
typedef struct hub_launch_wish {
    const char *kind;   /* npm, pypi, oci, mcpb or remote; NULL: the first that can be had */
    const char *digest; /* of an OCI image that is named without: sha256:HEX; NULL: none */
    hub_launch_giver giver;
} hub_launch_wish;

typedef struct hub_launch {
    const char *kind; /* of those above */
    const char *name; /* of the server */
    const char *version;
    const char *description;   /* may be NULL */
    const char *note;          /* what is not sure about it, for people; NULL: nothing */
    const char *bundle_url;    /* mcpb: what is to be fetched … */
    const char *bundle_digest; /* … and its SHA-256 in hexadecimal */
    hub_buf entry;             /* else a JSON object: the entry of the manifest */
} hub_launch;

/* Of `server`, a server.json, make a launch. Strings are of the arena or of the nodes.
 * owns:    ret_launch->entry, hub_buf_fini
 * errors:  HUB_EINVAL (not a server.json, or it says what it may not), HUB_ENOTFOUND (nothing in it
 *          can be run here), HUB_EDENIED (a value is wanted that nobody gives, or an image without
 *          digest), HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_launch_make(const hub_node *server, const hub_launch_wish *wish,
                                       hub_arena *arena, hub_launch *ret_launch, hub_error *reterr);

/* The value of an input: what is given, else what it falls back to, else NULL.
 * errors:  HUB_EDENIED (it is required), HUB_EINVAL (it is none of the choices), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_launch_value(const hub_launch_giver *giver,
                                        const hub_launch_input *input, size_t nth, hub_arena *arena,
                                        const char **ret_value, hub_error *reterr);

/* Text as a manifest has to write it for the hub to read just that: each dollar twice. NULL when out
 * of memory. */
const char *hub_launch_escape(const char *text, hub_arena *arena);

/* Whether it is a SHA-256 in lower-case hexadecimal. */
bool hub_launch_is_sha256(hub_str text);

#endif
