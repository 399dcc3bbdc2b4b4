/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast hub_json_check passes over files, by each variant of the scanner that this processor
 * can run: "FILE VARIANT BYTES NANOSECONDS" for each, the fastest of many runs.
 *
 *     scan RUNS FILE…
 */
#include "wire/json.h"
#include "wire/json_string.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The whole file; the program ends when it cannot be read. */
static hub_str read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    char *bytes = size > 0 ? malloc((size_t)size) : NULL;
    if (bytes == NULL || fseek(file, 0, SEEK_SET) != 0 ||
        fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        (void)fprintf(stderr, "scan: cannot read %s\n", path);
        exit(1);
    }
    (void)fclose(file);
    return (hub_str){.ptr = bytes, .len = (size_t)size};
}

static double measure(hub_str text, unsigned long runs)
{
    double best = 0;
    for (unsigned long i = 0; i < runs; i++) {
        double start = now_ns();
        hub_err err = hub_json_check(text, NULL, NULL);
        double took = now_ns() - start;
        if (err != HUB_OK) {
            (void)fputs("scan: the file is not JSON\n", stderr);
            exit(1);
        }
        best = i == 0 || took < best ? took : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    unsigned long runs = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (runs == 0) {
        (void)fputs("usage: scan RUNS FILE...\n", stderr);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        hub_str text = read_file(argv[i]);
        const char *variant;
        for (size_t v = 0; (variant = hub_json_variant(v)) != NULL; v++) {
            if (hub_json_use_variant(variant)) {
                (void)printf("%s %s %zu %.0f\n", argv[i], variant, text.len, measure(text, runs));
            }
        }
        free((void *)(uintptr_t)text.ptr);
    }
    return 0;
}
