/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin whose handlers reply when they must not, and whose list is as wrong as its configuration
 * says. What crashes is in misbehave.c.
 *
 *   config: {"schema": text}   the input_schema of a tool "a", beside the others
 */
#include <patchbay/toolset.h>

static patchbay_tool_call *forgotten;

/* The thread of `thread`, of which there is one call, and what wakes it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int is_started;
    int rung;
} bell = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void ring(void *arg)
{
    (void)arg;
    (void)pthread_mutex_lock(&bell.lock);
    bell.rung = 1;
    (void)pthread_cond_signal(&bell.changed);
    (void)pthread_mutex_unlock(&bell.lock);
}

static void good(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_str_of("good"));
}

static void twice(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_str_of("first"));
    patchbay_reply_text(call, patchbay_str_of("second"));
}

/* Gives its call away without patchbay_defer: it is over when this returns. */
static void forget(patchbay_tool_call *call)
{
    forgotten = call;
}

static void reply_late(patchbay_tool_call *call)
{
    patchbay_reply_text(forgotten, patchbay_str_of("late"));
    patchbay_reply_text(call, patchbay_str_of("in time"));
}

/* The first reply is the one that a cancelled call still wants; the second is one too many. */
static void *reply_when_cancelled(void *arg)
{
    patchbay_tool_call *call = (patchbay_tool_call *)arg;
    (void)pthread_mutex_lock(&bell.lock);
    while (!bell.rung) {
        (void)pthread_cond_wait(&bell.changed, &bell.lock);
    }
    (void)pthread_mutex_unlock(&bell.lock);
    patchbay_reply_text(call, patchbay_str_of("nobody waits"));
    patchbay_reply_text(call, patchbay_str_of("still nobody"));
    return NULL;
}

static void reply_from_thread(patchbay_tool_call *call)
{
    patchbay_defer(call);
    patchbay_progress(call, 1, -1, "deferred");
    patchbay_on_cancel(call, ring, NULL);
    bell.is_started = pthread_create(&bell.thread, NULL, reply_when_cancelled, call) == 0;
}

/* An object without its end. */
static void leave_open(patchbay_tool_call *call)
{
    patchbay_out *out = patchbay_structured(call);
    patchbay_write_object(out);
    patchbay_write_key(out, "n");
    patchbay_write_int(out, 1);
    patchbay_reply(call);
}

static void reply_strangely(patchbay_tool_call *call)
{
    patchbay_reply_error(call, 42, "%s", "no status of the SDK");
}

static const patchbay_tool TOOLS[] = {
    {.name = "good", .handler = good},
    {.name = "twice", .handler = twice},
    {.name = "forget", .handler = forget},
    {.name = "late", .handler = reply_late},
    {.name = "unclosed", .handler = leave_open},
    {.name = "strange", .handler = reply_strangely},
    {.name = "thread", .handler = reply_from_thread, .flags = PATCHBAY_NONBLOCKING},
};
enum { TOOL_COUNT = sizeof TOOLS / sizeof TOOLS[0] };

/* What one instance has: the usual tools, and the one of its configuration. */
typedef struct instance {
    patchbay_tool tools[TOOL_COUNT + 1];
    patchbay_out schema;
} instance;

static void end_instance(void *data)
{
    instance *self = (instance *)data;
    if (bell.is_started) { /* destroy() returns when no thread calls back any more */
        ring(NULL);
        (void)pthread_join(bell.thread, NULL);
        bell.is_started = 0;
    }
    patchbay_out_free(&self->schema);
    free(self);
}

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    instance *self = (instance *)calloc(1, sizeof *self);
    (void)reterr;
    if (self == NULL) {
        return PATCHBAY_ENOMEM;
    }
    memcpy(self->tools, TOOLS, sizeof TOOLS);
    int more = patchbay_json_decode(patchbay_json_get(config_json, "schema"), &self->schema);
    self->tools[TOOL_COUNT] =
        (patchbay_tool){.name = "a", .handler = good, .input_schema = self->schema.ptr};
    int32_t result = patchbay_set_tools(toolset, self->tools, TOOL_COUNT + (more ? 1 : 0));
    if (result != PATCHBAY_OK) {
        end_instance(self);
        return result;
    }
    *ret_data = self;
    return PATCHBAY_OK;
}

static const patchbay_toolset_info info = {.setup = setup, .teardown = end_instance};

PATCHBAY_TOOLSET_OF("faulty", "1.0.0", "Replies when it must not.", "{\"type\":\"object\"}", info)
