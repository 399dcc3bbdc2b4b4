/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a configuration is a secret: the values of variables and files in what a module is told,
 * and what stands in the manifest under a name that says so. All of it is masked in whatever the
 * hub writes for people (base/redact.h), from the moment that it was read.
 */
#include "config/reader.h"

#include "base/limits.h"
#include "base/redact.h"

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

static hub_err add(hub_config_reader *reader, hub_str secret, hub_error *reterr)
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
    return reader->is_confidential && !is_public(name) ? add(reader, value, reterr) : HUB_OK;
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

/* Whether a name says that its value is a secret. */
static bool is_telling(hub_str name)
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

/* Of a text with variables only these are secret: the rest is in the manifest for all to see. */
static bool is_literal(hub_str text)
{
    return hub_str_find(text, HUB_STR("$")) == SIZE_MAX;
}

hub_err hub_config_hide_named(hub_config_reader *reader, hub_str name, hub_str text)
{
    if (reader->is_switched_off || !is_telling(name) || !is_literal(text)) {
        return HUB_OK;
    }
    size_t space = hub_str_find(text, HUB_STR(" "));
    bool has_scheme = space != SIZE_MAX && space < 16; /* "Bearer …", "Basic …" */
    return add(reader, has_scheme ? hub_str_from(text, space + 1) : text, reader->reterr);
}

/* user:password@host: the password, and what a name in the query says to be one. */
hub_err hub_config_hide_url(hub_config_reader *reader, hub_str url)
{
    size_t scheme = hub_str_find(url, HUB_STR("://"));
    hub_str rest = scheme != SIZE_MAX ? hub_str_from(url, scheme + 3) : HUB_STR_EMPTY;
    size_t end = 0;
    while (end < rest.len && strchr("/?#", rest.ptr[end]) == NULL) {
        end++;
    }
    hub_str host = {.ptr = rest.ptr, .len = end};
    size_t at = hub_str_find(host, HUB_STR("@"));
    size_t colon = hub_str_find(host, HUB_STR(":"));
    hub_err err = HUB_OK;
    if (at != SIZE_MAX && colon < at) {
        err = add(reader, (hub_str){.ptr = host.ptr + colon + 1, .len = at - colon - 1},
                  reader->reterr);
    }
    size_t query = hub_str_find(rest, HUB_STR("?"));
    rest = query != SIZE_MAX ? hub_str_from(rest, query + 1) : HUB_STR_EMPTY;
    while (err == HUB_OK && rest.len > 0) {
        size_t next = hub_str_find(rest, HUB_STR("&"));
        hub_str pair = {.ptr = rest.ptr, .len = next != SIZE_MAX ? next : rest.len};
        size_t equals = hub_str_find(pair, HUB_STR("="));
        if (equals != SIZE_MAX && is_telling((hub_str){.ptr = pair.ptr, .len = equals})) {
            err = add(reader, hub_str_from(pair, equals + 1), reader->reterr);
        }
        rest = hub_str_from(rest, next != SIZE_MAX ? next + 1 : rest.len);
    }
    return err;
}
