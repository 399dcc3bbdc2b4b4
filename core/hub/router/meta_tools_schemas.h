/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schemas and annotations of the hub's own tools, as texts. Internal to meta_tools.c.
 */
#ifndef HUB_ROUTER_META_TOOLS_SCHEMAS_H
#define HUB_ROUTER_META_TOOLS_SCHEMAS_H

#define ANNOTATIONS_READ "{\"readOnlyHint\":true,\"idempotentHint\":true,\"openWorldHint\":false}"
#define ANNOTATIONS_ADD                                                                            \
    "{\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":true,"                   \
    "\"openWorldHint\":false}"
#define ANNOTATIONS_REMOVE                                                                         \
    "{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":true,"                    \
    "\"openWorldHint\":false}"
#define ANY_OBJECT "{\"type\":\"object\"}"
/* Model APIs want to see properties where there are none. */
#define NO_ARGUMENTS "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}"
/* Nothing is required: a failure is structured, too. */
#define TOOLSETS_BEGIN                                                                             \
    "{\"type\":\"object\",\"properties\":{\"toolsets\":{\"type\":\"array\",\"items\":"
#define TOOLSET_BEGIN                                                                              \
    "{\"type\":\"object\",\"properties\":{\"key\":{\"type\":\"string\"},"                          \
    "\"active\":{\"type\":\"boolean\"},\"toolCount\":{\"type\":\"integer\"},\"status\":"
/* Model APIs refuse a schema with oneOf and the like at its top, and clients drop such a tool. */
#define TOOLSETS_WANTED                                                                            \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"toolsets\"],"             \
    "\"properties\":{\"toolsets\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"            \
    "\"minItems\":1,\"maxItems\":1000,"                                                            \
    "\"description\":\"Keys of the toolsets, as list_toolsets shows them.\"}}}"
/* What is accepted besides: one key as a text, and `toolset`, as earlier versions had it. */
#define TOOLSETS_ACCEPTED                                                                          \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                         \
    "\"toolset\":{\"type\":\"string\"},"                                                           \
    "\"toolsets\":{\"type\":[\"array\",\"string\"],\"items\":{\"type\":\"string\"},"               \
    "\"minItems\":1,\"maxItems\":1000}},"                                                          \
    "\"oneOf\":[{\"required\":[\"toolset\"]},{\"required\":[\"toolsets\"]}]}"

#endif
