/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay lock: all that servers offer is approved. */
#include "cli/locking.h"

#include "hub/pins/pins.h"

enum { EXIT_DIFFERENT = 1 /* as of diff(1) */ };

static void on_line(void *ctx, const char *line)
{
    (void)ctx;
    cli_complain("warning: %s", line);
}

/* Print what is different. Returns how much. */
static size_t print_all(const cli_locking *locking, hub_lock_on_change *print)
{
    size_t count = 0;
    for (size_t i = 0; i < locking->now.count; i++) {
        const hub_lock_toolset *now = &locking->now.toolsets[i];
        hub_lock_compare(hub_lock_find(&locking->old, now->key), now, print, &count);
    }
    for (size_t i = 0; i < locking->old.count; i++) {
        const hub_lock_toolset *old = &locking->old.toolsets[i];
        if (hub_lock_find(&locking->now, old->key) == NULL) {
            hub_lock_compare(old, NULL, print, &count);
        }
    }
    return count;
}

int cli_lock(cli_options *options)
{
    cli_locking locking;
    int status = cli_locking_begin(options, NULL, !options->diff, &locking);
    if (status == EXIT_OK) {
        hub_pins_review(cli_local_hub(locking.local), on_line, NULL);
    }
    if (status == EXIT_OK && options->diff) {
        status = print_all(&locking, options->json ? cli_lock_print_row : cli_lock_print) > 0
                     ? EXIT_DIFFERENT
                     : EXIT_OK;
    } else if (status == EXIT_OK) {
        status = cli_locking_write(&locking, options, &locking.now);
    }
    status = status == EXIT_OK ? locking.status : status;
    cli_locking_end(&locking);
    return status;
}
