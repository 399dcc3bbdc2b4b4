/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <unistd.h>

/* ---- memory and faults ----------------------------------------------------------------------- */

void *command_keep(command_set *set, size_t size)
{
    command_block *block = (command_block *)calloc(1, sizeof *block + size);
    if (block == NULL) {
        return NULL;
    }
    block->next = set->blocks;
    set->blocks = block;
    return block + 1;
}

char *command_keep_text(command_set *set, patchbay_str text)
{
    char *copy = (char *)command_keep(set, text.len + 1);
    if (copy != NULL && text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    return copy;
}

/* The text of a raw string; NULL when it is none, or holds a NUL. */
static char *keep_string(command_set *set, patchbay_str raw)
{
    patchbay_out text;
    char *copy = NULL;
    memset(&text, 0, sizeof text);
    if (patchbay_json_decode(raw, &text) && !text.failed &&
        (text.len == 0 || memchr(text.ptr, '\0', text.len) == NULL)) {
        copy = command_keep_text(set, patchbay_str_make(text.ptr, text.len));
    }
    patchbay_out_free(&text);
    return copy;
}

int32_t command_fail(const command_fault *fault, int32_t code, const char *format, ...)
{
    char *text = fault->reterr->text;
    size_t size = sizeof fault->reterr->text;
    int len = 0;
    if (fault->tool != NULL) {
        len = snprintf(text, size, "tool '%.64s': ", fault->tool);
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + len, size - (size_t)len, format, args);
    va_end(args);
    /* Cut texts, and cut quotations, may end inside a character: the hub wants UTF-8. */
    for (char *at = text, *end = text + strlen(text); at < end;) {
        size_t step = patchbay_utf8_length(at, end);
        *at = step == 0 ? '?' : *at;
        at += step == 0 ? 1 : step;
    }
    fault->reterr->code = code;
    return code;
}

/* ---- single members -------------------------------------------------------------------------- */

/* "30s", "500ms", "2m", "1h". */
static int parse_duration(patchbay_str raw, uint64_t *ret_ms)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = {{"ms\"", 1}, {"s\"", 1000}, {"m\"", 60000}, {"h\"", 3600000}};
    uint64_t number = 0;
    size_t at = 1;
    if (raw.len < 3 || raw.ptr[0] != '"') {
        return 0;
    }
    for (; at < raw.len && raw.ptr[at] >= '0' && raw.ptr[at] <= '9' && at < 10; at++) {
        number = number * 10 + (uint64_t)(raw.ptr[at] - '0');
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (at > 1 && patchbay_str_eq(patchbay_str_make(raw.ptr + at, raw.len - at),
                                      patchbay_str_of(units[i].unit))) {
            *ret_ms = number * units[i].ms;
            return *ret_ms >= 1 && *ret_ms <= COMMAND_TIMEOUT_MAX;
        }
    }
    return 0;
}

static int32_t read_limits(patchbay_str raw, command_tool *tool, const command_fault *fault)
{
    patchbay_str value = patchbay_json_get(raw, "timeout");
    int64_t number = COMMAND_OUTPUT_USUAL;
    tool->timeout_ms = COMMAND_TIMEOUT_MS;
    if (value.len > 0 && !parse_duration(value, &tool->timeout_ms)) {
        return command_fail(fault, PATCHBAY_EINVAL,
                            "timeout must be a duration like \"30s\" or \"500ms\", at most \"1h\"");
    }
    value = patchbay_json_get(raw, "max_output");
    if (value.len > 0 && (!patchbay_json_int(value, &number) || number < 1 ||
                          number > (int64_t)COMMAND_OUTPUT_MAX)) {
        return command_fail(fault, PATCHBAY_EINVAL, "max_output must be an integer from 1 to %u",
                            COMMAND_OUTPUT_MAX);
    }
    tool->max_output = (size_t)number;
    value = patchbay_json_get(raw, "allow_dash");
    tool->allow_dash = value.len > 0 && value.ptr[0] == 't';
    return PATCHBAY_OK;
}

static int32_t read_output_mode(patchbay_str raw, command_tool *tool, const command_fault *fault)
{
    static const char *const names[] = {"text", "json", "lines"};
    patchbay_str value = patchbay_json_get(raw, "output");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (value.len == 0 || patchbay_json_is(value, patchbay_str_of(names[i]))) {
            tool->output = (command_output)i;
            return PATCHBAY_OK;
        }
    }
    return command_fail(fault, PATCHBAY_EINVAL, "output must be text, json or lines");
}

size_t command_count(patchbay_str raw)
{
    patchbay_json_iter it = patchbay_json_iterate(raw);
    patchbay_str key;
    patchbay_str value;
    size_t count = 0;
    while (patchbay_json_next(&it, &key, &value)) {
        count++;
    }
    return count;
}

static int32_t read_ok_codes(command_set *set, patchbay_str raw, command_tool *tool,
                             const command_fault *fault)
{
    patchbay_str codes = patchbay_json_get(raw, "ok_exit_codes");
    patchbay_json_iter it = patchbay_json_iterate(codes);
    patchbay_str unused;
    patchbay_str code;
    size_t count = codes.len > 0 ? command_count(codes) : 1;
    tool->ok_codes = (int64_t *)command_keep(set, (count + 1) * sizeof *tool->ok_codes);
    if (tool->ok_codes == NULL) {
        return command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
    }
    while (patchbay_json_next(&it, &unused, &code)) {
        int64_t number;
        if (!patchbay_json_int(code, &number) || number < 0 || number > 255) {
            return command_fail(fault, PATCHBAY_EINVAL, "ok_exit_codes are integers from 0 to 255");
        }
        tool->ok_codes[tool->ok_count++] = number;
    }
    tool->ok_count = codes.len > 0 ? tool->ok_count : 1;
    return PATCHBAY_OK;
}

static int32_t read_place(command_set *set, patchbay_str raw, command_tool *tool,
                          const command_fault *fault)
{
    patchbay_str cwd = patchbay_json_get(raw, "cwd");
    patchbay_str input = patchbay_json_get(raw, "stdin");
    if (cwd.len > 0) {
        tool->cwd = keep_string(set, cwd);
        if (tool->cwd == NULL || tool->cwd[0] != '/') {
            return command_fail(fault, PATCHBAY_EINVAL, "cwd must be an absolute path");
        }
    }
    if (input.len == 0) {
        return PATCHBAY_OK;
    }
    const char *text = keep_string(set, input);
    if (text == NULL) {
        return command_fail(fault, PATCHBAY_EINVAL, "stdin must be a string");
    }
    tool->has_input = 1;
    int32_t result =
        command_template_parse(set, patchbay_str_of(text), "stdin", &tool->input, fault);
    for (size_t i = 0; i < tool->input.count && result == PATCHBAY_OK; i++) {
        if (tool->input.pieces[i].kind == COMMAND_SPREAD) {
            result = command_fail(fault, PATCHBAY_EINVAL, "stdin: {name...} is for argv only");
        }
    }
    return result;
}

/* ---- argv ------------------------------------------------------------------------------------ */

static int32_t read_word(command_set *set, patchbay_str raw, command_tool *tool,
                         const command_fault *fault)
{
    char where[32];
    size_t index = tool->word_count;
    const char *text = keep_string(set, raw);
    (void)snprintf(where, sizeof where, "argv[%zu]", index);
    if (text == NULL) {
        return command_fail(fault, PATCHBAY_EINVAL, "%s is not a string", where);
    }
    if (strcmp(text, "--") == 0 && tool->dashes_at == SIZE_MAX) {
        tool->dashes_at = index;
    }
    tool->word_count++;
    return command_template_parse(set, patchbay_str_of(text), where, &tool->words[index], fault);
}

static int32_t read_argv(command_set *set, patchbay_str raw, command_tool *tool,
                         const command_fault *fault)
{
    patchbay_str argv = patchbay_json_get(raw, "argv");
    patchbay_json_iter it = patchbay_json_iterate(argv);
    patchbay_str unused;
    patchbay_str word;
    size_t count = argv.len > 0 && argv.ptr[0] == '[' ? command_count(argv) : 0;
    if (count == 0 || count > COMMAND_WORDS_MAX) {
        return command_fail(fault, PATCHBAY_EINVAL, "argv must be an array of 1 to %d words",
                            COMMAND_WORDS_MAX);
    }
    tool->words = (command_template *)command_keep(set, count * sizeof *tool->words);
    tool->dashes_at = SIZE_MAX;
    int32_t result =
        tool->words != NULL ? PATCHBAY_OK : command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
    while (result == PATCHBAY_OK && patchbay_json_next(&it, &unused, &word)) {
        result = read_word(set, word, tool, fault);
    }
    if (result != PATCHBAY_OK) {
        return result;
    }
    const command_template *program = &tool->words[0];
    if (program->count != 1 || program->pieces[0].kind != COMMAND_TEXT) {
        return command_fail(fault, PATCHBAY_EINVAL,
                            "argv[0] is the program: it must be a fixed text");
    }
    return PATCHBAY_OK;
}

/* ---- what the hub publishes ------------------------------------------------------------------ */

static uint64_t read_flags(patchbay_str raw)
{
    patchbay_str annotations = patchbay_json_get(raw, "annotations");
    patchbay_str read_only = patchbay_json_get(annotations, "read_only");
    int reads = read_only.len > 0 && read_only.ptr[0] == 't';
    /* Unsaid is what MCP takes it for: a command may do anything. */
    const struct {
        const char *name;
        uint64_t flag;
        int usual;
    } flags[] = {{"read_only", PATCHBAY_TOOL_READ_ONLY, 0},
                 {"destructive", PATCHBAY_TOOL_DESTRUCTIVE, !reads},
                 {"idempotent", PATCHBAY_TOOL_IDEMPOTENT, 0},
                 {"open_world", PATCHBAY_TOOL_OPEN_WORLD, 1}};
    uint64_t result = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        patchbay_str value = patchbay_json_get(annotations, flags[i].name);
        if (value.len > 0 ? value.ptr[0] == 't' : flags[i].usual) {
            result |= flags[i].flag;
        }
    }
    return result;
}

static const char *join_tags(command_set *set, patchbay_str raw)
{
    patchbay_json_iter it = patchbay_json_iterate(raw);
    patchbay_str unused;
    patchbay_str tag;
    patchbay_out text;
    memset(&text, 0, sizeof text);
    while (patchbay_json_next(&it, &unused, &tag)) {
        patchbay_out_text(&text, text.len > 0 ? "," : "");
        (void)patchbay_json_decode(tag, &text);
    }
    const char *kept =
        text.len > 0 ? command_keep_text(set, patchbay_str_make(text.ptr, text.len)) : NULL;
    patchbay_out_free(&text);
    return kept;
}

static int is_tool_name(const char *name)
{
    size_t len = name != NULL ? strlen(name) : 0;
    return len > 0 && len <= 128 &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == len;
}

static int32_t read_name(command_set *set, patchbay_str raw, patchbay_tool *tool,
                         command_fault *fault)
{
    tool->name = keep_string(set, patchbay_json_get(raw, "name"));
    if (!is_tool_name(tool->name)) {
        return command_fail(fault, PATCHBAY_EINVAL,
                            "tools[%zu]: name must be 1 to 128 of letters, digits, _ . -",
                            set->count);
    }
    fault->tool = tool->name;
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->tools[i].name, tool->name) == 0) {
            return command_fail(fault, PATCHBAY_EINVAL, "two tools have this name");
        }
    }
    return PATCHBAY_OK;
}

/* ---- one tool, and all ----------------------------------------------------------------------- */

typedef int32_t read_step(command_set *set, patchbay_str raw, command_tool *tool,
                          const command_fault *fault);

static int32_t read_rest(command_set *set, patchbay_str raw, command_tool *tool,
                         const command_fault *fault)
{
    (void)set;
    int32_t result = read_limits(raw, tool, fault);
    return result == PATCHBAY_OK ? read_output_mode(raw, tool, fault) : result;
}

static int32_t read_program(command_set *set, patchbay_str raw, command_tool *tool,
                            const command_fault *fault)
{
    (void)raw;
    return command_candidates(set, tool->words[0].pieces[0].text, tool, fault);
}

static int32_t read_tool(command_set *set, patchbay_str raw, patchbay_error *reterr)
{
    static read_step *const steps[] = {read_argv,     read_rest,   read_place,
                                       read_ok_codes, command_env, read_program};
    command_fault fault = {.reterr = reterr};
    patchbay_tool *tool = &set->tools[set->count];
    command_tool *command = &set->commands[set->count];
    int32_t result = read_name(set, raw, tool, &fault);
    command->name = tool->name;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && result == PATCHBAY_OK; i++) {
        result = steps[i](set, raw, command, &fault);
    }
    if (result == PATCHBAY_OK) {
        result = command_schema(set, raw, command, &tool->input_schema, &fault);
    }
    if (result != PATCHBAY_OK) {
        return result;
    }
    tool->title = keep_string(set, patchbay_json_get(raw, "title"));
    tool->description = keep_string(set, patchbay_json_get(raw, "description"));
    tool->category = keep_string(set, patchbay_json_get(raw, "category"));
    tool->tags = join_tags(set, patchbay_json_get(raw, "tags"));
    tool->output_schema = command_output_schema(command->output);
    tool->flags = read_flags(raw) | (command->has_input ? PATCHBAY_TOOL_TAKES_NUL : 0u);
    tool->data = command;
    tool->handler = command_call;
    set->count++;
    return PATCHBAY_OK;
}

static int32_t read_tools(command_set *set, patchbay_error *reterr)
{
    command_fault fault = {.reterr = reterr};
    patchbay_str raw = patchbay_json_get(set->config, "tools");
    patchbay_json_iter it = patchbay_json_iterate(raw);
    patchbay_str unused;
    patchbay_str tool;
    size_t count = raw.len > 0 && raw.ptr[0] == '[' ? command_count(raw) : 0;
    if (count == 0 || count > COMMAND_TOOLS_MAX) {
        return command_fail(&fault, PATCHBAY_EINVAL,
                            "say which commands are tools (1 to %d): tools: [{name: log, argv: "
                            "[git, log, -n, \"{count}\"], args: {count: {type: integer, default: "
                            "5}}}]",
                            COMMAND_TOOLS_MAX);
    }
    set->tools = (patchbay_tool *)command_keep(set, count * sizeof *set->tools);
    set->commands = (command_tool *)command_keep(set, count * sizeof *set->commands);
    int32_t result = set->tools != NULL && set->commands != NULL
                         ? PATCHBAY_OK
                         : command_fail(&fault, PATCHBAY_ENOMEM, "out of memory");
    while (result == PATCHBAY_OK && patchbay_json_next(&it, &unused, &tool)) {
        result = read_tool(set, tool, reterr);
    }
    return result;
}

int32_t command_setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                      patchbay_error *reterr)
{
    command_fault fault = {.reterr = reterr};
    command_set *set = (command_set *)calloc(1, sizeof *set);
    if (set == NULL) {
        return command_fail(&fault, PATCHBAY_ENOMEM, "out of memory");
    }
    set->config = patchbay_str_make(command_keep_text(set, config_json), config_json.len);
    int32_t result = set->config.ptr != NULL
                         ? read_tools(set, reterr)
                         : command_fail(&fault, PATCHBAY_ENOMEM, "out of memory");
    if (result == PATCHBAY_OK) {
        result = patchbay_set_tools(toolset, set->tools, set->count);
        if (result != PATCHBAY_OK) {
            (void)command_fail(&fault, result,
                               "the hub refused the list of tools; its log says why");
        }
    }
    if (result != PATCHBAY_OK) {
        command_teardown(set);
        return result;
    }
    *ret_data = set;
    return PATCHBAY_OK;
}

void command_teardown(void *data)
{
    command_set *set = (command_set *)data;
    while (set != NULL && set->blocks != NULL) {
        command_block *block = set->blocks;
        set->blocks = block->next;
        free(block);
    }
    free(set);
}
