/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <unistd.h>

#define PLACES_MAX       100000
#define PLACES_TOLD      10 /* line numbers in a refusal */
#define RESULT_MAX_BYTES (64u * 1024 * 1024)

typedef struct file_edit {
    patchbay_str old_text;
    patchbay_str new_text;
    int64_t expected;
    patchbay_out text; /* the file */
    struct stat status;
    size_t *places;
    size_t count;
} file_edit;

static int read_arguments(patchbay_tool_call *call, file_edit *edit, files_problem *problem)
{
    if (files_arg_string(call, "old_text", &edit->old_text, problem) != 0 ||
        files_arg_string(call, "new_text", &edit->new_text, problem) != 0 ||
        files_arg_number(call, "count", 1, 1, PLACES_MAX, &edit->expected, problem) != 0) {
        return -1;
    }
    if (edit->old_text.len == 0 || patchbay_str_eq(edit->old_text, edit->new_text)) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'old_text' must not be empty, and must differ from 'new_text'");
        return -1;
    }
    return 0;
}

/* Take the file into memory. */
static int load(const files_set *set, const files_target *target, file_edit *edit,
                files_problem *problem)
{
    char block[16384];
    int fd = files_open_entry(target->dir_fd, target->name);
    if (fd < 0 && errno == 0) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' is not a file", target->shown);
        return -1;
    }
    if (fd < 0 || fstat(fd, &edit->status) != 0) {
        files_explain(set, target->shown, errno, problem);
        if (fd >= 0) {
            (void)close(fd);
        }
        return -1;
    }
    ssize_t n = 1;
    while (n != 0 && edit->text.len <= FILES_EDIT_MAX && !edit->text.failed) {
        n = read(fd, block, sizeof block);
        if (n < 0 && errno != EINTR) {
            files_explain(set, target->shown, errno, problem);
            (void)close(fd);
            return -1;
        }
        patchbay_out_raw(&edit->text, patchbay_str_make(block, n > 0 ? (size_t)n : 0));
    }
    (void)close(fd);
    if (edit->text.len > FILES_EDIT_MAX || edit->text.failed) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'%s' is larger than the %u bytes that can be edited", target->shown,
                     FILES_EDIT_MAX);
        return -1;
    }
    return 0;
}

static void refuse_count(const file_edit *edit, const char *shown, files_problem *problem)
{
    char lines[200] = "";
    size_t len = 0;
    size_t line = 1;
    size_t at = 0;
    for (size_t i = 0; i < edit->count && i < PLACES_TOLD; i++) {
        for (; at < edit->places[i]; at++) {
            line += edit->text.ptr[at] == '\n';
        }
        len += (size_t)snprintf(lines + len, sizeof lines - len, "%s%zu", i > 0 ? ", " : "", line);
    }
    if (edit->count == 0) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'%s' does not contain old_text; it must match exactly, with white space",
                     shown);
    } else {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'%s' contains old_text %zu times, not %lld (lines %s%s); give more text "
                     "around it, or the right count. Nothing was changed",
                     shown, edit->count, (long long)edit->expected, lines,
                     edit->count > PLACES_TOLD ? ", …" : "");
    }
}

/* Find every place, and hold their number against what the caller expects. */
static int find_places(file_edit *edit, const char *shown, files_problem *problem)
{
    size_t at = 0;
    edit->places = (size_t *)calloc(PLACES_MAX, sizeof *edit->places);
    while (edit->places != NULL && edit->count < PLACES_MAX && at < edit->text.len) {
        const char *found = (const char *)memmem(edit->text.ptr + at, edit->text.len - at,
                                                 edit->old_text.ptr, edit->old_text.len);
        if (found == NULL) {
            break;
        }
        edit->places[edit->count++] = (size_t)(found - edit->text.ptr);
        at = (size_t)(found - edit->text.ptr) + edit->old_text.len;
    }
    if ((int64_t)edit->count != edit->expected) {
        refuse_count(edit, shown, problem);
        return -1;
    }
    if (edit->text.len + edit->count * edit->new_text.len > RESULT_MAX_BYTES) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' would grow beyond %u bytes", shown,
                     RESULT_MAX_BYTES);
        return -1;
    }
    return 0;
}

static int apply(const files_set *set, files_target *target, const file_edit *edit,
                 files_problem *problem)
{
    patchbay_out result;
    memset(&result, 0, sizeof result);
    size_t at = 0;
    for (size_t i = 0; i < edit->count; i++) {
        patchbay_out_raw(&result, patchbay_str_make(edit->text.ptr + at, edit->places[i] - at));
        patchbay_out_raw(&result, edit->new_text);
        at = edit->places[i] + edit->old_text.len;
    }
    patchbay_out_raw(&result, patchbay_str_make(edit->text.ptr + at, edit->text.len - at));
    int done = -1;
    if (result.failed) {
        files_refuse(problem, PATCHBAY_FAILED, "out of memory");
    } else {
        target->same = &edit->status;
        done = files_replace(set, target, patchbay_str_make(result.ptr, result.len), problem);
    }
    patchbay_out_free(&result);
    return done;
}

static void reply(patchbay_tool_call *call, const file_edit *edit, const files_path *path,
                  int dry_run)
{
    patchbay_out diff;
    memset(&diff, 0, sizeof diff);
    patchbay_out_printf(&diff, "--- %s\n+++ %s\n", path->shown, path->shown);
    files_diff(&diff, patchbay_str_make(edit->text.ptr, edit->text.len), edit->places, edit->count,
               edit->old_text.len, edit->new_text);
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    files_out_path(out, path, NULL);
    patchbay_out_printf(out, ",\"replacements\":%zu,\"applied\":%s,\"diff\":", edit->count,
                        dry_run ? "false" : "true");
    patchbay_out_string(out, patchbay_str_make(diff.ptr, diff.len));
    patchbay_out_text(out, "}");
    out->failed |= diff.failed;
    patchbay_out_free(&diff);
    patchbay_reply(call);
}

void files_edit(patchbay_tool_call *call)
{
    files_set *set = (files_set *)patchbay_toolset_data(call);
    files_problem problem = {PATCHBAY_FAILED, "out of memory"};
    files_path path;
    file_edit edit = {0};
    char name[NAME_MAX + 1];
    int dry_run = patchbay_arg_bool(call, "dry_run", 0);
    int done = -1;
    files_target target = {.dir_fd = -1, .name = name, .shown = path.shown};
    if (read_arguments(call, &edit, &problem) == 0 &&
        files_arg_path(call, "path", &path, &problem) == 0) {
        target.dir_fd = files_open_parent(set, &path, name, &problem);
    }
    if (target.dir_fd >= 0) {
        (void)pthread_mutex_lock(&set->write_lock);
        if (load(set, &target, &edit, &problem) == 0 &&
            find_places(&edit, path.shown, &problem) == 0) {
            done = dry_run ? 0 : apply(set, &target, &edit, &problem);
        }
        (void)pthread_mutex_unlock(&set->write_lock);
        (void)close(target.dir_fd);
    }
    if (done == 0) {
        reply(call, &edit, &path, dry_run);
    } else {
        files_reply_problem(call, &problem);
    }
    patchbay_out_free(&edit.text);
    free(edit.places);
}
