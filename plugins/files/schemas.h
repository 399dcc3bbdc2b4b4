/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schemas of the tools in files.c, one member a line. Part of that file. */
#ifndef FILES_SCHEMAS_H
#define FILES_SCHEMAS_H

/* The formatter would set nested macros in columns of single letters. */
/* clang-format off */

/* Arguments are closed: a misspelt member is refused. Results are open, so that they may grow. */
#define ARGUMENTS(required, members) \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required "]," \
    "\"properties\":{" members "}}"
#define RESULT(required, members) \
    "{\"type\":\"object\",\"required\":[" required "],\"properties\":{" members "}}"

#define TEXT(name, about) "\"" name "\":{\"type\":\"string\",\"description\":\"" about "\"}"
#define FLAG(name, about) \
    "\"" name "\":{\"type\":\"boolean\",\"default\":false,\"description\":\"" about "\"}"
#define NUMBER(name, least, most, about) \
    "\"" name "\":{\"type\":\"integer\",\"minimum\":" least ",\"maximum\":" most "," \
    "\"description\":\"" about "\"}"
#define GLOBS(name, about) \
    "\"" name "\":{\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}," \
    "\"description\":\"" about "\"}"
#define CHOICE(name, choices, about) \
    "\"" name "\":{\"enum\":[" choices "],\"description\":\"" about "\"}"

#define STRING(name)      "\"" name "\":{\"type\":\"string\"}"
#define INTEGER(name)     "\"" name "\":{\"type\":\"integer\"}"
#define BOOLEAN(name)     "\"" name "\":{\"type\":\"boolean\"}"
#define ARRAY(name, item) "\"" name "\":{\"type\":\"array\",\"items\":" item "}"

#define PATH TEXT("path", "ROOT/relative/path, or an absolute path inside a root; " \
                          "with a single root also a relative path")
#define ENTRY STRING("path") "," BOOLEAN("escaped") "," STRING("type") "," INTEGER("size") "," \
              STRING("mtime")
#define MANY "9007199254740991" /* whole numbers are exact up to it in any JSON reader */

static const char list_input[] = ARGUMENTS("",
    PATH ","
    NUMBER("depth", "1", "32", "levels of folders; usually 1") ","
    NUMBER("limit", "1", "5000", "entries at most; usually 200") ","
    NUMBER("offset", "0", "2147483647", "entries to skip"));

static const char list_output[] = RESULT("\"path\",\"entries\"",
    STRING("path") ","
    ARRAY("entries", RESULT("\"path\"", ENTRY "," BOOLEAN("writable"))) ","
    INTEGER("next_offset") ","
    INTEGER("unread"));

static const char stat_input[] = ARGUMENTS("\"path\"", PATH);

static const char stat_output[] = RESULT("\"path\",\"type\"",
    ENTRY ","
    STRING("mode") ","
    BOOLEAN("writable_root") ","
    STRING("target") ","
    STRING("leads_to"));

static const char read_input[] = ARGUMENTS("\"path\"",
    PATH ","
    NUMBER("offset", "0", MANY, "first byte, from 0") ","
    NUMBER("length", "1", MANY, "bytes at most") ","
    NUMBER("line", "1", MANY, "first line, from 1") ","
    NUMBER("lines", "1", MANY, "lines at most") ","
    CHOICE("encoding", "\"auto\",\"text\",\"base64\"",
           "text: refuse what is not UTF-8; base64: whatever it is; usually auto"));

static const char search_name_input[] = ARGUMENTS("\"pattern\"",
    PATH ","
    GLOBS("pattern", "* ? [a-z] {a,b}, and ** over folders") ","
    GLOBS("exclude", "names to leave out, with all below; usually .git") ","
    CHOICE("type", "\"any\",\"file\",\"directory\",\"symlink\"", "usually any") ","
    FLAG("ignore_case", "ASCII letters match in either case") ","
    NUMBER("depth", "1", "32", "levels of folders; usually 32") ","
    NUMBER("limit", "1", "5000", "results at most; usually 200"));

static const char search_name_output[] = RESULT("\"matches\",\"more\"",
    ARRAY("matches", RESULT("\"path\"", ENTRY)) ","
    BOOLEAN("more") ","
    INTEGER("unread"));

static const char search_text_input[] = ARGUMENTS("\"pattern\"",
    PATH ","
    TEXT("pattern", "what a line must contain") ","
    FLAG("regex", "pattern is a POSIX extended regular expression, without back-references") ","
    FLAG("ignore_case", "ASCII letters match in either case") ","
    GLOBS("include", "only files of these names, like *.c") ","
    GLOBS("exclude", "names to leave out, with all below; usually .git") ","
    NUMBER("context", "0", "10", "lines to show before and after; usually 0") ","
    NUMBER("limit", "1", "2000", "results at most; usually 100"));

static const char search_text_output[] = RESULT("\"matches\",\"searched\"",
    ARRAY("matches", RESULT("\"path\",\"line\",\"text\"",
        STRING("path") ","
        BOOLEAN("escaped") ","
        INTEGER("line") ","
        STRING("text") ","
        ARRAY("before", "{\"type\":\"string\"}") ","
        ARRAY("after", "{\"type\":\"string\"}"))) ","
    INTEGER("searched") ","
    INTEGER("binary") ","
    INTEGER("unread") ","
    CHOICE("stopped", "\"limit\",\"bytes\",\"cancelled\"", "why not everything was searched"));

static const char write_input[] = ARGUMENTS("\"path\"",
    PATH ","
    TEXT("text", "the whole content") ","
    TEXT("data", "instead of text: the content as base64") ","
    FLAG("create_only", "refuse when the file exists"));

static const char write_output[] = RESULT("\"path\",\"size\",\"created\"",
    STRING("path") ","
    INTEGER("size") ","
    BOOLEAN("created"));

static const char edit_input[] = ARGUMENTS("\"path\",\"old_text\",\"new_text\"",
    PATH ","
    TEXT("old_text", "the text that is there, exactly") ","
    TEXT("new_text", "what replaces it") ","
    NUMBER("count", "1", "100000", "how often it must occur; usually 1") ","
    FLAG("dry_run", "change nothing, show the difference"));

static const char edit_output[] = RESULT("\"path\",\"replacements\",\"applied\",\"diff\"",
    STRING("path") ","
    INTEGER("replacements") ","
    BOOLEAN("applied") ","
    STRING("diff"));

static const char mkdir_input[] = ARGUMENTS("\"path\"",
    PATH ","
    FLAG("parents", "make missing folders above it, too"));

static const char mkdir_output[] = RESULT("\"path\",\"created\"",
    STRING("path") ","
    BOOLEAN("created"));

static const char move_input[] = ARGUMENTS("\"from\",\"to\"",
    TEXT("from", "what to move") ","
    TEXT("to", "its new path, with the new name") ","
    FLAG("overwrite", "replace a file, or an empty folder, that is there"));

static const char move_output[] = RESULT("\"path\",\"moved\"",
    STRING("path") ","
    BOOLEAN("moved"));

static const char delete_input[] = ARGUMENTS("\"path\"", PATH);

static const char delete_output[] = RESULT("\"path\",\"deleted\"",
    STRING("path") ","
    BOOLEAN("deleted"));

static const char config_schema[] = ARGUMENTS("\"roots\"",
    "\"roots\":{\"type\":\"array\",\"maxItems\":64,"
    "\"description\":\"the folders that may be used\",\"items\":{\"anyOf\":["
        "{\"type\":\"string\"},"
        ARGUMENTS("\"path\"", STRING("path") "," STRING("name") "," BOOLEAN("write"))
    "]}},"
    FLAG("write", "offer tools that change files, in all roots that do not say otherwise") ","
    NUMBER("max_read_bytes", "1", "8388608", "bytes of a file that one call returns") ","
    CHOICE("follow_symlinks", "\"inside\",\"never\"", "usually inside"));

/* clang-format on */

#endif
