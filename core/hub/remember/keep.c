/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what was chosen. */
#include "hub/remember/seat.h"

#include "base/log.h"
#include "hub/active/choice.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>
#include <string.h>

/* ---- the document ---------------------------------------------------------------------------- */

/* Whether the hub knows nothing of a toolset: what was said of it stays. */
static bool is_missing(const hub_orchestrator *hub, hub_str key)
{
    const hub_toolset *toolset = hub_find_toolset(hub, key);
    return toolset == NULL || !hub_toolset_settings_of(toolset)->enabled;
}

/* Those that are enabled for `from` and not for `other`, and those of `old` that are missing. */
static hub_err list_others(const hub_orchestrator *hub, const hub_audience *from,
                           const hub_audience *other, const remember_keys *old,
                           remember_keys *ret_keys)
{
    size_t count = hub_choice_places(from);
    ret_keys->items = calloc(count + old->count + 1, sizeof ret_keys->items[0]);
    if (ret_keys->items == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        hub_str key = hub_choice_enabled_at(from, i);
        if (key.len > 0 && !hub_choice_enables(other, key)) {
            ret_keys->items[ret_keys->count++] = key;
        }
    }
    for (size_t i = 0; i < old->count; i++) {
        if (is_missing(hub, old->items[i])) {
            ret_keys->items[ret_keys->count++] = old->items[i];
        }
    }
    remember_keys_sort(ret_keys);
    return HUB_OK;
}

static hub_str equipped_of(const seat *of)
{
    return of->equipped != NULL ? hub_str_of(of->equipped) : of->record.equipped;
}

/* What the audience has chosen, as a document; NULL: out of memory, or too long. */
static char *make_text(const seat *of, const hub_audience *audience)
{
    const hub_audience *own = hub_profile_audience(hub_audience_profile(audience));
    remember_record record = {.equipped = equipped_of(of)};
    hub_err err = HUB_OK;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    if (hub_settings_of(of->hub)->remember == HUB_REMEMBER_ALL) {
        err = list_others(of->hub, audience, own, &of->record.enabled, &record.enabled);
        if (err == HUB_OK) {
            err = list_others(of->hub, own, audience, &of->record.disabled, &record.disabled);
        }
    }
    if (err == HUB_OK) {
        remember_record_write(&record, &out);
        hub_buf_add_char(&out, '\0');
    }
    remember_record_fini(&record);
    char *text = err == HUB_OK && hub_buf_ok(&out) ? hub_buf_take(&out) : NULL;
    hub_buf_fini(&out);
    return text;
}

void seat_settle(seat *of)
{
    const hub_audience *audience = of->is_dirty && of->next_text == NULL ? seat_audience(of) : NULL;
    if (audience != NULL) {
        of->next_text = make_text(of, audience);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static keeper *take_keepers(seat *of)
{
    keeper *keepers = of->keepers;
    of->keepers = NULL;
    ev_timer_stop(hub_loop(of->hub), &of->keep_timer);
    return keepers;
}

static void tell(keeper *keepers, bool is_lost)
{
    while (keepers != NULL) {
        keeper *next = keepers->next;
        keepers->on_kept(keepers->ctx, is_lost);
        free(keepers);
        keepers = next;
    }
}

void seat_tell(seat *of, bool is_lost)
{
    tell(take_keepers(of), is_lost);
}

static void note_failure(seat *of, const char *why)
{
    if (!of->has_failed) {
        hub_log(HUB_LOG_WARNING, "active.not_kept", HUB_F_STR("profile", of->profile),
                HUB_F_STR("principal", of->principal), HUB_F_TEXT("reason", why));
    }
    of->has_failed = true;
}

static void finish(seat *of, hub_err err, const char *why)
{
    if (err != HUB_OK) {
        note_failure(of, why);
    }
    of->has_failed = err != HUB_OK;
    of->is_stale = false; /* whoever wrote before this is overwritten */
    if (of->is_dirty) {
        seat_write(of);
        return;
    }
    keeper *keepers = take_keepers(of);
    if (seat_is_quiet(of) && seat_audience(of) == NULL) {
        seat_drop(of); /* its audience has ended meanwhile: whoever comes reads it again */
    }
    tell(keepers, err != HUB_OK); /* who is told may end the seat */
}

static void on_written(void *ctx, const hub_state_result *result)
{
    seat *of = ctx;
    bool is_kept = result->err == HUB_OK || result->err == HUB_ENOTFOUND; /* nothing to delete */
    of->op = NULL;
    if (is_kept) {
        of->is_unread = false;
        of->has_chosen = false;
        of->version = result->err == HUB_OK && result->count > 0 ? result->records[0].version : 0;
    }
    finish(of, is_kept ? HUB_OK : result->err, result->why);
}

/* Begin to write `text`, which is what the record says from now on. */
static hub_err submit(seat *of, hub_str text, hub_error *reterr)
{
    remember_record next = {.text = NULL};
    hub_state_id id = seat_id(of);
    hub_store *store = hub_store_of(of->hub);
    hub_err err = remember_record_read(text, &next);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    err = remember_record_is_empty(&next)
              ? hub_state_delete(store, &id, HUB_STATE_ANY, on_written, of, &of->op, reterr)
              : hub_state_put(store, &id, HUB_STATE_ANY, text, on_written, of, &of->op, reterr);
    remember_record_fini(&of->record);
    of->record = next;
    seat_note_missing(of);
    return err;
}

void seat_write(seat *of)
{
    hub_error why = {.code = HUB_ENOMEM, .text = "out of memory, or too many toolsets"};
    if (of->op != NULL || !of->is_dirty) {
        return;
    }
    seat_settle(of);
    char *text = of->next_text;
    of->next_text = NULL;
    of->is_dirty = false;
    hub_err err = text != NULL ? submit(of, hub_str_of(text), &why) : HUB_ENOMEM;
    free(text);
    if (err != HUB_OK) {
        of->op = NULL;
        finish(of, err, why.text);
        return;
    }
    free(of->equipped); /* it is in the record */
    of->equipped = NULL;
}

static void on_slow(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    seat *of = timer->data;
    note_failure(of, "the store has not answered in time");
    seat_tell(of, true);
}

/* The seat of a choice that is made now. */
static seat *take_seat(hub_audience *audience)
{
    seat *of = seat_of(audience);
    if (of == NULL) {
        of = seat_make(hub_audience_hub(audience),
                       hub_str_of(hub_profile_name(hub_audience_profile(audience))),
                       hub_str_of(hub_audience_who(audience)));
    } else {
        seat_touch(of);
    }
    return of;
}

/* Whether a change of that choice is one of the record. */
static bool is_to_keep(const hub_audience *audience)
{
    const hub_orchestrator *hub = hub_audience_hub(audience);
    const seat *of = seat_of(audience);
    bool is_all = hub_settings_of(hub)->remember == HUB_REMEMBER_ALL;
    return remember_of(hub)->is_on && !remember_of(hub)->is_ending &&
           hub_audience_principal(audience) != NULL && !hub_audience_is_of_session(audience) &&
           (is_all || (of != NULL && of->equipped != NULL));
}

void hub_remember_keep(hub_audience *audience, hub_remember_on_kept *on_kept, void *ctx)
{
    if (!is_to_keep(audience)) {
        on_kept(ctx, false);
        return;
    }
    seat *of = take_seat(audience);
    keeper *one = of != NULL ? malloc(sizeof *one) : NULL;
    if (one == NULL) {
        on_kept(ctx, true);
        return;
    }
    *one = (keeper){.on_kept = on_kept, .ctx = ctx, .next = of->keepers};
    of->keepers = one;
    of->has_chosen = of->is_reading || of->is_unread;
    of->is_dirty = true;
    free(of->next_text);
    of->next_text = NULL;
    if (!ev_is_active(&of->keep_timer)) {
        ev_timer_init(&of->keep_timer, on_slow, HUB_LIMIT_REMEMBER_KEEP_MS / 1000., 0.);
        of->keep_timer.data = of;
        ev_timer_start(hub_loop(of->hub), &of->keep_timer);
    }
    seat_write(of);
}

/* ---- what is equipped ------------------------------------------------------------------------ */

hub_err hub_remember_set_equipped(hub_audience *audience, hub_str name)
{
    if (name.len > HUB_LIMIT_REMEMBER_NAME_BYTES) {
        return HUB_ELIMIT;
    }
    if (!remember_of(hub_audience_hub(audience))->is_on ||
        hub_audience_principal(audience) == NULL || hub_audience_is_of_session(audience)) {
        return HUB_OK;
    }
    seat *of = take_seat(audience);
    char *copy = of != NULL ? hub_str_dup(name) : NULL;
    if (copy == NULL) {
        return HUB_ENOMEM;
    }
    free(of->equipped);
    of->equipped = copy;
    return HUB_OK;
}

void hub_remember_equip_by(hub_orchestrator *hub, hub_remember_equip *equip)
{
    remember_of(hub)->equip = equip;
}

void hub_remember_equipped_now(const hub_audience *audience)
{
    seat *of = seat_of(audience);
    if (of != NULL && of->is_equipping) {
        of->is_equipping = false;
        if (!of->is_restoring) {
            ev_timer_stop(hub_loop(of->hub), &of->read_timer);
            seat_let_go(of);
        }
    }
}
