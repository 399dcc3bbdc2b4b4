/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A catalog: what one toolset offers of one kind (tools, resources, resource templates, prompts),
 * as it described it. Items are spans of the toolset's own bytes; only what the hub must know of
 * one is looked up. Immutable and reference-counted: views keep the catalogs that they were built
 * from. Thread: [loop].
 */
#ifndef HUB_TOOLS_CATALOG_H
#define HUB_TOOLS_CATALOG_H

#include "base/digest.h"
#include "tools/override.h"
#include "tools/pin.h"
#include "tools/promise.h"
#include "tools/schema.h"

#include <patchbay/catalog.h>

/* What a toolset can offer. Each kind is a list of its own, which is replaced by itself. */
typedef enum hub_kind {
    HUB_KIND_TOOL = PATCHBAY_TOOLS,
    HUB_KIND_RESOURCE = PATCHBAY_RESOURCES,
    HUB_KIND_TEMPLATE = PATCHBAY_RESOURCE_TEMPLATES,
    HUB_KIND_PROMPT = PATCHBAY_PROMPTS,
    HUB_KINDS
} hub_kind;

/* hub_item.hints: what the annotations state (MCP server/tools, ToolAnnotations). */
#define HUB_TOOL_READ_ONLY       0x1u /* readOnlyHint: true */
#define HUB_TOOL_NOT_DESTRUCTIVE 0x2u /* destructiveHint: false; absent means it may destroy */
/* … and `_meta.ui.visibility` (MCP Apps): it is for apps, and models do not see it. */
#define HUB_TOOL_FOR_APPS 0x4u

/* Where a tool may name its user interface: `_meta.ui.resourceUri`, and `_meta["ui/resourceUri"]`
 * of older ones (MCP Apps). */
#define HUB_ITEM_UI_URIS 2

typedef struct hub_item {
    hub_str name;      /* decoded: of tools and prompts "name", of resources "uri", of resource
                          templates "uriTemplate" */
    hub_str json;      /* the whole definition: as given, or as overrides have it … */
    hub_str original;  /* … of what was given */
    hub_str shown;     /* what names for clients are made of: `name`, unless an override says
                          otherwise */
    hub_str name_json; /* the value that `name` is decoded from, a slice of json */
    /* In which revisions it may be listed: as it is; and, of tools, without output_member, which is
     * then the slice of `json` to leave out (definition.h). The one includes the other, and the
     * second is never 0. */
    uint8_t valid;
    uint8_t valid_without_output;
    /* Of tools alone: */
    hub_str output_member;
    uint8_t structured;                /* in which revisions results have structuredContent */
    hub_str tags_json;                 /* array from _meta["patchbay/tags"]; may be empty */
    hub_str category_json;             /* string from _meta["patchbay/category"]; may be empty */
    hub_str ui_uris[HUB_ITEM_UI_URIS]; /* raw strings; each may be empty */
    uint32_t hints;
    bool has_output_schema;
    bool is_withheld;             /* it is not as it was approved, and clients do not get it */
    uint8_t pin;                  /* hub_pin: how it stands to what was approved */
    hub_schema *schema;           /* of the arguments, as given; NULL: they are not checked */
    hub_promise *promise;         /* of results; NULL: none, or they are a server's affair */
    const hub_override *override; /* NULL: none is about it */
} hub_item;

/* What is done with the definitions of a toolset, besides reading them. */
typedef struct hub_catalog_rules {
    bool compiles;         /* a tool with an invalid schema is left out: native ones */
    bool validates;        /* arguments of all tools are checked, where the schema can be */
    bool cuts;             /* results may be made smaller: no tool is listed with outputSchema */
    const char *overrides; /* override.h; NULL: none */
    const char *pins;      /* pin.h, of tools and prompts; NULL: none */
    bool withholds_all;    /* whatever it is: it is another server's than was approved */
} hub_catalog_rules;

/* The digest of an item's definition (definition_digest.h), made when somebody asks. */
typedef struct hub_item_digest {
    bool is_known;
    unsigned char bytes[HUB_DIGEST_BYTES];
} hub_item_digest;

/* So many items of a list are remembered when they are left out; of the others, how many they are. */
#define HUB_CATALOG_KEPT 10

typedef struct hub_left_out {
    char *name; /* as far as it is shown */
    char *text; /* what the log says of it */
} hub_left_out;

typedef struct hub_catalog {
    unsigned refs;
    hub_kind kind;
    char *bytes; /* the toolset's JSON, which the spans point into */
    size_t len;
    char *names;     /* decoded names that needed decoding; may be NULL */
    hub_item *items; /* in the order given */
    size_t count;
    hub_item_digest *digests; /* of the items; NULL: nobody has asked yet */
    hub_catalog_rules rules;  /* its texts belong to `own` */
    hub_arena *own;           /* what overrides have made, and pins; NULL: nothing */
    hub_left_out left_out[HUB_CATALOG_KEPT];
    size_t left_out_count;  /* of items; only the first HUB_CATALOG_KEPT are named */
    hub_pin_report *pinned; /* what pins have found; NULL: there are none */
    size_t withheld_count;  /* of items */
    bool compiled;          /* some tools have schemas */
    bool promises;          /* some tools have promises */
    bool looks;             /* an override of some tool looks at the arguments of calls */
    bool limits_results;    /* … or says how large its results may be */
    bool has_uis;           /* some tool names a user interface */
} hub_catalog;

/* Whether an override says which tags, or which category, a tool has: then these count, whoever is
 * trusted. */
static inline bool hub_item_has_tags(const hub_item *item)
{
    return item->override != NULL && item->override->tags.len > 0;
}

static inline bool hub_item_has_category(const hub_item *item)
{
    return item->override != NULL && item->override->category.len > 0;
}

/* What so many of a kind are called, for people: "tool", "resource templates", … */
const char *hub_kind_noun(hub_kind kind, size_t count);

/* Of so many items of a list it is said by name why they are left out, then only how many more there are: a
 * server can write 10,000 items that are worth a line of the log into 40 KB. */
#define HUB_CATALOG_TOLD 100

/* Called for each item that is left out, with a reason that names it; at most HUB_CATALOG_TOLD times, and
 * once more with a text that counts the others. */
typedef void hub_catalog_on_drop(void *ctx, hub_str reason);

/* Take apart a JSON array of MCP Tool, Resource, ResourceTemplate or Prompt objects (checked by
 * hub_json_check, without white space around it); it is copied. An item that is not usable is left
 * out and reported: no valid name or URI (of 1 to HUB_LIMIT_TOOL_NAME_BYTES, HUB_LIMIT_URI_BYTES
 * bytes), one that another item has, or a member twice that the hub reads (it would have two
 * readings: the hub's and the client's). Also one whose definition no revision allows
 * (definition.h), a tool with more than HUB_LIMIT_TAGS_PER_TOOL tags, and a template that is none
 * (uri_template.h). Overrides are about tools alone; what is judged is what clients will see.
 * owns:    *ret_catalog, one reference
 * errors:  HUB_EINVAL (not an array), HUB_ELIMIT (HUB_LIMIT_TOOLS_PER_TOOLSET,
 *          HUB_LIMIT_CATALOG_BYTES), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_catalog_read(hub_kind kind, hub_str json, const hub_catalog_rules *rules,
                                        hub_catalog_on_drop *on_drop, void *ctx,
                                        hub_catalog **ret_catalog, hub_error *reterr);

/* The same a part at a time, for a list that is long: begin, go on until the end is reached, finish. What
 * is being read is the hub's own copy of the list, and belongs to whoever began.
 * errors:  as above: of beginning HUB_EINVAL, HUB_ELIMIT (bytes), HUB_ENOMEM; of going on HUB_ELIMIT (items),
 *          HUB_ENOMEM, after which it can only be abandoned; of finishing HUB_ENOMEM, and it is gone */
typedef struct hub_catalog_reading hub_catalog_reading;

HUB_MUST_CHECK hub_err hub_catalog_begin(hub_kind kind, hub_str json,
                                         const hub_catalog_rules *rules,
                                         hub_catalog_reading **ret_reading, hub_error *reterr);

/* Read whole items, until at least so many bytes were read, or the end is reached. Each rule of
 * overrides, which are asked about each item, counts as some bytes. */
HUB_MUST_CHECK hub_err hub_catalog_go_on(hub_catalog_reading *reading, size_t bytes,
                                         hub_catalog_on_drop *on_drop, void *ctx, bool *ret_is_end,
                                         hub_error *reterr);

/* Take what came of it; called once the end is reached, with the drop function of the last part. */
HUB_MUST_CHECK hub_err hub_catalog_finish(hub_catalog_reading *reading, hub_catalog **ret_catalog,
                                          hub_error *reterr);
void hub_catalog_abandon(hub_catalog_reading *reading); /* NULL is fine */

/* The list, and whether it is read by these rules: they may change between two parts. */
hub_str hub_catalog_reading_json(const hub_catalog_reading *reading);
bool hub_catalog_is_reading(const hub_catalog_reading *reading, const hub_catalog_rules *rules);

/* The same without rules, but that each schema may be compiled. */
HUB_MUST_CHECK hub_err hub_catalog_parse(hub_kind kind, hub_str json, bool compile_schemas,
                                         hub_catalog_on_drop *on_drop, void *ctx,
                                         hub_catalog **ret_catalog, hub_error *reterr);

hub_catalog *hub_catalog_ref(hub_catalog *catalog);
void hub_catalog_unref(hub_catalog *catalog); /* NULL is fine */

/* Whether reading this would give the same catalog again. */
bool hub_catalog_is(const hub_catalog *catalog, hub_str json, const hub_catalog_rules *rules);

/* The item of that name, or NULL. Linear: for describing, not for calling. */
const hub_item *hub_catalog_find(const hub_catalog *catalog, hub_str name);

#endif
