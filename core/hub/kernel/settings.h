/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user decides about the hub, as one plain value. It is read from manifests, environment and
 * command line (config/), and obeyed in this room. Immutable once made; strings are NUL-terminated
 * and belong to whoever made it. Times are milliseconds, sizes bytes; every number is set, to its
 * default (base/limits.h) if nothing else.
 */
#ifndef HUB_HUB_KERNEL_SETTINGS_H
#define HUB_HUB_KERNEL_SETTINGS_H

#include "base/cidr.h"
#include "base/log.h"
#include "identity/certificate_settings.h"
#include "identity/credentials.h"
#include "identity/rules.h"
#include "tools/rules.h"

typedef enum hub_startup {
    HUB_STARTUP_DEFAULT, /* dynamic; toolsets with `active` not false are active at start */
    HUB_STARTUP_DYNAMIC, /* nothing active at start; listed toolsets are ignored with a warning */
    HUB_STARTUP_STATIC,  /* exactly the listed ones, for good */
} hub_startup;

/* What is done with every call of a toolset on its way (middleware.h). */
typedef struct hub_middleware_settings {
    bool log;  /* a line in the log when it is over */
    bool time; /* its duration in the result */
} hub_middleware_settings;

/* How often the tools of a toolset may be called that a glob matches, all together. */
typedef struct hub_tool_limit {
    const char *match; /* over the toolset's own names */
    uint32_t calls_per_second;
    uint32_t calls_burst; /* at once; 0: as many as per second */
} hub_tool_limit;

typedef struct hub_tool_limits {
    const hub_tool_limit *items;
    size_t count;
} hub_tool_limits;

typedef struct hub_toolset_settings {
    const char *key;         /* see hub_naming_check_key */
    const char *module;      /* default: the key; "mcp_upstream" for a server entry */
    const char *description; /* NULL: the module's */
    const char *config_json; /* for the module: one JSON object, variables expanded */
    const char *source;      /* "FILE:LINE", for messages */
    const char
        *process_json;     /* isolated: how its process is run, an object (isolation.h); NULL: {} */
    bool enabled;          /* false: switched off by configuration, for good */
    bool active;           /* false: available, but not active at start */
    bool lazy;             /* upstreams: connect at the first need (default) */
    bool sharing_session;  /* sharing: session — one instance per client session */
    bool is_per_principal; /* credentials: principal — one instance, with a login, per principal */
    bool cache;            /* its catalog is remembered on disk, if there is a folder for it */
    bool trusts_tags;      /* tags and category that its server gives its tools count for filters */
    bool trust_annotations; /* access rules believe what its tools say of themselves */
    bool validates;         /* arguments of calls are checked before they are sent */
    bool is_isolated;       /* isolation: process — its module runs in a process of its own */
    bool is_withheld;       /* its origin is not the approved one: clients get nothing of it */
    uint32_t memory_limit;  /* … which has so many bytes at most; 0: no limit */
    uint32_t call_timeout_ms;
    uint32_t max_calls; /* of clients, in flight, but those about tasks; 0: the hub's own limit */
    uint32_t queue;     /* how many more wait for a place; 0: none, they are refused */
    uint32_t queue_timeout_ms; /* … and how long each */
    hub_middleware_settings middleware;
    hub_result_rule results; /* of its tools, but those of which an override says otherwise */
    hub_names tools_allow;   /* globs over the toolset's own tool names; absent: all */
    hub_names tools_deny;
    hub_tool_limits tool_limits;
    hub_names tags;            /* added to each of its tools */
    const char *category;      /* NULL: each tool's own */
    hub_names forward_headers; /* of clients' HTTP requests, that its module may see */
    const char *login; /* how its server is logged in to (core/login): an object; "": never; NULL:
                          nothing is said */
    const char *overrides; /* of its tools (tools/override.h); NULL: none */
    const char *origin;    /* its command or URL as the manifest has it, without secrets (pins) */
    const char *pins;      /* what it is held against (tools/pin.h); NULL: nothing */
    hub_names scopes;      /* that all calls need */
    hub_names tool_scopes; /* … and those of some tools: "GLOB\nSCOPE SCOPE" */
} hub_toolset_settings;

/* Groups of tools of the hub's own. */
enum {
    HUB_META_TOOLSETS = 0x1, /* look at toolsets, enable and disable them */
    HUB_META_UNSAID = 0x2,   /* nobody said which: none where the start is static, else toolsets */
    HUB_META_SAVED = 0x10,   /* build saved toolsets, and equip them */
    HUB_META_SEARCH = 0x4,   /* find tools by words, and call them */
    HUB_META_FANOUT = 0x20,  /* call a tool of several toolsets at once */
    HUB_META_RESULTS = 0x8,  /* read results that are kept; where any may be */
};

typedef struct hub_profile_settings {
    const char *name; /* "default" is always there, and first */
    hub_naming naming;
    uint32_t max_name_bytes;
    hub_startup startup;
    hub_names toolsets;       /* active at start (static); may be the single word "ALL" */
    hub_policy_rules policy;  /* the hub's own policy applies first */
    unsigned meta_tools;      /* groups of the hub's own tools: HUB_META_… */
    bool lists_search;        /* expose: search — the tools that search are all that is listed */
    bool equips_found;        /* … and what a client with a session has found by them */
    const char *equip;        /* the saved toolset that is equipped at start; NULL: none */
    bool has_set_per_session; /* a legacy session's choice of toolsets is its own */
    const char *source;       /* "FILE:LINE: KEY", of what says how it starts; NULL: no file does */
} hub_profile_settings;

/* Which groups of the hub's own tools it shows: where tools are to be searched for, those that search
 * and no others. */
unsigned hub_profile_settings_groups(const hub_profile_settings *profile);

/* Whether its clients may enable toolsets that are not active. */
bool hub_profile_settings_enable(const hub_profile_settings *profile);

/* Whether the start is that of listed toolsets, and not of all. */
bool hub_profile_settings_have_list(const hub_profile_settings *profile);

/* Whether a toolset is to be active from the start, as far as policies let it. */
bool hub_profile_settings_want(const hub_profile_settings *profile,
                               const hub_toolset_settings *toolset);

typedef enum hub_pins_mode {
    HUB_PINS_OFF,
    HUB_PINS_WARN,
    HUB_PINS_WITHHOLD,
} hub_pins_mode;

/* What becomes of definitions that are not as somebody has approved them. */
typedef struct hub_pins_settings {
    hub_pins_mode mode;
    bool withholds_new;
    const char *lock; /* absolute: what was approved, be it there or not; NULL: none */
} hub_pins_settings;

typedef struct hub_module_settings {
    hub_names paths;     /* absolute plugin folders that somebody has named */
    hub_names own_paths; /* of the installation, looked into last; absent: only the others count */
    bool watch;          /* new and replaced plugins are noticed at run time */
    bool allow_writable; /* load plugins that others may write to */
    bool isolates;       /* toolsets that do not say otherwise run in processes of their own */
    bool links_all;      /* also those that no toolset names, to hear what they say of themselves */
    const char *file;    /* absolute: the only module there is, instead of folders; NULL: none */
} hub_module_settings;

/* TLS of a listener. */
typedef struct hub_tls_settings {
    const char *certificate; /* PEM file, the chain; NULL: no TLS */
    const char *key;         /* PEM file */
    const char *min_version; /* "1.2" or "1.3" */
    hub_client_certificates clients;
} hub_tls_settings;

typedef enum hub_listen_kind {
    HUB_LISTEN_HTTP, /* TCP: streamable HTTP, HTTP+SSE and WebSocket on one port */
    HUB_LISTEN_UNIX, /* a Unix socket: newline-delimited messages, as over stdio */
} hub_listen_kind;

/* An address that clients can reach the hub at. */
typedef struct hub_listen_settings {
    hub_listen_kind kind;
    const char *address; /* HTTP: an IP address or "localhost"; Unix: the socket's path */
    uint16_t port;       /* HTTP; 0: any free one, the log says which */
    const char *profile; /* Unix: the profile it serves; NULL: the default one */
    uint32_t mode;       /* Unix: permissions, 0600 unless given */
    const char *group;   /* Unix: group of the socket; NULL: as it comes */
    hub_tls_settings tls;
    hub_names hosts;   /* names that Host may have; absent: localhost, 127.0.0.1, [::1] */
    hub_names origins; /* further origins, whole; they get CORS headers */
    bool insecure;     /* serve beyond loopback although nobody has to authenticate */
    bool metrics;      /* HTTP: /metrics is served, too */
    bool rest;         /* HTTP: /openapi.json and /tools are served, too */
    bool api;          /* HTTP: /api/v1 is served, too */
    bool ui;           /* HTTP: /ui is served, too, and /api/v1 */
    const hub_cidr *trusted_proxies; /* HTTP: who may say for whom they speak */
    size_t trusted_proxy_count;
    bool proxy_protocol;          /* … and say so in front of each connection */
    const char *client_id_header; /* … and whose clients they name by it; NULL: nobody's */
    const char *toolsets_header;  /* … and by it which toolsets these may see; NULL: all */
    const char *activation;       /* the name of a socket that systemd hands over; NULL: none */
    const char *source;
} hub_listen_settings;

/* Where a record of each call goes. */
typedef struct hub_audit_settings {
    bool is_on;
    const char *file;   /* absolute; NULL: the log */
    bool has_arguments; /* records have the arguments of calls, too */
    bool is_strict;     /* no call without a record; for a file */
    const char *source; /* "FILE:LINE: KEY", for messages; NULL: nobody named it */
} hub_audit_settings;

#define HUB_STATE_PLACE_OFF "off"

/* What outlives the process (state/store.h). */
typedef struct hub_state_settings {
    /* HUB_STATE_PLACE_OFF, an absolute path, or the address of a shared store, without its password;
     * NULL: off */
    const char *place;
    const char *password; /* of a shared store; NULL: there is none */
    const char *key; /* absolute: the file of the key that encrypts secrets; NULL: none is named */
    const char *scope; /* whose records they are; NULL: nobody's in particular */
} hub_state_settings;

/* What becomes of a limit that hubs share, while nobody knows what the others admit. */
typedef enum hub_replicas_fail {
    HUB_REPLICAS_LOCAL,  /* each hub admits its share */
    HUB_REPLICAS_OPEN,   /* everything is admitted … */
    HUB_REPLICAS_CLOSED, /* … or nothing */
} hub_replicas_fail;

/* Hubs behind one address. */
typedef struct hub_replicas_settings {
    const char *key_file; /* absolute: keys that they share; NULL: none */
    uint32_t count;       /* how many there are; at least 1 */
    uint32_t leave_ms;    /* how long one that ends still serves everybody, while /readyz fails */
    hub_replicas_fail fail;
    const char
        *sections; /* of the manifest, and the digest of each: a JSON object; NULL: no files */
} hub_replicas_settings;

/* What is remembered of the choices of principals. */
typedef enum hub_remember_mode {
    HUB_REMEMBER_NONE,
    HUB_REMEMBER_EQUIPPED, /* the saved toolset that is equipped */
    HUB_REMEMBER_ALL,      /* and which toolsets are enabled */
} hub_remember_mode;

/* Bounds of the network side; bytes, milliseconds, counts. */
typedef struct hub_net_limits {
    uint32_t connections; /* of all listeners of the network; of one user of a Unix socket */
    uint32_t connections_per_address; /* of one peer address; Unix sockets do not count */
    uint32_t header_ms;               /* from the first byte of a request to its last header */
    uint32_t body_ms;                 /* from there to the end of its body */
    uint32_t idle_ms;                 /* a kept connection without a request */
    uint32_t stall_ms;                /* bytes wait, and the peer takes none */
    uint32_t sse_comment_ms;          /* between comments on a silent event stream */
    uint32_t ping_ms;                 /* WebSocket: between pings */
    uint32_t pong_ms;                 /* … and how long the answer may take */
    uint32_t session_idle_ms;         /* a legacy session without connection or request */
    uint32_t sessions;                /* legacy sessions in all */
    uint32_t sessions_per_principal;
    uint32_t replay_bytes; /* of one session, kept for Last-Event-ID */
    uint32_t replay_events;
} hub_net_limits;

typedef struct hub_limits {
    uint32_t client_message_bytes;
    uint32_t upstream_message_bytes;
    uint32_t client_queue_bytes;
    uint32_t client_memory_bytes; /* for all clients together */
    uint32_t call_timeout_ms;
    uint32_t call_ceiling_ms;
    uint32_t discover_timeout_ms;
    uint32_t straggler_ms;   /* the least that the last of many servers get; 0: as all get */
    uint32_t catalog_ttl_ms; /* a catalog that is older is asked for anew when somebody lists */
    uint32_t ask_timeout_ms; /* a client that is asked something in mid-call */
    uint32_t ask_gather_ms;  /* for what else it may be asked with it; 0: nothing is waited for */
    uint32_t drain_ms;       /* what calls in flight get when the hub stops; 0: they end at once */
    uint32_t calls_per_session;
    uint32_t session_instances;   /* of one toolset with sharing: session */
    uint32_t principal_instances; /* of one toolset with credentials: principal … */
    uint32_t principal_idle_ms;   /* … that outlive their principal's last session so long */
    uint32_t running_servers;     /* processes, of all toolsets; 0: any number */
    uint32_t calls_per_principal; /* in flight, of all its sessions; 0: any number */
    uint32_t calls_per_second;    /* of one session; 0: any number … */
    uint32_t calls_burst;         /* … at once; 0: as many as per second */
    uint32_t calls_per_second_per_principal; /* the same, of all its sessions together */
    uint32_t calls_burst_per_principal;
    uint32_t list_page;
    uint32_t results_memory_bytes; /* of all results that are kept for clients to read on */
    uint32_t worker_threads;
    hub_net_limits net;
} hub_limits;

/* What a hub is told to be like at one time. A reload makes the next generation, and the settings
 * of the one before live on until nobody holds them. [loop] */
typedef struct hub_generation {
    unsigned refs;   /* its maker has the first one */
    uint64_t number; /* 1 at start, one more with each reload */
    void (*destroy)(struct hub_generation *generation);
} hub_generation;

/* A saved toolset of a manifest, or of a file that it names: read-only for all. */
typedef struct hub_saved_settings {
    const char *name;
    const char *document; /* JSON, as hub/saved/document.h has it */
    const char *source;   /* "FILE:LINE" */
} hub_saved_settings;

typedef struct hub_settings {
    hub_generation *generation; /* NULL: they outlive whoever holds them */
    const char *name;           /* serverInfo.name */
    const char *title;          /* NULL: none */
    const char *instructions;   /* NULL: none */
    bool gathers_instructions;  /* those of servers are handed on, too */
    hub_module_settings modules;
    const char *cache_folder; /* absolute: catalogs are remembered there; NULL: nowhere */
    bool asks_anew;           /* what is remembered is not served, only replaced */
    /* This process is there to find out whether plugins are well (cli/probe.h): told before code of
     * one is run for the first time, of a file or a toolset. Nothing is isolated then. Else NULL.
     */
    void (*on_step)(const char *what);
    const hub_toolset_settings *toolsets;
    size_t toolset_count;
    bool toolsets_listed; /* false: no file names any toolset, so every module found is one … */
    bool (*is_enabled)(const char *key); /* … unless this says no; NULL: all are */
    hub_policy_rules policy;
    const hub_saved_settings *saved; /* sorted by name */
    size_t saved_count;
    const hub_profile_settings *profiles;
    size_t profile_count; /* at least 1 */
    const hub_listen_settings *listens;
    size_t listen_count;
    hub_auth_settings auth;
    hub_state_settings state;
    hub_replicas_settings replicas;
    hub_remember_mode remember;
    uint32_t
        remember_read_ms; /* that a principal waits for its record; 0: HUB_LIMIT_REMEMBER_READ_MS */
    hub_access_settings access;
    hub_pins_settings pins;
    hub_limits limits;
    hub_log_level log_level;
    bool log_json;
    const char *log_file; /* absolute; NULL: standard error */
    uint32_t max_series;  /* of calls, for metrics; 0: the default */
    hub_audit_settings audit;
} hub_settings;

/* Hold settings, and let go of them. NULL is fine. */
const hub_settings *hub_settings_ref(const hub_settings *settings);
void hub_settings_unref(const hub_settings *settings);

/* How two settings of a toolset differ. Where they were written is no difference. */
typedef enum hub_toolset_difference {
    HUB_TOOLSET_SAME,
    HUB_TOOLSET_TUNED,   /* in what the hub does with it */
    HUB_TOOLSET_ANOTHER, /* in what its module is told: it takes a new instance */
} hub_toolset_difference;

hub_toolset_difference hub_toolset_settings_compare(const hub_toolset_settings *a,
                                                    const hub_toolset_settings *b);

/* A copy that needs nothing of the original; free() it. NULL when out of memory. */
hub_toolset_settings *hub_toolset_settings_dup(const hub_toolset_settings *settings);

/* Whether there is a profile of that name. */
bool hub_settings_have_profile(const hub_settings *settings, const char *name);

/* Say that there is none, and which one may have been meant.
 * errors:  HUB_ENOTFOUND, always */
hub_err hub_settings_fail_profile(const hub_settings *settings, const char *name,
                                  hub_error *reterr);

#endif
