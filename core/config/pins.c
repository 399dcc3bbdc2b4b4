/* SPDX-License-Identifier: Apache-2.0 */
/* What toolsets are held against: the lock file beside the manifest, as the JSON of tools/pin.h. */
#include "config/reader.h"

#include "config/lock_file.h"
#include "wire/json.h"

#include <sys/stat.h>

/* The most of a command or a URL that a warning shows. */
enum { SHOWN_ORIGIN_BYTES = 160 };

static void add_list(const hub_lock_list *list, const char *key, hub_buf *out)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add_char(out, '{');
    for (size_t i = 0; i < list->count; i++) {
        hub_json_add_key(out, list->items[i].name);
        hub_buf_printf(out, "\"" HUB_STR_FMT "\"", HUB_STR_ARG(list->items[i].digest));
    }
    hub_buf_add_char(out, '}');
}

static hub_err write_pins(hub_config_reader *reader, const hub_lock_toolset *locked,
                          hub_toolset_settings *settings)
{
    const hub_pins_settings *pins = &reader->config.settings.pins;
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_buf_printf(&out, "{\"changed\":%s,\"new\":%s",
                   pins->mode == HUB_PINS_WITHHOLD ? "true" : "false",
                   pins->withholds_new ? "true" : "false");
    if (locked != NULL) {
        if (locked->instructions.digest.len > 0) {
            hub_buf_printf(&out, ",\"instructions\":\"" HUB_STR_FMT "\"",
                           HUB_STR_ARG(locked->instructions.digest));
        }
        add_list(&locked->tools, "tools", &out);
        add_list(&locked->prompts, "prompts", &out);
    }
    hub_buf_add_char(&out, '}');
    settings->pins = hub_buf_ok(&out) ? hub_arena_strdup(reader->arena, hub_buf_str(&out)) : NULL;
    hub_buf_fini(&out);
    return settings->pins != NULL ? HUB_OK : hub_config_no_memory(reader);
}

/* A text from the word on in which it differs from another one. */
static hub_str from_difference(hub_str text, hub_str other, hub_buf *out)
{
    size_t at = 0;
    size_t word = 0;
    while (at < text.len && at < other.len && text.ptr[at] == other.ptr[at]) {
        word = text.ptr[at] == ' ' ? at + 1 : word;
        at++;
    }
    hub_str rest = hub_str_from(text, word);
    bool is_long = rest.len > SHOWN_ORIGIN_BYTES;
    rest.len = is_long ? SHOWN_ORIGIN_BYTES : rest.len;
    hub_buf_add(out, word > 0 ? HUB_STR("… ") : HUB_STR_EMPTY);
    hub_buf_add(out, rest);
    hub_buf_add(out, is_long ? HUB_STR("…") : HUB_STR_EMPTY);
    return hub_buf_str(out);
}

/* Hold the command or URL against the one that was approved. */
static hub_err check_origin(hub_config_reader *reader, const hub_lock_toolset *locked,
                            hub_config_toolset *toolset)
{
    hub_toolset_settings *settings = &toolset->settings;
    hub_str origin = hub_str_of(settings->origin);
    if (locked == NULL || locked->origin.len == 0 || hub_str_eq(locked->origin, origin)) {
        return HUB_OK;
    }
    hub_buf approved;
    hub_buf found;
    hub_buf_init(&approved, SIZE_MAX / 4);
    hub_buf_init(&found, SIZE_MAX / 4);
    hub_str before = from_difference(locked->origin, origin, &approved);
    hub_str now = from_difference(origin, locked->origin, &found);
    settings->is_withheld = reader->config.settings.pins.mode == HUB_PINS_WITHHOLD;
    hub_err err = hub_config_warn(reader, toolset->node,
                                  "its command or URL is not the approved one%s: " HUB_LOCK_FILE
                                  " has `" HUB_STR_FMT "`, found `" HUB_STR_FMT
                                  "`; if that is right, run `patchbay approve %s`",
                                  settings->is_withheld ? ", so clients get nothing of it" : "",
                                  HUB_STR_ARG(before), HUB_STR_ARG(now), settings->key);
    hub_buf_fini(&approved);
    hub_buf_fini(&found);
    return err;
}

static hub_err pin_toolsets(hub_config_reader *reader, const hub_lock *lock)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < reader->toolset_count; i++) {
        hub_config_toolset *toolset = &reader->toolsets[i];
        if (toolset->is_refused || !toolset->settings.enabled) {
            continue;
        }
        const hub_lock_toolset *locked = hub_lock_find(lock, hub_str_of(toolset->settings.key));
        err = write_pins(reader, locked, &toolset->settings);
        err = err == HUB_OK ? check_origin(reader, locked, toolset) : err;
    }
    return err;
}

/* There is no lock file: then nothing is pinned, unless the manifest counts on it. */
static hub_err do_without(const hub_config_reader *reader)
{
    const hub_pins_settings *pins = &reader->config.settings.pins;
    const char *key = pins->mode == HUB_PINS_WITHHOLD ? "policy.pinned"
                      : pins->withholds_new           ? "policy.new_tools"
                                                      : NULL;
    return key == NULL ? HUB_OK
                       : hub_fail(reader->reterr, HUB_EINVAL,
                                  "%s: there is no such file, and %s is withhold: write it with "
                                  "`patchbay lock`",
                                  pins->lock, key);
}

hub_err hub_config_finish_pins(hub_config_reader *reader, bool ignores_lock)
{
    hub_pins_settings *pins = &reader->config.settings.pins;
    if (pins->mode == HUB_PINS_OFF || !reader->variables.has_files || reader->document_count == 0 ||
        reader->documents[0].is_pipe) {
        return HUB_OK;
    }
    pins->lock = hub_arena_printf(reader->arena, "%s/" HUB_LOCK_FILE, reader->documents[0].folder);
    if (pins->lock == NULL) {
        return hub_config_no_memory(reader);
    }
    if (ignores_lock) {
        return HUB_OK;
    }
    hub_err err = hub_config_note_file(&reader->config, pins->lock, false, reader->reterr);
    if (err != HUB_OK || reader->config.files->stamp.inode == 0) {
        return err != HUB_OK ? err : do_without(reader);
    }
    hub_lock lock;
    unsigned mode = 0;
    err = hub_lock_read(pins->lock, reader->scratch, &lock, &mode, reader->reterr);
    if (err == HUB_OK && (mode & S_IWOTH) != 0) {
        const hub_node place = {.file = pins->lock, .line = 1};
        err = hub_config_warn(reader, &place, "every user of this machine can change this file");
    }
    return err == HUB_OK ? pin_toolsets(reader, &lock) : err;
}
