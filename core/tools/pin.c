/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/pin.h"

#include "base/map.h"
#include "wire/json.h"

#include <stdlib.h>

/* ---- the canonical form ---------------------------------------------------------------------- */

typedef struct member {
    hub_str key; /* raw */
    hub_str value;
    size_t place; /* where it was sent */
} member;

/* Members of the objects around a place, the innermost ones last. */
typedef struct member_stack {
    member *items;
    size_t count;
    size_t cap;
} member_stack;

static int by_key(const void *a, const void *b)
{
    const member *left = a;
    const member *right = b;
    int order = hub_str_cmp(left->key, right->key);
    return order != 0 ? order : (left->place < right->place ? -1 : 1);
}

static bool push(member_stack *stack, hub_str key, hub_str value)
{
    if (stack->count == stack->cap) {
        size_t cap = 2 * stack->cap + 32;
        member *grown = realloc(stack->items, cap * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        stack->items = grown;
        stack->cap = cap;
    }
    stack->items[stack->count] = (member){.key = key, .value = value, .place = stack->count};
    stack->count++;
    return true;
}

static bool add_value(hub_buf *out, hub_str value, member_stack *stack, bool is_top);

static bool add_object(hub_buf *out, hub_str object, member_stack *stack, bool is_top)
{
    size_t begin = stack->count;
    hub_str key;
    hub_str value;
    for (hub_json_iter it = hub_json_iterate(object); hub_json_next(&it, &key, &value);) {
        if (is_top && hub_json_string_is(key, HUB_STR("_meta"))) {
            continue;
        }
        if (!push(stack, key, value)) {
            return false;
        }
    }
    size_t end = stack->count;
    if (end > begin) {
        qsort(stack->items + begin, end - begin, sizeof *stack->items, by_key);
    }
    hub_buf_add_char(out, '{');
    bool is_made = true;
    for (size_t i = begin; is_made && i < end; i++) {
        member at = stack->items[i]; /* the stack may move */
        hub_buf_add(out, i > begin ? HUB_STR(",") : HUB_STR_EMPTY);
        hub_buf_add(out, at.key);
        hub_buf_add_char(out, ':');
        is_made = add_value(out, at.value, stack, false);
    }
    hub_buf_add_char(out, '}');
    stack->count = begin;
    return is_made;
}

/* Recursion is bounded by HUB_LIMIT_JSON_DEPTH. False: out of memory. */
static bool add_value(hub_buf *out, hub_str value, member_stack *stack, bool is_top)
{
    hub_json_type type = hub_json_type_of(value);
    if (type == HUB_JSON_OBJECT) {
        return add_object(out, value, stack, is_top);
    }
    if (type != HUB_JSON_ARRAY) {
        hub_buf_add(out, value);
        return true;
    }
    hub_str key;
    hub_str item;
    bool is_made = true;
    bool is_first = true;
    hub_buf_add_char(out, '[');
    for (hub_json_iter it = hub_json_iterate(value); is_made && hub_json_next(&it, &key, &item);) {
        hub_buf_add(out, is_first ? HUB_STR_EMPTY : HUB_STR(","));
        is_first = false;
        is_made = add_value(out, item, stack, false);
    }
    hub_buf_add_char(out, ']');
    return is_made;
}

void hub_pin_add_canonical(hub_buf *out, hub_str definition)
{
    member_stack stack = {.items = NULL};
    if (!add_value(out, definition, &stack, true) && hub_buf_ok(out)) {
        out->failed = HUB_ENOMEM;
    }
    free(stack.items);
}

void hub_pin_digest_text(hub_str text, char ret_hex[HUB_DIGEST_HEX_BYTES])
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    hub_digest_of(text, bytes);
    hub_digest_hex(bytes, ret_hex);
}

hub_err hub_pin_digest(hub_str definition, hub_buf *scratch, char ret_hex[HUB_DIGEST_HEX_BYTES])
{
    hub_buf_clear(scratch);
    hub_pin_add_canonical(scratch, definition);
    if (!hub_buf_ok(scratch)) {
        return HUB_ENOMEM;
    }
    hub_pin_digest_text(hub_buf_str(scratch), ret_hex);
    return HUB_OK;
}

/* ---- the pins of a toolset ------------------------------------------------------------------- */

typedef struct pinned {
    UT_hash_handle hh; /* over name */
    hub_str name;      /* decoded */
    hub_str digest;    /* raw string */
    bool is_there;
} pinned;

struct hub_pins {
    pinned *items;
    size_t count;
    pinned *by_name;
    hub_buf names; /* decoded names that needed decoding; reserved in one piece */
    hub_buf scratch;
    bool withholds_changed;
    bool withholds_new;
};

bool hub_pins_say(hub_str json, const char *key)
{
    return hub_json_type_of(hub_json_get(json, hub_str_of(key))) == HUB_JSON_TRUE;
}

static bool add_pin(hub_pins *pins, hub_str key, hub_str digest)
{
    pinned *pin = &pins->items[pins->count++];
    pin->digest = digest;
    if (!hub_json_plain(key, &pin->name)) {
        size_t begin = pins->names.len;
        if (hub_json_decode(key, &pins->names) != HUB_OK) {
            return false;
        }
        pin->name = hub_str_from(hub_buf_str(&pins->names), begin);
    }
    HASH_ADD_KEYPTR(hh, pins->by_name, pin->name.ptr, (unsigned)pin->name.len, pin);
    return hub_map_has_taken(&pin->hh);
}

hub_err hub_pins_read(int kind, hub_str json, hub_pins **ret_pins)
{
    hub_str list =
        hub_json_get(json, kind == PATCHBAY_PROMPTS ? HUB_STR("prompts") : HUB_STR("tools"));
    hub_pins *pins = calloc(1, sizeof *pins);
    if (pins == NULL) {
        return HUB_ENOMEM;
    }
    pins->withholds_changed = hub_pins_say(json, "changed");
    pins->withholds_new = hub_pins_say(json, "new");
    hub_buf_init(&pins->names, list.len + 1);
    hub_buf_init(&pins->scratch, SIZE_MAX / 4);
    pins->items = calloc(hub_json_count(list) + 1, sizeof *pins->items);
    bool is_made = pins->items != NULL && hub_buf_reserve(&pins->names, list.len + 1) != NULL;
    hub_str key;
    hub_str digest;
    for (hub_json_iter it = hub_json_iterate(list); is_made && hub_json_next(&it, &key, &digest);) {
        is_made = add_pin(pins, key, digest);
    }
    if (!is_made) {
        hub_pins_destroy(pins);
        return HUB_ENOMEM;
    }
    *ret_pins = pins;
    return HUB_OK;
}

void hub_pins_destroy(hub_pins *pins)
{
    if (pins != NULL) {
        HASH_CLEAR(hh, pins->by_name);
        hub_buf_fini(&pins->names);
        hub_buf_fini(&pins->scratch);
        free(pins->items);
        free(pins);
    }
}

bool hub_pins_withhold(const hub_pins *pins, hub_pin pin)
{
    return (pin == HUB_PIN_CHANGED && pins->withholds_changed) ||
           (pin == HUB_PIN_NEW && pins->withholds_new);
}

hub_err hub_pins_judge(hub_pins *pins, hub_str name, hub_str definition, hub_pin_report *report,
                       hub_pin *ret_pin)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    pinned *pin = NULL;
    HASH_FIND(hh, pins->by_name, name.ptr, (unsigned)name.len, pin);
    if (pin == NULL) {
        *ret_pin = HUB_PIN_NEW;
        hub_name_list_add(&report->added, name);
    } else if (hub_pin_digest(definition, &pins->scratch, hex) != HUB_OK) {
        return HUB_ENOMEM;
    } else {
        pin->is_there = true;
        *ret_pin =
            hub_json_string_is(pin->digest, hub_str_of(hex)) ? HUB_PIN_SAME : HUB_PIN_CHANGED;
        if (*ret_pin == HUB_PIN_CHANGED) {
            hub_name_list_add(&report->changed, name);
        }
    }
    return HUB_OK;
}

void hub_pins_note_missing(const hub_pins *pins, hub_pin_report *report)
{
    for (size_t i = 0; i < pins->count; i++) {
        if (!pins->items[i].is_there) {
            hub_name_list_add(&report->missing, pins->items[i].name);
        }
    }
}

hub_pin hub_pin_of_text(hub_str json, const char *text, bool *ret_is_withheld)
{
    hub_str approved = hub_json_get(json, HUB_STR("instructions"));
    hub_pin pin = HUB_PIN_SAME;
    if (text != NULL) {
        char hex[HUB_DIGEST_HEX_BYTES];
        hub_pin_digest_text(hub_str_of(text), hex);
        pin = approved.len == 0                               ? HUB_PIN_NEW
              : hub_json_string_is(approved, hub_str_of(hex)) ? HUB_PIN_SAME
                                                              : HUB_PIN_CHANGED;
    }
    *ret_is_withheld = (pin == HUB_PIN_CHANGED && hub_pins_say(json, "changed")) ||
                       (pin == HUB_PIN_NEW && hub_pins_say(json, "new"));
    return pin;
}
