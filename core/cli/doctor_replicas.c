/* SPDX-License-Identifier: Apache-2.0 */
/* Other hubs with the same store: whether their manifests are this one. */
#include "cli/doctor.h"

#include "hub/replicas/manifests.h"
#include "state/address.h"
#include "state/sync.h"

#include <stdio.h>

enum { NAMES_BYTES = 4096, TEXT_BYTES = NAMES_BYTES + 512 };

/* What is gone through twice: the newest record says which ones are old. */
typedef struct seen {
    cli_examination *all;
    hub_str sections; /* of the manifest here */
    uint64_t newest;
} seen;

static void on_first(void *ctx, const hub_state_record *record)
{
    seen *of = ctx;
    of->newest = record->version > of->newest ? record->version : of->newest;
}

static void on_second(void *ctx, const hub_state_record *record)
{
    seen *of = ctx;
    char subject[64 + HUB_LIMIT_STATE_KEY_BYTES];
    char text[TEXT_BYTES];
    hub_buf names;
    if (hub_manifests_is_old(record->version, of->newest)) {
        return;
    }
    hub_buf_init(&names, NAMES_BYTES);
    hub_manifests_compare(of->sections, record->document, &names);
    bool differs = names.len > 0 || !hub_buf_ok(&names);
    (void)snprintf(subject, sizeof subject, "replica " HUB_STR_FMT, HUB_STR_ARG(record->key));
    if (differs) {
        (void)snprintf(text, sizeof text, "its manifest is another one: " HUB_STR_FMT,
                       HUB_STR_ARG(hub_buf_ok(&names) ? hub_buf_str(&names) : HUB_STR("all")));
    }
    cli_doctor_tell(of->all, differs ? CLI_DOUBTFUL : CLI_FINE, subject,
                    differs ? text : "has this manifest",
                    differs ? "give all hubs of one store the same manifest" : NULL);
    hub_buf_fini(&names);
}

void cli_doctor_replicas(cli_examination *all)
{
    const hub_settings *settings = &all->config->settings;
    const hub_state_settings *state = &settings->state;
    seen of = {.all = all, .newest = 0};
    hub_state_sync *sync = NULL;
    hub_error why = {.code = HUB_OK};
    if (state->place == NULL || !hub_state_address_is(hub_str_of(state->place)) ||
        settings->replicas.sections == NULL) {
        return;
    }
    of.sections = hub_str_of(settings->replicas.sections);
    hub_err err =
        hub_state_sync_open(state->place, state->password, state->scope, state->key, &sync, &why);
    err = err == HUB_OK ? hub_state_sync_each(sync, &HUB_MANIFESTS_KIND, on_first, &of, &why) : err;
    err =
        err == HUB_OK ? hub_state_sync_each(sync, &HUB_MANIFESTS_KIND, on_second, &of, &why) : err;
    if (err != HUB_OK) {
        cli_doctor_tell(all, CLI_BAD, "store", why.text, "the hubs that share it work without it");
    }
    hub_state_sync_close(sync);
}
