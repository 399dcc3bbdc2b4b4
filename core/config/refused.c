/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of other programs' files that cannot be served: a variable that only that program knows,
 * a server without a command. They are told, and the others are served.
 */
#include "config/reader.h"

void hub_config_begin_attempt(hub_config_reader *reader, hub_config_attempt *attempt)
{
    *attempt = (hub_config_attempt){.outer = reader->reterr};
    reader->reterr = &attempt->why;
}

static hub_err note(hub_config_reader *reader, const char *key, const char *text)
{
    hub_config_refused *grown =
        hub_config_grow(reader, reader->refused, reader->refused_count, sizeof *grown);
    if (grown == NULL) {
        return hub_config_no_memory(reader);
    }
    reader->refused = grown;
    hub_config_refused *last = &grown[reader->refused_count];
    last->key = key != NULL ? hub_arena_strdup(reader->arena, hub_str_of(key)) : NULL;
    last->text = hub_arena_strdup(reader->arena, hub_str_of(text));
    if (last->text == NULL || (key != NULL && last->key == NULL)) {
        return hub_config_no_memory(reader);
    }
    reader->refused_count++;
    return HUB_OK;
}

hub_err hub_config_end_attempt(hub_config_reader *reader, hub_config_attempt *attempt, hub_err err,
                               const char *key)
{
    reader->reterr = attempt->outer;
    if (err == HUB_OK) {
        return HUB_OK;
    }
    bool is_full = err == HUB_ENOMEM || hub_arena_failed(reader->arena) != HUB_OK ||
                   hub_arena_failed(reader->scratch) != HUB_OK;
    return is_full ? hub_fail(reader->reterr, err, "%s", attempt->why.text)
                   : note(reader, key, attempt->why.text);
}

hub_err hub_config_finish_refused(hub_config_reader *reader)
{
    size_t count = reader->refused_count;
    reader->config.refused = reader->refused;
    reader->config.refused_count = count;
    if (count == 0 || reader->config.settings.toolset_count > 0) {
        return HUB_OK;
    }
    return count == 1 ? hub_fail(reader->reterr, HUB_EINVAL, "%s", reader->refused[0].text)
                      : hub_fail(reader->reterr, HUB_EINVAL,
                                 "%.400s; %zu more servers cannot be served, and no other is there",
                                 reader->refused[0].text, count - 1);
}
