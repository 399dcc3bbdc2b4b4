/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reload.h"

#include "base/cause.h"
#include "config/stored_secrets.h"
#include "config/watch.h"
#include "hub/admin/admin.h"
#include "hub/audit/audit.h"
#include "hub/kernel/hub.h"
#include "hub/reload/reload.h"
#include "modules/worker.h"

#include <stdlib.h>

enum { END_MS = 500 /* how long a read may still take when the hub stops */ };

struct cli_reloader {
    struct ev_loop *loop;
    cli_options *options;
    hub_config **config;
    hub_orchestrator *hub;
    cli_listeners *listeners;
    hub_config_watch *watch;  /* NULL: files are not watched */
    hub_state_watch *secrets; /* NULL: the configuration has none of the store */
    hub_worker_pool *thread;
    ev_async on_read;
    bool is_reading;
    bool is_due;         /* once more, when the read has ended … */
    const char *by;      /* … of the read under way, a word of base/cause.h … */
    const char *next_by; /* … and of the next one */

    /* Of the thread while is_reading, else of the loop. */
    hub_config *next;
    hub_error why; /* when next is NULL */
};

/* ---- reading --------------------------------------------------------------------------------- */

/* A pipe can be read once only, and an empty manifest is one that somebody has begun to write. */
static hub_err check_files(const hub_config *config, hub_error *reterr)
{
    for (const hub_config_file *file = config->files; file != NULL; file = file->next) {
        if (file->is_manifest && !file->stamp.is_regular) {
            return hub_fail(reterr, HUB_EINVAL,
                            "%s: it is not a regular file, which cannot be read again: restart "
                            "instead",
                            file->path);
        }
        if (file->is_manifest && file->stamp.size == 0) {
            return hub_fail(reterr, HUB_EINVAL,
                            "%s: it is empty: write {} for a configuration without anything",
                            file->path);
        }
    }
    return HUB_OK;
}

/* Before anything is opened: to open a pipe may be to wait. */
static hub_err check_readable(const hub_config *config, hub_error *reterr)
{
    hub_config now = {.files = NULL};
    hub_err err = HUB_OK;
    for (const hub_config_file *file = config->files; err == HUB_OK && file != NULL;
         file = file->next) {
        hub_config_file again = *file;
        again.next = NULL;
        again.stamp = hub_file_look(file->path);
        now.files = &again;
        err = again.stamp.inode == 0 ? HUB_OK : check_files(&now, reterr);
    }
    return err;
}

static bool has_toolset(const hub_config *config, const char *key)
{
    size_t at = 0;
    while (at < config->settings.toolset_count &&
           strcmp(key, config->settings.toolsets[at].key) != 0) {
        at++;
    }
    return at < config->settings.toolset_count;
}

/* An entry that cannot be served is left out at a start. Of what is served, it would be a removal
 * that nobody asked for, unless another entry has the name: then that one is served, as at a start. */
static hub_err check_refused(const hub_config *current, const hub_config *next, hub_error *reterr)
{
    for (size_t i = 0; i < next->refused_count; i++) {
        const hub_config_refused *refused = &next->refused[i];
        if (refused->key != NULL && has_toolset(current, refused->key) &&
            !has_toolset(next, refused->key)) {
            return hub_fail(reterr, HUB_EINVAL, "%s", refused->text);
        }
    }
    return HUB_OK;
}

/* [worker] */
static void read_files(void *arg)
{
    cli_reloader *reloader = arg;
    reloader->next = NULL;
    reloader->why = (hub_error){.code = HUB_OK};
    hub_err err = check_readable(*reloader->config, &reloader->why);
    if (err == HUB_OK) {
        err = cli_read_config(reloader->options, &reloader->next, &reloader->why);
    }
    if (err == HUB_OK) {
        err = check_files(reloader->next, &reloader->why);
    }
    if (err == HUB_OK) {
        err = check_refused(*reloader->config, reloader->next, &reloader->why);
    }
    if (err == HUB_OK) {
        err = hub_config_load_network(reloader->next, &reloader->why);
    }
    if (err != HUB_OK) {
        hub_config_destroy(reloader->next);
        reloader->next = NULL;
    }
}

/* [worker] */
static void tell_loop(void *arg, bool ran)
{
    cli_reloader *reloader = arg;
    if (ran) {
        ev_async_send(reloader->loop, &reloader->on_read);
    }
}

static void refuse(const cli_reloader *reloader, const hub_error *why)
{
    hub_reload_note_refusal(reloader->hub, why);
    hub_log(HUB_LOG_ERROR, "config.refused", HUB_F_TEXT("reason", why->text),
            HUB_F_TEXT("effect", "nothing has changed"), HUB_F_TEXT("by", reloader->by));
}

void cli_reload(cli_reloader *reloader, const char *by)
{
    reloader->is_due = reloader->is_reading;
    reloader->next_by = by;
    if (reloader->is_reading) {
        return;
    }
    reloader->by = by;
    hub_err err = hub_worker_submit(reloader->thread, read_files, tell_loop, reloader);
    if (err == HUB_OK) {
        reloader->is_reading = true;
    } else {
        hub_error why;
        (void)hub_fail(&why, err, "the files cannot be read: %s", hub_err_text(err));
        refuse(reloader, &why);
    }
}

static void on_file_change(void *ctx)
{
    cli_reload(ctx, HUB_BY_FILES);
}

/* ---- changing -------------------------------------------------------------------------------- */

static void watch_files(cli_reloader *reloader)
{
    hub_error why = {.code = HUB_OK};
    hub_config_watch *watch = NULL;
    if (hub_config_watch_create(*reloader->config, reloader->loop, on_file_change, reloader, &watch,
                                &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "config.not_watched", HUB_F_TEXT("reason", why.text),
                HUB_F_TEXT("advice", "send SIGHUP to have it reloaded"));
        return; /* what was watched until now still is */
    }
    hub_config_watch_destroy(reloader->watch);
    reloader->watch = watch;
}

static void on_secret_change(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    (void)event;
    (void)changed;
    cli_reload(ctx, HUB_BY_STORE);
}

/* A secret that is set again is as good as a file that changes. From the first one on: a store that
 * holds none is not opened. */
static void watch_secrets(cli_reloader *reloader)
{
    const hub_state_range all = {.kind = &HUB_SECRET_KIND, .is_of_all = true};
    hub_error why = {.code = HUB_OK};
    if (!(*reloader->config)->has_stored_secrets || reloader->secrets != NULL) {
        return;
    }
    if (hub_state_watch_create(hub_store_of(reloader->hub), &all, on_secret_change, reloader,
                               &reloader->secrets, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "config.not_watched", HUB_F_TEXT("reason", why.text),
                HUB_F_TEXT("advice", "send SIGHUP when a secret was set"));
    }
}

/* The file that the log goes to may be another one; if it cannot be opened, the one before is kept. */
static void follow_log(const char *path)
{
    hub_error why = {.code = HUB_OK};
    if (hub_log_to_file(path, &why) != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "log.not_changed", HUB_F_TEXT("reason", why.text));
    }
}

static void report_done(const hub_config *config, const hub_reload_report *report)
{
    for (size_t i = 0; i < config->warning_count; i++) {
        hub_log(HUB_LOG_WARNING, "config.warning", HUB_F_TEXT("text", config->warnings[i]));
    }
    for (size_t i = 0; i < config->refused_count; i++) {
        hub_log(HUB_LOG_ERROR, "config.left_out", HUB_F_TEXT("text", config->refused[i].text));
    }
    if (report->restart.count > 0) {
        hub_log(HUB_LOG_WARNING, "config.needs_restart", HUB_F_TEXT("keys", report->restart.text));
    }
    hub_log(HUB_LOG_INFO, "config.reloaded", HUB_F_INT("generation", config->generation.number),
            HUB_F_TEXT("added", report->added.text), HUB_F_TEXT("removed", report->removed.text),
            HUB_F_TEXT("changed", report->changed.text),
            HUB_F_INT("addedCount", report->added.count),
            HUB_F_INT("removedCount", report->removed.count),
            HUB_F_INT("changedCount", report->changed.count), HUB_F_BY);
}

static hub_err apply(cli_reloader *reloader, hub_config *config, hub_error *reterr)
{
    cli_listeners_next *listeners = NULL;
    hub_reload_report report;
    cli_complete_config(reloader->options, config);
    config->generation.number = (*reloader->config)->generation.number + 1;
    hub_err err = hub_audit_probe(&config->settings.audit, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = cli_listeners_prepare(reloader->listeners, &config->settings, &listeners, reterr);
    if (err == HUB_OK) {
        err = hub_reload(reloader->hub, &config->settings, &report, reterr);
    }
    if (err != HUB_OK) {
        cli_listeners_abandon(listeners);
        return err;
    }
    hub_log_setup(config->settings.log_level, config->settings.log_json);
    follow_log(config->settings.log_file);
    cli_listeners_switch(listeners, &report.restart);
    cli_listeners_switch_replica(reloader->listeners, &config->settings, &config->replica,
                                 &report.restart);
    report_done(config, &report);
    hub_config_destroy(*reloader->config);
    *reloader->config = config;
    return HUB_OK;
}

static void on_read(struct ev_loop *loop, ev_async *async, int events)
{
    (void)loop;
    (void)events;
    cli_reloader *reloader = async->data;
    hub_config *config = reloader->next;
    bool is_due = reloader->is_due;
    reloader->next = NULL;
    reloader->is_reading = false;
    reloader->is_due = false;
    const char *before = hub_cause_set(reloader->by);
    if (config == NULL || apply(reloader, config, &reloader->why) != HUB_OK) {
        hub_config_destroy(config);
        refuse(reloader, &reloader->why);
    } else {
        watch_files(reloader);
        watch_secrets(reloader);
    }
    (void)hub_cause_set(before);
    if (is_due) {
        cli_reload(reloader, reloader->next_by);
    }
}

/* [worker] of whoever wants to know what a reload would change; the options are not written to while
 * a hub serves. */
static hub_err read_again(void *ctx, const hub_settings **ret_settings, hub_error *reterr)
{
    cli_options *options = ctx;
    hub_config *config = NULL;
    for (size_t i = 0; i < options->config_count; i++) {
        hub_file_stamp stamp = hub_file_look(options->configs[i]);
        if (stamp.inode != 0 && !stamp.is_regular) { /* to open a pipe may be to wait */
            return hub_fail(reterr, HUB_EINVAL,
                            "%s: it is not a regular file, which cannot be read again",
                            options->configs[i]);
        }
    }
    hub_err err = cli_read_config(options, &config, reterr);
    if (err == HUB_OK) {
        err = hub_config_load_network(config, reterr);
    }
    if (err == HUB_OK) {
        cli_complete_config(options, config);
        *ret_settings = hub_settings_ref(&config->settings);
    }
    hub_config_destroy(config);
    return err;
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err cli_reloader_create(struct ev_loop *loop, cli_options *options, hub_config **config,
                            hub_orchestrator *hub, cli_listeners *listeners,
                            cli_reloader **ret_reloader, hub_error *reterr)
{
    cli_reloader *reloader = calloc(1, sizeof *reloader);
    if (reloader == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    *reloader = (cli_reloader){
        .loop = loop, .options = options, .config = config, .hub = hub, .listeners = listeners};
    hub_err err = hub_worker_pool_create(1, &reloader->thread, reterr);
    if (err != HUB_OK) {
        free(reloader);
        return err;
    }
    ev_async_init(&reloader->on_read, on_read);
    reloader->on_read.data = reloader;
    ev_async_start(loop, &reloader->on_read);
    watch_files(reloader);
    watch_secrets(reloader);
    hub_admin_set_reader(hub, read_again, options);
    *ret_reloader = reloader;
    return HUB_OK;
}

bool cli_reloader_destroy(cli_reloader *reloader)
{
    if (reloader == NULL) {
        return true;
    }
    hub_config_watch_destroy(reloader->watch);
    hub_state_watch_destroy(reloader->secrets);
    reloader->secrets = NULL;
    if (!hub_worker_pool_destroy(reloader->thread, END_MS)) {
        return false;
    }
    ev_async_stop(reloader->loop, &reloader->on_read);
    hub_config_destroy(reloader->next);
    free(reloader);
    return true;
}
