/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of config/ share while a configuration is read: the reader (the configuration
 * being built, and where memory and messages go), and tables of keys. A format is a table: each row
 * is a key, what parses it, and where the value goes. Internal to config/, and for its tests.
 */
#ifndef HUB_CONFIG_READER_H
#define HUB_CONFIG_READER_H

#include "config/config.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/node.h"
#include "state/sync.h"

/* A profile before its rules are checked; the nodes say where its start-up was written, NULL:
 * nowhere. */
typedef struct hub_config_profile_draft {
    hub_profile_settings profile;
    const hub_node *startup_node;
    const hub_node *toolsets_node;
} hub_config_profile_draft;

/* What is done with every call, as it was written: by the rows of HUB_CONFIG_MIDDLEWARE_KEYS. */
typedef struct hub_config_middleware {
    const hub_node *said[HUB_CONFIG_MIDDLEWARE_KEY_COUNT]; /* NULL: not */
} hub_config_middleware;

/* The same of large results: by the rows of HUB_CONFIG_RESULT_KEYS. */
typedef struct hub_config_results {
    const hub_node *said[HUB_CONFIG_RESULT_KEY_COUNT];
} hub_config_results;

/* A toolset before its rules are checked, in whichever format it was written. NULL: not written. */
typedef struct hub_config_toolset_draft {
    hub_toolset_settings toolset; /* first: no other member lies at its start */
    const hub_node *node;         /* the whole entry */
    /* What its module gets, by the rows of HUB_CONFIG_TOOLSET_KEYS; some of it has a member, too,
     * since rules hold between them. */
    const hub_node *said[HUB_CONFIG_MOST_KEYS];
    const hub_node *command;
    const hub_node *url;
    const hub_node *type;
    const hub_node *certificate;
    const hub_node *private_key;
    const hub_node *enabled;
    const hub_node *disabled;
    const hub_node *module;
    const hub_node *config;
    const hub_node *isolation;
    const hub_node *timeout;
    const hub_node *overrides;
    const hub_node *login;
    hub_config_middleware middleware;
    hub_config_results results;
    const char *default_type; /* when `type` is NULL; may be NULL */
} hub_config_toolset_draft;

/* A toolset of the configuration, until all files have been read. */
typedef struct hub_config_toolset {
    hub_toolset_settings settings;
    const hub_node *node;
    hub_config_middleware middleware;
    hub_config_results results;
    bool is_isolation_said;
    bool is_foreign; /* of another program's file */
    bool is_refused; /* and left out */
} hub_config_toolset;

/* A file, parsed. */
typedef struct hub_config_document {
    const char *name;
    const char *folder; /* what its paths are relative to */
    const hub_node *root;
    bool is_pipe; /* it has no place */
} hub_config_document;

typedef struct hub_config_reader {
    hub_config config;  /* under construction: the last file's word stands */
    hub_arena *arena;   /* of the configuration */
    hub_arena *scratch; /* nodes: they live until the reader has finished */
    hub_expand_source variables;
    hub_redact_set *secrets;
    hub_config_document *documents; /* all of them, parsed before any is read */
    size_t document_count;
    hub_state_sync *store;    /* opened for the first ${secret:…}; NULL: not yet */
    bool is_confidential;     /* values of variables are secrets now: secrets.c */
    const char *folder;       /* of the file being read, absolute */
    bool is_foreign;          /* it belongs to another program: unknown keys are warnings */
    bool is_switched_off;     /* the toolset being read is: nothing is expanded */
    const char *default_name; /* hub.name, when nobody gives it one */
    bool has_cache;           /* catalogs are to be remembered on disk */
    hub_error *reterr;
    hub_config_profile_draft
        base; /* what the manifest's `hub` says: every profile starts from it */
    const hub_node *call_limit_node; /* what was said last of limits.call_timeout or call_ceiling */
    const hub_node **profile_nodes;  /* profiles are read last, when `base` is complete */
    size_t profile_node_count;
    hub_config_toolset *toolsets;
    size_t toolset_count;
    hub_config_middleware middleware; /* of the hub: what toolsets do not say themselves */
    hub_config_results results;       /* likewise */
    hub_listen_settings *listens;     /* of the last file that has any, or of the command line */
    const hub_node **listen_nodes;    /* by the same index */
    size_t listen_count;
    hub_saved_settings *saved; /* sorted at the end */
    size_t saved_count;
    size_t saved_before_files; /* those that are not of the files of this manifest */
    bool is_listed;            /* some file says what there is to serve, be it nothing */
    const char **warnings;
    size_t warning_count;
    hub_config_refused *refused;
    size_t refused_count;
} hub_config_reader;

/* config.c: remember that a file is read, just before it is. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_config_note_file(hub_config *config, const char *path, bool is_manifest,
                                            hub_error *reterr);

/* issuers.c: auth.issuers, into the settings. */
hub_err hub_config_read_issuers(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target);
extern const hub_config_key HUB_CONFIG_ISSUER_KEYS[];

/* replicas.c: replicas.listen, replicas.peers. */
hub_err hub_config_read_replica(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target);
hub_err hub_config_read_peers(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target);

/* listen.c: where clients reach the hub, and who they must be. */
hub_err hub_config_read_listens(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target);
/* listen.c: a text with its variables expanded, not empty; blocks of addresses, at most
 * HUB_LIMIT_TRUSTED_PROXIES (`what` they are), into trusted_proxies. */
HUB_MUST_CHECK hub_err hub_config_expand_text(hub_config_reader *reader, const hub_node *node,
                                              const char **ret_text);
HUB_MUST_CHECK hub_err hub_config_read_blocks(hub_config_reader *reader, const hub_node *node,
                                              const char *what, hub_listen_settings *listen);
/* tls.c: whether what a listener (`item`) says of TLS is complete. */
HUB_MUST_CHECK hub_err hub_config_check_tls(const hub_config_reader *reader, const hub_node *item,
                                            const hub_tls_settings *tls);
/* listen_address.c: PORT or ADDRESS:PORT, into the listener's address and port. */
extern const char HUB_CONFIG_WANTED_ADDRESS[];
HUB_MUST_CHECK hub_err hub_config_split_address(hub_config_reader *reader, const hub_node *node,
                                                const char *text, hub_listen_settings *listen);
/* listen.c: the listeners of the command line: they are added to those that are there. */
hub_err hub_config_read_http_flags(hub_config_reader *reader, const hub_node *node,
                                   const hub_config_key *key, void *target);
hub_err hub_config_read_unix_flags(hub_config_reader *reader, const hub_node *node,
                                   const hub_config_key *key, void *target);
hub_err hub_config_read_hosts(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target); /* hub_names */
hub_err hub_config_read_origins(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target); /* hub_names */
hub_err hub_config_read_audit(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target); /* hub_audit_settings */
/* const char *, absolute; variables are expanded */
hub_err hub_config_read_path(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target);
hub_err hub_config_read_tokens_file(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target);
/* Hold the listeners against each other and against the profiles, and hand them over. */
HUB_MUST_CHECK hub_err hub_config_finish_listens(hub_config_reader *reader);

/* replicas.c: whether all is said that it takes to pass requests on to other replicas. */
HUB_MUST_CHECK hub_err hub_config_finish_replicas(hub_config_reader *reader);

/* What replicas compare: hub_replicas_settings.sections, of all documents. (sections.c) */
hub_err hub_config_digest_sections(hub_config_reader *reader);

/* state.c: the store; and where it is when no file says so, and whose. */
hub_err hub_config_read_state(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target); /* hub_state_settings */
HUB_MUST_CHECK hub_err hub_config_finish_state(hub_config_reader *reader);
/* … as the documents say before they are read; nothing of it may be a secret of the store. */
HUB_MUST_CHECK hub_err hub_config_find_state(const hub_config_reader *reader,
                                             hub_state_settings *ret_state, hub_error *reterr);

/* stored_secrets.c: hub_expand_source.find_secret; the context is the reader. */
hub_err hub_config_find_secret(void *ctx, hub_secret_kind kind, hub_str name, hub_buf *value,
                               hub_error *reterr);
/* pins.c: hold the toolsets against the lock file, unless it is to be ignored. */
HUB_MUST_CHECK hub_err hub_config_finish_pins(hub_config_reader *reader, bool ignores_lock);
/* origin.c: settings.origin of a toolset. */
HUB_MUST_CHECK hub_err hub_config_find_origin(hub_config_reader *reader,
                                              hub_config_toolset_draft *draft);

/* secrets.c: whether a name says that its value is a secret. */
bool hub_config_is_telling(hub_str name);
/* secrets.c: mask a value wherever the hub writes it. */
HUB_MUST_CHECK hub_err hub_config_hide(hub_config_reader *reader, hub_str secret,
                                       hub_error *reterr);

/* access.c: rules; lists of scopes (hub_names); globs over tools to scopes (hub_names, lines). When all
 * files are read, the profiles that rules name are there. */
hub_err hub_config_read_access(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target); /* hub_access_settings */
hub_err hub_config_read_scopes(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target);
hub_err hub_config_read_tool_scopes(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target);
/* … and one such line. */
HUB_MUST_CHECK hub_err hub_config_read_scope_line(hub_config_reader *reader, const hub_node *node,
                                                  const char *glob, const char **ret_line);
HUB_MUST_CHECK hub_err hub_config_finish_access(hub_config_reader *reader);

/* middleware.c: what is done with the calls of a toolset when all files are read. */
HUB_MUST_CHECK hub_err hub_config_finish_middleware(hub_config_reader *reader,
                                                    const hub_config_middleware *own,
                                                    hub_toolset_settings *toolset);

/* results.c: what becomes of a toolset's large results, when all files are read and its middleware is;
 * and the tool that reads on, where some are kept. */
HUB_MUST_CHECK hub_err hub_config_finish_results(hub_config_reader *reader,
                                                 const hub_config_toolset *toolset,
                                                 hub_toolset_settings *settings);
void hub_config_offer_results(const hub_config_reader *reader);
/* … as an override of a tool says it, into JSON */
HUB_MUST_CHECK hub_err hub_config_add_tool_results(hub_config_reader *reader, const hub_node *node,
                                                   hub_buf *out);

/* isolation.c: whether a toolset's module runs in a process of its own: what the toolset says
 * (`server_key`: what makes it a server, or NULL); and what is right when all files are read. */
HUB_MUST_CHECK hub_err hub_config_begin_isolation(hub_config_reader *reader,
                                                  hub_config_toolset_draft *draft,
                                                  const hub_node *server_key);
HUB_MUST_CHECK hub_err hub_config_finish_isolation(hub_config_reader *reader, const hub_node *node,
                                                   bool is_said, hub_toolset_settings *toolset);

/* meta_tools.c: true, false or a list of groups; unsigned, a set of HUB_META_…. */
hub_err hub_config_read_meta_tools(hub_config_reader *reader, const hub_node *node,
                                   const hub_config_key *key, void *target);
#define HUB_CONFIG_META_TOOLS_SCHEMA                                                               \
    "{\"anyOf\":[{\"type\":\"boolean\"},{\"type\":\"array\",\"items\":{\"enum\":[\"toolsets\","    \
    "\"saved\",\"search\",\"fanout\"]}}]}"

/* saved.c: saved toolsets of the manifest, and of files; which one a profile equips. */
hub_err hub_config_read_saved(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target);
hub_err hub_config_read_saved_files(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target);
hub_err hub_config_read_equip(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target); /* const char * */
void hub_config_finish_saved(hub_config_reader *reader);

/* cache.c: where catalogs are remembered, when all files have been read. */
HUB_MUST_CHECK hub_err hub_config_finish_cache(hub_config_reader *reader);

/* values.c: kinds of values; the comment says the type of the member. */
hub_err hub_config_read_text(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target); /* const char *, not empty */
hub_err hub_config_read_bool(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target); /* bool */
hub_err hub_config_read_count(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target); /* uint32_t */
hub_err hub_config_read_size(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target); /* uint32_t, bytes */
hub_err hub_config_read_duration(hub_config_reader *reader, const hub_node *node,
                                 const hub_config_key *key, void *target); /* uint32_t, ms */
hub_err hub_config_read_word(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target); /* an enum */
hub_err hub_config_read_choice(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target); /* bool, by `words` */
hub_err hub_config_read_names(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target); /* hub_names */
/* A list of whose elements `read_item` makes text. */
typedef hub_err hub_config_read_item_fn(hub_config_reader *reader, const hub_node *item,
                                        const char **ret_text);
hub_err hub_config_read_list(hub_config_reader *reader, const hub_node *node,
                             hub_config_read_item_fn *read_item, hub_names *list);
hub_err hub_config_read_toolset_names(hub_config_reader *reader, const hub_node *node,
                                      const hub_config_key *key, void *target); /* hub_names */
hub_err hub_config_read_folders(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target); /* hub_names */
hub_err hub_config_read_node(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target); /* const hub_node * */
/* The map that key->keys describes, its members from target + key->offset on; null is empty. */
hub_err hub_config_read_map(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target);
/* Like that, by two tables: a key that `keys` lacks is looked for in `more`. */
HUB_MUST_CHECK hub_err hub_config_read_map_of(hub_config_reader *reader, const hub_node *node,
                                              const hub_config_key *keys,
                                              const hub_config_key *more, void *target);

/* toolset.c: keep the node of a row of HUB_CONFIG_TOOLSET_KEYS in the draft: in `said` and, if the
 * row has an offset, in the member there. */
hub_err hub_config_keep(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                        void *target);

/* manifest.c: a profile's start; key->offset leads to the hub_config_profile_draft. */
hub_err hub_config_read_startup(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target);
hub_err hub_config_read_startup_toolsets(hub_config_reader *reader, const hub_node *node,
                                         const hub_config_key *key, void *target);

/* forward_headers.c: names of headers that clients send and a server is to get. */
HUB_MUST_CHECK hub_err hub_config_read_forward_headers(hub_config_reader *reader,
                                                       const hub_node *node, hub_names *ret_names);

/* Whether it can be the name of a header: a token (RFC 9110, section 5.1). */
bool hub_config_is_header(hub_str name);

/* Whether it can be the key of a toolset or the name of a profile, but for what is reserved. */
bool hub_config_is_key(hub_str key);

/* Refuse a toolset key that breaks the rules (DESIGN.md, "Exposure"). */
HUB_MUST_CHECK hub_err hub_config_check_toolset_key(hub_config_reader *reader, const hub_node *node,
                                                    hub_str key);

/* "FILE:LINE: path: wanted WANTED, found …". Never used for values that may be secret. */
hub_err hub_config_wrong(const hub_config_reader *reader, const hub_node *node, const char *wanted);

/* Like hub_config_wrong, but says of the value no more than its kind. */
hub_err hub_config_wrong_kind(const hub_config_reader *reader, const hub_node *node,
                              const char *wanted);

/* Add a line to the warnings, with the node's place in front. */
HUB_MUST_CHECK hub_err hub_config_warn(hub_config_reader *reader, const hub_node *node,
                                       const char *format, ...) HUB_PRINTF(3, 4);

/* "FILE:LINE: path" of a node, for messages that come later; the arena's, NULL when out of memory.
 */
const char *hub_config_place(const hub_config_reader *reader, const hub_node *node);

/* The failure of one of the arenas. */
hub_err hub_config_no_memory(const hub_config_reader *reader);

/* `items` with room for one more behind `count`; grows by doubling. NULL when out of memory. */
void *hub_config_grow(hub_config_reader *reader, void *items, size_t count, size_t item_bytes);

/* toolset.c: check the draft's rules and add it to the reader's toolsets; `key` is checked already.
 */
HUB_MUST_CHECK hub_err hub_config_add_toolset(hub_config_reader *reader,
                                              hub_config_toolset_draft *draft, const char *key);

/* An entry on which nothing was said. */
HUB_MUST_CHECK hub_err hub_config_begin_toolset(hub_config_reader *reader, const hub_node *node,
                                                hub_config_toolset_draft *draft);

/* socket_url.c: "unix:PATH" or "unix://PATH"; the path is as it is, and absolute. */
bool hub_config_is_socket_url(hub_str url);
HUB_MUST_CHECK hub_err hub_config_check_socket_url(hub_config_reader *reader, const hub_node *node,
                                                   hub_str url);

/* toolset_json.c: append what a module gets as its configuration; for a server also decide which
 * module that is. */
HUB_MUST_CHECK hub_err hub_config_add_server_json(hub_config_reader *reader,
                                                  hub_config_toolset_draft *draft, hub_buf *out);
/* … what is said of the process that an isolated module runs in */
HUB_MUST_CHECK hub_err hub_config_add_process_json(hub_config_reader *reader,
                                                   hub_config_toolset_draft *draft, hub_buf *out);
bool hub_config_is_proxy(const char *module); /* it is what server entries become */
HUB_MUST_CHECK hub_err hub_config_add_module_json(hub_config_reader *reader,
                                                  const hub_config_toolset_draft *draft,
                                                  hub_buf *out);

/* … any tree as JSON, its text with variables expanded */
HUB_MUST_CHECK hub_err hub_config_add_json(hub_config_reader *reader, const hub_node *node,
                                           hub_buf *out);

/* tool_overrides.c: what becomes of tools on their way to clients, when it is known whether the
 * toolset is switched off. */
HUB_MUST_CHECK hub_err hub_config_add_overrides(hub_config_reader *reader,
                                                hub_config_toolset_draft *draft);

/* login.c: how the hub logs in to the server, when that is known, too. */
HUB_MUST_CHECK hub_err hub_config_add_login(hub_config_reader *reader,
                                            hub_config_toolset_draft *draft);

/* … and when all settings are: whose tokens are exchanged there, and are kept for that. */
HUB_MUST_CHECK hub_err hub_config_finish_login(hub_config_reader *reader,
                                               const hub_config_toolset *toolset);

/* tool_limits.c: what tools may be asked for. */
hub_err hub_config_read_tool_limits(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target); /* hub_tool_limits */

/* Append the node's text to `value`, with its variables expanded unless the toolset being read is
 * switched off. */
HUB_MUST_CHECK hub_err hub_config_expand(hub_config_reader *reader, const hub_node *node,
                                         hub_buf *value);

/* The same for what may hold secrets: the values of its variables are masked from now on. */
HUB_MUST_CHECK hub_err hub_config_expand_secret(hub_config_reader *reader, const hub_node *node,
                                                hub_buf *value);

/* Mask a text of the manifest if the name that it stands under says that it is a secret; the parts
 * of a URL that are. errors: HUB_ELIMIT (too many of them), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_config_hide_named(hub_config_reader *reader, hub_str name, hub_str text);
HUB_MUST_CHECK hub_err hub_config_hide_url(hub_config_reader *reader, hub_str url);

/* hub_expand_source.on_value; the context is the reader. */
hub_err hub_config_hide_variable(void *ctx, hub_str name, hub_str value, hub_error *reterr);

/* refused.c: work on one entry of another program's file with errors of its own: between the two,
 * reader->reterr is `why`. What ended with `err` then is noted as refused, and HUB_OK, unless memory
 * is at its end. `key`: of the toolset, or NULL. */
typedef struct hub_config_attempt {
    hub_error why;
    hub_error *outer;
} hub_config_attempt;
void hub_config_begin_attempt(hub_config_reader *reader, hub_config_attempt *attempt);
HUB_MUST_CHECK hub_err hub_config_end_attempt(hub_config_reader *reader,
                                              hub_config_attempt *attempt, hub_err err,
                                              const char *key);
/* Hand the refused entries over; an error when nothing else is left. */
HUB_MUST_CHECK hub_err hub_config_finish_refused(hub_config_reader *reader);

/* mcp_servers.c: the entries of another program's file (a map or a list), or NULL if it is none. */
const hub_node *hub_config_find_servers(const hub_node *root);
HUB_MUST_CHECK hub_err hub_config_read_servers(hub_config_reader *reader, const hub_node *servers);

/* overrides.c: the command line's word. */
HUB_MUST_CHECK hub_err hub_config_apply_overrides(hub_config_reader *reader,
                                                  const hub_config_overrides *overrides);
HUB_MUST_CHECK hub_err hub_config_apply_profile_overrides(hub_config_reader *reader,
                                                          const hub_config_overrides *overrides,
                                                          hub_config_profile_draft *draft);

/* Refuse a variable, PATCHBAY_A_B_ENABLED, that means more than one toolset: "a-b" and "a_b". */
HUB_MUST_CHECK hub_err hub_config_check_variables(const hub_config_reader *reader);

/* profiles.c: the default profile and all others, from `base` and profile_nodes. */
HUB_MUST_CHECK hub_err hub_config_finish_profiles(hub_config_reader *reader,
                                                  const hub_config_overrides *overrides);

#endif
