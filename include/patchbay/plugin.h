/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Patchbay plugin ABI, version 1.
 *
 * A plugin is a shared object that exports one data symbol, `patchbay_plugin_v1`, of type
 * patchbay_plugin. The hub reads it, creates *instances* of it (one per toolset that is enabled),
 * and hands each instance its calls. An instance talks back through patchbay_host_api, and through
 * optional host interfaces that it looks up by versioned name (loop.h, stream.h, process.h,
 * worker.h, wire.h, catalog.h, client.h, login.h). Most toolsets never touch this header: toolset.h
 * makes the common case a table of tools and a handler each.
 *
 * Event loop. The hub is one thread that never blocks. Every entry of patchbay_plugin runs on it,
 * so none may block either; a call that takes time is finished later, from any thread.
 *
 * Threads. Comments end with a tag: [loop] on the hub's loop thread only, [any] from any thread.
 *
 * Text. patchbay_str is UTF-8, not NUL-terminated, and borrowed: a span is valid until the function
 * that received it returns, and a function that keeps it copies it. JSON that the hub hands over is
 * valid, at most 64 levels deep, and byte for byte what the peer sent.
 *
 * Memory. There is no allocator in the ABI: nobody frees the other's memory. Strings reachable from
 * patchbay_plugin live as long as the library, which stays mapped until the hub exits.
 *
 * Compatibility. Tables only ever grow at their end, and `struct_size` says how much of one exists:
 * test a member that is newer than 1.0 with PATCHBAY_HAS before you use it. A plugin states the
 * newest ABI it knows (`abi`) and the oldest it can live with (`abi_min`); the hub refuses another
 * major version, and an `abi_min` newer than its own.
 *
 * Trust. A plugin runs inside the hub: it is as trusted as the hub itself.
 */
#ifndef PATCHBAY_PLUGIN_H
#define PATCHBAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ABI ledger: one line per addition.
 *   1.0  declared with hub 0.2.0 */
#define PATCHBAY_ABI_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define PATCHBAY_ABI                       PATCHBAY_ABI_VERSION(1, 0)
#define PATCHBAY_ABI_MAJOR(abi)            ((uint32_t)(abi) >> 16)
#define PATCHBAY_ABI_MINOR(abi)            ((uint32_t)(abi) % 0x10000u)

/* First word of patchbay_plugin: "PBAY". */
#define PATCHBAY_MAGIC 0x59414250u

/* Whether `table` (a pointer) is long enough to hold `member`, and holds it. */
#define PATCHBAY_HAS(type, table, member)                                                          \
    ((table)->struct_size >= offsetof(type, member) + sizeof((table)->member) &&                   \
     (table)->member != NULL)

#if defined(__GNUC__)
#define PATCHBAY_EXPORT __attribute__((visibility("default")))
#else
#define PATCHBAY_EXPORT
#endif

/* The hub's side of one instance. Opaque. */
typedef struct patchbay_host patchbay_host;

/* UTF-8 text: pointer and length in bytes. Empty is length 0; `ptr` may then be NULL. */
typedef struct patchbay_str {
    const char *ptr;
    size_t len;
} patchbay_str;

/* One call in flight. By value; a handle kept for too long is refused, never misread. */
typedef struct patchbay_call {
    uint64_t id; /* never 0, and below 2^53: it survives any JSON number */
} patchbay_call;

/* Where a function leaves a reason that a human can act on. The caller's memory. */
typedef struct patchbay_error {
    uint32_t struct_size; /* set by the caller */
    int32_t code;         /* a PATCHBAY_E… value */
    char text[248];       /* NUL-terminated UTF-8, one line */
} patchbay_error;

/* Return values of host functions. Negative is failure. */
#define PATCHBAY_OK        0
#define PATCHBAY_EINVAL    (-1) /* an argument is not what its comment asks for */
#define PATCHBAY_ESTALE    (-2) /* the call was completed before, or was never this instance's */
#define PATCHBAY_ELIMIT    (-3) /* a limit is reached; nothing was queued */
#define PATCHBAY_ENOMEM    (-4) /* out of memory */
#define PATCHBAY_ESTATE    (-5) /* not possible now (closing, wrong thread, wrong phase) */
#define PATCHBAY_ESYSTEM   (-6) /* the operating system refused; the text says what */
#define PATCHBAY_ENOTFOUND (-7) /* there is no such thing */
#define PATCHBAY_EAGAIN    (-8) /* a part is done: call again, in a later turn of the loop */

/* Log levels for patchbay_host_api.log, as in syslog. */
#define PATCHBAY_LOG_DEBUG   0
#define PATCHBAY_LOG_INFO    1
#define PATCHBAY_LOG_WARNING 2
#define PATCHBAY_LOG_ERROR   3

/* How a call ends: `status` of patchbay_host_api.finish. */
#define PATCHBAY_RESULT    0 /* `json` is the result object of the method */
#define PATCHBAY_RPC_ERROR 1 /* `json` is a JSON-RPC error object, passed on as it is */
#define PATCHBAY_NOT_IMPLEMENTED                                                                   \
    2                            /* `json` is plain text: the client sees TOOL_NOT_IMPLEMENTED     \
                                  */
#define PATCHBAY_INVALID_INPUT 3 /* plain text: TOOL_INVALID_INPUT, not retryable */
#define PATCHBAY_UNAVAILABLE   4 /* plain text: TOOL_UNAVAILABLE, retryable */
#define PATCHBAY_FAILED        5 /* plain text: TOOL_EXECUTION_FAILED */
/* Or'ed in: `json` was scanned by patchbay.wire/1 and not changed since; it is not scanned again.
 */
#define PATCHBAY_SCANNED 0x100
/* Or'ed in beside PATCHBAY_SCANNED: the result has a `resultType` member. */
#define PATCHBAY_TYPED 0x200
/* … its `isError` is true, or it is not. With neither of them the hub looks for it. */
#define PATCHBAY_IS_ERROR 0x400
#define PATCHBAY_NO_ERROR 0x800

/* patchbay_request.flags */
#define PATCHBAY_WANTS_PROGRESS 0x1u /* the client asked for progress: notify() reaches it */

/* One request for an instance. Every span is borrowed for the duration of call().
 * `params_json` is the client's whole params object; name_json, args_json and meta_json are slices
 * of it, so that a proxy can splice around them. `method` is "tools/call" unless the plugin
 * offers more (catalog.h); what it does not know it answers with PATCHBAY_NOT_IMPLEMENTED. */
typedef struct patchbay_request {
    uint32_t struct_size;
    uint32_t flags;           /* PATCHBAY_WANTS_… */
    uint64_t deadline_ms;     /* on the clock of loop.h now_ms(); 0: none */
    patchbay_str tool;        /* the tool's own name, unprefixed, decoded; see also catalog.h */
    patchbay_str args_json;   /* the arguments object; "{}" when the client sent none */
    patchbay_str meta_json;   /* the _meta object; empty when the client sent none */
    patchbay_str method;      /* "tools/call", … */
    patchbay_str params_json; /* the whole params object; "{}" when the client sent none */
    patchbay_str name_json;   /* that name as the client sent it, quotes included; may be empty */
} patchbay_request;

/* What the hub offers to every instance. Valid until destroy() returns. */
typedef struct patchbay_host_api {
    uint32_t struct_size;
    uint32_t abi; /* the newest ABI that the hub knows */

    /* Write one line to the hub's log, under the toolset's name.
     * `text` is finished text without newline; never put arguments, results or secrets in it.
     * thread: [any]      blocks: no */
    void (*log)(patchbay_host *host, int32_t level, patchbay_str text);

    /* Replace the whole list of tools: a JSON array of MCP Tool objects, copied by the call.
     * The hub validates it, compares it with the previous list, and publishes what changed.
     * Serves start-up (in create), a late catalog, and every later change.
     * thread: [any]      blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (not such an array: the old list stays, the log says
     *          why); PATCHBAY_ELIMIT (too many tools or too many bytes); PATCHBAY_ENOMEM;
     *          from another thread also PATCHBAY_ESTATE (closing), and PATCHBAY_ELIMIT when the
     * loop has not heard too much of what was said before */
    int32_t (*set_tools)(patchbay_host *host, patchbay_str tools_json);

    /* Report progress of a call: a JSON object with `progress` and, if known, `total`, `message`.
     * The hub puts the client's own token in; without one, nothing is sent.
     * thread: [any]      blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_EINVAL (not such an object); PATCHBAY_ESTALE; from another
     *          thread also PATCHBAY_ESTATE and PATCHBAY_ELIMIT, as set_tools() */
    int32_t (*notify)(patchbay_host *host, patchbay_call call, patchbay_str params_json);

    /* Complete a call, exactly once. `json` is copied or sent before the function returns.
     * A second finish of one call is counted against the plugin and changes nothing. A plain text
     * longer than 64 KiB is cut.
     * thread: [any]      blocks: no
     * returns: PATCHBAY_OK; PATCHBAY_ESTALE (on the loop thread; from others it is not known);
     *          PATCHBAY_EINVAL (invalid JSON, an unknown status, more than 16 MiB: the client is
     *          answered with TOOL_EXECUTION_FAILED, the call is over); PATCHBAY_ESTATE (closing);
     *          PATCHBAY_ENOMEM (the client is answered with TOOL_EXECUTION_FAILED, the call is
     *          over) */
    int32_t (*finish)(patchbay_host *host, patchbay_call call, int32_t status, patchbay_str json);

    /* Look up an optional host interface by its versioned name, for example PATCHBAY_LOOP_V1.
     * The table lives as long as the hub. NULL when this hub does not have it.
     * thread: [loop]     blocks: no */
    const void *(*get_interface)(patchbay_host *host, const char *id);
} patchbay_host_api;

/* patchbay_plugin.flags */
/* The tools belong to somebody else: arguments are passed on without being validated here. */
#define PATCHBAY_PLUGIN_PROXY 0x1u

/* The table that a plugin exports as `patchbay_plugin_v1`. Constant. */
typedef struct patchbay_plugin {
    uint32_t magic;       /* PATCHBAY_MAGIC */
    uint32_t struct_size; /* sizeof(patchbay_plugin) */
    uint32_t abi;         /* PATCHBAY_ABI: what the plugin was built against */
    uint32_t abi_min;     /* the oldest hub ABI it can live with */

    const char *name;        /* [a-z][a-z0-9_-]{0,63}, equal to the file's name without ".so" */
    const char *version;     /* the plugin's own version, for people */
    const char *description; /* one sentence, for people; may be NULL */
    const char *config_schema_json; /* JSON Schema of its config object; NULL: takes no config */
    uint64_t flags;                 /* PATCHBAY_PLUGIN_… */

    /* Make an instance. `config_json` is a JSON object that satisfies config_schema_json.
     * May call set_tools(); must not finish calls, there are none.
     * thread: [loop]     blocks: no
     * returns: PATCHBAY_OK with *ret_inst set (it may be NULL, the hub does not look at it), or a
     *          negative value with the reason in reterr, and nothing left behind */
    int32_t (*create)(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr);

    /* Take a call. It is the instance's until finish(), which may happen before call() returns.
     * thread: [loop]     blocks: no */
    void (*call)(void *inst, patchbay_call call, const patchbay_request *request);

    /* Somebody stopped waiting: cancelled, timed out, or gone. Whatever finish() says from now on
     * is dropped; the instance should stop working. May be NULL.
     * thread: [loop]     blocks: no */
    void (*cancel)(void *inst, patchbay_call call);

    /* End an instance. Its calls have been failed and its worker jobs have ended.
     * On return no thread of the plugin may use `host` any more.
     * thread: [loop]     blocks: no */
    void (*destroy)(void *inst);
} patchbay_plugin;

/* The symbol itself; define it in the plugin with PATCHBAY_EXPORT. */
#define PATCHBAY_PLUGIN_SYMBOL "patchbay_plugin_v1"
extern PATCHBAY_EXPORT const patchbay_plugin patchbay_plugin_v1;

#ifdef __cplusplus
}
#endif

#endif
