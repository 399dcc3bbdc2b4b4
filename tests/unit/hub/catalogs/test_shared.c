/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into the store and writing there at one time, each while the other is under way: who looks is
 * told once, and what this hub has heard is not undone by what it has read. The store is the test's, and
 * ends an operation when the test says so; so is the one toolset. */
#include "hub/catalogs/catalog_record.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/shared_document.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/keys.h"
#include "hub/kernel/toolset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { LEARNED_MS = 1000, LATER_MS = 2000, VERSION = 7 };

/* ---- the store ------------------------------------------------------------------------------- */

typedef enum verb { NONE, GET, PUT } verb;

struct hub_state_op {
    verb verb;
    uint64_t seen;
    hub_state_done on_done;
    void *ctx;
    char key[HUB_CATALOG_ID_BYTES];
    char document[1024];
};

static hub_state_op under_way; /* one at a time, as a slot has it */
static int gets;
static int puts_of_catalog;
static int deletes;
static bool is_refusing; /* the next operation is not accepted */

static hub_err begin_op(verb what, const hub_state_id *id, hub_state_done on_done, void *ctx,
                        hub_state_op **ret_op)
{
    if (is_refusing) {
        return HUB_ELIMIT;
    }
    assert_int_equal(under_way.verb, NONE);
    under_way = (hub_state_op){.verb = what, .on_done = on_done, .ctx = ctx};
    (void)snprintf(under_way.key, sizeof under_way.key, HUB_STR_FMT, HUB_STR_ARG(id->key));
    *ret_op = &under_way;
    return HUB_OK;
}

hub_err hub_state_get(hub_store *store, const hub_state_id *id, hub_state_done on_done, void *ctx,
                      hub_state_op **ret_op, hub_error *reterr)
{
    (void)store;
    (void)reterr;
    gets++;
    return begin_op(GET, id, on_done, ctx, ret_op);
}

hub_err hub_state_put(hub_store *store, const hub_state_id *id, uint64_t seen, hub_str document,
                      hub_state_done on_done, void *ctx, hub_state_op **ret_op, hub_error *reterr)
{
    (void)store;
    (void)reterr;
    hub_err err = begin_op(PUT, id, on_done, ctx, ret_op);
    under_way.seen = seen;
    (void)snprintf(under_way.document, sizeof under_way.document, HUB_STR_FMT,
                   HUB_STR_ARG(document));
    puts_of_catalog += !hub_str_is(document, HUB_SHARED_ASKING);
    return err;
}

hub_err hub_state_delete(hub_store *store, const hub_state_id *id, uint64_t seen,
                         hub_state_done on_done, void *ctx, hub_state_op **ret_op,
                         hub_error *reterr)
{
    (void)store;
    (void)id;
    (void)seen;
    (void)ctx;
    (void)ret_op;
    (void)reterr;
    assert_null(on_done);
    deletes++;
    return HUB_OK;
}

hub_err hub_state_list(hub_store *store, const hub_state_range *range, hub_state_done on_done,
                       void *ctx, hub_state_op **ret_op, hub_error *reterr)
{
    (void)store;
    (void)range;
    (void)on_done;
    (void)ctx;
    (void)ret_op;
    (void)reterr;
    return HUB_ELIMIT; /* nothing is swept */
}

void hub_state_cancel(hub_state_op *op)
{
    op->verb = NONE;
}

hub_err hub_state_watch_create(hub_store *store, const hub_state_range *range,
                               hub_state_on_change on_change, void *ctx,
                               hub_state_watch **ret_watch, hub_error *reterr)
{
    static char watch;
    (void)store;
    (void)range;
    (void)on_change;
    (void)ctx;
    (void)reterr;
    *ret_watch = (hub_state_watch *)(void *)&watch;
    return HUB_OK;
}

void hub_state_watch_destroy(hub_state_watch *watch)
{
    (void)watch;
}

bool hub_store_is_shared(const hub_store *store)
{
    (void)store;
    return true;
}

/* What is under way ends so; `document`: NULL, there is none. */
static void end_op(verb what, hub_err err, const char *document)
{
    hub_state_op ended = under_way;
    const hub_state_record record = {
        .key = hub_str_of(ended.key), .version = VERSION, .document = hub_str_of(document)};
    const hub_state_result result = {
        .err = err, .why = "", .records = &record, .count = err == HUB_OK};
    assert_int_equal(ended.verb, what);
    under_way.verb = NONE;
    ended.on_done(ended.ctx, &result);
}

/* ---- the toolset ----------------------------------------------------------------------------- */

static struct ev_loop *loop;
static hub_settings settings;
static char names[3];
static hub_orchestrator *const HUB = (hub_orchestrator *)(void *)&names[0];
static hub_toolset *const TOOLSET = (hub_toolset *)(void *)&names[1];
static hub_catalogs with;
static toolset_catalogs of;
static hub_catalog tools;
static bool has_tools;
static const char *text; /* of its catalog */
static int adopted;
static int told;

hub_store *hub_store_of(const hub_orchestrator *hub)
{
    (void)hub;
    return (hub_store *)(void *)&names[2];
}

struct ev_loop *hub_loop(const hub_orchestrator *hub)
{
    (void)hub;
    return loop;
}

const hub_settings *hub_settings_of(const hub_orchestrator *hub)
{
    (void)hub;
    return &settings;
}

const hub_key *hub_key_at(const hub_orchestrator *hub, hub_key_use use, size_t age)
{
    static const hub_key KEY = {.bytes = {1, 2, 3}};
    (void)hub;
    (void)use;
    (void)age;
    return &KEY;
}

size_t hub_toolset_total(const hub_orchestrator *hub)
{
    (void)hub;
    return 1;
}

hub_toolset *hub_toolset_at(const hub_orchestrator *hub, size_t at)
{
    (void)hub;
    (void)at;
    return TOOLSET;
}

hub_orchestrator *hub_toolset_hub(const hub_toolset *toolset)
{
    (void)toolset;
    return HUB;
}

const char *hub_toolset_key(const hub_toolset *toolset)
{
    (void)toolset;
    return "up";
}

bool hub_toolset_is_own(const hub_toolset *toolset)
{
    (void)toolset;
    return false;
}

uint32_t hub_toolset_state(const hub_toolset *toolset)
{
    (void)toolset;
    return PATCHBAY_STATE_IDLE;
}

hub_catalog *hub_toolset_list(const hub_toolset *toolset, hub_kind kind)
{
    (void)toolset;
    (void)kind;
    return has_tools ? &tools : NULL;
}

size_t hub_toolset_count(const hub_toolset *toolset, hub_kind kind)
{
    (void)toolset;
    (void)kind;
    return has_tools;
}

toolset_catalogs *hub_catalogs_of(const hub_toolset *toolset)
{
    (void)toolset;
    return &of;
}

hub_catalogs *hub_catalogs_with(const hub_orchestrator *hub)
{
    (void)hub;
    return &with;
}

bool hub_catalog_record_is_wanted(const hub_toolset *toolset)
{
    (void)toolset;
    return true;
}

bool hub_catalog_record_is_remote(const hub_toolset *toolset)
{
    (void)toolset;
    return true;
}

bool hub_catalog_record_id(const hub_toolset *toolset, char ret_id[HUB_CATALOG_ID_BYTES])
{
    (void)toolset;
    memset(ret_id, 'a', HUB_CATALOG_ID_BYTES - 1);
    ret_id[HUB_CATALOG_ID_BYTES - 1] = '\0';
    return true;
}

void hub_catalog_record_add(const hub_toolset *toolset, hub_str id, int64_t learned_at_ms,
                            hub_buf *out)
{
    (void)toolset;
    (void)id;
    (void)learned_at_ms;
    hub_buf_add(out, hub_str_of(text));
}

hub_err hub_catalog_record_adopt(hub_toolset *toolset, const hub_catalog_record *record,
                                 bool is_news, hub_error *reterr)
{
    (void)toolset;
    (void)record;
    (void)is_news;
    (void)reterr;
    adopted++;
    has_tools = true;
    return HUB_OK;
}

static void on_sought(hub_toolset *toolset)
{
    assert_ptr_equal(toolset, TOOLSET);
    assert_false(hub_shared_is_sought(toolset));
    told++;
}

/* ---- the tests ------------------------------------------------------------------------------- */

static int begin(void **state)
{
    (void)state;
    loop = ev_loop_new(EVFLAG_AUTO);
    settings = (hub_settings){.listen_count = 1, .replicas = {.key_file = "replicas.key"}};
    settings.limits.catalog_ttl_ms = 60000;
    of = (toolset_catalogs){.learned_at_ms = LEARNED_MS};
    under_way.verb = NONE;
    gets = puts_of_catalog = deletes = adopted = told = 0;
    is_refusing = false;
    has_tools = true;
    text = "{\"one\":1}\n";
    return hub_shared_create(HUB, on_sought, &with.shared) == HUB_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    hub_shared_stop(with.shared);
    hub_shared_destroy(with.shared);
    ev_loop_destroy(loop);
    return 0;
}

/* The server has said what it has: that is written when the timer has come. */
static void hear(const char *catalog)
{
    has_tools = true;
    text = catalog;
    hub_shared_note(TOOLSET);
    (void)ev_run(loop, 0); /* until there is no timer any more */
}

/* What another replica has heard later, as the store has it. */
static const char *of_another(void)
{
    static char json[2048];
    hub_buf catalog;
    hub_buf out;
    hub_buf_init(&catalog, sizeof json);
    hub_buf_init(&out, sizeof json);
    hub_catalog_record record = {.id = hub_str_of(under_way.key)};
    record.lists[HUB_KIND_TOOL] = HUB_STR("[{\"name\":\"b\"}]");
    hub_catalog_file_write(&record, &catalog);
    const hub_shared_document document = {.learned_at_ms = LATER_MS, .text = hub_buf_str(&catalog)};
    hub_shared_document_write(hub_key_at(HUB, HUB_KEY_CATALOGS, 0), &document, &out);
    assert_true(hub_buf_ok(&out));
    (void)snprintf(json, sizeof json, HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&out)));
    hub_buf_fini(&catalog);
    hub_buf_fini(&out);
    return json;
}

static void who_looks_while_it_is_written_is_told(void **state)
{
    (void)state;
    hear("{\"one\":1}\n");
    assert_true(hub_shared_seek(TOOLSET));
    assert_int_equal(gets, 0); /* one operation at a time */
    end_op(PUT, HUB_OK, NULL);
    assert_int_equal(told, 0);
    end_op(GET, HUB_OK, of_another());
    assert_int_equal(told, 1);
    assert_int_equal(under_way.verb, NONE);
}

static void who_looks_while_it_cannot_be_written_is_told(void **state)
{
    (void)state;
    hear("{\"one\":1}\n");
    assert_true(hub_shared_seek(TOOLSET));
    end_op(PUT, HUB_EUNAVAILABLE, NULL);
    end_op(GET, HUB_EUNAVAILABLE, NULL);
    assert_int_equal(told, 1);
    hear("{\"two\":2}\n");
    assert_true(hub_shared_seek(TOOLSET));
    is_refusing = true; /* nor is the look accepted that had to wait */
    end_op(PUT, HUB_EUNAVAILABLE, NULL);
    assert_int_equal(told, 2);
}

static void what_is_heard_meanwhile_is_written_before_anybody_looks(void **state)
{
    (void)state;
    hear("{\"one\":1}\n");
    assert_true(hub_shared_seek(TOOLSET));
    hear("{\"two\":2}\n");
    assert_int_equal(puts_of_catalog, 1);
    end_op(PUT, HUB_OK, NULL);
    assert_int_equal(puts_of_catalog, 2);
    assert_non_null(strstr(under_way.document, "two"));
    end_op(PUT, HUB_OK, NULL);
    end_op(GET, HUB_OK, of_another());
    assert_int_equal(told, 1);
}

static void what_is_heard_counts_more_than_what_is_read(void **state)
{
    (void)state;
    assert_true(hub_shared_seek(TOOLSET));
    hear("{\"one\":1}\n");
    end_op(GET, HUB_OK, of_another());
    assert_int_equal(adopted, 0);
    assert_int_equal(told, 1);
    assert_int_equal(under_way.seen == HUB_STATE_ANY, true);
    end_op(PUT, HUB_OK, NULL);
    assert_int_equal(gets, 1);
    /* Nothing heard meanwhile: what is newer is taken. */
    assert_true(hub_shared_seek(TOOLSET));
    end_op(GET, HUB_OK, of_another());
    assert_int_equal(adopted, 1);
    assert_int_equal(told, 2);
}

static void what_is_heard_while_word_is_left_is_written(void **state)
{
    (void)state;
    has_tools = false;
    assert_true(hub_shared_seek(TOOLSET));
    end_op(GET, HUB_ENOTFOUND, NULL);
    assert_string_equal(under_way.document, HUB_SHARED_ASKING);
    assert_int_equal(under_way.seen, HUB_STATE_ABSENT);
    hear("{\"one\":1}\n");
    assert_int_equal(puts_of_catalog, 0);
    end_op(PUT, HUB_OK, NULL);
    assert_int_equal(told, 1);
    assert_int_equal(puts_of_catalog, 1);
    end_op(PUT, HUB_OK, NULL);
    assert_int_equal(deletes, 0); /* the word that was left is a catalog now */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_looks_while_it_is_written_is_told, begin, end),
        cmocka_unit_test_setup_teardown(who_looks_while_it_cannot_be_written_is_told, begin, end),
        cmocka_unit_test_setup_teardown(what_is_heard_meanwhile_is_written_before_anybody_looks,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_is_heard_counts_more_than_what_is_read, begin, end),
        cmocka_unit_test_setup_teardown(what_is_heard_while_word_is_left_is_written, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
