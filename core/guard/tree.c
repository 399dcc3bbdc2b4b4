/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TREE_MAX = 32768, /* processes in one walk; more are found by the next */
    PATH_BYTES = 64,
    STAT_BYTES = 512,
    LIST_BYTES = 4096,
};

typedef struct member {
    pid_t pid;
    pid_t parent;
} member;

/* One walk. Pages that no walk has touched cost nothing. */
static member members[TREE_MAX];
static size_t member_count;

static void add_member(pid_t pid, pid_t parent)
{
    if (pid > 0 && member_count < TREE_MAX) {
        members[member_count++] = (member){.pid = pid, .parent = parent};
    }
}

/* Add the children that one thread of `parent` has made: numbers with spaces between them. */
static void add_children_of_thread(pid_t parent, const char *thread)
{
    char path[PATH_BYTES + 256];
    char text[LIST_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    pid_t number = 0;
    ssize_t n;
    while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                number = number * 10 + (text[i] - '0');
            } else {
                add_member(number, parent);
                number = 0;
            }
        }
    }
    add_member(number, parent);
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void add_children(pid_t parent)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = opendir(path);
    struct dirent *entry;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] != '.') {
            add_children_of_thread(parent, entry->d_name);
        }
    }
    if (threads != NULL) {
        (void)closedir(threads);
    }
}

static void walk(void)
{
    member_count = 0;
    add_children(getpid());
    for (size_t i = 0; i < member_count; i++) {
        add_children(members[i].pid);
    }
}

/* Read state and parent of a process: proc(5), /proc/PID/stat. The name in it is in parentheses,
 * and may have some. */
static bool read_stat(pid_t pid, char *ret_state, pid_t *ret_parent)
{
    char path[PATH_BYTES];
    char text[STAT_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (n <= 0) {
        return false;
    }
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    if (end == NULL || strlen(end) < sizeof ") S 1" - 1) {
        return false;
    }
    *ret_state = end[2];
    *ret_parent = (pid_t)strtol(end + 4, NULL, 10);
    return true;
}

/* Send a signal to a process that the walk has found, unless its number means another one by now:
 * the pidfd is taken first, then the process looked at, so both are the same if it still belongs
 * here. Returns whether there was need. */
static bool signal_member(const member *it, int number)
{
    char state = '?';
    pid_t parent = 0;
    bool reached = false;
    int pidfd = (int)syscall(SYS_pidfd_open, it->pid, 0);
    if (pidfd >= 0 && read_stat(it->pid, &state, &parent) &&
        (parent == it->parent || parent == getpid()) &&
        strchr(number == SIGSTOP ? "TtZX" : "ZX", state) == NULL) {
        reached = syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) == 0;
    }
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
    return reached;
}

unsigned guard_tree_signal(int number)
{
    unsigned count = 0;
    walk();
    for (size_t i = 0; i < member_count; i++) {
        count += signal_member(&members[i], number);
    }
    return count;
}

void guard_tree_kill(int rounds)
{
    while (rounds-- > 0 && guard_tree_signal(SIGSTOP) > 0) {
        /* until a walk finds none that still runs */
    }
    (void)guard_tree_signal(SIGKILL);
}
