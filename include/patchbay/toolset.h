/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a toolset: a table of tools, a handler each, and one macro. Header-only.
 *
 *     #include <patchbay/toolset.h>
 *
 *     static void greet(patchbay_tool_call *call)
 *     {
 *         patchbay_reply_textf(call, "Hello, %s!", patchbay_arg_text(call, "name"));
 *     }
 *
 *     static const patchbay_tool tools[] = {
 *         {.name = "greet",
 *          .description = "Greets somebody by name.",
 *          .input_schema = "{\"type\":\"object\",\"required\":[\"name\"],"
 *                          "\"properties\":{\"name\":{\"type\":\"string\"}}}",
 *          .flags = PATCHBAY_TOOL_READ_ONLY,
 *          .handler = greet},
 *     };
 *
 *     PATCHBAY_TOOLSET("hello", "1.0.0", "Greets people.", tools)
 *
 * Arguments have been validated against input_schema before a handler runs, so what the schema
 * requires is there and has its type. Arguments that hold a NUL character are refused before the
 * handler, so that patchbay_arg_text of a required string is a string; a tool that can take them
 * says PATCHBAY_TOOL_TAKES_NUL and uses patchbay_arg_str.
 *
 * Threads. A handler runs on a worker thread and may block, unless its tool says
 * PATCHBAY_TOOL_NONBLOCKING: then it runs on the hub's loop and must return at once. A call is used
 * by one thread at a time; patchbay_cancelled and patchbay_progress are safe from any.
 *
 * Completion. A handler completes its call with exactly one patchbay_reply… function; `call` and
 * everything it handed out is gone afterwards. A handler that returns without a reply, and has not
 * called patchbay_defer, has its call failed; so has a C++ handler that throws.
 */
#ifndef PATCHBAY_TOOLSET_H
#define PATCHBAY_TOOLSET_H

#include <patchbay/json.h>
#include <patchbay/worker.h>

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* patchbay_tool.flags: what clients and policies may rely on (MCP server/tools, annotations). */
#define PATCHBAY_TOOL_READ_ONLY   0x1u   /* changes nothing */
#define PATCHBAY_TOOL_DESTRUCTIVE 0x2u   /* may destroy; without it the tool only adds */
#define PATCHBAY_TOOL_IDEMPOTENT  0x4u   /* a second identical call changes nothing more */
#define PATCHBAY_TOOL_OPEN_WORLD  0x8u   /* talks to things outside this machine */
#define PATCHBAY_TOOL_NONBLOCKING 0x100u /* the handler runs on the hub's loop */
#define PATCHBAY_TOOL_TAKES_NUL   0x200u /* strings may hold \u0000: see patchbay_arg_str */

typedef struct patchbay_toolset patchbay_toolset;
typedef struct patchbay_tool_call patchbay_tool_call;

/* One tool. Strings are UTF-8 and stay the author's; NULL where a member does not apply. */
typedef struct patchbay_tool {
    const char *name;          /* [A-Za-z0-9_.-]{1,128} */
    const char *title;         /* for people */
    const char *description;   /* for models */
    const char *input_schema;  /* JSON Schema of an object; NULL: takes no arguments */
    const char *output_schema; /* JSON Schema of structuredContent */
    const char *tags;          /* "a,b,c": for filters */
    const char *category;      /* one word: for filters */
    const char *version;
    void (*handler)(patchbay_tool_call *call);
    void *data;     /* for the handler: patchbay_tool_data */
    uint64_t flags; /* PATCHBAY_TOOL_… */
} patchbay_tool;

/* What PATCHBAY_TOOLSET puts together. */
typedef struct patchbay_toolset_info {
    const patchbay_tool *tools;
    size_t tool_count;
    /* Make what the toolset's handlers share, from its configuration. May replace the tools with
     * patchbay_set_tools. NULL: nothing to set up.
     * returns: PATCHBAY_OK with *ret_data set; or negative with a reason in reterr and nothing left
     *          behind, since teardown is not called then */
    int32_t (*setup)(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr);
    /* Free `data`. Worker jobs have ended; threads of one's own that hold deferred calls must have
     * ended when it returns (they may still reply meanwhile). NULL: nothing to free. */
    void (*teardown)(void *data);
} patchbay_toolset_info;

/* ---- instance and call (members are private) ------------------------------------------------- */

struct patchbay_toolset {
    const patchbay_host_api *api;
    patchbay_host *host;
    const patchbay_worker_v1 *worker;
    const patchbay_toolset_info *info;
    const patchbay_tool *tools;
    size_t tool_count;
    void *data;
    patchbay_tool_call *calls; /* in flight */
    pthread_mutex_t lock;      /* guards `calls` */
};

/* In front of each allocation: as large as the strictest alignment, so that what follows has it. */
typedef union patchbay_allocation_ {
    union patchbay_allocation_ *next;
    long double align_;
} patchbay_allocation_;

struct patchbay_tool_call {
    patchbay_toolset *toolset;
    const patchbay_tool *tool;
    patchbay_call id;
    patchbay_str args;
    patchbay_str meta;
    uint64_t deadline_ms;
    patchbay_tool_call *next;
    patchbay_tool_call *prev;
    patchbay_allocation_ *allocations;
    patchbay_out content;    /* content blocks so far, comma-separated */
    patchbay_out structured; /* structuredContent so far */
    int cancelled;           /* atomic */
    int deferred;
};

/* ---- what a call carries --------------------------------------------------------------------- */

/* The toolset's shared data, as setup() made it. */
static inline void *patchbay_toolset_data(const patchbay_tool_call *call)
{
    return call->toolset->data;
}

/* The `data` of the tool that was called. */
static inline void *patchbay_tool_data(const patchbay_tool_call *call)
{
    return call->tool->data;
}

/* The toolset of a call: for patchbay_log. */
static inline const patchbay_toolset *patchbay_call_toolset(const patchbay_tool_call *call)
{
    return call->toolset;
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

/* The arguments, one raw JSON object. */
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
    patchbay_str result = patchbay_str_make(NULL, 0);
    patchbay_out text;
    memset(&text, 0, sizeof text);
    if (patchbay_json_decode(patchbay_arg(call, key), &text) && !text.failed) {
        char *copy = (char *)patchbay_call_alloc(call, text.len + 1);
        if (copy != NULL) {
            memcpy(copy, text.len > 0 ? text.ptr : "", text.len);
            copy[text.len] = '\0';
            result = patchbay_str_make(copy, text.len);
        }
    }
    patchbay_out_free(&text);
    return result;
}

/* The same as a C string: NULL when absent, and also when it contains a NUL character (which only a
 * PATCHBAY_TOOL_TAKES_NUL tool gets to see). */
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

/* Whether somebody still waits. A long handler asks now and then, and stops when it is 1. [any] */
static inline int patchbay_cancelled(const patchbay_tool_call *call)
{
    return __atomic_load_n(&call->cancelled, __ATOMIC_ACQUIRE);
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

/* Keep the call beyond the handler's return: a later reply, from any thread, completes it. Say so
 * before another thread gets hold of the call, which may be gone as soon as it has. */
static inline void patchbay_defer(patchbay_tool_call *call)
{
    call->deferred = 1;
}

/* ---- completing a call ----------------------------------------------------------------------- */

static inline void patchbay_call_free_(patchbay_tool_call *call)
{
    patchbay_toolset *toolset = call->toolset;
    (void)pthread_mutex_lock(&toolset->lock);
    if (call->prev != NULL) {
        call->prev->next = call->next;
    } else {
        toolset->calls = call->next;
    }
    if (call->next != NULL) {
        call->next->prev = call->prev;
    }
    (void)pthread_mutex_unlock(&toolset->lock);
    while (call->allocations != NULL) {
        patchbay_allocation_ *block = call->allocations;
        call->allocations = block->next;
        free(block);
    }
    patchbay_out_free(&call->content);
    patchbay_out_free(&call->structured);
    free(call);
}

static inline void patchbay_finish_(patchbay_tool_call *call, int32_t status, patchbay_str json)
{
    const patchbay_host_api *api = call->toolset->api;
    patchbay_host *host = call->toolset->host;
    /* Refused only when the hub has completed the call already: cancelled, or timed out. */
    (void)api->finish(host, call->id, status, json);
    patchbay_call_free_(call);
}

/* Complete with a failure: PATCHBAY_INVALID_INPUT, PATCHBAY_UNAVAILABLE, PATCHBAY_FAILED or
 * PATCHBAY_NOT_IMPLEMENTED, and a sentence that tells the caller what to do. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void
patchbay_reply_error(patchbay_tool_call *call, int32_t status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0) {
        text[0] = '\0';
    } else if ((size_t)len >= sizeof text) { /* cut, but not inside a character */
        size_t cut = sizeof text - 1;
        while (cut > 0 && ((unsigned char)text[cut - 1] & 0xc0) == 0x80) {
            cut--;
        }
        size_t last = cut > 0 ? cut - 1 : 0;
        if (patchbay_utf8_length(text + last, text + sizeof text - 1) == 0) {
            text[last] = '\0';
        }
    }
    patchbay_finish_(call, status, patchbay_str_of(text));
}

/* Complete with a finished result object, as MCP CallToolResult. */
static inline void patchbay_reply_result(patchbay_tool_call *call, patchbay_str result_json)
{
    patchbay_finish_(call, PATCHBAY_RESULT, result_json);
}

static inline void patchbay_content_begin_(patchbay_tool_call *call, const char *type)
{
    patchbay_out_printf(&call->content, "%s{\"type\":\"%s\"", call->content.len > 0 ? "," : "",
                        type);
}

/* Add a text block to the result. */
static inline void patchbay_add_text(patchbay_tool_call *call, patchbay_str text)
{
    patchbay_content_begin_(call, "text");
    patchbay_out_key(&call->content, "text");
    patchbay_out_string(&call->content, text);
    patchbay_out_text(&call->content, "}");
}

/* Add an image or audio block: `type` is "image" or "audio". */
static inline void patchbay_add_media(patchbay_tool_call *call, const char *type,
                                      const char *mime_type, const void *bytes, size_t len)
{
    patchbay_content_begin_(call, type);
    patchbay_out_key(&call->content, "data");
    patchbay_out_text(&call->content, "\"");
    patchbay_out_base64(&call->content, bytes, len);
    patchbay_out_text(&call->content, "\"");
    patchbay_out_key(&call->content, "mimeType");
    patchbay_out_string(&call->content, patchbay_str_of(mime_type));
    patchbay_out_text(&call->content, "}");
}

/* Add any content block, finished JSON. */
static inline void patchbay_add_block(patchbay_tool_call *call, patchbay_str block_json)
{
    if (call->content.len > 0) {
        patchbay_out_text(&call->content, ",");
    }
    patchbay_out_raw(&call->content, block_json);
}

/* The structured content under construction: write one JSON object into it. */
static inline patchbay_out *patchbay_structured(patchbay_tool_call *call)
{
    return &call->structured;
}

/* Complete with what was added. Structured content without any block gets its text as one, for
 * clients that do not know it (MCP server/tools, Structured Content). */
static inline void patchbay_reply(patchbay_tool_call *call)
{
    if (call->structured.len > 0 && call->content.len == 0) {
        patchbay_add_text(call, patchbay_str_make(call->structured.ptr, call->structured.len));
    }
    patchbay_out result;
    memset(&result, 0, sizeof result);
    patchbay_out_text(&result, "{\"content\":[");
    patchbay_out_raw(&result, patchbay_str_make(call->content.ptr, call->content.len));
    patchbay_out_text(&result, "]");
    if (call->structured.len > 0) {
        patchbay_out_key(&result, "structuredContent");
        patchbay_out_raw(&result, patchbay_str_make(call->structured.ptr, call->structured.len));
    }
    patchbay_out_text(&result, "}");
    if (result.failed || call->content.failed || call->structured.failed) {
        patchbay_finish_(call, PATCHBAY_FAILED, patchbay_str_of("out of memory"));
    } else {
        patchbay_finish_(call, PATCHBAY_RESULT, patchbay_str_make(result.ptr, result.len));
    }
    patchbay_out_free(&result);
}

/* Complete with one text block. */
static inline void patchbay_reply_text(patchbay_tool_call *call, patchbay_str text)
{
    patchbay_add_text(call, text);
    patchbay_reply(call);
}

/* Complete with one formatted text block. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline void
patchbay_reply_textf(patchbay_tool_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = len >= 0 ? (char *)patchbay_call_alloc(call, (size_t)len + 1) : NULL;
    if (text == NULL) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
        return;
    }
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    patchbay_reply_text(call, patchbay_str_make(text, (size_t)len));
}

/* ---- the list of tools ----------------------------------------------------------------------- */

static inline const char *patchbay_bool_(uint64_t flag)
{
    return flag ? "true" : "false";
}

static inline void patchbay_tool_member_(patchbay_out *out, const char *key, const char *text)
{
    if (text != NULL) {
        patchbay_out_key(out, key);
        patchbay_out_string(out, patchbay_str_of(text));
    }
}

static inline void patchbay_tool_tags_(patchbay_out *out, const char *tags)
{
    patchbay_out_key(out, "patchbay/tags");
    patchbay_out_text(out, "[");
    tags += strspn(tags, ",");
    while (*tags != '\0') {
        size_t len = strcspn(tags, ",");
        patchbay_out_string(out, patchbay_str_make(tags, len));
        tags += len;
        tags += strspn(tags, ",");
        patchbay_out_text(out, *tags != '\0' ? "," : "");
    }
    patchbay_out_text(out, "]");
}

/* Append one tool as an MCP Tool object. */
static inline void patchbay_tool_json_(patchbay_out *out, const patchbay_tool *tool)
{
    uint64_t flags = tool->flags;
    patchbay_out_text(out, "{");
    patchbay_tool_member_(out, "name", tool->name);
    patchbay_tool_member_(out, "title", tool->title);
    patchbay_tool_member_(out, "description", tool->description);
    patchbay_out_key(out, "inputSchema");
    patchbay_out_text(out, tool->input_schema != NULL
                               ? tool->input_schema
                               : "{\"type\":\"object\",\"additionalProperties\":false}");
    if (tool->output_schema != NULL) {
        patchbay_out_key(out, "outputSchema");
        patchbay_out_text(out, tool->output_schema);
    }
    patchbay_out_printf(out,
                        ",\"annotations\":{\"readOnlyHint\":%s,\"destructiveHint\":%s,"
                        "\"idempotentHint\":%s,\"openWorldHint\":%s}",
                        patchbay_bool_(flags & PATCHBAY_TOOL_READ_ONLY),
                        patchbay_bool_(flags & PATCHBAY_TOOL_DESTRUCTIVE),
                        patchbay_bool_(flags & PATCHBAY_TOOL_IDEMPOTENT),
                        patchbay_bool_(flags & PATCHBAY_TOOL_OPEN_WORLD));
    if (tool->tags != NULL || tool->category != NULL || tool->version != NULL) {
        patchbay_out_key(out, "_meta");
        patchbay_out_text(out, "{");
        if (tool->tags != NULL) {
            patchbay_tool_tags_(out, tool->tags);
        }
        patchbay_tool_member_(out, "patchbay/category", tool->category);
        patchbay_tool_member_(out, "patchbay/version", tool->version);
        patchbay_out_text(out, "}");
    }
    patchbay_out_text(out, "}");
}

/* Make `tools` the toolset's tools; the array must live until teardown, even when it is replaced:
 * calls may be under way. Call it from setup(), or later on the loop. [loop]
 * returns: what patchbay_host_api.set_tools returns; on failure the old tools stay */
static inline int32_t patchbay_set_tools(patchbay_toolset *toolset, const patchbay_tool *tools,
                                         size_t count)
{
    patchbay_out json;
    memset(&json, 0, sizeof json);
    patchbay_out_text(&json, "[");
    int32_t result = PATCHBAY_OK;
    for (size_t i = 0; i < count; i++) {
        patchbay_out_text(&json, i > 0 ? "," : "");
        patchbay_tool_json_(&json, &tools[i]);
        if (tools[i].name == NULL || tools[i].handler == NULL) {
            patchbay_log(toolset, PATCHBAY_LOG_ERROR, "a tool has no name or no handler");
            result = PATCHBAY_EINVAL;
        }
    }
    patchbay_out_text(&json, "]");
    if (result == PATCHBAY_OK && json.failed) {
        result = PATCHBAY_ENOMEM;
    }
    if (result == PATCHBAY_OK) {
        result = toolset->api->set_tools(toolset->host, patchbay_str_make(json.ptr, json.len));
    }
    if (result == PATCHBAY_OK) {
        toolset->tools = tools;
        toolset->tool_count = count;
    }
    patchbay_out_free(&json);
    return result;
}

/* ---- the plugin's entries, used by PATCHBAY_TOOLSET ----------------------------------------- */

/* Whether some string in valid JSON text holds a NUL character. */
static inline int patchbay_has_nul_(patchbay_str json)
{
    const char *at = json.ptr;
    const char *end = json.ptr + json.len;
    while ((at = (const char *)memchr(at, '\\', (size_t)(end - at))) != NULL) {
        if (end - at >= 6 && memcmp(at + 1, "u0000", 5) == 0) {
            return 1;
        }
        at += 2; /* past the escaped character: it may be a backslash itself */
    }
    return 0;
}

static inline void patchbay_handle_(patchbay_tool_call *call)
{
    if ((call->tool->flags & PATCHBAY_TOOL_TAKES_NUL) == 0 && patchbay_has_nul_(call->args)) {
        patchbay_reply_error(call, PATCHBAY_INVALID_INPUT,
                             "the arguments hold a NUL character (\\u0000); send them without");
        return;
    }
#if defined(__cplusplus) && defined(__cpp_exceptions)
    try { /* the frames below are C: an exception must not reach them */
        call->tool->handler(call);
    } catch (...) {
        /* No reply was sent, or nothing is left to do: patchbay_run_ finds out. */
    }
#else
    call->tool->handler(call);
#endif
}

static inline void patchbay_run_(void *arg)
{
    patchbay_tool_call *call = (patchbay_tool_call *)arg;
    patchbay_toolset *toolset = call->toolset;
    patchbay_call id = call->id;
    patchbay_handle_(call);
    /* A handler that replied has freed the call, one that deferred may have too: ask the list. */
    (void)pthread_mutex_lock(&toolset->lock);
    patchbay_tool_call *left = toolset->calls;
    while (left != NULL && left->id.id != id.id) {
        left = left->next;
    }
    int forgotten = left != NULL && !left->deferred;
    (void)pthread_mutex_unlock(&toolset->lock);
    if (forgotten) {
        patchbay_reply_error(left, PATCHBAY_FAILED, "the tool returned without a reply");
    }
}

static inline int32_t patchbay_toolset_create_(const patchbay_toolset_info *info,
                                               const patchbay_host_api *api, patchbay_host *host,
                                               patchbay_str config_json, void **ret_inst,
                                               patchbay_error *reterr)
{
    patchbay_toolset *toolset = (patchbay_toolset *)calloc(1, sizeof *toolset);
    if (toolset == NULL) {
        (void)snprintf(reterr->text, sizeof reterr->text, "out of memory");
        return PATCHBAY_ENOMEM;
    }
    toolset->api = api;
    toolset->host = host;
    toolset->info = info;
    toolset->worker = (const patchbay_worker_v1 *)api->get_interface(host, PATCHBAY_WORKER_V1);
    (void)pthread_mutex_init(&toolset->lock, NULL);
    int32_t result = PATCHBAY_OK;
    if (info->setup != NULL) {
        result = info->setup(toolset, config_json, &toolset->data, reterr);
    }
    if (result == PATCHBAY_OK && toolset->tools == NULL) {
        result = patchbay_set_tools(toolset, info->tools, info->tool_count);
        if (result != PATCHBAY_OK) {
            (void)snprintf(reterr->text, sizeof reterr->text, "the hub refused the list of tools");
            if (info->teardown != NULL) {
                info->teardown(toolset->data);
            }
        }
    }
    if (result != PATCHBAY_OK) {
        (void)pthread_mutex_destroy(&toolset->lock);
        free(toolset);
        return result;
    }
    *ret_inst = toolset;
    return PATCHBAY_OK;
}

static inline patchbay_str patchbay_keep_(patchbay_tool_call *call, patchbay_str text)
{
    char *copy = (char *)patchbay_call_alloc(call, text.len + 1);
    if (copy == NULL) {
        return patchbay_str_make(NULL, 0);
    }
    memcpy(copy, text.len > 0 ? text.ptr : "", text.len);
    copy[text.len] = '\0';
    return patchbay_str_make(copy, text.len);
}

static inline void patchbay_submit_(patchbay_tool_call *call)
{
    const patchbay_toolset *toolset = call->toolset;
    int32_t result = PATCHBAY_ENOTFOUND;
    if (toolset->worker != NULL) {
        result = toolset->worker->submit(toolset->host, patchbay_run_, call);
    }
    if (result != PATCHBAY_OK) {
        patchbay_reply_error(
            call, PATCHBAY_UNAVAILABLE, "%s",
            result == PATCHBAY_ELIMIT      ? "all workers are busy; try again in a moment"
            : result == PATCHBAY_ESTATE    ? "the toolset is being closed"
            : result == PATCHBAY_ENOTFOUND ? "this hub has no workers; the tool needs one"
                                           : "out of memory; try again in a moment");
    }
}

static inline void patchbay_toolset_call_(void *inst, patchbay_call id,
                                          const patchbay_request *request)
{
    patchbay_toolset *toolset = (patchbay_toolset *)inst;
    const patchbay_tool *tool = NULL;
    for (size_t i = 0; i < toolset->tool_count && tool == NULL; i++) {
        if (patchbay_str_eq(patchbay_str_of(toolset->tools[i].name), request->tool)) {
            tool = &toolset->tools[i];
        }
    }
    patchbay_tool_call *call = tool != NULL ? (patchbay_tool_call *)calloc(1, sizeof *call) : NULL;
    if (call == NULL) {
        int32_t status = tool == NULL ? PATCHBAY_NOT_IMPLEMENTED : PATCHBAY_FAILED;
        const char *text = tool == NULL ? "the toolset has no such tool" : "out of memory";
        (void)toolset->api->finish(toolset->host, id, status, patchbay_str_of(text));
        return;
    }
    call->toolset = toolset;
    call->tool = tool;
    call->id = id;
    call->deadline_ms = request->deadline_ms;
    (void)pthread_mutex_lock(&toolset->lock);
    call->next = toolset->calls;
    if (call->next != NULL) {
        call->next->prev = call;
    }
    toolset->calls = call;
    (void)pthread_mutex_unlock(&toolset->lock);
    call->args = patchbay_keep_(call, request->args_json);
    call->meta = patchbay_keep_(call, request->meta_json);
    if (call->args.ptr == NULL || call->meta.ptr == NULL) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
    } else if ((tool->flags & PATCHBAY_TOOL_NONBLOCKING) != 0) {
        patchbay_run_(call);
    } else {
        patchbay_submit_(call);
    }
}

static inline void patchbay_toolset_cancel_(void *inst, patchbay_call id)
{
    patchbay_toolset *toolset = (patchbay_toolset *)inst;
    (void)pthread_mutex_lock(&toolset->lock);
    for (patchbay_tool_call *call = toolset->calls; call != NULL; call = call->next) {
        if (call->id.id == id.id) {
            __atomic_store_n(&call->cancelled, 1, __ATOMIC_RELEASE);
        }
    }
    (void)pthread_mutex_unlock(&toolset->lock);
}

static inline void patchbay_toolset_destroy_(void *inst)
{
    patchbay_toolset *toolset = (patchbay_toolset *)inst;
    /* First the plugin's own threads end, which may still hold deferred calls. */
    if (toolset->info->teardown != NULL) {
        toolset->info->teardown(toolset->data);
    }
    while (toolset->calls != NULL) { /* jobs that the pool dropped, and calls never answered */
        patchbay_call_free_(toolset->calls);
    }
    (void)pthread_mutex_destroy(&toolset->lock);
    free(toolset);
}

/* Define the plugin of a static table of tools. Use it once, at the end of the file, without a
 * semicolon behind it. */
#define PATCHBAY_TOOLSET(name_, version_, description_, tools_)                                    \
    PATCHBAY_TOOLSET_WITH(name_, version_, description_, tools_,                                   \
                          sizeof(tools_) / sizeof((tools_)[0]), NULL, NULL, NULL)

/* The same with configuration: its JSON Schema, and functions that make and free what the handlers
 * share. `tools_` may be NULL with count 0 when setup_ calls patchbay_set_tools.
 * The declaration carries PATCHBAY_EXPORT for the definition, where C++ would ignore it. Names end
 * in an underscore so as not to shadow the author's. */
#define PATCHBAY_TOOLSET_WITH(name_, version_, description_, tools_, count_, schema_, setup_,      \
                              teardown_)                                                           \
    static const patchbay_toolset_info patchbay_info_ = {tools_, count_, setup_, teardown_};       \
    static int32_t patchbay_create_(const patchbay_host_api *api_, patchbay_host *host_,           \
                                    patchbay_str config_, void **ret_inst_,                        \
                                    patchbay_error *reterr_)                                       \
    {                                                                                              \
        return patchbay_toolset_create_(&patchbay_info_, api_, host_, config_, ret_inst_,          \
                                        reterr_);                                                  \
    }                                                                                              \
    PATCHBAY_EXPORT extern const patchbay_plugin patchbay_plugin_v1;                               \
    const patchbay_plugin patchbay_plugin_v1 = {                                                   \
        PATCHBAY_MAGIC,                                                                            \
        sizeof(patchbay_plugin),                                                                   \
        PATCHBAY_ABI,                                                                              \
        PATCHBAY_ABI,                                                                              \
        name_,                                                                                     \
        version_,                                                                                  \
        description_,                                                                              \
        schema_,                                                                                   \
        0,                                                                                         \
        patchbay_create_,                                                                          \
        patchbay_toolset_call_,                                                                    \
        patchbay_toolset_cancel_,                                                                  \
        patchbay_toolset_destroy_,                                                                 \
    };

#ifdef __cplusplus
}
#endif

#endif
