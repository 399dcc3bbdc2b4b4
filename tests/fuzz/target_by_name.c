/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All fuzz targets as one program: the name that it is called by says which of them it is. Each has its
 * LLVMFuzzerTestOneInput under that name; the build writes their list, targets.inc.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fuzz_target(const uint8_t *data, size_t size);

#define TARGET(name) fuzz_target name;
#include "targets.inc"
#undef TARGET

fuzz_target LLVMFuzzerTestOneInput;

/* The one that the program is called by; ends the process when there is none. */
static fuzz_target *named(const char *name)
{
    static const struct {
        const char *name;
        fuzz_target *run;
    } TARGETS[] = {
#define TARGET(name) {#name, name},
#include "targets.inc"
#undef TARGET
    };
    for (size_t i = 0; i < sizeof TARGETS / sizeof TARGETS[0]; i++) {
        if (strcmp(name, TARGETS[i].name) == 0) {
            return TARGETS[i].run;
        }
    }
    (void)fprintf(stderr, "%s: call it by the name of a target, such as %s\n", name,
                  TARGETS[0].name);
    exit(EXIT_FAILURE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_target *run; /* found with the first input, whose instructions are not counted */
    if (run == NULL) {
        run = named(program_invocation_short_name);
    }
    return run(data, size);
}
