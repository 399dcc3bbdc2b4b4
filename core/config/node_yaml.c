/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as nodes. Aliases are refused: they make documents whose meaning is exponentially larger
 * than their text, and no manifest needs them. So are tags, but the one that says "this is text".
 */
#include "config/node.h"

#include <string.h>
#include <yaml.h>

typedef struct yaml_reader {
    yaml_parser_t parser;
    hub_node_builder *builder;
    hub_node *inner; /* the list or map being filled; NULL at the top */
    bool has_key;    /* in a map: `key` was read, its value comes next */
    char *key;       /* in the arena */
    uint32_t key_line;
    uint32_t key_from;
    uint32_t key_to;
    hub_str text;      /* the document, without a byte order mark … */
    size_t skipped;    /* … which has so many bytes */
    size_t seen_chars; /* libyaml counts characters: so many are before the byte `seen_bytes` */
    size_t seen_bytes;
} yaml_reader;

static uint32_t line_of(const yaml_event_t *event)
{
    return (uint32_t)event->start_mark.line + 1;
}

/* Where the mark's character begins in the document. Marks come in the order of the text but for
 * those of a key, which comes back by some characters. */
static uint32_t offset_of(yaml_reader *reader, const yaml_mark_t *mark)
{
    const unsigned char *text = (const unsigned char *)reader->text.ptr;
    while (reader->seen_chars > mark->index) {
        do {
            reader->seen_bytes--;
        } while ((text[reader->seen_bytes] & 0xc0) == 0x80);
        reader->seen_chars--;
    }
    while (reader->seen_chars < mark->index && reader->seen_bytes < reader->text.len) {
        do {
            reader->seen_bytes++;
        } while (reader->seen_bytes < reader->text.len &&
                 (text[reader->seen_bytes] & 0xc0) == 0x80);
        reader->seen_chars++;
    }
    return (uint32_t)(reader->seen_bytes + reader->skipped);
}

static hub_str span_of(const yaml_char_t *text, size_t len)
{
    return (hub_str){.ptr = (const char *)text, .len = len};
}

static hub_err refuse(const yaml_reader *reader, const yaml_event_t *event, const char *why)
{
    return hub_fail(reader->builder->reterr, HUB_EINVAL, "%s:%u: %s", reader->builder->file,
                    line_of(event), why);
}

static hub_node_kind kind_of_word(hub_str word)
{
    static const struct {
        const char *word;
        hub_node_kind kind;
    } WORDS[] = {
        {"", HUB_NODE_NULL},       {"~", HUB_NODE_NULL},      {"null", HUB_NODE_NULL},
        {"Null", HUB_NODE_NULL},   {"NULL", HUB_NODE_NULL},   {"true", HUB_NODE_TRUE},
        {"True", HUB_NODE_TRUE},   {"TRUE", HUB_NODE_TRUE},   {"false", HUB_NODE_FALSE},
        {"False", HUB_NODE_FALSE}, {"FALSE", HUB_NODE_FALSE},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (hub_str_is(word, WORDS[i].word)) {
            return WORDS[i].kind;
        }
    }
    return hub_node_is_number(word) ? HUB_NODE_NUMBER : HUB_NODE_TEXT;
}

static bool is_text_tag(const yaml_char_t *tag)
{
    hub_str name = hub_str_of((const char *)tag);
    return hub_str_is(name, "!") || hub_str_is(name, YAML_STR_TAG);
}

/* The value of the key that was read before, or the next element of a list, or the root. */
static hub_err add_value(yaml_reader *reader, const yaml_event_t *event, hub_node_draft *draft,
                         hub_node **ret_node)
{
    draft->span.from = offset_of(reader, &event->start_mark);
    draft->span.to = offset_of(reader, &event->end_mark);
    draft->span.key_from = reader->has_key ? reader->key_from : draft->span.from;
    draft->span.key_to = reader->has_key ? reader->key_to : draft->span.from;
    if (reader->has_key) {
        draft->key = hub_str_of(reader->key);
        draft->line = reader->key_line;
        reader->has_key = false;
    }
    return hub_node_add(reader->builder, reader->inner, draft, ret_node);
}

static bool wants_key(const yaml_reader *reader)
{
    return reader->inner != NULL && reader->inner->kind == HUB_NODE_MAP && !reader->has_key;
}

static hub_err on_key(yaml_reader *reader, const yaml_event_t *event)
{
    hub_str text = span_of(event->data.scalar.value, event->data.scalar.length);
    if (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL) {
        return refuse(reader, event, "a key holds a NUL character");
    }
    reader->key = hub_arena_strdup(reader->builder->arena, text);
    if (reader->key == NULL) {
        return hub_fail(reader->builder->reterr, hub_arena_failed(reader->builder->arena),
                        "%s:%u: %s", reader->builder->file, line_of(event),
                        hub_err_text(hub_arena_failed(reader->builder->arena)));
    }
    reader->key_line = line_of(event);
    reader->key_from = offset_of(reader, &event->start_mark);
    reader->key_to = offset_of(reader, &event->end_mark);
    reader->has_key = true;
    return HUB_OK;
}

static hub_err on_scalar(yaml_reader *reader, const yaml_event_t *event)
{
    const yaml_char_t *tag = event->data.scalar.tag;
    if (tag != NULL && !is_text_tag(tag)) {
        return refuse(reader, event, "tags are not supported (but !!str)");
    }
    if (wants_key(reader)) {
        return on_key(reader, event);
    }
    hub_node_draft draft = {
        .line = line_of(event),
        .kind = HUB_NODE_TEXT,
        .text = span_of(event->data.scalar.value, event->data.scalar.length),
    };
    if (tag == NULL && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        draft.kind = kind_of_word(draft.text);
    }
    return add_value(reader, event, &draft, NULL);
}

static hub_err on_start(yaml_reader *reader, const yaml_event_t *event, hub_node_kind kind)
{
    const yaml_char_t *tag =
        kind == HUB_NODE_MAP ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (tag != NULL) {
        return refuse(reader, event, "tags are not supported (but !!str)");
    }
    if (wants_key(reader)) {
        return refuse(reader, event, "a key must be a plain word or text");
    }
    hub_node_draft draft = {.line = line_of(event), .kind = kind};
    draft.span.is_flow = kind == HUB_NODE_MAP
                             ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                             : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    return add_value(reader, event, &draft, &reader->inner);
}

/* The mark of a block's end is where the next token begins. */
static void end_inner(yaml_reader *reader, const yaml_event_t *event)
{
    hub_node *inner = reader->inner;
    inner->span.to = inner->span.is_flow   ? offset_of(reader, &event->end_mark)
                     : inner->last != NULL ? inner->last->span.to
                                           : inner->span.from;
    reader->inner = inner->parent;
}

static hub_err on_event(yaml_reader *reader, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return reader->builder->root == NULL
                   ? HUB_OK
                   : refuse(reader, event, "a second document begins; only one is allowed");
    case YAML_ALIAS_EVENT:
        return refuse(reader, event, "aliases are not supported: write the value out");
    case YAML_SCALAR_EVENT:
        return on_scalar(reader, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(reader, event, HUB_NODE_LIST);
    case YAML_MAPPING_START_EVENT:
        return on_start(reader, event, HUB_NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        end_inner(reader, event);
        return HUB_OK;
    default:
        return HUB_OK;
    }
}

static const char INDENT[] = ": indent the line like its neighbours";

/* What libyaml finds when a line is indented wrongly, or a text wants quotes, and what to do. */
static const struct {
    const char *problem;
    const char *advice;
} ADVICE[] = {
    {"did not find expected key", INDENT},
    {"did not find expected '-' indicator", INDENT},
    {"mapping values are not allowed in this context",
     ": indent the line like its neighbours, and quote a text with \": \" in it"},
    {"could not find expected ':'", ": wanted KEY: VALUE"},
};

static bool begins_line(hub_str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] == ' ') {
        at--;
    }
    return at == 0 || text.ptr[at - 1] == '\n';
}

static const char *advice_for(yaml_reader *reader, const char *problem)
{
    size_t at = offset_of(reader, &reader->parser.problem_mark) - reader->skipped;
    if (strcmp(problem, "found character that cannot start any token") == 0) {
        return hub_str_starts(hub_str_from(reader->text, at), HUB_STR("\t"))
                   ? ": it is a tab: indent with spaces"
                   : ": put the value in quotes";
    }
    for (size_t i = 0; i < sizeof ADVICE / sizeof ADVICE[0]; i++) {
        if (strcmp(problem, ADVICE[i].problem) == 0) {
            return ADVICE[i].advice == INDENT && !begins_line(reader->text, at)
                       ? ": put all of the value in quotes"
                       : ADVICE[i].advice;
        }
    }
    return "";
}

/* libyaml knows the line, or (where bytes are no text at all) only how far it got. */
static hub_err report(yaml_reader *reader, hub_str text)
{
    const yaml_parser_t *parser = &reader->parser;
    hub_error *reterr = reader->builder->reterr;
    if (parser->error == YAML_MEMORY_ERROR) {
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", reader->builder->file);
    }
    size_t line = parser->problem_mark.line + 1;
    if (parser->error == YAML_READER_ERROR) {
        line = 1;
        for (size_t i = 0; i < text.len && i < parser->problem_offset; i++) {
            line += text.ptr[i] == '\n' ? 1 : 0;
        }
    }
    const char *problem = parser->problem != NULL ? parser->problem : "unknown reason";
    return hub_fail(reterr, HUB_EPARSE, "%s:%zu: not valid YAML: %s%s", reader->builder->file, line,
                    problem, advice_for(reader, problem));
}

hub_err hub_node_parse_yaml(hub_node_builder *builder, hub_str text)
{
    yaml_reader reader = {.builder = builder};
    if (yaml_parser_initialize(&reader.parser) == 0) {
        return hub_fail(builder->reterr, HUB_ENOMEM, "%s: out of memory", builder->file);
    }
    /* With the encoding fixed libyaml takes a byte order mark for text. */
    if (hub_str_starts(text, HUB_STR("\xef\xbb\xbf"))) {
        text = hub_str_from(text, 3);
        reader.skipped = 3;
    }
    reader.text = text;
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text.ptr, text.len);
    hub_err err = HUB_OK;
    for (bool ended = false; err == HUB_OK && !ended;) {
        yaml_event_t event;
        if (yaml_parser_parse(&reader.parser, &event) == 0) {
            err = report(&reader, text);
            break;
        }
        ended = event.type == YAML_STREAM_END_EVENT;
        err = on_event(&reader, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&reader.parser);
    return err;
}
