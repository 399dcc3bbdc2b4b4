/* SPDX-License-Identifier: Apache-2.0 */
#include "challenge.h"

#include <strings.h>

typedef struct reader {
    const char *at;
    const char *end;
} reader;

/* Whether what is read belongs to the challenge that counts. */
typedef enum section {
    SECTION_OTHER,
    SECTION_BEARER,
} section;

static void skip(reader *in, const char *these)
{
    while (in->at < in->end && *in->at != '\0' && strchr(these, *in->at) != NULL) {
        in->at++;
    }
}

static int is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static patchbay_str take_token(reader *in)
{
    const char *from = in->at;
    while (in->at < in->end && is_token_char(*in->at)) {
        in->at++;
    }
    return patchbay_str_make(from, (size_t)(in->at - from));
}

/* Append to a text of `size` bytes what fits; a byte that is not printable ASCII is a space. */
static void add(char *text, size_t size, size_t *used, char c)
{
    if (*used + 1 < size) {
        text[(*used)++] = c >= 0x20 && c < 0x7f ? c : ' ';
        text[*used] = '\0';
    }
}

/* A quoted string or a token, into `text`. 0 when it is neither. *ret_len: of all of it. */
static int take_value(reader *in, char *text, size_t size, size_t *ret_len)
{
    size_t used = 0;
    *ret_len = 0;
    text[0] = '\0';
    if (in->at == in->end || *in->at != '"') {
        patchbay_str token = take_token(in);
        for (size_t i = 0; i < token.len; i++) {
            add(text, size, &used, token.ptr[i]);
        }
        *ret_len = token.len;
        return token.len > 0;
    }
    for (in->at++; in->at < in->end && *in->at != '"'; in->at++) {
        if (*in->at == '\\' && ++in->at == in->end) {
            return 0;
        }
        add(text, size, &used, *in->at);
        (*ret_len)++;
    }
    if (in->at == in->end) {
        return 0;
    }
    in->at++;
    return 1;
}

static int is_word(patchbay_str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* A parameter, from behind its "=". 0 when it is malformed. */
static int take_parameter(reader *in, patchbay_str name, section where, challenge *c)
{
    char text[CHALLENGE_SCOPE_BYTES];
    size_t len = 0;
    skip(in, " \t");
    if (!take_value(in, text, sizeof text, &len)) {
        return 0;
    }
    if (where != SECTION_BEARER) {
        return 1;
    }
    if (is_word(name, "error") && c->error[0] == '\0' && len < sizeof c->error) {
        memcpy(c->error, text, len + 1);
    } else if (is_word(name, "scope") && c->scope[0] == '\0') {
        memcpy(c->scope, text, sizeof c->scope);
    } else if (is_word(name, "resource_metadata") && len > 0) {
        c->is_oauth = 1;
    }
    return 1;
}

void challenge_read(patchbay_str value, challenge *c)
{
    reader in = {.at = value.ptr, .end = value.len > 0 ? value.ptr + value.len : value.ptr};
    section where = SECTION_OTHER;
    for (;;) {
        skip(&in, " \t,");
        patchbay_str word = take_token(&in);
        if (word.len == 0) {
            return;
        }
        const char *behind = in.at;
        skip(&in, " \t");
        if (in.at < in.end && *in.at == '=') {
            in.at++;
            if (!take_parameter(&in, word, where, c)) {
                return;
            }
            continue;
        }
        int begins = behind == in.end || *behind == ' ' || *behind == '\t' || *behind == ',';
        if (!begins) {
            return; /* no challenge, and no parameter: other bytes, as of a token68 */
        }
        where = is_word(word, "bearer") && !c->is_bearer ? SECTION_BEARER : SECTION_OTHER;
        c->is_bearer |= where == SECTION_BEARER;
    }
}
