/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's configuration: one immutable value, read from any number of files, the environment and
 * (by the command line) overrides. Reading it touches no toolset, no plugin and no socket.
 *
 * Formats: the hub's own manifest in YAML or JSON (schemas/manifest.schema.json; every key is shown
 * in examples/manifest-reference.yaml); and any `mcpServers` / VS Code `servers` file as it is.
 * JSON may have comments and trailing commas. A file is recognised by its top keys. Values in
 * command, args, env, cwd, url, headers, and text in a module's config, are expanded:
 * ${VAR}, ${VAR:-default}, ${env:VAR}, ${file:/path}, ${secret:NAME}, ${credential:NAME}, $$; one
 * pass, no nesting, no shell. Of a
 * toolset that is switched off nothing is expanded. Times in the manifest have a unit ("30s"); in a
 * foreign file a bare number is milliseconds.
 *
 * All strings are NUL-terminated, owned by the hub_config, and live until hub_config_destroy.
 * Lists are arrays with a count. Times are milliseconds, sizes bytes; 0 means "not set" only where
 * said.
 */
#ifndef HUB_CONFIG_CONFIG_H
#define HUB_CONFIG_CONFIG_H

#include "config/file.h"
#include "hub/kernel/settings.h"
#include "redact/redact.h"

/* The config_json of a server entry, for module mcp_upstream or mcp_remote: its keys are the
 * `module_key`s of keys.h, in the order of the rows there. What was not written is absent. Times
 * are milliseconds; `type` is stdio, http, sse or websocket whatever the spelling in the file was;
 * paths are absolute; every string is valid UTF-8 without NUL, none is empty but
 * arguments and the values of env and headers; headers hold no line break. Of a toolset that is not
 * enabled, variables are not expanded. */

/* A file that the configuration was read from: a manifest, a ${file:…}, the tokens, a certificate, a
 * lock file; also one that was looked for and is not there, which may come. */
typedef struct hub_config_file {
    const struct hub_config_file *next;
    const char *path;     /* absolute */
    hub_file_stamp stamp; /* of just before it was read */
    bool is_manifest;
} hub_config_file;

/* An entry of another program's file that cannot be served; the others can. */
typedef struct hub_config_refused {
    const char *key;  /* of the toolset that it would be; NULL: its name makes none */
    const char *text; /* where it stands, and what is wrong: a finished line */
} hub_config_refused;

typedef struct hub_config {
    hub_generation generation; /* first; of the settings, whose holders keep all of it */
    hub_settings settings;
    /* Where the other hubs behind the same address bring requests that belong here, and how they call
     * this one: an IP address. Its trusted_proxies are these hubs. `address` NULL: nobody brings any. */
    hub_listen_settings replica;
    const hub_config_file *files;
    const char *tokens_file;     /* absolute; NULL: nobody has to authenticate */
    const char *tokens_source;   /* who named it, for messages */
    const char *const *warnings; /* finished lines: unknown keys of a foreign file, … */
    size_t warning_count;
    const hub_config_refused *refused;
    size_t refused_count;
    bool has_stored_secrets; /* some of it is ${secret:…} */
    hub_redact_set *secrets; /* what of it is masked wherever the hub writes it */
    struct hub_arena *arena; /* holds all of it; for hub_config_destroy only */
} hub_config;

/* What the command line overrides; absent members change nothing. Precedence: flag, environment,
 * file, default. What a profile has too (startup, toolsets, naming, meta-tools) is overridden in
 * every profile. */
typedef struct hub_config_overrides {
    hub_names plugin_dirs;
    hub_names toolsets; /* --toolsets */
    hub_names allow;
    hub_names deny;
    const char *startup;    /* --startup dynamic|static */
    const char *max_active; /* text of --max-active */
    const char *naming;     /* text of --naming */
    const char *equip;      /* --equip */
    const char *log_level;
    const char *log_format;
    hub_names http;          /* each --http; with `sockets`, instead of the manifest's listeners */
    hub_names sockets;       /* each --unix */
    hub_names allowed_hosts; /* --allowed-host, for every HTTP listener */
    hub_names allowed_origins; /* --allowed-origin */
    const char *tokens;        /* --tokens */
    const char *profile;       /* --profile: what each --unix serves */
    bool insecure;             /* --insecure, for every HTTP listener */
    bool no_meta_tools;
    bool allow_writable;
    bool ignores_lock;      /* nothing is held against a lock file */
    bool lenient_variables; /* to check a file that is used elsewhere: unset ones are no error */
} hub_config_overrides;

/* Read the files in order and apply environment and overrides. Toolsets of all files are joined
 * (the same key twice is an error); other keys of a later file win. No file is fine: defaults.
 * An entry of another program's file that is wrong is left out and told in `refused`, since that
 * program may know what the hub does not; nothing is served only when no entry is good, which is an
 * error. The hub's own manifest is good as a whole or not at all: whoever wrote it wrote it for the
 * hub, and a slip in it shall not stop a server in silence.
 * `environ` is a NULL-terminated NAME=value list (variables to expand, PATCHBAY_<TOOLSET>_ENABLED,
 * where the key is upper-cased and '-' becomes '_'; one that means two toolsets is an error).
 * owns:    *ret_config, destroy it with hub_config_destroy
 * thread:  [init] or a worker      blocks: yes, reads files
 * errors:  HUB_EPARSE, HUB_EINVAL (unknown key, wrong type, bad value, duplicate toolset),
 * HUB_ENOTFOUND (no such file), HUB_ESYSTEM (unreadable), HUB_ELIMIT, HUB_ENOMEM. The text begins
 *          "FILE:LINE: key.path: " and, for a misspelt key, ends `did you mean "command"?` */
HUB_MUST_CHECK hub_err hub_config_load(const char *const *files, size_t file_count,
                                       const char *const *environ,
                                       const hub_config_overrides *overrides,
                                       hub_config **ret_config, hub_error *reterr);

/* Of the same files, what they say of the store alone: settings.state. Nothing else is read, so what
 * is wrong elsewhere, or a secret that is not there yet, does not matter. For who keeps secrets.
 * owns, thread, blocks, errors: as hub_config_load */
HUB_MUST_CHECK hub_err hub_config_load_state(const char *const *files, size_t file_count,
                                             const char *const *environ, hub_config **ret_config,
                                             hub_error *reterr);

/* The same from memory: one document, called `name` in messages; relative folders in it are below
 * name's own. Reads no file: ${file:…}, ${secret:…} and ${credential:…} are refused.
 * owns:    as hub_config_load; `text` is read during the call only
 * thread:  [any]      blocks: no
 * errors:  as hub_config_load */
HUB_MUST_CHECK hub_err hub_config_parse(const char *name, hub_str text, const char *const *environ,
                                        const hub_config_overrides *overrides,
                                        hub_config **ret_config, hub_error *reterr);

/* Read what a hub needs that serves over the network, and only then: the tokens file becomes
 * settings.auth; certificates, keys, a socket's folder and group must be there; an address that is
 * not loopback must be guarded by tokens, or said to be insecure.
 * thread:  [init] or a worker      blocks: yes, reads files
 * errors:  HUB_EDENIED (an address that strangers reach, unguarded), HUB_EINVAL (a bad tokens
 *          file, a secret that others may read), HUB_ENOTFOUND, HUB_ESYSTEM, HUB_ELIMIT,
 *          HUB_ENOMEM; the text says what to do */
HUB_MUST_CHECK hub_err hub_config_load_network(hub_config *config, hub_error *reterr);

/* Whether only this machine can reach an address of settings.listens. */
bool hub_config_is_loopback(const char *address);

/* Read a size as the manifest has it: "64KiB", "4MiB", or a number of bytes. False: it is none, or
 * more than 64 bits hold. */
bool hub_config_parse_size(hub_str text, uint64_t *ret_bytes);

/* What PATCHBAY_<KEY>_ENABLED says of a toolset: true, 1, yes, on, or false, 0, no, off, in any
 * case. hub_config_load asks it for the toolsets that files name; ask it for modules found
 * otherwise. `ret_enabled` keeps its value when there is no such variable. errors:  HUB_EINVAL
 * (another value) */
HUB_MUST_CHECK hub_err hub_config_env_enabled(const char *const *environ, const char *key,
                                              bool *ret_enabled, hub_error *reterr);

/* Append a list of objects, one for each limit: `name`, `value` and `default` as a manifest has them,
 * `about`. */
void hub_config_add_limits(const hub_limits *limits, hub_buf *out);

/* Let go of it: it lives on while somebody holds its settings. NULL is fine. */
void hub_config_destroy(hub_config *config);

#endif
