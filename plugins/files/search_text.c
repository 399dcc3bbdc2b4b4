/* SPDX-License-Identifier: Apache-2.0 */
#include "matcher.h"

#include <fcntl.h>
#include <unistd.h>

#define BLOCK_BYTES   65536u /* read at once; a longer line is searched in pieces of it */
#define SHOWN_BYTES   400u   /* of a line in the result */
#define CONTEXT_MAX   10
#define SCANNED_MAX   (256ull * 1024 * 1024) /* bytes of all files in one call */
#define RESULTS_USUAL 100
#define RESULTS_MAX   2000

typedef struct shown_line {
    size_t len;
    char text[SHOWN_BYTES];
} shown_line;

typedef struct text_search {
    patchbay_tool_call *call;
    patchbay_out *out;
    const files_path *base;
    const char *rel; /* of the file at hand; NULL: the base itself */
    files_matcher matcher;
    files_glob include;
    files_glob exclude;
    int64_t context;
    int64_t limit;
    int64_t found;
    int64_t after_due;              /* context lines that the open match still gets */
    int open;                       /* a match whose object is not closed yet */
    shown_line before[CONTEXT_MAX]; /* a ring: lines not shown yet */
    size_t before_count;
    size_t before_at;
    uint64_t scanned;
    int64_t line;
    size_t searched;
    size_t binary;
    size_t unread;
    const char *stopped; /* why not everything was searched */
    char *block;
} text_search;

/* ---- result ---------------------------------------------------------------------------------- */

/* A piece of a line that fits, around `at`, with whole characters at its ends. */
static patchbay_str cut_line(const char *line, size_t len, size_t at)
{
    size_t begin = 0;
    if (len > SHOWN_BYTES && at > SHOWN_BYTES / 2) {
        begin = at - SHOWN_BYTES / 2;
        while (begin < at && (line[begin] & 0xc0) == 0x80) {
            begin++;
        }
    }
    size_t end = len - begin > SHOWN_BYTES ? begin + SHOWN_BYTES : len;
    while (end < len && end > begin + SHOWN_BYTES - 4 && (line[end] & 0xc0) == 0x80) {
        end--;
    }
    return patchbay_str_make(line + begin, end - begin);
}

static void remember(text_search *search, const char *line, size_t len)
{
    if (search->context > 0) {
        patchbay_str piece = cut_line(line, len, 0);
        shown_line *slot = &search->before[search->before_at];
        memcpy(slot->text, piece.ptr, piece.len);
        slot->len = piece.len;
        search->before_at = (search->before_at + 1) % (size_t)search->context;
        search->before_count += search->before_count < (size_t)search->context;
    }
}

static void close_match(text_search *search)
{
    if (search->open) {
        patchbay_out_text(search->out, search->context > 0 ? "]}" : "}");
        search->open = 0;
    }
    search->after_due = 0;
}

static void open_match(text_search *search, const char *line, size_t len, size_t at)
{
    patchbay_out *out = search->out;
    close_match(search);
    patchbay_out_text(out, search->found++ > 0 ? ",{" : "{");
    files_out_path(out, search->base, search->rel);
    patchbay_out_printf(out, ",\"line\":%lld,\"text\":", (long long)search->line);
    patchbay_out_string(out, cut_line(line, len, at));
    if (search->context > 0) {
        size_t size = (size_t)search->context;
        patchbay_out_text(out, ",\"before\":[");
        for (size_t i = 0; i < search->before_count; i++) {
            const shown_line *slot =
                &search->before[(search->before_at + size - search->before_count + i) % size];
            patchbay_out_text(out, i > 0 ? "," : "");
            patchbay_out_string(out, patchbay_str_make(slot->text, slot->len));
        }
        patchbay_out_text(out, "],\"after\":[");
    }
    search->before_count = 0;
    search->after_due = search->context;
    search->open = 1;
}

static void add_after(text_search *search, const char *line, size_t len)
{
    patchbay_out_text(search->out, search->after_due < search->context ? "," : "");
    patchbay_out_string(search->out, cut_line(line, len, 0));
    search->after_due--;
}

/* ---- searching ------------------------------------------------------------------------------- */

static void take_line(text_search *search, const char *line, size_t len)
{
    len -= len > 0 && line[len - 1] == '\r';
    ssize_t at = files_matcher_find(&search->matcher, line, len);
    if (at >= 0 && (search->found == search->limit || search->out->len > FILES_RESULT_MAX)) {
        search->stopped = "limit";
    } else if (at >= 0) {
        open_match(search, line, len, (size_t)at);
    } else if (search->after_due > 0) {
        add_after(search, line, len);
    } else {
        remember(search, line, len);
    }
}

/* Take the whole lines of the block; returns how many bytes are left at its end. */
static size_t take_lines(text_search *search, size_t filled)
{
    size_t at = 0;
    while (search->stopped == NULL) {
        const char *begin = search->block + at;
        const char *end = (const char *)memchr(begin, '\n', filled - at);
        if (end == NULL) {
            break;
        }
        take_line(search, begin, (size_t)(end - begin));
        search->line++;
        at += (size_t)(end - begin) + 1;
    }
    memmove(search->block, search->block + at, filled - at);
    return filled - at;
}

static void search_file(text_search *search, int fd)
{
    size_t filled = 0;
    int first = 1;
    search->line = 1;
    search->before_count = 0;
    while (search->stopped == NULL) {
        if (patchbay_cancelled(search->call)) {
            search->stopped = "cancelled";
            break;
        }
        ssize_t n = read(fd, search->block + filled, BLOCK_BYTES - filled);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            search->unread++;
        }
        if (n <= 0) {
            break;
        }
        if (first && memchr(search->block, '\0', (size_t)n) != NULL) {
            search->binary++;
            return;
        }
        first = 0;
        search->scanned += (uint64_t)n;
        filled = take_lines(search, filled + (size_t)n);
        if (filled == BLOCK_BYTES) { /* a piece of a long line */
            take_line(search, search->block, filled);
            filled = 0;
        }
        if (search->stopped == NULL && search->scanned > SCANNED_MAX) {
            search->stopped = "bytes";
        }
    }
    if (filled > 0 && search->stopped == NULL) {
        take_line(search, search->block, filled);
    }
    search->searched++;
    close_match(search);
}

static void search_tree(text_search *search, files_walk *walk)
{
    files_entry entry;
    while (search->stopped == NULL && files_walk_next(walk, &entry)) {
        if (entry.type != S_IFREG ||
            (search->include.count > 0 &&
             !files_glob_matches(&search->include, entry.name, entry.rel))) {
            continue;
        }
        int fd = files_open_entry(entry.dir_fd, entry.name);
        if (fd < 0) {
            search->unread++;
            continue;
        }
        search->rel = entry.rel;
        search_file(search, fd);
        (void)close(fd);
    }
    search->unread += files_walk_unread(walk);
}

/* ---- the tool -------------------------------------------------------------------------------- */

static int read_arguments(text_search *search, files_problem *problem)
{
    patchbay_tool_call *call = search->call;
    if (files_matcher_init(&search->matcher, call, problem) != 0 ||
        files_arg_glob(call, "include", 0, &search->include, problem) != 0 ||
        files_arg_glob(call, "exclude", 0, &search->exclude, problem) != 0 ||
        files_arg_number(call, "context", 0, 0, CONTEXT_MAX, &search->context, problem) != 0 ||
        files_arg_number(call, "limit", RESULTS_USUAL, 1, RESULTS_MAX, &search->limit, problem) !=
            0) {
        return -1;
    }
    if (patchbay_arg(call, "exclude").len == 0) {
        return files_glob_add(&search->exclude, patchbay_str_of(".git"), problem);
    }
    return 0;
}

static int run(text_search *search, const files_set *set, files_problem *problem)
{
    struct stat status;
    const files_path *path = search->base;
    patchbay_out_text(search->out, "{\"matches\":[");
    int look = files_open_beneath(path->root->fd, path->rel, O_PATH, set->resolve);
    int is_folder = look >= 0 && fstat(look, &status) == 0 && S_ISDIR(status.st_mode);
    if (look >= 0) {
        (void)close(look);
    }
    int fd = is_folder ? files_open_folder(set, path, problem)
                       : files_open_regular(set, path, &status, problem);
    if (fd < 0) {
        return -1;
    }
    if (!is_folder) {
        search_file(search, fd);
        (void)close(fd);
        return 0;
    }
    files_walk *walk = files_walk_create(search->call, fd, FILES_DEPTH_MAX, &search->exclude);
    if (walk == NULL) {
        files_refuse(problem, PATCHBAY_FAILED, "'%s' cannot be read", path->shown);
        return -1;
    }
    search_tree(search, walk);
    files_walk_destroy(walk);
    return 0;
}

static void finish_result(text_search *search)
{
    patchbay_out_printf(search->out, "],\"searched\":%zu,\"binary\":%zu,\"unread\":%zu",
                        search->searched, search->binary, search->unread);
    if (search->stopped != NULL) {
        patchbay_out_printf(search->out, ",\"stopped\":\"%s\"", search->stopped);
    }
    patchbay_out_text(search->out, "}");
}

void files_search_text(patchbay_tool_call *call)
{
    const files_set *set = (const files_set *)patchbay_toolset_data(call);
    files_problem problem = {PATCHBAY_FAILED, "out of memory"};
    files_path path;
    text_search *search = (text_search *)calloc(1, sizeof *search);
    int done = -1;
    if (search != NULL) {
        search->call = call;
        search->out = patchbay_structured(call);
        search->base = &path;
        search->block = (char *)malloc(BLOCK_BYTES);
        if (search->block != NULL && read_arguments(search, &problem) == 0 &&
            files_arg_path(call, "path", &path, &problem) == 0) {
            done = run(search, set, &problem);
        }
        if (done == 0) {
            finish_result(search);
        }
        files_matcher_fini(&search->matcher);
        files_glob_fini(&search->include);
        files_glob_fini(&search->exclude);
        free(search->block);
        free(search);
    }
    if (done == 0) {
        patchbay_reply(call);
    } else {
        files_reply_problem(call, &problem);
    }
}
