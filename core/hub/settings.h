/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user decides about the hub, as one plain value. It is read from manifests, environment and
 * command line (config/), and obeyed in this room. Immutable once made; strings are NUL-terminated
 * and belong to whoever made it. Times are milliseconds, sizes bytes; every number is set, to its
 * default (base/limits.h) if nothing else.
 */
#ifndef HUB_HUB_SETTINGS_H
#define HUB_HUB_SETTINGS_H

#include "base/log.h"
#include "tools/rules.h"

typedef enum hub_startup {
    HUB_STARTUP_DEFAULT, /* dynamic; toolsets with `active` not false are active at start */
    HUB_STARTUP_DYNAMIC, /* nothing active at start; listed toolsets are ignored with a warning */
    HUB_STARTUP_STATIC,  /* exactly the listed ones, for good */
} hub_startup;

typedef struct hub_toolset_settings {
    const char *key;         /* see hub_naming_check_key */
    const char *module;      /* default: the key; "mcp_upstream" for a server entry */
    const char *description; /* NULL: the module's */
    const char *config_json; /* for the module: one JSON object, variables expanded */
    const char *source;      /* "FILE:LINE", for messages */
    bool enabled;            /* false: switched off by configuration, for good */
    bool active;             /* false: available, but not active at start */
    bool lazy;               /* upstreams: connect at the first need (default) */
    bool sharing_session;    /* sharing: session — one instance per client session */
    uint32_t call_timeout_ms;
    uint32_t max_calls;    /* calls in flight; 0: the hub's own limit */
    hub_names tools_allow; /* globs over the toolset's own tool names; absent: all */
    hub_names tools_deny;
    hub_names tags;       /* added to each of its tools */
    const char *category; /* NULL: each tool's own */
} hub_toolset_settings;

typedef struct hub_profile_settings {
    const char *name; /* "default" is always there, and first */
    hub_naming naming;
    uint32_t max_name_bytes;
    hub_startup startup;
    hub_names toolsets;      /* active at start (static); may be the single word "ALL" */
    hub_policy_rules policy; /* the hub's own policy applies first */
    bool meta_tools;
} hub_profile_settings;

typedef struct hub_module_settings {
    hub_names paths;     /* absolute plugin folders; absent: the installed one */
    bool watch;          /* new and replaced plugins are noticed at run time */
    bool allow_writable; /* load plugins that others may write to */
} hub_module_settings;

typedef struct hub_limits {
    uint32_t client_message_bytes;
    uint32_t upstream_message_bytes;
    uint32_t client_queue_bytes;
    uint32_t call_timeout_ms;
    uint32_t call_ceiling_ms;
    uint32_t discover_timeout_ms;
    uint32_t calls_per_session;
    uint32_t list_page;
    uint32_t worker_threads;
} hub_limits;

typedef struct hub_settings {
    const char *name;         /* serverInfo.name */
    const char *title;        /* NULL: none */
    const char *instructions; /* NULL: none */
    hub_module_settings modules;
    const hub_toolset_settings *toolsets;
    size_t toolset_count;
    bool toolsets_listed; /* false: no file names any toolset, so every module found is one … */
    bool (*is_enabled)(const char *key); /* … unless this says no; NULL: all are */
    hub_policy_rules policy;
    const hub_profile_settings *profiles;
    size_t profile_count; /* at least 1 */
    hub_limits limits;
    hub_log_level log_level;
    bool log_json;
} hub_settings;

#endif
