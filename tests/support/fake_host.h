/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small host for testing one plugin without the hub.
 *
 *     char error[FAKE_HOST_ERROR_BYTES];
 *     fake_host *host = fake_host_load(PLUGIN_PATH, "{}", error);
 *     assert_non_null(host);                             (error says why not)
 *     fake_result result = fake_host_call(host, "now", "{\"zone\":\"UTC\"}");
 *     assert_int_equal(result.status, PATCHBAY_RESULT);  (result.json is the CallToolResult)
 *     fake_result_free(&result);
 *     fake_host_unload(host);
 *
 * To cancel, or to have several calls at once: fake_host_start, fake_host_cancel, fake_host_wait.
 * Build with: fake_host.c -Iinclude -ljansson -ldl -lpthread
 *
 * The thread that loads is the plugin's loop thread: use the host from it alone. Worker jobs run on
 * FAKE_HOST_THREADS real threads. Like the hub, the host checks what a plugin hands it; misuse (no
 * JSON, a second finish, a wrong thread, a result that breaks its tool's promise of structured
 * content) is written to stderr, and fake_host_unload then aborts. It does not check arguments
 * against input schemas: give valid ones. Host interfaces: worker/1 only.
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <patchbay/plugin.h>

#define FAKE_HOST_ERROR_BYTES  248
#define FAKE_HOST_THREADS      4
#define FAKE_HOST_WAIT_SECONDS 60

/* fake_result.status of a call that was not finished within FAKE_HOST_WAIT_SECONDS. */
#define FAKE_HOST_TIMEOUT (-1)

typedef struct patchbay_host fake_host;

/* How a call ended. */
typedef struct fake_result {
    int32_t status; /* PATCHBAY_RESULT, PATCHBAY_INVALID_INPUT, … or FAKE_HOST_TIMEOUT */
    char *json;     /* what finish() was given (text for failures), NUL-terminated; owned */
    size_t json_len;
} fake_result;

/* Load a plugin and make an instance of it.
 * returns: NULL with the reason in `error` (at least FAKE_HOST_ERROR_BYTES) */
fake_host *fake_host_load(const char *path, const char *config_json, char *error);

/* The same for a plugin that is linked into the test program (&patchbay_plugin_v1). */
fake_host *fake_host_open(const patchbay_plugin *plugin, const char *config_json, char *error);

/* End the instance as the hub does: cancel open calls, wait for running jobs, drop queued ones,
 * destroy. NULL is fine. Aborts when the plugin misused the host. */
void fake_host_unload(fake_host *host);

/* Call a tool and wait for its end. `args_json` NULL is "{}". */
fake_result fake_host_call(fake_host *host, const char *tool, const char *args_json);
void fake_result_free(fake_result *result);

/* Start a call, cancel it, wait for its end (each id once). A cancelled call still ends with what
 * the plugin finished it with, though the plugin is told PATCHBAY_ESTALE. */
uint64_t fake_host_start(fake_host *host, const char *tool, const char *args_json);
void fake_host_cancel(fake_host *host, uint64_t id);
fake_result fake_host_wait(fake_host *host, uint64_t id);

/* The next worker jobs are refused: 1 on, 0 off. */
void fake_host_refuse_jobs(fake_host *host, int refuse);

/* The JSON that set_tools() was last given (borrowed until the next time), and how often it was. */
const char *fake_host_tools(const fake_host *host);
unsigned fake_host_set_tools_count(const fake_host *host);

/* All progress notifications (JSON objects) and all log lines ("level text") so far, a line each.
 * Owned by the caller: free(). */
char *fake_host_progress(fake_host *host);
char *fake_host_log(fake_host *host);

#endif
