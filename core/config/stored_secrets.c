/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ${secret:NAME} and ${credential:NAME}: secrets that no file of the configuration has. Each one is
 * masked before anything else is done with it.
 * spec: systemd.exec(5), LoadCredential= and $CREDENTIALS_DIRECTORY
 */
#include "config/stored_secrets.h"

#include "base/limits.h"
#include "config/reader.h"
#include "wire/json.h"

const hub_state_kind HUB_SECRET_KIND = {.name = "secret", .is_secret = true};

/* The store is opened for the first secret, and closed with the reader. */
static hub_err open_store(hub_config_reader *reader, hub_error *reterr)
{
    hub_state_settings state;
    if (reader->store != NULL) {
        return HUB_OK;
    }
    hub_err err = hub_config_find_state(reader, &state, reterr);
    return err == HUB_OK ? hub_state_sync_open(state.place, state.password, state.scope, state.key,
                                               &reader->store, reterr)
                         : err;
}

/* Append the value of a secret. blocks: as hub_state_sync_get
 * errors:  HUB_ENOTFOUND, HUB_EINVAL (the record is no text), those of hub_state_sync_get */
static hub_err read_secret(hub_state_sync *store, hub_str name, hub_buf *value, hub_error *reterr)
{
    const hub_state_id id = {.kind = &HUB_SECRET_KIND, .key = name};
    hub_buf document;
    hub_buf_init_secret(&document, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_err err = hub_state_sync_get(store, &id, &document, NULL, reterr);
    if (err == HUB_ENOTFOUND) {
        err = hub_fail(reterr, err,
                       "there is no secret \"" HUB_STR_FMT "\" in the store: run `patchbay secret "
                       "set " HUB_STR_FMT "`, with the same --config",
                       HUB_STR_ARG(name), HUB_STR_ARG(name));
    } else if (err == HUB_OK && hub_json_decode(hub_buf_str(&document), value) != HUB_OK) {
        err =
            hub_fail(reterr, HUB_EINVAL, "the secret \"" HUB_STR_FMT "\" is not text: set it again",
                     HUB_STR_ARG(name));
    }
    hub_buf_fini(&document);
    return err;
}

static hub_err read_credential(hub_config_reader *reader, hub_str name, hub_buf *value,
                               hub_error *reterr)
{
    const char *folder = hub_expand_find(&reader->variables, HUB_STR("CREDENTIALS_DIRECTORY"));
    if (folder == NULL || folder[0] != '/') {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "the credential \"" HUB_STR_FMT
                        "\" is not there: systemd hands credentials "
                        "to services whose unit says LoadCredential=" HUB_STR_FMT ":/PATH",
                        HUB_STR_ARG(name), HUB_STR_ARG(name));
    }
    const char *path =
        hub_arena_printf(reader->scratch, "%s/" HUB_STR_FMT, folder, HUB_STR_ARG(name));
    if (path == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err = hub_config_note_file(&reader->config, path, false, reterr);
    if (err == HUB_OK) {
        err = hub_file_read(path, value, NULL, reterr);
    }
    if (err == HUB_OK && value->len > 0 && value->ptr[value->len - 1] == '\n') {
        value->len--;
    }
    return err;
}

hub_err hub_config_find_secret(void *ctx, hub_secret_kind kind, hub_str name, hub_buf *value,
                               hub_error *reterr)
{
    hub_config_reader *reader = ctx;
    hub_err err = HUB_OK;
    if (kind == HUB_SECRET_CREDENTIAL) {
        err = read_credential(reader, name, value, reterr);
    } else {
        reader->config.has_stored_secrets = true;
        err = open_store(reader, reterr);
        err = err == HUB_OK ? read_secret(reader->store, name, value, reterr) : err;
    }
    return err == HUB_OK ? hub_config_hide(reader, hub_buf_str(value), reterr) : err;
}
