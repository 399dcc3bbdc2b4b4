/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

/* ---- parsing --------------------------------------------------------------------------------- */

static int is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* What a placeholder's name ends in. */
static const struct {
    const char *end;
    command_piece_kind kind;
} placeholder_ends[] = {
    {"}", COMMAND_VALUE},
    {"?}", COMMAND_OPTIONAL},
    {"...}", COMMAND_SPREAD},
};

/* Read the placeholder at `at`; returns its length, or 0 when it is none. */
static size_t read_placeholder(command_set *set, const char *at, const char *end,
                               command_piece *ret)
{
    const char *name = at + 1;
    const char *behind = name;
    while (behind < end && is_name_char(*behind)) {
        behind++;
    }
    for (size_t i = 0; behind > name && i < sizeof placeholder_ends / sizeof *placeholder_ends;
         i++) {
        size_t len = strlen(placeholder_ends[i].end);
        if ((size_t)(end - behind) >= len && memcmp(behind, placeholder_ends[i].end, len) == 0) {
            ret->kind = placeholder_ends[i].kind;
            ret->text = command_keep_text(set, patchbay_str_make(name, (size_t)(behind - name)));
            return ret->text != NULL ? (size_t)(behind - at) + len : 0;
        }
    }
    return 0;
}

/* Append the plain text up to the next placeholder; "{{" stands for one brace. */
static const char *read_text(const char *at, const char *end, patchbay_out *text)
{
    while (at < end && (*at != '{' || (end - at > 1 && at[1] == '{'))) {
        patchbay_out_raw(text, patchbay_str_make(at, 1));
        at += *at == '{' ? 2 : 1;
    }
    return at;
}

static int32_t parse_pieces(command_set *set, patchbay_str text, const char *where,
                            command_template *ret, const command_fault *fault)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    size_t spreads = 0;
    while (at < end) {
        command_piece *piece = &ret->pieces[ret->count];
        patchbay_out plain;
        memset(&plain, 0, sizeof plain);
        const char *next = read_text(at, end, &plain);
        if (next > at) {
            piece->text = command_keep_text(set, patchbay_str_make(plain.ptr, plain.len));
        } else {
            next = at + read_placeholder(set, at, end, piece);
        }
        patchbay_out_free(&plain);
        if (next == at) {
            return command_fail(fault, PATCHBAY_EINVAL,
                                "%s: '%.40s' is not a placeholder ({name}, {name?} or {name...}); "
                                "write {{ for a brace",
                                where, at);
        }
        if (piece->text == NULL) {
            return command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
        }
        spreads += piece->kind == COMMAND_SPREAD;
        ret->count++;
        at = next;
    }
    if (spreads > 1) {
        return command_fail(fault, PATCHBAY_EINVAL, "%s: a word has at most one {name...}", where);
    }
    return PATCHBAY_OK;
}

int32_t command_template_parse(command_set *set, patchbay_str text, const char *where,
                               command_template *ret, const command_fault *fault)
{
    /* Each piece takes at least one character. */
    ret->pieces = (command_piece *)command_keep(set, (text.len + 1) * sizeof *ret->pieces);
    ret->count = 0;
    if (ret->pieces == NULL) {
        return command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
    }
    return parse_pieces(set, text, where, ret, fault);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The raw value behind a placeholder; empty when there is none. */
static patchbay_str find_value(const patchbay_tool_call *call, const command_piece *piece)
{
    patchbay_str raw = patchbay_arg(call, piece->text);
    if (raw.len == 0 || patchbay_str_eq(raw, patchbay_str_of("null"))) {
        raw = piece->fallback;
    }
    return raw;
}

/* A string's text; anything else as it is in JSON. */
static void out_value(patchbay_out *out, patchbay_str raw)
{
    if (!patchbay_json_decode(raw, out)) {
        patchbay_out_raw(out, raw);
    }
}

typedef struct filling {
    patchbay_tool_call *call;
    const command_tool *tool;
    command_words *words;
    char *why;
} filling;

#define WHY_BYTES 256

/* ---- words ----------------------------------------------------------------------------------- */

/* Whether the word's first character comes from a value, and would make it an option. */
static int injects_option(const filling *fill, size_t index, const patchbay_out *word)
{
    const command_template *template = &fill->tool->words[index];
    int fixed = template->count == 0 || template->pieces[0].kind == COMMAND_TEXT;
    return !fill->tool->allow_dash && !fixed && index < fill->tool->dashes_at && word->len > 0 &&
           word->ptr[0] == '-';
}

/* Put a finished word into the list. */
static int add_word(const filling *fill, size_t index, const patchbay_out *word)
{
    const command_template *template = &fill->tool->words[index];
    command_words *words = fill->words;
    if (word->len > 0 && memchr(word->ptr, '\0', word->len) != NULL) {
        (void)snprintf(fill->why, WHY_BYTES, "a command line cannot hold a NUL character");
        return -1;
    }
    if (injects_option(fill, index, word)) {
        (void)snprintf(fill->why, WHY_BYTES,
                       "'%.64s' begins with '-': the command would take it for an option",
                       template->pieces[0].text);
        return -1;
    }
    if (words->count == COMMAND_WORDS_MAX) {
        (void)snprintf(fill->why, WHY_BYTES, "the command line would have more than %d words",
                       COMMAND_WORDS_MAX);
        return -1;
    }
    char *copy = (char *)patchbay_call_alloc(fill->call, word->len + 1);
    if (copy == NULL || word->failed) {
        (void)snprintf(fill->why, WHY_BYTES, "out of memory");
        return -1;
    }
    memcpy(copy, word->len > 0 ? word->ptr : "", word->len);
    copy[word->len] = '\0';
    words->words[words->count++] = copy;
    words->words[words->count] = NULL;
    return 0;
}

/* Write a template's text, with `element` for its spread. returns: 1; 0 when it is dropped */
static int out_template(const patchbay_tool_call *call, const command_template *template,
                        patchbay_str element, patchbay_out *out)
{
    for (size_t i = 0; i < template->count; i++) {
        const command_piece *piece = &template->pieces[i];
        if (piece->kind == COMMAND_TEXT) {
            patchbay_out_text(out, piece->text);
            continue;
        }
        patchbay_str raw = piece->kind == COMMAND_SPREAD ? element : find_value(call, piece);
        if (raw.len == 0 && piece->kind == COMMAND_OPTIONAL) {
            return 0;
        }
        out_value(out, raw);
    }
    return 1;
}

static int add_from(const filling *fill, size_t index, patchbay_str element)
{
    patchbay_out word;
    memset(&word, 0, sizeof word);
    int result = 0;
    if (out_template(fill->call, &fill->tool->words[index], element, &word)) {
        result = add_word(fill, index, &word);
    }
    patchbay_out_free(&word);
    return result;
}

static int fill_word(const filling *fill, size_t index)
{
    const command_template *template = &fill->tool->words[index];
    const command_piece *spread = NULL;
    for (size_t i = 0; i < template->count; i++) {
        if (template->pieces[i].kind == COMMAND_SPREAD) {
            spread = &template->pieces[i];
        }
    }
    if (spread == NULL) {
        return add_from(fill, index, patchbay_str_make(NULL, 0));
    }
    patchbay_str raw = find_value(fill->call, spread);
    if (raw.len > 0 && raw.ptr[0] != '[') {
        (void)snprintf(fill->why, WHY_BYTES, "'%.64s' must be an array", spread->text);
        return -1;
    }
    patchbay_json_iter it = patchbay_json_iterate(raw);
    patchbay_str unused;
    patchbay_str element;
    int result = 0;
    while (result == 0 && patchbay_json_next(&it, &unused, &element)) {
        result = add_from(fill, index, element);
    }
    return result;
}

/* A {name} that has no value: the schema lets it out where no setup check could tell. */
static int check_values(const patchbay_tool_call *call, const command_template *template, char *why)
{
    for (size_t i = 0; i < template->count; i++) {
        const command_piece *piece = &template->pieces[i];
        if (piece->kind == COMMAND_VALUE && find_value(call, piece).len == 0) {
            (void)snprintf(why, WHY_BYTES, "'%.64s' is missing", piece->text);
            return -1;
        }
    }
    return 0;
}

int command_fill_words(patchbay_tool_call *call, const command_tool *tool, command_words *ret,
                       char why[256])
{
    filling fill = {.call = call, .tool = tool, .words = ret, .why = why};
    ret->count = 0;
    ret->words = (char **)patchbay_call_alloc(call, (COMMAND_WORDS_MAX + 1) * sizeof *ret->words);
    if (ret->words == NULL) {
        (void)snprintf(why, WHY_BYTES, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < tool->word_count; i++) {
        if (check_values(call, &tool->words[i], why) != 0 || fill_word(&fill, i) != 0) {
            return -1;
        }
    }
    return 0;
}

int command_fill_input(patchbay_tool_call *call, const command_tool *tool, patchbay_out *ret,
                       char why[256])
{
    if (check_values(call, &tool->input, why) != 0) {
        return -1;
    }
    if (!out_template(call, &tool->input, patchbay_str_make(NULL, 0), ret)) {
        ret->len = 0; /* {name?} without a value: no input */
    }
    if (ret->failed) {
        (void)snprintf(why, WHY_BYTES, "out of memory");
        return -1;
    }
    return 0;
}
