/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every bound in the hub: name, unit, and why this figure. What a peer, a plugin or a manifest can
 * grow has a constant here, a defined refusal, and a test at the limit and one beyond it. Those
 * that a user may want to change are defaults of a manifest key (config/config.h names it).
 *
 * Where many peers take of one thing, no one of them may keep the others from it. A figure that is called
 * a share is what one peer may have, by the rule of share.h: all together have twice that.
 */
#ifndef HUB_BASE_LIMITS_H
#define HUB_BASE_LIMITS_H

/* JSON. Deeper documents cost a reader far more than their bytes; no MCP message needs more. The
 * scanner keeps its state in one machine word: the depth cannot exceed 64. */
#define HUB_LIMIT_JSON_DEPTH 64

/* Values of one text: scanning that many takes some 15 ms, and no memory. Real catalogs and results
 * have 10 bytes and more for each value, so the largest of 16 MiB pass; what is refused are texts
 * made of next to nothing but brackets. Where messages may be longer than 16 MiB, one value for
 * each so many bytes may be in them. */
#define HUB_LIMIT_JSON_VALUES          (2u * 1024 * 1024)
#define HUB_LIMIT_JSON_BYTES_PER_VALUE 8

/* Messages. A client sends arguments; a server sends results with images in them. */
#define HUB_LIMIT_CLIENT_MESSAGE_BYTES   (4u * 1024 * 1024)
#define HUB_LIMIT_UPSTREAM_MESSAGE_BYTES (16u * 1024 * 1024)

/* The header of a Content-Length frame: two known fields of less than 100 bytes. */
#define HUB_LIMIT_FRAME_HEADER_BYTES 4096

/* What may wait to be written to one peer. A client that does not read is owed at most this. */
#define HUB_LIMIT_CLIENT_QUEUE_BYTES (32u * 1024 * 1024)

/* Bytes of one client's requests that wait in the hub before they reach a server: a share (share.h). */
#define HUB_LIMIT_HELD_BYTES (32u * 1024 * 1024)

/* Names. A tool name as MCP server/tools bounds it; an exposed name as model APIs bound it. */
#define HUB_LIMIT_TOOL_NAME_BYTES    128
#define HUB_LIMIT_EXPOSED_NAME_BYTES 64
#define HUB_LIMIT_TOOLSET_KEY_BYTES  64

/* Extensions that one server announces, bytes of one with its key, and of all that the hub
 * announces for it: a share (share.h). Known ones have less than 200. */
#define HUB_LIMIT_EXTENSIONS           32
#define HUB_LIMIT_EXTENSION_BYTES      4096
#define HUB_LIMIT_ALL_EXTENSIONS_BYTES (64u * 1024)

/* Catalogs. */
#define HUB_LIMIT_TOOLS_PER_TOOLSET 10000
#define HUB_LIMIT_CATALOG_BYTES     (16u * 1024 * 1024)
/* Bytes of a server's list that are read in one turn of the loop: 3 ms. */
#define HUB_LIMIT_CATALOG_PART_BYTES (256u * 1024)
#define HUB_LIMIT_REASON_BYTES       768 /* of why a server failed, as listings say it */
#define HUB_LIMIT_TOOLSETS           1000
#define HUB_LIMIT_TAGS_PER_TOOL      64

/* Answers of the hub's own lists are read by models: a page ends with so many entries or bytes,
 * whichever comes first, and says how to go on. */
#define HUB_LIMIT_META_PAGE_ENTRIES 1000
#define HUB_LIMIT_META_PAGE_BYTES   (16u * 1024)

/* Saved toolsets: a name is a word, and a list of them what a person can look through. What a model
 * builds is what fits its context; what a person writes may be more. A description is counted in
 * characters, and tools that a pattern found are those of some servers. */
#define HUB_LIMIT_SAVED_NAME_LEAST        2
#define HUB_LIMIT_SAVED_NAME_BYTES        50
#define HUB_LIMIT_SAVED_DESCRIPTION_CHARS 200
#define HUB_LIMIT_SAVED_TOOLS             1000
#define HUB_LIMIT_SAVED_TOOLS_BUILT       100
#define HUB_LIMIT_SAVED_PER_OWNER         200
#define HUB_LIMIT_SAVED_FILE_BYTES        (1024u * 1024)

/* What is looked for in them: bytes and words of a query, and comparisons of bytes for one page, which
 * ends there. Ten thousand tools with ordinary descriptions take a few pages. */
#define HUB_LIMIT_QUERY_BYTES 256
#define HUB_LIMIT_QUERY_WORDS 8
#define HUB_LIMIT_QUERY_STEPS (4u * 1024 * 1024)

/* What a toolset is for, in bytes: as a list says it of many, as it is said of one toolset, and of each
 * of its tools. Five toolsets with it are to take less than 1.5 KB of a model's context. */
#define HUB_LIMIT_SUMMARY_BYTES      56
#define HUB_LIMIT_DESCRIPTION_BYTES  1024
#define HUB_LIMIT_TOOL_SUMMARY_BYTES 200

/* Of what servers say of themselves: title and instructions. */
#define HUB_LIMIT_TITLE_BYTES        128
#define HUB_LIMIT_INSTRUCTIONS_BYTES 4096

/* What `initialize` and `server/discover` say of them, which each model reads: of one toolset, and in all
 * without the hub's own. */
#define HUB_LIMIT_GATHERED_EACH_BYTES 2048
#define HUB_LIMIT_GATHERED_BYTES      8192

/* Lines of the log that a full stderr has not taken: as many as a busy hub writes in some seconds. What
 * is beyond is lost, and counted. */
#define HUB_LIMIT_LOG_OWED_BYTES (256u * 1024)

/* Metrics. Time series of calls, unless metrics.max_series says otherwise: those of some 240 tools that
 * succeed, or half as many that also fail; Prometheus takes that of one target without being asked. The
 * least is what is set aside for all that are not told apart, and some. A trace is looked for in one
 * call of a tool per second, for an example of how long it took. */
#define HUB_LIMIT_METRICS_SERIES       10000
#define HUB_LIMIT_METRICS_SERIES_LEAST 1000
#define HUB_LIMIT_METRICS_SERIES_MOST  1000000
#define HUB_LIMIT_METRICS_TRACE_US     1000000

/* All metrics as text: a million time series have 200 MB. */
#define HUB_LIMIT_METRICS_BYTES (256u * 1024 * 1024)

/* Tools that a session has found and is listed (equip_on_find). */
#define HUB_LIMIT_FOUND_TOOLS 64

/* Toolsets in which one call may call a tool, and all their results together: the largest gives
 * way. */
#define HUB_LIMIT_FAN_OUT       16
#define HUB_LIMIT_FAN_OUT_BYTES (4u * 1024 * 1024)

/* Pages of one server's skills that the hub asks for, and the entries of all servers together. */
#define HUB_LIMIT_SKILL_PAGES  64
#define HUB_LIMIT_SKILLS_BYTES (4u * 1024 * 1024)

/* Definitions of tools that one document over HTTP is made of (openapi.json). */
#define HUB_LIMIT_WEB_TOOLS_BYTES (32u * 1024 * 1024)

/* Names in a line of the log, which cuts values at HUB_LIMIT_LOG_VALUE_BYTES; the rest is counted. */
#define HUB_LIMIT_NAME_LIST_BYTES 900

/* Names of tools and prompts that are gone: while they are remembered, no other tool can have them. A
 * server can make up new ones for ever, so the oldest of who has most of them are forgotten. */
#define HUB_LIMIT_NAMES_REMEMBERED 16384

/* Schemas that are checked against arguments. */
#define HUB_LIMIT_SCHEMA_DEPTH 32
#define HUB_LIMIT_SCHEMA_NODES 2000

/* Hubs in a row, each a process that the one before has started as its server. People have two or
 * three; more is a configuration that starts itself under ever new names. */
#define HUB_LIMIT_CHAIN 8

/* What may be read to judge one outputSchema, in bytes: each as often as objects are around it, and
 * again for each reference to it. One that takes more is not listed to legacy clients. */
#define HUB_LIMIT_OUTPUT_SCHEMA_BYTES (8u * 1024 * 1024)

/* Requests. An id or progress token is echoed: it is kept, so it is bounded. */
#define HUB_LIMIT_ID_BYTES          256
#define HUB_LIMIT_CALLS_PER_SESSION 256
#define HUB_LIMIT_SESSION_INSTANCES 64 /* of one toolset; each may be a process */
#define HUB_LIMIT_CALLS             (1u << 16)

/* Principals with a connection and a login of their own, of one toolset; and how long such a connection
 * outlives the last session or request of its principal. */
#define HUB_LIMIT_PRINCIPAL_INSTANCES 256
#define HUB_LIMIT_PRINCIPAL_IDLE_MS   (15u * 60 * 1000)

/* Calls in flight of one principal, in all its sessions: a sixteenth of what the hub has. How many
 * more than a toolset's max_calls wait, and for how long, unless its manifest says otherwise. */
#define HUB_LIMIT_CALLS_PER_PRINCIPAL 4096
#define HUB_LIMIT_QUEUE               100
#define HUB_LIMIT_QUEUE_MS            10000

/* Entries of tools.limits of one toolset: a call is held against each of them. */
#define HUB_LIMIT_TOOL_LIMITS 100

/* Overrides of one toolset, and arguments that one of them, or all that fit a tool, are about. */
#define HUB_LIMIT_OVERRIDES          256
#define HUB_LIMIT_OVERRIDE_ARGUMENTS 64

/* Arguments that `flat` takes over from alternatives. */
#define HUB_LIMIT_FLAT_ARGUMENTS 64

/* The least that results.max_bytes may be: what says that a result was cut has to fit. */
#define HUB_LIMIT_LEAST_RESULT_BYTES 1024

/* Results that are kept for clients to read on: of all clients together, by default and in number; how
 * much of one a page has, by default and at most; and how much JSON may be passed over to find what a
 * path leads to. */
#define HUB_LIMIT_RESULTS_MEMORY_BYTES (64u * 1024 * 1024)
#define HUB_LIMIT_RESULTS_KEPT         1024
#define HUB_LIMIT_RESULT_PAGE_BYTES    (16u * 1024)
#define HUB_LIMIT_RESULT_MOST_BYTES    (256u * 1024)
#define HUB_LIMIT_RESULT_PATH_BYTES    (64u * 1024 * 1024)
#define HUB_LIMIT_RESULT_POINTER_BYTES 1024

/* When to try again, as it is told: where nobody can know when there will be room, and at most. */
#define HUB_LIMIT_RETRY_MS 1000
#define HUB_LIMIT_RETRY_S  3600

/* Principals that nobody is connected for, and whose rate is still remembered; as many addresses. */
#define HUB_LIMIT_IDLE_ACCOUNTS 10000

/* Audiences that nobody is connected for, and whose choice of toolsets is kept at hand: with a store,
 * a choice that is let go of is read again. About 1 KiB each, more with many toolsets. */
#define HUB_LIMIT_IDLE_AUDIENCES 16384

/* Log messages that one session is sent per second and at once, and notices that a resource has
 * changed. Nobody reads more; a list of what is there is asked for once, however often it changed.
 */
#define HUB_LIMIT_LOG_MESSAGES_PER_S 50
#define HUB_LIMIT_LOG_MESSAGES_BURST 200
#define HUB_LIMIT_UPDATES_PER_S      50
#define HUB_LIMIT_UPDATES_BURST      100

/* Headers that one toolset forwards: each is looked for in each request over HTTP. */
#define HUB_LIMIT_FORWARD_HEADERS 32

/* Progress of one call that its client is told of, in a second and at once; and how much of what is
 * held back is kept. More than a person can follow helps nobody, and fills the client's queue. */
#define HUB_LIMIT_PROGRESS_PER_S 20
#define HUB_LIMIT_PROGRESS_BURST 20
#define HUB_LIMIT_PROGRESS_BYTES (64u * 1024)

/* How often a client that wants progress is told that its call waits for a server to start. Well
 * below the shortest time after which clients give a silent call up (10 s). */
#define HUB_LIMIT_START_PROGRESS_MS 2000

/* What "did you mean" may cost: comparisons of bytes, well below a millisecond. Names that would be
 * compared behind it are not suggested. */
#define HUB_LIMIT_NEAREST_STEPS 250000u

/* Tasks. An id passes through clients, and over HTTP in a header. Tasks that a client hears of
 * without asking, of one session and of all its sessions, a share (share.h): a client has a handful
 * under way, and polls for more. */
#define HUB_LIMIT_TASK_ID_BYTES             1024
#define HUB_LIMIT_WATCHED_TASKS_PER_SESSION 64
#define HUB_LIMIT_WATCHED_TASKS             16384

/* Catalogs that are remembered on disk: one file, how long one that nobody needs is kept, how many
 * entries of their folder are looked at for that; and for how long a catalog counts as current. */
#define HUB_LIMIT_CATALOG_FILE_BYTES (16u * 1024 * 1024)
#define HUB_LIMIT_CATALOG_FILE_DAYS  30
#define HUB_LIMIT_CATALOG_FILES      10000
#define HUB_LIMIT_CATALOG_TTL_MS     300000

/* Catalogs that replicas tell each other, through their store: the longest record, which has to pass
 * within HUB_LIMIT_STATE_COMMAND_MS; and how long one waits for another that is asking the server. */
#define HUB_LIMIT_CATALOG_SHARED_BYTES (256u * 1024)
#define HUB_LIMIT_CATALOG_ASKING_MS    2000

/* The store. A document is a choice that somebody made or a thing that a user named, not a payload.
 * An owner is a principal, with the issuer's URL in it; a scope is a path. Records of one owner and
 * kind are what a person can look through; in all: several for each of ten thousand principals. */
#define HUB_LIMIT_STATE_DOCUMENT_BYTES      (64u * 1024)
#define HUB_LIMIT_STATE_LONG_DOCUMENT_BYTES HUB_LIMIT_CATALOG_SHARED_BYTES
#define HUB_LIMIT_STATE_SCOPE_BYTES         4096
#define HUB_LIMIT_STATE_KIND_BYTES          32
#define HUB_LIMIT_STATE_OWNER_BYTES         1024
#define HUB_LIMIT_STATE_KEY_BYTES           256
#define HUB_LIMIT_STATE_RECORDS_PER_OWNER   1000
#define HUB_LIMIT_STATE_RECORDS             200000

/* Operations of one hub that wait for the store, about the records of one owner: a share (share.h).
 * What a page of a list holds; of bytes about, one record more is there always. */
#define HUB_LIMIT_STATE_OPERATIONS 4096
#define HUB_LIMIT_STATE_PAGE       256
#define HUB_LIMIT_STATE_PAGE_BYTES (1024u * 1024)

/* Deletions that are remembered for those who follow the store: who is behind by more lists again. */
#define HUB_LIMIT_STATE_DELETIONS 1000

/* Keys that open secrets, the current one and older ones; and records of one import. */
#define HUB_LIMIT_STATE_KEYS         16
#define HUB_LIMIT_STATE_IMPORT       HUB_LIMIT_STATE_RECORDS
#define HUB_LIMIT_STATE_IMPORT_BYTES (256u * 1024 * 1024)

/* How long a process waits for another one that is writing to the store. */
#define HUB_LIMIT_STATE_BUSY_MS 5000

/* A shared store. How long it may take to be reached, from the look-up of its name to its greeting;
 * to answer a command, and one of `patchbay state`, which goes through all records; how soon it is
 * tried again after it failed, at first and at most; how often a hub that follows it looks whether
 * it missed a change. */
#define HUB_LIMIT_STATE_CONNECT_MS     1000
#define HUB_LIMIT_STATE_COMMAND_MS     250
#define HUB_LIMIT_STATE_ADMIN_MS       30000
#define HUB_LIMIT_STATE_PAUSE_MS       100
#define HUB_LIMIT_STATE_PAUSE_MOST_MS  5000
#define HUB_LIMIT_STATE_TRUTH_MS       5000
#define HUB_LIMIT_STATE_PASSWORD_BYTES 1024

/* Limits that one call is charged to at once, in a store that hubs share: as many as a toolset has. */
#define HUB_LIMIT_STATE_TAKES 100

/* Hubs that share a store: how many of the others one knows (replicas.count has the same bound), and
 * how often each says that it is there. Who has not for three times as long is gone. */
#define HUB_LIMIT_REPLICAS       1000
#define HUB_LIMIT_REPLICA_BEAT_S 60

/* Sessions that leave a replica: how many are on their way to the store at once. */
#define HUB_LIMIT_REPLICA_MOVES 256

/* Records of sessions that have moved: how long a home may leave one unwritten before others take it for gone,
 * and how seldom all are looked through, in seconds. */
#define HUB_LIMIT_REPLICA_MOVED_S (24 * 3600)
#define HUB_LIMIT_REPLICA_SWEEP_S 600

/* How long a command, or whoever reads a configuration, waits for the store: less than a configuration
 * may take to be read, so that the message says what it was. */
#define HUB_LIMIT_STATE_SYNC_MS 3000

/* What is remembered of choices. How long a principal's first request waits for the record, and the
 * answer to a change for the disk; when a record that could not be read is asked for again. Principals
 * whose records are known at once: more are read again when they come back. Requests of a principal
 * that wait: with one more, and with half of limits.calls_per_session, nobody waits any longer. */
#define HUB_LIMIT_REMEMBER_READ_MS  250
#define HUB_LIMIT_REMEMBER_KEEP_MS  3000
#define HUB_LIMIT_REMEMBER_RETRY_MS 10000
#define HUB_LIMIT_REMEMBER_SEATS    16384
#define HUB_LIMIT_REMEMBER_HELD     128

/* The name of what is equipped; and choices that status shows. */
#define HUB_LIMIT_REMEMBER_NAME_BYTES 256
#define HUB_LIMIT_REMEMBER_SHOWN      100

/* What was accepted may still be written when the hub ends. */
#define HUB_LIMIT_STATE_END_MS 1000

/* Subscriptions of one connection. */
#define HUB_LIMIT_LISTENS_PER_SESSION 64

/* Jobs of one toolset that wait for a worker thread: a share (share.h); and the threads. */
#define HUB_LIMIT_WORKER_QUEUE   1024
#define HUB_LIMIT_WORKER_THREADS 64

/* What one plugin may have said on other threads that the loop has not heard yet, not counting its
 * answers to calls. */
#define HUB_LIMIT_PLUGIN_MAILS      4096
#define HUB_LIMIT_PLUGIN_MAIL_BYTES (64u * 1024 * 1024)

/* The least memory that a module's own process can be limited to: a hub with a few threads is in it
 * besides the module. */
#define HUB_LIMIT_LEAST_MODULE_BYTES (64u * 1024 * 1024)

/* The text of a tool's failure; what is longer is cut. It is a sentence, not a result. */
#define HUB_LIMIT_FAILURE_TEXT_BYTES (64u * 1024)

/* Times, in milliseconds. */
#define HUB_LIMIT_CALL_MS          60000  /* a call without progress */
#define HUB_LIMIT_CALL_CEILING_MS  600000 /* a call, whatever progress it reports */
#define HUB_LIMIT_DISCOVER_MS      5000 /* tools/list waits this long for catalogs not yet known */
#define HUB_LIMIT_COMMAND_WAIT_MS  3700000 /* list, call, check: longer than any startup_timeout */
#define HUB_LIMIT_STRAGGLER_MS     300 /* what the last of many servers get at least (discovery.h) */
#define HUB_LIMIT_STOP_GRACE_MS    2000 /* between closing stdin, SIGTERM and SIGKILL */
#define HUB_LIMIT_LEAVE_MS         200 /* a hub that ends leaves its children to their guards then */
#define HUB_LIMIT_DRAIN_MS         10000 /* what is under way may end when the hub stops */
#define HUB_LIMIT_NOTIFY_WINDOW_MS 20    /* changes inside it cause one list_changed */
#define HUB_LIMIT_NOTIFY_STORM_MS  1000  /* and at most one per this long */
#define HUB_LOOP_BUDGET_MS         10 /* a plugin callback that takes longer is named in the log */
#define HUB_LIMIT_PROBE_MS         5000 /* what one plugin may take to load, for those that check it */
#define HUB_LOOP_BLOCKED_MS        100 /* … and one that does so while it still runs */

/* What the hub keeps for all its clients together: bodies and messages on their way in, output that
 * waits for slow peers, events for those that come back. Each has a bound of its own; hundreds at
 * their bounds would be gigabytes. With 12,000 idle connections besides, the hub stays below
 * 512 MiB. */
#define HUB_LIMIT_CLIENT_MEMORY_BYTES (256u * 1024 * 1024)

/* The network. Peers' figures: nginx keeps a connection 60 s, Valkey takes 10,000 clients. */
#define HUB_LIMIT_CONNECTIONS             12000
#define HUB_LIMIT_CONNECTIONS_PER_ADDRESS 256
#define HUB_LIMIT_HEADER_MS               10000
#define HUB_LIMIT_BODY_MS                 30000
#define HUB_LIMIT_IDLE_MS                 60000
#define HUB_LIMIT_STALL_MS                30000
#define HUB_LIMIT_SSE_COMMENT_MS          15000 /* proxies give up after 30 to 60 s of silence */
#define HUB_LIMIT_PING_MS                 30000
#define HUB_LIMIT_PONG_MS                 10000
#define HUB_LIMIT_SESSION_IDLE_MS         1800000
#define HUB_LIMIT_SESSIONS                10000
#define HUB_LIMIT_SESSIONS_PER_PRINCIPAL  1000
#define HUB_LIMIT_REPLAY_BYTES            (1024u * 1024)
#define HUB_LIMIT_REPLAY_EVENTS           256
#define HUB_LIMIT_HANDSHAKE_MS            10000 /* TLS */
#define HUB_LIMIT_TOKENS                  1000
#define HUB_LIMIT_LISTENERS               16
#define HUB_LIMIT_TRUSTED_PROXIES         64 /* blocks of addresses, of one listener */

/* What a call may ask its client at one time, and how long it waits for the answers. */
#define HUB_LIMIT_ASKS_PER_CALL 16
#define HUB_LIMIT_ASK_MS        600000

/* How long the questions of one call are gathered, for a client that has to answer them in one go:
 * those that a server asks together come one by one. */
#define HUB_LIMIT_ASK_GATHER_MS 100

/* Elicitations by URL of one session whose end its server has not told. */
#define HUB_LIMIT_ELICITATIONS 64

/* How often one call is made again with answers, before its server is told to be going round in
 * circles: a dialogue of so many steps is a long one. */
#define HUB_LIMIT_ASK_ROUNDS 16

/* Calls that wait for a client of 2026-07-28 to come back with answers, which it need not: in all, shares
 * (share.h) of clients, and of one client; and the bytes of what they have finished with meanwhile: shares (share.h) of one
 * client and of one toolset, which may have half of each other's. */
#define HUB_LIMIT_ASKING_CALLS               4096
#define HUB_LIMIT_ASKING_CALLS_PER_PRINCIPAL 256
#define HUB_LIMIT_ASKING_BYTES               (32u * 1024 * 1024)

/* Resource subscriptions of one session or listen stream. */
#define HUB_LIMIT_SUBSCRIPTIONS 256
#define HUB_LIMIT_URI_BYTES     2048

/* What it may cost to tell whether a URI belongs to the resource templates of one toolset: steps
 * for each byte of the URI, and bytes that are added to each, for a short one meets templates, too.
 * Ten thousand ordinary templates take a tenth of it; a step is a few instructions. */
#define HUB_LIMIT_TEMPLATE_STEPS       16
#define HUB_LIMIT_TEMPLATE_FLOOR_BYTES 64

/* Lists. Clients exist that read only the first page, so pages are large. */
#define HUB_LIMIT_LIST_PAGE 1000

/* Pages that were put together out of many pieces, and are kept for who lists the same next: of all
 * who see something of a profile together. A thousand tools with ordinary schemas have 1 to 3 MB. */
#define HUB_LIMIT_KEPT_PAGES_BYTES (4u * 1024 * 1024)

/* Tokens that an issuer has signed, and its keys: the largest of identity providers, with a hundred
 * groups in it, has 8 KiB; a set has some five keys, and one of each tenant where it is shared. */
#define HUB_LIMIT_JWS_BYTES     (16u * 1024)
#define HUB_LIMIT_JWS_KID_BYTES 256
#define HUB_LIMIT_JWKS_BYTES    (256u * 1024)
#define HUB_LIMIT_JWKS_KEYS     64

/* A private key that the hub signs with, in PEM: RSA of 8,192 bits has 6 KiB. What is signed to say who
 * the hub is, is for one request, also where the clock is ahead of the hub's by 2 minutes. */
#define HUB_LIMIT_SIGNING_KEY_BYTES (16u * 1024)
#define HUB_LIMIT_ASSERTION_S       180

/* Certificates of clients: authorities and revocation lists that a listener has, the bytes of their files
 * (a list of a million bytes has some 25,000 certificates); how many authorities may stand between one
 * that is trusted and a client; what a client may show; the name that it is known by; and those that a
 * listener remembers, so that each is verified once. */
#define HUB_LIMIT_AUTHORITIES            64
#define HUB_LIMIT_REVOCATION_LISTS       64
#define HUB_LIMIT_AUTHORITY_BYTES        (1024u * 1024)
#define HUB_LIMIT_CERTIFICATE_DEPTH      5
#define HUB_LIMIT_CERTIFICATE_BYTES      (16u * 1024)
#define HUB_LIMIT_CERTIFICATE_NAME_BYTES 256
#define HUB_LIMIT_CERTIFICATES           1024

/* What a proxy says of the client that it speaks for: the client's id, and the toolsets that it may see. */
#define HUB_LIMIT_CLIENT_ID_BYTES    128
#define HUB_LIMIT_PERMITTED_TOOLSETS 256

/* Keys that one token is tried with, when it does not name one: each costs the loop up to 0.7 ms. */
#define HUB_LIMIT_JWS_TRIES 3

/* Issuers whose tokens are taken; the name of one; tokens that were judged, or are to be. */
#define HUB_LIMIT_ISSUERS       16
#define HUB_LIMIT_ISSUER_BYTES  512
#define HUB_LIMIT_TOKENS_JUDGED 4096
#define HUB_LIMIT_TOKENS_OPEN   1024

/* What an issuer publishes is fetched within this time. Its keys are fetched again because of a token
 * that names another one at most once in the pause, those that could not be had after the retry; and
 * are good for as long as the answer says, between the least and the most. */
#define HUB_LIMIT_FETCH_MS        5000
#define HUB_LIMIT_CHALLENGE_BYTES 4096
#define HUB_LIMIT_KEYS_PAUSE_S    30
#define HUB_LIMIT_KEYS_RETRY_S    5
#define HUB_LIMIT_KEYS_USUAL_S    3600
#define HUB_LIMIT_KEYS_LEAST_S    300
#define HUB_LIMIT_KEYS_MOST_S     86400

/* Scopes, and groups, that count of one token; and the longest pointer to a claim. */
#define HUB_LIMIT_JWT_NAMES         256
#define HUB_LIMIT_JWT_POINTER_BYTES 256

/* Logins to servers: how long a text of one may be (a token, an address), and an answer of an
 * authorization server that holds it; how many logins there are, and how many wait for one, of which
 * the calls of a principal are a part (calls_per_principal); how long a user has to log in; and for how
 * long one process refreshes a token before another one may, clocks of machines being at most so far apart. */
#define HUB_LIMIT_LOGIN_TEXT_BYTES (16u * 1024)
#define HUB_LIMIT_LOGINS           4096
#define HUB_LIMIT_LOGIN_WAITERS    HUB_LIMIT_CALLS
#define HUB_LIMIT_LOGIN_USER_S     600
#define HUB_LIMIT_LOGIN_LEASE_S    15
#define HUB_LIMIT_LOGIN_SKEW_S     600

/* The name of a principal: as long as an owner in the store. */
#define HUB_LIMIT_PRINCIPAL_BYTES HUB_LIMIT_STATE_OWNER_BYTES

/* Search. The longest word that is told from others; different words of one tool, and of a query;
 * how deep arguments are read, in levels of their schema; what counts of the text about a toolset,
 * for each of its tools; how many tools are told at most; and what one index has room for: tools, and
 * words of tools (8 bytes each while it is made, 2 to 3 afterwards), of which each tool has its
 * share. */
#define HUB_LIMIT_SEARCH_WORD_BYTES     64
#define HUB_LIMIT_SEARCH_WORDS_PER_TOOL 512
#define HUB_LIMIT_SEARCH_QUERY_WORDS    64
#define HUB_LIMIT_SEARCH_DEPTH          16
#define HUB_LIMIT_SEARCH_TOOLSET_BYTES  512
#define HUB_LIMIT_SEARCH_RESULTS        100
#define HUB_LIMIT_SEARCH_TOOLS          (1u << 20)
#define HUB_LIMIT_SEARCH_POSTINGS       (8u * 1024 * 1024)

/* Searching through the hub: bytes of one client's searches that wait for an index, a share (share.h);
 * names that describe_tools takes, and what is told unless it is said. */
#define HUB_LIMIT_SEARCH_WAITING_BYTES (8u * 1024 * 1024)
#define HUB_LIMIT_DESCRIBED_TOOLS      20
#define HUB_LIMIT_SEARCH_USUAL         10

/* The log. */
#define HUB_LIMIT_LOG_VALUE_BYTES 1024
#define HUB_LIMIT_LOG_LINE_BYTES  16384

/* Secrets that are masked in what is written: the shortest line of one, since shorter ones would be
 * found in every other word, and bytes of all together. The automaton takes 24 times that. */
#define HUB_LIMIT_SECRET_LEAST_BYTES 6
#define HUB_LIMIT_SECRET_BYTES       (1024u * 1024)

/* The name of a secret, which may be a file's; and its value: a document of the store holds it even
 * if each byte of it has to be escaped. */
#define HUB_LIMIT_SECRET_NAME_BYTES  64
#define HUB_LIMIT_SECRET_VALUE_BYTES (8u * 1024)

/* The audit: records that wait to be written, bytes of arguments in one, and how long the last ones
 * may take when the hub ends. */
#define HUB_LIMIT_AUDIT_RECORDS        8192
#define HUB_LIMIT_AUDIT_ARGUMENT_BYTES 4096
#define HUB_LIMIT_AUDIT_END_MS         1000

/* A line of an audit file, whatever is escaped in it; and how many processes that append to one file,
 * and how many lines before the first one of a process, `audit verify` remembers. */
#define HUB_LIMIT_AUDIT_LINE_BYTES (64u * 1024)
#define HUB_LIMIT_AUDIT_CHAINS     1024

/* A dashboard asks again and again: so long the same look of the same person is one, and so many looks
 * are remembered for that. */
#define HUB_LIMIT_AUDIT_LOOK_MS 60000
#define HUB_LIMIT_AUDIT_LOOKS   64

/* Access rules: each tool that is listed passes all of them, and one call its own. What one call's
 * rules look at in its arguments is a walk over what a client sends. */
#define HUB_LIMIT_ACCESS_RULES  256
#define HUB_LIMIT_ACCESS_VALUES 100000

/* Kinds of people that the rules tell apart: each has a mask over every tool. With more, all are
 * forgotten, and made again by those who come. */
#define HUB_LIMIT_ACCESS_CLASSES 1024

/* Scopes, and groups, of one credential: a token's are read at each change of its file, and compared
 * at each request. Scope names are those of OAuth (RFC 6749 section 3.3). */
#define HUB_LIMIT_SCOPES_PER_TOKEN 64
#define HUB_LIMIT_SCOPE_BYTES      128

/* What of a call's arguments is shown to somebody who is asked to confirm it; and the bytes of the calls of
 * one client that wait for such answers: a share (share.h). */
#define HUB_LIMIT_CONFIRM_BYTES      2048
#define HUB_LIMIT_CONFIRM_HELD_BYTES (32u * 1024 * 1024)

/* Of a description that is searched for names of other toolsets' tools, so many words; and so many
 * suspect, or withheld, definitions of a toolset are named at a time. */
#define HUB_LIMIT_SUSPECT_WORDS   1000
#define HUB_LIMIT_SUSPECT_LOOKUPS 1000000 /* of words in lists of tools, for a list: some 0.1 s */
#define HUB_LIMIT_SUSPECTS_TOLD   50

/* What has happened, for those who look (hub/admin/events.h): so many events are kept, of so many bytes
 * together; so many may read them. A reader who has not taken so many bytes gets no more for now. */
#define HUB_LIMIT_EVENTS           4096
#define HUB_LIMIT_EVENT_BYTES      (4u * 1024 * 1024)
#define HUB_LIMIT_EVENT_READERS    1024
#define HUB_LIMIT_EVENT_OWED_BYTES (64u * 1024)

/* What is sent to a collector (hub/telemetry). Spans and log records wait in queues, whose lengths the
 * variables of OpenTelemetry choose up to the most, and of so many bytes each; a request has a body of
 * so many bytes at most. One that fails is made again so often, the pause doubling, or as long as the
 * collector asks for up to the most. At the end of the hub the last ones have so long. */
#define HUB_LIMIT_OTEL_QUEUE       65536
#define HUB_LIMIT_OTEL_QUEUE_BYTES (32u * 1024 * 1024)
#define HUB_LIMIT_OTEL_BODY_BYTES  (4u * 1024 * 1024)
#define HUB_LIMIT_OTEL_TRIES       5
#define HUB_LIMIT_OTEL_PAUSE_MS    1000
#define HUB_LIMIT_OTEL_PAUSE_S     300
#define HUB_LIMIT_OTEL_END_MS      2000

/* A text in a span (a name, an error, a URI), and one that somebody asked to have in it (arguments,
 * results); what a variable of OpenTelemetry may hold. */
#define HUB_LIMIT_SPAN_TEXT_BYTES    512
#define HUB_LIMIT_SPAN_CONTENT_BYTES 4096
#define HUB_LIMIT_OTEL_VALUE_BYTES   (16u * 1024)

/* A lock file: the definitions of some ten thousand tools. */
#define HUB_LIMIT_LOCK_BYTES (64u * 1024 * 1024)

/* What commands read of the network; of a registry of MCP servers: one answer, a list's pages, and how often an argument
 * may be repeated. */
#define HUB_LIMIT_DOWNLOAD_CONNECT_MS 10000
#define HUB_LIMIT_DOWNLOAD_IDLE_S     30 /* in which nothing comes */
#define HUB_LIMIT_DOWNLOAD_REDIRECTS  5
#define HUB_LIMIT_DOCUMENT_MS         20000 /* all of one answer of a registry */
#define HUB_LIMIT_REGISTRY_BYTES      (4u * 1024 * 1024)
#define HUB_LIMIT_REGISTRY_PAGES      10
#define HUB_LIMIT_LAUNCH_REPEATS      64

/* How long a pipe among the files of a configuration may be silent: who writes to one waits for its
 * reader, and writes at once. */
#define HUB_LIMIT_PIPE_MS 5000

/* A manifest, and everything it includes. */
#define HUB_LIMIT_CONFIG_BYTES  (8u * 1024 * 1024)
#define HUB_LIMIT_CONFIG_DEPTH  32
#define HUB_LIMIT_CONFIG_VALUES 200000 /* each is a node of some 100 bytes */

/* Put aside for the event loop, which must not run out of memory: enough for 4,000 descriptors. */
#define HUB_LOOP_RESERVE_BYTES (256 * 1024)

/* Between two lines of the log about descriptors that cannot be watched. */
#define HUB_LOOP_TELL_MS 1000

/* Between two attempts to watch one that the kernel refuses to watch: often, but not all the time.
 */
#define HUB_LOOP_RETRY_MS 50

#endif
