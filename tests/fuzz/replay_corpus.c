/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target without the fuzzer: runs it over every file of the folders given as arguments, and
 * names each with its bytes. ./work counts the instructions of each.
 */
#include "oracle.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What callgrind is told to look at: by its name, so it has to be a function of its own. */
__attribute__((noinline)) static void measured_input(const uint8_t *data, size_t size)
{
    (void)LLVMFuzzerTestOneInput(data, size); /* it aborts when it does not like something */
    __asm__ volatile("");                     /* a call, not a jump: there has to be a return */
}

/* The input lies in a block of exactly its length, as with libFuzzer. */
static bool run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);
    bool ok = file != NULL && data != NULL && fread(data, 1, size, file) == size;
    if (ok) {
        (void)printf("%s %zu\n", path, size);
        if (!FUZZ_ORACLE) {
            (void)LLVMFuzzerTestOneInput(data,
                                         size); /* what libraries do but once is not counted */
        }
        measured_input(data, size);
    } else {
        (void)fprintf(stderr, "cannot read %s\n", path);
    }
    free(data);
    if (file != NULL) {
        (void)fclose(file); /* opened for reading: nothing can be lost */
    }
    return ok;
}

static bool run_folder(const char *folder, size_t *count)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        (void)fprintf(stderr, "cannot open %s\n", folder);
        return false;
    }
    bool ok = true;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[4096];
        struct stat status;
        int len = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (len < 0 || (size_t)len >= sizeof path || stat(path, &status) != 0) {
            (void)fprintf(stderr, "cannot look at %s in %s\n", entry->d_name, folder);
            ok = false;
        } else if (S_ISREG(status.st_mode)) {
            ok = run_file(path, (size_t)status.st_size) && ok;
            (*count)++;
        }
    }
    (void)closedir(entries);
    return ok;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    bool ok = true;
    for (int i = 1; i < argc; i++) {
        ok = run_folder(argv[i], &count) && ok;
    }
    (void)printf("%zu inputs\n", count);
    return ok && count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
