/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pins: the digests of definitions that somebody has read and approved. A digest is SHA-256 over the
 * canonical form of a definition: no white space between tokens, the members of each object sorted
 * by the bytes of their keys, numbers and strings as they were sent, and without `_meta`. Members of
 * one key keep their order. So a definition that is only arranged differently has the same digest,
 * and every other change shows.
 *
 * The pins of a toolset are one JSON object, as config/ writes it of a lock file:
 *
 *     { "changed": bool, "new": bool,          whether such a definition is withheld
 *       "tools": { "NAME": "HEX" }, "prompts": { "NAME": "HEX" },
 *       "instructions": "HEX" }                 absent: none were approved
 *
 * Pure; any thread.
 */
#ifndef HUB_TOOLS_PIN_H
#define HUB_TOOLS_PIN_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/name_list.h"

#include <patchbay/catalog.h>

/* How a definition stands to what was approved. */
typedef enum hub_pin {
    HUB_PIN_UNKNOWN, /* nothing is pinned */
    HUB_PIN_SAME,
    HUB_PIN_CHANGED,
    HUB_PIN_NEW,
} hub_pin;

/* What was found in a list that is held against pins. */
typedef struct hub_pin_report {
    hub_name_list changed; /* names of definitions … */
    hub_name_list added;
    hub_name_list missing; /* … that are pinned, and not there */
} hub_pin_report;

/* Append the canonical form of a raw definition. */
void hub_pin_add_canonical(hub_buf *out, hub_str definition);

/* The digest of a raw definition, in hexadecimal. `scratch` is a buffer that may be used again.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_pin_digest(hub_str definition, hub_buf *scratch,
                                      char ret_hex[HUB_DIGEST_HEX_BYTES]);

/* The same of a text as it is. */
void hub_pin_digest_text(hub_str text, char ret_hex[HUB_DIGEST_HEX_BYTES]);

/* Whether the pins in `json` say "changed", or "new": such definitions are withheld. */
bool hub_pins_say(hub_str json, const char *key);

/* The pins of one kind of definitions of a toolset. */
typedef struct hub_pins hub_pins;

/* `kind` is PATCHBAY_TOOLS or PATCHBAY_PROMPTS. `json` is borrowed for the life of the pins.
 * owns:    *ret_pins
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_pins_read(int kind, hub_str json, hub_pins **ret_pins);
void hub_pins_destroy(hub_pins *pins); /* NULL is fine */

/* Hold a definition against the pin of its name, and note it in the report.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_pins_judge(hub_pins *pins, hub_str name, hub_str definition,
                                      hub_pin_report *report, hub_pin *ret_pin);

/* Whether a definition that stands so is kept from clients. */
bool hub_pins_withhold(const hub_pins *pins, hub_pin pin);

/* Note the names that were not asked for. */
void hub_pins_note_missing(const hub_pins *pins, hub_pin_report *report);

/* How the instructions of a server, as the hub shows them (NULL: none), stand to the pins in `json`;
 * and whether they are withheld. */
hub_pin hub_pin_of_text(hub_str json, const char *text, bool *ret_is_withheld);

#endif
