/* SPDX-License-Identifier: Apache-2.0 */
#include "config/expand.h"

#include "base/limits.h"
#include "config/file.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { SHOWN_NAME_BYTES = 64 };

static const char FORMS[] =
    "${VAR}, ${VAR:-default}, ${env:VAR}, ${file:/path}, ${secret:NAME} and ${credential:NAME}";

typedef struct expansion {
    const hub_expand_source *source;
    hub_buf *out;
    bool *open_file;
    hub_error *reterr;
} expansion;

static bool is_name(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    return text.len > 0;
}

/* The length of the character that begins `text`, or 0 when it is not UTF-8: cut off, overlong, a
 * surrogate, or beyond U+10FFFF. */
static size_t character_length(hub_str text)
{
    static const struct {
        unsigned char mask; /* of the bits that tell the length */
        unsigned char mark; /* and what they are */
        uint32_t least;     /* a smaller code has a shorter form */
    } LENGTHS[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    for (size_t len = 1; len <= 4 && len <= text.len; len++) {
        if ((bytes[0] & LENGTHS[len - 1].mask) != LENGTHS[len - 1].mark) {
            continue;
        }
        uint32_t code = bytes[0] & (unsigned char)~LENGTHS[len - 1].mask;
        for (size_t i = 1; i < len; i++) {
            if ((bytes[i] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | (bytes[i] & 0x3fu);
        }
        bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
        return code < LENGTHS[len - 1].least || is_surrogate || code > 0x10ffff ? 0 : len;
    }
    return 0;
}

/* Values become parts of JSON texts, whose writer would silently replace what is not UTF-8. */
bool hub_is_utf8(hub_str text)
{
    while (text.len > 0) {
        size_t len = character_length(text);
        if (len == 0) {
            return false;
        }
        text = hub_str_from(text, len);
    }
    return true;
}

static hub_err add_checked(const expansion *ex, const char *what, hub_str name, hub_str value)
{
    if (value.len > 0 && memchr(value.ptr, '\0', value.len) != NULL) {
        return hub_fail(ex->reterr, HUB_EINVAL, "%s " HUB_STR_FMT " holds a NUL character", what,
                        HUB_STR_ARG(name));
    }
    if (!hub_is_utf8(value)) {
        return hub_fail(ex->reterr, HUB_EINVAL, "%s " HUB_STR_FMT " does not hold UTF-8 text", what,
                        HUB_STR_ARG(name));
    }
    hub_buf_add(ex->out, value);
    return HUB_OK;
}

static hub_err add_value(const expansion *ex, const char *what, hub_str name, hub_str value)
{
    hub_err err = ex->source->on_value != NULL
                      ? ex->source->on_value(ex->source->ctx, name, value, ex->reterr)
                      : HUB_OK;
    return err == HUB_OK ? add_checked(ex, what, name, value) : err;
}

static hub_err add_variable(const expansion *ex, hub_str name)
{
    const char *value = hub_expand_find(ex->source, name);
    if (value == NULL && ex->source->is_lenient) {
        hub_buf_add(ex->out, name);
        return HUB_OK;
    }
    if (value == NULL) {
        return hub_fail(ex->reterr, HUB_EINVAL,
                        "the variable " HUB_STR_FMT " is not set, and there is no default",
                        HUB_STR_ARG(name));
    }
    return add_value(ex, "the variable", name, hub_str_of(value));
}

static hub_err add_or_default(const expansion *ex, hub_str name, hub_str fallback)
{
    const char *value = hub_expand_find(ex->source, name);
    if (value != NULL && value[0] != '\0') {
        return add_value(ex, "the variable", name, hub_str_of(value));
    }
    hub_buf_add(ex->out, fallback);
    return HUB_OK;
}

static hub_err read_into(const expansion *ex, const char *path, hub_buf *content)
{
    unsigned mode = 0;
    hub_err err = hub_file_read(path, content, &mode, ex->reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_str value = hub_buf_str(content);
    if (value.len > 0 && value.ptr[value.len - 1] == '\n') {
        value.len--;
    }
    if (ex->open_file != NULL && (mode & S_IROTH) != 0) {
        *ex->open_file = true;
    }
    return add_value(ex, "the file", hub_str_of(path), value);
}

static hub_err add_file(const expansion *ex, hub_str name)
{
    if (name.len == 0 || name.ptr[0] != '/') {
        return hub_fail(ex->reterr, HUB_EINVAL, "${file:...} wants an absolute path");
    }
    if (!ex->source->has_files) {
        return hub_fail(ex->reterr, HUB_EINVAL, "${file:...} is not possible here");
    }
    char *path = hub_str_dup(name);
    if (path == NULL) {
        return hub_fail(ex->reterr, HUB_ENOMEM, "out of memory");
    }
    hub_buf content;
    hub_buf_init(&content, HUB_EXPAND_FILE_BYTES);
    hub_err err = ex->source->on_file != NULL
                      ? ex->source->on_file(ex->source->ctx, path, ex->reterr)
                      : HUB_OK;
    if (err == HUB_OK) {
        err = read_into(ex, path, &content);
    }
    hub_buf_fini(&content);
    free(path);
    return err;
}

static hub_err add_secret(const expansion *ex, hub_secret_kind kind, hub_str name)
{
    const char *what = kind == HUB_SECRET_STORED ? "the secret" : "the credential";
    if (!hub_is_secret_name(name)) {
        return hub_fail(ex->reterr, HUB_EINVAL,
                        "${%s:...} wants a name of at most %d letters, digits, '_', '-' and '.'",
                        kind == HUB_SECRET_STORED ? "secret" : "credential",
                        HUB_LIMIT_SECRET_NAME_BYTES);
    }
    if (ex->source->is_lenient) {
        hub_buf_add(ex->out, name);
        return HUB_OK;
    }
    if (ex->source->find_secret == NULL) {
        return hub_fail(ex->reterr, HUB_EINVAL, "%s " HUB_STR_FMT " cannot be read here", what,
                        HUB_STR_ARG(name));
    }
    hub_buf value;
    hub_buf_init_secret(&value, HUB_EXPAND_FILE_BYTES);
    hub_err err = ex->source->find_secret(ex->source->ctx, kind, name, &value, ex->reterr);
    if (err == HUB_OK) {
        err = add_checked(ex, what, name, hub_buf_str(&value));
    }
    hub_buf_fini(&value);
    return err;
}

/* `body` is what stands between the braces. */
static hub_err add_reference(const expansion *ex, hub_str body)
{
    size_t dash = hub_str_find(body, HUB_STR(":-"));
    hub_str name = dash == SIZE_MAX ? body : (hub_str){.ptr = body.ptr, .len = dash};
    if (hub_str_find(body, HUB_STR("${")) != SIZE_MAX) {
        return hub_fail(ex->reterr, HUB_EINVAL, "variables cannot be nested");
    }
    if (dash != SIZE_MAX && is_name(name)) {
        return add_or_default(ex, name, hub_str_from(body, dash + 2));
    }
    if (hub_str_starts(body, HUB_STR("file:"))) {
        return add_file(ex, hub_str_from(body, sizeof "file:" - 1));
    }
    if (hub_str_starts(body, HUB_STR("secret:"))) {
        return add_secret(ex, HUB_SECRET_STORED, hub_str_from(body, sizeof "secret:" - 1));
    }
    if (hub_str_starts(body, HUB_STR("credential:"))) {
        return add_secret(ex, HUB_SECRET_CREDENTIAL, hub_str_from(body, sizeof "credential:" - 1));
    }
    if (hub_str_starts(body, HUB_STR("env:"))) {
        body = hub_str_from(body, sizeof "env:" - 1);
    }
    if (is_name(body)) {
        return add_variable(ex, body);
    }
    if (body.len > SHOWN_NAME_BYTES || dash != SIZE_MAX) {
        return hub_fail(ex->reterr, HUB_EINVAL, "not a variable; known are %s", FORMS);
    }
    return hub_fail(ex->reterr, HUB_EINVAL, "${" HUB_STR_FMT "} is not a variable; known are %s",
                    HUB_STR_ARG(body), FORMS);
}

bool hub_is_secret_name(hub_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!is_plain && (c != '.' || i == 0)) {
            return false;
        }
    }
    return name.len > 0 && name.len <= HUB_LIMIT_SECRET_NAME_BYTES;
}

const char *hub_expand_find(const hub_expand_source *source, hub_str name)
{
    for (const char *const *entry = source->env; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, name.ptr, name.len) == 0 && (*entry)[name.len] == '=') {
            return *entry + name.len + 1;
        }
    }
    return NULL;
}

hub_err hub_expand(hub_str text, const hub_expand_source *source, hub_buf *out, bool *ret_open_file,
                   hub_error *reterr)
{
    const expansion ex = {source, out, ret_open_file, reterr};
    hub_err err = HUB_OK;
    for (size_t at = 0; at < text.len && err == HUB_OK;) {
        hub_str rest = hub_str_from(text, at);
        if (hub_str_starts(rest, HUB_STR("$$"))) {
            hub_buf_add_char(out, '$');
            at += 2;
        } else if (hub_str_starts(rest, HUB_STR("${"))) {
            size_t end = hub_str_find(rest, HUB_STR("}"));
            if (end == SIZE_MAX) {
                return hub_fail(reterr, HUB_EINVAL, "a \"${\" has no \"}\"; write $$ for a dollar");
            }
            err = add_reference(&ex, (hub_str){.ptr = rest.ptr + 2, .len = end - 2});
            at += end + 1;
        } else {
            hub_buf_add_char(out, text.ptr[at++]);
        }
    }
    if (err == HUB_OK && !hub_buf_ok(out)) {
        err = hub_fail(reterr, out->failed, "%s", hub_err_text(out->failed));
    }
    return err;
}
