/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/saved.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/name_list.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/logging.h"
#include "hub/notices/notifier.h"
#include "hub/remember/remember.h"

#include <stdlib.h>
#include <utlist.h>

/* Something under way. The audience may end before it does. */
typedef struct task {
    struct task *next;
    struct task *prev;
    hub_orchestrator *hub;
    hub_audience *audience;     /* NULL: it has ended */
    hub_saved_on_done *on_done; /* NULL: it is the hub's own doing */
    void *ctx;
    char *name; /* of what is to be equipped, or looked for anew; NULL: it is to be unequipped */
    char *principal;   /* as whom it is found */
    char *meta;        /* of the request */
    uint64_t asker;    /* number of the session */
    bool is_waiting;   /* for its turn */
    bool is_of_record; /* it is what is remembered (hub/remember) */
    hub_saved_origin origin;
    uint64_t version;
} task;

/* What an audience has of it. */
typedef struct audience_saved {
    char *name;      /* what is equipped; NULL: nothing */
    char *principal; /* as whom it was found */
    hub_saved_origin origin;
    uint64_t version;
    task *tasks;     /* all that are under way, in order */
    task *equipping; /* one of them; NULL: none */
    task *following; /* likewise: what is equipped is being looked for anew */
    bool is_stale;   /* … and has changed once more since */
    bool *was_shown; /* of each tool of the selection … */
    size_t count;
} audience_saved;

typedef struct hub_saved_hub {
    hub_state_watch *watch; /* NULL: nobody has equipped anything of the store yet */
} hub_saved_hub;

static audience_saved *part_of(const hub_audience *audience)
{
    return hub_audience_part(audience, &HUB_SAVED_STATION);
}

hub_saved_equipped hub_saved_equipped_by(const hub_audience *audience)
{
    const audience_saved *own = part_of(audience);
    return (hub_saved_equipped){
        .name = hub_str_of(own->name), .origin = own->origin, .version = own->version};
}

/* ---- which of its tools are there ------------------------------------------------------------ */

hub_saved_absence hub_saved_absence_of(const hub_exposure *exposure, const hub_orchestrator *hub,
                                       const hub_selected *selected)
{
    if (hub_exposure_find_own(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, selected->toolset,
                              selected->tool) != NULL) {
        return HUB_SAVED_SHOWN;
    }
    const hub_toolset *toolset = hub_find_toolset(hub, selected->toolset);
    if (toolset == NULL || hub_exposure_source(exposure, selected->toolset) == NULL) {
        return HUB_SAVED_HIDDEN;
    }
    hub_catalog *list = hub_toolset_list(toolset, HUB_KIND_TOOL);
    const hub_item *item = list != NULL ? hub_catalog_find(list, selected->tool) : NULL;
    return item == NULL                             ? HUB_SAVED_NOT_THERE
           : !hub_selected_is(selected, list, item) ? HUB_SAVED_CHANGED
                                                    : HUB_SAVED_HIDDEN;
}

static void forget_shown(audience_saved *own)
{
    free(own->was_shown);
    own->was_shown = NULL;
    own->count = 0;
}

/* Without memory, nothing is told of what comes later. */
static void note_shown(const hub_audience *audience)
{
    audience_saved *own = part_of(audience);
    const hub_selection *selection = hub_choice_of(hub_manager_of(audience));
    forget_shown(own);
    if (selection == NULL) {
        return;
    }
    own->was_shown = calloc(hub_selection_count(selection) + 1, sizeof *own->was_shown);
    own->count = own->was_shown != NULL ? hub_selection_count(selection) : 0;
    for (size_t i = 0; i < own->count; i++) {
        const hub_selected *selected = hub_selection_at(selection, i);
        own->was_shown[i] =
            hub_exposure_find_own(hub_audience_exposure(audience), HUB_REVISION_NONE, HUB_KIND_TOOL,
                                  selected->toolset, selected->tool) != NULL;
    }
}

/* Say it in the log, and to the legacy clients of the audience that see such messages. Access rules
 * may hide these tools from one of them: such a client is told nothing. */
static void tell_clients(const hub_audience *audience, const char *level, hub_str key,
                         const hub_name_list *names, const char *what)
{
    hub_buf text;
    hub_buf params;
    hub_buf_init(&text, 2 * HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&params, 8 * HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "saved toolset \"%s\": %s of \"" HUB_STR_FMT "\": %s",
                   part_of(audience)->name, what, HUB_STR_ARG(key), names->text);
    hub_buf_printf(&params, "{\"level\":\"%s\",\"logger\":\"patchbay\",\"data\":", level);
    hub_json_add_string(&params, hub_buf_str(&text));
    hub_buf_add_char(&params, '}');
    for (hub_session *at = hub_audience_sessions(audience);
         at != NULL && hub_buf_ok(&text) && hub_buf_ok(&params);
         at = hub_session_next_of_audience(at)) {
        const hub_exposure *seen = hub_session_exposure(at);
        if (seen != NULL && hub_exposure_source(seen, key) != NULL) {
            hub_logging_tell(at, hub_buf_str(&params));
        }
    }
    hub_buf_fini(&params);
    hub_buf_fini(&text);
}

static void report_news(const hub_audience *audience, hub_str key, const hub_name_list *came,
                        const hub_name_list *changed)
{
    const char *name = part_of(audience)->name;
    if (came->count > 0) {
        hub_log(HUB_LOG_INFO, "saved.tools_came", HUB_F_TEXT("saved", name),
                HUB_F_STR("toolset", key), HUB_F_TEXT("tools", came->text));
        tell_clients(audience, "info", key, came, "now there are tools");
    }
    if (changed->count > 0) {
        hub_log(HUB_LOG_WARNING, "saved.tools_changed", HUB_F_TEXT("saved", name),
                HUB_F_STR("toolset", key), HUB_F_TEXT("tools", changed->text));
        tell_clients(audience, "warning", key, changed,
                     "left out, because their definitions are others than were saved, are tools");
    }
}

/* A toolset has another list of tools: say which of those that are equipped have come, and which are
 * others than were meant. */
static void look_for_news(const hub_audience *audience, const hub_toolset *toolset)
{
    audience_saved *own = part_of(audience);
    const hub_selection *selection = hub_choice_of(hub_manager_of(audience));
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    hub_name_list came = {.count = 0};
    hub_name_list changed = {.count = 0};
    if (own->name == NULL || selection == NULL || own->count != hub_selection_count(selection)) {
        return;
    }
    for (size_t i = 0; i < own->count; i++) {
        const hub_selected *selected = hub_selection_at(selection, i);
        if (!hub_str_eq(selected->toolset, key)) {
            continue;
        }
        hub_saved_absence how = hub_saved_absence_of(hub_audience_exposure(audience),
                                                     hub_audience_hub(audience), selected);
        bool is_shown = how == HUB_SAVED_SHOWN;
        if (is_shown && !own->was_shown[i]) {
            hub_name_list_add(&came, selected->tool);
        } else if (how == HUB_SAVED_CHANGED && own->was_shown[i]) {
            hub_name_list_add(&changed, selected->tool);
        }
        own->was_shown[i] = is_shown;
    }
    report_news(audience, key, &came, &changed);
}

static void toolset_listed(hub_toolset *toolset, hub_kind kind)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    if (kind != HUB_KIND_TOOL ||
        hub_find_toolset(hub, hub_str_of(hub_toolset_key(toolset))) != toolset) {
        return;
    }
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            look_for_news(at, toolset);
        }
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void destroy_task(task *one)
{
    if (one->audience != NULL) {
        DL_DELETE(part_of(one->audience)->tasks, one);
    }
    free(one->name);
    free(one->principal);
    free(one->meta);
    free(one);
}

/* `name` empty: to unequip. NULL: out of memory. */
static task *create_task(hub_audience *audience, hub_str principal, hub_str name, hub_str meta)
{
    task *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->hub = hub_audience_hub(audience);
    made->name = name.len > 0 ? hub_str_dup(name) : NULL;
    made->principal = hub_str_dup(principal);
    made->meta = hub_str_dup(meta);
    if (made->principal == NULL || made->meta == NULL || (name.len > 0 && made->name == NULL)) {
        destroy_task(made);
        return NULL;
    }
    made->audience = audience;
    DL_APPEND(part_of(audience)->tasks, made);
    return made;
}

static void run_waiting(hub_audience *audience);

/* A task is over, with this; what waits for it comes next. */
static void end_task(task *one, hub_saved_outcome *outcome)
{
    hub_audience *audience = one->audience;
    bool was_equipping = audience != NULL && part_of(audience)->equipping == one;
    if (was_equipping) {
        part_of(audience)->equipping = NULL;
    }
    outcome->audience = audience;
    if (one->on_done != NULL) {
        one->on_done(one->ctx, outcome);
    } else if (outcome->err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "saved.refused", HUB_F_STR("saved", outcome->name),
                HUB_F_TEXT("reason", outcome->why));
    }
    if (audience != NULL && one->is_of_record) {
        hub_remember_equipped_now(audience);
    }
    destroy_task(one);
    if (was_equipping) {
        run_waiting(audience);
    }
}

/* Somebody has chosen it: the record says so, as soon as it is written. */
static void note_choice(hub_audience *audience)
{
    if (hub_remember_set_equipped(audience, hub_str_of(part_of(audience)->name)) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "saved.not_remembered",
                HUB_F_TEXT("principal", hub_audience_who(audience)),
                HUB_F_TEXT("reason", "out of memory"));
    }
}

static void fail_equip(task *one, hub_err err, const char *why)
{
    hub_error text;
    (void)hub_fail(&text, err, "Failed to equip toolset: %s", why);
    end_task(one,
             &(hub_saved_outcome){.err = err, .why = text.text, .name = hub_str_of(one->name)});
}

/* ---- what an audience has equipped ----------------------------------------------------------- */

static void clear_equipped(audience_saved *own)
{
    forget_shown(own);
    free(own->name);
    free(own->principal);
    own->name = NULL;
    own->principal = NULL;
}

/* The task's choice is made. */
static void take_equipped(task *one)
{
    audience_saved *own = part_of(one->audience);
    clear_equipped(own);
    own->name = one->name; /* no failure is possible from here on */
    own->principal = one->principal;
    own->origin = one->origin;
    own->version = one->version;
    one->name = NULL;
    one->principal = NULL;
    note_shown(one->audience);
}

static void log_equipped(const hub_audience *audience, const char *event)
{
    const audience_saved *own = part_of(audience);
    hub_log(HUB_LOG_INFO, event, HUB_F_TEXT("saved", own->name),
            HUB_F_TEXT("origin", hub_saved_origin_name(own->origin)),
            HUB_F_INT("version", own->version),
            HUB_F_TEXT("profile", hub_profile_name(hub_audience_profile(audience))),
            HUB_F_TEXT("principal", hub_audience_who(audience)));
}

/* ---- equipping ------------------------------------------------------------------------------- */

static void watch_store(hub_orchestrator *hub);

static void on_equipped(void *ctx, const hub_choice_outcome *made)
{
    task *one = ctx;
    if (made->err != HUB_OK || one->audience == NULL) {
        fail_equip(one, made->err != HUB_OK ? made->err : HUB_ESTATE,
                   made->err != HUB_OK ? made->why : "the session has ended");
        return;
    }
    hub_audience *audience = one->audience;
    take_equipped(one);
    log_equipped(audience, "saved.equipped");
    if (part_of(audience)->origin != HUB_SAVED_FIXED) {
        watch_store(one->hub);
    }
    if (one->on_done == NULL) { /* at start, by a reload, or by what is remembered */
        hub_notifier_changed(hub_notifier_of(audience), true);
    } else {
        note_choice(audience);
    }
    end_task(one, &(hub_saved_outcome){.err = HUB_OK,
                                       .why = "",
                                       .name = hub_str_of(part_of(audience)->name),
                                       .toolsets = made->toolsets,
                                       .count = made->count});
}

static void on_found(void *ctx, const hub_saved_found *found)
{
    task *one = ctx;
    hub_selection *selection = NULL;
    hub_error why = {.text = "out of memory"};
    if (found->err != HUB_OK || one->audience == NULL) {
        fail_equip(one, found->err != HUB_OK ? found->err : HUB_ESTATE,
                   found->err != HUB_OK ? found->why : "the session has ended");
        return;
    }
    hub_manager *manager = hub_manager_of(one->audience);
    one->origin = found->origin;
    one->version = found->saved->version;
    hub_err err = hub_saved_select(found->saved, &selection);
    if (err == HUB_OK && one->on_done == NULL) {
        err = hub_choice_make_now(manager, selection, on_equipped, one, &why);
    } else if (err == HUB_OK) {
        hub_manager_ask_as(manager, one->asker);
        err = hub_choice_make(manager, selection, hub_str_of(one->meta), on_equipped, one, &why);
    }
    hub_selection_unref(selection);
    if (err != HUB_OK) {
        fail_equip(one, err, why.text);
    }
}

static void start_equip(task *one)
{
    part_of(one->audience)->equipping = one;
    hub_saved_find(one->hub, hub_str_of(one->principal), hub_str_of(one->name), on_found, one);
}

hub_err hub_saved_equip(hub_session *session, hub_str name, hub_str meta,
                        hub_saved_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_audience *audience = NULL;
    hub_err err = hub_saved_check_name(name, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_audience_of_choice(session, &audience);
    if (err == HUB_OK && part_of(audience)->equipping != NULL) {
        return hub_fail(reterr, HUB_EBUSY,
                        "registration operation in progress: try again when it has ended");
    }
    task *one = err == HUB_OK
                    ? create_task(audience, hub_str_of(hub_session_who(session)), name, meta)
                    : NULL;
    if (one == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    one->on_done = on_done;
    one->ctx = ctx;
    one->asker = hub_session_number(session);
    start_equip(one);
    return HUB_OK;
}

/* ---- unequipping ----------------------------------------------------------------------------- */

static void on_unequipped(void *ctx, const hub_choice_outcome *made)
{
    task *one = ctx;
    audience_saved *own = one->audience != NULL ? part_of(one->audience) : NULL;
    hub_saved_outcome outcome = {.err = made->err,
                                 .why = made->why,
                                 .name = HUB_STR_EMPTY,
                                 .was_nothing = own == NULL || own->name == NULL,
                                 .toolsets = made->toolsets,
                                 .count = made->count};
    char *name = NULL;
    if (made->err == HUB_OK && own != NULL && own->name != NULL) {
        log_equipped(one->audience, "saved.unequipped");
        name = own->name;
        own->name = NULL;
        clear_equipped(own);
        outcome.name = hub_str_of(name);
        if (!one->is_of_record) {
            note_choice(one->audience);
        }
    }
    end_task(one, &outcome);
    free(name);
}

static void start_unequip(task *one)
{
    hub_manager *manager = hub_manager_of(one->audience);
    hub_error why = {.text = "out of memory"};
    one->is_waiting = false;
    hub_manager_ask_as(manager, one->asker);
    if (hub_choice_end(manager, hub_str_of(one->meta), on_unequipped, one, &why) != HUB_OK) {
        end_task(one,
                 &(hub_saved_outcome){.err = HUB_ENOMEM, .why = why.text, .name = HUB_STR_EMPTY});
    }
}

/* Now, or when what is being equipped is. */
static void run_or_wait(task *one)
{
    one->is_waiting = part_of(one->audience)->equipping != NULL;
    if (!one->is_waiting) {
        start_unequip(one);
    }
}

static void run_waiting(hub_audience *audience)
{
    audience_saved *own = part_of(audience);
    for (;;) {
        task *first = own->tasks;
        while (first != NULL && !first->is_waiting) {
            first = first->next;
        }
        if (first == NULL || own->equipping != NULL) {
            return;
        }
        start_unequip(first);
    }
}

hub_err hub_saved_unequip(hub_session *session, hub_str meta, hub_saved_on_done *on_done, void *ctx,
                          hub_error *reterr)
{
    hub_audience *audience = NULL;
    task *one = hub_audience_of_choice(session, &audience) == HUB_OK
                    ? create_task(audience, HUB_STR_EMPTY, HUB_STR_EMPTY, meta)
                    : NULL;
    if (one == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    one->on_done = on_done;
    one->ctx = ctx;
    one->asker = hub_session_number(session);
    run_or_wait(one);
    return HUB_OK;
}

static void on_kept(void *ctx, bool is_lost)
{
    (void)ctx; /* nobody has asked for it */
    (void)is_lost;
}

/* The hub's own doing: what was equipped is no more, or is not what is remembered. */
static void unequip_quietly(hub_audience *audience, bool is_of_record)
{
    task *one = create_task(audience, HUB_STR_EMPTY, HUB_STR_EMPTY, HUB_STR_EMPTY);
    if (one == NULL) {
        hub_log(HUB_LOG_WARNING, "saved.refused", HUB_F_TEXT("reason", "out of memory"));
        return;
    }
    one->is_of_record = is_of_record;
    run_or_wait(one);
}

/* What a record says of an audience, which has something else equipped. */
static void equip_remembered(hub_audience *audience, hub_str name)
{
    const audience_saved *own = part_of(audience);
    bool is_same = own->name != NULL ? hub_str_is(name, own->name) : name.len == 0;
    if (is_same || own->equipping != NULL) {
        hub_remember_equipped_now(audience);
    } else if (name.len == 0) {
        unequip_quietly(audience, true);
        hub_remember_equipped_now(audience);
    } else {
        task *one =
            create_task(audience, hub_str_of(hub_audience_who(audience)), name, HUB_STR_EMPTY);
        if (one == NULL) {
            hub_remember_equipped_now(audience);
            return;
        }
        one->is_of_record = true;
        start_equip(one);
    }
}

/* ---- following ------------------------------------------------------------------------------- */

static void follow(hub_audience *audience);

/* What is equipped was looked for, or taken, anew: it may have changed meanwhile. */
static void end_follow(task *one)
{
    hub_audience *audience = one->audience;
    if (audience == NULL) {
        destroy_task(one);
        return;
    }
    audience_saved *own = part_of(audience);
    bool is_stale = own->is_stale;
    own->following = NULL;
    own->is_stale = false;
    destroy_task(one);
    if (is_stale) {
        follow(audience);
    }
}

static void on_taken(void *ctx, const hub_choice_outcome *made)
{
    task *one = ctx;
    audience_saved *own = one->audience != NULL ? part_of(one->audience) : NULL;
    if (own != NULL && own->name != NULL && made->err == HUB_OK) {
        bool is_another = own->version != one->version;
        own->version = one->version;
        own->origin = one->origin;
        note_shown(one->audience);
        hub_notifier_changed(hub_notifier_of(one->audience), true);
        if (is_another) {
            log_equipped(one->audience, "saved.changed");
        }
    }
    end_follow(one);
}

/* Whether somebody has equipped another one meanwhile, or is about to: then that one counts. */
static bool is_outdated(const task *one)
{
    const audience_saved *own = part_of(one->audience);
    return own->name == NULL || strcmp(own->name, one->name) != 0 || own->equipping != NULL;
}

static void on_followed(void *ctx, const hub_saved_found *found)
{
    task *one = ctx;
    hub_selection *selection = NULL;
    hub_error why = {.text = "out of memory"};
    if (one->audience == NULL || is_outdated(one)) {
        end_follow(one);
        return;
    }
    if (found->err == HUB_ENOTFOUND) {
        unequip_quietly(one->audience, false);
        hub_remember_keep(one->audience, on_kept, NULL);
        end_follow(one);
        return;
    }
    hub_err err = found->err;
    if (err == HUB_OK) {
        one->origin = found->origin;
        one->version = found->saved->version;
        err = hub_saved_select(found->saved, &selection);
    }
    if (err == HUB_OK) {
        err = hub_choice_make_now(hub_manager_of(one->audience), selection, on_taken, one, &why);
    }
    hub_selection_unref(selection);
    if (err != HUB_OK) { /* what is equipped stays as it is */
        hub_log(HUB_LOG_WARNING, "saved.not_followed", HUB_F_TEXT("saved", one->name),
                HUB_F_TEXT("reason", found->err != HUB_OK ? found->why : why.text));
        end_follow(one);
    }
}

static void follow(hub_audience *audience)
{
    audience_saved *own = part_of(audience);
    if (own->name == NULL) {
        return;
    }
    if (own->following != NULL) {
        own->is_stale = true;
        return;
    }
    task *one =
        create_task(audience, hub_str_of(own->principal), hub_str_of(own->name), HUB_STR_EMPTY);
    if (one == NULL) {
        hub_log(HUB_LOG_WARNING, "saved.not_followed", HUB_F_TEXT("saved", own->name),
                HUB_F_TEXT("reason", "out of memory"));
        return;
    }
    own->following = one;
    hub_saved_find(one->hub, hub_str_of(one->principal), hub_str_of(one->name), on_followed, one);
}

/* Whether a changed record is what an audience has equipped. */
static bool is_about(const hub_state_record *changed, const audience_saved *own)
{
    hub_str owner = own->origin == HUB_SAVED_OWN ? hub_str_of(own->principal) : HUB_SAVED_SHARED;
    return own->name != NULL && hub_str_is(changed->key, own->name) &&
           hub_str_eq(changed->owner, owner);
}

static void on_store_changed(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    const hub_orchestrator *hub = ctx;
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            if (event != HUB_STATE_CHANGED || is_about(changed, part_of(at))) {
                follow(at);
            }
        }
    }
}

static void watch_store(hub_orchestrator *hub)
{
    hub_saved_hub *own = hub_hub_part(hub, &HUB_SAVED_STATION);
    hub_state_range all = {.kind = &HUB_SAVED_KIND, .is_of_all = true};
    hub_error why = {.text = ""};
    if (own->watch == NULL && hub_state_watch_create(hub_store_of(hub), &all, on_store_changed, hub,
                                                     &own->watch, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "saved.not_followed", HUB_F_TEXT("reason", why.text));
    }
}

/* ---- by the settings ------------------------------------------------------------------------- */

static bool is_fixed(const hub_settings *settings, const char *name)
{
    bool is = false;
    for (size_t i = 0; !is && i < settings->saved_count; i++) {
        is = strcmp(settings->saved[i].name, name) == 0;
    }
    return is;
}

void hub_saved_start(hub_profile *profile)
{
    const char *name = hub_profile_settings_of(profile)->equip;
    hub_audience *audience = hub_profile_audience(profile);
    bool is_here = name != NULL && is_fixed(hub_settings_of(hub_profile_hub(profile)), name);
    task *one = NULL;
    if (name == NULL || audience == NULL || part_of(audience)->equipping != NULL) {
        return;
    }
    one = create_task(audience, is_here ? HUB_STR_EMPTY : HUB_STR("local"), hub_str_of(name),
                      HUB_STR_EMPTY);
    if (one == NULL) {
        hub_log(HUB_LOG_WARNING, "saved.refused", HUB_F_TEXT("saved", name),
                HUB_F_TEXT("reason", "out of memory"));
        return;
    }
    part_of(audience)->equipping = one;
    (is_here ? hub_saved_find_fixed : hub_saved_find)(one->hub, hub_str_of(one->principal),
                                                      hub_str_of(one->name), on_found, one);
}

static void review(hub_profile *profile)
{
    hub_audience *first = hub_profile_audience(profile);
    const char *wanted = hub_profile_settings_of(profile)->equip;
    const char *name = first != NULL ? part_of(first)->name : NULL;
    if (wanted != NULL && (name == NULL || strcmp(name, wanted) != 0)) {
        hub_saved_start(profile);
    } else if (name != NULL && wanted == NULL) {
        unequip_quietly(first, true);
    }
    for (hub_audience *at = first; at != NULL; at = hub_audience_next(at)) {
        follow(at);
    }
}

void hub_saved_review(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        if (!hub_profile_is_leaving(hub_profile_at(hub, i))) {
            review(hub_profile_at(hub, i));
        }
    }
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_err audience_begins(hub_audience *audience, const hub_audience *from)
{
    const audience_saved *other = from != NULL ? part_of(from) : NULL;
    audience_saved *own = part_of(audience);
    if (other == NULL || other->name == NULL) {
        return HUB_OK;
    }
    own->name = hub_str_dup(hub_str_of(other->name));
    own->principal = hub_str_dup(hub_str_of(other->principal));
    own->origin = other->origin;
    own->version = other->version;
    if (own->name == NULL || own->principal == NULL) {
        return HUB_ENOMEM;
    }
    note_shown(audience);
    return HUB_OK;
}

static bool audience_matters(const hub_audience *audience)
{
    return part_of(audience)->tasks != NULL;
}

static void audience_ends(hub_audience *audience)
{
    audience_saved *own = part_of(audience);
    while (own->tasks != NULL) {
        task *one = own->tasks;
        DL_DELETE(own->tasks, one);
        one->audience = NULL;
        if (one->is_waiting) { /* nothing else knows of it */
            end_task(one, &(hub_saved_outcome){.err = HUB_ESTATE,
                                               .why = "the session has ended",
                                               .name = HUB_STR_EMPTY});
        }
    }
    own->equipping = NULL;
    own->following = NULL;
    clear_equipped(own);
}

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    (void)reterr;
    hub_remember_equip_by(hub, equip_remembered);
    return HUB_OK;
}

static void hub_ends(hub_orchestrator *hub)
{
    hub_saved_hub *own = hub_hub_part(hub, &HUB_SAVED_STATION);
    hub_state_watch_destroy(own->watch);
    own->watch = NULL;
}

static hub_station_place place;

const hub_station HUB_SAVED_STATION = {
    .name = "saved",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_saved_hub), [HUB_PART_AUDIENCE] = sizeof(audience_saved)},
    .hub_begins = hub_begins,
    .hub_ends = hub_ends,
    .audience_begins = audience_begins,
    .audience_matters = audience_matters,
    .audience_ends = audience_ends,
    .toolset_listed = toolset_listed,
};
