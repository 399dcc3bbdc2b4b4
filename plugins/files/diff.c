/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#define CONTEXT_LINES  3
#define DIFF_MAX_BYTES 65536u

typedef struct file_diff {
    patchbay_out *out;
    patchbay_str text;
    const size_t *places;
    size_t count;
    size_t old_len;
    patchbay_str replacement;
    size_t at;         /* bytes of the text that are accounted for */
    size_t old_line;   /* lines before `at` */
    size_t new_line;   /* and in the new text */
    patchbay_out body; /* of the hunk under construction */
    size_t old_count;
    size_t new_count;
} file_diff;

static size_t line_begin(patchbay_str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] != '\n') {
        at--;
    }
    return at;
}

static size_t line_end(patchbay_str text, size_t at)
{
    const char *found =
        at < text.len ? (const char *)memchr(text.ptr + at, '\n', text.len - at) : NULL;
    return found != NULL ? (size_t)(found - text.ptr) + 1 : text.len;
}

/* Append the lines of `text` behind a mark; returns how many. */
static size_t out_lines(patchbay_out *out, char mark, patchbay_str text)
{
    size_t count = 0;
    for (size_t at = 0; at < text.len; count++) {
        size_t end = line_end(text, at);
        patchbay_out_raw(out, patchbay_str_make(&mark, 1));
        patchbay_out_raw(out, patchbay_str_make(text.ptr + at, end - at));
        if (text.ptr[end - 1] != '\n') {
            patchbay_out_text(out, "\n\\ No newline at end of file\n");
        }
        at = end;
    }
    return count;
}

static void out_context(file_diff *diff, size_t begin, size_t end)
{
    size_t count =
        out_lines(&diff->body, ' ', patchbay_str_make(diff->text.ptr + begin, end - begin));
    diff->old_count += count;
    diff->new_count += count;
}

/* Where the lines that place `i` touches end. A replacement that takes a line's end away, or does
 * not put one back, touches the line behind as well. */
static size_t place_end(const file_diff *diff, size_t i)
{
    size_t begin = diff->places[i];
    size_t end = begin + diff->old_len;
    patchbay_str by = diff->replacement;
    int whole_lines = line_begin(diff->text, begin) == begin && diff->text.ptr[end - 1] == '\n' &&
                      (by.len == 0 || by.ptr[by.len - 1] == '\n');
    return whole_lines ? end : line_end(diff->text, end);
}

/* Append one run of changed lines; returns the first place behind it, and sets its end. */
static size_t out_block(file_diff *diff, size_t i, size_t *ret_end)
{
    size_t begin = line_begin(diff->text, diff->places[i]);
    size_t end = begin;
    size_t at = begin;
    patchbay_out changed;
    memset(&changed, 0, sizeof changed);
    do {
        end = place_end(diff, i);
        patchbay_out_raw(&changed, patchbay_str_make(diff->text.ptr + at, diff->places[i] - at));
        patchbay_out_raw(&changed, diff->replacement);
        at = diff->places[i] + diff->old_len;
        i++;
    } while (i < diff->count && diff->places[i] < end);
    patchbay_out_raw(&changed, patchbay_str_make(diff->text.ptr + at, end - at));
    diff->old_count +=
        out_lines(&diff->body, '-', patchbay_str_make(diff->text.ptr + begin, end - begin));
    diff->new_count += out_lines(&diff->body, '+', patchbay_str_make(changed.ptr, changed.len));
    diff->body.failed |= changed.failed;
    patchbay_out_free(&changed);
    *ret_end = end;
    return i;
}

static size_t lines_back(const file_diff *diff, size_t at, size_t floor)
{
    for (int i = 0; i < CONTEXT_LINES && at > floor; i++) {
        at = line_begin(diff->text, at - 1);
    }
    return at > floor ? at : floor;
}

static size_t lines_on(const file_diff *diff, size_t at, int count)
{
    for (int i = 0; i < count && at < diff->text.len; i++) {
        at = line_end(diff->text, at);
    }
    return at;
}

static size_t count_lines(patchbay_str text)
{
    size_t count = 0;
    for (size_t at = 0; at < text.len; at = line_end(text, at)) {
        count++;
    }
    return count;
}

/* Append one hunk, from place `i` on; returns the first place behind it. */
static size_t out_hunk(file_diff *diff, size_t i)
{
    size_t first = line_begin(diff->text, diff->places[i]);
    size_t begin = lines_back(diff, first, diff->at);
    size_t skipped = count_lines(patchbay_str_make(diff->text.ptr + diff->at, begin - diff->at));
    size_t end = first;
    diff->old_line += skipped;
    diff->new_line += skipped;
    diff->old_count = 0;
    diff->new_count = 0;
    diff->body.len = 0;
    out_context(diff, begin, first);
    for (;;) {
        i = out_block(diff, i, &end);
        size_t next = i < diff->count ? line_begin(diff->text, diff->places[i]) : SIZE_MAX;
        if (i == diff->count || next > lines_on(diff, end, 2 * CONTEXT_LINES)) {
            break;
        }
        out_context(diff, end, next);
    }
    size_t tail = lines_on(diff, end, CONTEXT_LINES);
    out_context(diff, end, tail);
    /* A side without lines is numbered by the line before it, as diff(1) does. */
    patchbay_out_printf(diff->out, "@@ -%zu,%zu +%zu,%zu @@\n",
                        diff->old_line + (diff->old_count > 0), diff->old_count,
                        diff->new_line + (diff->new_count > 0), diff->new_count);
    patchbay_out_raw(diff->out, patchbay_str_make(diff->body.ptr, diff->body.len));
    diff->old_line += diff->old_count;
    diff->new_line += diff->new_count;
    diff->at = tail;
    return i;
}

void files_diff(patchbay_out *out, patchbay_str text, const size_t *places, size_t count,
                size_t old_len, patchbay_str replacement)
{
    file_diff diff = {.out = out,
                      .text = text,
                      .places = places,
                      .count = count,
                      .old_len = old_len,
                      .replacement = replacement};
    size_t start = out->len;
    for (size_t i = 0; i < count && !out->failed && !diff.body.failed;) {
        i = out_hunk(&diff, i);
        if (out->len - start > DIFF_MAX_BYTES) {
            out->len = start + line_begin(patchbay_str_make(out->ptr + start, DIFF_MAX_BYTES),
                                          DIFF_MAX_BYTES);
            patchbay_out_text(out, "… (cut)\n");
            break;
        }
    }
    out->failed |= diff.body.failed;
    patchbay_out_free(&diff.body);
}
