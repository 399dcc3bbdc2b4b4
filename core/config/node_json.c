/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as nodes, as editors write it: with comments and trailing commas. Both are overwritten with
 * spaces first, so that every byte stays in its place and line numbers stay right.
 */
#include "config/node.h"

#include "base/limits.h"
#include "wire/json.h"

#include <stdlib.h>

typedef struct json_reader {
    hub_node_builder *builder;
    hub_buf decoded; /* the text or key read last */
    hub_buf key;
    const char *seen; /* lines are counted up to here: values come in the order of the text */
    uint32_t line;
    const char *start; /* of the document */
} json_reader;

static uint32_t line_at(json_reader *reader, const char *at)
{
    for (; reader->seen < at; reader->seen++) {
        reader->line += *reader->seen == '\n' ? 1 : 0;
    }
    return reader->line;
}

static size_t string_end(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++) {
        at += text[at] == '\\' ? 1 : 0;
    }
    return at < len ? at + 1 : len;
}

/* The end of the comment that begins at `at`; `at` itself when there is none, SIZE_MAX when it does
 * not end. */
static size_t comment_end(const char *text, size_t len, size_t at)
{
    if (len - at < 2 || text[at] != '/') {
        return at;
    }
    hub_str rest = hub_str_between(text + at + 2, text + len);
    size_t body;
    if (text[at + 1] == '/') {
        body = hub_str_find(rest, HUB_STR("\n"));
        return body == SIZE_MAX ? len : at + 2 + body;
    }
    if (text[at + 1] == '*') {
        body = hub_str_find(rest, HUB_STR("*/"));
        return body == SIZE_MAX ? SIZE_MAX : at + 2 + body + 2;
    }
    return at;
}

static void blank(char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        text[i] = text[i] == '\n' ? '\n' : ' ';
    }
}

/* Returns where a comment begins that has no end, or SIZE_MAX when all is well. */
static size_t blank_extras(char *text, size_t len)
{
    char previous = '\0'; /* what stood before the last comma */
    char last = '\0';     /* the last byte that is no space */
    size_t last_at = 0;
    size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    blank(text, 0, at);
    while (at < len) {
        size_t end = comment_end(text, len, at);
        if (end == SIZE_MAX) {
            return at;
        }
        if (end > at) {
            blank(text, at, end);
            at = end;
            continue;
        }
        char c = text[at];
        if ((c == '}' || c == ']') && last == ',' && strchr("{[,", previous) == NULL) {
            text[last_at] = ' ';
        }
        if (strchr(" \t\r\n", c) == NULL || c == '\0') {
            previous = last;
            last = c;
            last_at = at;
        }
        at = c == '"' ? string_end(text, len, at) : at + 1;
    }
    return SIZE_MAX;
}

/* hub_json_check says "byte N: why"; people count lines. */
static hub_err report(const hub_node_builder *builder, hub_str text, hub_err code,
                      const hub_error *found)
{
    hub_str why = hub_str_of(found->text);
    size_t offset = 0;
    if (hub_str_starts(why, HUB_STR("byte "))) {
        why = hub_str_from(why, sizeof "byte " - 1);
        for (; why.len > 0 && why.ptr[0] >= '0' && why.ptr[0] <= '9'; why = hub_str_from(why, 1)) {
            offset = offset * 10 + (size_t)(why.ptr[0] - '0');
        }
        why = hub_str_from(why, hub_str_starts(why, HUB_STR(": ")) ? 2 : 0);
    }
    size_t line = 1;
    for (size_t i = 0; i < text.len && i < offset; i++) {
        line += text.ptr[i] == '\n' ? 1 : 0;
    }
    return hub_fail(builder->reterr, code, "%s:%zu: not valid JSON: " HUB_STR_FMT, builder->file,
                    line, HUB_STR_ARG(why));
}

static hub_err decode(const json_reader *reader, hub_str raw, uint32_t line, hub_buf *out)
{
    hub_buf_clear(out);
    hub_err err = hub_json_decode(raw, out);
    if (err == HUB_OK) {
        return HUB_OK;
    }
    return hub_fail(reader->builder->reterr, err, "%s:%u: %s", reader->builder->file, line,
                    hub_err_text(err));
}

static hub_node_kind kind_of(hub_json_type type)
{
    static const hub_node_kind KINDS[] = {
        [HUB_JSON_NONE] = HUB_NODE_NULL,     [HUB_JSON_NULL] = HUB_NODE_NULL,
        [HUB_JSON_TRUE] = HUB_NODE_TRUE,     [HUB_JSON_FALSE] = HUB_NODE_FALSE,
        [HUB_JSON_NUMBER] = HUB_NODE_NUMBER, [HUB_JSON_STRING] = HUB_NODE_TEXT,
        [HUB_JSON_ARRAY] = HUB_NODE_LIST,    [HUB_JSON_OBJECT] = HUB_NODE_MAP,
    };
    return KINDS[type];
}

static hub_node_span span_of(const json_reader *reader, hub_str raw_key, hub_str raw)
{
    uint32_t from = (uint32_t)(raw.ptr - reader->start); /* HUB_LIMIT_CONFIG_BYTES fit */
    uint32_t key = raw_key.len > 0 ? (uint32_t)(raw_key.ptr - reader->start) : from;
    return (hub_node_span){.key_from = key,
                           .key_to = key + (uint32_t)raw_key.len,
                           .from = from,
                           .to = from + (uint32_t)raw.len,
                           .is_flow = true};
}

/* Recursion is bounded: hub_node_add refuses what is nested deeper than HUB_LIMIT_CONFIG_DEPTH. */
static hub_err add_value(json_reader *reader, hub_node *parent, hub_str raw_key, hub_str raw)
{
    hub_node_draft draft = {
        .kind = kind_of(hub_json_type_of(raw)),
        .line = line_at(reader, raw_key.len > 0 ? raw_key.ptr : raw.ptr),
        .text = raw,
        .span = span_of(reader, raw_key, raw),
    };
    if (raw_key.len > 0) {
        hub_err err = decode(reader, raw_key, draft.line, &reader->key);
        if (err != HUB_OK) {
            return err;
        }
        draft.key = hub_buf_str(&reader->key);
    }
    if (draft.kind == HUB_NODE_TEXT) {
        hub_err err = decode(reader, raw, draft.line, &reader->decoded);
        if (err != HUB_OK) {
            return err;
        }
        draft.text = hub_buf_str(&reader->decoded);
    } else if (draft.kind >= HUB_NODE_LIST) {
        draft.text = HUB_STR_EMPTY;
    }
    hub_node *node = NULL;
    hub_err err = hub_node_add(reader->builder, parent, &draft, &node);
    hub_json_iter children = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    while (err == HUB_OK && draft.kind >= HUB_NODE_LIST && hub_json_next(&children, &key, &value)) {
        err = add_value(reader, node, key, value);
    }
    return err;
}

static hub_err read_copy(hub_node_builder *builder, char *copy, size_t len)
{
    hub_str text = {.ptr = copy, .len = len};
    size_t open = blank_extras(copy, len);
    if (open != SIZE_MAX) {
        hub_error found;
        (void)hub_fail(&found, HUB_EPARSE, "byte %zu: a comment has no end", open);
        return report(builder, text, HUB_EPARSE, &found);
    }
    hub_str value;
    hub_error found;
    hub_err err = hub_json_check(text, &value, &found);
    if (err != HUB_OK) {
        return report(builder, text, err, &found);
    }
    json_reader reader = {.builder = builder, .seen = copy, .line = 1, .start = copy};
    hub_buf_init(&reader.decoded, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&reader.key, HUB_LIMIT_CONFIG_BYTES);
    err = add_value(&reader, NULL, HUB_STR_EMPTY, value);
    hub_buf_fini(&reader.decoded);
    hub_buf_fini(&reader.key);
    return err;
}

hub_err hub_node_parse_json(hub_node_builder *builder, hub_str text)
{
    char *copy = hub_str_dup(text);
    if (copy == NULL) {
        return hub_fail(builder->reterr, HUB_ENOMEM, "%s: out of memory", builder->file);
    }
    hub_err err = read_copy(builder, copy, text.len);
    free(copy);
    return err;
}
