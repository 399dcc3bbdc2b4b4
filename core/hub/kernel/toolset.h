/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A toolset: a named module with its configuration. While at least one profile uses it, it has a
 * binding: an instance of the module at work. Its catalog may be known at once (native), later
 * (upstream: asked for when somebody needs it), or change at any time; profiles hear of it.
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_TOOLSET_H
#define HUB_HUB_KERNEL_TOOLSET_H

#include "base/name_list.h"
#include "hub/kernel/about.h"
#include "hub/kernel/capabilities.h"
#include "hub/kernel/settings.h"
#include "hub/kernel/types.h"
#include "hub/kernel/values.h"
#include "modules/instance.h"
#include "tools/exposure.h"

#include <patchbay/catalog.h>

/* ---- life ------------------------------------------------------------------------------------ */

/* owns:    *ret_toolset */
HUB_MUST_CHECK hub_err hub_toolset_create(hub_orchestrator *hub,
                                          const hub_toolset_settings *settings,
                                          hub_toolset **ret_toolset);
void hub_toolset_destroy(hub_toolset *toolset); /* not in use; NULL is fine */

/* The hub itself answers its calls. */
void hub_toolset_set_answer(hub_toolset *toolset, hub_toolset_answer *answer);

/* It stands in for `shared`, for one client session: no profile, list or reload knows it. What that
 * one knows of its server's era it knows, too. `shared` is there for as long as this is, also when nobody
 * else needs it: calls count as its own. */
void hub_toolset_make_own(hub_toolset *toolset, hub_toolset *shared);

/* The same for one principal: its server says what there is for it, and for nobody else. */
void hub_toolset_make_apart(hub_toolset *toolset, hub_toolset *shared);

/* Be used by one more profile; the first makes the binding.
 * errors:  HUB_EDENIED (switched off by configuration), HUB_ENOTFOUND (no such module), and those
 * of hub_instance_create; the text names the toolset */
HUB_MUST_CHECK hub_err hub_toolset_use(hub_toolset *toolset, hub_error *reterr);

/* Be used by one more of those who see what another one sees: it is at work for that one. */
void hub_toolset_share(hub_toolset *toolset);

/* Be used by one less; the last ends the binding and fails its calls. */
void hub_toolset_unuse(hub_toolset *toolset);

/* A newer module of its name is there: bind to it, let the old binding finish its calls. The new
 * one's catalog replaces the old one's; one that is asked for later leaves it until then.
 * errors:  as hub_toolset_use; the old binding stays */
HUB_MUST_CHECK hub_err hub_toolset_rebind(hub_toolset *toolset, hub_error *reterr);

/* A reload makes what may fail first, then all the rest. This makes a binding as these settings
 * want it, which are its own or are to be. Nothing else changes.
 * owns:    *ret_binding: hub_toolset_take or hub_binding_abandon gets it
 * errors:  as hub_toolset_use */
HUB_MUST_CHECK hub_err hub_toolset_prepare(hub_toolset *toolset,
                                           const hub_toolset_settings *settings,
                                           hub_binding **ret_binding, hub_error *reterr);
void hub_binding_abandon(hub_binding *binding);

/* Work with a binding that was prepared; the one before finishes its calls. A catalog that is asked
 * for stays what it was until the new server says otherwise. Takes `binding`. */
void hub_toolset_take(hub_toolset *toolset, hub_binding *binding);

/* Other settings, on the heap: they are its own from now on, and the caller's the ones before. */
hub_toolset_settings *hub_toolset_exchange_settings(hub_toolset *toolset,
                                                    hub_toolset_settings *settings);

/* Profiles use it so often from now on; it is in use. */
void hub_toolset_set_users(hub_toolset *toolset, unsigned users);

/* No profile uses it any more. Other than with hub_toolset_unuse its calls may end. */
void hub_toolset_let_go(hub_toolset *toolset);

/* It is no more: forget it everywhere, and free it with its last call. Nobody uses it. */
void hub_toolset_leave(hub_toolset *toolset);

/* Something that stations look at has changed: which of them its calls visit is decided anew. */
void hub_toolset_review(hub_toolset *toolset);

/* ---- what it is ------------------------------------------------------------------------------ */

hub_orchestrator *hub_toolset_hub(const hub_toolset *toolset);
const char *hub_toolset_key(const hub_toolset *toolset);
const hub_toolset_settings *hub_toolset_settings_of(const hub_toolset *toolset);
hub_binding *hub_toolset_binding(const hub_toolset *toolset); /* NULL while no profile uses it */
unsigned hub_toolset_users(const hub_toolset *toolset);
bool hub_toolset_was_used(const hub_toolset *toolset);  /* it has had a binding */
bool hub_toolset_is_native(const hub_toolset *toolset); /* its tools are the module's own */
bool hub_toolset_is_own(const hub_toolset *toolset);    /* hub_toolset_make_own */
bool hub_toolset_is_apart(const hub_toolset *toolset);  /* hub_toolset_make_apart */

/* Principals have instances of it (credentials: principal), and it is none of them: it stands for them
 * where all see the same, has no login and no lists, and its server is not spoken to. */
bool hub_toolset_is_stand_in(const hub_toolset *toolset);
bool hub_toolset_is_meta(const hub_toolset *toolset); /* hub_toolset_set_answer */
void *hub_toolset_part(const hub_toolset *toolset, const hub_station *station);

/* How it fares: PATCHBAY_STATE_…, why it has failed, what its module says of its server. */
uint32_t hub_toolset_state(const hub_toolset *toolset);
const char *hub_toolset_detail(const hub_toolset *toolset);

/* The same also when nobody uses it any more: why its server was not there then. Empty: it was. */
const char *hub_toolset_last_failure(const hub_toolset *toolset);

/* Why it could not be used when that was last tried, without secrets; empty: it could, or was not. */
const char *hub_toolset_unusable(const hub_toolset *toolset);

/* What is said of it, without "toolset "KEY": " in front, for who names it already: of `text`. */
hub_str hub_toolset_own_words(const hub_toolset *toolset, const char *text);

/* Why the newest module could not take over from the one that runs, likewise; empty: it has, or
 * there is none. */
const char *hub_toolset_not_replaced(const hub_toolset *toolset);

/* The module that runs it; NULL: none does. */
const hub_module *hub_toolset_module(const hub_toolset *toolset);
const hub_toolset_health *hub_toolset_health_of(const hub_toolset *toolset);

/* ---- its catalog ----------------------------------------------------------------------------- */

/* The last good list of a kind; NULL: not known, or none. Borrowed. */
hub_catalog *hub_toolset_list(const hub_toolset *toolset, hub_kind kind);

/* How many items of a kind the toolset is known to have. */
size_t hub_toolset_count(const hub_toolset *toolset, hub_kind kind);

const hub_capabilities *hub_toolset_capabilities(const hub_toolset *toolset);

/* What its server says of itself. */
const hub_about *hub_toolset_about(const hub_toolset *toolset);

/* Make it that; takes it. */
void hub_toolset_set_about(hub_toolset *toolset, hub_about *about);

/* Whether its server's instructions are kept from clients. */
void hub_toolset_hide_instructions(hub_toolset *toolset, bool is_hidden);

/* How many definitions have been replaced by others of the same names since the toolset was made. */
uint64_t hub_toolset_redefined(const hub_toolset *toolset);

/* The names of its tools, as far as they are known, for a line of the log. */
hub_name_list hub_toolset_tool_names(const hub_toolset *toolset);

/* Make a list (NULL: none; the one that it has: it is told again), or capabilities, the toolset's. Takes
 * them. */
void hub_toolset_set_list(hub_toolset *toolset, hub_kind kind, hub_catalog *list);
void hub_toolset_set_capabilities(hub_toolset *toolset, hub_capabilities *capabilities);

/* The same of what an earlier hub has learnt: nobody is told. */
void hub_toolset_recall(hub_toolset *toolset, hub_catalog *const lists[HUB_KINDS],
                        hub_capabilities *capabilities, bool is_modern);

/* Another hub has heard that its server is of that era: until this one hears of it, it may be either. */
void hub_toolset_suppose_era(hub_toolset *toolset, bool is_modern);

/* What is known of it is another server's, or another program's: forget it. Nobody uses it. */
void hub_toolset_forget_catalog(hub_toolset *toolset);

/* Its catalog has to be asked for; it turned out that there is none. */
bool hub_toolset_is_deferred(const hub_toolset *toolset);
void hub_toolset_end_deferral(hub_toolset *toolset);

/* Its server was of a modern era when it was last heard of. */
bool hub_toolset_is_modern(const hub_toolset *toolset);

/* The toolset as a source of bases and exposures. */
hub_source hub_toolset_source(hub_toolset *toolset);

/* The same as it will be with these settings and that binding (NULL: the one it has). It points into `settings` and borrows the lists. */
hub_source hub_toolset_next_source(hub_toolset *toolset, const hub_toolset_settings *settings,
                                   const hub_binding *binding);

/* ---- asking it ------------------------------------------------------------------------------- */

/* Ask something of the toolset, which is in use, on the hub's own account. `request` has the method
 * and what belongs to it, the rest is filled in. `on_outcome` is told exactly once, perhaps before
 * this returns; *ret_call is set before that, and valid until then.
 * errors:  HUB_ELIMIT (too many calls in flight), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_toolset_request(hub_toolset *toolset, patchbay_request *request,
                                           uint32_t timeout_ms, hub_call_on_outcome *on_outcome,
                                           void *ctx, hub_call **ret_call);

/* ---- bindings: a module instance at work for a toolset --------------------------------------- */

hub_toolset *hub_binding_toolset(const hub_binding *binding);
hub_instance *hub_binding_instance(const hub_binding *binding); /* NULL while it begins or ends */
hub_call *
hub_binding_calls(const hub_binding *binding); /* newest first: hub_call_next_of_binding */

/* The newest of its calls, if one session is behind all of them; else NULL. A call whose client is
 * away has none: it has to be the only one. */
hub_call *hub_binding_only_client(const hub_binding *binding);

size_t hub_binding_places(const hub_binding *binding);   /* that calls of clients have taken */
bool hub_binding_is_retired(const hub_binding *binding); /* it takes no new calls */
bool hub_binding_is_native(const hub_binding *binding);
void hub_binding_blame(const hub_binding *binding, const char *rule); /* its plugin broke it */
bool hub_binding_expects_input(const hub_binding *binding); /* its results may ask for input */
bool hub_binding_may_ask(const hub_binding *binding); /* they may, or its module asks by itself */
bool hub_binding_is_current(const hub_binding *binding);  /* it is its toolset's */
bool hub_binding_is_deferred(const hub_binding *binding); /* its catalog has to be asked for */
void *hub_binding_part(const hub_binding *binding, const hub_station *station);

/* Not to be closed before it was let go of as often. */
void hub_binding_hold(hub_binding *binding);
void hub_binding_let_go(hub_binding *binding);

/* A call of it is over; the last of a retired binding closes it. */
void hub_binding_call_ended(hub_binding *binding);

/* Tell the module that nobody waits for a call any more. */
void hub_binding_cancel(hub_binding *binding, uint64_t call);

/* What an instance says of itself, for hub_instance_events: the list and capabilities of a binding
 * that is being created are kept until it is taken. */
void hub_binding_list(hub_binding *binding, hub_kind kind, hub_str list_json);

hub_err hub_binding_list_part(hub_binding *binding, hub_kind kind, const hub_str *list_json,
                              bool *ret_is_end);

/* Whether that list is known, byte for byte: of this binding, or of the one before. What is said so often,
 * each time a toolset is enabled, need be neither checked nor read again. A binding that is being
 * created has it then. */
bool hub_binding_has_list(hub_binding *binding, hub_kind kind, hub_str json);
void hub_binding_capabilities(hub_binding *binding, hub_str capabilities_json);
void hub_binding_about(hub_binding *binding, hub_str about_json);
void hub_binding_state(hub_binding *binding, uint32_t state, hub_str detail);
void hub_binding_health(hub_binding *binding, const patchbay_health *health);
void hub_binding_defer(hub_binding *binding);
void hub_binding_expect_input(hub_binding *binding, bool is_expected);
void hub_binding_closed(hub_binding *binding);

#endif
