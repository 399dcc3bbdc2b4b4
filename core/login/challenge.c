/* SPDX-License-Identifier: Apache-2.0 */
#include "login/challenge.h"

typedef struct reader {
    const char *at;
    const char *end;
} reader;

static void skip(reader *in, const char *these)
{
    while (in->at < in->end && *in->at != '\0' && strchr(these, *in->at) != NULL) {
        in->at++;
    }
}

static hub_str take_token(reader *in)
{
    const char *from = in->at;
    while (in->at<in->end && * in->at> 0x20 && *in->at < 0x7f && strchr("\",=;", *in->at) == NULL) {
        in->at++;
    }
    return hub_str_between(from, in->at);
}

/* Whether the value, quoted or not, ends here. */
static bool is_end(char c, bool is_quoted)
{
    return is_quoted ? c == '"' : c == '\0' || strchr(" \t,", c) != NULL;
}

/* A token or a quoted text, into `text` of `size` bytes, which stays empty when it does not fit or has
 * what no value here has. False: malformed. */
static bool take_value(reader *in, char *text, size_t size)
{
    size_t used = 0;
    bool is_quoted = in->at < in->end && *in->at == '"';
    bool fits = true;
    in->at += is_quoted;
    const char *from = in->at;
    for (; in->at < in->end && !is_end(*in->at, is_quoted); in->at++) {
        if (is_quoted && *in->at == '\\' && ++in->at == in->end) {
            return false;
        }
        fits = fits && used + 1 < size && *in->at >= 0x20 && *in->at < 0x7f;
        if (fits) {
            text[used++] = *in->at;
        }
    }
    text[fits ? used : 0] = '\0';
    if (is_quoted && in->at == in->end) {
        return false;
    }
    bool has_bytes = is_quoted || in->at > from;
    in->at += is_quoted;
    return has_bytes;
}

static bool take_parameter(reader *in, hub_str name, bool counts, hub_login_challenge *into)
{
    char ignored[2];
    const struct {
        const char *name;
        char *text;
        size_t size;
    } known[] = {
        {"resource_metadata", into->resource_metadata, sizeof into->resource_metadata},
        {"scope", into->scope, sizeof into->scope},
        {"error", into->error, sizeof into->error},
    };
    skip(in, " \t");
    for (size_t i = 0; counts && i < sizeof known / sizeof known[0]; i++) {
        if (hub_str_eq_nocase(name, hub_str_of(known[i].name)) && known[i].text[0] == '\0') {
            return take_value(in, known[i].text, known[i].size);
        }
    }
    return take_value(in, ignored, sizeof ignored);
}

void hub_login_challenge_read(hub_str value, hub_login_challenge *ret_challenge)
{
    reader in = {.at = value.ptr, .end = value.len > 0 ? value.ptr + value.len : value.ptr};
    bool counts = false;
    *ret_challenge = (hub_login_challenge){.is_bearer = false};
    for (;;) {
        skip(&in, " \t,");
        hub_str word = take_token(&in);
        if (word.len == 0) {
            return;
        }
        skip(&in, " \t");
        if (in.at < in.end && *in.at == '=') {
            in.at++;
            if (!take_parameter(&in, word, counts, ret_challenge)) {
                return;
            }
            continue;
        }
        counts = hub_str_eq_nocase(word, HUB_STR("bearer")) && !ret_challenge->is_bearer;
        ret_challenge->is_bearer |= counts;
    }
}
