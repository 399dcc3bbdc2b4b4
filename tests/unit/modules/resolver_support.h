/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the resolver: a resolver over scratch folders, its log, and what it reported. */
#ifndef PATCHBAY_TESTS_RESOLVER_SUPPORT_H
#define PATCHBAY_TESTS_RESOLVER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin_files.h"
#include "base/log.h"
#include "modules/resolver.h"

#ifndef ABI_PLUGIN_DIR
#error "ABI_PLUGIN_DIR comes from tests/abi/CMakeLists.txt"
#endif

enum { GUARD_SECONDS = 120, MAX_CHANGES = 64, LOG_BYTES = 256 * 1024 };

/* Names as long as GOOD_NAME, versions as long as GOOD_VERSION. */
#define ALPHA  "alpha_001"
#define BETA   "beta__002"
#define GAMMA  "gamma_003"
#define FIRST  "1.0.0001"
#define SECOND "1.0.0002"
#define THIRD  "1.0.0003"

/* One resolver over at most two folders in a scratch folder. */
typedef struct fixture {
    path scratch;
    path first;
    path second;
    hub_resolver *resolver;
    struct ev_loop *loop;
    size_t count; /* changes so far */
    struct {
        const hub_module *module;
        hub_module_change kind;
    } changes[MAX_CHANGES];
    size_t log_len;
    char log[LOG_BYTES];
} fixture;

static fixture shared; /* large: not on the stack */

static inline void keep_log(void *ctx, hub_str line)
{
    fixture *f = ctx;
    if (f->log_len + line.len < sizeof f->log) {
        memcpy(f->log + f->log_len, line.ptr, line.len);
        f->log_len += line.len;
        f->log[f->log_len] = '\0';
    }
}

static inline void keep_change(void *ctx, const hub_module *module, hub_module_change kind)
{
    fixture *f = ctx;
    assert_true(f->count < MAX_CHANGES);
    f->changes[f->count].module = module;
    f->changes[f->count++].kind = kind;
}

static inline int set_up(void **state)
{
    memset(&shared, 0, sizeof shared);
    shared.scratch = make_scratch();
    shared.first = make_folder(shared.scratch.text, "first");
    shared.second = make_folder(shared.scratch.text, "second");
    shared.loop = ev_loop_new(EVFLAG_AUTO);
    hub_log_capture(keep_log, &shared);
    *state = &shared;
    return shared.loop == NULL;
}

static inline int tear_down(void **state)
{
    fixture *f = *state;
    hub_resolver_destroy(f->resolver);
    ev_loop_destroy(f->loop);
    remove_tree(f->scratch.text);
    hub_log_capture(NULL, NULL);
    return 0;
}

/* A resolver over first/ and second/, not scanned yet. */
static inline hub_resolver *create(fixture *f)
{
    const char *folders[] = {f->first.text, f->second.text};
    hub_resolver_destroy(f->resolver);
    f->resolver = NULL;
    assert_int_equal(hub_resolver_create(folders, 2, false, &f->resolver, NULL), HUB_OK);
    return f->resolver;
}

static inline hub_resolver *create_and_scan(fixture *f)
{
    hub_resolver_scan(create(f));
    return f->resolver;
}

static inline void create_and_watch(fixture *f)
{
    hub_error error;
    hub_err err = hub_resolver_watch(create_and_scan(f), f->loop, keep_change, f, &error);
    if (err != HUB_OK) {
        fail_msg("%s", error.text);
    }
}

/* Run the loop until that many changes were reported in all. */
static inline void await_changes(fixture *f, size_t count)
{
    while (f->count < count) {
        (void)ev_run(f->loop, EVRUN_ONCE);
    }
    assert_int_equal(f->count, count);
}

static inline void assert_change(const fixture *f, size_t at, const char *name,
                                 hub_module_change kind, const char *version)
{
    assert_string_equal(f->changes[at].module->name, name);
    assert_int_equal(f->changes[at].kind, kind);
    assert_string_equal(f->changes[at].module->table->version, version);
}

static inline const char *version_of(const fixture *f, const char *name)
{
    const hub_module *module = hub_resolver_find(f->resolver, hub_str_of(name));
    return module == NULL ? "(none)" : module->table->version;
}

static inline size_t count_refusals(const fixture *f)
{
    size_t count;
    (void)hub_resolver_refusals(f->resolver, &count);
    return count;
}

static inline const char *reason_of(const fixture *f, const char *name)
{
    size_t count;
    const hub_refusal *refusals = hub_resolver_refusals(f->resolver, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(refusals[i].path, name) == 0) {
            return refusals[i].reason;
        }
    }
    return "(not refused)";
}

static inline size_t count_logged(const fixture *f, const char *text)
{
    size_t count = 0;
    for (const char *at = f->log; (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

#define RESOLVER_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
