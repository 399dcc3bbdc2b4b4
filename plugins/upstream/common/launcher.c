/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that fetch a program before they run it: the first start takes as long as the download.
 * Such a command gets more time to start, unless its entry says how much.
 */
#include "upstream.h"

enum { MOST_WORDS = 64 }; /* of a line for a shell that are looked at */

static const struct {
    const char *program;
    const char *words[4]; /* one of them is among the arguments; none: whatever they are */
} LAUNCHERS[] = {
    {"npx", {NULL}},
    {"bunx", {NULL}},
    {"uvx", {NULL}},
    {"pipx", {NULL}},
    {"docker", {NULL}},
    {"podman", {NULL}},
    {"deno", {NULL}},
    {"uv", {"run", "tool", "x", NULL}},
    {"npm", {"exec", "x", NULL}},
    {"pnpm", {"dlx", "exec", NULL}},
    {"yarn", {"dlx", NULL}},
    {"bun", {"x", NULL}},
    {"go", {"run", NULL}},
    {"nix", {"run", "shell", NULL}},
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int is_among(const char *word, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, word) == 0) {
            return 1;
        }
    }
    return 0;
}

/* NAME=value, as env and shells have it in front of a command. */
static int is_assignment(const char *word)
{
    size_t len = strcspn(word, "=");
    return len > 0 && word[len] == '=' && memchr(word, '/', len) == NULL;
}

/* Where the command begins that `env` runs, or a shell's line: behind options and assignments. */
static const char *const *skip_to_command(const char *const *words)
{
    while (*words != NULL &&
           (is_assignment(*words) || **words == '-' || strcmp(*words, "exec") == 0)) {
        words++;
    }
    return words;
}

static int is_listed(const char *const *words)
{
    if (*words != NULL && strcmp(base_of(*words), "env") == 0) {
        words = skip_to_command(words + 1);
    }
    for (size_t i = 0; *words != NULL && i < sizeof LAUNCHERS / sizeof LAUNCHERS[0]; i++) {
        if (strcmp(base_of(*words), LAUNCHERS[i].program) != 0) {
            continue;
        }
        int found = LAUNCHERS[i].words[0] == NULL;
        for (size_t at = 1; words[at] != NULL; at++) {
            found = found || is_among(words[at], LAUNCHERS[i].words);
        }
        return found;
    }
    return 0;
}

/* The line of `sh -c LINE`, or NULL. */
static const char *line_of(const char *const *argv)
{
    static const char *const SHELLS[] = {"sh", "bash", "dash", "zsh", "ash", NULL};
    if (!is_among(base_of(argv[0]), SHELLS)) {
        return NULL;
    }
    for (size_t i = 1; argv[i] != NULL && argv[i][0] == '-'; i++) {
        if (argv[i][1] != '-' && strchr(argv[i], 'c') != NULL) {
            return argv[i + 1];
        }
    }
    return NULL;
}

/* Whether the first command of a shell's line is listed. Quotes are not understood: who quotes the
 * name of a launcher says startup_timeout. */
static int is_listed_line(const char *line)
{
    const char *words[MOST_WORDS + 1];
    char *copy = strdup(line);
    char *rest = copy;
    size_t count = 0;
    for (char *word = copy != NULL ? strtok_r(rest, " \t\n", &rest) : NULL;
         word != NULL && count < MOST_WORDS; word = strtok_r(NULL, " \t\n", &rest)) {
        words[count++] = word;
    }
    words[count] = NULL;
    int found = is_listed(skip_to_command(words));
    free(copy);
    return found;
}

int upstream_is_launcher(const char *const *argv)
{
    const char *line = line_of(argv);
    return line != NULL ? is_listed_line(line) : is_listed(argv);
}
