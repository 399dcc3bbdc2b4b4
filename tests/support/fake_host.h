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
 * against input schemas: give valid ones. Host interfaces: worker/1, catalog/1, client/1, and
 * post() of loop/1, which runs while the test waits for something.
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <patchbay/client.h>
#include <patchbay/plugin.h>

#define FAKE_HOST_ERROR_BYTES  248
#define FAKE_HOST_THREADS      4
#define FAKE_HOST_WAIT_SECONDS 60

/* fake_result.status of a call that was not finished within FAKE_HOST_WAIT_SECONDS. */
#define FAKE_HOST_TIMEOUT (-1)

/* Kinds of lists that fake_host_list knows (catalog.h). */
#define FAKE_HOST_LISTS 4

typedef struct patchbay_host fake_host;

/* How a call ended. */
typedef struct fake_result {
    int32_t status; /* PATCHBAY_RESULT, PATCHBAY_INVALID_INPUT, … or FAKE_HOST_TIMEOUT */
    char *json;     /* what finish() was given (text for failures), NUL-terminated; owned */
    size_t json_len;
} fake_result;

/* A question that the plugin asked of the client. */
typedef struct fake_question {
    struct fake_question *next;
    uint64_t call;
    char *key;
    char *method;
    char *params; /* "" for none */
    patchbay_on_answer *on_answer;
    void *arg;
} fake_question;

/* Hosts lack this interface from now on, like an older hub, or, of catalog/1, the lists in it;
 * NULL: none. A literal. */
void fake_host_hide_interface(const char *id);

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

/* Start a request of another method: `name` is the URI or prompt that it is about. */
uint64_t fake_host_request(fake_host *host, const char *method, const char *name,
                           const char *params_json);

/* The next worker jobs, posts to the loop, or lists but that of tools, are refused: 1 on, 0 off. */
void fake_host_refuse_jobs(fake_host *host, int refuse);
void fake_host_refuse_posts(fake_host *host, int refuse);
void fake_host_refuse_lists(fake_host *host, int refuse);

/* Wait until the plugin has misused the host `count` times, and forget about it, for tests of just
 * that.
 * returns: how often it has */
unsigned fake_host_forgive(fake_host *host, unsigned count);

/* What the client can do, an MCP ClientCapabilities object; at first "{}". For calls after it. */
void fake_host_set_capabilities(fake_host *host, const char *capabilities_json);

/* Wait for the next question, in the order asked; NULL when none came in time. Answer each once:
 * that frees it. One that is not taken is answered with PATCHBAY_NO_ANSWER when its call is
 * cancelled, or the host ends. */
fake_question *fake_host_question(fake_host *host);
void fake_host_answer(fake_question *question, int32_t status, const char *json);

/* The JSON that set_tools() was last given (borrowed until the next time), and how often it was. */
const char *fake_host_tools(const fake_host *host);
unsigned fake_host_set_tools_count(const fake_host *host);

/* The JSON that catalog/1 was last given: a list, and what the toolset can do. Borrowed. */
const char *fake_host_list(const fake_host *host, uint32_t kind);
const char *fake_host_offered(const fake_host *host);

/* What the plugin told the client, a line each: "message 1 {…}" (0: of no call), "release",
 * "updated URI". Owned by the caller: free(). */
char *fake_host_said(fake_host *host);

/* All progress notifications (JSON objects) and all log lines ("level text") so far, a line each.
 * Owned by the caller: free(). */
char *fake_host_progress(fake_host *host);
char *fake_host_log(fake_host *host);

#endif
