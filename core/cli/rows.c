/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rows.h"

#include "cli/cli.h"
#include "redact/redact.h"
#include "wire/json.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void cli_row_begin(hub_buf *row)
{
    hub_buf_init(row, SIZE_MAX / 4);
    hub_buf_add_char(row, '{');
}

void cli_row_add(hub_buf *row, const char *key, hub_str text)
{
    hub_json_add_key(row, hub_str_of(key));
    hub_json_add_string(row, text);
}

void cli_row_add_count(hub_buf *row, const char *key, size_t count)
{
    hub_json_add_key(row, hub_str_of(key));
    hub_buf_printf(row, "%zu", count);
}

void cli_row_add_bool(hub_buf *row, const char *key, bool is_so)
{
    hub_json_add_key(row, hub_str_of(key));
    hub_buf_add(row, is_so ? HUB_STR("true") : HUB_STR("false"));
}

void cli_row_add_json(hub_buf *row, const char *key, hub_str json)
{
    hub_json_add_key(row, hub_str_of(key));
    hub_buf_add(row, json);
}

void cli_row_print(hub_buf *row)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_buf_add_char(row, '}');
    bool is_masked = hub_redact(hub_buf_str(row), &masked);
    const hub_buf *shown = is_masked ? &masked : row;
    cli_print_json(hub_buf_ok(shown) ? hub_buf_str(shown)
                                     : HUB_STR("{\"level\":\"error\",\"text\":\"out of memory\"}"));
    (void)fflush(stdout); /* whoever reads lines has this one now, and a child does not repeat it */
    hub_buf_fini(&masked);
    hub_buf_fini(row);
}

static const char *usual_level; /* of what is complained of; NULL: not in rows */

void cli_complain_in_rows(const char *level)
{
    usual_level = level;
}

/* The level is the word that the text begins with. */
static hub_str take_level(hub_str *text)
{
    static const char *const LEVELS[] = {"warning", "info"};
    for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++) {
        hub_str level = hub_str_of(LEVELS[i]);
        if (hub_str_starts(*text, level) &&
            hub_str_starts(hub_str_from(*text, level.len), HUB_STR(": "))) {
            *text = hub_str_from(*text, level.len + 2);
            return level;
        }
    }
    return hub_str_of(usual_level);
}

bool cli_row_complain(hub_str text)
{
    hub_buf row;
    if (usual_level != NULL) {
        hub_str level = take_level(&text);
        cli_row_begin(&row);
        cli_row_add(&row, "level", level);
        cli_row_add(&row, "text", text);
        cli_row_print(&row);
    }
    return usual_level != NULL;
}
