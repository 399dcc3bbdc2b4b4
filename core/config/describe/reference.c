/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference manifest. Keys come from the tables; by hand are the head, and which toolsets,
 * profiles and listeners are shown.
 */
#include "config/describe/describe.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 100, INDENT = 2 };

static const char HEAD[] =
    "# yaml-language-server: $schema=../schemas/manifest.schema.json\n"
    "#\n"
    "# Written by patchbay-settings from the tables in core/config: do not edit it here.\n"
    "#\n"
    "# Every key of a Patchbay manifest, with its default; a key that has no default is shown "
    "with\n"
    "# an example, mostly in a comment. Nothing here is required: an empty manifest serves the\n"
    "# plugins that are installed. Loading this file as it is changes nothing but for the "
    "toolsets,\n"
    "# the profile and the listeners it shows.\n"
    "#\n"
    "#   patchbay check manifest-reference.yaml\n"
    "#\n"
    "# Sizes are bytes, or \"64KiB\", \"4MiB\", \"1GiB\". Times have a unit: \"500ms\", \"30s\", "
    "\"2m\",\n"
    "# \"1h\". Relative paths are below this file's folder.\n"
    "# Variables are expanded in command, args, env, cwd, url, headers, in the text of a plugin's\n"
    "# config, and in the addresses and paths of listen and auth:\n"
    "#   ${VAR}  ${VAR:-default}  ${env:VAR}  ${file:/path/of/a/secret}\n"
    "#   ${secret:NAME} of `patchbay secret set NAME`  ${credential:NAME} of systemd  $$ for a "
    "dollar.\n"
    "# A variable that is not set and has no default is an error.\n"
    "# More than one file may be given: toolsets are joined, of everything else the later file's\n"
    "# word counts.\n";

/* Where the next line goes. */
typedef struct page {
    hub_buf *out;
    size_t depth;
    bool is_comment; /* all of it, … */
    size_t inner;    /* … in which it is so many steps further in */
    bool is_item;    /* the next key begins an element of a list */
} page;

/* Some of a table's rows. */
typedef struct selection {
    unsigned of;     /* those of these entries, */
    unsigned not_of; /* but not of these; */
    bool has_common; /* and those of all entries */
} selection;

/* A toolset that is shown, with the keys that no toolset before it has shown. */
typedef struct sample {
    const char *key;
    const char *about;
    selection keys;
    const char *more;
} sample;

static const sample SAMPLES[] = {
    {"git",
     "A server of its own, started when it is first needed: the keys of an `mcpServers` entry. The "
     "keys from `enabled` on are those of every toolset.",
     {HUB_CONFIG_OF_COMMAND, 0, true},
     NULL},
    {"docs",
     "A server somewhere else, with the keys above from `startup_timeout` on.",
     {HUB_CONFIG_OF_URL, HUB_CONFIG_OF_COMMAND, false},
     "    type: http # or sse, the transport of 2024-11-05, if it is not to be found out\n"
     "\n"
     "  # A server that listens on a Unix socket, and speaks over it as over stdin and stdout.\n"
     "  local:\n"
     "    url: unix:///run/mcp/server.sock\n"
     "    active: false\n"
     "\n"
     "  # A server that speaks over WebSocket; or wss, with the keys of https.\n"
     "  live:\n"
     "    url: ws://127.0.0.1:8790/ws\n"
     "    active: false\n"},
    {"time-berlin", "A plugin.", {HUB_CONFIG_OF_MODULE, 0, false}, NULL},
};

void hub_describe_bounds(const hub_config_key *key, hub_buf *out)
{
    bool is_number = key->kind == HUB_CONFIG_COUNT || key->kind == HUB_CONFIG_SIZE ||
                     key->kind == HUB_CONFIG_DURATION;
    if (!is_number) {
        return;
    }
    hub_buf_add(out, key->least == 0 ? HUB_STR(" At most ")
                     : key->has_zero ? HUB_STR(" Else from ")
                                     : HUB_STR(" From "));
    if (key->least > 0) {
        hub_config_add_number(out, key->kind, key->least);
        hub_buf_add(out, HUB_STR(" to "));
    }
    hub_config_add_number(out, key->kind, key->most);
    hub_buf_add_char(out, '.');
}

static void add_words(const hub_config_key *key, hub_buf *out)
{
    const char *before = " One of: ";
    for (const hub_config_word *word = key->words; word != NULL && word->word != NULL; word++) {
        if (!word->is_alias) {
            hub_buf_printf(out, "%s%s", before, word->word);
            before = ", ";
        }
    }
    hub_buf_add(out, key->words != NULL ? HUB_STR(".") : HUB_STR_EMPTY);
}

void hub_describe_about(const hub_config_key *key, hub_buf *out)
{
    hub_buf_add(out, hub_str_of(key->about));
    hub_describe_bounds(key, out);
    add_words(key, out);
}

static void add_indent(const page *at, bool is_comment)
{
    hub_buf_printf(at->out, "%*s%s%*s", (int)(at->depth * INDENT), "", is_comment ? "# " : "",
                   (int)(at->inner * INDENT), "");
}

/* A comment above, broken at words. */
static void add_comment(const page *at, hub_str text)
{
    size_t room = COLUMNS - (at->depth + at->inner) * INDENT - 2;
    while (text.len > 0) {
        size_t len = text.len;
        if (len > room) {
            len = room;
            while (len > 0 && text.ptr[len] != ' ') {
                len--;
            }
        }
        add_indent(at, true);
        hub_buf_add(at->out, (hub_str){.ptr = text.ptr, .len = len});
        hub_buf_add_char(at->out, '\n');
        text = hub_str_trim(hub_str_from(text, len));
    }
}

/* "key: value" with its comment behind it, or above where that is too long. */
static void add_line(page *at, const char *name, hub_str value, hub_str about, bool is_comment)
{
    hub_buf line;
    hub_buf_init(&line, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_printf(&line, "%s%s:%s" HUB_STR_FMT, at->is_item ? "- " : "", name,
                   value.len > 0 ? " " : "", HUB_STR_ARG(value));
    bool is_hidden = is_comment || at->is_comment;
    size_t used = (at->depth + at->inner) * INDENT + (is_hidden ? 2 : 0) + line.len;
    bool fits = used + about.len + 3 <= COLUMNS;
    if (!fits) {
        add_comment(at, about);
    }
    add_indent(at, is_hidden);
    hub_buf_add(at->out, hub_buf_str(&line));
    if (fits && about.len > 0) {
        hub_buf_printf(at->out, " # " HUB_STR_FMT, HUB_STR_ARG(about));
    }
    hub_buf_add_char(at->out, '\n');
    hub_buf_fini(&line);
    *(at->is_comment ? &at->inner : &at->depth) +=
        at->is_item; /* the others stand below its name */
    at->is_item = false;
}

static void add_value(const hub_config_key *key, hub_buf *out)
{
    bool is_number = key->fallback_text != NULL && key->fallback_text[0] <= '9';
    hub_buf_add_char(out, is_number ? '"' : ' ');
    if (hub_config_has_default(key)) {
        hub_config_add_default(out, key);
    } else if (key->example != NULL) {
        hub_buf_add(out, hub_str_of(key->example));
    }
    hub_buf_add(out, is_number ? HUB_STR("\"") : HUB_STR_EMPTY);
}

static void add_keys(page *at, const hub_config_key *keys, const selection *some);

/* The keys of the map within, one step deeper. */
static void add_inner(const page *at, const hub_config_key *key)
{
    page inner = *at;
    inner.is_comment |= key->is_comment;
    inner.inner += inner.is_comment;
    inner.depth += !inner.is_comment;
    if (key->kind == HUB_CONFIG_MAP) {
        add_keys(&inner, key->keys, NULL);
    }
    bool is_single = key->schema != NULL; /* each element has one key alone */
    page item = {
        .out = at->out, .depth = at->depth, .is_comment = true, .inner = 1, .is_item = true};
    for (const hub_config_key *one = key->keys;
         key->kind == HUB_CONFIG_LIST_OF && one->name != NULL; one++) {
        page next = {
            .out = at->out, .depth = at->depth, .is_comment = true, .inner = 1, .is_item = true};
        item = is_single ? next : item;
        add_line(&item, one->name, hub_str_of(one->example), hub_str_of(one->about), true);
    }
}

static void add_key(page *at, const hub_config_key *key)
{
    hub_buf value;
    hub_buf about;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&about, HUB_LIMIT_CONFIG_BYTES);
    add_value(key, &value);
    hub_describe_about(key, &about);
    add_line(at, key->name, hub_str_trim(hub_buf_str(&value)), hub_buf_str(&about),
             key->is_comment);
    if (key->keys != NULL && (key->kind == HUB_CONFIG_LIST_OF || key->example == NULL)) {
        add_inner(at, key);
    }
    hub_buf_fini(&about);
    hub_buf_fini(&value);
}

static bool is_selected(const hub_config_key *key, const selection *some)
{
    if (some == NULL || key->of == 0) {
        return some == NULL || some->has_common;
    }
    return (key->of & some->of) != 0 && (key->of & some->not_of) == 0;
}

/* `some`: NULL for all. */
static void add_keys(page *at, const hub_config_key *keys, const selection *some)
{
    for (; keys->name != NULL; keys++) {
        if (keys->kind != HUB_CONFIG_NO_KEY && is_selected(keys, some)) {
            add_key(at, keys);
        }
    }
}

static void add_toolsets(hub_buf *out)
{
    for (size_t i = 0; i < sizeof SAMPLES / sizeof *SAMPLES; i++) {
        const sample *about = &SAMPLES[i];
        page at = {.out = out, .depth = 1};
        hub_buf_add(out, i == 0 ? HUB_STR_EMPTY : HUB_STR("\n"));
        add_comment(&at, hub_str_of(about->about));
        add_line(&at, about->key, HUB_STR_EMPTY, HUB_STR_EMPTY, false);
        at.depth = 2;
        add_keys(&at, HUB_CONFIG_TOOLSET_KEYS, &about->keys);
        hub_buf_add(out, hub_str_of(about->more != NULL ? about->more : ""));
    }
}

static void add_listeners(hub_buf *out)
{
    static const selection KINDS[] = {{HUB_CONFIG_OF_HTTP, 0, true}, {HUB_CONFIG_OF_UNIX, 0, true}};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        page at = {.out = out, .depth = 1, .is_item = true};
        add_keys(&at, HUB_CONFIG_LISTEN_KEYS, &KINDS[i]);
    }
}

static void add_profiles(hub_buf *out)
{
    page at = {.out = out, .depth = 1};
    add_line(&at, "review", HUB_STR_EMPTY, HUB_STR_EMPTY, false);
    at.depth = 2;
    add_keys(&at, HUB_CONFIG_PROFILE_KEYS, NULL);
}

void hub_describe_reference(hub_buf *out)
{
    hub_buf_add(out, hub_str_of(HEAD));
    for (const hub_config_key *key = HUB_CONFIG_MANIFEST_KEYS; key->name != NULL; key++) {
        page at = {.out = out};
        if (key->kind == HUB_CONFIG_NO_KEY) {
            continue;
        }
        hub_buf_add_char(out, '\n');
        if (key->keys == NULL) { /* not a map, or not only */
            add_key(&at, key);
            continue;
        }
        add_comment(&at, hub_str_of(key->about));
        add_line(&at, key->name, HUB_STR_EMPTY, HUB_STR_EMPTY, false);
        at.depth = 1;
        if (key->keys == HUB_CONFIG_TOOLSET_KEYS) {
            add_toolsets(out);
        } else if (key->keys == HUB_CONFIG_LISTEN_KEYS) {
            add_listeners(out);
        } else if (key->keys == HUB_CONFIG_PROFILE_KEYS) {
            add_profiles(out);
        } else {
            add_keys(&at, key->keys, NULL);
        }
    }
}
