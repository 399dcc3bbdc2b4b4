/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchbay-settings: writes schemas/manifest.schema.json, examples/manifest-reference.yaml and
 * docs/ERRORS.md from the tables of keys and errors, or says whether they are as the tables have it; or prints the manual page
 * patchbay.yaml(5), as scdoc reads it, or the first part of docs/REFERENCE.md (cmake/reference.py).
 */
#include "config/describe/describe.h"

#include "base/limits.h"
#include "config/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *path; /* below the tree's root */
    void (*describe)(hub_buf *out);
} FILES[] = {
    {"schemas/manifest.schema.json", hub_describe_schema},
    {"examples/manifest-reference.yaml", hub_describe_reference},
    {"docs/ERRORS.md", hub_describe_errors},
};

static int complain(const char *path, const char *reason)
{
    (void)fprintf(stderr, "patchbay-settings: %s: %s\n", path, reason);
    return EXIT_FAILURE;
}

static int write_file(const char *path, hub_str text)
{
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && fwrite(text.ptr, 1, text.len, file) == text.len;
    if (file != NULL && fclose(file) != 0) {
        is_written = false;
    }
    return is_written ? EXIT_SUCCESS : complain(path, strerror(errno));
}

/* The number of the first line in which two texts differ. */
static size_t differing_line(hub_str a, hub_str b)
{
    size_t line = 1;
    for (size_t i = 0; i < a.len && i < b.len && a.ptr[i] == b.ptr[i]; i++) {
        line += a.ptr[i] == '\n';
    }
    return line;
}

static int check_file(const char *path, hub_str text)
{
    hub_buf found;
    hub_error why = {.text = ""};
    hub_buf_init(&found, HUB_LIMIT_CONFIG_BYTES);
    int status = EXIT_SUCCESS;
    if (hub_file_read(path, &found, NULL, &why) != HUB_OK) {
        status = complain(path, why.text);
    } else if (!hub_str_eq(hub_buf_str(&found), text)) {
        char reason[160];
        (void)snprintf(
            reason, sizeof reason,
            "line %zu is not as the tables (core/config, core/wire/errors.h) have it: run "
            "`ninja -C build/dev settings`",
            differing_line(hub_buf_str(&found), text));
        status = complain(path, reason);
    }
    hub_buf_fini(&found);
    return status;
}

static int print(const char *name, void (*describe)(hub_buf *out))
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    describe(&text);
    int status = hub_buf_ok(&text) ? EXIT_SUCCESS : complain(name, "out of memory");
    if (status == EXIT_SUCCESS) {
        (void)fwrite(text.ptr, 1, text.len, stdout);
    }
    hub_buf_fini(&text);
    return status;
}

int main(int argc, char **argv)
{
    bool is_write = argc > 1 && strcmp(argv[1], "write") == 0;
    bool is_check = argc > 1 && strcmp(argv[1], "check") == 0;
    const char *root = argc > 2 ? argv[2] : ".";
    if (argc == 2 && strcmp(argv[1], "manual") == 0) {
        return print("manual", hub_describe_manual);
    }
    if (argc == 2 && strcmp(argv[1], "tables") == 0) {
        return print("tables", hub_describe_tables);
    }
    if (argc > 3 || (!is_write && !is_check)) {
        (void)fputs("usage: patchbay-settings write|check [ROOT OF THE TREE] | manual | tables\n",
                    stderr);
        return 2;
    }
    int status = EXIT_SUCCESS;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char path[4096];
        hub_buf text;
        hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
        FILES[i].describe(&text);
        (void)snprintf(path, sizeof path, "%s/%s", root, FILES[i].path);
        int done = !hub_buf_ok(&text) ? complain(path, "out of memory")
                   : is_write         ? write_file(path, hub_buf_str(&text))
                                      : check_file(path, hub_buf_str(&text));
        status = done != EXIT_SUCCESS ? done : status;
        hub_buf_fini(&text);
    }
    return status;
}
