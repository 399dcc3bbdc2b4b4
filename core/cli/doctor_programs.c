/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor.h"

#include "wire/json.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXT_BYTES = 64 * 1024,
    VERSION_BYTES = 128,
    LINE_BYTES = 256,
    RUNTIME_MS = 5000, /* that a program may take to say its version */
};

/* What brings a program that servers are started with, and from which version on they work. */
typedef struct runtime {
    const char *command;
    const char *program;  /* that says its version; NULL: none is asked */
    unsigned least[2];    /* major and minor; 0: any */
    const char *cure;     /* it is not there */
    const char *renewing; /* it is too old */
} runtime;

static const runtime RUNTIMES[] = {
    {"npx",
     "node",
     {18, 0},
     "install Node.js (Debian: apt install npm)",
     "install a newer Node.js"},
    {"node",
     "node",
     {18, 0},
     "install Node.js (Debian: apt install nodejs)",
     "install a newer Node.js"},
    {"uvx", "uv", {0, 0}, "install uv (pipx install uv)", NULL},
    {"uv", "uv", {0, 0}, "install uv (pipx install uv)", NULL},
    {"python",
     "python",
     {3, 10},
     "Debian has python3 alone: patchbay set toolsets.NAME.command python3",
     "install a newer Python, or use uvx, which brings one"},
    {"python3",
     "python3",
     {3, 10},
     "apt install python3",
     "install a newer Python, or use uvx, which brings one"},
    {"docker", NULL, {0, 0}, "install Docker, or run the server without it", NULL},
    {"bunx", "bun", {0, 0}, "install Bun, or use npx", NULL},
    {"deno", "deno", {0, 0}, "install Deno", NULL},
};

static const runtime *find_runtime(const char *command)
{
    const char *slash = strrchr(command, '/');
    const char *name = slash != NULL ? slash + 1 : command;
    for (size_t i = 0; i < sizeof RUNTIMES / sizeof *RUNTIMES; i++) {
        if (strcmp(RUNTIMES[i].command, name) == 0) {
            return &RUNTIMES[i];
        }
    }
    return NULL;
}

/* Where a server is started. */
typedef struct start {
    const char *key; /* of its toolset */
    const char *command;
    const char *folder; /* absolute: what a command with a '/' is relative to; empty: the hub's */
    const char *path;   /* where programs are looked for; NULL: where the system says */
} start;

static bool is_program(const char *place)
{
    struct stat status;
    return stat(place, &status) == 0 && S_ISREG(status.st_mode) && access(place, X_OK) == 0;
}

/* Where a shell would find it; with a '/' in it, it is a path (execvp(3)). False: nowhere. */
static bool find_program(const start *at, const char *command, hub_buf *place)
{
    hub_buf_clear(place);
    if (strchr(command, '/') != NULL) {
        bool is_inside = command[0] != '/' && at->folder[0] != '\0';
        hub_buf_printf(place, "%s%s%s", is_inside ? at->folder : "", is_inside ? "/" : "", command);
        hub_buf_add_char(place, '\0');
        return hub_buf_ok(place) && is_program(place->ptr);
    }
    const char *rest = at->path != NULL ? at->path : "/usr/local/bin:/usr/bin:/bin";
    while (rest[0] != '\0') {
        size_t len = strcspn(rest, ":");
        hub_buf_clear(place);
        hub_buf_printf(place, "%.*s/%s", (int)len, rest, command);
        hub_buf_add_char(place, '\0');
        if (hub_buf_ok(place) && is_program(place->ptr)) {
            return true;
        }
        rest += len + (rest[len] == ':');
    }
    return false;
}

static long now_ms(void)
{
    struct timespec now = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000L;
}

/* What `fd` says up to its end or the time, cut. */
static size_t read_briefly(int fd, char *text, size_t cap)
{
    long until = now_ms() + RUNTIME_MS;
    size_t len = 0;
    while (len + 1 < cap) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        long left = until - now_ms();
        ssize_t got =
            left > 0 && poll(&one, 1, (int)left) > 0 ? read(fd, text + len, cap - 1 - len) : 0;
        if (got <= 0) {
            break;
        }
        len += (size_t)got;
    }
    text[len] = '\0';
    return len;
}

/* The first line of `PROGRAM --version`; empty: it says nothing in time. */
static void ask_version(char *program, char version[VERSION_BYTES])
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    static char option[] = "--version";
    char *argv[] = {program, option, NULL};
    int ends[2];
    pid_t pid = 0;
    version[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return;
    }
    if (posix_spawn_file_actions_init(&actions) == 0) {
        (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        pid = posix_spawn(&pid, program, &actions, NULL, argv, environ) == 0 ? pid : 0;
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[1]);
    if (pid > 0) {
        (void)read_briefly(ends[0], version, VERSION_BYTES);
        (void)kill(pid, SIGKILL); /* it has said what it was asked, or is not going to */
        (void)waitpid(pid, NULL, 0);
    }
    (void)close(ends[0]);
    version[strcspn(version, "\r\n")] = '\0';
}

/* Whether "v18.19.0", "Python 3.11.2" or the like is at least that; what has no number is. */
static bool is_recent(const char *version, const unsigned least[2])
{
    const char *digits = version + strcspn(version, "0123456789");
    char *end = NULL;
    unsigned long major = strtoul(digits, &end, 10);
    unsigned long minor = end[0] == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return digits[0] == '\0' || major > least[0] || (major == least[0] && minor >= least[1]);
}

/* Of the program that the runtime is, where the server would look for it. */
static void tell_version(cli_examination *all, const runtime *kind, const start *at, hub_buf *place)
{
    char version[VERSION_BYTES];
    char said[512];
    const char *key = at->key;
    if (kind->program == NULL || !find_program(at, kind->program, place)) {
        return;
    }
    ask_version(place->ptr, version);
    if (version[0] == '\0') {
        (void)snprintf(said, sizeof said, "%s --version says nothing within %d s", kind->program,
                       RUNTIME_MS / 1000);
        cli_doctor_tell_of(all, CLI_DOUBTFUL, key, said, "try it in a shell");
    } else if (!is_recent(version, kind->least)) {
        (void)snprintf(said, sizeof said, "%s is %s; most servers want %u.%u or later",
                       kind->program, version, kind->least[0], kind->least[1]);
        cli_doctor_tell_of(all, CLI_DOUBTFUL, key, said, kind->renewing);
    } else {
        (void)snprintf(said, sizeof said, "%s is %s", kind->program, version);
        cli_doctor_tell_of(all, CLI_FINE, key, said, NULL);
    }
}

/* The first line of a script, without "#!"; empty: it is none. */
static void read_first_line(const char *place, char line[LINE_BYTES])
{
    int fd = open(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len = fd >= 0 ? read(fd, line, LINE_BYTES - 1) : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    line[len > 0 ? len : 0] = '\0';
    if (strncmp(line, "#!", 2) != 0) {
        line[0] = '\0';
        return;
    }
    line[strcspn(line, "\n")] = '\0';
    memmove(line, line + 2, strlen(line + 2) + 1);
}

/* The next word of a line, which is cut behind it; NULL: there is none. */
static const char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t\r");
    size_t len = strcspn(word, " \t\r");
    *rest = word + len + (word[len] != '\0');
    word[len] = '\0';
    return len > 0 ? word : NULL;
}

/* Whether what the first line of a script names is there; it is told what is not. */
static bool has_interpreter(cli_examination *all, const start *at, hub_buf *place)
{
    char line[LINE_BYTES];
    char said[2 * LINE_BYTES];
    char *rest = line;
    read_first_line(place->ptr, line);
    bool has_return = strchr(line, '\r') != NULL;
    const char *word = next_word(&rest);
    const char *slash = word != NULL ? strrchr(word, '/') : NULL;
    bool is_there = word == NULL || find_program(at, word, place);
    if (is_there && slash != NULL && strcmp(slash, "/env") == 0) {
        do {
            word = next_word(&rest);
        } while (word != NULL && (word[0] == '-' || strchr(word, '=') != NULL));
        is_there = word == NULL || find_program(at, word, place);
    }
    if (is_there && !has_return) {
        return true;
    }
    (void)snprintf(said, sizeof said,
                   has_return ? "\"%s\" has line ends of Windows in its first line"
                              : "\"%s\" is run by \"%s\", which is not there",
                   at->command, word);
    cli_doctor_tell_of(all, CLI_BAD, at->key, said,
                       has_return ? "take the carriage returns out of it (dos2unix)"
                                  : "install that, or correct the first line of the script");
    return false;
}

static void tell_missing(cli_examination *all, const start *at, const runtime *kind,
                         const hub_buf *place)
{
    bool is_path = strchr(at->command, '/') != NULL;
    struct stat status;
    char said[512];
    if (is_path && stat(place->ptr, &status) == 0) {
        bool is_folder = S_ISDIR(status.st_mode);
        (void)snprintf(said, sizeof said, "\"%s\" is %s", at->command,
                       is_folder ? "a folder, and no program" : "not executable");
        cli_doctor_tell_of(all, CLI_BAD, at->key, said,
                           is_folder ? "correct the path"
                                     : "chmod +x it; or make the program that runs it the "
                                       "command, and it the first of args");
        return;
    }
    (void)snprintf(said, sizeof said, "there is no program \"%s\"%s", at->command,
                   is_path ? "" : " in PATH");
    cli_doctor_tell_of(all, CLI_BAD, at->key, said,
                       kind != NULL ? kind->cure
                       : is_path    ? "install it, or correct the path"
                                    : "install it, or write its whole path: services have "
                                      "another PATH than shells");
}

static void look_at_start(cli_examination *all, const start *at, hub_buf *place)
{
    const runtime *kind = find_runtime(at->command);
    struct stat status;
    char said[512];
    if (at->folder[0] != '\0' && (stat(at->folder, &status) != 0 || !S_ISDIR(status.st_mode))) {
        (void)snprintf(said, sizeof said, "its working folder \"%s\" is not there", at->folder);
        cli_doctor_tell_of(all, CLI_BAD, at->key, said, "make it, or correct `cwd`");
    } else if (!find_program(at, at->command, place)) {
        tell_missing(all, at, kind, place);
    } else if (has_interpreter(all, at, place)) {
        (void)snprintf(said, sizeof said, "%s is there", at->command);
        cli_doctor_tell_of(all, CLI_FINE, at->key, said, NULL);
        if (kind != NULL) {
            tell_version(all, kind, at, place);
        }
    }
}

/* Append a JSON string's text and a NUL. False: it is none. */
static bool decode(hub_str raw, hub_buf *out)
{
    bool is_text = hub_json_decode(raw, out) == HUB_OK;
    hub_buf_add_char(out, '\0');
    return is_text && hub_buf_ok(out);
}

void cli_doctor_programs(cli_examination *all)
{
    const hub_settings *settings = &all->config->settings;
    hub_buf command;
    hub_buf folder;
    hub_buf path;
    hub_buf place;
    hub_buf_init(&command, TEXT_BYTES);
    hub_buf_init(&folder, TEXT_BYTES);
    hub_buf_init(&path, TEXT_BYTES);
    hub_buf_init(&place, TEXT_BYTES);
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        hub_buf_clear(&command);
        hub_buf_clear(&folder);
        hub_buf_clear(&path);
        if (cli_doctor_starts(toolset) && decode(cli_doctor_value(toolset, "command"), &command)) {
            hub_str own = hub_json_get(cli_doctor_value(toolset, "env"), HUB_STR("PATH"));
            bool has_folder = decode(cli_doctor_value(toolset, "cwd"), &folder);
            const start at = {.key = toolset->key,
                              .command = command.ptr,
                              .folder = has_folder ? folder.ptr : "",
                              .path = decode(own, &path) ? path.ptr : getenv("PATH")};
            look_at_start(all, &at, &place);
        }
    }
    hub_buf_fini(&command);
    hub_buf_fini(&folder);
    hub_buf_fini(&path);
    hub_buf_fini(&place);
}
