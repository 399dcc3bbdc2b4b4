/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/keys.h"

#include "hub/kernel/objects.h"
#include "state/secrets.h"

#include <sys/random.h>

/* What keys are derived for: these words never change. */
static const char *const USES[HUB_KEY_USES] = {
    [HUB_KEY_STATES] = "patchbay states 1",
    [HUB_KEY_TASKS] = "patchbay tasks 1",
    [HUB_KEY_CURSORS] = "patchbay cursors 1",
    [HUB_KEY_CATALOGS] = "patchbay catalogs 1",
};

hub_err hub_key_make(hub_key *ret_key)
{
    ssize_t got = getrandom(ret_key->bytes, sizeof ret_key->bytes, 0);
    return got == (ssize_t)sizeof ret_key->bytes ? HUB_OK : HUB_ESYSTEM;
}

static hub_err derive(const hub_state_keys *keys, hub_key_ring *ring, hub_error *reterr)
{
    bool is_done = true;
    ring->count = hub_state_keys_count(keys);
    for (size_t use = 0; use < HUB_KEY_USES; use++) {
        for (size_t age = 0; age < ring->count; age++) {
            is_done =
                hub_state_keys_derive(keys, age, USES[use], ring->keys[use][age].bytes) && is_done;
        }
    }
    return is_done ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

hub_err hub_key_ring_make(const char *file, hub_key_ring *ret_ring, hub_error *reterr)
{
    hub_state_keys *keys = NULL;
    hub_err err = HUB_OK;
    if (file != NULL) {
        err = hub_state_keys_read(file, &keys, reterr);
        err = err == HUB_OK ? derive(keys, ret_ring, reterr) : err;
        hub_state_keys_destroy(keys);
        return err;
    }
    ret_ring->count = 1;
    for (size_t use = 0; err == HUB_OK && use < HUB_KEY_USES; use++) {
        err = hub_key_make(&ret_ring->keys[use][0]);
    }
    return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "no random numbers can be had");
}

const hub_key *hub_key_at(const hub_orchestrator *hub, hub_key_use use, size_t age)
{
    return age < hub->keys.count ? &hub->keys.keys[use][age] : NULL;
}
