/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON that places its own commas, and schemas without escapes.
 *
 *     patchbay_out *out = patchbay_structured(call);
 *     patchbay_write_object(out);
 *     patchbay_write_key(out, "names");
 *     patchbay_write_array(out);
 *     patchbay_write_text(out, "Ada");
 *     patchbay_write_text(out, "Grace");
 *     patchbay_write_end_array(out);
 *     patchbay_write_key(out, "count");
 *     patchbay_write_int(out, 2);
 *     patchbay_write_end_object(out);                  {"names":["Ada","Grace"],"count":2}
 *
 * Each function appends to a patchbay_out of json.h, which remembers a failed allocation: one test
 * at the end is enough. Whether a comma is due shows from what was written last, so these functions
 * mix with patchbay_out_raw and the like. They do not check that begin and end match, or that a
 * member has a key: the hub checks what a plugin hands it. Pure functions, any thread.
 *
 * Part of toolset.h, which includes it.
 */
#ifndef PATCHBAY_WRITE_H
#define PATCHBAY_WRITE_H

#include <patchbay/json.h>

#ifdef __cplusplus
extern "C" {
#endif

/* JSON as a C string, without escapes:
 *
 *     static const char greet_schema[] = PATCHBAY_JSON({
 *         "type": "object", "properties": {"name": {"type": "string"}}
 *     });
 *
 * White space between values becomes one space or none. C sees tokens, not JSON: quotes and
 * parentheses outside strings must match, and C compilers need not take more than 4,095 bytes. */
#define PATCHBAY_JSON(...) #__VA_ARGS__

/* Append a comma if a value of the same object or array comes before. */
static inline void patchbay_write_comma_(patchbay_out *out)
{
    char last = out->len > 0 ? out->ptr[out->len - 1] : '[';
    if (last != '{' && last != '[' && last != ':' && last != ',') {
        patchbay_out_text(out, ",");
    }
}

/* A value that is JSON already; an empty one (an absent member, say) becomes null. */
static inline void patchbay_write_raw(patchbay_out *out, patchbay_str json)
{
    patchbay_write_comma_(out);
    patchbay_out_raw(out, json.len > 0 ? json : patchbay_str_of("null"));
}

static inline void patchbay_write_object(patchbay_out *out)
{
    patchbay_write_raw(out, patchbay_str_of("{"));
}

static inline void patchbay_write_end_object(patchbay_out *out)
{
    patchbay_out_text(out, "}");
}

static inline void patchbay_write_array(patchbay_out *out)
{
    patchbay_write_raw(out, patchbay_str_of("["));
}

static inline void patchbay_write_end_array(patchbay_out *out)
{
    patchbay_out_text(out, "]");
}

/* A string; what is not UTF-8 becomes U+FFFD. */
static inline void patchbay_write_str(patchbay_out *out, patchbay_str text)
{
    patchbay_write_comma_(out);
    patchbay_out_string(out, text);
}

/* A string; null when `text` is NULL. */
static inline void patchbay_write_text(patchbay_out *out, const char *text)
{
    if (text == NULL) {
        patchbay_write_raw(out, patchbay_str_make(NULL, 0));
    } else {
        patchbay_write_str(out, patchbay_str_of(text));
    }
}

/* The key of the member whose value comes next; any text. */
static inline void patchbay_write_key(patchbay_out *out, const char *key)
{
    patchbay_write_str(out, patchbay_str_of(key));
    patchbay_out_text(out, ":");
}

static inline void patchbay_write_int(patchbay_out *out, int64_t number)
{
    patchbay_write_comma_(out);
    patchbay_out_printf(out, "%lld", (long long)number);
}

/* With as few digits as give it back; null when it is not finite. */
static inline void patchbay_write_double(patchbay_out *out, double number)
{
    patchbay_write_comma_(out);
    patchbay_out_number(out, number);
}

static inline void patchbay_write_bool(patchbay_out *out, int is_true)
{
    patchbay_write_raw(out, patchbay_str_of(is_true ? "true" : "false"));
}

static inline void patchbay_write_null(patchbay_out *out)
{
    patchbay_write_raw(out, patchbay_str_make(NULL, 0));
}

#ifdef __cplusplus
}
#endif

#endif
