/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

enum { QUESTION_BYTES = 64 * 1024 };

bool cli_ask_read(hub_buf *value, bool is_line)
{
    for (;;) {
        char *room = hub_buf_reserve(value, 1024);
        ssize_t count = room != NULL ? read(STDIN_FILENO, room, 1024) : 0;
        if (count < 0 && errno == EINTR) {
            continue;
        }
        value->len += count > 0 ? (size_t)count : 0;
        if (count <= 0 || (is_line && value->ptr[value->len - 1] == '\n')) {
            return count >= 0;
        }
    }
}

bool cli_ask_can(void)
{
    return isatty(STDIN_FILENO) == 1;
}

bool cli_ask_line(const char *question, bool is_hidden, hub_buf *value)
{
    struct termios before;
    if (tcgetattr(STDIN_FILENO, &before) != 0) {
        return false;
    }
    struct termios quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    quiet.c_lflag |= ECHONL;
    bool is_read = tcsetattr(STDIN_FILENO, TCSAFLUSH, is_hidden ? &quiet : &before) == 0;
    if (is_read) { /* what is typed from here on counts */
        hub_buf line;
        hub_buf_init(&line, QUESTION_BYTES);
        cli_add_line(&line, hub_str_of(question));
        (void)fwrite(line.ptr, 1, line.len, stderr);
        is_read = hub_buf_ok(&line) && cli_ask_read(value, true);
        hub_buf_fini(&line);
    }
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    return is_read;
}

bool cli_ask_yes(const char *question)
{
    hub_buf line;
    hub_buf_init(&line, 4096);
    bool is_read = cli_ask_line(question, false, &line);
    hub_str word = hub_str_trim(hub_buf_str(&line));
    bool is_yes = is_read && (hub_str_eq_nocase(word, HUB_STR("y")) ||
                              hub_str_eq_nocase(word, HUB_STR("yes")));
    hub_buf_fini(&line);
    return is_yes;
}
