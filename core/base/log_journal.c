/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_journal.h"

#include "base/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int journal = -1;

/* "DEVICE:INODE" of what systemd has connected. */
static bool is_stderr(const char *stream)
{
    struct stat about;
    uintmax_t device;
    uintmax_t inode;
    return stream != NULL && sscanf(stream, "%" SCNuMAX ":%" SCNuMAX, &device, &inode) == 2 &&
           fstat(STDERR_FILENO, &about) == 0 && about.st_dev == device && about.st_ino == inode;
}

bool hub_log_journal_open(const char *stream, const char *socket_path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!is_stderr(stream) || strlen(socket_path) >= sizeof to.sun_path) {
        return false;
    }
    memcpy(to.sun_path, socket_path, strlen(socket_path) + 1);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) != 0) {
        (void)close(fd);
        fd = -1;
    }
    hub_log_journal_close();
    journal = fd;
    return fd >= 0;
}

void hub_log_journal_close(void)
{
    if (journal >= 0) {
        (void)close(journal);
    }
    journal = -1;
}

/* A field, in the form that takes any bytes: its length goes before the value. */
static void add(hub_buf *out, const char *prefix, const char *key, hub_str value)
{
    uint64_t left = value.len;
    hub_buf_add(out, hub_str_of(prefix));
    for (; *key != '\0'; key++) {
        if (isupper((unsigned char)*key) && *prefix != '\0') {
            hub_buf_add_char(out, '_'); /* durationMs is DURATION_MS */
        }
        hub_buf_add_char(out,
                         isalnum((unsigned char)*key) ? (char)toupper((unsigned char)*key) : '_');
    }
    hub_buf_add_char(out, '\n');
    for (int i = 0; i < 8; i++, left >>= 8) {
        hub_buf_add_char(out, (char)(unsigned char)(left & 0xff));
    }
    hub_buf_add(out, value);
    hub_buf_add_char(out, '\n');
}

static void add_fields(hub_buf *out, const hub_log_field *fields, hub_log_shown *shown)
{
    for (; fields->key != NULL; fields++) {
        hub_buf masked;
        char number[24];
        hub_buf_init(&masked, SIZE_MAX / 4);
        hub_str value = shown(fields, &masked);
        if (fields->is_number && fields->text.len == 0) {
            (void)snprintf(number, sizeof number, "%" PRId64, fields->number); /* fits */
            value = hub_str_of(number);
        }
        add(out, "PATCHBAY_", fields->key, value);
        hub_buf_fini(&masked);
    }
}

bool hub_log_journal_put(hub_log_level level, const char *event, const hub_log_field *fields,
                         hub_log_shown *shown, hub_str line)
{
    static const char *const PRIORITIES[] = {[HUB_LOG_DEBUG] = "7",
                                             [HUB_LOG_INFO] = "6",
                                             [HUB_LOG_WARNING] = "4",
                                             [HUB_LOG_ERROR] = "3"};
    if (journal < 0 || level >= HUB_LOG_OFF) {
        return false;
    }
    hub_buf out;
    hub_buf_init(&out, 4 * HUB_LIMIT_LOG_LINE_BYTES);
    hub_str text = hub_str_trim(line);
    bool has_time = text.len > 0 && text.ptr[0] != '{';
    size_t space =
        has_time ? hub_str_find(text, HUB_STR(" ")) : SIZE_MAX; /* it has its own clock */
    add(&out, "", "MESSAGE", space != SIZE_MAX ? hub_str_from(text, space + 1) : text);
    add(&out, "", "PRIORITY", hub_str_of(PRIORITIES[level]));
    add(&out, "", "SYSLOG_IDENTIFIER", HUB_STR("patchbay"));
    add(&out, "PATCHBAY_", "event", hub_str_of(event));
    add_fields(&out, fields, shown);
    bool is_sent = hub_buf_ok(&out) &&
                   send(journal, out.ptr, out.len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)out.len;
    hub_buf_fini(&out);
    return is_sent;
}
