/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/skills/skill_uris.h"

#include "tools/mapped_uri.h"
#include "wire/json_edit.h"

/* What is no string stays: the client says what it thinks of it. */
static hub_err map_uri(hub_json_edits *edits, hub_str toolset, hub_str raw)
{
    hub_buf own;
    hub_buf mapped;
    hub_buf text;
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        return HUB_OK;
    }
    hub_buf_init(&own, raw.len + 1);
    hub_buf_init(&mapped, SIZE_MAX / 4);
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_err err = hub_json_decode(raw, &own);
    if (err == HUB_OK) {
        hub_mapped_uri_add(toolset, hub_buf_str(&own), &mapped);
        hub_json_add_string(&text, hub_buf_str(&mapped));
        err = hub_buf_ok(&text) && hub_buf_ok(&mapped) ? HUB_OK : HUB_ENOMEM;
    }
    if (err == HUB_OK) {
        hub_json_edit_replace(edits, raw, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    hub_buf_fini(&mapped);
    hub_buf_fini(&own);
    return err;
}

static hub_err map_object(hub_json_edits *edits, hub_str toolset, hub_str object)
{
    hub_str resources = hub_json_get(object, HUB_STR("resources"));
    hub_err err = map_uri(edits, toolset, hub_json_get(object, HUB_STR("uri")));
    if (hub_json_type_of(resources) != HUB_JSON_ARRAY) {
        return err; /* "dynamic" */
    }
    hub_json_iter it = hub_json_iterate(resources);
    hub_str key;
    hub_str value;
    while (err == HUB_OK && hub_json_next(&it, &key, &value)) {
        err = map_uri(edits, toolset, hub_json_get(value, HUB_STR("uri")));
    }
    return err;
}

hub_err hub_skill_uris_add(hub_str toolset, hub_str text, hub_str object, hub_buf *out)
{
    hub_json_edits edits;
    hub_json_edits_init(&edits);
    hub_err err = map_object(&edits, toolset, object);
    if (err == HUB_OK) {
        err = hub_json_edits_apply(&edits, text, out);
    }
    hub_json_edits_fini(&edits);
    return err;
}
