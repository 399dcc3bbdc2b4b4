/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor.h"

#include "cli/probe.h"
#include "hub/active/startup.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/report/misnamed.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FINDINGS_BYTES = 4 * 1024 * 1024 };

/* ---- in the process that loads the plugins ----------------------------------------------------- */

/* Where findings go: into a file without a name, which who tells them has, too. */
typedef struct findings {
    cli_options *options;
    int fd;
} findings;

static cli_probe *current_probe;

static void on_step(const char *what)
{
    cli_probe_step(current_probe, what);
}

/* Two texts, each with a NUL behind it: a toolset's key or nothing, and what is wrong. */
static void keep(const findings *to, const char *key, const char *text)
{
    (void)dprintf(to->fd, "%s%c%s%c", key, '\0', text, '\0');
}

static void on_bad(void *ctx, const hub_toolset *toolset, const char *reason)
{
    hub_error said;
    if (toolset == NULL) {
        keep(ctx, "", reason);
        return;
    }
    (void)hub_fail(&said, HUB_EINVAL, "%s: " HUB_STR_FMT, hub_toolset_settings_of(toolset)->source,
                   HUB_STR_ARG(hub_toolset_own_words(toolset, reason)));
    keep(ctx, hub_toolset_key(toolset), said.text);
}

static void on_doubt(void *ctx, const char *reason)
{
    keep(ctx, "?", reason); /* no key of a toolset */
}

static int look(void *ctx, cli_probe *probe)
{
    findings *to = ctx;
    cli_local *local = NULL;
    cli_probe_step(probe, "the configuration");
    current_probe = probe;
    to->options->on_step = on_step;
    int status = cli_local_open(to->options, false, &local);
    if (status == EXIT_OK) {
        hub_orchestrator_check(cli_local_hub(local), on_bad, to);
        hub_misnamed_in_policies(cli_local_hub(local), on_doubt, to);
        hub_misnamed_at_start(cli_local_hub(local), on_doubt, to);
        hub_startup_crowded(cli_local_hub(local), on_doubt, to);
    }
    cli_local_close(local);
    return status;
}

/* ---- telling ----------------------------------------------------------------------------------- */

/* What helps, where the sentence does not say it; NULL: it does. */
static const char *cure_of(const char *text)
{
    if (strstr(text, "there is no plugin \"mcp_remote\"") != NULL) {
        return "apt install patchbay-plugins-remote";
    }
    if (strstr(text, "was refused") != NULL || strstr(text, "did you mean") != NULL) {
        return NULL;
    }
    return strstr(text, "there is no plugin") != NULL
               ? "put its file into a plugins folder; patchbay list modules names those that are "
                 "there"
               : "correct that line";
}

static void tell(cli_examination *all, const char *key, const char *text)
{
    if (key[0] == '\0') {
        cli_doctor_tell(all, CLI_BAD, "manifest", text, NULL);
    } else if (strcmp(key, "?") == 0) {
        cli_doctor_tell(all, CLI_DOUBTFUL, "manifest", text, NULL);
    } else {
        cli_doctor_tell_of(all, CLI_BAD, key, text, cure_of(text));
    }
}

static void tell_all(cli_examination *all, int fd)
{
    hub_buf found;
    hub_buf_init(&found, FINDINGS_BYTES);
    ssize_t got = 1;
    for (off_t at = 0; got > 0; at += got) {
        char *room = hub_buf_reserve(&found, 65536);
        got = room != NULL ? pread(fd, room, 65536, at) : 0;
        found.len += got > 0 ? (size_t)got : 0;
    }
    hub_buf_add(&found, (hub_str){.ptr = "\0", .len = 2}); /* of who was ended while it wrote */
    for (size_t at = 0; hub_buf_ok(&found) && at + 2 < found.len;) {
        const char *key = found.ptr + at;
        const char *text = key + strlen(key) + 1;
        tell(all, key, text);
        at += strlen(key) + strlen(text) + 2;
    }
    hub_buf_fini(&found);
}

void cli_doctor_toolsets(cli_examination *all)
{
    findings found = {.options = all->options, .fd = memfd_create("findings", MFD_CLOEXEC)};
    int status = found.fd >= 0 ? cli_probe_run(look, &found) : EXIT_INTERNAL;
    if (found.fd >= 0) {
        tell_all(all, found.fd);
        (void)close(found.fd);
    }
    if (status != EXIT_OK) {
        all->is_unsafe = true;
        cli_doctor_tell(all, CLI_BAD, "toolsets",
                        "they cannot be looked at: standard error says why",
                        "of a plugin: patchbay module inspect FILE.so");
    }
}
