/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/arguments.h"

#include "base/limits.h"
#include "base/map.h"
#include "identity/path.h"
#include "identity/spelling.h"
#include "tools/schema_number.h"
#include "wire/json.h"

#include <stdlib.h>

/* ---- the same key twice ---------------------------------------------------------------------- */

/* A key of an object, and a hash of its decoded text. */
typedef struct seen_key {
    unsigned hash;
    hub_str raw;
} seen_key;

typedef struct key_check {
    seen_key *keys; /* of the objects around the current one, and of that */
    size_t count;
    size_t room;
    size_t values;   /* looked at so far */
    hub_buf decoded; /* scratch, also for comparing */
} key_check;

static hub_err add_key(key_check *check, hub_str raw)
{
    if (check->count == check->room) {
        size_t room = check->room > 0 ? 2 * check->room : 32;
        seen_key *grown = realloc(check->keys, room * sizeof *grown);
        if (grown == NULL) {
            return HUB_ENOMEM;
        }
        check->keys = grown;
        check->room = room;
    }
    hub_str text;
    if (!hub_json_plain(raw, &text)) {
        hub_buf_clear(&check->decoded);
        hub_err err = hub_json_decode(raw, &check->decoded);
        if (err != HUB_OK) {
            return err;
        }
        text = hub_buf_str(&check->decoded);
    }
    check->keys[check->count++] = (seen_key){.hash = hub_map_hash(text.ptr, text.len), .raw = raw};
    return HUB_OK;
}

static int by_hash(const void *a, const void *b)
{
    unsigned x = ((const seen_key *)a)->hash;
    unsigned y = ((const seen_key *)b)->hash;
    return (x > y) - (x < y);
}

/* Of the keys from `first` on. The hash is keyed, so nobody can choose many with the same one. */
static hub_err find_twins(key_check *check, size_t first, hub_error *reterr)
{
    seen_key *keys = check->keys + first;
    size_t count = check->count - first;
    if (count < 2) {
        return HUB_OK;
    }
    qsort(keys, count, sizeof *keys, by_hash);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count && keys[j].hash == keys[i].hash; j++) {
            hub_buf_clear(&check->decoded);
            hub_err err = hub_json_decode(keys[i].raw, &check->decoded);
            if (err != HUB_OK) {
                return hub_fail(reterr, err, "%s", hub_err_text(err));
            }
            if (hub_json_string_is(keys[j].raw, hub_buf_str(&check->decoded))) {
                hub_str shown = hub_buf_str(&check->decoded);
                shown.len = shown.len < 64 ? shown.len : 64;
                return hub_fail(reterr, HUB_EINVAL,
                                "the arguments have the key \"" HUB_STR_FMT
                                "\" twice in one object: send it once",
                                HUB_STR_ARG(shown));
            }
        }
    }
    return HUB_OK;
}

/* An array or object that is open, and where its keys begin. */
typedef struct open_value {
    size_t first;
    bool is_object;
} open_value;

typedef struct walk {
    key_check *check;
    open_value open[HUB_LIMIT_JSON_DEPTH + 1];
    size_t depth;
    bool is_key_next;
} walk;

static hub_err count_value(key_check *check, hub_error *reterr)
{
    return ++check->values <= HUB_LIMIT_ACCESS_VALUES
               ? HUB_OK
               : hub_fail(reterr, HUB_ELIMIT,
                          "the arguments have more than %d values, which is the most that an "
                          "access rule looks at",
                          HUB_LIMIT_ACCESS_VALUES);
}

/* The length of the string that `text` begins with. */
static size_t string_length(hub_str text)
{
    size_t at = 1;
    while (text.ptr[at] != '"') {
        at += text.ptr[at] == '\\' ? 2 : 1;
    }
    return at + 1;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The arguments were checked to be JSON; `rest` begins with a bracket. */
static hub_err enter(walk *at, hub_str rest, hub_error *reterr)
{
    bool is_object = rest.ptr[0] == '{';
    size_t next = 1;
    while (is_white(rest.ptr[next])) {
        next++;
    }
    hub_assert(at->depth <= HUB_LIMIT_JSON_DEPTH);
    at->open[at->depth++] = (open_value){.first = at->check->count, .is_object = is_object};
    at->is_key_next = is_object;
    return rest.ptr[next] == ']' || rest.ptr[next] == '}' ? HUB_OK : count_value(at->check, reterr);
}

static hub_err leave(walk *at, hub_error *reterr)
{
    open_value closed = at->open[--at->depth];
    hub_err err = closed.is_object ? find_twins(at->check, closed.first, reterr) : HUB_OK;
    at->check->count = closed.first;
    return err;
}

/* One token: a bracket, a string, or a byte of what is between them. */
static hub_err step(walk *at, hub_str rest, size_t *ret_length, hub_error *reterr)
{
    hub_err err = HUB_OK;
    *ret_length = 1;
    switch (rest.ptr[0]) {
    case '{':
    case '[':
        return enter(at, rest, reterr);
    case '}':
    case ']':
        return leave(at, reterr);
    case ',':
        at->is_key_next = at->open[at->depth - 1].is_object;
        return count_value(at->check, reterr);
    case ':':
        at->is_key_next = false;
        return HUB_OK;
    case '"':
        *ret_length = string_length(rest);
        if (at->is_key_next) {
            err = add_key(at->check, (hub_str){.ptr = rest.ptr, .len = *ret_length});
        }
        return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "%s", hub_err_text(err));
    default:
        return HUB_OK;
    }
}

/* Each byte is looked at once, however deep it lies. */
static hub_err check_value(key_check *check, hub_str value, hub_error *reterr)
{
    walk at = {.check = check};
    hub_err err = HUB_OK;
    size_t length;
    for (size_t i = 0; err == HUB_OK && i < value.len; i += length) {
        err = step(&at, hub_str_from(value, i), &length, reterr);
    }
    return err;
}

hub_err hub_access_check_arguments(hub_str arguments, hub_error *reterr)
{
    key_check check = {.count = 0};
    hub_buf_init(&check.decoded, arguments.len + 1);
    hub_err err = check_value(&check, arguments, reterr);
    hub_buf_fini(&check.decoded);
    free(check.keys);
    return err;
}

/* ---- pointers -------------------------------------------------------------------------------- */

const char *hub_access_pointer_problem(hub_str pointer)
{
    if (pointer.len == 0 || pointer.ptr[0] != '/') {
        return "a JSON Pointer begins with \"/\", as in /path";
    }
    for (size_t i = 0; i < pointer.len; i++) {
        bool is_last = i + 1 == pointer.len;
        if (pointer.ptr[i] == '~' &&
            (is_last || (pointer.ptr[i + 1] != '0' && pointer.ptr[i + 1] != '1'))) {
            return "in a JSON Pointer, \"~\" is written ~0, and \"/\" within a key ~1";
        }
    }
    return NULL;
}

/* The next token of a pointer, unescaped. False at its end. */
static bool next_token(hub_str *rest, hub_buf *token)
{
    hub_buf_clear(token);
    if (rest->len == 0) {
        return false;
    }
    size_t at = 1; /* behind the '/' */
    for (; at < rest->len && rest->ptr[at] != '/'; at++) {
        char c = rest->ptr[at];
        if (c == '~' && at + 1 < rest->len) {
            c = rest->ptr[++at] == '1' ? '/' : '~';
        }
        hub_buf_add_char(token, c);
    }
    *rest = hub_str_from(*rest, at);
    return true;
}

static hub_str element_at(hub_str array, hub_str token)
{
    uint64_t index = 0;
    hub_str key;
    hub_str value;
    bool is_index = hub_json_to_u64(token, &index) && (token.len == 1 || token.ptr[0] != '0');
    hub_json_iter it = hub_json_iterate(array);
    while (is_index && hub_json_next(&it, &key, &value)) {
        if (index-- == 0) {
            return value;
        }
    }
    return HUB_STR_EMPTY;
}

/* Whether some server may take one name for the other; `folded` is that of the second. */
static bool are_alike(hub_str text, hub_str folded)
{
    hub_buf own;
    hub_buf_init(&own, 2 * text.len + 1);
    hub_spelling_fold(text, &own);
    bool are = !hub_buf_ok(&own) || hub_str_eq(hub_buf_str(&own), folded);
    hub_buf_fini(&own);
    return are;
}

/* The text of a key; `decoded` is for one with escapes. */
static hub_err key_text(hub_str key, hub_buf *decoded, hub_str *ret_text)
{
    if (hub_json_plain(key, ret_text)) {
        return HUB_OK;
    }
    hub_buf_clear(decoded);
    hub_err err = hub_json_decode(key, decoded);
    *ret_text = hub_buf_str(decoded);
    return err;
}

/* The member of that name. Where another one is there that a server may take for it (spelling.h),
 * nobody can say which of them it takes. */
static hub_err member_of(hub_str object, hub_str token, hub_str *ret_value, hub_error *reterr)
{
    hub_json_iter it = hub_json_iterate(object);
    hub_str key;
    hub_str value;
    size_t alike = 0;
    hub_err err = HUB_OK;
    hub_buf decoded;
    hub_buf folded;
    hub_buf_init(&decoded, object.len);
    hub_buf_init(&folded, 2 * token.len + 1);
    hub_spelling_fold(token, &folded);
    while (err == HUB_OK && hub_json_next(&it, &key, &value)) {
        hub_str text;
        err = key_text(key, &decoded, &text);
        if (err == HUB_OK) {
            alike += are_alike(text, hub_buf_str(&folded));
            *ret_value = hub_str_eq(text, token) ? value : *ret_value;
        }
    }
    err = err == HUB_OK ? folded.failed : err;
    hub_buf_fini(&folded);
    hub_buf_fini(&decoded);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "%s", hub_err_text(err));
    }
    return alike < 2 ? HUB_OK
                     : hub_fail(reterr, HUB_EINVAL,
                                "the arguments have \"" HUB_STR_FMT
                                "\" in two spellings that a server may take for one: send one",
                                HUB_STR_ARG(token));
}

static hub_err find_value(hub_str arguments, hub_str pointer, hub_str *ret_value, hub_error *reterr)
{
    hub_str value = arguments;
    hub_err err = HUB_OK;
    hub_buf token;
    hub_buf_init(&token, pointer.len + 1);
    while (err == HUB_OK && next_token(&pointer, &token)) {
        hub_str within = HUB_STR_EMPTY;
        if (!hub_buf_ok(&token)) {
            err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
        } else if (hub_json_type_of(value) == HUB_JSON_OBJECT) {
            err = member_of(value, hub_buf_str(&token), &within, reterr);
        } else if (hub_json_type_of(value) == HUB_JSON_ARRAY) {
            within = element_at(value, hub_buf_str(&token));
        }
        value = within;
    }
    hub_buf_fini(&token);
    *ret_value = value;
    return err;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Of a value that nobody can judge: what makes the rule safe. */
typedef enum fit {
    FITS_NOT,
    FITS,
    FITS_UNKNOWN,
} fit;

static fit fit_of(bool fits)
{
    return fits ? FITS : FITS_NOT;
}

static bool same_text(hub_str a, hub_str b)
{
    hub_buf decoded;
    hub_buf_init(&decoded, b.len);
    bool are_same =
        hub_json_decode(b, &decoded) == HUB_OK && hub_json_string_is(a, hub_buf_str(&decoded));
    hub_buf_fini(&decoded);
    return are_same;
}

bool hub_access_same_scalar(hub_str a, hub_str b)
{
    hub_json_type type = hub_json_type_of(a);
    if (type != hub_json_type_of(b)) {
        return false;
    }
    if (type == HUB_JSON_NUMBER) {
        hub_schema_number x = hub_schema_number_of(a);
        hub_schema_number y = hub_schema_number_of(b);
        return hub_schema_number_cmp(&x, &y) == 0;
    }
    return type == HUB_JSON_STRING
               ? same_text(a, b)
               : type == HUB_JSON_NULL || type == HUB_JSON_TRUE || type == HUB_JSON_FALSE;
}

/* Both truth values are of one type. */
static bool have_same_type(hub_str a, hub_str b)
{
    hub_json_type x = hub_json_type_of(a);
    hub_json_type y = hub_json_type_of(b);
    return (x == HUB_JSON_FALSE ? HUB_JSON_TRUE : x) == (y == HUB_JSON_FALSE ? HUB_JSON_TRUE : y);
}

static fit is_one_of(hub_str value, const hub_names *scalars)
{
    bool has_type = false;
    for (size_t i = 0; i < scalars->count; i++) {
        hub_str scalar = hub_str_of(scalars->items[i]);
        has_type = has_type || have_same_type(value, scalar);
        if (hub_access_same_scalar(value, scalar)) {
            return FITS;
        }
    }
    return has_type ? FITS_NOT : FITS_UNKNOWN;
}

static fit fits_glob(hub_str text, const hub_names *globs)
{
    return fit_of(hub_names_match(globs, text));
}

static fit lies_beneath(hub_str text, const hub_names *folders)
{
    hub_buf path;
    hub_buf folder;
    fit result = FITS_NOT;
    hub_buf_init(&path, text.len + 1);
    if (!hub_path_normalise(text, &path)) {
        hub_buf_fini(&path);
        return FITS_UNKNOWN;
    }
    for (size_t i = 0; result != FITS && i < folders->count; i++) {
        hub_str wanted = hub_str_of(folders->items[i]);
        hub_buf_init(&folder, wanted.len + 1);
        if (hub_path_normalise(wanted, &folder) &&
            hub_path_is_beneath(hub_buf_str(&path), hub_buf_str(&folder))) {
            result = FITS;
        }
        hub_buf_fini(&folder);
    }
    hub_buf_fini(&path);
    return result;
}

/* What is asked of text: globs and folders. */
static hub_err text_fits(const hub_access_condition *condition, hub_str value, fit *ret_fit)
{
    if (hub_json_type_of(value) != HUB_JSON_STRING) {
        *ret_fit = FITS_UNKNOWN;
        return HUB_OK;
    }
    hub_buf text;
    hub_buf_init(&text, value.len);
    hub_err err = hub_json_decode(value, &text);
    fit result = FITS;
    if (err == HUB_OK && condition->globs.set) {
        result = fits_glob(hub_buf_str(&text), &condition->globs);
    }
    if (err == HUB_OK && result == FITS && condition->beneath.set) {
        result = lies_beneath(hub_buf_str(&text), &condition->beneath);
    }
    hub_buf_fini(&text);
    *ret_fit = result;
    return err;
}

static fit is_at_most(hub_str value, const char *max)
{
    if (hub_json_type_of(value) != HUB_JSON_NUMBER) {
        return FITS_UNKNOWN;
    }
    hub_schema_number number = hub_schema_number_of(value);
    hub_schema_number bound = hub_schema_number_of(hub_str_of(max));
    return fit_of(hub_schema_number_cmp(&number, &bound) <= 0);
}

/* All that one condition asks of a value that is there. Of several parts, one that does not fit
 * decides. */
static hub_err value_fits(const hub_access_condition *condition, hub_str value, fit *ret_fit)
{
    fit parts[4] = {FITS, FITS, FITS, FITS};
    hub_err err = HUB_OK;
    if (condition->equals != NULL) {
        const hub_names one = {.items = &condition->equals, .count = 1, .set = true};
        parts[0] = is_one_of(value, &one);
    }
    if (condition->in.set) {
        parts[1] = is_one_of(value, &condition->in);
    }
    if (condition->max != NULL) {
        parts[2] = is_at_most(value, condition->max);
    }
    if (condition->globs.set || condition->beneath.set) {
        err = text_fits(condition, value, &parts[3]);
    }
    *ret_fit = FITS;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == FITS_NOT || *ret_fit == FITS_NOT) {
            *ret_fit = FITS_NOT;
        } else if (parts[i] == FITS_UNKNOWN) {
            *ret_fit = FITS_UNKNOWN;
        }
    }
    return err;
}

hub_err hub_access_arguments_fit(const hub_access_rule *rule, hub_str arguments, bool *ret_fits,
                                 hub_error *reterr)
{
    bool fits = true;
    for (size_t i = 0; i < rule->condition_count; i++) {
        const hub_access_condition *condition = &rule->conditions[i];
        hub_str value = HUB_STR_EMPTY;
        hub_err err = find_value(arguments, hub_str_of(condition->pointer), &value, reterr);
        if (err != HUB_OK) {
            return err; /* also when an earlier condition does not fit: what is refused is the call */
        }
        fit found = FITS_UNKNOWN;
        err = value.len > 0 ? value_fits(condition, value, &found) : HUB_OK;
        if (err != HUB_OK) {
            return hub_fail(reterr, err, "%s", hub_err_text(err));
        }
        fits = fits && (found == FITS || (found == FITS_UNKNOWN && rule->then == HUB_ACCESS_DENY));
    }
    *ret_fits = fits;
    return HUB_OK;
}
