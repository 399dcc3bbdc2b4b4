/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reloading: a running hub gets other settings, and becomes what a start with them would have made
 * of it, but that nothing is disturbed which is to be as it was (REQUIREMENTS S5.8, S5.9, S5.11,
 * S5.45; RELIABILITY C02, C03).
 *
 * First everything is made that may fail, beside what is at work: new toolsets, instances of those
 * whose modules are told something else, every profile's next registry. If any of it fails, all of
 * it is dropped, and nothing has changed. Then it is made current, which cannot fail.
 *
 * A toolset whose settings are the same keeps its instance, its catalog and its calls. One that is
 * only treated differently (timeouts, filters, tags …) keeps its instance, too. One whose module is
 * told something else gets a new instance; the old one finishes its calls. One that is gone is
 * listed no more, and finishes its calls.
 *
 * What users switched on and off stays so, unless the settings say something else than they did
 * before: a toolset is active if it is to be so from the start now, and was not; inactive, if it
 * was, and is not. The policies apply to all.
 *
 * The plugins folders are looked at first, so that a module and the toolset that wants it may come
 * together; what is found there is used, even if the settings are refused then.
 *
 * Clients are told once, when the servers of what is new have answered, or
 * limits.discover_timeout_ms have passed; not at all when their lists are what they were.
 * Thread: [loop].
 */
#ifndef HUB_HUB_RELOAD_RELOAD_H
#define HUB_HUB_RELOAD_RELOAD_H

#include "base/name_list.h"
#include "hub/kernel/settings.h"
#include "hub/kernel/types.h"

typedef struct hub_reload_report {
    hub_name_list added; /* toolsets */
    hub_name_list removed;
    hub_name_list changed;
    hub_name_list restart; /* keys of the manifest that take effect at the next start */
} hub_reload_report;

/* Work with these settings from now on; they are held, the ones before are let go of.
 * blocks:  as long as it takes to make instances
 * errors:  HUB_EINVAL (a toolset's key, a static profile without toolsets), HUB_ENOTFOUND (no such
 *          module), HUB_ELIMIT, those of creating instances, HUB_ENOMEM: nothing
 *          has changed; the text begins with the place in the file where there is one */
HUB_MUST_CHECK hub_err hub_reload(hub_orchestrator *hub, const hub_settings *settings,
                                  hub_reload_report *ret_report, hub_error *reterr);

/* What hub_reload would change of settings that are compared with others. */
void hub_reload_compare(const hub_settings *old, const hub_settings *now,
                        hub_reload_report *ret_report);

/* A reload was refused, by hub_reload or before it came to that: whoever asks for the hub's status
 * hears of it, until one succeeds. */
void hub_reload_note_refusal(hub_orchestrator *hub, const hub_error *why);

/* The hub ends: wait no longer for servers. */
void hub_reload_end(hub_orchestrator *hub);

#endif
