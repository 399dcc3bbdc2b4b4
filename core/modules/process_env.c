/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/process_env.h"

#include "modules/process_chain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What every program may know about its user and place; see patchbay/process.h. A name that ends
 * with '*' stands for all that begin so. */
static const char *const ALLOWED[] = {
    "HOME", "PATH",   "USER", "LOGNAME",          "SHELL", "LANG", "LC_*",
    "TERM", "TMPDIR", "TZ",   HUB_CHAIN_VARIABLE,
};

/* Where to look for programs when the child has no PATH. */
static const char DEFAULT_PATH[] = "/usr/local/bin:/usr/bin:/bin";

/* The name of a NAME=value string; the whole string when there is no '='. */
static hub_str name_of(const char *variable)
{
    return (hub_str){.ptr = variable, .len = strcspn(variable, "=")};
}

static bool is_allowed(hub_str name)
{
    for (size_t i = 0; i < sizeof ALLOWED / sizeof ALLOWED[0]; i++) {
        if (hub_str_glob(hub_str_of(ALLOWED[i]), name)) {
            return true;
        }
    }
    return false;
}

static size_t count_of(const char *const *list)
{
    size_t count = 0;
    while (list != NULL && list[count] != NULL) {
        count++;
    }
    return count;
}

/* Where `variable` goes in env: the place of its namesake, or the end. */
static size_t place_of(const char *const *env, size_t count, const char *variable)
{
    for (size_t i = 0; i < count; i++) {
        if (hub_str_eq(name_of(env[i]), name_of(variable))) {
            return i;
        }
    }
    return count;
}

/* The value of `name`, or NULL. */
static const char *value_of(const char *const *env, const char *name)
{
    for (; *env != NULL; env++) {
        hub_str found = name_of(*env);
        if (hub_str_is(found, name) && (*env)[found.len] == '=') {
            return *env + found.len + 1;
        }
    }
    return NULL;
}

/* Whether there is an executable file of that path. Sets *ret_found if it is there at all. */
static bool is_program(const char *path, bool *ret_found)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return false;
    }
    *ret_found = true;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

hub_err hub_process_env_build(const char *const *inherited, bool inherit_all,
                              const char *const *additions, const char ***ret_env,
                              hub_error *reterr)
{
    const char **env = calloc(count_of(inherited) + count_of(additions) + 1, sizeof *env);
    if (env == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    size_t count = 0;
    for (size_t i = 0; i < count_of(inherited); i++) {
        if (inherit_all || is_allowed(name_of(inherited[i]))) {
            env[count++] = inherited[i];
        }
    }
    for (; additions != NULL && *additions != NULL; additions++) {
        hub_str name = name_of(*additions);
        if (name.len == 0 || (*additions)[name.len] != '=') {
            free(env);
            /* The value may be a secret in the wrong place: say where, not what. */
            return hub_fail(reterr, HUB_EINVAL, "an environment entry is not NAME=value");
        }
        if (hub_str_is(name, HUB_CHAIN_VARIABLE)) {
            continue; /* the hub's own: an entry cannot hide a circle */
        }
        size_t place = place_of(env, count, *additions);
        env[place] = *additions;
        count += place == count;
    }
    *ret_env = env;
    return HUB_OK;
}

hub_err hub_process_env_find_program(const char *const *env, const char *command,
                                     char **ret_program, hub_error *reterr)
{
    const char *path = value_of(env, "PATH");
    path = path == NULL ? DEFAULT_PATH : path;
    bool found = false;
    size_t room = strlen(path) + strlen(command) + 2;
    char *program = malloc(room);
    if (program == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    if (strchr(command, '/') != NULL) {
        memcpy(program, command, strlen(command) + 1);
        *ret_program = program;
        return HUB_OK;
    }
    for (const char *folder = path; *folder != '\0';) {
        int len = (int)strcspn(folder, ":");
        (void)snprintf(program, room, "%.*s/%s", len, folder, command); /* fits */
        if (folder[0] == '/' && is_program(program, &found)) {
            *ret_program = program;
            return HUB_OK;
        }
        folder += len;
        folder += *folder == ':';
    }
    free(program);
    /* Without its value: clients are told, too. */
    if (found) {
        return hub_fail(reterr, HUB_EINVAL, "found in PATH, but not executable");
    }
    return hub_fail(reterr, HUB_ENOTFOUND, "not found in PATH: %s",
                    strchr(command, ' ') != NULL ? "its arguments belong in \"args\""
                                                 : "give its whole path");
}
