/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toolsets.KEY: a module with its config, or a server entry. The same rows serve the entries of
 * other programs' files (mcp_servers.c), and say what the proxies are handed (toolset_json.c).
 */
#include "config/reader.h"

#include "base/limits.h"

enum {
    MOST_START_MS = 3600000,  /* a server that needs an hour to start is broken */
    MOST_PACE_MS = 86400000,  /* what happens less than once a day is switched off instead */
    MOST_CONNECT_MS = 600000, /* a connection that takes ten minutes will not come */
};

#define MOST_MODULE_BYTES (4095u * 1024 * 1024) /* whole mebibytes in 32 bits */

#define DRAFT(member) offsetof(hub_config_toolset_draft, member)

typedef enum server_type {
    TYPE_STDIO,
    TYPE_HTTP,
    TYPE_SSE,
    TYPE_WEBSOCKET,
} server_type;

/* All spellings met in the files of other programs; the module gets the first of each type. */
static const hub_config_word TYPES[] = {
    {"stdio", TYPE_STDIO, false},
    {"http", TYPE_HTTP, false},
    {"sse", TYPE_SSE, false},
    {"websocket", TYPE_WEBSOCKET, false},
    {"streamable-http", TYPE_HTTP, true},
    {"streamableHttp", TYPE_HTTP, true},
    {"streamable_http", TYPE_HTTP, true},
    {"STREAMABLE_HTTP", TYPE_HTTP, true},
    {"STDIO", TYPE_STDIO, true},
    {"HTTP", TYPE_HTTP, true},
    {"SSE", TYPE_SSE, true},
    {"ws", TYPE_WEBSOCKET, true},
    {"local", TYPE_STDIO, true},
    {"remote", TYPE_HTTP, true},
    {.word = NULL},
};

/* The revisions of MCP that an upstream can be spoken to in. */
static const hub_config_word PROTOCOLS[] = {
    {"2024-11-05", 0, false}, {"2025-03-26", 1, false}, {"2025-06-18", 2, false},
    {"2025-11-25", 3, false}, {"2026-07-28", 4, false}, {.word = NULL},
};

static const hub_config_word ADDRESSES[] = {
    {"any", 0, false}, {"public", 1, false}, {.word = NULL}};

static const hub_config_word SHARINGS[] = {
    {"shared", 0, false},
    {"session", 1, false},
    {.word = NULL},
};

static const hub_config_word CREDENTIALS[] = {
    {"hub", 0, false},
    {"principal", 1, false},
    {.word = NULL},
};

#define TOOL_LIMITS_SCHEMA                                                                         \
    "{\"type\":[\"object\",\"null\"],\"maxProperties\":100,"                                       \
    "\"propertyNames\":{\"minLength\":1,\"maxLength\":128},"                                       \
    "\"additionalProperties\":{\"type\":\"object\",\"required\":[\"calls_per_second\"],"           \
    "\"additionalProperties\":false,\"properties\":{"                                              \
    "\"calls_per_second\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000},"               \
    "\"calls_burst\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000}}}}"

/* What tool_overrides.c reads. */
#define OVERRIDE_TEXT  "{\"type\":\"string\",\"minLength\":1}"
#define OVERRIDE_BOOL  "{\"type\":\"boolean\"}"
#define OVERRIDE_NAMES "{\"type\":\"array\",\"items\":" OVERRIDE_TEXT "}"
#define ARGUMENT_SCHEMA                                                                            \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"fixed\":true,"          \
    "\"default\":true,\"description\":" OVERRIDE_TEXT ",\"hide\":" OVERRIDE_BOOL "}}"
#define RESULTS_SCHEMA                                                                             \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"max_bytes\":"           \
    "{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"string\",\"pattern\":"           \
    "\"^[0-9]+ *(B|KiB|MiB|GiB)$\"}]},\"over\":{\"enum\":[\"spill\",\"truncate\",\"error\"]}}}"
#define OVERRIDES_SCHEMA                                                                           \
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\","                          \
    "\"additionalProperties\":false,\"properties\":{\"name\":{\"type\":\"string\","                \
    "\"pattern\":\"^[A-Za-z0-9_.-]+$\"},\"title\":" OVERRIDE_TEXT                                  \
    ",\"description\":" OVERRIDE_TEXT ",\"hide\":" OVERRIDE_BOOL ",\"tags\":" OVERRIDE_NAMES       \
    ",\"category\":" OVERRIDE_TEXT ",\"scopes\":" OVERRIDE_NAMES ",\"read_only\":" OVERRIDE_BOOL   \
    ",\"destructive\":" OVERRIDE_BOOL ",\"validate\":" OVERRIDE_BOOL ",\"flat\":" OVERRIDE_BOOL    \
    ",\"results\":" RESULTS_SCHEMA ",\"arguments\":{\"type\":\"object\","                          \
    "\"additionalProperties\":" ARGUMENT_SCHEMA "}}}}"

/* What login.c reads. */
#define LOGIN_SCHEMA                                                                               \
    "{\"anyOf\":[{\"enum\":[\"oauth\",\"none\"]},{\"type\":\"object\","                            \
    "\"additionalProperties\":false,\"properties\":{\"grant\":{\"enum\":"                          \
    "[\"authorization_code\",\"device_code\",\"client_credentials\",\"token_exchange\","           \
    "\"id_jag\"]},\"audience\":" OVERRIDE_TEXT ",\"subject_issuer\":" OVERRIDE_TEXT                \
    ",\"subject_token\":{\"enum\":[\"access_token\",\"id_token\",\"jwt\"]}"                        \
    ",\"identity_provider\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":["    \
    "\"issuer\",\"client_id\"],\"properties\":{\"issuer\":" OVERRIDE_TEXT                          \
    ",\"client_id\":" OVERRIDE_TEXT ",\"client_secret\":" OVERRIDE_TEXT                            \
    ",\"private_key\":" OVERRIDE_TEXT ",\"algorithm\":" OVERRIDE_TEXT ",\"key_id\":" OVERRIDE_TEXT \
    "}},\"issuer\":" OVERRIDE_TEXT ",\"client_id\":" OVERRIDE_TEXT                                 \
    ",\"client_secret\":" OVERRIDE_TEXT ",\"redirect_uri\":" OVERRIDE_TEXT                         \
    ",\"client_document\":" OVERRIDE_TEXT ",\"private_key\":" OVERRIDE_TEXT                        \
    ",\"algorithm\":" OVERRIDE_TEXT ",\"key_id\":" OVERRIDE_TEXT ",\"scopes\":" OVERRIDE_NAMES     \
    "}}]}"

/* toolsets.KEY.tools: globs over the toolset's own tool names, and the most that they may do. */
static const hub_config_key TOOL_KEYS[] = {
    {.name = "allow",
     .kind = HUB_CONFIG_NAMES,
     .offset = DRAFT(toolset.tools_allow),
     .about = "Tools that exist. Default: all. []: none.",
     .example = "[\"*\"]"},
    {.name = "deny",
     .kind = HUB_CONFIG_NAMES,
     .offset = DRAFT(toolset.tools_deny),
     .about = "Tools that do not exist. Wins over allow.",
     .example = "[]"},
    {.name = "limits",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_tool_limits,
     .offset = DRAFT(toolset.tool_limits),
     .schema = TOOL_LIMITS_SCHEMA,
     .about = "How often tools may be called, by all clients together: by name, or by a glob for "
              "all that it matches. Each entry that matches counts. calls_per_second is required; "
              "calls_burst is how many at once, by default as many as per second.",
     .example = "{ search: { calls_per_second: 10, calls_burst: 20 } }",
     .is_comment = true},
    {.name = "scopes",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_tool_scopes,
     .offset = DRAFT(toolset.tool_scopes),
     .about = "Globs to scopes: a call of such a tool needs all of them. See docs/ACCESS.md.",
     .schema = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{"
               "\"type\":\"string\",\"pattern\":\"^[!#-+.-\\\\[\\\\]-~-]{1,128}$\"}}}",
     .example = "{\"delete_*\": [\"git:delete\"]}",
     .is_comment = true},
    {.name = "overrides",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_node,
     .offset = DRAFT(overrides),
     .about = "Changes to tools on their way to clients, by name or by a glob. Names, texts, "
              "hints, tags, and arguments that are fixed, hidden or have a default. Of several "
              "that fit a tool, its own name comes first. See docs/OVERRIDES.md.",
     .schema = OVERRIDES_SCHEMA,
     .example = "{ read_file: { name: read, arguments: { root: { fixed: /srv } } } }",
     .is_comment = true},
    {.name = NULL},
};

/* What a server entry says to the proxy, and an isolated module's entry to the proxy in front of
 * it. `read` keeps the value until the whole entry is known. */
#define FOR_PROXY(key) .name = (key), .read = hub_config_keep

const hub_config_key HUB_CONFIG_TOOLSET_KEYS[] = {
    {FOR_PROXY("command"), .kind = HUB_CONFIG_TEXT, .offset = DRAFT(command),
     .about =
         "The program of a server that the hub starts. A path with a \"/\" is relative to `cwd`; "
         "a bare name is looked for in PATH. Variables are expanded.",
     .example = "uvx", .of = HUB_CONFIG_OF_COMMAND, .module_key = "command"},
    {FOR_PROXY("url"), .kind = HUB_CONFIG_TEXT, .offset = DRAFT(url),
     .about = "The address of a server that is running already: http, https, ws or wss, or "
              "unix:///PATH for a Unix socket. Variables are expanded.",
     .example = "https://docs.example.com/mcp", .of = HUB_CONFIG_OF_URL | HUB_CONFIG_OF_SOCKET,
     .module_key = "url"},
    {FOR_PROXY("args"), .kind = HUB_CONFIG_ARGUMENTS,
     .about = "The program's arguments. Variables are expanded.",
     .example = "[mcp-server-git, \"${GIT_SERVER_ARGS:---verbose}\"]", .of = HUB_CONFIG_OF_COMMAND,
     .module_key = "args"},
    {FOR_PROXY("env"), .kind = HUB_CONFIG_VARIABLES,
     .about = "Further environment variables of the process. Variables are expanded.",
     .example = "{GIT_AUTHOR_NAME: \"${GIT_AUTHOR_NAME:-patchbay}\"}",
     .of = HUB_CONFIG_OF_COMMAND | HUB_CONFIG_OF_PROCESS, .module_key = "env"},
    {FOR_PROXY("cwd"), .kind = HUB_CONFIG_PATH, .fallback_text = ".",
     .about = "The process's working folder, relative to the manifest's folder, which is the "
              "default. An isolated plugin has the hub's own working folder unless this key says "
              "otherwise. Variables are expanded.",
     .of = HUB_CONFIG_OF_COMMAND | HUB_CONFIG_OF_PROCESS, .module_key = "cwd"},
    {FOR_PROXY("inherit_env"), .kind = HUB_CONFIG_BOOL,
     .about = "Hand the process the hub's whole environment.",
     .of = HUB_CONFIG_OF_COMMAND | HUB_CONFIG_OF_PROCESS, .module_key = "inherit_env"},
    {FOR_PROXY("pass_env"), .kind = HUB_CONFIG_NAMES,
     .about =
         "Names of variables of the hub's environment that the process gets, too, as far as "
         "they are set; one of the same name in `env` wins. Default: SSL_CERT_FILE, "
         "SSL_CERT_DIR, NODE_EXTRA_CA_CERTS, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE; HTTP_PROXY, "
         "HTTPS_PROXY, ALL_PROXY and NO_PROXY, also in small letters; SSH_AUTH_SOCK. []: none.",
     .example = "[SSL_CERT_FILE, HTTPS_PROXY, SSH_AUTH_SOCK]",
     .of = HUB_CONFIG_OF_COMMAND | HUB_CONFIG_OF_PROCESS, .module_key = "pass_env"},
    {FOR_PROXY("headers"), .kind = HUB_CONFIG_HEADERS,
     .about = "HTTP headers of each request; they are never sent to another origin. Variables are "
              "expanded.",
     .example = "{Authorization: \"Bearer ${DOCS_TOKEN:-none}\"}", .of = HUB_CONFIG_OF_URL,
     .module_key = "headers"},
    {FOR_PROXY("ca"), .kind = HUB_CONFIG_PATH,
     .about = "PEM file of the authorities that the server is trusted by, instead of the "
              "system's; relative to the manifest's folder. Variables are expanded.",
     .example = "authority.pem", .is_comment = true, .of = HUB_CONFIG_OF_URL, .module_key = "ca"},
    {FOR_PROXY("certificate"), .kind = HUB_CONFIG_PATH, .offset = DRAFT(certificate),
     .about = "PEM file of the hub's own certificate, for a server that asks for one; `key` "
              "belongs to it. Variables are expanded.",
     .example = "hub.pem", .is_comment = true, .of = HUB_CONFIG_OF_URL,
     .module_key = "certificate"},
    {FOR_PROXY("key"), .kind = HUB_CONFIG_PATH, .offset = DRAFT(private_key),
     .about = "PEM file of the certificate's private key. Variables are expanded.",
     .example = "hub.key", .is_comment = true, .of = HUB_CONFIG_OF_URL, .module_key = "key"},
    {FOR_PROXY("addresses"), .kind = HUB_CONFIG_WORD, .has_no_default = true, .words = ADDRESSES,
     .about =
         "public: nothing connects to an internal address (loopback, private, link-local and so "
         "on), neither to the server nor to what it names for a login; also not when a name leads "
         "there, nor by a proxy. any is the default.",
     .example = "public", .of = HUB_CONFIG_OF_URL, .module_key = "addresses"},
    {FOR_PROXY("connect_timeout"), .kind = HUB_CONFIG_DURATION, .least = 1, .most = MOST_CONNECT_MS,
     .fallback = 5000, .about = "How long a connection to the server may take.",
     .of = HUB_CONFIG_OF_URL, .module_key = "connect_timeout_ms"},
    {FOR_PROXY("forward_headers"), .kind = HUB_CONFIG_OTHER, .most = HUB_LIMIT_FORWARD_HEADERS,
     .about = "Headers of a client's HTTP request that the server gets with each request made for "
              "that client, in place of headers of the same name in `headers`. Not those that the "
              "hub says itself, such as Host, Accept, Content-* and Mcp-*. Nothing else that a "
              "client sends in a header goes there.",
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\","
               "\"pattern\":\"^[!#$%&'+.^_`|~0-9A-Za-z-]+$\"}}",
     .example = "[X-Request-Id]", .of = HUB_CONFIG_OF_URL, .module_key = "forward_headers"},
    {.name = "auth",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_node,
     .offset = DRAFT(login),
     .about =
         "How the hub logs in to the server. oauth: it wants an OAuth login, and is asked where; "
         "none: it is never logged in to; a map: what the server does not say itself. Without "
         "it, the hub logs in where a server says how, unless `headers` has an Authorization. "
         "Variables are expanded. See docs/LOGIN.md.",
     .schema = LOGIN_SCHEMA,
     .example = "oauth",
     .of = HUB_CONFIG_OF_URL},
    {.name = "credentials",
     .kind = HUB_CONFIG_CHOICE,
     .offset = DRAFT(toolset.is_per_principal),
     .words = CREDENTIALS,
     .about = "The login that the server sees: the hub's own for all, or that of each principal "
              "(docs/LOGIN.md), who has a connection and a list of tools of its own then "
              "(limits.principal_instances).",
     .of = HUB_CONFIG_OF_URL},
    {FOR_PROXY("startup_timeout"), .kind = HUB_CONFIG_DURATION, .least = 1, .most = MOST_START_MS,
     .fallback = 30000,
     .about = "How long a server may take until it answers its first request. A command that "
              "fetches a program first has 5m (npx, uvx, pipx, bunx, docker, podman, deno, uv run, "
              "npm exec, pnpm dlx, yarn dlx, bun x, go run, nix run).",
     .example = "30s", .of = HUB_CONFIG_OF_UPSTREAM, .module_key = "startup_timeout_ms"},
    {FOR_PROXY("restart_delay"), .kind = HUB_CONFIG_DURATION, .least = 1, .most = MOST_START_MS,
     .fallback = 500,
     .about = "From the first failure of a server to the next attempt; each further failure "
              "doubles it, and up to a tenth is added at random.",
     .of = HUB_CONFIG_OF_UPSTREAM, .module_key = "restart_delay_ms"},
    {FOR_PROXY("restart_delay_max"), .kind = HUB_CONFIG_DURATION, .least = 1, .most = MOST_START_MS,
     .fallback = 60000,
     .about = "The longest restart_delay, which doubles up to here. The hub "
              "never stops trying.",
     .of = HUB_CONFIG_OF_UPSTREAM, .module_key = "restart_delay_max_ms"},
    {FOR_PROXY("restart_reset"), .kind = HUB_CONFIG_DURATION, .least = 1, .most = MOST_PACE_MS,
     .fallback = 60000, .about = "Failures before a time of health as long as this are forgotten.",
     .of = HUB_CONFIG_OF_UPSTREAM, .module_key = "restart_reset_ms"},
    {FOR_PROXY("health_interval"), .kind = HUB_CONFIG_DURATION, .most = MOST_START_MS,
     .has_no_default = true,
     .about = "Silence after which a server is asked for a sign of life; without an answer for as "
              "long again, it is taken to hang and is started again. 0s: never, which is the "
              "default of a url of http, https, ws or wss. Else the default is 30s.",
     .example = "30s", .of = HUB_CONFIG_OF_UPSTREAM, .module_key = "health_interval_ms"},
    {FOR_PROXY("idle_timeout"), .kind = HUB_CONFIG_DURATION, .most = MOST_PACE_MS,
     .about = "How long a server is kept that nobody needs: one without calls, questions, "
              "subscriptions and tasks. The next need starts it. 0s: for ever.",
     .of = HUB_CONFIG_OF_UPSTREAM, .module_key = "idle_timeout_ms"},
    {FOR_PROXY("protocol"), .kind = HUB_CONFIG_WORD, .has_no_default = true, .words = PROTOCOLS,
     .about = "The revision of MCP to speak, instead of asking the server.",
     .example = "2025-11-25", .is_comment = true, .of = HUB_CONFIG_OF_SERVER,
     .module_key = "protocol"},
    {FOR_PROXY("type"), .kind = HUB_CONFIG_WORD, .offset = DRAFT(type), .has_no_default = true,
     .words = TYPES,
     .about = "How the server is spoken to. Default: stdio for a command; for a url its scheme, "
              "and http or sse as the server has it.",
     .example = "stdio", .of = HUB_CONFIG_OF_COMMAND | HUB_CONFIG_OF_URL, .module_key = "type"},
    {.name = "module",
     .kind = HUB_CONFIG_TEXT,
     .read = hub_config_read_node,
     .offset = DRAFT(module),
     .about = "The name of the plugin. Default: the toolset's key.",
     .example = "time",
     .of = HUB_CONFIG_OF_MODULE},
    {.name = "config",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_node,
     .offset = DRAFT(config),
     .about = "Handed to the plugin as JSON. Variables in text are expanded.",
     .schema = "{\"type\":[\"object\",\"null\"]}",
     .example = "{default_zone: Europe/Berlin}",
     .of = HUB_CONFIG_OF_MODULE},
    {.name = "isolation",
     .kind = HUB_CONFIG_CHOICE,
     .read = hub_config_read_node,
     .offset = DRAFT(isolation),
     .has_no_default = true,
     .words = HUB_CONFIG_ISOLATIONS,
     .about = "process: the plugin runs in a process of its own, and a crash of that process "
              "harms nothing else. The keys about processes (env, cwd, inherit_env and those from "
              "startup_timeout to idle_timeout) are allowed then. Default: modules.isolation.",
     .example = "process",
     .is_comment = true,
     .of = HUB_CONFIG_OF_MODULE},
    {.name = "memory_limit",
     .kind = HUB_CONFIG_SIZE,
     .offset = DRAFT(toolset.memory_limit),
     .least = HUB_LIMIT_LEAST_MODULE_BYTES,
     .most = MOST_MODULE_BYTES,
     .has_zero = true,
     .about = "The memory that this process can have; the plugin is refused any more. 0: any "
              "amount. It needs `isolation: process`.",
     .of = HUB_CONFIG_OF_MODULE},
    {.name = "enabled",
     .kind = HUB_CONFIG_BOOL,
     .read = hub_config_read_node,
     .offset = DRAFT(enabled),
     .fallback = true,
     .about = "false: switched off, whatever is asked at run time. The environment can say it, "
              "too: PATCHBAY_GIT_ENABLED=false."},
    {.name = "disabled",
     .kind = HUB_CONFIG_BOOL,
     .read = hub_config_read_node,
     .offset = DRAFT(disabled),
     .about = "The opposite of `enabled`.",
     .is_comment = true},
    {.name = "active",
     .kind = HUB_CONFIG_BOOL,
     .offset = DRAFT(toolset.active),
     .fallback = true,
     .about = "Whether it is active at start."},
    {.name = "lazy",
     .kind = HUB_CONFIG_BOOL,
     .offset = DRAFT(toolset.lazy),
     .fallback = true,
     .about = "Connect at the first need instead of at start."},
    {.name = "cache",
     .kind = HUB_CONFIG_BOOL,
     .offset = DRAFT(toolset.cache),
     .fallback = true,
     .about = "Remember on disk what it offers. false: ask it after each start of the hub."},
    {.name = "sharing",
     .kind = HUB_CONFIG_CHOICE,
     .offset = DRAFT(toolset.sharing_session),
     .words = SHARINGS,
     .about = "One instance for all clients, or one for each client session, which is a process "
              "of its own for a server (limits.session_instances). Clients of 2026-07-28 over HTTP "
              "have no session and share one."},
    {.name = "timeout",
     .kind = HUB_CONFIG_DURATION,
     .read = hub_config_read_node,
     .offset = DRAFT(timeout),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS,
     .has_no_default = true,
     .about = "How long a call may last without progress. Default: limits.call_timeout.",
     .example = "1m"},
    {.name = "max_calls",
     .kind = HUB_CONFIG_COUNT,
     .offset = DRAFT(toolset.max_calls),
     .most = HUB_LIMIT_CALLS,
     .about = "Calls of clients in flight, not counting requests about tasks. 0: only the hub's "
              "own limits."},
    {.name = "queue",
     .kind = HUB_CONFIG_COUNT,
     .offset = DRAFT(toolset.queue),
     .most = HUB_LIMIT_CALLS,
     .fallback = HUB_LIMIT_QUEUE,
     .about =
         "How many calls of one client wait when max_calls are in flight; those of all wait up "
         "to twice as many, and clients take turns. 0: they are refused at once."},
    {.name = "queue_timeout",
     .kind = HUB_CONFIG_DURATION,
     .offset = DRAFT(toolset.queue_timeout_ms),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS,
     .fallback = HUB_LIMIT_QUEUE_MS,
     .about = "How long a call waits at most, before it is refused."},
    {.name = "middleware",
     .kind = HUB_CONFIG_MAP,
     .offset = DRAFT(middleware),
     .keys = HUB_CONFIG_MIDDLEWARE_KEYS,
     .about = "Steps that each of its calls passes. Keys that are not written "
              "are as in hub.middleware."},
    {.name = "results",
     .kind = HUB_CONFIG_MAP,
     .offset = DRAFT(results),
     .keys = HUB_CONFIG_RESULT_KEYS,
     .about = "How large results of its tools may be. Keys that are not written are as in "
              "hub.results; tools.overrides may say something else of single tools."},
    {.name = "tools",
     .kind = HUB_CONFIG_MAP,
     .keys = TOOL_KEYS,
     .about = "Which of its tools exist at all, and how often they may be called: globs over its "
              "own tool names."},
    {.name = "tags",
     .kind = HUB_CONFIG_NAMES,
     .offset = DRAFT(toolset.tags),
     .about = "Added to each of its tools.",
     .example = "[]"},
    {.name = "category",
     .kind = HUB_CONFIG_TEXT,
     .offset = DRAFT(toolset.category),
     .about = "The category of each of its tools. Default: each tool's own, where it is trusted "
              "(trust_tags).",
     .example = "development",
     .is_comment = true},
    {.name = "trust_tags",
     .kind = HUB_CONFIG_BOOL,
     .offset = DRAFT(toolset.trusts_tags),
     .about =
         "Whether tags and categories that the server gives its tools count for filters. "
         "false: those of this file alone do, because a server could tag itself past a filter. "
         "Those of native plugins always count."},
    {.name = "scopes",
     .kind = HUB_CONFIG_NAMES,
     .read = hub_config_read_scopes,
     .offset = DRAFT(toolset.scopes),
     .about = "A call of any of its tools, resources or prompts needs all of these scopes.",
     .example = "[]"},
    {.name = "validate",
     .kind = HUB_CONFIG_BOOL,
     .offset = DRAFT(toolset.validates),
     .about =
         "Hold the arguments of each call against the tool's inputSchema before they are sent. "
         "Those of native plugins always are."},
    {.name = "trust_annotations",
     .kind = HUB_CONFIG_BOOL,
     .offset = DRAFT(toolset.trust_annotations),
     .about = "Access rules believe what its server says of its tools: readOnlyHint and "
              "destructiveHint."},
    {.name = "description",
     .kind = HUB_CONFIG_TEXT,
     .offset = DRAFT(toolset.description),
     .about = "The purpose of the toolset, for models.",
     .example = "Reads and changes the repository.",
     .is_comment = true},
    {.name = NULL},
};

_Static_assert(sizeof HUB_CONFIG_TOOLSET_KEYS / sizeof *HUB_CONFIG_TOOLSET_KEYS <=
                   HUB_CONFIG_MOST_KEYS,
               "a draft has no room for what all rows say");
