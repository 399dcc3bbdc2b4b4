/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the schemas and annotations of the hub's own tools are made of, as texts.
 */
#ifndef HUB_HUB_META_SCHEMAS_H
#define HUB_HUB_META_SCHEMAS_H

#define ANNOTATIONS_READ "{\"readOnlyHint\":true,\"idempotentHint\":true}"
#define ANNOTATIONS_ADD  "{\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":true}"
#define ANNOTATIONS_REMOVE                                                                         \
    "{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":true}"

/* What is shown is flat, and has no keyword that some model API refuses; clients drop tools whose
 * schema their API does not take. What is accepted may be more, and is checked more exactly. */
#define OBJECT "{\"type\":\"object\",\"additionalProperties\":false,"
#define TOOLSETS_WANTED                                                                            \
    OBJECT                                                                                         \
    "\"required\":[\"toolsets\"],\"properties\":{\"toolsets\":{\"type\":\"array\","                \
    "\"items\":{\"type\":\"string\"},\"description\":\"Keys, as list_toolsets shows them\"}}}"
/* One key as a text, and `toolset`, as earlier versions had it, will do, too. */
#define TOOLSETS_ACCEPTED                                                                          \
    OBJECT "\"properties\":{\"toolset\":{\"type\":\"string\"},"                                    \
           "\"toolsets\":{\"type\":[\"array\",\"string\"],\"items\":{\"type\":\"string\"},"        \
           "\"minItems\":1,\"maxItems\":1000}},"                                                   \
           "\"oneOf\":[{\"required\":[\"toolset\"]},{\"required\":[\"toolsets\"]}]}"

/* The arguments of every list. */
#define PAGE_SHOWN                                                                                 \
    "\"query\":{\"type\":\"string\",\"description\":\"Words to look for\"},"                       \
    "\"limit\":{\"type\":\"integer\",\"description\":\"Most entries\"},"                           \
    "\"cursor\":{\"type\":\"string\",\"description\":\"nextCursor of the page before\"}"
#define PAGE_ACCEPTED                                                                              \
    "\"query\":{\"type\":[\"string\",\"null\"]},"                                                  \
    "\"limit\":{\"type\":[\"integer\",\"null\"],\"minimum\":1},"                                   \
    "\"cursor\":{\"type\":[\"string\",\"null\"]}"
#define LIST_WANTED   OBJECT "\"properties\":{" PAGE_SHOWN "}}"
#define LIST_ACCEPTED OBJECT "\"properties\":{" PAGE_ACCEPTED "}}"
#define TOOLSET_WANTED                                                                             \
    OBJECT "\"required\":[\"toolset\"],\"properties\":{\"toolset\":{\"type\":\"string\","          \
           "\"description\":\"Its key\"}," PAGE_SHOWN "}}"
#define TOOLSET_ACCEPTED                                                                           \
    OBJECT "\"required\":[\"toolset\"],\"properties\":{\"toolset\":{\"type\":\"string\"}"          \
           "," PAGE_ACCEPTED "}}"

#endif
