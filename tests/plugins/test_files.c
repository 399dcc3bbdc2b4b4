/* SPDX-License-Identifier: Apache-2.0 */
/* The toolset `files`, through a fake host. The tests are in files/, by theme. */
#include "files/attacks.h"
#include "files/changing.h"
#include "files/looking.h"
#include "files/searching.h"

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, drop_tree)

static size_t open_files_before;

static int note_open_files(void **state)
{
    (void)state;
    open_files_before = count_open_files();
    return 0;
}

static int check_open_files(void **state)
{
    (void)state;
    return count_open_files() == open_files_before ? 0 : -1;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TREE_TEST(test_no_openat2_is_a_refusal), /* forks: first, while there is one thread */
        TREE_TEST(test_setup_wants_roots),
        TREE_TEST(test_setup_bounds_roots),
        TREE_TEST(test_paths_name_a_root),
        TREE_TEST(test_one_root_needs_no_name),
        TREE_TEST(test_a_root_may_be_reached_through_links),
        TREE_TEST(test_list_has_type_size_and_time),
        TREE_TEST(test_list_recursion_and_pages),
        TREE_TEST(test_list_refusals),
        TREE_TEST(test_stat),
        TREE_TEST(test_read_limit_edges),
        TREE_TEST(test_read_lines),
        TREE_TEST(test_read_lines_far_away),
        TREE_TEST(test_read_cuts_between_characters),
        TREE_TEST(test_read_encodings),
        TREE_TEST(test_read_images),
        TREE_TEST(test_read_stops_when_cancelled),
        TREE_TEST(test_search_name_patterns),
        TREE_TEST(test_search_name_limit),
        TREE_TEST(test_search_name_patterns_are_bounded),
        TREE_TEST(test_search_text),
        TREE_TEST(test_search_text_context),
        TREE_TEST(test_search_text_refuses_costly_patterns),
        TREE_TEST(test_search_text_long_lines_and_blocks),
        TREE_TEST(test_read_only_by_default),
        TREE_TEST(test_each_root_says_whether_it_is_writable),
        TREE_TEST(test_write),
        TREE_TEST(test_write_refusals),
        TREE_TEST(test_edit),
        TREE_TEST(test_edit_refusals),
        TREE_TEST(test_edit_cuts_a_long_diff),
        TREE_TEST(test_mkdir),
        TREE_TEST(test_move_and_delete),
        TREE_TEST(test_concurrent_writes_are_whole),
        TREE_TEST(test_concurrent_edits_lose_nothing),
        TREE_TEST(test_create_only_has_one_winner),
        TREE_TEST(test_dots_do_not_lead_out),
        TREE_TEST(test_absolute_paths_outside),
        TREE_TEST(test_links_do_not_lead_out),
        TREE_TEST(test_links_inside),
        TREE_TEST(test_loops_end),
        TREE_TEST(test_magic_links),
        TREE_TEST(test_file_swapped_with_link),
        TREE_TEST(test_folder_swapped_with_link),
        TREE_TEST(test_folder_swapped_while_writing),
        TREE_TEST(test_special_files_are_not_opened),
        TREE_TEST(test_unreadable),
        TREE_TEST(test_nul_in_path),
        TREE_TEST(test_very_long_names),
        TREE_TEST(test_deep_trees),
        TREE_TEST(test_names_that_are_not_utf8),
        TREE_TEST(test_refusals_are_utf8_when_cut),
    };
    return cmocka_run_group_tests(tests, note_open_files, check_open_files);
}
