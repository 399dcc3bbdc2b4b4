/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- list ------------------------------------------------------------------------------------ */

typedef struct list_page {
    int64_t offset;
    int64_t limit;
    int64_t at; /* entries seen */
    int more;   /* there is one beyond the page */
} list_page;

/* Without a path and with several roots, the roots are what there is to list. */
static void list_roots(patchbay_tool_call *call, const files_set *set)
{
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{\"path\":\"\",\"entries\":[");
    for (size_t i = 0; i < set->root_count; i++) {
        struct stat status;
        patchbay_out_text(out, i > 0 ? ",{" : "{");
        patchbay_out_key(out, "path");
        patchbay_out_string(out, patchbay_str_of(set->roots[i].name));
        if (fstat(set->roots[i].fd, &status) == 0) {
            files_out_status(out, &status);
        }
        patchbay_out_printf(out, ",\"writable\":%s}", set->roots[i].writable ? "true" : "false");
    }
    patchbay_out_text(out, "]}");
    patchbay_reply(call);
}

static void out_entry(patchbay_out *out, const files_path *base, const files_entry *entry)
{
    struct stat status;
    files_out_path(out, base, entry->rel);
    if (fstatat(entry->dir_fd, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        files_out_status(out, &status);
    } else { /* gone since the directory was read */
        patchbay_out_key(out, "type");
        patchbay_out_string(out, patchbay_str_of(files_type_name(entry->type)));
    }
}

static void list_entries(patchbay_out *out, files_walk *walk, const files_path *path,
                         list_page *page)
{
    files_entry entry;
    while (!page->more && files_walk_next(walk, &entry)) {
        if (page->at < page->offset) {
            page->at++;
            continue;
        }
        if (page->at - page->offset == page->limit || out->len > FILES_RESULT_MAX) {
            page->more = 1;
            continue;
        }
        patchbay_out_text(out, page->at > page->offset ? ",{" : "{");
        out_entry(out, path, &entry);
        patchbay_out_text(out, "}");
        page->at++;
    }
}

void files_list(patchbay_tool_call *call)
{
    const files_set *set = (const files_set *)patchbay_toolset_data(call);
    files_problem problem;
    files_path path;
    list_page page = {0};
    int64_t depth;
    if (files_arg_number(call, "depth", 1, 1, FILES_DEPTH_MAX, &depth, &problem) != 0 ||
        files_arg_number(call, "limit", 200, 1, 5000, &page.limit, &problem) != 0 ||
        files_arg_number(call, "offset", 0, 0, INT32_MAX, &page.offset, &problem) != 0) {
        files_reply_problem(call, &problem);
        return;
    }
    if (set->root_count > 1 && patchbay_arg(call, "path").len == 0) {
        list_roots(call, set);
        return;
    }
    int fd = files_arg_path(call, "path", &path, &problem);
    fd = fd == 0 ? files_open_folder(set, &path, &problem) : -1;
    if (fd < 0) {
        files_reply_problem(call, &problem);
        return;
    }
    files_walk *walk = files_walk_create(call, fd, (size_t)depth, NULL);
    if (walk == NULL) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "'%s' cannot be read", path.shown);
        return;
    }
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    files_out_path(out, &path, NULL);
    patchbay_out_text(out, ",\"entries\":[");
    list_entries(out, walk, &path, &page);
    patchbay_out_text(out, "]");
    if (page.more) {
        patchbay_out_printf(out, ",\"next_offset\":%lld", (long long)page.at);
    }
    if (files_walk_unread(walk) > 0) {
        patchbay_out_printf(out, ",\"unread\":%zu", files_walk_unread(walk));
    }
    patchbay_out_text(out, "}");
    files_walk_destroy(walk);
    patchbay_reply(call);
}

/* ---- stat ------------------------------------------------------------------------------------ */

static void out_link(patchbay_out *out, const files_set *set, const files_path *path, int fd)
{
    char target[PATH_MAX];
    ssize_t len = readlinkat(fd, "", target, sizeof target);
    if (len >= 0) {
        patchbay_out_key(out, "target");
        patchbay_out_string(out, patchbay_str_make(target, (size_t)len));
    }
    /* Whether following it stays inside; the answer is all that is taken from the other end. */
    struct stat status;
    int end = files_open_beneath(path->root->fd, path->rel, O_PATH, set->resolve);
    int known = end >= 0 && fstat(end, &status) == 0;
    patchbay_out_key(out, "leads_to");
    patchbay_out_string(out, patchbay_str_of(known ? files_type_name(status.st_mode) : "nothing"));
    if (end >= 0) {
        (void)close(end);
    }
}

void files_stat(patchbay_tool_call *call)
{
    const files_set *set = (const files_set *)patchbay_toolset_data(call);
    files_problem problem;
    files_path path;
    if (files_arg_path(call, "path", &path, &problem) != 0) {
        files_reply_problem(call, &problem);
        return;
    }
    struct stat status;
    int fd = files_open_beneath(path.root->fd, path.rel, O_PATH | O_NOFOLLOW, set->resolve);
    if (fd < 0 || fstat(fd, &status) != 0) {
        files_explain(set, path.shown, errno, &problem);
        if (fd >= 0) {
            (void)close(fd);
        }
        files_reply_problem(call, &problem);
        return;
    }
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    files_out_path(out, &path, NULL);
    files_out_status(out, &status);
    patchbay_out_printf(out, ",\"mode\":\"%04o\",\"writable_root\":%s",
                        (unsigned)status.st_mode & 07777u, path.root->writable ? "true" : "false");
    if (S_ISLNK(status.st_mode)) {
        out_link(out, set, &path, fd);
    }
    patchbay_out_text(out, "}");
    (void)close(fd);
    patchbay_reply(call);
}
