/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

typedef struct name_search {
    files_glob pattern;
    files_glob exclude;
    int64_t depth;
    int64_t limit;
    mode_t type; /* 0: any */
} name_search;

static int read_type(patchbay_tool_call *call, mode_t *ret_type, files_problem *problem)
{
    static const struct {
        const char *name;
        mode_t type;
    } types[] = {{"any", 0}, {"file", S_IFREG}, {"directory", S_IFDIR}, {"symlink", S_IFLNK}};
    patchbay_str raw = patchbay_arg(call, "type");
    *ret_type = 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (raw.len == 0 || patchbay_json_is(raw, patchbay_str_of(types[i].name))) {
            *ret_type = types[i].type;
            return 0;
        }
    }
    files_refuse(problem, PATCHBAY_INVALID_INPUT, "'type' must be any, file, directory or symlink");
    return -1;
}

static int read_search(patchbay_tool_call *call, name_search *search, files_problem *problem)
{
    int ignore_case = patchbay_arg_bool(call, "ignore_case", 0);
    if (files_arg_glob(call, "pattern", ignore_case, &search->pattern, problem) != 0 ||
        files_arg_glob(call, "exclude", ignore_case, &search->exclude, problem) != 0 ||
        files_arg_number(call, "depth", FILES_DEPTH_MAX, 1, FILES_DEPTH_MAX, &search->depth,
                         problem) != 0 ||
        files_arg_number(call, "limit", 200, 1, 5000, &search->limit, problem) != 0 ||
        read_type(call, &search->type, problem) != 0) {
        return -1;
    }
    if (search->pattern.count == 0) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'pattern' must be a string, like \"*.md\"");
        return -1;
    }
    if (patchbay_arg(call, "exclude").len == 0) {
        return files_glob_add(&search->exclude, patchbay_str_of(".git"), problem);
    }
    return 0;
}

static void run(patchbay_tool_call *call, const name_search *search, const files_path *path,
                files_walk *walk)
{
    patchbay_out *out = patchbay_structured(call);
    int64_t count = 0;
    int more = 0;
    files_entry entry;
    patchbay_out_text(out, "{\"matches\":[");
    while (!more && files_walk_next(walk, &entry)) {
        if ((search->type != 0 && entry.type != search->type) ||
            !files_glob_matches(&search->pattern, entry.name, entry.rel)) {
            continue;
        }
        if (count == search->limit || out->len > FILES_RESULT_MAX) {
            more = 1;
            continue;
        }
        patchbay_out_text(out, count++ > 0 ? ",{" : "{");
        files_out_path(out, path, entry.rel);
        patchbay_out_key(out, "type");
        patchbay_out_string(out, patchbay_str_of(files_type_name(entry.type)));
        patchbay_out_text(out, "}");
    }
    patchbay_out_printf(out, "],\"more\":%s", more ? "true" : "false");
    if (files_walk_unread(walk) > 0) {
        patchbay_out_printf(out, ",\"unread\":%zu", files_walk_unread(walk));
    }
    patchbay_out_text(out, "}");
}

void files_search_name(patchbay_tool_call *call)
{
    const files_set *set = (const files_set *)patchbay_toolset_data(call);
    name_search search = {0};
    files_problem problem = {PATCHBAY_FAILED, "the folder cannot be read"};
    files_path path;
    int fd = -1;
    files_walk *walk = NULL;
    if (read_search(call, &search, &problem) == 0 &&
        files_arg_path(call, "path", &path, &problem) == 0) {
        fd = files_open_folder(set, &path, &problem);
    }
    if (fd >= 0) {
        walk = files_walk_create(call, fd, (size_t)search.depth, &search.exclude);
    }
    if (walk != NULL) {
        run(call, &search, &path, walk);
    }
    files_walk_destroy(walk);
    files_glob_fini(&search.pattern);
    files_glob_fini(&search.exclude);
    if (walk != NULL) {
        patchbay_reply(call);
    } else {
        files_reply_problem(call, &problem);
    }
}
