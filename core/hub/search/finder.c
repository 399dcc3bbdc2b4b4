/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/search/finder.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/share.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/search/found.h"
#include "search/index.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <utlist.h>

/* One toolset of an index. The thread that makes it reads all of this. */
typedef struct part {
    hub_section *section;
    size_t begin;     /* the number of its first tool */
    char *about;      /* key, title, description, instructions */
    char *tags;       /* of all its tools */
    bool trusts_tags; /* … beside which each has its own */
} part;

struct hub_finder_index {
    hub_finder_index *next;
    hub_search_words *words; /* the finder's */
    const hub_base *base;    /* whose it is, for telling them apart; it may be gone */
    part *parts;
    size_t part_count;
    size_t tool_count;
    hub_search_index *index; /* NULL: it is being made, or could not be */
};

/* A call that waits for an index. */
typedef struct waiting {
    struct waiting *next;
    hub_call_table *calls;
    uint64_t call;
    hub_finder_on_ready *on_ready;
    hub_share *share; /* of its client: bytes */
    size_t len;
    char arguments[];
} waiting;

/* An index that is being made. */
typedef struct making {
    struct making *next;
    struct finder *finder;
    hub_finder_index *made;
    pthread_t thread;
    ev_async done;
    atomic_bool is_over; /* nobody wants it any more */
    hub_err err;
    waiting *first;
} making;

/* With the hub. */
typedef struct finder {
    hub_orchestrator *hub;
    hub_search_words *words;
    hub_finder_index *indices;
    making *makings;
    hub_pool asked; /* by calls that wait, in bytes */
} finder;

static finder *finder_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_FINDER_STATION);
}

/* ---- what an index is made from -------------------------------------------------------------- */

static void destroy_index(hub_finder_index *index)
{
    if (index == NULL) {
        return;
    }
    for (size_t i = 0; i < index->part_count; i++) {
        hub_section_unref(index->parts[i].section);
        free(index->parts[i].about);
        free(index->parts[i].tags);
    }
    free(index->parts);
    hub_search_index_destroy(index->index);
    free(index);
}

static void add_word(hub_buf *text, const char *word)
{
    if (word != NULL) {
        hub_buf_add_char(text, ' ');
        hub_buf_add(text, hub_str_of(word));
    }
}

/* Text that lives as long as the part; NULL: out of memory. */
static char *take_text(hub_buf *text)
{
    hub_buf_add_char(text, '\0');
    char *taken = hub_buf_ok(text) ? hub_buf_take(text) : NULL;
    hub_buf_fini(text);
    return taken;
}

static bool read_about(const hub_source *source, part *into)
{
    const hub_toolset *toolset = source->owner;
    const hub_about *about = hub_toolset_about(toolset);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_add(&text, source->toolset);
    add_word(&text, about->title);
    add_word(&text, hub_toolset_settings_of(toolset)->description);
    add_word(&text, about->description);
    add_word(&text, hub_about_instructions(about));
    into->about = take_text(&text);
    hub_buf_init(&text, SIZE_MAX / 4);
    for (size_t i = 0; source->tags != NULL && i < source->tags->count; i++) {
        add_word(&text, source->tags->items[i]);
    }
    add_word(&text, source->category);
    into->tags = take_text(&text);
    into->trusts_tags = source->trusts_tags;
    return into->about != NULL && into->tags != NULL;
}

static hub_section *section_at(const hub_base *base, size_t at)
{
    return hub_base_source_at(base, at)->bare ? NULL : hub_base_section_at(base, at, HUB_KIND_TOOL);
}

/* All that is known in a base, and not in an index yet; NULL: out of memory. */
static hub_finder_index *gather(const hub_base *base)
{
    hub_finder_index *index = calloc(1, sizeof *index);
    part *parts = calloc(hub_base_count(base) + 1, sizeof *parts);
    bool is_good = index != NULL && parts != NULL;
    if (!is_good) {
        free(index);
        free(parts);
        return NULL;
    }
    *index = (hub_finder_index){.base = base, .parts = parts};
    for (size_t i = 0; is_good && i < hub_base_count(base); i++) {
        hub_section *section = section_at(base, i);
        if (section != NULL && section->count > 0) {
            part *next = &parts[index->part_count++];
            next->section = hub_section_ref(section);
            next->begin = index->tool_count;
            index->tool_count += section->count;
            is_good = read_about(hub_base_source_at(base, i), next);
        }
    }
    if (!is_good) {
        destroy_index(index);
    }
    return is_good ? index : NULL;
}

/* Whether the base has the same sections still. */
static bool is_current(const hub_finder_index *index, const hub_base *base)
{
    size_t at = 0;
    for (size_t i = 0; i < hub_base_count(base); i++) {
        const hub_section *section = section_at(base, i);
        if (section == NULL || section->count == 0) {
            continue;
        }
        if (at == index->part_count || index->parts[at].section != section) {
            return false;
        }
        at++;
    }
    return at == index->part_count;
}

/* ---- on the thread --------------------------------------------------------------------------- */

static hub_err add_tool(hub_search_builder *builder, const part *of, const hub_item *item,
                        hub_buf *tags)
{
    hub_buf_clear(tags);
    hub_buf_add(tags, hub_str_of(of->tags));
    if (of->trusts_tags || hub_item_has_tags(item)) {
        hub_buf_add(tags, item->tags_json);
    }
    if (of->trusts_tags || hub_item_has_category(item)) {
        hub_buf_add(tags, item->category_json);
    }
    hub_search_tool tool = {.name = item->shown,
                            .definition = item->json,
                            .tags = hub_buf_str(tags),
                            .toolset = hub_str_of(of->about)};
    return hub_buf_ok(tags) ? hub_search_builder_add(builder, &tool) : HUB_ENOMEM;
}

static hub_err make_index(making *job)
{
    hub_finder_index *made = job->made;
    hub_search_builder *builder = hub_search_builder_create(made->tool_count);
    hub_err err = builder != NULL ? HUB_OK : HUB_ENOMEM;
    hub_buf tags;
    hub_buf_init(&tags, SIZE_MAX / 4);
    for (size_t i = 0; i < made->part_count; i++) {
        const part *of = &made->parts[i];
        for (size_t k = 0; err == HUB_OK && k < of->section->count; k++) {
            err = atomic_load(&job->is_over)
                      ? HUB_ESTATE
                      : add_tool(builder, of, of->section->entries[k].item, &tags);
        }
    }
    err = err == HUB_OK ? hub_search_builder_finish(builder, &made->index) : err;
    hub_buf_fini(&tags);
    hub_search_builder_destroy(builder);
    return err;
}

static void *run(void *arg)
{
    making *job = arg;
    job->err = make_index(job);
    ev_async_send(hub_loop(job->finder->hub), &job->done);
    return NULL;
}

/* Its signals are blocked before it exists: no handler runs there. */
static bool start_thread(making *job)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    int failed = pthread_create(&job->thread, NULL, run, job);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* a mask that it had before: cannot fail */
    if (failed == 0) {
        (void)pthread_setname_np(job->thread, "patchbay-search"); /* for top and gdb */
    }
    return failed == 0;
}

/* ---- on the loop ----------------------------------------------------------------------------- */

/* Whether a profile has the base. */
static bool is_in_use(const hub_orchestrator *hub, const hub_base *base)
{
    bool is = false;
    for (size_t i = 0; !is && i < hub_profile_total(hub); i++) {
        const hub_exposure *exposure = hub_profile_exposure(hub_profile_at(hub, i));
        is = exposure != NULL && hub_exposure_base(exposure) == base;
    }
    return is;
}

/* Drop what was made of this base, and of bases that are gone. Where principals have bases of their own, the
 * newest of others than profiles' are kept, whether or not they are: is_current knows. */
static void sweep(finder *in, const hub_base *base)
{
    enum { KEPT_MOST = 16 };
    size_t kept = hub_tells_sessions_apart(in->hub) ? 0 : KEPT_MOST;
    hub_finder_index *at;
    hub_finder_index *next;
    LL_FOREACH_SAFE(in->indices, at, next) /* newest first */
    {
        bool is_in_profile = is_in_use(in->hub, at->base);
        kept += !is_in_profile && at->base != base;
        if (at->base == base || (!is_in_profile && kept > KEPT_MOST)) {
            LL_DELETE(in->indices, at);
            destroy_index(at);
        }
    }
}

static void free_making(making *job)
{
    waiting *at;
    waiting *next;
    LL_FOREACH_SAFE(job->first, at, next)
    {
        hub_share_give(at->share, sizeof *at + at->len);
        free(at);
    }
    destroy_index(job->made);
    free(job);
}

static void end_thread(making *job)
{
    (void)pthread_join(job->thread, NULL); /* it was made, and nobody else waits for it */
    ev_async_stop(hub_loop(job->finder->hub), &job->done);
}

static void on_done(struct ev_loop *loop, ev_async *async, int events)
{
    (void)loop;
    (void)events;
    making *job = async->data;
    finder *in = job->finder;
    hub_finder_index *made = job->made;
    end_thread(job);
    LL_DELETE(in->makings, job);
    if (job->err == HUB_OK) {
        sweep(in, made->base);
        LL_PREPEND(in->indices, made);
        job->made = NULL;
    } else {
        hub_log(HUB_LOG_WARNING, "search.no_index", HUB_F_TEXT("reason", hub_err_text(job->err)));
    }
    waiting *at;
    LL_FOREACH(job->first, at)
    {
        hub_call *call = hub_call_find(at->calls, at->call, NULL);
        if (call != NULL) {
            at->on_ready(call, (hub_str){.ptr = at->arguments, .len = at->len},
                         job->err == HUB_OK ? made : NULL);
        }
    }
    free_making(job);
}

static hub_err begin_making(finder *in, const hub_base *base, making **ret_job)
{
    making *job = calloc(1, sizeof *job);
    hub_finder_index *made = job != NULL ? gather(base) : NULL;
    if (made == NULL) {
        free(job);
        return HUB_ENOMEM;
    }
    if (in->words == NULL) {
        in->words = hub_search_words_create();
    }
    made->words = in->words;
    *job = (making){.finder = in, .made = made};
    ev_async_init(&job->done, on_done);
    job->done.data = job;
    ev_async_start(hub_loop(in->hub), &job->done);
    if (in->words == NULL || !start_thread(job)) {
        ev_async_stop(hub_loop(in->hub), &job->done);
        free_making(job);
        return HUB_ENOMEM;
    }
    LL_PREPEND(in->makings, job);
    *ret_job = job;
    return HUB_OK;
}

/* The one of this base that is being made, and is what the base is now. */
static making *find_making(const finder *in, const hub_base *base)
{
    making *at = in->makings;
    while (at != NULL && (at->made->base != base || !is_current(at->made, base))) {
        at = at->next;
    }
    return at;
}

static hub_err wait_for(finder *in, making *job, const hub_call *call, hub_str arguments,
                        hub_finder_on_ready *on_ready)
{
    char whose[HUB_WHOSE_BYTES];
    size_t bytes = sizeof(waiting) + arguments.len;
    hub_share *share = NULL;
    hub_err err =
        hub_pool_take(&in->asked, hub_session_whose(hub_call_session(call), whose), bytes, &share);
    waiting *one = err == HUB_OK ? malloc(bytes + 1) : NULL;
    if (one == NULL) {
        hub_share_give(share, bytes);
        return err != HUB_OK ? err : HUB_ENOMEM;
    }
    *one = (waiting){.calls = hub_call_table_of(call),
                     .call = hub_call_id(call),
                     .on_ready = on_ready,
                     .share = share,
                     .len = arguments.len};
    memcpy(one->arguments, arguments.ptr, arguments.len);
    LL_APPEND(job->first, one);
    return HUB_OK;
}

hub_err hub_finder_ask(hub_call *call, hub_str arguments, hub_finder_on_ready *on_ready)
{
    hub_orchestrator *hub = hub_session_hub(hub_call_session(call));
    const hub_base *base = hub_exposure_base(hub_call_sight(call).exposure);
    finder *in = finder_of(hub);
    for (const hub_finder_index *at = in->indices; at != NULL; at = at->next) {
        if (at->base == base && is_current(at, base)) {
            on_ready(call, arguments, at);
            return HUB_OK;
        }
    }
    making *job = find_making(in, base);
    hub_err err = job != NULL ? HUB_OK : begin_making(in, base, &job);
    return err == HUB_OK ? wait_for(in, job, call, arguments, on_ready) : err;
}

size_t hub_finder_toolsets(const hub_finder_index *index)
{
    return index->part_count;
}

/* ---- searching ------------------------------------------------------------------------------- */

typedef struct search {
    const hub_finder_index *index;
    hub_finder_may_see *may_see;
    void *ctx;
} search;

static hub_finder_tool tool_at(const hub_finder_index *index, size_t number)
{
    size_t low = 0;
    size_t high = index->part_count;
    while (high - low > 1) { /* the last part that does not begin behind it */
        size_t middle = low + (high - low) / 2;
        if (index->parts[middle].begin <= number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const part *of = &index->parts[low];
    const hub_entry *entry = &of->section->entries[number - of->begin];
    return (hub_finder_tool){.toolset = {.ptr = entry->canonical.ptr,
                                         .len = entry->canonical.len - entry->item->name.len - 1},
                             .entry = entry,
                             .toolset_number = low};
}

static bool may_see(void *ctx, uint32_t number)
{
    const search *asked = ctx;
    hub_finder_tool tool = tool_at(asked->index, number);
    return asked->may_see(asked->ctx, &tool);
}

hub_err hub_finder_query(const hub_finder_index *index, hub_str text,
                         hub_finder_may_see *may_see_tool, void *ctx, hub_finder_tool *tools,
                         size_t *count)
{
    uint32_t numbers[HUB_LIMIT_SEARCH_RESULTS];
    search asked = {.index = index, .may_see = may_see_tool, .ctx = ctx};
    if (*count > HUB_LIMIT_SEARCH_RESULTS) {
        *count = HUB_LIMIT_SEARCH_RESULTS;
    }
    hub_err err =
        hub_search_query(index->index, index->words, text, may_see, &asked, numbers, count);
    for (size_t i = 0; err == HUB_OK && i < *count; i++) {
        tools[i] = tool_at(index, numbers[i]);
    }
    return err;
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    (void)reterr;
    finder_of(hub)->hub = hub;
    finder_of(hub)->asked.most = HUB_LIMIT_SEARCH_WAITING_BYTES;
    return HUB_OK;
}

static void settings_changed(hub_orchestrator *hub)
{
    sweep(finder_of(hub), NULL);
}

static void hub_ends(hub_orchestrator *hub)
{
    finder *in = finder_of(hub);
    making *job;
    making *next_job;
    LL_FOREACH_SAFE(in->makings, job, next_job)
    {
        atomic_store(&job->is_over, true);
        end_thread(job);
        free_making(job);
    }
    in->makings = NULL;
    hub_finder_index *at;
    hub_finder_index *next;
    LL_FOREACH_SAFE(in->indices, at, next)
    {
        destroy_index(at);
    }
    in->indices = NULL;
    hub_search_words_destroy(in->words);
    in->words = NULL;
}

static hub_station_place place;

const hub_station HUB_FINDER_STATION = {
    .name = "search",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(finder), [HUB_PART_SESSION] = sizeof(void *)},
    .hub_begins = hub_begins,
    .hub_ends = hub_ends,
    .settings_changed = settings_changed,
    .session_ends = hub_found_end,
};
