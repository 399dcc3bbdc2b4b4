/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/override_flat.h"

enum {
    MOST_LOOKS = 512, /* at alternatives and their arguments */
    MOST_SCHEMAS = 8, /* of one argument */
};

/* All arguments of all alternatives, one after another. */
typedef struct walk {
    hub_str schema;
    size_t member; /* the next one that has alternatives */
    hub_json_iter alternatives;
    hub_json_iter properties;
    size_t looks;
} walk;

static walk begin(hub_str schema)
{
    return (walk){.schema = schema,
                  .alternatives = hub_json_iterate(HUB_STR_EMPTY),
                  .properties = hub_json_iterate(HUB_STR_EMPTY)};
}

static bool next_argument(walk *at, hub_str *ret_key, hub_str *ret_schema)
{
    static const char *const MEMBERS[] = {"oneOf", "anyOf", "allOf"};
    enum { COUNT = sizeof MEMBERS / sizeof MEMBERS[0] };
    hub_str raw;
    hub_str alternative;
    while (at->looks++ < MOST_LOOKS) {
        if (hub_json_next(&at->properties, &raw, ret_schema)) {
            if (hub_json_plain(raw, ret_key)) {
                return true;
            }
        } else if (hub_json_next(&at->alternatives, &raw, &alternative)) {
            at->properties = hub_json_iterate(hub_json_get(alternative, HUB_STR("properties")));
        } else if (at->member < COUNT) {
            hub_str list = hub_json_get(at->schema, hub_str_of(MEMBERS[at->member++]));
            at->alternatives = hub_json_iterate(list);
        } else {
            return false;
        }
    }
    return false;
}

/* Whether it is known already, or not to be seen. */
static bool is_settled(const hub_override_flat *flat, const hub_override *override,
                       hub_str properties, hub_str key)
{
    for (size_t i = 0; i < flat->count; i++) {
        if (hub_str_eq(flat->changes[i].key, key)) {
            return true;
        }
    }
    for (size_t i = 0; i < override->argument_count; i++) {
        const hub_override_argument *argument = &override->arguments[i];
        if (hub_str_eq(argument->key, key)) {
            return argument->fixed.len > 0 || argument->is_hidden;
        }
    }
    return hub_json_get(properties, key).len > 0;
}

/* What alternatives say of an argument: what they all say, or that it is any of these. */
static void add_schemas(hub_buf *out, hub_str schema, hub_str wanted)
{
    hub_str found[MOST_SCHEMAS];
    size_t count = 0;
    hub_str key;
    hub_str one;
    for (walk at = begin(schema); count < MOST_SCHEMAS && next_argument(&at, &key, &one);) {
        bool is_other = hub_str_eq(key, wanted);
        for (size_t i = 0; is_other && i < count; i++) {
            is_other = !hub_str_eq(found[i], one);
        }
        if (is_other) {
            found[count++] = one;
        }
    }
    hub_buf_add(out, count > 1 ? HUB_STR("{\"anyOf\":[") : HUB_STR_EMPTY);
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(out, i > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
        hub_buf_add(out, found[i]);
    }
    hub_buf_add(out, count > 1 ? HUB_STR("]}") : HUB_STR_EMPTY);
}

void hub_override_flat_init(hub_override_flat *flat, const hub_override *override, hub_str schema)
{
    size_t ends[HUB_LIMIT_FLAT_ARGUMENTS];
    hub_str properties = hub_json_get(schema, HUB_STR("properties"));
    hub_str key;
    hub_str one;
    flat->count = 0;
    hub_buf_init(&flat->texts, SIZE_MAX / 4);
    for (walk at = begin(schema); next_argument(&at, &key, &one);) {
        if (flat->count < HUB_LIMIT_FLAT_ARGUMENTS &&
            !is_settled(flat, override, properties, key)) {
            add_schemas(&flat->texts, schema, key);
            flat->changes[flat->count] = (hub_json_change){.key = key};
            ends[flat->count++] = flat->texts.len;
        }
    }
    flat->count = hub_buf_ok(&flat->texts) ? flat->count : 0; /* else fewer are shown */
    for (size_t i = 0, from = 0; i < flat->count; from = ends[i++]) {
        const char *texts = hub_buf_str(&flat->texts).ptr;
        flat->changes[i].value = hub_str_between(texts + from, texts + ends[i]);
    }
}

void hub_override_flat_fini(hub_override_flat *flat)
{
    hub_buf_fini(&flat->texts);
}
