/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/replicas/manifests.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/str.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/settings.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utlist.h>

const hub_state_kind HUB_MANIFESTS_KIND = {.name = "replica", .is_secret = false};

/* Another hub of the store. */
typedef struct other {
    struct other *next;
    bool is_listed; /* by the list that is being read */
    char *differs;  /* names of sections; empty: none */
    char *version;  /* of its program */
    char name[HUB_LIMIT_STATE_KEY_BYTES + 1];
} other;

/* With the hub. */
typedef struct manifests {
    hub_state_watch *watch; /* NULL: it does not compare */
    hub_state_op *writing;
    hub_state_op *listing;
    bool writes_again;
    bool lists_again;
    uint64_t version; /* of the hub's own record */
    other *others;
    ev_timer beat;
    char name[HUB_LIMIT_STATE_KEY_BYTES + 1];
} manifests;

static manifests *part_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_MANIFESTS_STATION);
}

static hub_state_id own_id(const manifests *part)
{
    return (hub_state_id){
        .kind = &HUB_MANIFESTS_KIND, .owner = HUB_STR_EMPTY, .key = hub_str_of(part->name)};
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool hub_manifests_is_old(uint64_t version, uint64_t newest)
{
    return newest > version &&
           newest - version > UINT64_C(3000000) * HUB_LIMIT_REPLICA_BEAT_S; /* microseconds */
}

/* Names of `left` whose digest in `right` is another one; with `absent`, those that are not there. No
 * section of a manifest has a name with escapes. */
static void add_different(hub_str left, hub_str right, bool absent, hub_buf *names)
{
    hub_json_iter it = hub_json_iterate(left);
    hub_str key;
    hub_str digest;
    hub_str name;
    while (hub_json_next(&it, &key, &digest)) {
        hub_str there = hub_json_plain(key, &name) ? hub_json_get(right, name) : digest;
        if (absent ? there.len == 0 : !hub_str_eq(there, digest)) {
            hub_buf_add(names, names->len > 0 ? HUB_STR(", ") : HUB_STR_EMPTY);
            hub_buf_add(names, name);
        }
    }
}

void hub_manifests_compare(hub_str own, hub_str document, hub_buf *names)
{
    hub_str object;
    hub_str theirs = hub_json_check(document, &object, NULL) == HUB_OK
                         ? hub_json_get(object, HUB_STR("sections"))
                         : HUB_STR_EMPTY;
    if (hub_json_type_of(theirs) != HUB_JSON_OBJECT) {
        hub_buf_add(names, HUB_STR("all"));
        return;
    }
    add_different(own, theirs, false, names);
    add_different(theirs, own, true, names);
}

/* ---- the others ------------------------------------------------------------------------------ */

static void forget(manifests *part, other *one)
{
    LL_DELETE(part->others, one);
    free(one->differs);
    free(one->version);
    free(one);
}

/* NULL: there are too many, or no memory. */
static other *get_other(manifests *part, hub_str name)
{
    other *one;
    size_t count = 0;
    LL_FOREACH(part->others, one)
    {
        if (hub_str_is(name, one->name)) {
            return one;
        }
        count++;
    }
    one = count < HUB_LIMIT_REPLICAS && name.len < sizeof one->name ? calloc(1, sizeof *one) : NULL;
    if (one != NULL) {
        memcpy(one->name, name.ptr, name.len);
        LL_PREPEND(part->others, one);
    }
    return one;
}

/* Said once for each difference, and when there is none any more. */
static void note(other *one, hub_str differs, hub_str document)
{
    hub_str version = HUB_STR_EMPTY;
    (void)hub_json_plain(hub_json_get(document, HUB_STR("version")), &version);
    if (!hub_str_is(differs, one->differs != NULL ? one->differs : "")) {
        if (differs.len > 0) {
            hub_log(
                HUB_LOG_WARNING, "replica.differs", HUB_F_TEXT("replica", one->name),
                HUB_F_STR("sections", differs), HUB_F_STR("version", version),
                HUB_F_TEXT("advice", "its manifest is another one: give all replicas the same"));
        } else {
            hub_log(HUB_LOG_INFO, "replica.agrees", HUB_F_TEXT("replica", one->name));
        }
    }
    free(one->differs);
    free(one->version);
    one->differs = differs.len > 0 ? hub_str_dup(differs) : NULL;
    one->version = hub_str_dup(version);
}

static void look_at(hub_orchestrator *hub, const hub_state_record *record)
{
    manifests *part = part_of(hub);
    other *one =
        hub_str_is(record->key, part->name) || hub_manifests_is_old(record->version, part->version)
            ? NULL
            : get_other(part, record->key);
    if (one != NULL) {
        hub_buf names;
        hub_buf_init(&names, HUB_LIMIT_STATE_DOCUMENT_BYTES);
        hub_manifests_compare(hub_str_of(hub_settings_of(hub)->replicas.sections), record->document,
                              &names);
        one->is_listed = true;
        note(one, hub_buf_ok(&names) ? hub_buf_str(&names) : HUB_STR("all"), record->document);
        hub_buf_fini(&names);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static void list(hub_orchestrator *hub, hub_str after);

/* All were listed: who was not there is gone. */
static void finish_list(hub_orchestrator *hub)
{
    manifests *part = part_of(hub);
    other *one;
    other *next;
    LL_FOREACH_SAFE(part->others, one, next)
    {
        if (!one->is_listed) {
            forget(part, one);
        }
    }
}

/* Whether that happens is open: what is still there grows old. */
static void delete_record(hub_orchestrator *hub, hub_str key, uint64_t seen)
{
    const hub_state_id id = {.kind = &HUB_MANIFESTS_KIND, .key = key};
    hub_err ignored = hub_state_delete(hub_store_of(hub), &id, seen, NULL, NULL, NULL, NULL);
    (void)ignored;
}

static void on_list(void *ctx, const hub_state_result *result)
{
    hub_orchestrator *hub = ctx;
    manifests *part = part_of(hub);
    bool lists_again = part->lists_again;
    part->listing = NULL;
    for (size_t i = 0; result->err == HUB_OK && !lists_again && i < result->count; i++) {
        const hub_state_record *record = &result->records[i];
        if (hub_manifests_is_old(record->version, part->version)) {
            delete_record(hub, record->key, record->version);
        } else {
            look_at(hub, record);
        }
    }
    if (lists_again) {
        list(hub, HUB_STR_EMPTY);
    } else if (result->err == HUB_OK && result->has_more && result->count > 0) {
        list(hub, result->records[result->count - 1].key);
    } else if (result->err == HUB_OK) {
        finish_list(hub);
    }
}

/* A page of all records, behind that one; empty: the first. A failure is the store's to tell, and
 * the next beat, or its return, tries again. */
static void list(hub_orchestrator *hub, hub_str after)
{
    manifests *part = part_of(hub);
    const hub_state_range range = {.kind = &HUB_MANIFESTS_KIND, .after_key = after};
    other *one;
    part->lists_again = part->listing != NULL;
    if (part->lists_again) {
        return;
    }
    if (after.len == 0) {
        LL_FOREACH(part->others, one)
        {
            one->is_listed = false;
        }
    }
    if (hub_state_list(hub_store_of(hub), &range, on_list, hub, &part->listing, NULL) != HUB_OK) {
        part->listing = NULL;
    }
}

/* ---- the hub's own --------------------------------------------------------------------------- */

static void write_own(hub_orchestrator *hub);

static void on_written(void *ctx, const hub_state_result *result)
{
    hub_orchestrator *hub = ctx;
    manifests *part = part_of(hub);
    part->writing = NULL;
    if (result->err == HUB_OK && result->count > 0) {
        part->version = result->records[0].version;
    }
    if (part->writes_again) {
        write_own(hub);
    } else if (result->err == HUB_OK) {
        list(hub, HUB_STR_EMPTY);
    }
}

static void write_own(hub_orchestrator *hub)
{
    manifests *part = part_of(hub);
    hub_state_id id = own_id(part);
    hub_buf document;
    part->writes_again = part->writing != NULL;
    if (part->writes_again) {
        return;
    }
    hub_buf_init(&document, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_buf_printf(&document, "{\"version\":\"%s\",\"sections\":%s}", PATCHBAY_VERSION,
                   hub_settings_of(hub)->replicas.sections);
    if (!hub_buf_ok(&document) ||
        hub_state_put(hub_store_of(hub), &id, HUB_STATE_ANY, hub_buf_str(&document), on_written,
                      hub, &part->writing, NULL) != HUB_OK) {
        part->writing = NULL;
    }
    hub_buf_fini(&document);
}

static void on_beat(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    write_own(timer->data);
}

/* What this hub writes, it hears of, too. */
static void on_change(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    hub_orchestrator *hub = ctx;
    const manifests *part = part_of(hub);
    if (event == HUB_STATE_OTHER || event == HUB_STATE_BACK) {
        write_own(hub);
    } else if (event == HUB_STATE_UNKNOWN || !hub_str_is(changed->key, part->name)) {
        list(hub, HUB_STR_EMPTY);
    }
}

/* ---- the station ----------------------------------------------------------------------------- */

/* One that serves others, from a store that others use. */
static bool compares(const hub_orchestrator *hub)
{
    const hub_settings *settings = hub_settings_of(hub);
    const hub_store *store = hub_store_of(hub);
    return store != NULL && hub_store_is_shared(store) && settings->listen_count > 0 &&
           settings->replicas.sections != NULL;
}

void hub_manifests_start(hub_orchestrator *hub)
{
    manifests *part = part_of(hub);
    const hub_state_range range = {.kind = &HUB_MANIFESTS_KIND};
    hub_error why = {.code = HUB_OK};
    char host[128] = "";
    if (!compares(hub)) {
        return;
    }
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(part->name, sizeof part->name, "%s:%ld", host, (long)getpid());
    if (hub_state_watch_create(hub_store_of(hub), &range, on_change, hub, &part->watch, &why) !=
        HUB_OK) {
        part->watch = NULL;
        hub_log(HUB_LOG_WARNING, "replica.not_compared", HUB_F_TEXT("reason", why.text));
        return;
    }
    ev_timer_init(&part->beat, on_beat, 0., HUB_LIMIT_REPLICA_BEAT_S);
    part->beat.data = hub;
    ev_timer_start(hub_loop(hub), &part->beat);
}

static void settings_changed(hub_orchestrator *hub)
{
    if (part_of(hub)->watch != NULL && compares(hub)) {
        write_own(hub);
    }
}

/* It says that it goes; who has no time to hear of it sees it grow old. */
static void stop(hub_orchestrator *hub)
{
    manifests *part = part_of(hub);
    if (part->watch == NULL) {
        return;
    }
    ev_timer_stop(hub_loop(hub), &part->beat);
    hub_state_watch_destroy(part->watch);
    part->watch = NULL;
    if (part->writing != NULL) {
        hub_state_cancel(part->writing);
    }
    if (part->listing != NULL) {
        hub_state_cancel(part->listing);
    }
    delete_record(hub, hub_str_of(part->name), HUB_STATE_ANY);
}

static void drop(hub_orchestrator *hub)
{
    manifests *part = part_of(hub);
    while (part->others != NULL) {
        forget(part, part->others);
    }
}

bool hub_manifests_compares(const hub_orchestrator *hub)
{
    return part_of(hub)->watch != NULL;
}

void hub_manifests_add(const hub_orchestrator *hub, hub_buf *out)
{
    const other *one;
    hub_buf_add_char(out, '[');
    LL_FOREACH(part_of(hub)->others, one)
    {
        hub_json_add_comma(out);
        hub_buf_add(out, HUB_STR("{\"name\":"));
        hub_json_add_string(out, hub_str_of(one->name));
        hub_json_add_key(out, HUB_STR("version"));
        hub_json_add_string(out, hub_str_of(one->version != NULL ? one->version : ""));
        hub_json_add_key(out, HUB_STR("differs"));
        hub_json_add_string(out, hub_str_of(one->differs != NULL ? one->differs : ""));
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

static hub_station_place place;

const hub_station HUB_MANIFESTS_STATION = {
    .name = "manifests",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(manifests)},
    .settings_changed = settings_changed,
    .hub_stops = stop,
    .hub_drops = drop,
};
