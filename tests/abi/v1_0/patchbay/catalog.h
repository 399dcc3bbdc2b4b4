/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.catalog/1": for toolsets whose catalog is known only later, or changes,
 * because it belongs to somebody else.
 */
#ifndef PATCHBAY_CATALOG_H
#define PATCHBAY_CATALOG_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_CATALOG_V1 "patchbay.catalog/1"

/* patchbay_request.method of the hub's own request to learn the catalog: set_tools(), then finish
 * with "{}"; or finish with PATCHBAY_UNAVAILABLE and the reason. With "refresh": true in the params
 * the catalog is known, but old: an instance that is not told of changes looks again. With "now": true
 * somebody asks for the toolset by name: what failed before is tried at once. */
#define PATCHBAY_METHOD_DISCOVER "server/discover"

/* The lists of a catalog, for set(). Tools are also set by patchbay_host_api.set_tools(). */
#define PATCHBAY_TOOLS              0 /* MCP Tool objects */
#define PATCHBAY_RESOURCES          1 /* MCP Resource objects */
#define PATCHBAY_RESOURCE_TEMPLATES 2 /* MCP ResourceTemplate objects */
#define PATCHBAY_PROMPTS            3 /* MCP Prompt objects */

/* What a toolset with such lists is asked besides "tools/call". `tool` of the request is then the
 * URI or the prompt's own name, decoded; `name_json` is where it stands in the params. Results are
 * those of MCP.
 *   "resources/read"         params.uri; also for URIs that only a template of the toolset matches
 *   "resources/subscribe"    params.uri; when the first client wants to be told of it
 *   "resources/unsubscribe"  when the last one does not any more
 *   "prompts/get"            params.name
 *   "completion/complete"    params.ref.name or params.ref.uri
 *   "logging/setLevel"       params.level: the most talkative level that any client wants
 * A toolset that announces tasks answers a "tools/call" with params.task as MCP 2025-11-25 has it,
 * and is asked (`tool` is then the toolset's own id of the task, `name_json` params.taskId):
 *   "tasks/get", "tasks/cancel"
 *   "tasks/result"           answered when the task has ended; it may take long
 *   "tasks/update"           of the extension io.modelcontextprotocol/tasks alone */

/* What the instance is doing, for `list_toolsets`, `patchbay list` and the log. */
#define PATCHBAY_STATE_IDLE       0 /* not connected, and nobody asked */
#define PATCHBAY_STATE_CONNECTING 1 /* on the way */
#define PATCHBAY_STATE_READY      2 /* the catalog is current, calls are taken */
#define PATCHBAY_STATE_FAILED     3 /* the last attempt failed; there will be another */

/* The state of the server behind a toolset, for the operator of the hub. */
typedef struct patchbay_health {
    uint32_t struct_size;
    uint32_t pid;             /* of the server's process; 0: it has none, or not of the hub's */
    uint32_t restarts;        /* attempts that followed a failure, in all */
    uint32_t failures;        /* in a row */
    uint64_t next_attempt_ms; /* when the server is tried again, by now_ms() of patchbay/loop.h; 0:
                                 that is not planned */
    patchbay_str protocol;    /* the revision that it speaks; empty: it is not connected */
    patchbay_str last_error;  /* plain text, kept when it is well again; empty: none yet */
} patchbay_health;

typedef struct patchbay_catalog_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* The catalog is not known yet: the hub asks with PATCHBAY_METHOD_DISCOVER when somebody needs
     * it. Without this, a toolset that set no tools has none.
     * thread: [loop], in create() only */
    void (*defer)(patchbay_host *host);

    /* Say what state the instance is in and, if it failed, why (plain text).
     * thread: [loop] */
    void (*set_state)(patchbay_host *host, uint32_t state, patchbay_str detail);

    /* Replace one list: a JSON array, copied by the call. As patchbay_host_api.set_tools().
     * thread: [any]      blocks: no
     * returns: as set_tools(); PATCHBAY_EINVAL also for an unknown kind */
    int32_t (*set)(patchbay_host *host, uint32_t kind, patchbay_str list_json);

    /* Say what the toolset can do besides its lists, in the form of MCP's ServerCapabilities:
     * "resources": {"subscribe": true}, "completions": {}, "logging": {}, "tasks": {…},
     * "extensions": {…}. Other members are ignored: lists speak for themselves. Replaces what was
     * said before.
     * thread: [loop]     blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (not an object); PATCHBAY_ENOMEM */
    int32_t (*set_capabilities)(patchbay_host *host, patchbay_str capabilities_json);

    /* The content of a resource has changed: clients that subscribed to it are told.
     * thread: [any]      blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (empty or too long); from another thread as notify() */
    int32_t (*updated)(patchbay_host *host, patchbay_str uri);

    /* Say the server's state; replaces what was said before.
     * thread: [loop]     blocks: no */
    void (*set_health)(patchbay_host *host, const patchbay_health *health);

    /* Say what the server says of itself, for people and models who choose among toolsets: an
     * InitializeResult or DiscoverResult as it came, of which title and description of the
     * `serverInfo` and the `instructions` are read. Replaces what was said before; it is bounded and
     * masked by the hub, and remembered with the catalog.
     * thread:  [loop]     blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (not an object) */
    int32_t (*set_about)(patchbay_host *host, patchbay_str result_json);

    /* As set(), but a list that is long is read a part at a time, so that others have their turn
     * meanwhile. Begins with `list_json`, and goes on with NULL for as long as PATCHBAY_EAGAIN is
     * returned. Another list of the kind, set in whichever way, takes the place of one that is being
     * read.
     * thread: [loop]     blocks: no
     * returns: as set(); PATCHBAY_EAGAIN; PATCHBAY_ESTATE (NULL, though none of the kind is being
     *          read)
     * since:   PATCHBAY_HAS(patchbay_catalog_v1, …, set_in_turns) */
    int32_t (*set_in_turns)(patchbay_host *host, uint32_t kind, const patchbay_str *list_json);
} patchbay_catalog_v1;

#ifdef __cplusplus
}
#endif

#endif
