/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manual page patchbay.yaml(5), as scdoc reads it: every key with its whole name ("limits.call_timeout"),
 * its default and its description.
 */
#include "config/describe/describe.h"

#include "base/limits.h"
#include "config/manual_text.h"

#include <string.h>

static const char ABOUT[] =
    "A manifest says which toolsets the hub has, what it shows of them, and where it listens. "
    "Nothing in it is required. It is YAML or JSON; a file with an mcpServers map, as MCP clients "
    "have it, is one, too. Sizes are bytes, or 64KiB, 4MiB, 1GiB. Times have a unit: 500ms, 30s, "
    "2m, "
    "1h. Relative paths are below the file's folder. In commands, URLs, headers, environments and "
    "paths ${VAR}, ${VAR:-default}, ${env:VAR} and ${file:PATH}, ${secret:NAME} and "
    "${credential:NAME} are replaced; a dollar is written "
    "$$. "
    "patchbay check FILE says what is wrong with a file.";

static void add_keys(hub_buf *out, const char *path, const hub_config_key *keys);

static void add_default(hub_buf *out, const hub_config_key *key)
{
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    if (hub_config_has_default(key)) {
        hub_config_add_default(&value, key);
    }
    hub_str text = hub_str_trim(hub_buf_str(&value));
    if (text.len > 0) {
        hub_buf_add(out, HUB_STR(": "));
        hub_manual_add(out, text);
    }
    hub_buf_fini(&value);
}

/* Names of the user's choice are NAME, elements of a list []. */
static void add_inner(hub_buf *out, const hub_config_key *key, const char *path)
{
    hub_buf inner;
    hub_buf_init(&inner, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_printf(&inner, "%s%s", path,
                   key->kind == HUB_CONFIG_MAP_OF    ? ".NAME"
                   : key->kind == HUB_CONFIG_LIST_OF ? "[]"
                                                     : "");
    if (hub_buf_ok(&inner)) {
        add_keys(out, inner.ptr, key->keys);
    }
    hub_buf_fini(&inner);
}

static void add_key(hub_buf *out, const char *path, const hub_config_key *key)
{
    hub_buf name;
    hub_buf about;
    hub_buf_init(&name, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&about, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_printf(&name, "%s%s%s", path, path[0] != '\0' ? "." : "", key->name);
    hub_describe_about(key, &about);
    if (hub_buf_ok(&name) && hub_buf_ok(&about)) {
        hub_buf_add(out, HUB_STR("\n*"));
        hub_manual_add(out, hub_buf_str(&name));
        hub_buf_add(out, HUB_STR("*"));
        add_default(out, key);
        hub_manual_add_paragraph(out, 1, hub_buf_str(&about));
        if (key->keys != NULL) {
            add_inner(out, key, name.ptr);
        }
    }
    hub_buf_fini(&name);
    hub_buf_fini(&about);
}

static void add_keys(hub_buf *out, const char *path, const hub_config_key *keys)
{
    for (; keys->name != NULL; keys++) {
        if (keys->kind != HUB_CONFIG_NO_KEY && keys->stands_for == NULL) {
            add_key(out, path, keys);
        }
    }
}

void hub_describe_manual(hub_buf *out)
{
    hub_buf_add(out, HUB_STR("patchbay.yaml(5)\n\n# NAME\n\n"
                             "patchbay.yaml - the manifest of a Patchbay hub\n\n# DESCRIPTION\n"));
    hub_manual_add_paragraph(out, 0, hub_str_of(ABOUT));
    hub_buf_add(out, HUB_STR("\n# KEYS\n"));
    add_keys(out, "", HUB_CONFIG_MANIFEST_KEYS);
    hub_buf_add(out, HUB_STR("\n# SEE ALSO\n\n*patchbay*(1)\n"));
}
