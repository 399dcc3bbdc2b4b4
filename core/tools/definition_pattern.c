/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_pattern.h"

#include "tools/definition_text.h"

enum { MAX_DEPTH = 63, MAX_CODE = 0x10ffff, MAX_COUNT = 1 << 24 };

/* What stands within brackets for more than one character. */
#define A_SET (HUB_TEXT_END - 1)

#define SYNTAX_CHARACTERS "^$\\.*+?()[]{}|/"

typedef struct pattern {
    hub_text_reader text;
    unsigned depth;
    uint64_t looks; /* bit by depth: the group looks around, and cannot be repeated */
    unsigned groups;
    unsigned named;
    unsigned highest_reference;
    bool can_repeat; /* what was read last */
} pattern;

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

static int hex_of(uint32_t c)
{
    if (is_digit(c)) {
        return (int)c - '0';
    }
    uint32_t lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? (int)lower - 'a' + 10 : -1;
}

/* A decimal number, as far as it goes. */
static uint32_t take_decimal(pattern *p)
{
    uint32_t number = 0;
    while (is_digit(hub_text_peek(&p->text))) {
        number = number * 10 + (hub_text_next(&p->text) - '0');
        number = number < MAX_COUNT ? number : MAX_COUNT;
    }
    return number;
}

static bool take_hex(pattern *p, int digits, uint32_t *ret_code)
{
    uint32_t code = 0;
    for (int i = 0; i < digits; i++) {
        int digit = hex_of(hub_text_next(&p->text));
        if (digit < 0) {
            return false;
        }
        code = code * 16 + (uint32_t)digit;
    }
    *ret_code = code;
    return true;
}

/* Behind \u: four digits, or up to six in braces. */
static bool take_unicode(pattern *p, uint32_t *ret_code)
{
    if (!hub_text_take(&p->text, "{")) {
        return take_hex(p, 4, ret_code);
    }
    uint32_t code = 0;
    bool has_digit = false;
    for (int digit; (digit = hex_of(hub_text_peek(&p->text))) >= 0; has_digit = true) {
        (void)hub_text_next(&p->text);
        code = code * 16 + (uint32_t)digit;
        if (code > MAX_CODE) {
            return false;
        }
    }
    *ret_code = code;
    return has_digit && hub_text_take(&p->text, "}");
}

/* Behind \p: a general category in braces. */
static bool take_category(pattern *p)
{
    static const char *const NAMES[] = {
        "L",  "Lu", "Ll",     "Lt",     "Lm",   "Lo",          "M",      "Mn",    "Mc",
        "Me", "N",  "Nd",     "Nl",     "No",   "P",           "Pc",     "Pd",    "Ps",
        "Pe", "Pi", "Pf",     "Po",     "S",    "Sm",          "Sc",     "Sk",    "So",
        "Z",  "Zs", "Zl",     "Zp",     "C",    "Cc",          "Cf",     "Cs",    "Co",
        "Cn", "LC", "Letter", "Number", "Mark", "Punctuation", "Symbol", "Other", "Separator",
    };
    char name[16];
    size_t len = 0;
    if (!hub_text_take(&p->text, "{")) {
        return false;
    }
    for (uint32_t c; (c = hub_text_next(&p->text)) != '}'; len++) {
        if (len == sizeof name || c >= 0x80) {
            return false;
        }
        name[len] = (char)c;
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (hub_str_is((hub_str){.ptr = name, .len = len}, NAMES[i])) {
            return true;
        }
    }
    return false;
}

/* What means the same within brackets and outside, behind its backslash; the code point, or A_SET.
 * False when it is neither. */
static bool take_escape(pattern *p, uint32_t *ret_code)
{
    static const char CONTROLS[] = "fnrtv";
    static const char CONTROL_BYTES[] = "\f\n\r\t\v";
    static const char SETS[] = "dDwWsS";
    uint32_t c = hub_text_next(&p->text);
    *ret_code = c;
    if (c == 0 || c >= 0x80) {
        return false;
    }
    if (strchr(SYNTAX_CHARACTERS, (int)c) != NULL) {
        return true;
    }
    const char *control = strchr(CONTROLS, (int)c);
    if (control != NULL) {
        *ret_code = (unsigned char)CONTROL_BYTES[control - CONTROLS];
        return true;
    }
    if (strchr(SETS, (int)c) != NULL) {
        *ret_code = A_SET;
        return true;
    }
    switch (c) {
    case 'p':
    case 'P':
        *ret_code = A_SET;
        return take_category(p);
    case 'c':
        c = hub_text_next(&p->text);
        *ret_code = c % 32;
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    case '0':
        *ret_code = 0;
        return !is_digit(hub_text_peek(&p->text));
    case 'x':
        return take_hex(p, 2, ret_code);
    case 'u':
        return take_unicode(p, ret_code);
    default:
        return false;
    }
}

/* Within brackets: one character, or a set. */
static bool take_class_atom(pattern *p, uint32_t *ret_code)
{
    if (!hub_text_take(&p->text, "\\")) {
        *ret_code = hub_text_next(&p->text);
        return *ret_code != HUB_TEXT_END;
    }
    if (hub_text_peek(&p->text) == '-' || hub_text_peek(&p->text) == 'b') {
        *ret_code = hub_text_next(&p->text) == '-' ? '-' : '\b';
        return true;
    }
    return take_escape(p, ret_code);
}

/* Behind an opening bracket. */
static bool take_class(pattern *p)
{
    (void)hub_text_take(&p->text, "^");
    while (!hub_text_take(&p->text, "]")) {
        uint32_t low;
        uint32_t high;
        if (!take_class_atom(p, &low)) {
            return false;
        }
        hub_text_reader before = p->text;
        if (!hub_text_take(&p->text, "-") || hub_text_peek(&p->text) == ']') {
            p->text = before;
            continue;
        }
        if (!take_class_atom(p, &high) || low == A_SET || high == A_SET || low > high) {
            return false;
        }
    }
    p->can_repeat = true;
    return true;
}

/* Behind an opening parenthesis. */
static bool open_group(pattern *p)
{
    bool looks = false;
    p->can_repeat = false;
    if (!hub_text_take(&p->text, "?")) {
        p->groups++;
    } else if (hub_text_take(&p->text, "=!")) {
        looks = true;
    } else if (hub_text_take(&p->text, "<")) {
        looks = hub_text_take(&p->text, "=!");
        if (!looks) {
            static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$";
            bool has_name = hub_text_take(&p->text, LETTERS);
            while (hub_text_take(&p->text, LETTERS) || hub_text_take(&p->text, "0123456789")) {
            }
            p->groups++;
            if (!has_name || !hub_text_take(&p->text, ">") || ++p->named > 1) {
                return false;
            }
        }
    } else if (!hub_text_take(&p->text, ":")) {
        return false;
    }
    if (++p->depth > MAX_DEPTH) {
        return false;
    }
    uint64_t bit = UINT64_C(1) << p->depth;
    p->looks = looks ? p->looks | bit : p->looks & ~bit;
    return true;
}

static bool close_group(pattern *p)
{
    if (p->depth == 0) {
        return false;
    }
    p->can_repeat = (p->looks >> p->depth & 1) == 0;
    p->depth--;
    return true;
}

/* A quantifier of which the first character was read. */
static bool take_quantifier(pattern *p, uint32_t first)
{
    if (!p->can_repeat) {
        return false;
    }
    if (first == '{') {
        if (!is_digit(hub_text_peek(&p->text))) {
            return false;
        }
        uint32_t least = take_decimal(p);
        uint32_t most = least;
        if (hub_text_take(&p->text, ",")) {
            most = is_digit(hub_text_peek(&p->text)) ? take_decimal(p) : MAX_COUNT;
        }
        if (least > most || !hub_text_take(&p->text, "}")) {
            return false;
        }
    }
    (void)hub_text_take(&p->text, "?");
    p->can_repeat = false;
    return true;
}

/* Outside of brackets, behind a backslash. */
static bool take_outer_escape(pattern *p)
{
    uint32_t c = hub_text_peek(&p->text);
    p->can_repeat = c != 'b' && c != 'B';
    if (!p->can_repeat) {
        (void)hub_text_next(&p->text);
        return true;
    }
    if (c >= '1' && c <= '9') {
        uint32_t group = take_decimal(p);
        p->highest_reference = group > p->highest_reference ? group : p->highest_reference;
        return true;
    }
    return take_escape(p, &c);
}

static bool take_term(pattern *p, uint32_t c)
{
    switch (c) {
    case '^':
    case '$':
    case '|':
        p->can_repeat = false;
        return true;
    case '(':
        return open_group(p);
    case ')':
        return close_group(p);
    case '[':
        return take_class(p);
    case '*':
    case '+':
    case '?':
    case '{':
        return take_quantifier(p, c);
    case ']':
    case '}':
        return false;
    case '\\':
        return take_outer_escape(p);
    default:
        p->can_repeat = true;
        return true;
    }
}

bool hub_definition_is_pattern(hub_str raw)
{
    pattern p = {.text = hub_text_read(raw)};
    for (uint32_t c; (c = hub_text_next(&p.text)) != HUB_TEXT_END;) {
        if (!take_term(&p, c)) {
            return false;
        }
    }
    return p.depth == 0 && p.highest_reference <= p.groups;
}
