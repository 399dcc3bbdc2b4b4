/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a line holds what is searched: a literal, or a POSIX extended regular expression that
 * cannot cost much. One matcher is used by one thread.
 */
#ifndef FILES_MATCHER_H
#define FILES_MATCHER_H

#include "files.h"

#include <regex.h>

/* glibc keeps each state that it meets until the expression is freed. A fresh start after so many
 * bytes bounds the memory that a hostile pattern and file can take together to some tens of MB. A
 * longer line is matched in pieces. */
#define FILES_PIECE_BYTES 16384u

typedef struct files_matcher {
    patchbay_str pattern; /* NUL-terminated, borrowed */
    int is_regex;
    int ignore_case;
    int compiled;
    regex_t regex;
    size_t fed; /* bytes matched since the expression was compiled */
    char piece[FILES_PIECE_BYTES + 1];
} files_matcher;

/* Read the arguments pattern, regex and ignore_case. */
int files_matcher_init(files_matcher *matcher, patchbay_tool_call *call, files_problem *problem);
void files_matcher_fini(files_matcher *matcher);

/* Where the match begins in the line; -1 when there is none. */
ssize_t files_matcher_find(files_matcher *matcher, const char *line, size_t len);

#endif
