/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <time.h>

/* ---- problems -------------------------------------------------------------------------------- */

void files_refuse(files_problem *problem, int32_t status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    problem->status = status;
    /* A text that was cut may end inside a character; the hub wants UTF-8. */
    size_t len = strlen(problem->text);
    problem->text[files_utf8_length(problem->text, len)] = '\0';
}

void files_reply_problem(patchbay_tool_call *call, const files_problem *problem)
{
    patchbay_reply_error(call, problem->status, "%s", problem->text);
}

/* ---- arguments ------------------------------------------------------------------------------- */

int files_arg_number(patchbay_tool_call *call, const char *key, int64_t otherwise, int64_t min,
                     int64_t max, int64_t *ret_number, files_problem *problem)
{
    patchbay_str raw = patchbay_arg(call, key);
    int64_t number = otherwise;
    if (raw.len > 0 && !patchbay_str_eq(raw, patchbay_str_of("null")) &&
        (!patchbay_json_int(raw, &number) || number < min || number > max)) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT,
                     "'%s' must be an integer from %lld to %lld; it is %.*s", key, (long long)min,
                     (long long)max, (int)(raw.len <= 40 ? raw.len : 40), raw.ptr);
        return -1;
    }
    *ret_number = number;
    return 0;
}

int files_arg_string(patchbay_tool_call *call, const char *key, patchbay_str *ret_text,
                     files_problem *problem)
{
    *ret_text = patchbay_arg_str(call, key);
    if (ret_text->ptr == NULL) {
        files_refuse(problem, PATCHBAY_INVALID_INPUT, "'%s' must be a string", key);
        return -1;
    }
    return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

size_t files_utf8_length(const char *text, size_t len)
{
    const char *at = text;
    const char *end = text + len;
    while (at < end) {
        size_t step = patchbay_utf8_length(at, end);
        if (step == 0) {
            break;
        }
        at += step;
    }
    return (size_t)(at - text);
}

static void escape_name(patchbay_out *out, const char *bytes, size_t len)
{
    const char *end = bytes + len;
    for (const char *at = bytes; at < end;) {
        size_t step = patchbay_utf8_length(at, end);
        if (step == 0) {
            patchbay_out_printf(out, "\\x%02x", (unsigned char)*at);
            step = 1;
        } else if (*at == '\\') {
            patchbay_out_text(out, "\\\\");
        } else {
            patchbay_out_raw(out, patchbay_str_make(at, step));
        }
        at += step;
    }
}

void files_out_path(patchbay_out *out, const files_path *base, const char *rel)
{
    patchbay_out raw;
    patchbay_out shown;
    memset(&raw, 0, sizeof raw);
    memset(&shown, 0, sizeof shown);
    const char *parts[] = {base->root->name, base->rel, rel};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i] != NULL && parts[i][0] != '\0' && strcmp(parts[i], ".") != 0) {
            patchbay_out_text(&raw, raw.len > 0 && raw.ptr[raw.len - 1] != '/' ? "/" : "");
            patchbay_out_text(&raw, parts[i]);
        }
    }
    size_t len = raw.len;
    int escaped = !raw.failed && files_utf8_length(raw.ptr, len) < len;
    patchbay_out_key(out, "path");
    if (escaped) {
        escape_name(&shown, raw.ptr, len);
        patchbay_out_string(out, patchbay_str_make(shown.ptr, shown.len));
        patchbay_out_text(out, ",\"escaped\":true");
    } else {
        patchbay_out_string(out, patchbay_str_make(raw.ptr, len));
    }
    out->failed |= raw.failed | shown.failed;
    patchbay_out_free(&raw);
    patchbay_out_free(&shown);
}

/* ---- status ---------------------------------------------------------------------------------- */

const char *files_type_name(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *name;
    } types[] = {
        {S_IFREG, "file"},    {S_IFDIR, "directory"}, {S_IFLNK, "symlink"}, {S_IFIFO, "fifo"},
        {S_IFSOCK, "socket"}, {S_IFCHR, "device"},    {S_IFBLK, "device"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if ((mode & S_IFMT) == types[i].type) {
            return types[i].name;
        }
    }
    return "unknown";
}

/* Append `key` with a time as RFC 3339 in UTC. */
static void out_time(patchbay_out *out, const char *key, struct timespec time)
{
    struct tm utc;
    char text[40] = "";
    if (gmtime_r(&time.tv_sec, &utc) != NULL) {
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    patchbay_out_key(out, key);
    patchbay_out_string(out, patchbay_str_of(text));
}

void files_out_status(patchbay_out *out, const struct stat *status)
{
    patchbay_out_key(out, "type");
    patchbay_out_string(out, patchbay_str_of(files_type_name(status->st_mode)));
    if (S_ISREG(status->st_mode)) {
        patchbay_out_printf(out, ",\"size\":%lld", (long long)status->st_size);
    }
    out_time(out, "mtime", status->st_mtim);
}
