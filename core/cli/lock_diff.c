/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed of a definition, for people: the members that differ, before and after. */
#include "cli/locking.h"

#include "cli/rows.h"
#include "tools/pin.h"
#include "tools/suspects.h"
#include "wire/json.h"

/* The most of a value that is shown. */
enum { VALUE_BYTES = 4096 };

static void add_visible(hub_buf *line, hub_str value)
{
    bool is_cut = value.len > VALUE_BYTES;
    size_t len = is_cut ? VALUE_BYTES : value.len;
    while (is_cut && len > 0 && ((unsigned char)value.ptr[len] & 0xc0) == 0x80) {
        len--; /* within a character */
    }
    hub_suspects_add_visible((hub_str){.ptr = value.ptr, .len = len}, line);
    hub_buf_add(line, is_cut ? HUB_STR("…") : HUB_STR_EMPTY);
}

static void print_value(const char *mark, hub_str value)
{
    hub_buf line;
    if (value.len > 0) {
        hub_buf_init(&line, SIZE_MAX / 4);
        hub_buf_printf(&line, "    %s ", mark);
        add_visible(&line, value);
        cli_report(hub_buf_str(&line));
        hub_buf_fini(&line);
    }
}

static void print_change(const hub_buf *path, hub_str old, hub_str now)
{
    hub_buf line;
    hub_buf_init(&line, SIZE_MAX / 4);
    hub_buf_add(&line, HUB_STR("  "));
    add_visible(&line, hub_buf_str(path));
    hub_buf_add(&line, old.len == 0   ? HUB_STR(" (added)")
                       : now.len == 0 ? HUB_STR(" (removed)")
                                      : HUB_STR_EMPTY);
    cli_report(hub_buf_str(&line));
    hub_buf_fini(&line);
    print_value("-", old);
    print_value("+", now);
}

static void add_key(hub_buf *path, hub_str raw)
{
    hub_str key = raw;
    (void)hub_json_plain(raw, &key);
    hub_buf_add(path, path->len > 0 ? HUB_STR(".") : HUB_STR_EMPTY);
    hub_buf_add(path, key);
}

/* Two canonical values: the members of objects are in order. Recursion is bounded by
 * HUB_LIMIT_JSON_DEPTH. */
static void compare(hub_buf *path, hub_str old, hub_str now)
{
    if (hub_str_eq(old, now)) {
        return;
    }
    if (hub_json_type_of(old) != HUB_JSON_OBJECT || hub_json_type_of(now) != HUB_JSON_OBJECT) {
        print_change(path, old, now);
        return;
    }
    hub_json_iter left = hub_json_iterate(old);
    hub_json_iter right = hub_json_iterate(now);
    hub_str keys[2];
    hub_str values[2];
    bool has_left = hub_json_next(&left, &keys[0], &values[0]);
    bool has_right = hub_json_next(&right, &keys[1], &values[1]);
    while (has_left || has_right) {
        int order = !has_left ? 1 : !has_right ? -1 : hub_str_cmp(keys[0], keys[1]);
        size_t len = path->len;
        add_key(path, order <= 0 ? keys[0] : keys[1]);
        compare(path, order <= 0 ? values[0] : HUB_STR_EMPTY,
                order >= 0 ? values[1] : HUB_STR_EMPTY);
        path->len = len;
        has_left = order <= 0 ? hub_json_next(&left, &keys[0], &values[0]) : has_left;
        has_right = order >= 0 ? hub_json_next(&right, &keys[1], &values[1]) : has_right;
    }
}

/* The approved definition in its canonical form; false: the file does not have it, or another one
 * than it has the digest of. */
static bool read_approved(const hub_lock_entry *entry, hub_buf *out)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    return entry->definition.len > 0 && hub_pin_digest(entry->definition, out, hex) == HUB_OK &&
           hub_str_is(entry->digest, hex);
}

static const char *word_of(const hub_lock_entry *old, const hub_lock_entry *now)
{
    return old == NULL ? "new" : now == NULL ? "gone" : "changed";
}

/* The texts are what is in the lock file, or would be; of a definition JSON. */
static void add_text(hub_buf *row, const char *key, const hub_lock_entry *entry, bool is_text)
{
    if (entry == NULL || entry->definition.len == 0) {
        return;
    }
    if (is_text) {
        cli_row_add(row, key, entry->definition);
    } else {
        cli_row_add_json(row, key, entry->definition);
    }
}

void cli_lock_print_row(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                        const hub_lock_entry *now)
{
    size_t *count = ctx;
    bool is_text = strcmp(what, "origin") == 0 || strcmp(what, "instructions") == 0;
    hub_buf row;
    ++*count;
    cli_row_begin(&row);
    cli_row_add(&row, "toolset", toolset);
    cli_row_add(&row, "what", hub_str_of(what));
    if (!is_text) {
        cli_row_add(&row, "name", old != NULL ? old->name : now->name);
    }
    cli_row_add(&row, "change", hub_str_of(word_of(old, now)));
    add_text(&row, "before", old, is_text);
    add_text(&row, "after", now, is_text);
    cli_row_print(&row);
}

static void print_head(hub_str toolset, const char *what, const hub_lock_entry *old,
                       const hub_lock_entry *now)
{
    hub_buf line;
    hub_str name = old != NULL ? old->name : now->name;
    const char *word = word_of(old, now);
    hub_buf_init(&line, SIZE_MAX / 4);
    hub_buf_add(&line, toolset);
    if (strcmp(what, "origin") == 0) {
        hub_buf_printf(&line, ": command or URL: %s", word);
    } else if (name.len == 0) {
        hub_buf_printf(&line, ": %s: %s", what, word);
    } else {
        hub_buf_printf(&line, ": %s \"", what);
        add_visible(&line, name);
        hub_buf_printf(&line, "\": %s", word);
    }
    cli_report(hub_buf_str(&line));
    hub_buf_fini(&line);
}

void cli_lock_print(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                    const hub_lock_entry *now)
{
    size_t *count = ctx;
    hub_buf path;
    hub_buf approved;
    ++*count;
    print_head(toolset, what, old, now);
    bool is_text = strcmp(what, "origin") == 0 || strcmp(what, "instructions") == 0;
    if (old == NULL || now == NULL || is_text) {
        print_value("-", old != NULL ? old->definition : HUB_STR_EMPTY);
        print_value("+", now != NULL ? now->definition : HUB_STR_EMPTY);
        return;
    }
    hub_buf_init(&path, SIZE_MAX / 4);
    hub_buf_init(&approved, SIZE_MAX / 4);
    if (read_approved(old, &approved)) {
        compare(&path, hub_buf_str(&approved), now->definition);
    } else {
        cli_print(HUB_STR("  the lock file does not have the approved text"));
        print_value("+", now->definition);
    }
    hub_buf_fini(&approved);
    hub_buf_fini(&path);
}
