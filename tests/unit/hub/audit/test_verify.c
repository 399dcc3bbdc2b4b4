/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of audit lines: what was changed, removed, inserted or cut shows, and where. */
#include "hub/audit/chain.h"
#include "hub/audit/verify.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LINES = 6 };

static hub_buf lines[LINES + 4];
static size_t count;
static char problems[8192];
static char notes[8192];

static void write_line(hub_audit_chain *chain)
{
    hub_buf *line = &lines[count++];
    hub_buf_init(line, 4096);
    hub_buf_printf(line, "{\"time\":\"t\",\"name\":\"n%zu\"", count);
    hub_audit_chain_end_line(chain, line, 0);
}

static int set_up(void **state)
{
    hub_audit_chain chain = {.seq = 0};
    (void)state;
    count = 0;
    hub_audit_chain_begin(&chain, HUB_STR_EMPTY);
    for (size_t i = 0; i < LINES; i++) {
        write_line(&chain);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++) {
        hub_buf_fini(&lines[i]);
    }
    return 0;
}

static void note(char *where, uint64_t line, const char *what)
{
    size_t len = strlen(where);
    (void)snprintf(where + len, sizeof problems - len, "%u: %s\n", (unsigned)line, what);
}

static void on_problem(void *ctx, const char *file, uint64_t line, const char *what)
{
    (void)ctx;
    assert_string_equal(file, "f");
    note(problems, line, what);
}

static void on_note(void *ctx, const char *file, uint64_t line, const char *what)
{
    (void)ctx;
    (void)file;
    note(notes, line, what);
}

static hub_audit_verifier *verifier;

static void begin(void)
{
    static const hub_audit_verdicts VERDICTS = {.on_problem = on_problem, .on_note = on_note};
    problems[0] = '\0';
    notes[0] = '\0';
    verifier = hub_audit_verifier_create(&VERDICTS);
    assert_non_null(verifier);
    hub_audit_verifier_begin_file(verifier, "f");
}

static void take(const hub_buf *line)
{
    hub_audit_verifier_take(verifier, (hub_str){.ptr = line->ptr, .len = line->len - 1}, true);
}

static hub_audit_verified finish(void)
{
    hub_audit_verified found = hub_audit_verifier_count(verifier);
    hub_audit_verifier_destroy(verifier);
    return found;
}

static void assert_problem(const char *text, size_t most)
{
    size_t found = 0;
    for (const char *at = problems; *at != '\0'; at++) {
        found += *at == '\n';
    }
    if (strstr(problems, text) == NULL || found > most) {
        fail_msg("wanted \"%s\", found:\n%s", text, problems);
    }
}

static void test_whole(void **state)
{
    (void)state;
    begin();
    for (size_t i = 0; i < LINES; i++) {
        take(&lines[i]);
    }
    hub_audit_verified found = finish();
    assert_string_equal(problems, "");
    assert_string_equal(notes, "");
    assert_int_equal(found.lines, LINES);
    assert_int_equal(found.chains, 1);
}

/* Any byte of any line but the last, which only a digest kept elsewhere can vouch for. */
static void test_changed(void **state)
{
    (void)state;
    for (size_t which = 0; which < LINES; which++) {
        for (size_t at = 0; at < lines[which].len - 1; at++) {
            lines[which].ptr[at] ^= 1;
            begin();
            for (size_t i = 0; i < LINES; i++) {
                take(&lines[i]);
            }
            hub_audit_verified found = finish();
            lines[which].ptr[at] ^= 1;
            if (which + 1 < LINES) {
                assert_true(found.problems > 0);
            }
        }
    }
    lines[2].ptr[9] ^= 1; /* in a text */
    begin();
    for (size_t i = 0; i < LINES; i++) {
        take(&lines[i]);
    }
    (void)finish();
    assert_problem("4: line 3 of f was changed after it was written", 1);
}

static void test_removed(void **state)
{
    (void)state;
    begin();
    take(&lines[0]);
    take(&lines[3]);
    take(&lines[4]);
    (void)finish();
    assert_problem("2: 2 lines are missing before this one (numbers 2 to 3 of its process)", 1);
    begin(); /* the beginning: rotated away, or removed */
    take(&lines[2]);
    take(&lines[3]);
    assert_int_equal(finish().problems, 0);
    assert_non_null(strstr(notes, "1: the lines before this one are in an older file"));
}

static void test_inserted(void **state)
{
    static const char STRANGE[] = "{\"time\":\"t\",\"name\":\"x\"}\n";
    static const hub_buf LINE = {.ptr = (char *)(uintptr_t)STRANGE, .len = sizeof STRANGE - 1};
    (void)state;
    begin();
    take(&lines[0]);
    take(&LINE);
    take(&lines[1]);
    (void)finish();
    assert_problem("2: this line has no place in a chain: it was inserted", 1);
    begin();
    take(&lines[0]);
    take(&lines[1]);
    take(&lines[1]);
    take(&lines[2]);
    (void)finish();
    assert_problem("3: this line was inserted, copied or moved: its number is 2, behind number 2",
                   1);
    begin();
    take(&lines[1]);
    take(&lines[0]);
    (void)finish();
    assert_problem("2: this line was inserted, copied or moved", 1);
    begin(); /* of an older hub, before there are any others */
    take(&LINE);
    take(&LINE);
    hub_audit_verified found = finish();
    assert_int_equal(found.problems, 0);
    assert_int_equal(found.unlinked, 2);
}

static void test_cut(void **state)
{
    (void)state;
    begin();
    take(&lines[0]);
    hub_audit_verifier_take(verifier, (hub_str){.ptr = lines[1].ptr, .len = 20}, false);
    (void)finish();
    assert_problem("2: this is a part of a line", 1);
    begin();
    hub_audit_verifier_take(verifier, (hub_str){.ptr = lines[0].ptr, .len = lines[0].len - 1},
                            false);
    (void)finish();
    assert_problem("1: the line break at the end was removed", 1);
}

/* Another process goes on where the file ends, also behind a line that was torn when the one before it
 * died; a third writes beside it. */
static void test_processes(void **state)
{
    hub_audit_chain next = {.seq = 0};
    hub_audit_chain beside = {.seq = 0};
    (void)state;
    hub_audit_chain_begin(&next, hub_buf_str(&lines[LINES - 1]));
    hub_audit_chain_begin(&beside, HUB_STR("xxx\n{\"torn"));
    write_line(&next);
    write_line(&beside);
    write_line(&next);
    begin();
    for (size_t i = 0; i < LINES; i++) {
        take(&lines[i]);
    }
    hub_audit_verifier_take(verifier, HUB_STR("{\"torn"), true);
    for (size_t i = LINES; i < count; i++) {
        take(&lines[i]);
    }
    hub_audit_verified found = finish();
    assert_problem("7: this is a part of a line", 1);
    assert_int_equal(found.chains, 3);
    begin(); /* the end of the first is missing */
    for (size_t i = 0; i < LINES - 1; i++) {
        take(&lines[i]);
    }
    take(&lines[LINES]);
    (void)finish();
    assert_problem("6: the line that this one was written behind is not there", 1);
    begin(); /* a process that found nothing, where there is something */
    hub_audit_chain anew = {.seq = 0};
    hub_audit_chain_begin(&anew, HUB_STR_EMPTY);
    write_line(&anew);
    take(&lines[0]);
    take(&lines[count - 1]);
    (void)finish();
    assert_problem("2: a hub began here with an empty file", 1);
}

/* A file to which so many processes append: each writes a line, then the first one another. */
static hub_audit_verified verify_processes(size_t processes)
{
    static hub_audit_chain chains[HUB_LIMIT_AUDIT_CHAINS + 1];
    hub_buf line;
    memset(chains, 0, sizeof chains);
    hub_buf_init(&line, 4096);
    begin();
    for (size_t i = 0; i <= processes; i++) {
        hub_audit_chain *chain = &chains[i < processes ? i : 0];
        if (i < processes) {
            hub_audit_chain_begin(chain, hub_buf_str(&line));
        }
        hub_buf_clear(&line);
        hub_buf_add(&line, HUB_STR("{\"time\":\"t\""));
        hub_audit_chain_end_line(chain, &line, 0);
        take(&line);
    }
    hub_buf_fini(&line);
    return finish();
}

/* So many processes are told apart; of one more, the first is forgotten. */
static void test_many_processes(void **state)
{
    (void)state;
    assert_int_equal(verify_processes(HUB_LIMIT_AUDIT_CHAINS).chains, HUB_LIMIT_AUDIT_CHAINS);
    assert_string_equal(problems, "");
    (void)verify_processes(HUB_LIMIT_AUDIT_CHAINS + 1);
    assert_problem("1026: the first lines of this process are missing before this one", 1);
}

/* A process may begin behind a line that is so far back, and no further: others wrote meanwhile. */
static void verify_late(size_t lines_between, const char *problem)
{
    hub_audit_chain busy = {.seq = 0};
    hub_audit_chain late = {.seq = 0};
    hub_buf line;
    hub_buf_init(&line, 4096);
    hub_audit_chain_begin(&busy, HUB_STR_EMPTY);
    begin();
    for (size_t i = 0; i < lines_between + 2; i++) {
        hub_audit_chain *chain = i < lines_between + 1 ? &busy : &late;
        hub_buf_clear(&line);
        hub_buf_add(&line, HUB_STR("{\"time\":\"t\""));
        hub_audit_chain_end_line(chain, &line, 0);
        take(&line);
        if (i == 0) {
            hub_audit_chain_begin(&late, hub_buf_str(&line));
        }
    }
    hub_buf_fini(&line);
    (void)finish();
    assert_problem(problem, problem[0] != '\0');
}

static void test_late(void **state)
{
    (void)state;
    verify_late(HUB_LIMIT_AUDIT_CHAINS - 1, "");
    verify_late(HUB_LIMIT_AUDIT_CHAINS,
                "1026: the line that this one was written behind is not there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inserted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_processes, set_up, tear_down),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
