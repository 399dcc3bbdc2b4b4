/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of values that a key may have, and what is said when one has another. */
#include "config/reader.h"

#include "base/limits.h"
#include "wire/json.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    SHOWN_TEXT_BYTES = 40, /* of a wrong value */
    MESSAGE_BYTES = 1024,
    SUGGESTIONS = 2 * HUB_CONFIG_MOST_KEYS, /* keys of two tables */
};

typedef struct unit {
    const char *name;
    uint32_t factor;
} unit;

/* Largest first: the first that divides a limit is the one to show it in. */
static const unit SIZE_UNITS[] = {
    {"GiB", 1024u * 1024 * 1024}, {"MiB", 1024u * 1024}, {"KiB", 1024}, {"B", 1}, {NULL, 0}};
static const unit TIME_UNITS[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}, {NULL, 0}};

static void *member_of(void *target, const hub_config_key *key)
{
    return (char *)target + key->offset;
}

static const char *copy_text(hub_config_reader *reader, hub_str text)
{
    return hub_arena_strdup(reader->arena, text);
}

/* Digits only; SIZE_MAX and beyond do not occur in limits, so any overflow is just "too large". */
static bool parse_digits(hub_str text, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(text.ptr[i] - '0');
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    *ret_number = number;
    return text.len > 0;
}

/* A whole number as JSON Schema has them: 4096.0 and 4e3 are some, too. */
static bool parse_number(hub_str text, uint64_t *ret_number)
{
    return parse_digits(text, ret_number) || hub_json_to_whole(text, ret_number);
}

/* "64KiB": the number times the unit. False without a known unit. */
static bool parse_measure(hub_str text, const unit *units, uint64_t *ret_number)
{
    size_t digits = 0;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9') {
        digits++;
    }
    uint64_t number = 0;
    if (!parse_digits((hub_str){.ptr = text.ptr, .len = digits}, &number)) {
        return false;
    }
    while (digits < text.len && text.ptr[digits] == ' ') {
        digits++;
    }
    hub_str name = hub_str_from(text, digits);
    for (; units->name != NULL; units++) {
        if (hub_str_is(name, units->name)) {
            *ret_number = number > UINT64_MAX / units->factor ? UINT64_MAX : number * units->factor;
            return true;
        }
    }
    return false;
}

static const unit *units_of(hub_config_kind kind)
{
    return kind == HUB_CONFIG_SIZE ? SIZE_UNITS : kind == HUB_CONFIG_DURATION ? TIME_UNITS : NULL;
}

static void add_measure(hub_buf *out, uint32_t number, const unit *units)
{
    while (units != NULL && units->factor > 1 && (number == 0 || number % units->factor != 0)) {
        units++;
    }
    hub_buf_printf(out, "%u%s", units == NULL ? number : number / units->factor,
                   units == NULL ? "" : units->name);
}

void hub_config_add_number(hub_buf *out, hub_config_kind kind, uint32_t number)
{
    if (number > 0) {
        add_measure(out, number, units_of(kind));
    } else {
        hub_buf_add(out, kind == HUB_CONFIG_DURATION ? HUB_STR("0s") : HUB_STR("0"));
    }
}

/* Store a number within its bounds. */
static hub_err store_number(const hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, uint64_t number, const unit *units,
                            void *target)
{
    bool is_none = key->has_zero && number == 0;
    if (!is_none && (number < key->least || number > key->most)) {
        char text[MESSAGE_BYTES];
        hub_buf wanted;
        hub_buf_init(&wanted, sizeof text);
        hub_buf_add(&wanted, key->has_zero ? HUB_STR("0, or ") : HUB_STR_EMPTY);
        add_measure(&wanted, key->least, units);
        hub_buf_add(&wanted, HUB_STR(" to "));
        add_measure(&wanted, key->most, units);
        (void)snprintf(text, sizeof text, HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&wanted)));
        hub_buf_fini(&wanted);
        return hub_config_wrong(reader, node, text);
    }
    *(uint32_t *)member_of(target, key) = (uint32_t)number;
    return HUB_OK;
}

hub_err hub_config_wrong(const hub_config_reader *reader, const hub_node *node, const char *wanted)
{
    const char *more = node->text.len > SHOWN_TEXT_BYTES ? "..." : "";
    hub_str shown = hub_str_cut(node->text, SHOWN_TEXT_BYTES);
    if (node->kind == HUB_NODE_TEXT) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "wanted %s, found \"" HUB_STR_FMT "%s\"", wanted, HUB_STR_ARG(shown),
                             more);
    }
    if (node->kind == HUB_NODE_NUMBER) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "wanted %s, found the number " HUB_STR_FMT "%s", wanted,
                             HUB_STR_ARG(shown), more);
    }
    return hub_config_wrong_kind(reader, node, wanted);
}

hub_err hub_config_wrong_kind(const hub_config_reader *reader, const hub_node *node,
                              const char *wanted)
{
    return hub_node_fail(node, reader->reterr, HUB_EINVAL, "wanted %s, found %s", wanted,
                         hub_node_kind_name(node));
}

hub_err hub_config_warn(hub_config_reader *reader, const hub_node *node, const char *format, ...)
{
    char reason[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args); /* cut when too long */
    va_end(args);
    const char **grown =
        hub_config_grow(reader, reader->warnings, reader->warning_count, sizeof *reader->warnings);
    if (grown == NULL) {
        return hub_config_no_memory(reader);
    }
    reader->warnings = grown;
    hub_error line; /* a warning is worded, cut and cleaned like an error */
    (void)hub_node_fail(node, &line, HUB_EINVAL, "%s", reason);
    const char *text = copy_text(reader, hub_str_of(line.text));
    if (text == NULL) {
        return hub_config_no_memory(reader);
    }
    reader->warnings[reader->warning_count++] = text;
    return HUB_OK;
}

const char *hub_config_place(const hub_config_reader *reader, const hub_node *node)
{
    hub_buf place;
    hub_buf_init(&place, HUB_LIMIT_CONFIG_BYTES);
    hub_node_add_place(node, &place);
    const char *text = hub_arena_strdup(reader->arena, hub_buf_str(&place));
    hub_buf_fini(&place);
    return text;
}

hub_err hub_config_no_memory(const hub_config_reader *reader)
{
    hub_err why = hub_arena_failed(reader->arena);
    why = why != HUB_OK ? why : hub_arena_failed(reader->scratch);
    why = why != HUB_OK ? why : HUB_ENOMEM;
    return hub_fail(reader->reterr, why, "the configuration: %s", hub_err_text(why));
}

void *hub_config_grow(hub_config_reader *reader, void *items, size_t count, size_t item_bytes)
{
    if ((count & (count - 1)) != 0) {
        return items; /* between two powers of two there is room */
    }
    void *grown = hub_arena_array(reader->arena, count == 0 ? 1 : 2 * count, item_bytes);
    if (grown != NULL && count > 0) {
        memcpy(grown, items, count * item_bytes);
    }
    return grown;
}

hub_err hub_config_read_text(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    if (node->kind != HUB_NODE_TEXT || node->text.len == 0) {
        return hub_config_wrong(reader, node, "text");
    }
    const char *copy = copy_text(reader, node->text);
    if (copy == NULL) {
        return hub_config_no_memory(reader);
    }
    *(const char **)member_of(target, key) = copy;
    return HUB_OK;
}

hub_err hub_config_read_bool(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    if (node->kind != HUB_NODE_TRUE && node->kind != HUB_NODE_FALSE) {
        return hub_config_wrong(reader, node, "true or false");
    }
    *(bool *)member_of(target, key) = node->kind == HUB_NODE_TRUE;
    return HUB_OK;
}

hub_err hub_config_read_count(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    uint64_t number = 0;
    if (node->kind != HUB_NODE_NUMBER || !parse_number(node->text, &number)) {
        return hub_config_wrong(reader, node, "a whole number");
    }
    return store_number(reader, node, key, number, NULL, target);
}

hub_err hub_config_read_size(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    uint64_t number = 0;
    bool fits = node->kind == HUB_NODE_NUMBER
                    ? parse_number(node->text, &number)
                    : node->kind == HUB_NODE_TEXT && parse_measure(node->text, SIZE_UNITS, &number);
    if (!fits) {
        return hub_config_wrong(reader, node, "a size in bytes or like \"64KiB\", \"4MiB\"");
    }
    return store_number(reader, node, key, number, SIZE_UNITS, target);
}

bool hub_config_parse_size(hub_str text, uint64_t *ret_bytes)
{
    return (parse_digits(text, ret_bytes) || parse_measure(text, SIZE_UNITS, ret_bytes)) &&
           *ret_bytes < UINT64_MAX;
}

/* Other programs write bare milliseconds; in the hub's own manifest nobody shall have to guess. */
hub_err hub_config_read_duration(hub_config_reader *reader, const hub_node *node,
                                 const hub_config_key *key, void *target)
{
    uint64_t number = 0;
    bool fits = false;
    if (node->kind == HUB_NODE_TEXT) {
        fits = parse_measure(node->text, TIME_UNITS, &number);
    } else if (node->kind == HUB_NODE_NUMBER && reader->is_foreign) {
        fits = parse_number(node->text, &number);
    } else if (node->kind == HUB_NODE_NUMBER) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "write the unit: \"" HUB_STR_FMT "s\" or \"" HUB_STR_FMT "ms\"",
                             HUB_STR_ARG(node->text), HUB_STR_ARG(node->text));
    }
    if (!fits) {
        return hub_config_wrong(reader, node, "a duration like \"500ms\", \"30s\", \"2m\", \"1h\"");
    }
    return store_number(reader, node, key, number, TIME_UNITS, target);
}

static hub_err wrong_word(const hub_config_reader *reader, const hub_node *node,
                          const hub_config_word *words)
{
    const char *names[SUGGESTIONS] = {NULL};
    char wanted[MESSAGE_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; words[i].word != NULL && i + 1 < SUGGESTIONS; i++) {
        names[i] = words[i].word;
        if (words[i].is_alias) {
            continue;
        }
        int count = snprintf(wanted + used, sizeof wanted - used, "%s\"%s\"",
                             i == 0 ? "one of " : ", ", words[i].word);
        used += count > 0 && (size_t)count < sizeof wanted - used ? (size_t)count : 0;
    }
    hub_str nearest =
        node->kind == HUB_NODE_TEXT ? hub_str_nearest(node->text, names) : HUB_STR_EMPTY;
    hub_err err = hub_config_wrong(reader, node, wanted);
    if (nearest.len == 0 || reader->reterr == NULL) {
        return err;
    }
    hub_error found = *reader->reterr;
    return hub_fail(reader->reterr, err, "%.400s; did you mean \"" HUB_STR_FMT "\"?", found.text,
                    HUB_STR_ARG(nearest));
}

static hub_err find_word(const hub_config_reader *reader, const hub_node *node,
                         const hub_config_word *words, unsigned *ret_value)
{
    for (size_t i = 0; node->kind == HUB_NODE_TEXT && words[i].word != NULL; i++) {
        if (hub_str_is(node->text, words[i].word)) {
            *ret_value = words[i].value;
            return HUB_OK;
        }
    }
    return wrong_word(reader, node, words);
}

hub_err hub_config_read_word(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    _Static_assert(sizeof(hub_naming) == sizeof(unsigned) &&
                       sizeof(hub_startup) == sizeof(unsigned) &&
                       sizeof(hub_log_level) == sizeof(unsigned),
                   "enumerations are stored as unsigned");
    unsigned value = 0;
    hub_err err = find_word(reader, node, key->words, &value);
    if (err == HUB_OK) {
        memcpy(member_of(target, key), &value, sizeof value);
    }
    return err;
}

hub_err hub_config_read_choice(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *key, void *target)
{
    unsigned value = 0;
    hub_err err = find_word(reader, node, key->words, &value);
    if (err == HUB_OK) {
        *(bool *)member_of(target, key) = value != 0;
    }
    return err;
}

hub_err hub_config_read_node(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    (void)reader; /* nothing to say yet: whoever looks at all parts together will */
    *(const hub_node **)member_of(target, key) = node;
    return HUB_OK;
}

/* Append the names of a table to those that a misspelt key is compared with. */
static size_t add_names(const hub_config_key *keys, const char **names, size_t count)
{
    for (; keys != NULL && keys->name != NULL && count + 1 < SUGGESTIONS; keys++) {
        names[count++] = keys->name;
    }
    return count;
}

/* Whether a key has nothing behind it, not so much as "null", in YAML that is indented: what comes next
 * was probably meant for it. */
static bool is_left_empty(const hub_node *node)
{
    return node->kind == HUB_NODE_NULL && node->span.from == node->span.to &&
           !node->parent->span.is_flow;
}

/* `before` is the key in front of it, or NULL. */
static hub_err unknown_key(hub_config_reader *reader, const hub_node *node, const hub_node *before,
                           const hub_config_key *keys, const hub_config_key *more)
{
    const char *names[SUGGESTIONS] = {NULL};
    (void)add_names(more, names, add_names(keys, names, 0));
    hub_str nearest = hub_str_nearest(hub_str_of(node->key), names);
    char hint[MESSAGE_BYTES] = "";
    if (nearest.len > 0) {
        (void)snprintf(hint, sizeof hint, "; did you mean \"" HUB_STR_FMT "\"?",
                       HUB_STR_ARG(nearest));
    } else if (before != NULL && is_left_empty(before)) {
        (void)snprintf(hint, sizeof hint, "; \"%s\" above is empty: indent what belongs to it",
                       before->key);
    }
    if (reader->is_foreign) {
        return hub_config_warn(reader, node, "unknown key, ignored%s", hint);
    }
    return hub_node_fail(node, reader->reterr, HUB_EINVAL, "unknown key%s", hint);
}

/* Another program's file has no modules, and so none of their keys. */
static bool is_known(const hub_config_reader *reader, const hub_config_key *row)
{
    bool is_ours_alone = reader->is_foreign && row != NULL && row->of == HUB_CONFIG_OF_MODULE;
    return row != NULL && row->kind != HUB_CONFIG_NO_KEY && !is_ours_alone;
}

hub_err hub_config_read_map_of(hub_config_reader *reader, const hub_node *node,
                               const hub_config_key *keys, const hub_config_key *more, void *target)
{
    if (node->kind != HUB_NODE_MAP && node->kind != HUB_NODE_NULL) {
        return hub_config_wrong(reader, node, "a map");
    }
    hub_err err = HUB_OK;
    const hub_node *before = NULL;
    for (const hub_node *child = node->first; err == HUB_OK && child != NULL; child = child->next) {
        const hub_config_key *row = hub_config_find_key(keys, hub_str_of(child->key));
        row = row != NULL ? row : hub_config_find_key(more, hub_str_of(child->key));
        err = is_known(reader, row) ? hub_config_read_value(reader, child, row, target)
                                    : unknown_key(reader, child, before, keys, more);
        before = child;
    }
    return err;
}

hub_err hub_config_read_map(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    return hub_config_read_map_of(reader, node, key->keys, NULL, member_of(target, key));
}
