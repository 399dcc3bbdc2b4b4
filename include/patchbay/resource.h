/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources of a toolset: what clients can read (MCP server/resources). A table each of
 * resources, whose URIs are known, and of templates, whose URIs have variables:
 *
 *     static const patchbay_resource_template templates[] = {
 *         {.uri_template = "note://{name}",
 *          .name = "note",
 *          .mime_type = "text/plain",
 *          .handler = read_note},             (patchbay_arg_text(call, "name"), decoded)
 *     };
 *
 * A handler answers as that of a tool does: patchbay_reply_text, patchbay_add_resource_blob, …
 * (content.h). Part of toolset.h, which includes it.
 */
#ifndef PATCHBAY_RESOURCE_H
#define PATCHBAY_RESOURCE_H

#include <patchbay/ask.h>

#include <regex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Variables that one template may have. */
#define PATCHBAY_TEMPLATE_VARIABLES_MAX 16u

/* One resource. Strings are UTF-8; NULL where a member does not apply. */
typedef struct patchbay_resource {
    const char *uri;         /* any scheme; read by this handler as it stands */
    const char *name;        /* for programs */
    const char *title;       /* for people */
    const char *description; /* for models */
    const char *mime_type;
    const char *annotations; /* an MCP Annotations object, JSON */
    uint64_t size;           /* in bytes; 0: not known */
    patchbay_handler *handler;
    void *data;     /* for the handler: patchbay_tool_data */
    uint64_t flags; /* PATCHBAY_NONBLOCKING, PATCHBAY_TAKES_NUL */
} patchbay_resource;

/* Suggests values for one variable of a template, or one argument of a prompt. */
typedef struct patchbay_completer {
    const char *argument; /* its name */
    /* Offers what goes with patchbay_typed and, if it matters, with the arguments filled in before
     * (patchbay_arg_text): patchbay_reply_matches, or patchbay_add_text and patchbay_reply. */
    patchbay_handler *handler;
} patchbay_completer;

/* A family of resources. */
typedef struct patchbay_resource_template {
    /* RFC 6570 with {name}, which stands for anything without '/', '?' and '#', and {+name}, which
     * stands for anything. Each is one character at least, and found percent-decoded in the
     * arguments. Other expressions of the RFC are refused. */
    const char *uri_template;
    const char *name;
    const char *title;
    const char *description;
    const char *mime_type;
    const char *annotations;
    const patchbay_completer *completers; /* NULL: none */
    size_t completer_count;
    patchbay_handler *handler;
    void *data;
    uint64_t flags;
} patchbay_resource_template;

/* ---- lists of them, private ------------------------------------------------------------------ */

static inline void patchbay_resource_members_(patchbay_out *out, const char *name,
                                              const char *title, const char *description,
                                              const char *mime_type, const char *annotations)
{
    patchbay_member_(out, "name", name);
    patchbay_member_(out, "title", title);
    patchbay_member_(out, "description", description);
    patchbay_member_(out, "mimeType", mime_type);
    if (annotations != NULL) {
        patchbay_out_key(out, "annotations");
        patchbay_out_text(out, annotations);
    }
}

static inline void patchbay_resource_json_(patchbay_out *out, const patchbay_resource *resource)
{
    patchbay_out_text(out, "{");
    patchbay_member_(out, "uri", resource->uri);
    patchbay_resource_members_(out, resource->name, resource->title, resource->description,
                               resource->mime_type, resource->annotations);
    if (resource->size > 0) {
        patchbay_out_printf(out, ",\"size\":%llu", (unsigned long long)resource->size);
    }
    patchbay_out_text(out, "}");
}

static inline void patchbay_template_json_(patchbay_out *out,
                                           const patchbay_resource_template *entry)
{
    patchbay_out_text(out, "{");
    patchbay_member_(out, "uriTemplate", entry->uri_template);
    patchbay_resource_members_(out, entry->name, entry->title, entry->description, entry->mime_type,
                               entry->annotations);
    patchbay_out_text(out, "}");
}

/* ---- templates, private ---------------------------------------------------------------------- */

/* A template as a regular expression (POSIX, extended), and the names of its groups. */
typedef struct patchbay_pattern_ {
    patchbay_out regex;
    patchbay_str names[PATCHBAY_TEMPLATE_VARIABLES_MAX];
    size_t count;
} patchbay_pattern_;

/* Append an expression, from behind its brace on; its end, or NULL when it is not understood. */
static inline const char *patchbay_pattern_variable_(patchbay_pattern_ *pattern, const char *at)
{
    int any = *at == '+';
    at += any;
    size_t len = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.");
    if (len == 0 || at[len] != '}' || pattern->count == PATCHBAY_TEMPLATE_VARIABLES_MAX) {
        return NULL;
    }
    pattern->names[pattern->count++] = patchbay_str_make(at, len);
    patchbay_out_text(&pattern->regex, any ? "(.+)" : "([^/?#]+)");
    return at + len + 1;
}

/* returns: 0 when it is not a template that these functions understand; whether there was memory for
 * all of it, its regex knows */
static inline int patchbay_pattern_make_(patchbay_pattern_ *pattern, const char *uri_template)
{
    const char *at = uri_template;
    memset(pattern, 0, sizeof *pattern);
    patchbay_out_text(&pattern->regex, "^");
    while (at != NULL && *at != '\0') {
        if (*at == '{') {
            at = patchbay_pattern_variable_(pattern, at + 1);
            continue;
        }
        if (strchr("\\^$.|?*+()[]", *at) != NULL) {
            patchbay_out_text(&pattern->regex, "\\");
        }
        patchbay_out_raw(&pattern->regex, patchbay_str_make(at, 1));
        at = *at == '}' ? NULL : at + 1;
    }
    patchbay_out_text(&pattern->regex, "$");
    return at != NULL;
}

/* An allocation that fails on the way is one of `out`. */
static inline int patchbay_is_template_(const char *uri_template, patchbay_out *out)
{
    patchbay_pattern_ pattern;
    int ok = patchbay_pattern_make_(&pattern, uri_template);
    out->failed |= pattern.regex.failed;
    patchbay_out_free(&pattern.regex);
    return ok;
}

static inline int patchbay_hex_digit_(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* Append a part of a URI, percent-decoded. */
static inline void patchbay_out_decoded_uri_(patchbay_out *out, patchbay_str part)
{
    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        int high = c == '%' && part.len - i > 2 ? patchbay_hex_digit_(part.ptr[i + 1]) : -1;
        int low = high >= 0 ? patchbay_hex_digit_(part.ptr[i + 2]) : -1;
        if (low >= 0) {
            c = (char)(high * 16 + low);
            i += 2;
        }
        patchbay_out_raw(out, patchbay_str_make(&c, 1));
    }
}

/* Whether a template matches a URI; its variables become the members of a JSON object. */
static inline int patchbay_template_match_(const char *uri_template, const char *uri,
                                           patchbay_out *ret_variables)
{
    patchbay_pattern_ pattern;
    regmatch_t groups[PATCHBAY_TEMPLATE_VARIABLES_MAX + 1];
    regex_t regex;
    int made = patchbay_pattern_make_(&pattern, uri_template) && !pattern.regex.failed &&
               regcomp(&regex, pattern.regex.ptr, REG_EXTENDED) == 0;
    int matches = made && regexec(&regex, uri, pattern.count + 1, groups, 0) == 0;
    if (matches) {
        patchbay_out_text(ret_variables, "{");
        for (size_t i = 0; i < pattern.count; i++) {
            const char *begin = uri + groups[i + 1].rm_so;
            patchbay_out value;
            memset(&value, 0, sizeof value);
            patchbay_out_decoded_uri_(
                &value,
                patchbay_str_make(begin, (size_t)(groups[i + 1].rm_eo - groups[i + 1].rm_so)));
            patchbay_out_text(ret_variables, i > 0 ? "," : "");
            patchbay_out_string(ret_variables, pattern.names[i]);
            patchbay_out_text(ret_variables, ":");
            patchbay_out_string(ret_variables, patchbay_str_make(value.ptr, value.len));
            ret_variables->failed |= value.failed;
            patchbay_out_free(&value);
        }
        patchbay_out_text(ret_variables, "}");
    }
    if (made) {
        regfree(&regex);
    }
    patchbay_out_free(&pattern.regex);
    return matches;
}

#ifdef __cplusplus
}
#endif

#endif
