/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a configuration is a secret: the values of variables and files in what a module is told,
 * and what stands in the manifest under a name that says so. All of it is masked in whatever the
 * hub writes for people (redact/redact.h), from the moment that it was read.
 */
#include "config/reader.h"

#include "base/limits.h"
#include "redact/redact.h"

/* Of variables that everybody's environment has: a log without the home folder is of no use. */
static const char *const PUBLIC[] = {"HOME", "USER",   "LOGNAME",  "PATH", "PWD", "SHELL",
                                     "LANG", "TMPDIR", "HOSTNAME", "TERM", "TZ"};

static bool is_public(hub_str name)
{
    for (size_t i = 0; i < sizeof PUBLIC / sizeof PUBLIC[0]; i++) {
        if (hub_str_is(name, PUBLIC[i])) {
            return true;
        }
    }
    return hub_str_starts(name, HUB_STR("XDG_"));
}

hub_err hub_config_hide(hub_config_reader *reader, hub_str secret, hub_error *reterr)
{
    hub_err err = hub_redact_set_add(reader->secrets, secret);
    if (err == HUB_ELIMIT) {
        return hub_fail(reterr, err,
                        "there are more than %u bytes of secrets, which cannot all be masked in "
                        "the log",
                        HUB_LIMIT_SECRET_BYTES);
    }
    return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "out of memory");
}

hub_err hub_config_hide_variable(void *ctx, hub_str name, hub_str value, hub_error *reterr)
{
    hub_config_reader *reader = ctx;
    return reader->is_confidential && !is_public(name) ? hub_config_hide(reader, value, reterr)
                                                       : HUB_OK;
}

/* A toolset that is switched off needs none of its variables: people switch it off because they do
 * not have them. */
hub_err hub_config_expand(hub_config_reader *reader, const hub_node *node, hub_buf *value)
{
    if (reader->is_switched_off) {
        hub_buf_add(value, node->text);
        return HUB_OK;
    }
    bool open_file = false;
    hub_error found = {.code = HUB_OK};
    hub_err err = hub_expand(node->text, &reader->variables, value, &open_file, &found);
    if (err != HUB_OK) {
        return hub_node_fail(node, reader->reterr, err, "%s", found.text);
    }
    if (open_file) {
        return hub_config_warn(reader, node, "every user of this machine can read the secret file");
    }
    return HUB_OK;
}

hub_err hub_config_expand_secret(hub_config_reader *reader, const hub_node *node, hub_buf *value)
{
    reader->is_confidential = true;
    hub_err err = hub_config_expand(reader, node, value);
    reader->is_confidential = false;
    return err;
}

bool hub_config_is_telling(hub_str name)
{
    static const char *const WORDS[] = {
        "secret",     "token",      "passw",         "api_key",     "apikey",
        "api-key",    "credential", "authorization", "private_key", "private-key",
        "access_key", "access-key", "cookie",
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        hub_str word = hub_str_of(WORDS[i]);
        for (size_t at = 0; at + word.len <= name.len; at++) {
            if (hub_str_eq_nocase((hub_str){.ptr = name.ptr + at, .len = word.len}, word)) {
                return true;
            }
        }
    }
    return false;
}

/* Append a text without variables as it will be: $$ is a dollar. False when it has variables: of
 * such a text only these are secret, the rest is in the manifest for all to see. */
static bool add_literal(hub_str text, hub_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char after = text.ptr[i] == '$' && i + 1 < text.len ? text.ptr[i + 1] : '\0';
        if (after == '{') {
            return false;
        }
        hub_buf_add_char(out, text.ptr[i]);
        i += after == '$';
    }
    return true;
}

hub_err hub_config_hide_named(hub_config_reader *reader, hub_str name, hub_str text)
{
    hub_buf literal;
    if (reader->is_switched_off || !hub_config_is_telling(name)) {
        return HUB_OK;
    }
    hub_buf_init(&literal, text.len + 1);
    hub_err err = HUB_OK;
    if (add_literal(text, &literal)) {
        hub_str secret = hub_buf_str(&literal);
        size_t space = hub_str_find(secret, HUB_STR(" "));
        bool has_scheme = space != SIZE_MAX && space < 16; /* "Bearer …", "Basic …" */
        err = !hub_buf_ok(&literal)
                  ? hub_config_no_memory(reader)
                  : hub_config_hide(reader, has_scheme ? hub_str_from(secret, space + 1) : secret,
                                    reader->reterr);
    }
    hub_buf_fini(&literal);
    return err;
}

/* What stands before the host: the password; a user without one is a token. */
static hub_err hide_user_info(hub_config_reader *reader, hub_str host)
{
    size_t end = host.len;
    while (end > 0 && host.ptr[end - 1] != '@') {
        end--;
    }
    if (end == 0) {
        return HUB_OK;
    }
    hub_str info = {.ptr = host.ptr, .len = end - 1};
    size_t colon = hub_str_find(info, HUB_STR(":"));
    hub_str password = colon != SIZE_MAX ? hub_str_from(info, colon + 1) : HUB_STR_EMPTY;
    hub_str user = {.ptr = info.ptr, .len = colon != SIZE_MAX ? colon : info.len};
    return hub_config_hide(reader, password.len > 0 ? password : user, reader->reterr);
}

/* user:password@host, and what a name in the query says to be a secret. */
hub_err hub_config_hide_url(hub_config_reader *reader, hub_str url)
{
    size_t scheme = hub_str_find(url, HUB_STR("://"));
    hub_str rest = scheme != SIZE_MAX ? hub_str_from(url, scheme + 3) : HUB_STR_EMPTY;
    size_t end = 0;
    while (end < rest.len && strchr("/?#", rest.ptr[end]) == NULL) {
        end++;
    }
    hub_err err = hide_user_info(reader, (hub_str){.ptr = rest.ptr, .len = end});
    size_t query = hub_str_find(rest, HUB_STR("?"));
    rest = query != SIZE_MAX ? hub_str_from(rest, query + 1) : HUB_STR_EMPTY;
    while (err == HUB_OK && rest.len > 0) {
        size_t next = hub_str_find(rest, HUB_STR("&"));
        hub_str pair = {.ptr = rest.ptr, .len = next != SIZE_MAX ? next : rest.len};
        size_t equals = hub_str_find(pair, HUB_STR("="));
        if (equals != SIZE_MAX &&
            hub_config_is_telling((hub_str){.ptr = pair.ptr, .len = equals})) {
            err = hub_config_hide(reader, hub_str_from(pair, equals + 1), reader->reterr);
        }
        rest = hub_str_from(rest, next != SIZE_MAX ? next + 1 : rest.len);
    }
    return err;
}
