/* SPDX-License-Identifier: Apache-2.0 */
/* What servers offer that nobody has approved as it is, and approving it: the lock file, as `patchbay lock`
 * and `patchbay approve` write it (config/lock_change.h). The thread reads and writes the file, of
 * copies that the loop has made. */
#include "base/limits.h"
#include "base/log.h"
#include "config/file.h"
#include "config/lock_change.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "tools/suspects.h"
#include "web/api/later.h"

#include <stdlib.h>

enum {
    ARENA_BYTES = 256 * 1024 * 1024, /* definitions of the file, and of the servers */
    MOST_CHANGES = 500,              /* in one answer */
};

typedef struct job {
    hub_api_later later;
    hub_arena *arena;
    const char *path; /* of the lock file */
    hub_lock now;     /* of the toolsets that were looked at */
    bool *is_listed;  /* … and which of them with their lists */
    hub_lock old;
    hub_lock_scope scope; /* of what is to be approved */
    hub_error why;        /* HUB_OK: it went well */
    size_t count;         /* of changes */
    size_t more;          /* of them, not told */
    bool withholds_changed;
    bool withholds_new;
    hub_buf out;
} job;

static void drop(job *one)
{
    hub_arena_destroy(one->arena);
    hub_api_later_free(&one->later);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Whether a list of a toolset has something that is not in the lock file as it is. */
static bool has_changes(const hub_toolset *toolset)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        const hub_catalog *list = hub_toolset_list(toolset, (hub_kind)kind);
        const hub_pin_report *found = list != NULL ? list->pinned : NULL;
        if (found != NULL && found->changed.count + found->added.count + found->missing.count > 0) {
            return true;
        }
    }
    return false;
}

static hub_err gather(job *one, const hub_toolset *toolset)
{
    hub_lock_toolset *into = &one->now.toolsets[one->now.count];
    hub_err err = hub_lock_gather(toolset, one->arena, into);
    one->is_listed[one->now.count] = hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL;
    one->now.count += err == HUB_OK;
    return err;
}

/* NULL: it has been answered. */
static job *begin(const hub_api_asked *asked)
{
    const hub_pins_settings *pins = &hub_settings_of(asked->hub)->pins;
    size_t most = hub_toolset_total(asked->hub) + 1;
    if (pins->mode == HUB_PINS_OFF || pins->lock == NULL) {
        hub_api_fail(asked->exchange, 409, "conflict",
                     "nothing is held against what was approved: policy.pinned is off, or there is "
                     "no manifest for a lock file to lie beside");
        return NULL;
    }
    job *one = calloc(1, sizeof *one);
    hub_arena *arena = one != NULL ? hub_arena_create(ARENA_BYTES) : NULL;
    if (arena != NULL) {
        one->arena = arena;
        one->path = hub_arena_strdup(arena, hub_str_of(pins->lock));
        one->now.toolsets = hub_arena_array(arena, most, sizeof *one->now.toolsets);
        one->is_listed = hub_arena_array(arena, most, sizeof *one->is_listed);
        one->withholds_changed = pins->mode == HUB_PINS_WITHHOLD;
        one->withholds_new = pins->withholds_new;
    }
    if (arena == NULL || one->path == NULL || one->now.toolsets == NULL || one->is_listed == NULL) {
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        hub_arena_destroy(arena);
        free(one);
        return NULL;
    }
    return one;
}

/* Give up before it was handed over. */
static void refuse(const hub_api_asked *asked, job *one, const hub_error *why)
{
    hub_api_fail_with(asked->exchange, why);
    hub_arena_destroy(one->arena);
    free(one);
}

/* [worker] */
static void read_lock(hub_api_later *later)
{
    job *one = (job *)later;
    hub_err err = hub_lock_read(one->path, one->arena, &one->old, NULL, &one->why);
    one->why.code = err;
}

/* ---- what is different ----------------------------------------------------------------------- */

static void add_side(hub_buf *out, const char *key, const char *what, const hub_lock_entry *entry)
{
    hub_json_add_key(out, hub_str_of(key));
    if (entry == NULL || entry->definition.len == 0) {
        hub_buf_add(out, HUB_STR("null"));
    } else if (strcmp(what, "origin") == 0) {
        hub_json_add_string(out, entry->definition);
    } else {
        hub_buf_add(out, entry->definition);
    }
}

static void add_suspicion(hub_buf *out, const hub_lock_entry *now)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_suspects_add(hub_suspects_in(now->definition), &text);
    if (text.len > 0) {
        hub_json_add_member(out, "suspect", hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

static void add_change(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                       const hub_lock_entry *now)
{
    job *one = ctx;
    hub_buf *out = &one->out;
    one->count++;
    if (one->count > MOST_CHANGES || out->len > HUB_LIMIT_UPSTREAM_MESSAGE_BYTES / 2) {
        one->more++;
        return;
    }
    bool is_withheld = now != NULL && (old == NULL ? one->withholds_new : one->withholds_changed);
    hub_json_add_comma(out);
    hub_buf_add_char(out, '{');
    hub_json_add_member(out, "toolset", toolset);
    hub_json_add_member(out, "what", hub_str_of(what));
    hub_json_add_member(out, "name", now != NULL ? now->name : old->name);
    hub_json_add_member(out, "change",
                        hub_str_of(old == NULL   ? "new"
                                   : now == NULL ? "gone"
                                                 : "changed"));
    hub_buf_printf(out, ",\"withheld\":%s", is_withheld ? "true" : "false");
    if (now != NULL && now->digest.len > 0) {
        hub_json_add_member(out, "digest", now->digest);
        add_suspicion(out, now);
    }
    add_side(out, "before", what, old);
    add_side(out, "now", what, now);
    hub_buf_add_char(out, '}');
}

static void add_changes(job *one)
{
    for (size_t i = 0; i < one->now.count; i++) {
        hub_lock_toolset *now = &one->now.toolsets[i];
        const hub_lock_toolset *old = hub_lock_find(&one->old, now->key);
        if (!one->is_listed[i] && old != NULL) { /* nobody has heard of its lists yet */
            now->tools = old->tools;
            now->prompts = old->prompts;
            now->instructions = old->instructions;
        }
        hub_lock_compare(old, now, add_change, one);
    }
}

static void finish_list(hub_api_later *later)
{
    job *one = (job *)later;
    hub_web_exchange *exchange = hub_api_later_exchange(later);
    if (exchange != NULL && one->why.code != HUB_OK) {
        hub_api_fail_with(exchange, &one->why);
    } else if (exchange != NULL) {
        hub_buf_init(&one->out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        hub_buf_add(&one->out, HUB_STR("{\"changes\":["));
        add_changes(one);
        hub_buf_printf(&one->out, "],\"more\":%zu}", one->more);
        hub_api_answer(exchange, 200, &one->out);
    }
    drop(one);
}

static void serve_list(hub_api_asked *asked)
{
    job *one = begin(asked);
    hub_err err = HUB_OK;
    for (size_t i = 0; one != NULL && err == HUB_OK && i < hub_toolset_total(asked->hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(asked->hub, i);
        if (hub_toolset_settings_of(toolset)->pins == NULL) {
            continue;
        }
        err = gather(one, toolset);
        if (err == HUB_OK && !has_changes(toolset)) {
            /* Its definitions are as approved; only what else there is can be different. */
            one->is_listed[one->now.count - 1] = false;
        }
    }
    if (one != NULL && err != HUB_OK) {
        refuse(asked, one, &(hub_error){.code = err});
    } else if (one != NULL) {
        hub_api_work(asked, &one->later, read_lock, finish_list);
    }
}

/* ---- approving ------------------------------------------------------------------------------- */

static void note_approved(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                          const hub_lock_entry *now)
{
    job *one = ctx;
    (void)toolset;
    (void)what;
    (void)old;
    (void)now;
    one->count++;
}

static hub_err write_lock(job *one, const hub_lock *lock, hub_file_stamp seen)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOCK_BYTES);
    hub_lock_write(lock, &text);
    const hub_file_change change = {.content = hub_buf_str(&text), .seen = seen};
    hub_err err = hub_buf_ok(&text) ? hub_file_replace(one->path, &change, &one->why)
                                    : hub_fail(&one->why, text.failed,
                                               "the lock file would have more than %u bytes",
                                               HUB_LIMIT_LOCK_BYTES);
    hub_buf_fini(&text);
    return err;
}

/* [worker] */
static void approve(hub_api_later *later)
{
    job *one = (job *)later;
    hub_lock made = {.count = 0};
    hub_file_stamp seen = hub_file_look(one->path);
    hub_err err = hub_lock_read(one->path, one->arena, &one->old, NULL, &one->why);
    if (err == HUB_OK) {
        err = hub_lock_approve(&one->old, &one->now, &one->scope, one->arena, note_approved, one,
                               &made);
    }
    if (err == HUB_OK && one->count > 0) {
        err = write_lock(one, &made, seen);
    }
    one->why.code = err;
}

static void finish_approve(hub_api_later *later)
{
    job *one = (job *)later;
    hub_web_exchange *exchange = hub_api_later_exchange(later);
    if (one->why.code == HUB_OK && one->count > 0) {
        hub_log(HUB_LOG_INFO, "pins.approved", HUB_F_STR("toolset", one->now.toolsets[0].key),
                HUB_F_STR("name", one->scope.tool), HUB_F_INT("count", one->count),
                HUB_F_TEXT("by", later->held->name));
    }
    if (exchange != NULL && one->why.code != HUB_OK) {
        hub_api_fail_with(exchange, &one->why);
    } else if (exchange != NULL && one->count == 0) {
        hub_api_fail(
            exchange, 409, "conflict",
            "there is nothing to approve: it is as the lock file has it, or the definition "
            "is not the one that was looked at");
    } else if (exchange != NULL) {
        hub_buf_init(&one->out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_buf_printf(&one->out, "{\"approved\":%zu}", one->count);
        hub_api_answer(exchange, 200, &one->out);
    }
    drop(one);
}

/* A member that is a string, copied; empty where there is none. */
static bool read_member(const job *one, hub_str body, const char *key, hub_str *ret_text)
{
    hub_buf text;
    hub_str raw = hub_json_get(body, hub_str_of(key));
    hub_buf_init(&text, body.len + 1);
    bool is_good = raw.len == 0 || hub_json_decode(raw, &text) == HUB_OK;
    const char *kept = is_good ? hub_arena_strdup(one->arena, hub_buf_str(&text)) : NULL;
    *ret_text = hub_str_of(kept != NULL ? kept : "");
    hub_buf_fini(&text);
    return kept != NULL;
}

static void serve_approve(hub_api_asked *asked)
{
    hub_str body = asked->request->body;
    hub_str key = HUB_STR_EMPTY;
    hub_error why = {.code = HUB_OK};
    job *one = begin(asked);
    if (one == NULL) {
        return;
    }
    bool is_read = read_member(one, body, "toolset", &key) &&
                   read_member(one, body, "tool", &one->scope.tool) &&
                   read_member(one, body, "digest", &one->scope.digest);
    const hub_toolset *toolset = is_read ? hub_find_toolset(asked->hub, key) : NULL;
    one->scope.spares_origin = !asked->is_operator;
    if (!is_read) {
        (void)hub_fail(&why, HUB_EINVAL, "toolset, tool and digest are strings");
    } else if (toolset == NULL) {
        (void)hub_fail(&why, HUB_ENOTFOUND, "there is no such toolset");
    } else if (hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL) {
        (void)hub_fail(&why, HUB_EBUSY, "its server has not said yet what it has: enable it first");
    } else if (gather(one, toolset) != HUB_OK) {
        (void)hub_fail(&why, HUB_ENOMEM, "out of memory");
    }
    if (why.code != HUB_OK) {
        refuse(asked, one, &why);
    } else {
        hub_api_work(asked, &one->later, approve, finish_approve);
    }
}

const hub_api_route HUB_API_APPROVAL_ROUTES[] = {
    {.method = "GET",
     .path = "/approvals",
     .scope = HUB_API_READ,
     .summary = "Definitions of servers that differ from the lock file, before "
                "and now.",
     .handle = serve_list},
    {.method = "POST",
     .path = "/approvals",
     .scope = HUB_API_ADMIN,
     .summary =
         "Approve what a toolset offers now, or one tool or prompt of it, by the digest that "
         "was looked at; commands and URLs by the operator's Unix socket alone.",
     .body =
         "{\"type\":\"object\",\"required\":[\"toolset\"],\"properties\":{\"toolset\":{\"type\":"
         "\"string\"},\"tool\":{\"type\":\"string\"},\"digest\":{\"type\":\"string\"}}}",
     .handle = serve_approve},
    {.method = NULL},
};
