/* SPDX-License-Identifier: Apache-2.0 */
/* The toolset `command`, through a fake host. The tests are in command/, by theme. */
#include "command/ends.h"
#include "command/runs.h"
#include "command/words.h"

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, make_bench, drop_bench)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        BENCH_TEST(test_command_dies_with_the_hub), /* forks: first, while there is one thread */
        BENCH_TEST(test_setup_faults_name_tool_and_place),
        BENCH_TEST(test_setup_bounds_tools),
        BENCH_TEST(test_setup_faults_are_utf8_when_cut),
        BENCH_TEST(test_published_tools),
        BENCH_TEST(test_values_arrive_byte_for_byte),
        BENCH_TEST(test_placeholders),
        BENCH_TEST(test_missing_argument),
        BENCH_TEST(test_options_are_not_injected),
        BENCH_TEST(test_word_limit),
        BENCH_TEST(test_success),
        BENCH_TEST(test_exit_codes),
        BENCH_TEST(test_output_lines),
        BENCH_TEST(test_output_json),
        BENCH_TEST(test_output_cap_edges),
        BENCH_TEST(test_stderr_keeps_its_end),
        BENCH_TEST(test_huge_output_in_bounded_memory),
        BENCH_TEST(test_binary_output),
        BENCH_TEST(test_folder_and_environment),
        BENCH_TEST(test_commands_that_do_not_start),
        BENCH_TEST(test_input),
        BENCH_TEST(test_child_starts_clean),
        BENCH_TEST(test_timeout),
        BENCH_TEST(test_timeout_that_is_ignored),
        BENCH_TEST(test_timeout_of_a_stopped_command),
        BENCH_TEST(test_timeout_takes_the_whole_group),
        BENCH_TEST(test_what_a_command_leaves_behind_ends),
        BENCH_TEST(test_cancel),
        BENCH_TEST(test_unload_ends_what_runs),
        BENCH_TEST(test_other_children_are_left_alone),
        BENCH_TEST(test_an_exit_code_that_was_lost),
        BENCH_TEST(test_200_calls_at_once),
        BENCH_TEST(test_out_of_descriptors),
    };
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
