/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a call, block by block. The same functions serve everything that is called:
 *
 *     patchbay_add_…     in a tool          in a prompt        in a read          in a completion
 *     text               a text block       a text message     a text content     a value
 *     media              image or audio     image or audio     a binary content   -
 *     resource_text      embedded resource  embedded resource  a text content     -
 *     resource_blob      embedded resource  embedded resource  a binary content   -
 *     resource_link      a link             a link             -                  -
 *
 * and patchbay_reply completes the call with what was added. What a cell says "-" of is left out.
 * Part of toolset.h, which includes it; threads as in call.h.
 */
#ifndef PATCHBAY_CONTENT_H
#define PATCHBAY_CONTENT_H

#include <patchbay/reply.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values that one completion may hold (MCP server/utilities/completion). */
#define PATCHBAY_COMPLETION_VALUES_MAX 100u

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The beginning of a block, up to its type. Each ends with patchbay_block_end_. */
static inline patchbay_out *patchbay_block_begin_(patchbay_tool_call *call, const char *type)
{
    patchbay_out *out = &call->content;
    patchbay_out_text(out, out->len > 0 ? "," : "");
    if (call->kind == PATCHBAY_CALL_PROMPT_) {
        patchbay_out_printf(out, "{\"role\":\"%s\",\"content\":", call->role);
    }
    patchbay_out_text(out, "{");
    if (type != NULL) {
        patchbay_out_key(out, "type");
        patchbay_out_string(out, patchbay_str_of(type));
    }
    return out;
}

static inline void patchbay_block_end_(patchbay_tool_call *call)
{
    patchbay_out_text(&call->content, call->kind == PATCHBAY_CALL_PROMPT_ ? "}}" : "}");
}

static inline void patchbay_member_(patchbay_out *out, const char *key, const char *text)
{
    if (text != NULL) {
        patchbay_out_key(out, key);
        patchbay_out_string(out, patchbay_str_of(text));
    }
}

static inline void patchbay_base64_member_(patchbay_out *out, const char *key, const void *bytes,
                                           size_t len)
{
    patchbay_out_key(out, key);
    patchbay_out_text(out, "\"");
    patchbay_out_base64(out, bytes, len);
    patchbay_out_text(out, "\"");
}

/* Up to its `text` or `blob`: the content of a resource, or a resource embedded in a block. */
static inline patchbay_out *patchbay_resource_begin_(patchbay_tool_call *call, const char *uri,
                                                     const char *mime_type)
{
    int is_read = call->kind == PATCHBAY_CALL_READ_;
    patchbay_out *out = patchbay_block_begin_(call, is_read ? NULL : "resource");
    if (!is_read) {
        patchbay_out_key(out, "resource");
        patchbay_out_text(out, "{");
    }
    patchbay_out_key(out, "uri");
    patchbay_out_string(out, uri != NULL ? patchbay_str_of(uri) : call->name);
    patchbay_member_(out, "mimeType", mime_type != NULL ? mime_type : call->entry.mime_type);
    return out;
}

static inline void patchbay_resource_end_(patchbay_tool_call *call)
{
    if (call->kind != PATCHBAY_CALL_READ_) {
        patchbay_out_text(&call->content, "}");
    }
    patchbay_block_end_(call);
}

/* Add a resource whose content is text. In a read, `uri` and `mime_type` may be NULL: the ones of
 * what is read. Elsewhere the URI is given, the type may be NULL. */
static inline void patchbay_add_resource_text(patchbay_tool_call *call, const char *uri,
                                              const char *mime_type, patchbay_str text)
{
    if (call->kind != PATCHBAY_CALL_COMPLETION_) {
        patchbay_out *out = patchbay_resource_begin_(call, uri, mime_type);
        patchbay_out_key(out, "text");
        patchbay_out_string(out, text);
        patchbay_resource_end_(call);
    }
}

/* The same of one whose content is binary. */
static inline void patchbay_add_resource_blob(patchbay_tool_call *call, const char *uri,
                                              const char *mime_type, const void *bytes, size_t len)
{
    if (call->kind != PATCHBAY_CALL_COMPLETION_) {
        patchbay_out *out = patchbay_resource_begin_(call, uri, mime_type);
        patchbay_base64_member_(out, "blob", bytes, len);
        patchbay_resource_end_(call);
    }
}

static inline void patchbay_add_value_(patchbay_tool_call *call, patchbay_str text)
{
    if (call->value_count++ < PATCHBAY_COMPLETION_VALUES_MAX) {
        patchbay_out_text(&call->content, call->content.len > 0 ? "," : "");
        patchbay_out_string(&call->content, text);
    }
}

/* Add a text. */
static inline void patchbay_add_text(patchbay_tool_call *call, patchbay_str text)
{
    if (call->kind == PATCHBAY_CALL_READ_) {
        patchbay_add_resource_text(call, NULL, NULL, text);
    } else if (call->kind == PATCHBAY_CALL_COMPLETION_) {
        patchbay_add_value_(call, text);
    } else {
        patchbay_out *out = patchbay_block_begin_(call, "text");
        patchbay_out_key(out, "text");
        patchbay_out_string(out, text);
        patchbay_block_end_(call);
    }
}

/* Add an image or a sound: `type` is "image" or "audio". */
static inline void patchbay_add_media(patchbay_tool_call *call, const char *type,
                                      const char *mime_type, const void *bytes, size_t len)
{
    if (call->kind == PATCHBAY_CALL_READ_) {
        patchbay_add_resource_blob(call, NULL, mime_type, bytes, len);
    } else if (call->kind != PATCHBAY_CALL_COMPLETION_) {
        patchbay_out *out = patchbay_block_begin_(call, type);
        patchbay_base64_member_(out, "data", bytes, len);
        patchbay_member_(out, "mimeType", mime_type);
        patchbay_block_end_(call);
    }
}

/* Add a link to a resource, which clients may read. `description` and `mime_type` may be NULL. */
static inline void patchbay_add_resource_link(patchbay_tool_call *call, const char *uri,
                                              const char *name, const char *description,
                                              const char *mime_type)
{
    if (call->kind == PATCHBAY_CALL_TOOL_ || call->kind == PATCHBAY_CALL_PROMPT_) {
        patchbay_out *out = patchbay_block_begin_(call, "resource_link");
        patchbay_member_(out, "uri", uri);
        patchbay_member_(out, "name", name);
        patchbay_member_(out, "description", description);
        patchbay_member_(out, "mimeType", mime_type);
        patchbay_block_end_(call);
    }
}

/* Add any content block of a tool, message of a prompt, content of a read or value of a completion:
 * finished JSON. */
static inline void patchbay_add_block(patchbay_tool_call *call, patchbay_str block_json)
{
    patchbay_out_text(&call->content, call->content.len > 0 ? "," : "");
    patchbay_out_raw(&call->content, block_json);
}

/* Annotate the block that one of the functions above added last, once: an MCP Annotations object,
 * for example {"audience":["user"],"priority":0.9}. For tools and prompts. */
static inline void patchbay_annotate(patchbay_tool_call *call, const char *annotations_json)
{
    patchbay_out *out = &call->content;
    size_t closing = call->kind == PATCHBAY_CALL_PROMPT_ ? 2 : 1;
    int has_blocks = call->kind == PATCHBAY_CALL_TOOL_ || call->kind == PATCHBAY_CALL_PROMPT_;
    if (!has_blocks || out->failed != 0 || out->len < closing) {
        return;
    }
    out->len -= closing;
    patchbay_out_key(out, "annotations");
    patchbay_out_text(out, annotations_json);
    patchbay_block_end_(call);
}

/* Who says the messages of a prompt that are added from now on: "user", as at first, or
 * "assistant". A literal. */
static inline void patchbay_set_role(patchbay_tool_call *call, const char *role)
{
    call->role = role;
}

/* The structured content of a tool's result under construction: write one JSON object into it. */
static inline patchbay_out *patchbay_structured(patchbay_tool_call *call)
{
    return &call->structured;
}

/* A tool's result, whatever is added, tells of a failure (isError): models see it, and can do
 * better. */
static inline void patchbay_mark_error(patchbay_tool_call *call)
{
    call->is_error = 1;
}

/* ---- completing a call with them ------------------------------------------------------------- */

static inline void patchbay_result_of_tool_(const patchbay_tool_call *call, patchbay_out *out)
{
    patchbay_out_text(out, "{\"content\":[");
    patchbay_out_raw(out, patchbay_str_make(call->content.ptr, call->content.len));
    patchbay_out_text(out, "]");
    if (call->structured.len > 0) {
        patchbay_out_key(out, "structuredContent");
        patchbay_out_raw(out, patchbay_str_make(call->structured.ptr, call->structured.len));
    }
    patchbay_out_text(out, call->is_error != 0 ? ",\"isError\":true}" : "}");
}

static inline void patchbay_result_of_completion_(const patchbay_tool_call *call, patchbay_out *out)
{
    patchbay_out_text(out, "{\"completion\":{\"values\":[");
    patchbay_out_raw(out, patchbay_str_make(call->content.ptr, call->content.len));
    patchbay_out_printf(out, "],\"total\":%llu,\"hasMore\":%s}}",
                        (unsigned long long)call->value_count,
                        call->value_count > PATCHBAY_COMPLETION_VALUES_MAX ? "true" : "false");
}

/* Complete with what was added. Structured content without any block gets its text as one, for
 * clients that do not know it (MCP server/tools, Structured Content). Of more values than a
 * completion may hold, the first are sent, and how many there are. */
static inline void patchbay_reply(patchbay_tool_call *call)
{
    if (call->kind == PATCHBAY_CALL_TOOL_ && call->structured.len > 0 && call->content.len == 0) {
        patchbay_add_text(call, patchbay_str_make(call->structured.ptr, call->structured.len));
    }
    patchbay_out result;
    memset(&result, 0, sizeof result);
    if (call->kind == PATCHBAY_CALL_TOOL_) {
        patchbay_result_of_tool_(call, &result);
    } else if (call->kind == PATCHBAY_CALL_COMPLETION_) {
        patchbay_result_of_completion_(call, &result);
    } else {
        patchbay_out_text(&result, call->kind == PATCHBAY_CALL_READ_ ? "{\"contents\":["
                                                                     : "{\"messages\":[");
        patchbay_out_raw(&result, patchbay_str_make(call->content.ptr, call->content.len));
        patchbay_out_text(&result, "]}");
    }
    if (result.failed || call->content.failed || call->structured.failed) {
        patchbay_finish_(call, PATCHBAY_FAILED, patchbay_str_of("out of memory"));
    } else {
        patchbay_finish_(call, PATCHBAY_RESULT, patchbay_str_make(result.ptr, result.len));
    }
    patchbay_out_free(&result);
}

/* Complete with one text. */
static inline void patchbay_reply_text(patchbay_tool_call *call, patchbay_str text)
{
    patchbay_add_text(call, text);
    patchbay_reply(call);
}

/* Complete with one formatted text. */
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

/* Complete a tool with a failure in the tool's own words, and nothing else (isError and one text).
 * patchbay_reply_error also tells programs what kind of failure it is. */
static inline void patchbay_reply_tool_error(patchbay_tool_call *call, patchbay_str text)
{
    patchbay_mark_error(call);
    patchbay_reply_text(call, text);
}

/* Complete a completion with those of `values` that begin with what was typed. */
static inline void patchbay_reply_matches(patchbay_tool_call *call, const char *const *values,
                                          size_t count)
{
    const char *typed = patchbay_typed(call);
    size_t len = strlen(typed);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(values[i], typed, len) == 0) {
            patchbay_add_value_(call, patchbay_str_of(values[i]));
        }
    }
    patchbay_reply(call);
}

#ifdef __cplusplus
}
#endif

#endif
