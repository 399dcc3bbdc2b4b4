/* SPDX-License-Identifier: Apache-2.0 */
/* Error texts. They show names and what the schema says, never the value: it may be a secret. */
#include "tools/schema_internal.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    KEY_BYTES = 60,   /* of a name within a path */
    BODY_BYTES = 320, /* of a text without its path */
};

#define ELLIPSIS "\xe2\x80\xa6"

/* A path written from its end, since the way from a value leads upwards; what does not fit is the
 * middle. */
typedef struct trail {
    char text[HUB_SCHEMA_TRAIL_BYTES];
    size_t start;
    bool is_cut;
} trail;

static void trail_init(trail *path)
{
    path->start = sizeof path->text;
    path->is_cut = false;
}

static bool trail_fits(const trail *path, size_t bytes)
{
    return !path->is_cut && bytes <= path->start;
}

static void trail_put(trail *path, hub_str piece)
{
    if (!trail_fits(path, piece.len)) {
        path->is_cut = true;
        return;
    }
    path->start -= piece.len;
    if (piece.len > 0) {
        memcpy(path->text + path->start, piece.ptr, piece.len);
    }
}

static hub_str trail_str(const trail *path)
{
    return (hub_str){.ptr = path->text + path->start, .len = sizeof path->text - path->start};
}

static bool is_word(hub_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.ptr[i];
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!is_alnum && c < 0x80 && c != '_' && c != '-' && c != '$') {
            return false;
        }
    }
    return key.len > 0;
}

/* One step of a value's path: .name, ["odd name"] or .index. All of it or nothing. */
static void put_value_step(trail *path, const hub_schema_value *value)
{
    char step[2 * KEY_BYTES];
    hub_str key = hub_schema_cut(value->key, KEY_BYTES);
    const char *more = key.len < value->key.len ? ELLIPSIS : "";
    int len = 0;
    if (value->parent->type == HUB_JSON_ARRAY) {
        len = snprintf(step, sizeof step, ".%zu", value->index);
    } else if (is_word(key)) {
        len = snprintf(step, sizeof step, "." HUB_STR_FMT "%s", HUB_STR_ARG(key), more);
    } else {
        len = snprintf(step, sizeof step, "[\"" HUB_STR_FMT "%s\"]", HUB_STR_ARG(key), more);
    }
    trail_put(path, (hub_str){.ptr = step, .len = (size_t)len});
}

static void value_path(const hub_schema_value *value, trail *path)
{
    trail_init(path);
    for (; value->parent != NULL; value = value->parent) {
        put_value_step(path, value);
    }
}

/* The text of a hub_error is cut at its size: not within a character. */
static void mend_end(hub_error *reterr)
{
    if (reterr != NULL) {
        size_t len = strlen(reterr->text);
        reterr->text[hub_schema_cut((hub_str){.ptr = reterr->text, .len = len}, len).len] = '\0';
    }
}

hub_str hub_schema_cut(hub_str text, size_t max)
{
    size_t len = text.len < max ? text.len : max;
    size_t start = len; /* of the last character */
    while (start > 0 && len - start < 4 && ((unsigned char)text.ptr[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start > 0 && (unsigned char)text.ptr[start - 1] >= 0xc0) {
        unsigned char lead = (unsigned char)text.ptr[--start];
        size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        len = len - start < wanted ? start : len;
    }
    return (hub_str){.ptr = text.ptr, .len = len};
}

hub_err hub_schema_violation(hub_schema_run *run, const hub_schema_value *value, const char *format,
                             ...)
{
    run->failed_depth = value->depth;
    run->failed_keyword = NULL;
    if (run->quiet > 0) {
        return HUB_EINVAL;
    }
    char body[BODY_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(body, sizeof body, format, args); /* cut when too long */
    va_end(args);
    trail path;
    value_path(value, &path);
    hub_err err = hub_fail(run->reterr, HUB_EINVAL, "%s%s" HUB_STR_FMT ": %s%s", run->root,
                           path.is_cut ? ELLIPSIS : "", HUB_STR_ARG(trail_str(&path)),
                           value->is_name ? "the name " : "", body);
    mend_end(run->reterr);
    return err;
}

void hub_schema_violation_prefix(hub_schema_run *run, const hub_schema_value *value,
                                 const char *format, ...)
{
    char body[BODY_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(body, sizeof body, format, args); /* cut when too long */
    va_end(args);
    trail path;
    value_path(value, &path);
    hub_error_prefix(run->reterr, "%s%s" HUB_STR_FMT ": %s%s", run->root,
                     path.is_cut ? ELLIPSIS : "", HUB_STR_ARG(trail_str(&path)),
                     value->is_name ? "the name " : "", body);
    mend_end(run->reterr);
}

hub_err hub_schema_abort(hub_schema_run *run, hub_err code, const char *why)
{
    return hub_fail(run->reterr, code, "%s: %s", run->root, why ? why : hub_err_text(code));
}

void hub_schema_show_types(unsigned types, hub_buf *out)
{
    static const struct {
        unsigned type;
        const char *name;
    } NAMES[] = {
        {HUB_SCHEMA_OBJECT, "an object"},   {HUB_SCHEMA_ARRAY, "an array"},
        {HUB_SCHEMA_STRING, "a string"},    {HUB_SCHEMA_NUMBER, "a number"},
        {HUB_SCHEMA_INTEGER, "an integer"}, {HUB_SCHEMA_BOOLEAN, "a boolean"},
        {HUB_SCHEMA_NULL, "null"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if ((types & NAMES[i].type) == 0) {
            continue;
        }
        types &= ~NAMES[i].type;
        const char *joint = out->len == 0 ? "" : types == 0 ? " or " : ", ";
        hub_buf_add(out, hub_str_of(joint));
        hub_buf_add(out, hub_str_of(NAMES[i].name));
    }
}

void hub_schema_show_values(hub_str raw, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        size_t left = HUB_SCHEMA_SHOWN_BYTES - (out->len < HUB_SCHEMA_SHOWN_BYTES ? out->len : 0);
        bool fits = out->len + value.len <= HUB_SCHEMA_SHOWN_BYTES;
        if (out->len > 0) {
            hub_buf_add(out, HUB_STR(", "));
        }
        if (!fits && out->len > 0) {
            hub_buf_add(out, HUB_STR(ELLIPSIS));
            return;
        }
        hub_buf_add(out, hub_schema_cut(value, left));
        if (!fits) {
            hub_buf_add(out, HUB_STR(ELLIPSIS));
        }
    }
}

/* A token of a JSON pointer, escaped, in front of the path. */
static void put_token(trail *path, hub_str token)
{
    hub_str key = hub_schema_cut(token, KEY_BYTES);
    char step[2 * KEY_BYTES + sizeof ELLIPSIS];
    size_t len = 0;
    step[len++] = '/';
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];
        if (c == '~' || c == '/') {
            step[len++] = '~';
        }
        step[len++] = c == '~' ? '0' : c == '/' ? '1' : c;
    }
    if (key.len < token.len) {
        memcpy(step + len, ELLIPSIS, sizeof ELLIPSIS - 1);
        len += sizeof ELLIPSIS - 1;
    }
    trail_put(path, (hub_str){.ptr = step, .len = len});
}

/* A keyword, or the pointer to what is no keyword: needs no escapes. */
static void put_keyword(trail *path, const char *keyword)
{
    trail_put(path, hub_str_of(keyword));
    trail_put(path, HUB_STR("/"));
}

hub_err hub_schema_refuse(hub_schema_compiler *compiler, const hub_schema_node *node,
                          const char *keyword, hub_err code, const char *format, ...)
{
    char body[BODY_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(body, sizeof body, format, args); /* cut when too long */
    va_end(args);
    trail path;
    trail_init(&path);
    if (keyword != NULL) {
        put_keyword(&path, keyword);
    }
    for (; node->keyword != NULL; node = node->parent) {
        if (node->key.ptr != NULL) {
            put_token(&path, node->key);
        }
        put_keyword(&path, node->keyword);
    }
    hub_str pointer = trail_str(&path);
    (void)hub_fail(compiler->reterr, code, "%s" HUB_STR_FMT ": %s",
                   path.is_cut        ? ELLIPSIS
                   : pointer.len == 0 ? "the schema"
                                      : "",
                   HUB_STR_ARG(pointer), body);
    mend_end(compiler->reterr);
    return code;
}

hub_err hub_schema_refuse_memory(hub_schema_compiler *compiler)
{
    hub_err code = compiler->schema->memory.failed;
    return hub_fail(compiler->reterr, code, "the schema: %s", hub_err_text(code));
}
