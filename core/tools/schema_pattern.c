/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pattern` and `patternProperties`. JSON Schema means ECMA-262; PCRE2 is set to be as near to it
 * as it can be. What remains: look-behind of variable length is refused, \S within brackets knows
 * ASCII only.
 *
 * Backtracking can take exponential time, and a search of a long text quadratic time, so matching
 * has a budget of its own. PCRE2's match limit is no help: it counts decisions, and between two of
 * them, or between two starting points, PCRE2 may run through the whole text. Instead PCRE2 calls
 * out before every item of the pattern, and the match is charged for the item and for the way that
 * was gone since the item before.
 */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "tools/schema_internal.h"

#include <pcre2.h>
#include <stdlib.h>

enum {
    ITEM_COST = 8,        /* of a call-out, in characters looked at */
    START_COST = 32,      /* of a match */
    COUNT_PER_COST = 2,   /* an item x{60000} that fails near its end goes a long way unseen */
    HEAP_KIB = 64 * 1024, /* for backtracking */
    MAX_GROWTH = 8,       /* of a pattern by translation: two bytes become at most 15 */
};

/* What \s means beyond ASCII. A hyphen before or after it stays a hyphen, in this order. */
#define WHITE_SPACE "\\s\\uFEFF\\p{Z}"

struct hub_schema_pattern {
    pcre2_code *code;
    uint64_t item_cost;
    hub_schema_pattern *next;
};

/* General categories by their long names, which ECMA-262 knows and PCRE2 10.42 does not. */
static const struct {
    const char *name;
    const char *code;
} CATEGORIES[] = {
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Other", "C"},
    {"Control", "Cc"},
};

/* The short name of what stands between \p{ and }. */
static hub_str category_of(hub_str name)
{
    static const char *const PREFIXES[] = {"General_Category=", "gc="};
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++) {
        if (hub_str_starts(name, hub_str_of(PREFIXES[i]))) {
            name = hub_str_from(name, strlen(PREFIXES[i]));
        }
    }
    for (size_t i = 0; i < sizeof CATEGORIES / sizeof *CATEGORIES; i++) {
        if (hub_str_is(name, CATEGORIES[i].name)) {
            return hub_str_of(CATEGORIES[i].code);
        }
    }
    return name;
}

/* An escape of ECMA-262 by its PCRE2 spelling; returns the bytes that were read. */
static size_t translate_escape(hub_str text, bool in_class, hub_buf *out)
{
    char c = text.len > 1 ? text.ptr[1] : '\0';
    if (c == 's') {
        hub_buf_add(out, in_class ? HUB_STR(WHITE_SPACE) : HUB_STR("[" WHITE_SPACE "]"));
        return 2;
    }
    if (c == 'S' && !in_class) {
        hub_buf_add(out, HUB_STR("[^" WHITE_SPACE "]"));
        return 2;
    }
    size_t end = c == 'p' || c == 'P' ? hub_str_find(text, HUB_STR("}")) : SIZE_MAX;
    if (end != SIZE_MAX && end > 2 && text.ptr[2] == '{') {
        hub_str name = category_of(hub_str_between(text.ptr + 3, text.ptr + end));
        hub_buf_printf(out, "\\%c{" HUB_STR_FMT "}", c, HUB_STR_ARG(name));
        return end + 1;
    }
    hub_str plain = {.ptr = text.ptr, .len = text.len > 1 ? 2 : 1};
    hub_buf_add(out, plain);
    return plain.len;
}

/* Where ECMA-262 and PCRE2 write the same thing differently. */
static void translate(hub_str text, hub_buf *out)
{
    bool in_class = false;
    for (size_t at = 0; at < text.len;) {
        char c = text.ptr[at];
        if (c == '\\') {
            at += translate_escape(hub_str_from(text, at), in_class, out);
            continue;
        }
        in_class = c == '[' || (in_class && c != ']');
        hub_buf_add_char(out, c);
        at++;
    }
}

static pcre2_compile_context *context_of(hub_schema_compiler *compiler)
{
    if (compiler->pattern_context == NULL) {
        pcre2_compile_context *context = pcre2_compile_context_create(NULL);
        if (context == NULL) {
            return NULL;
        }
        (void)pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF); /* cannot fail: a known constant */
        (void)pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
        compiler->pattern_context = context;
    }
    return compiler->pattern_context;
}

/* HUB_EINVAL with the reason in `why`. */
static hub_err compile_code(hub_schema_compiler *compiler, hub_str text, pcre2_code **ret_code,
                            hub_buf *why)
{
    pcre2_compile_context *context = context_of(compiler);
    if (context == NULL) {
        return HUB_ENOMEM;
    }
    uint32_t options = PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF |
                       PCRE2_ALLOW_EMPTY_CLASS | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
                       PCRE2_AUTO_CALLOUT;
    int code = 0;
    size_t offset = 0;
    *ret_code = pcre2_compile((PCRE2_SPTR)text.ptr, text.len, options, &code, &offset, context);
    if (*ret_code != NULL) {
        return HUB_OK;
    }
    PCRE2_UCHAR message[128];
    if (pcre2_get_error_message(code, message, sizeof message) < 0) {
        message[0] = '\0';
    }
    hub_buf_printf(why, "%s at byte %zu", (const char *)message, offset);
    return code == PCRE2_ERROR_HEAP_FAILED ? HUB_ENOMEM : HUB_EINVAL;
}

/* The greatest count that a quantifier of the pattern begins with. */
static uint64_t largest_count(hub_str text)
{
    uint64_t largest = 0;
    uint64_t count = 0;
    bool in_count = false;
    for (size_t at = 0; at < text.len; at++) {
        char c = text.ptr[at];
        in_count = c == '{' || (in_count && c >= '0' && c <= '9');
        count = in_count && c != '{' ? count * 10 + (uint64_t)(c - '0') : 0;
        largest = count > largest ? count : largest;
        in_count = in_count && count <= UINT16_MAX; /* PCRE2 has refused greater ones */
    }
    return largest;
}

/* Keep the code with the schema, if there is room for it. */
static hub_err keep_code(hub_schema_compiler *compiler, pcre2_code *code, hub_str text,
                         const hub_schema_pattern **ret_pattern)
{
    size_t bytes = 0;
    (void)pcre2_pattern_info(code, PCRE2_INFO_SIZE,
                             &bytes); /* cannot fail for a compiled pattern */
    hub_schema_pattern *pattern = malloc(sizeof *pattern);
    if (pattern == NULL || bytes > HUB_SCHEMA_PATTERNS_BYTES - compiler->pattern_bytes) {
        pcre2_code_free(code);
        free(pattern);
        return pattern == NULL ? HUB_ENOMEM : HUB_ELIMIT;
    }
    compiler->pattern_bytes += bytes;
    *pattern = (hub_schema_pattern){.code = code,
                                    .item_cost = ITEM_COST + largest_count(text) / COUNT_PER_COST,
                                    .next = compiler->schema->patterns};
    compiler->schema->patterns = pattern;
    *ret_pattern = pattern;
    return HUB_OK;
}

hub_err hub_schema_pattern_compile(hub_schema_compiler *compiler, hub_str text,
                                   const hub_schema_pattern **ret_pattern, hub_buf *why)
{
    if (text.len > HUB_SCHEMA_PATTERN_BYTES) {
        hub_buf_printf(why, "longer than %d bytes", HUB_SCHEMA_PATTERN_BYTES);
        return HUB_ELIMIT;
    }
    hub_buf translated;
    hub_buf_init(&translated, MAX_GROWTH * HUB_SCHEMA_PATTERN_BYTES);
    translate(text, &translated);
    pcre2_code *code = NULL;
    hub_err err = translated.failed;
    if (err == HUB_OK) {
        err = compile_code(compiler, text.len > 0 ? hub_buf_str(&translated) : text, &code, why);
    }
    hub_buf_fini(&translated);
    if (err == HUB_OK) {
        err = keep_code(compiler, code, text, ret_pattern);
    }
    if (err != HUB_OK && why->len == 0) {
        hub_buf_printf(why, "%s",
                       err == HUB_ELIMIT ? "too large once compiled" : hub_err_text(err));
    }
    return err;
}

void hub_schema_patterns_destroy(hub_schema_pattern *patterns)
{
    while (patterns != NULL) {
        hub_schema_pattern *next = patterns->next;
        pcre2_code_free(patterns->code);
        free(patterns);
        patterns = next;
    }
}

void hub_schema_pattern_compiler_fini(hub_schema_compiler *compiler)
{
    pcre2_compile_context_free(compiler->pattern_context);
    compiler->pattern_context = NULL;
}

typedef struct match_meter {
    uint64_t *left;
    uint64_t item_cost;
    size_t position; /* at the latest call-out */
} match_meter;

/* A call-out. Other than 0: give up. */
static int meter_item(pcre2_callout_block *block, void *ctx)
{
    match_meter *meter = ctx;
    size_t now = block->current_position;
    uint64_t way = now > meter->position ? now - meter->position : meter->position - now;
    meter->position = now;
    if (way + meter->item_cost > *meter->left) {
        *meter->left = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    *meter->left -= way + meter->item_cost;
    return 0;
}

static hub_err prepare_run(hub_schema_run *run)
{
    if (run->match_data == NULL) {
        run->match_data = pcre2_match_data_create(1, NULL);
    }
    if (run->match_context == NULL) {
        run->match_context = pcre2_match_context_create(NULL);
    }
    if (run->match_data == NULL || run->match_context == NULL) {
        return HUB_ENOMEM;
    }
    (void)pcre2_set_heap_limit(run->match_context, HEAP_KIB); /* setting a number cannot fail */
    return HUB_OK;
}

/* Checking the UTF-8, and looking for a place to start, read the text whatever the pattern is. */
static hub_err charge_start(hub_schema_run *run, hub_str text)
{
    uint64_t cost = START_COST + (uint64_t)text.len;
    if (cost > run->match_left) {
        return HUB_ELIMIT;
    }
    run->match_left -= cost;
    return HUB_OK;
}

hub_err hub_schema_pattern_match(hub_schema_run *run, const hub_schema_pattern *pattern,
                                 hub_str text)
{
    hub_err err = prepare_run(run);
    if (err != HUB_OK) {
        return hub_schema_abort(run, err, NULL);
    }
    int found = PCRE2_ERROR_CALLOUT;
    if (charge_start(run, text) == HUB_OK) {
        match_meter meter = {.left = &run->match_left, .item_cost = pattern->item_cost};
        (void)pcre2_set_callout(run->match_context, meter_item, &meter); /* cannot fail either */
        found = pcre2_match(pattern->code, (PCRE2_SPTR)text.ptr, text.len, 0, 0, run->match_data,
                            run->match_context);
    }
    if (found >= 0) {
        return HUB_OK;
    }
    switch (found) {
    case PCRE2_ERROR_NOMATCH:
        return HUB_EINVAL;
    case PCRE2_ERROR_NOMEMORY:
        return hub_schema_abort(run, HUB_ENOMEM, NULL);
    default: /* the meter, the heap limit, endless recursion within the pattern */
        return hub_schema_abort(run, HUB_ELIMIT, "matching a pattern takes too long");
    }
}

void hub_schema_pattern_run_fini(hub_schema_run *run)
{
    pcre2_match_data_free(run->match_data);
    pcre2_match_context_free(run->match_context);
}
