/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a toolset: what a handler gets, whatever was called. A tool, a resource that is read,
 * a prompt, and a completion are all handled by a function of this kind:
 *
 *     static void handler(patchbay_tool_call *call);
 *
 * What the client sent is read with patchbay_arg…: the arguments of a tool or a prompt, the
 * variables of a resource template. content.h builds the answer, ask.h asks the client.
 *
 * Threads. A handler runs on a worker thread and may block, unless its entry says
 * PATCHBAY_NONBLOCKING: then it runs on the hub's loop and must return at once. A call is used by
 * one thread at a time; what is marked [any] is safe from others meanwhile.
 *
 * Completion. A call is completed by exactly one patchbay_reply… function; `call` and everything it
 * handed out is not to be used afterwards (reply.h says what becomes of a second reply). A handler
 * whose reply comes after its return says patchbay_defer, or has asked the client something (ask.h).
 * Otherwise a call without a reply fails; so does one whose C++ handler throws: what() goes to the
 * log and to the caller, so put no secret in it.
 *
 * Return values. All helpers keep to one convention, which the first argument shows:
 *   - A function that reads returns the value. Without one: an empty span (ptr NULL), a NULL
 *     pointer, or the author's `otherwise`. A question is answered with 1 or 0; with 0, outputs
 *     (ret_…) are not written.
 *   - A function that acts on a call or on a patchbay_out returns nothing. The object remembers a
 *     failed allocation, and the call then fails with "out of memory"; what only tells (progress,
 *     messages) is dropped.
 *   - A function that acts on a toolset returns PATCHBAY_OK or a negative PATCHBAY_E… (patchbay_log
 *     cannot fail). PATCHBAY_ENOTFOUND: the hub is older than the function.
 *
 * Part of toolset.h, which includes it.
 */
#ifndef PATCHBAY_CALL_H
#define PATCHBAY_CALL_H

#include <patchbay/catalog.h>
#include <patchbay/client.h>
#include <patchbay/loop.h>
#include <patchbay/worker.h>
#include <patchbay/write.h>

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of whatever has a handler. */
#define PATCHBAY_NONBLOCKING 0x100u /* the handler runs on the hub's loop */
#define PATCHBAY_TAKES_NUL   0x200u /* strings may hold \u0000: see patchbay_arg_str */

/* JSON-RPC error codes that a handler might answer with (MCP 2026-07-28 basic/index). */
#define PATCHBAY_RPC_INVALID_PARAMS     (-32602)
#define PATCHBAY_RPC_INTERNAL           (-32603)
#define PATCHBAY_RPC_MISSING_CAPABILITY (-32021)

typedef struct patchbay_toolset patchbay_toolset;
typedef struct patchbay_tool_call patchbay_tool_call;
typedef struct patchbay_answer patchbay_answer; /* ask.h */
typedef void patchbay_handler(patchbay_tool_call *call);
/* What happens when an answer is there. [loop], must not block */
typedef void patchbay_then(patchbay_tool_call *call, const patchbay_answer *answer);

/* Calls that a toolset remembers when they are over, to notice a second reply (reply.h): some 300
 * bytes each, and the name. */
#define PATCHBAY_CALLS_KEPT 64

/* Of the reason why a list is refused: what patchbay_error has room for. */
#define PATCHBAY_REFUSAL_BYTES 248

/* ---- toolset and call (members are private) -------------------------------------------------- */

struct patchbay_toolset {
    const patchbay_host_api *api;
    patchbay_host *host;
    const patchbay_worker_v1 *worker; /* NULL when the hub does not have it, as the next three */
    const patchbay_loop_v1 *loop;
    const patchbay_catalog_v1 *catalog; /* NULL also when it is one of tools only */
    const patchbay_client_v1 *client;
    const struct patchbay_toolset_info *info;
    void *data;
    const struct patchbay_tool *tools; /* the tables: changed and read under `lock` */
    size_t tool_count;
    const struct patchbay_resource *resources;
    size_t resource_count;
    const struct patchbay_resource_template *templates;
    size_t template_count;
    const struct patchbay_prompt *prompts;
    size_t prompt_count;
    patchbay_tool_call *calls;                     /* in flight */
    patchbay_tool_call *over[PATCHBAY_CALLS_KEPT]; /* the last ones, without what they held */
    size_t over_count;
    char refusal[PATCHBAY_REFUSAL_BYTES]; /* why the latest list was refused; "": nobody said */
    pthread_mutex_t lock; /* guards the tables, `calls`, `over`, what is marked so in a call */
};

/* In front of each allocation: as large as the strictest alignment, so that what follows has it. */
typedef union patchbay_allocation_ {
    union patchbay_allocation_ *next;
    long double align_;
} patchbay_allocation_;

/* What a call is. */
#define PATCHBAY_CALL_TOOL_       0u
#define PATCHBAY_CALL_READ_       1u
#define PATCHBAY_CALL_PROMPT_     2u
#define PATCHBAY_CALL_COMPLETION_ 3u

/* How far the reply is. */
#define PATCHBAY_REPLY_NONE_  0
#define PATCHBAY_REPLY_BEGUN_ 1
#define PATCHBAY_REPLY_SENT_  2

/* Of the entry that was called, copied: its table may be replaced meanwhile. */
typedef struct patchbay_entry_ {
    patchbay_handler *handler;
    void *data;
    const char *mime_type; /* of a resource; in a call: its copy */
    uint64_t flags;
} patchbay_entry_;

/* A question that waits to be asked, and then for its answer (ask.h). */
typedef struct patchbay_question_ {
    struct patchbay_question_ *next;
    patchbay_toolset *toolset;
    patchbay_call call;
    patchbay_then *then;
    const char *method; /* a literal */
    int64_t code;       /* why it could not be sent */
    patchbay_out key;
    patchbay_out params;
} patchbay_question_;

struct patchbay_tool_call {
    patchbay_toolset *toolset;
    patchbay_call id;
    uint64_t kind; /* PATCHBAY_CALL_… */
    patchbay_entry_ entry;
    patchbay_str name; /* or URI, of what was called */
    patchbay_str args;
    patchbay_str meta;
    patchbay_str typed; /* of a completion */
    patchbay_str capabilities;
    uint64_t deadline_ms;
    void *state;
    patchbay_tool_call *next; /* guarded, as `prev` */
    patchbay_tool_call *prev;
    patchbay_allocation_ *allocations;
    char *reserve; /* memory for decoded arguments, so that reading them does not fail */
    size_t reserve_len;
    patchbay_out content;    /* blocks, contents, messages or values so far, comma-separated */
    patchbay_out structured; /* structuredContent so far */
    const char *role;        /* of the next messages of a prompt */
    uint64_t value_count;    /* of a completion */
    uint64_t is_error;
    patchbay_question_ *questions; /* not asked yet, the newest first; guarded */
    patchbay_answer *answers;      /* the newest first */
    uint64_t open_count;           /* questions without an answer; guarded */
    void (*on_cancel)(void *arg);  /* guarded, as `cancel_arg` */
    void *cancel_arg;
    int cancelled; /* atomic */
    int deferred;
    int running;    /* the toolset's code is using the call; guarded */
    int ask_failed; /* a question could not be noted down */
    int is_over;    /* nobody will hear the reply */
    int reply;      /* PATCHBAY_REPLY_…; guarded */
};

/* ---- what a call carries --------------------------------------------------------------------- */

/* The toolset's shared data, as setup() made it. */
static inline void *patchbay_toolset_data(const patchbay_tool_call *call)
{
    return call->toolset->data;
}

/* The `data` of the table's entry that was called. */
static inline void *patchbay_tool_data(const patchbay_tool_call *call)
{
    return call->entry.data;
}

/* The toolset of a call: for patchbay_log and what changes its lists. */
static inline patchbay_toolset *patchbay_call_toolset(const patchbay_tool_call *call)
{
    return call->toolset;
}

/* What was called, a C string: the tool's or prompt's name, or the URI of what is read. */
static inline const char *patchbay_call_name(const patchbay_tool_call *call)
{
    return call->name.ptr;
}

/* A pointer of the author's that travels with the call, to the function that handles the client's answers or
 * replies later; NULL at first. */
static inline void *patchbay_call_state(const patchbay_tool_call *call)
{
    return call->state;
}

static inline void patchbay_set_call_state(patchbay_tool_call *call, void *state)
{
    call->state = state;
}

/* Memory that lives as long as the call, aligned for anything; NULL when there is none. */
static inline void *patchbay_call_alloc(patchbay_tool_call *call, size_t size)
{
    patchbay_allocation_ *block = NULL;
    if (size <= SIZE_MAX - sizeof *block) {
        block = (patchbay_allocation_ *)malloc(sizeof *block + size);
    }
    if (block == NULL) {
        return NULL;
    }
    block->next = call->allocations;
    call->allocations = block;
    return block + 1;
}

/* A copy of `text` that lives as long as the call, followed by a NUL; ptr is NULL when there is no
 * memory. */
static inline patchbay_str patchbay_call_copy(patchbay_tool_call *call, patchbay_str text)
{
    char *copy = text.len < SIZE_MAX ? (char *)patchbay_call_alloc(call, text.len + 1) : NULL;
    if (copy == NULL) {
        return patchbay_str_make(NULL, 0);
    }
    memcpy(copy, text.len > 0 ? text.ptr : "", text.len);
    copy[text.len] = '\0';
    return patchbay_str_make(copy, text.len);
}

/* Have room to decode every string among `args_len` bytes of arguments: those of usual size several
 * times over, larger ones once. */
static inline void patchbay_reserve_(patchbay_tool_call *call, size_t args_len)
{
    const size_t usual = 1024;
    call->reserve_len = args_len < usual ? 4 * usual : args_len;
    call->reserve = (char *)patchbay_call_alloc(call, call->reserve_len);
}

/* The text of a raw JSON string, unescaped; ptr is NULL when `raw` is not a string, or empty. Lives as
 * long as the call, and is followed by a NUL. */
static inline patchbay_str patchbay_call_decode(patchbay_tool_call *call, patchbay_str raw)
{
    patchbay_str result = patchbay_str_make(NULL, 0);
    patchbay_out text;
    memset(&text, 0, sizeof text);
    if (raw.len >= 2 && raw.len <= call->reserve_len) {
        text.ptr = call->reserve; /* decoded it is no longer, and has no quotes: it will not grow */
        text.cap = raw.len;
        text.ptr[0] = '\0';
        if (patchbay_json_decode(raw, &text) && !text.failed) {
            result = patchbay_str_make(text.ptr, text.len);
            call->reserve += text.len + 1;
            call->reserve_len -= text.len + 1;
        }
        return result;
    }
    if (patchbay_json_decode(raw, &text) && !text.failed) {
        result = patchbay_call_copy(call, patchbay_str_make(text.ptr, text.len));
    }
    patchbay_out_free(&text);
    return result;
}

/* The arguments, one raw JSON object: those of the tool or prompt, the variables of a resource
 * template, or, of a completion, what was filled in before. */
static inline patchbay_str patchbay_args(const patchbay_tool_call *call)
{
    return call->args;
}

/* The request's _meta, one raw JSON object; empty when the client sent none. */
static inline patchbay_str patchbay_meta(const patchbay_tool_call *call)
{
    return call->meta;
}

/* One argument as raw JSON; empty when it is absent. */
static inline patchbay_str patchbay_arg(const patchbay_tool_call *call, const char *key)
{
    return patchbay_json_get(call->args, key);
}

/* A string argument, unescaped; ptr is NULL when it is absent, null, or not a string. Lives as long
 * as the call, and is followed by a NUL. */
static inline patchbay_str patchbay_arg_str(patchbay_tool_call *call, const char *key)
{
    return patchbay_call_decode(call, patchbay_arg(call, key));
}

/* The same as a C string: NULL when absent, and also when it contains a NUL character (which only
 * an entry with PATCHBAY_TAKES_NUL gets to see). */
static inline const char *patchbay_arg_text(patchbay_tool_call *call, const char *key)
{
    patchbay_str text = patchbay_arg_str(call, key);
    return text.ptr != NULL && memchr(text.ptr, '\0', text.len) == NULL ? text.ptr : NULL;
}

/* An integer argument, or `otherwise`. */
static inline int64_t patchbay_arg_int(const patchbay_tool_call *call, const char *key,
                                       int64_t otherwise)
{
    int64_t number;
    return patchbay_json_int(patchbay_arg(call, key), &number) ? number : otherwise;
}

/* A number argument, or `otherwise`. */
static inline double patchbay_arg_number(const patchbay_tool_call *call, const char *key,
                                         double otherwise)
{
    double number;
    return patchbay_json_number(patchbay_arg(call, key), &number) ? number : otherwise;
}

/* A boolean argument, or `otherwise`. */
static inline int patchbay_arg_bool(const patchbay_tool_call *call, const char *key, int otherwise)
{
    patchbay_str raw = patchbay_arg(call, key);
    return raw.len == 0 || (raw.ptr[0] != 't' && raw.ptr[0] != 'f') ? otherwise : raw.ptr[0] == 't';
}

/* What the user has typed so far of the argument that a completion is for: a C string. */
static inline const char *patchbay_typed(const patchbay_tool_call *call)
{
    return call->typed.ptr != NULL ? call->typed.ptr : "";
}

/* Whether the client declared a capability: "sampling", "elicitation", "roots". A handler that
 * asks without it is told so as an answer; ask before when there is another way to go on. */
static inline int patchbay_client_has(const patchbay_tool_call *call, const char *capability)
{
    return patchbay_json_get(call->capabilities, capability).len > 0;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Keep the call beyond the handler's return: a later reply, from any thread, completes it. Say so
 * before another thread gets hold of the call, which may be gone as soon as it has. */
static inline void patchbay_defer(patchbay_tool_call *call)
{
    call->deferred = 1;
}

/* Whether somebody still waits. A long handler asks now and then, and stops when it is 1. [any] */
static inline int patchbay_cancelled(const patchbay_tool_call *call)
{
    return __atomic_load_n(&call->cancelled, __ATOMIC_ACQUIRE);
}

/* Have `fn(arg)` called when nobody waits any more, for handlers that cannot ask: once, on the
 * loop, or at once when it has happened already; never after the reply. NULL takes it back. The
 * call waits for it: it may signal (a descriptor, a condition, a child), and must neither block nor
 * use any function of this SDK. The call still wants its reply. */
static inline void patchbay_on_cancel(patchbay_tool_call *call, void (*fn)(void *arg), void *arg)
{
    (void)pthread_mutex_lock(&call->toolset->lock);
    call->on_cancel = call->reply == PATCHBAY_REPLY_NONE_ ? fn : NULL;
    call->cancel_arg = arg;
    if (call->on_cancel != NULL && patchbay_cancelled(call)) {
        call->on_cancel = NULL;
        fn(arg);
    }
    (void)pthread_mutex_unlock(&call->toolset->lock);
}

/* One line for the hub's log; never put arguments, results or secrets in it. [any] */
static inline void patchbay_log(const patchbay_toolset *toolset, int32_t level, const char *text)
{
    toolset->api->log(toolset->host, level, patchbay_str_of(text));
}

/* Report progress: `total` below 0 is unknown, `message` may be NULL. Reaches the client if it
 * asked, and tells the hub that the call is alive in any case. What is not finite is not sent.
 * [any] */
static inline void patchbay_progress(const patchbay_tool_call *call, double progress, double total,
                                     const char *message)
{
    patchbay_out params;
    if (!(progress - progress == 0)) {
        return; /* not finite: JSON has no such number */
    }
    memset(&params, 0, sizeof params);
    patchbay_out_text(&params, "{\"progress\":");
    patchbay_out_number(&params, progress);
    if (total >= 0 && total - total == 0) {
        patchbay_out_text(&params, ",\"total\":");
        patchbay_out_number(&params, total);
    }
    if (message != NULL) {
        patchbay_out_key(&params, "message");
        patchbay_out_string(&params, patchbay_str_of(message));
    }
    patchbay_out_text(&params, "}");
    if (!params.failed) {
        (void)call->toolset->api->notify(call->toolset->host, call->id,
                                         patchbay_str_make(params.ptr, params.len));
    }
    patchbay_out_free(&params);
}

/* Send a log message. returns: as patchbay_client_v1.message(); PATCHBAY_ENOTFOUND: an older hub */
static inline int32_t patchbay_message_(const patchbay_toolset *toolset, patchbay_call id,
                                        const char *level, const char *logger,
                                        patchbay_str data_json)
{
    int32_t result = PATCHBAY_ENOTFOUND;
    patchbay_out params;
    memset(&params, 0, sizeof params);
    patchbay_out_text(&params, "{\"level\":");
    patchbay_out_string(&params, patchbay_str_of(level));
    if (logger != NULL) {
        patchbay_out_key(&params, "logger");
        patchbay_out_string(&params, patchbay_str_of(logger));
    }
    patchbay_out_key(&params, "data");
    patchbay_out_raw(&params, data_json);
    patchbay_out_text(&params, "}");
    if (params.failed) {
        result = PATCHBAY_ENOMEM;
    } else if (toolset->client != NULL) {
        result =
            toolset->client->message(toolset->host, id, patchbay_str_make(params.ptr, params.len));
    }
    patchbay_out_free(&params);
    return result;
}

/* Send the client a log message of any JSON value. `level` is one of MCP's (server/utilities/
 * logging): debug, info, notice, warning, error, critical, alert, emergency. `logger` names the
 * part that says it; NULL for none. It arrives if the client wants that level. The toolset says
 * PATCHBAY_TOOLSET_SENDS_MESSAGES, so that clients know. [any] */
static inline void patchbay_message_json(const patchbay_tool_call *call, const char *level,
                                         const char *logger, patchbay_str data_json)
{
    (void)patchbay_message_(call->toolset, call->id, level, logger, data_json);
}

/* The same of a text. [any] */
static inline void patchbay_message_text(const patchbay_tool_call *call, const char *level,
                                         const char *text)
{
    patchbay_out data;
    memset(&data, 0, sizeof data);
    patchbay_out_string(&data, patchbay_str_of(text));
    if (!data.failed) {
        patchbay_message_json(call, level, NULL, patchbay_str_make(data.ptr, data.len));
    }
    patchbay_out_free(&data);
}

/* Its short name. A macro, since the type of a message taken apart has that name (wire.h). */
#define patchbay_message(call, level, text) patchbay_message_text(call, level, text)

/* Let go of the connection that waits for the answer, where the client can come back for it: for
 * calls that take long. Elsewhere nothing happens. [any] */
static inline void patchbay_release(const patchbay_tool_call *call)
{
    if (call->toolset->client != NULL) {
        (void)call->toolset->client->release(call->toolset->host, call->id);
    }
}

#ifdef __cplusplus
}
#endif

#endif
