/* SPDX-License-Identifier: Apache-2.0 */
/* Logins that many share: who begins or ends one and hangs up takes no place in it from others. */
#include "base/limits.h"
#include "hub/login/work.h"
#include "hub_fixture.h"

#include <stdio.h>

/* By calls none fills it: two may have less in flight than may wait for one login. */
_Static_assert(2 * HUB_LIMIT_CALLS_PER_PRINCIPAL <= HUB_LIMIT_LOGIN_WAITERS, "a principal's part");

static hub_fixture fixture;

static void on_work(void *ctx, hub_err err, const char *text, const char *code)
{
    (void)err;
    (void)text;
    (void)code;
    ++*(int *)ctx;
}

static hub_toolset *start(void)
{
    static const char CONFIG[] = "{\"url\":\"http://127.0.0.1:9/mcp\"}";
    static puppet master;
    fixture_init(&fixture);
    hub_toolset_settings *settings = fixture_toolset(&fixture, "t", &master, false);
    settings->active = false;
    settings->config_json = CONFIG;
    fixture_start(&fixture);
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("t"));
    assert_non_null(toolset);
    return toolset;
}

static hub_login_work *begin(hub_toolset *toolset, int *told)
{
    hub_error why = {.code = HUB_OK};
    hub_login_work *work = NULL;
    if (hub_login_work_begin(toolset, "", on_work, told, &work, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    return work;
}

static hub_login_work *end(int *told)
{
    hub_error why = {.code = HUB_OK};
    hub_login_work *work = NULL;
    if (hub_login_work_end(fixture.hub, "t", "", on_work, told, &work, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    return work;
}

static bool has_been_told(void *ctx)
{
    return *(const int *)ctx > 0;
}

/* More often than may wait, while nothing comes of it; then somebody else. */
static void test_who_hangs_up_leaves_no_place_taken(void **state)
{
    int hung_up = 0;
    int others = 0;
    (void)state;
    hub_toolset *toolset = start();
    for (unsigned i = 0; i <= HUB_LIMIT_LOGIN_WAITERS; i++) {
        hub_login_work_cancel(begin(toolset, &hung_up));
    }
    (void)begin(toolset, &others);
    for (unsigned i = 0; i <= HUB_LIMIT_LOGIN_WAITERS; i++) {
        hub_login_work_cancel(end(&hung_up));
    }
    (void)end(&others);
    fixture_run_until(&fixture, has_been_told, &others);
    assert_int_equal(hung_up, 0);
    fixture_stop(&fixture);
    assert_int_equal(others, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_hangs_up_leaves_no_place_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
