/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/names.h"

#include "unpack/protocol.h"

#include <stdlib.h>
#include <string.h>

typedef struct one_name {
    char *text; /* without a slash at its end */
    bool is_folder;
} one_name;

struct unpack_names {
    one_name *items;
    size_t count;
    size_t room;
};

/* The length of the UTF-8 character at `at` (Unicode, table 3-7); 0: it is none. */
static size_t utf8_len(const unsigned char *at)
{
    static const struct {
        unsigned char from, to, next_from, next_to;
        size_t len;
    } ROWS[] = {
        {0x00, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    size_t row = 0;
    while (row < sizeof ROWS / sizeof *ROWS && (at[0] < ROWS[row].from || at[0] > ROWS[row].to)) {
        row++;
    }
    if (row == sizeof ROWS / sizeof *ROWS || at[1] < ROWS[row].next_from ||
        at[1] > ROWS[row].next_to) {
        return 0;
    }
    for (size_t i = 2; i < ROWS[row].len; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return ROWS[row].len;
}

static const char *part_problem(const char *part, size_t len)
{
    if (len == 0) {
        return "has an empty part";
    }
    if ((len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.')) {
        return "has \".\" or \"..\" in it";
    }
    return len > 255 ? "has a part of more than 255 bytes" : NULL;
}

const char *unpack_name_problem(const char *name)
{
    size_t len = strlen(name);
    size_t depth = 0;
    if (len == 0 || len > HUB_UNPACK_NAME_BYTES) {
        return "is empty, or too long";
    }
    if (name[0] == '/') {
        return "is absolute";
    }
    for (size_t i = 0; i < len;) {
        size_t step = utf8_len((const unsigned char *)name + i);
        if (step == 0) {
            return "is not UTF-8";
        }
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f || name[i] == '\\') {
            return "has a backslash or a control character in it";
        }
        i += step;
    }
    for (size_t at = 0; at < len; depth++) {
        size_t part = strcspn(name + at, "/");
        const char *problem = part_problem(name + at, part);
        if (problem != NULL) {
            return problem;
        }
        at += part + 1;
    }
    return depth > HUB_UNPACK_DEPTH ? "is too deep" : NULL;
}

unpack_names *unpack_names_create(void)
{
    return calloc(1, sizeof(unpack_names));
}

static bool add(unpack_names *names, const char *name, size_t len, bool is_folder)
{
    if (names->count == names->room) {
        size_t room = names->room > 0 ? 2 * names->room : 256;
        one_name *grown = realloc(names->items, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        names->items = grown;
        names->room = room;
    }
    char *text = strndup(name, len);
    names->items[names->count] = (one_name){.text = text, .is_folder = is_folder};
    names->count += text != NULL;
    return text != NULL;
}

bool unpack_names_add(unpack_names *names, const char *name)
{
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        if (!add(names, name, (size_t)(slash - name), true)) {
            return false;
        }
    }
    size_t len = strlen(name);
    return name[len - 1] == '/' || add(names, name, len, false);
}

static int compare(const void *a, const void *b)
{
    return strcasecmp(((const one_name *)a)->text, ((const one_name *)b)->text);
}

const char *unpack_names_clash(unpack_names *names)
{
    if (names->count > 0) {
        qsort(names->items, names->count, sizeof *names->items, compare);
    }
    for (size_t i = 1; i < names->count; i++) {
        const one_name *one = &names->items[i - 1];
        const one_name *next = &names->items[i];
        bool is_same = strcasecmp(one->text, next->text) == 0;
        bool is_one_folder =
            one->is_folder && next->is_folder && strcmp(one->text, next->text) == 0;
        if (is_same && !is_one_folder) {
            return next->text;
        }
    }
    return NULL;
}
