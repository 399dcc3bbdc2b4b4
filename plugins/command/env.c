/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <unistd.h>

/* What a command gets of the hub's environment, unless inherit_env says all. "LC_" is a prefix. */
static const char *const allowed[] = {
    "HOME=", "PATH=", "USER=", "LOGNAME=", "SHELL=", "LANG=", "LC_", "TERM=", "TMPDIR=", "TZ="};

static int is_allowed(const char *entry)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (strncmp(entry, allowed[i], strlen(allowed[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

static size_t count_environ(void)
{
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    return count;
}

/* Put "NAME=value" in, over an older one of that name. */
static void put_entry(char **env, size_t *count, char *entry)
{
    size_t name_len = strcspn(entry, "=") + 1;
    for (size_t i = 0; i < *count; i++) {
        if (strncmp(env[i], entry, name_len) == 0) {
            env[i] = entry;
            return;
        }
    }
    env[(*count)++] = entry;
}

static int32_t add_own(command_set *set, patchbay_str raw, char **env, size_t *count,
                       const command_fault *fault)
{
    patchbay_json_iter it = patchbay_json_iterate(raw);
    patchbay_str key;
    patchbay_str value;
    while (patchbay_json_next(&it, &key, &value)) {
        patchbay_out entry;
        memset(&entry, 0, sizeof entry);
        int ok = patchbay_json_decode(key, &entry);
        size_t name_len = entry.len;
        ok = ok && name_len > 0 && memchr(entry.ptr, '=', name_len) == NULL;
        patchbay_out_text(&entry, "=");
        ok = ok && patchbay_json_decode(value, &entry) && !entry.failed &&
             memchr(entry.ptr, '\0', entry.len) == NULL;
        char *kept = ok ? command_keep_text(set, patchbay_str_make(entry.ptr, entry.len)) : NULL;
        patchbay_out_free(&entry);
        if (!ok) {
            return command_fail(fault, PATCHBAY_EINVAL,
                                "env: %.*s is not a name, or has a value that is not a string",
                                (int)(key.len < 64 ? key.len : 64), key.ptr);
        }
        if (kept == NULL) {
            return command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
        }
        put_entry(env, count, kept);
    }
    return PATCHBAY_OK;
}

int32_t command_env(command_set *set, patchbay_str raw_tool, command_tool *tool,
                    const command_fault *fault)
{
    patchbay_str own = patchbay_json_get(raw_tool, "env");
    patchbay_str inherit = patchbay_json_get(raw_tool, "inherit_env");
    int all = inherit.len > 0 && inherit.ptr[0] == 't';
    size_t count = 0;
    size_t room = count_environ() + command_count(own) + 1;
    tool->env = (char **)command_keep(set, room * sizeof *tool->env);
    for (size_t i = 0; tool->env != NULL && environ != NULL && environ[i] != NULL; i++) {
        if (all || is_allowed(environ[i])) {
            /* A copy: the hub's may change, and be read from another thread. */
            char *kept = command_keep_text(set, patchbay_str_of(environ[i]));
            if (kept == NULL) {
                return command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
            }
            tool->env[count++] = kept;
        }
    }
    if (tool->env == NULL) {
        return command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
    }
    return add_own(set, own, tool->env, &count, fault);
}

/* ---- where the program is -------------------------------------------------------------------- */

static const char *find_path(char **env)
{
    for (size_t i = 0; env[i] != NULL; i++) {
        if (strncmp(env[i], "PATH=", 5) == 0) {
            return env[i] + 5;
        }
    }
    return "/usr/local/bin:/usr/bin:/bin";
}

/* Every place of the child's PATH, made here: the child itself may only call execve. Folders that
 * are not absolute are left out, since they would mean the working folder. */
int32_t command_candidates(command_set *set, const char *program, command_tool *tool,
                           const command_fault *fault)
{
    const char *path = find_path(tool->env);
    size_t room = 2;
    for (const char *at = path; *at != '\0'; at++) {
        room += *at == ':';
    }
    tool->candidates = (const char **)command_keep(set, (room + 1) * sizeof *tool->candidates);
    size_t count = 0;
    int ok = tool->candidates != NULL;
    if (ok && strchr(program, '/') != NULL) {
        tool->candidates[0] = program;
        return PATCHBAY_OK;
    }
    while (ok && *path != '\0') {
        size_t len = strcspn(path, ":");
        if (path[0] == '/') {
            patchbay_out text;
            memset(&text, 0, sizeof text);
            patchbay_out_printf(&text, "%.*s/%s", (int)len, path, program);
            const char *kept = command_keep_text(set, patchbay_str_make(text.ptr, text.len));
            ok = kept != NULL && !text.failed;
            tool->candidates[count++] = kept;
            patchbay_out_free(&text);
        }
        path += len + (path[len] == ':');
    }
    return ok ? PATCHBAY_OK : command_fail(fault, PATCHBAY_ENOMEM, "out of memory");
}
