/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes, forms and schemas of conformance_plugin.c. */
#ifndef CONFORMANCE_DATA_H
#define CONFORMANCE_DATA_H

/* One red pixel. */
static const unsigned char png[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
    0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92,
    0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

/* Ten samples of silence. */
static const unsigned char wav[] = {
    0x52, 0x49, 0x46, 0x46, 0x2e, 0x00, 0x00, 0x00, 0x57, 0x41, 0x56, 0x45, 0x66, 0x6d,
    0x74, 0x20, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x40, 0x1f, 0x00, 0x00,
    0x40, 0x1f, 0x00, 0x00, 0x01, 0x00, 0x08, 0x00, 0x64, 0x61, 0x74, 0x61, 0x0a, 0x00,
    0x00, 0x00, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
};

#define OBJECT(properties, required)                                                               \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define NAME_FORM  OBJECT("\"name\":{\"type\":\"string\"}", "\"name\"")
#define COLOR_FORM OBJECT("\"color\":{\"type\":\"string\"}", "\"color\"")
#define OK_FORM    OBJECT("\"ok\":{\"type\":\"boolean\"}", "\"ok\"")
#define USER_FORM                                                                                  \
    OBJECT("\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"               \
           "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}",             \
           "\"username\",\"email\"")
#define DEFAULTS_FORM                                                                              \
    OBJECT("\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"                              \
           "\"age\":{\"type\":\"integer\",\"default\":30},"                                        \
           "\"score\":{\"type\":\"number\",\"default\":95.5},"                                     \
           "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"       \
           "\"default\":\"active\"},\"verified\":{\"type\":\"boolean\",\"default\":true}",         \
           "")
#define TITLED(first, second)                                                                      \
    "[{\"const\":\"value1\",\"title\":\"" first "\"},{\"const\":\"value2\",\"title\":\"" second    \
    "\"}]"
#define THREE "\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]"
#define LEGACY                                                                                     \
    "\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"                                   \
    "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]"
#define OPTIONS TITLED("First Option", "Second Option")
#define CHOICES TITLED("First Choice", "Second Choice")
#define ENUMS_FORM                                                                                 \
    OBJECT("\"untitledSingle\":{" THREE "},"                                                       \
           "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" OPTIONS "},"                         \
           "\"legacyEnum\":{" LEGACY "},"                                                          \
           "\"untitledMulti\":{\"type\":\"array\",\"items\":{" THREE "}},"                         \
           "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" CHOICES "}}",               \
           "")

#define SCHEMA_2020_12                                                                             \
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","           \
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":"       \
    "{\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"                         \
    "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"   \
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"                      \
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"                            \
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"             \
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"                            \
    "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"                       \
    "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}"
#define HEADER_SCHEMA     OBJECT("\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}", "")
#define TEXT_SCHEMA(name) OBJECT("\"" name "\":{\"type\":\"string\"}", "\"" name "\"")

#endif
