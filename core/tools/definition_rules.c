/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_rules.h"

/*
 * The SDKs read lists of every legacy revision by the rules of 2025-11-25 and throw the whole list
 * away when one definition breaks them; that for Python reads `execution` in 2026-07-28, too. So
 * what 2025-11-25 added (title, icons, execution, …) is demanded in the older ones as well,
 * although their schemas leave it open.
 */
#define EVERY  HUB_REVISIONS_EVERY
#define LEGACY HUB_REVISIONS_LEGACY

#define KEY(name) .key = {.ptr = (name), .len = sizeof(name) - 1}

#define STRING         .kind = HUB_DEFINITION_STRING
#define BOOLEAN        .kind = HUB_DEFINITION_BOOLEAN
#define SIZE           .kind = HUB_DEFINITION_SIZE
#define FRACTION       .kind = HUB_DEFINITION_FRACTION
#define TIME           .kind = HUB_DEFINITION_TIME
#define URI            .kind = HUB_DEFINITION_URI
#define OBJECT(of)     .kind = HUB_DEFINITION_OBJECT, .inside = HUB_DEFINITION_##of
#define WORD(of)       .kind = HUB_DEFINITION_WORD, .words = HUB_DEFINITION_##of
#define LIST_OF        .shape = HUB_DEFINITION_LIST,
#define MAP_OF         .shape = HUB_DEFINITION_MAP,
#define IN(mask)       .revisions = (mask)
#define REQUIRED(mask) .revisions = (mask), .required = true

static const hub_definition_rule TOOL[] = {
    {KEY("name"), REQUIRED(EVERY), STRING},
    {KEY("title"), IN(EVERY), STRING},
    {KEY("description"), IN(EVERY), STRING},
    {KEY("inputSchema"), REQUIRED(EVERY), OBJECT(INPUT_SCHEMA)},
    {KEY("outputSchema"), IN(EVERY), OBJECT(OUTPUT_SCHEMA)},
    {KEY("annotations"), IN(EVERY), OBJECT(HINTS)},
    {KEY("icons"), IN(EVERY), LIST_OF OBJECT(ICON)},
    {KEY("execution"), IN(EVERY), OBJECT(EXECUTION)},
    {KEY("_meta"), IN(EVERY), OBJECT(ANY)},
};

/* 2026-07-28 leaves JSON Schema to JSON Schema: there, a property may be `true`. */
static const hub_definition_rule INPUT_SCHEMA[] = {
    {KEY("type"), REQUIRED(EVERY), WORD(IS_OBJECT)},
    {KEY("properties"), IN(LEGACY), MAP_OF OBJECT(ANY)},
    {KEY("required"), IN(LEGACY), LIST_OF STRING},
    {KEY("$schema"), IN(EVERY), STRING},
};

/* In 2026-07-28 results may be of any type. */
static const hub_definition_rule OUTPUT_SCHEMA[] = {
    {KEY("type"), REQUIRED(LEGACY), WORD(IS_OBJECT)},
    {KEY("properties"), IN(LEGACY), MAP_OF OBJECT(ANY)},
    {KEY("required"), IN(LEGACY), LIST_OF STRING},
    {KEY("$schema"), IN(EVERY), STRING},
};

static const hub_definition_rule HINTS[] = {
    {KEY("title"), IN(EVERY), STRING},
    {KEY("readOnlyHint"), IN(EVERY), BOOLEAN},
    {KEY("destructiveHint"), IN(EVERY), BOOLEAN},
    {KEY("idempotentHint"), IN(EVERY), BOOLEAN},
    {KEY("openWorldHint"), IN(EVERY), BOOLEAN},
};

static const hub_definition_rule EXECUTION[] = {
    {KEY("taskSupport"), IN(EVERY), WORD(TASK_SUPPORT)},
};

static const hub_definition_rule ICON[] = {
    {KEY("src"), REQUIRED(EVERY), STRING},
    {KEY("mimeType"), IN(EVERY), STRING},
    {KEY("sizes"), IN(EVERY), LIST_OF STRING},
    {KEY("theme"), IN(EVERY), WORD(THEME)},
};

static const hub_definition_rule RESOURCE[] = {
    {KEY("uri"), REQUIRED(EVERY), URI},
    {KEY("name"), REQUIRED(EVERY), STRING},
    {KEY("title"), IN(EVERY), STRING},
    {KEY("description"), IN(EVERY), STRING},
    {KEY("mimeType"), IN(EVERY), STRING},
    {KEY("size"), IN(EVERY), SIZE},
    {KEY("annotations"), IN(EVERY), OBJECT(ANNOTATIONS)},
    {KEY("icons"), IN(EVERY), LIST_OF OBJECT(ICON)},
    {KEY("_meta"), IN(EVERY), OBJECT(ANY)},
};

static const hub_definition_rule TEMPLATE[] = {
    {KEY("uriTemplate"), REQUIRED(EVERY), STRING},
    {KEY("name"), REQUIRED(EVERY), STRING},
    {KEY("title"), IN(EVERY), STRING},
    {KEY("description"), IN(EVERY), STRING},
    {KEY("mimeType"), IN(EVERY), STRING},
    {KEY("annotations"), IN(EVERY), OBJECT(ANNOTATIONS)},
    {KEY("icons"), IN(EVERY), LIST_OF OBJECT(ICON)},
    {KEY("_meta"), IN(EVERY), OBJECT(ANY)},
};

/* The schemas allow any text as lastModified; both SDKs for Node demand a date and time. */
static const hub_definition_rule ANNOTATIONS[] = {
    {KEY("audience"), IN(EVERY), LIST_OF WORD(ROLE)},
    {KEY("priority"), IN(EVERY), FRACTION},
    {KEY("lastModified"), IN(EVERY), TIME},
};

static const hub_definition_rule PROMPT[] = {
    {KEY("name"), REQUIRED(EVERY), STRING},
    {KEY("title"), IN(EVERY), STRING},
    {KEY("description"), IN(EVERY), STRING},
    {KEY("arguments"), IN(EVERY), LIST_OF OBJECT(ARGUMENT)},
    {KEY("icons"), IN(EVERY), LIST_OF OBJECT(ICON)},
    {KEY("_meta"), IN(EVERY), OBJECT(ANY)},
};

static const hub_definition_rule ARGUMENT[] = {
    {KEY("name"), REQUIRED(EVERY), STRING},
    {KEY("title"), IN(EVERY), STRING},
    {KEY("description"), IN(EVERY), STRING},
    {KEY("required"), IN(EVERY), BOOLEAN},
};

#define RULES(table) [HUB_DEFINITION_##table] = {table, sizeof(table) / sizeof(table)[0]}

const hub_definition_rules HUB_DEFINITION_RULES[HUB_DEFINITION_OBJECTS] = {
    RULES(TOOL),     RULES(INPUT_SCHEMA), RULES(OUTPUT_SCHEMA), RULES(HINTS),
    RULES(RESOURCE), RULES(TEMPLATE),     RULES(ANNOTATIONS),   RULES(ICON),
    RULES(PROMPT),   RULES(ARGUMENT),     RULES(EXECUTION),
};

const char *const HUB_DEFINITION_WORDS[HUB_DEFINITION_WORD_SETS][HUB_DEFINITION_MAX_WORDS + 1] = {
    [HUB_DEFINITION_IS_OBJECT] = {"object"},
    [HUB_DEFINITION_ROLE] = {"user", "assistant"},
    [HUB_DEFINITION_THEME] = {"light", "dark"},
    [HUB_DEFINITION_TASK_SUPPORT] = {"forbidden", "optional", "required"},
};

const char *const HUB_DEFINITION_WANTED[HUB_DEFINITION_KINDS] = {
    [HUB_DEFINITION_STRING] = "a string",
    [HUB_DEFINITION_BOOLEAN] = "true or false",
    [HUB_DEFINITION_SIZE] = "a number of bytes in digits",
    [HUB_DEFINITION_FRACTION] = "a number from 0 to 1",
    [HUB_DEFINITION_TIME] = "a date and time such as \"2026-07-28T12:00:00Z\"",
    [HUB_DEFINITION_URI] = "a URI such as \"file:///notes.md\"",
    [HUB_DEFINITION_WORD] = "one of the words",
    [HUB_DEFINITION_OBJECT] = "an object",
};

const char *const HUB_DEFINITION_WANTED_WORDS[HUB_DEFINITION_WORD_SETS] = {
    [HUB_DEFINITION_IS_OBJECT] = "\"object\"",
    [HUB_DEFINITION_ROLE] = "\"user\" or \"assistant\"",
    [HUB_DEFINITION_THEME] = "\"light\" or \"dark\"",
    [HUB_DEFINITION_TASK_SUPPORT] = "\"forbidden\", \"optional\" or \"required\"",
};
