/* SPDX-License-Identifier: Apache-2.0 */
#include "zone_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEAREST_MAX 5

/* ---- names ----------------------------------------------------------------------------------- */

const char *time_zone_directory(void)
{
    const char *directory = getenv("TZDIR");
    return directory != NULL && directory[0] == '/' ? directory : "/usr/share/zoneinfo";
}

/* Whether `name` could be a zone's: no path out of the directory, nothing but [A-Za-z0-9_+/-]. */
static int check_name(const char *name, time_problem *problem)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_+-/";
    size_t len = strlen(name);
    if (len == 0 || len >= TIME_ZONE_NAME_BYTES || strspn(name, allowed) != len || name[0] == '/' ||
        name[len - 1] == '/' || strstr(name, "//") != NULL) {
        return time_refuse(problem,
                           "'%.64s' is not a zone name; give an IANA name such as 'Europe/Berlin', "
                           "'UTC', or an offset such as '+02:00'",
                           name);
    }
    return 1;
}

static char fold(char c)
{
    return (char)(c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static void fold_into(char folded[TIME_ZONE_NAME_BYTES], const char *text)
{
    size_t i = 0;
    for (; i + 1 < TIME_ZONE_NAME_BYTES && text[i] != '\0'; i++) {
        folded[i] = fold(text[i]);
    }
    folded[i] = '\0';
}

int time_name_matches(const char *name, const char *query)
{
    char a[TIME_ZONE_NAME_BYTES];
    char b[TIME_ZONE_NAME_BYTES];
    fold_into(a, name);
    fold_into(b, query);
    return strstr(a, b) != NULL;
}

/* ---- suggesting -------------------------------------------------------------------------------
 */

/* How many letters differ (Levenshtein). Both texts are shorter than TIME_ZONE_NAME_BYTES. */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[TIME_ZONE_NAME_BYTES];
    size_t len = strlen(b);
    for (size_t j = 0; j <= len; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < len; j++) {
            unsigned replaced = diagonal + (a[i] != b[j]);
            unsigned inserted = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = replaced < inserted ? replaced : inserted;
        }
    }
    return row[len];
}

/* Smaller is more alike: the city is what people get right, so it counts like the whole name. */
static unsigned rate(const char *name, const char *query)
{
    char folded[TIME_ZONE_NAME_BYTES];
    fold_into(folded, name);
    const char *city = strrchr(folded, '/') != NULL ? strrchr(folded, '/') + 1 : folded;
    const char *wanted = strrchr(query, '/') != NULL ? strrchr(query, '/') + 1 : query;
    if (strcmp(folded, query) == 0) {
        return 0;
    }
    unsigned whole = 2 * edit_distance(folded, query);
    unsigned part = 2 * edit_distance(city, wanted) + 1;
    unsigned best = whole < part ? whole : part;
    if (strlen(query) >= 3 && strstr(folded, query) != NULL && best > 4) {
        best = 4;
    }
    return best;
}

size_t time_names_nearest(const time_names *names, const char *query, const char **ret_nearest,
                          size_t max)
{
    char folded[TIME_ZONE_NAME_BYTES];
    unsigned ratings[NEAREST_MAX];
    size_t count = 0;
    fold_into(folded, query);
    unsigned limit = (unsigned)strlen(folded) + 1; /* half of the letters */
    max = max < NEAREST_MAX ? max : NEAREST_MAX;
    for (size_t i = 0; i < names->count; i++) {
        unsigned rating = rate(names->names[i], folded);
        size_t at = count;
        while (at > 0 && ratings[at - 1] > rating) {
            at--;
        }
        if (rating > limit || at >= max) {
            continue;
        }
        count += count < max;
        for (size_t j = count - 1; j > at; j--) {
            ratings[j] = ratings[j - 1];
            ret_nearest[j] = ret_nearest[j - 1];
        }
        ratings[at] = rating;
        ret_nearest[at] = names->names[i];
    }
    return count;
}

static int refuse_unknown(const char *directory, const char *name, time_problem *problem)
{
    const char *nearest[3];
    char list[3 * (TIME_ZONE_NAME_BYTES + 4)] = "";
    size_t len = 0;
    time_names names = time_names_list(directory);
    size_t count = time_names_nearest(&names, name, nearest, 3);
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(list + len, sizeof list - len, "%s'%s'", i > 0 ? ", " : "",
                                nearest[i]);
    }
    if (names.count == 0) {
        (void)time_refuse(problem,
                          "there are no time zones in %.200s: install the package tzdata, or point "
                          "TZDIR to them; 'UTC' and offsets work without",
                          directory);
    } else {
        (void)time_refuse(problem, "unknown zone '%s'; %s%s", name,
                          count > 0 ? "the nearest names are " : "find names with the tool 'zones'",
                          list);
    }
    time_names_free(&names);
    return 0;
}

/* ---- loading ----------------------------------------------------------------------------------
 */

/* "+02:00", "-0330", "+2". */
static int parse_offset(const char *text, int32_t *ret_offset)
{
    int digits[4] = {0};
    size_t count = 0;
    if (text[0] != '+' && text[0] != '-') {
        return 0;
    }
    for (const char *at = text + 1; *at != '\0'; at++) {
        if (*at == ':' && count == 2 && at[1] != '\0') {
            continue;
        }
        if (*at < '0' || *at > '9' || count == 4) {
            return 0;
        }
        digits[count++] = *at - '0';
    }
    if (count == 1) {
        digits[1] = digits[0];
        digits[0] = 0;
    } else if (count != 2 && count != 4) {
        return 0;
    }
    int hours = digits[0] * 10 + digits[1];
    int minutes = digits[2] * 10 + digits[3];
    if (hours > 23 || minutes > 59) {
        return 0;
    }
    *ret_offset = (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return 1;
}

/* The whole of a small regular file, or NULL with errno. */
static unsigned char *read_file(const char *path, size_t max, size_t *ret_len)
{
    struct stat info;
    unsigned char *bytes = NULL;
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > (off_t)max) {
        errno = EINVAL;
        goto out;
    }
    bytes = (unsigned char *)malloc((size_t)info.st_size + 1);
    while (bytes != NULL && len < (size_t)info.st_size) {
        ssize_t got = read(fd, bytes + len, (size_t)info.st_size - len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        len += (size_t)got;
    }
    if (bytes != NULL) {
        bytes[len] = '\0';
    }
    *ret_len = len;
out:
    (void)close(fd);
    return bytes;
}

/* Read one zone file; *ret_found tells a bad file from a missing one. */
static int load_file(const char *directory, const char *name, time_zone *zone, int *ret_found,
                     time_problem *problem)
{
    char path[PATH_MAX];
    time_problem why;
    size_t len = 0;
    *ret_found = 0;
    int path_len = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (path_len < 0 || (size_t)path_len >= sizeof path) {
        return time_refuse(problem, "the path of the zone directory is too long");
    }
    unsigned char *bytes = read_file(path, TIME_ZONE_FILE_BYTES, &len);
    if (bytes == NULL) {
        return time_refuse(problem, "%.200s cannot be read", path);
    }
    *ret_found = 1;
    int ok = time_zone_read(zone, name, bytes, len, &why);
    free(bytes);
    return ok ? 1
              : time_refuse(problem, "the zone file %.200s is unusable: %.200s", path, why.text);
}

int time_zone_load(const char *directory, const char *name, time_zone *zone, time_problem *problem)
{
    int32_t offset;
    int found = 0;
    if (strcmp(name, "UTC") == 0 || strcmp(name, "Z") == 0) {
        time_zone_fixed(zone, "UTC", 0); /* so that it needs no tzdata */
        return 1;
    }
    if (parse_offset(name, &offset)) {
        time_zone_fixed(zone, NULL, offset);
        return 1;
    }
    if (!check_name(name, problem)) {
        /* "New York" is no path, but as good a hint as any. */
        int is_hint = strchr(name, ' ') != NULL && strlen(name) < TIME_ZONE_NAME_BYTES;
        return is_hint ? refuse_unknown(directory, name, problem) : 0;
    }
    if (load_file(directory, name, zone, &found, problem)) {
        return 1;
    }
    return found ? 0 : refuse_unknown(directory, name, problem);
}

/* ---- the system's zone ------------------------------------------------------------------------
 */

static int is_zone(const char *directory, const char *name)
{
    time_zone zone;
    time_problem problem;
    int found;
    return check_name(name, &problem) && load_file(directory, name, &zone, &found, &problem);
}

void time_system_zone(const char *directory, char name[TIME_ZONE_NAME_BYTES])
{
    static const char marker[] = "/zoneinfo/";
    char link[PATH_MAX];
    const char *candidate = NULL;
    const char *tz = getenv("TZ");
    unsigned char *file = NULL;
    size_t file_len = 0;
    ssize_t len = readlink("/etc/localtime", link, sizeof link - 1);
    if (len > 0) {
        link[len] = '\0';
        const char *found = strstr(link, marker);
        candidate = found != NULL ? found + strlen(marker) : NULL;
    }
    if (candidate == NULL) {
        file = read_file("/etc/timezone", TIME_ZONE_NAME_BYTES, &file_len);
        if (file != NULL) {
            file[strcspn((const char *)file, " \t\r\n")] = '\0';
            candidate = (const char *)file;
        }
    }
    if (tz != NULL && is_zone(directory, tz + (tz[0] == ':'))) {
        candidate = tz + (tz[0] == ':');
    }
    int ok = candidate != NULL && is_zone(directory, candidate);
    (void)snprintf(name, TIME_ZONE_NAME_BYTES, "%.*s", TIME_ZONE_NAME_BYTES - 1,
                   ok ? candidate : "UTC");
    free(file);
}

/* ---- listing ----------------------------------------------------------------------------------
 */

/* Whether an entry is a zone file, a folder to look into ('d'), or neither (0). */
static char classify(int dir_fd, const char *entry, int depth)
{
    struct stat info;
    char magic[4];
    /* Copies of everything (posix, right), and names that are no places. */
    static const char *const skipped[] = {"posix", "right", "posixrules", "localtime", "Factory"};
    for (size_t i = 0; depth == 0 && i < sizeof skipped / sizeof skipped[0]; i++) {
        if (strcmp(entry, skipped[i]) == 0) {
            return 0;
        }
    }
    if (fstatat(dir_fd, entry, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) {
        return 'd';
    }
    int fd = openat(dir_fd, entry, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int is_zone_file = fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
                       memcmp(magic, "TZif", sizeof magic) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return is_zone_file ? 'z' : 0;
}

static void add_name(time_names *names, size_t *capacity, const char *name)
{
    if (names->count == *capacity) {
        size_t grown = *capacity > 0 ? *capacity * 2 : 1024;
        void *memory =
            grown <= TIME_NAMES_MAX ? realloc(names->names, grown * sizeof names->names[0]) : NULL;
        if (memory == NULL) {
            return; /* a shorter list still helps */
        }
        names->names = (char(*)[TIME_ZONE_NAME_BYTES])memory;
        *capacity = grown;
    }
    (void)snprintf(names->names[names->count++], TIME_ZONE_NAME_BYTES, "%s", name);
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by TIME_NAMES_DEPTH */
static void list_folder(int fd, const char *prefix, int depth, time_names *names, size_t *capacity)
{
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close(fd);
        return;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[TIME_ZONE_NAME_BYTES];
        time_problem problem;
        int len = snprintf(name, sizeof name, "%s%s", prefix, entry->d_name);
        if (len < 0 || (size_t)len + 1 >= sizeof name || !check_name(name, &problem)) {
            continue; /* ".", "zone.tab", … */
        }
        char kind = classify(dirfd(folder), entry->d_name, depth);
        if (kind == 'z') {
            add_name(names, capacity, name);
        } else if (kind == 'd' && depth + 1 < TIME_NAMES_DEPTH) {
            int inner = openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            name[len] = '/';
            name[len + 1] = '\0';
            if (inner >= 0) {
                list_folder(inner, name, depth + 1, names, capacity);
            }
        }
    }
    (void)closedir(folder);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

time_names time_names_list(const char *directory)
{
    time_names names = {0};
    size_t capacity = 0;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        list_folder(fd, "", 0, &names, &capacity);
    }
    if (names.count > 0) {
        qsort(names.names, names.count, sizeof names.names[0], compare_names);
    }
    return names;
}

void time_names_free(time_names *names)
{
    free(names->names);
    memset(names, 0, sizeof *names);
}
