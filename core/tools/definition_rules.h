/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the revisions of the protocol demand of the members of a definition, as tables. They are
 * read off the official JSON schemas, with what the official SDKs demand beyond them; a test holds
 * them against the schemas. Internal to definition.c.
 */
#ifndef HUB_TOOLS_DEFINITION_RULES_H
#define HUB_TOOLS_DEFINITION_RULES_H

#include "tools/definition.h"

/* What a value has to be. */
typedef enum hub_definition_kind {
    HUB_DEFINITION_STRING,
    HUB_DEFINITION_BOOLEAN,
    HUB_DEFINITION_SIZE,     /* below 2^63, in digits alone: SDKs refuse 1.0 (Go) and -1 (Rust) */
    HUB_DEFINITION_FRACTION, /* a number from 0 to 1 */
    HUB_DEFINITION_TIME,     /* a date with a time and a zone (RFC 3339) */
    HUB_DEFINITION_URI,      /* one with a scheme; see definition_uri.h */
    HUB_DEFINITION_WORD,     /* a string of a few; see words */
    HUB_DEFINITION_OBJECT,   /* see inside */
    HUB_DEFINITION_KINDS
} hub_definition_kind;

/* What is of that kind: the value itself, each element of an array, or each member of an object. */
typedef enum hub_definition_shape {
    HUB_DEFINITION_ONE,
    HUB_DEFINITION_LIST,
    HUB_DEFINITION_MAP,
} hub_definition_shape;

/* Objects with members that are constrained. */
typedef enum hub_definition_object {
    HUB_DEFINITION_ANY, /* any members; of a list or a map: any object */
    HUB_DEFINITION_TOOL,
    HUB_DEFINITION_RESOURCE,
    HUB_DEFINITION_TEMPLATE,
    HUB_DEFINITION_PROMPT,
    HUB_DEFINITION_INPUT_SCHEMA,
    HUB_DEFINITION_OUTPUT_SCHEMA,
    HUB_DEFINITION_HINTS, /* annotations of tools */
    HUB_DEFINITION_EXECUTION,
    HUB_DEFINITION_ICON,
    HUB_DEFINITION_ANNOTATIONS, /* of resources */
    HUB_DEFINITION_ARGUMENT,    /* of prompts */
    HUB_DEFINITION_OBJECTS
} hub_definition_object;

/* The words that a member may have, at most three. */
typedef enum hub_definition_words {
    HUB_DEFINITION_NO_WORDS,
    HUB_DEFINITION_IS_OBJECT,
    HUB_DEFINITION_ROLE,
    HUB_DEFINITION_THEME,
    HUB_DEFINITION_TASK_SUPPORT,
    HUB_DEFINITION_WORD_SETS
} hub_definition_words;

enum { HUB_DEFINITION_MAX_WORDS = 3 };

typedef struct hub_definition_rule {
    hub_str key;
    uint8_t revisions; /* in which it is constrained */
    bool required;
    hub_definition_shape shape;
    hub_definition_kind kind;
    hub_definition_object inside;
    hub_definition_words words;
} hub_definition_rule;

/* The rules for the members of one object; those without a rule may be anything. */
typedef struct hub_definition_rules {
    const hub_definition_rule *items;
    size_t count;
} hub_definition_rules;

extern const hub_definition_rules HUB_DEFINITION_RULES[HUB_DEFINITION_OBJECTS];

/* The words as they may be spelled; NULL behind the last. */
extern const char
    *const HUB_DEFINITION_WORDS[HUB_DEFINITION_WORD_SETS][HUB_DEFINITION_MAX_WORDS + 1];

/* What is wanted, for people. */
extern const char *const HUB_DEFINITION_WANTED[HUB_DEFINITION_KINDS];
extern const char *const HUB_DEFINITION_WANTED_WORDS[HUB_DEFINITION_WORD_SETS];

#endif
