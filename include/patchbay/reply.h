/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completing a call in the ways that suit any kind of it: with a failure, a JSON-RPC error, or a
 * finished result. content.h completes it with content.
 *
 * The first reply counts. A second one, from the handler or from the thread it deferred to, is a fault
 * of the plugin: it is dropped, logged with the name of what was called, and counted by the hub. It
 * is noticed while the handler runs and for the last PATCHBAY_CALLS_KEPT calls that are over;
 * a pointer to one before those is as good as any freed pointer.
 *
 * Part of toolset.h, which includes it.
 */
#ifndef PATCHBAY_REPLY_H
#define PATCHBAY_REPLY_H

#include <patchbay/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the end of a call, private -------------------------------------------------------------- */

static inline void patchbay_question_free_(patchbay_question_ *question)
{
    patchbay_out_free(&question->key);
    patchbay_out_free(&question->params);
    free(question);
}

/* Take a call out of the list of those in flight. Under the toolset's lock. */
static inline void patchbay_unlink_(patchbay_tool_call *call)
{
    if (call->prev != NULL) {
        call->prev->next = call->next;
    } else {
        call->toolset->calls = call->next;
    }
    if (call->next != NULL) {
        call->next->prev = call->prev;
    }
}

/* Free what a call holds but for its name, which the log may need once more. */
static inline void patchbay_call_empty_(patchbay_tool_call *call)
{
    patchbay_allocation_ *kept = NULL;
    while (call->questions != NULL) {
        patchbay_question_ *question = call->questions;
        call->questions = question->next;
        patchbay_question_free_(question);
    }
    while (call->allocations != NULL) {
        patchbay_allocation_ *block = call->allocations;
        call->allocations = block->next;
        if ((const char *)(block + 1) == call->name.ptr) {
            block->next = NULL;
            kept = block;
        } else {
            free(block);
        }
    }
    call->allocations = kept;
    patchbay_out_free(&call->content);
    patchbay_out_free(&call->structured);
    call->args = call->meta = call->typed = call->capabilities = patchbay_str_make(NULL, 0);
    call->entry.mime_type = NULL;
    call->reserve = NULL;
    call->reserve_len = 0;
    call->answers = NULL;
}

/* Free a call that is in no list. NULL is fine. */
static inline void patchbay_call_free_(patchbay_tool_call *call)
{
    if (call != NULL) {
        patchbay_call_empty_(call);
        free(call->allocations);
        free(call);
    }
}

/* A call is over: keep what is left of it among the last ones, so that another reply finds it. */
static inline void patchbay_retire_(patchbay_tool_call *call)
{
    patchbay_toolset *toolset = call->toolset;
    patchbay_call_empty_(call);
    (void)pthread_mutex_lock(&toolset->lock);
    patchbay_unlink_(call);
    patchbay_tool_call **slot = &toolset->over[toolset->over_count++ % PATCHBAY_CALLS_KEPT];
    patchbay_tool_call *oldest = *slot;
    *slot = call;
    (void)pthread_mutex_unlock(&toolset->lock);
    patchbay_call_free_(oldest);
}

/* Note that somebody replies; 0: somebody has before. */
static inline int patchbay_begin_reply_(patchbay_tool_call *call)
{
    (void)pthread_mutex_lock(&call->toolset->lock);
    int is_first = call->reply == PATCHBAY_REPLY_NONE_;
    if (is_first) {
        call->reply = PATCHBAY_REPLY_BEGUN_;
        call->on_cancel = NULL; /* never after the reply */
    }
    (void)pthread_mutex_unlock(&call->toolset->lock);
    return is_first;
}

/* The reply is sent: the last user of the call, its replier or its handler, ends it. */
static inline void patchbay_end_reply_(patchbay_tool_call *call)
{
    pthread_mutex_t *lock = &call->toolset->lock;
    (void)pthread_mutex_lock(lock);
    call->reply = PATCHBAY_REPLY_SENT_;
    int is_last = !call->running;
    (void)pthread_mutex_unlock(lock);
    if (is_last) {
        patchbay_retire_(call);
    }
}

/* Say in the log what a handler did wrong. */
static inline void patchbay_log_of_(const patchbay_tool_call *call, const char *fault)
{
    patchbay_out text;
    memset(&text, 0, sizeof text);
    patchbay_out_text(&text, "the handler of \"");
    patchbay_out_escaped(&text, call->name);
    patchbay_out_text(&text, "\" ");
    patchbay_out_text(&text, fault);
    if (!text.failed) {
        patchbay_log(call->toolset, PATCHBAY_LOG_ERROR, text.ptr);
    }
    patchbay_out_free(&text);
}

/* A second reply: say whose it is, and have the host count the fault. It changes nothing. */
static inline void patchbay_reply_again_(const patchbay_tool_call *call)
{
    const patchbay_toolset *toolset = call->toolset;
    patchbay_log_of_(call, "replied twice; the second reply is dropped");
    (void)toolset->api->finish(toolset->host, call->id, PATCHBAY_FAILED,
                               patchbay_str_of("replied twice"));
}

/* The host cannot pass on what was replied, and has failed the call: say where it is wrong. */
static inline void patchbay_reply_refused_(const patchbay_tool_call *call, int32_t status,
                                           patchbay_str json)
{
    char text[128];
    int is_json = status == PATCHBAY_RESULT || status == PATCHBAY_RPC_ERROR;
    size_t at = is_json ? patchbay_json_fault(json) : SIZE_MAX;
    if (!is_json) {
        (void)snprintf(text, sizeof text, "replied with status %ld, which there is not",
                       (long)status);
    } else if (at == SIZE_MAX) {
        (void)snprintf(text, sizeof text, "gave an answer that the hub refuses: see plugin.fault");
    } else {
        (void)snprintf(text, sizeof text, "gave an answer that is not valid JSON at byte %lu%s",
                       (unsigned long)at,
                       at == json.len ? ", where it ends: is a patchbay_write_end_... missing?"
                                      : "");
    }
    patchbay_log_of_(call, text);
}

static inline void patchbay_finish_(patchbay_tool_call *call, int32_t status, patchbay_str json)
{
    if (!patchbay_begin_reply_(call)) {
        patchbay_reply_again_(call);
        return;
    }
    /* Any other refusal is none of the handler's: cancelled, timed out, closing. */
    if (call->toolset->api->finish(call->toolset->host, call->id, status, json) ==
        PATCHBAY_EINVAL) {
        patchbay_reply_refused_(call, status, json);
    }
    patchbay_end_reply_(call);
}

/* ---- the ways that suit any kind of call ----------------------------------------------------- */

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

/* Complete with a JSON-RPC error, which clients take for a fault of the request and do not show to
 * models: `data_json` is any JSON value, empty for none. A tool's own failure is better told with
 * patchbay_reply_error or patchbay_reply_tool_error. */
static inline void patchbay_reply_rpc_error(patchbay_tool_call *call, int32_t code,
                                            const char *message, patchbay_str data_json)
{
    patchbay_out error;
    memset(&error, 0, sizeof error);
    patchbay_out_printf(&error, "{\"code\":%d,\"message\":", (int)code);
    patchbay_out_string(&error, patchbay_str_of(message));
    if (data_json.len > 0) {
        patchbay_out_key(&error, "data");
        patchbay_out_raw(&error, data_json);
    }
    patchbay_out_text(&error, "}");
    if (error.failed) {
        patchbay_finish_(call, PATCHBAY_FAILED, patchbay_str_of("out of memory"));
    } else {
        patchbay_finish_(call, PATCHBAY_RPC_ERROR, patchbay_str_make(error.ptr, error.len));
    }
    patchbay_out_free(&error);
}

/* Complete because the client lacks a capability without which there is no other way. `required` is
 * an MCP ClientCapabilities object, for example {"sampling":{}}. */
static inline void patchbay_reply_missing_capability(patchbay_tool_call *call, const char *required)
{
    patchbay_out data;
    memset(&data, 0, sizeof data);
    patchbay_out_text(&data, "{\"requiredCapabilities\":");
    patchbay_out_text(&data, required);
    patchbay_out_text(&data, "}");
    patchbay_reply_rpc_error(
        call, PATCHBAY_RPC_MISSING_CAPABILITY, "the client lacks a capability that this needs",
        data.failed ? patchbay_str_make(NULL, 0) : patchbay_str_make(data.ptr, data.len));
    patchbay_out_free(&data);
}

/* Complete a read of something that a template matches and that is not there. */
static inline void patchbay_reply_not_found(patchbay_tool_call *call)
{
    patchbay_out data;
    memset(&data, 0, sizeof data);
    patchbay_out_text(&data, "{\"uri\":");
    patchbay_out_string(&data, call->name);
    patchbay_out_text(&data, "}");
    patchbay_reply_rpc_error(call, PATCHBAY_RPC_INVALID_PARAMS, "Resource not found",
                             data.failed ? patchbay_str_make(NULL, 0)
                                         : patchbay_str_make(data.ptr, data.len));
    patchbay_out_free(&data);
}

/* Complete with a finished result object, as MCP has it for what was called: CallToolResult,
 * ReadResourceResult, GetPromptResult or CompleteResult. */
static inline void patchbay_reply_result(patchbay_tool_call *call, patchbay_str result_json)
{
    patchbay_finish_(call, PATCHBAY_RESULT, result_json);
}

#ifdef __cplusplus
}
#endif

#endif
