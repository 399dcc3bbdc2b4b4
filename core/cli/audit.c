/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay audit verify FILE…: whether audit files are as hubs have written them. */
#include "cli/cli.h"

#include "base/limits.h"
#include "hub/audit/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGED = 1 }; /* the exit code of files that are not as they were written */

static void tell_problem(void *ctx, const char *file, uint64_t line, const char *what)
{
    (void)ctx;
    (void)printf("%s:%" PRIu64 ": %s\n", file, line, what);
}

static void tell_note(void *ctx, const char *file, uint64_t line, const char *what)
{
    (void)ctx;
    (void)fprintf(stderr, "%s:%" PRIu64 ": note: %s\n", file, line, what);
}

/* All lines of a file; what is longer than a line of the audit can be is none. False: it cannot be
 * read, which has been said. */
static bool verify_file(hub_audit_verifier *verifier, const char *name)
{
    static char line[HUB_LIMIT_AUDIT_LINE_BYTES + 2];
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    if (file == NULL) {
        cli_complain("%s: %s", name, strerror(errno));
        return false;
    }
    hub_audit_verifier_begin_file(verifier, file == stdin ? "stdin" : name);
    size_t len = 0;
    int c;
    while ((c = getc_unlocked(file)) != EOF) {
        if (c == '\n') {
            hub_audit_verifier_take(verifier, (hub_str){.ptr = line, .len = len}, true);
            len = 0;
        } else if (len < sizeof line) {
            line[len++] = (char)c;
        }
    }
    if (len > 0) {
        hub_audit_verifier_take(verifier, (hub_str){.ptr = line, .len = len}, false);
    }
    bool is_read = ferror(file) == 0;
    if (!is_read) {
        cli_complain("%s: %s", name, strerror(errno));
    }
    if (file != stdin) {
        (void)fclose(file); /* it was only read */
    }
    return is_read;
}

static const char *ending(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static int conclude(const hub_audit_verifier *verifier)
{
    hub_audit_verified found = hub_audit_verifier_count(verifier);
    if (found.unlinked > 0) {
        (void)fprintf(stderr,
                      "note: %" PRIu64
                      " line%s at the beginning cannot be verified: an older version, which did "
                      "not link lines, has written %s\n",
                      found.unlinked, ending(found.unlinked), found.unlinked == 1 ? "it" : "them");
    }
    if (found.problems > 0) {
        (void)printf("%" PRIu64 " problem%s in %" PRIu64 " line%s\n", found.problems,
                     ending(found.problems), found.lines, ending(found.lines));
        return CHANGED;
    }
    (void)printf("%" PRIu64 " line%s of %" PRIu64
                 " process%s, all as they were written; the last one has the digest %s\n",
                 found.lines, ending(found.lines), found.chains, found.chains == 1 ? "" : "es",
                 found.last);
    return EXIT_OK;
}

int cli_audit(cli_options *options)
{
    if (options->argument_count < 2 || strcmp(options->arguments[0], "verify") != 0) {
        cli_complain("say what to do: audit verify FILE..., the oldest file first");
        return EXIT_USAGE;
    }
    const hub_audit_verdicts verdicts = {.on_problem = tell_problem, .on_note = tell_note};
    hub_audit_verifier *verifier = hub_audit_verifier_create(&verdicts);
    if (verifier == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    int status = EXIT_OK;
    for (size_t i = 1; status == EXIT_OK && i < options->argument_count; i++) {
        status = verify_file(verifier, options->arguments[i]) ? EXIT_OK : EXIT_CONFIG;
    }
    status = status == EXIT_OK ? conclude(verifier) : status;
    hub_audit_verifier_destroy(verifier);
    return status;
}
