/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/remember/seat.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

const hub_state_kind REMEMBER_KIND = {.name = "active", .is_secret = false};

enum { KEY_BYTES = HUB_LIMIT_STATE_KEY_BYTES + 1 + HUB_LIMIT_PRINCIPAL_BYTES };

/* 0: there is none that long. */
static size_t make_key(char key[KEY_BYTES], hub_str profile, hub_str principal)
{
    char *at = key;
    if (profile.len > HUB_LIMIT_STATE_KEY_BYTES || principal.len > HUB_LIMIT_PRINCIPAL_BYTES) {
        return 0;
    }
    (void)hub_str_put(&at, profile);
    *at++ = '\n';
    (void)hub_str_put(&at, principal);
    return (size_t)(at - key);
}

seat *seat_find(const hub_orchestrator *hub, hub_str profile, hub_str principal)
{
    char key[KEY_BYTES];
    size_t len = make_key(key, profile, principal);
    seat *found = NULL;
    if (len > 0) {
        HASH_FIND(hh, remember_of(hub)->seats, key, (unsigned)len, found);
    }
    return found;
}

seat *seat_of(const hub_audience *audience)
{
    const hub_principal *principal = hub_audience_principal(audience);
    return principal == NULL || hub_audience_is_of_session(audience)
               ? NULL
               : seat_find(hub_audience_hub(audience),
                           hub_str_of(hub_profile_name(hub_audience_profile(audience))),
                           hub_str_of(hub_principal_name(principal)));
}

bool seat_is_quiet(const seat *of)
{
    return of->op == NULL && !of->is_dirty && !of->is_equipping && of->held == NULL &&
           of->keepers == NULL;
}

void seat_drop(seat *of)
{
    remember *all = remember_of(of->hub);
    struct ev_loop *loop = hub_loop(of->hub);
    if (of->op != NULL) {
        hub_state_cancel(of->op);
    }
    ev_timer_stop(loop, &of->read_timer);
    ev_timer_stop(loop, &of->keep_timer);
    HASH_DEL(all->seats, of);
    DL_DELETE(all->used, of);
    all->count--;
    remember_record_fini(&of->record);
    free(of->equipped);
    free(of->next_text);
    free(of);
}

/* Make room for one more. */
static bool has_room(remember *all)
{
    seat *at = all->count < HUB_LIMIT_REMEMBER_SEATS ? NULL : all->used;
    while (at != NULL && (!seat_is_quiet(at) || at->has_failed)) {
        at = at->next;
    }
    if (at != NULL) {
        seat_drop(at);
    }
    return all->count < HUB_LIMIT_REMEMBER_SEATS;
}

seat *seat_make(hub_orchestrator *hub, hub_str profile, hub_str principal)
{
    remember *all = remember_of(hub);
    char key[KEY_BYTES];
    size_t len = make_key(key, profile, principal);
    seat *made = len > 0 && has_room(all) ? calloc(1, sizeof *made + len) : NULL;
    if (made == NULL) {
        return NULL;
    }
    memcpy(made->key, key, len);
    made->hub = hub;
    made->profile = (hub_str){.ptr = made->key, .len = profile.len};
    made->principal = (hub_str){.ptr = made->key + profile.len + 1, .len = principal.len};
    HASH_ADD_KEYPTR(hh, all->seats, made->key, (unsigned)len, made);
    if (!hub_map_has_taken(&made->hh)) {
        free(made);
        return NULL;
    }
    DL_APPEND(all->used, made);
    all->count++;
    remember_follow(hub); /* before anything is read */
    return made;
}

void seat_touch(seat *of)
{
    remember *all = remember_of(of->hub);
    if (of->next != NULL) {
        DL_DELETE(all->used, of);
        DL_APPEND(all->used, of);
    }
}

hub_state_id seat_id(const seat *of)
{
    return (hub_state_id){.kind = &REMEMBER_KIND, .owner = of->principal, .key = of->profile};
}

hub_profile *seat_profile(const seat *of)
{
    char name[HUB_LIMIT_STATE_KEY_BYTES + 1];
    memcpy(name, of->profile.ptr, of->profile.len);
    name[of->profile.len] = '\0';
    return hub_find_profile(of->hub, name);
}

hub_audience *seat_audience(const seat *of)
{
    const hub_profile *profile = seat_profile(of);
    const hub_principal *principal = hub_principal_find(of->hub, of->principal);
    return profile != NULL && principal != NULL ? hub_audience_find(principal, profile) : NULL;
}

hub_session *seat_session(const seat *of)
{
    const hub_profile *profile = seat_profile(of);
    const hub_principal *principal = hub_principal_find(of->hub, of->principal);
    hub_session *at = NULL;
    if (of->held != NULL) {
        return hub_call_session(of->held->call);
    }
    if (profile != NULL && principal != NULL) {
        at = hub_profile_sessions(profile);
    }
    while (at != NULL && (hub_session_principal(at) != principal || hub_session_is_apart(at) ||
                          hub_session_is_closing(at))) {
        at = hub_session_next(at);
    }
    return at;
}
