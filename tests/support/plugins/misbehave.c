/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin whose tools misbehave, each in its own way. The tests compile it as FIXTURE_NAME; what
 * FIXTURE_REPLY says happens in the library's constructor (crash, exit, loop), in create()
 * (create-crash, create-exit, create-loop), or is what `echo` answers.
 *
 *   config: {"word": text, "fail": text}   `word` is what the tool `word` answers
 */
#include <patchbay/toolset.h>

#include <sched.h>
#include <time.h>
#include <unistd.h>

#ifndef FIXTURE_NAME
#define FIXTURE_NAME "misbehave"
#endif
#ifndef FIXTURE_REPLY
#define FIXTURE_REPLY FIXTURE_NAME
#endif

#define STEP_BYTES (1u << 20)

static _Noreturn void loop_for_ever(void)
{
    for (;;) {
        (void)sched_yield();
    }
}

static void crash(void)
{
    *(volatile char *)(uintptr_t)16 = 0;
}

static void misbehave(const char *how)
{
    if (strcmp(FIXTURE_REPLY, how) != 0) {
        return;
    }
    const char *what = strrchr(how, '-') != NULL ? strrchr(how, '-') + 1 : how;
    if (strcmp(what, "crash") == 0) {
        abort();
    } else if (strcmp(what, "exit") == 0) {
        exit(0);
    }
    loop_for_ever();
}

__attribute__((constructor)) static void construct(void)
{
    misbehave("crash");
    misbehave("exit");
    misbehave("loop");
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void echo(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_str_of(FIXTURE_REPLY));
}

static void tell_pid(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "%ld", (long)getpid());
}

static void tell_word(patchbay_tool_call *call)
{
    patchbay_reply_text(call, patchbay_str_of((const char *)patchbay_toolset_data(call)));
}

static void do_segv(patchbay_tool_call *call)
{
    (void)call;
    crash();
}

static void do_abort(patchbay_tool_call *call)
{
    (void)call;
    abort();
}

static void do_exit(patchbay_tool_call *call)
{
    (void)call;
    _exit(3);
}

static void do_loop(patchbay_tool_call *call)
{
    (void)call;
    loop_for_ever();
}

/* Whatever the process has got is used, so that it is not merely promised. */
static void do_grow(patchbay_tool_call *call)
{
    size_t got = 0;
    for (char *more = (char *)malloc(STEP_BYTES); more != NULL && got < 1024;
         more = (char *)malloc(STEP_BYTES)) {
        memset(more, 1, STEP_BYTES); /* leaked: that is the point */
        got++;
    }
    patchbay_reply_textf(call, "%lu", (unsigned long)got);
}

static void do_print(patchbay_tool_call *call)
{
    static const char TEXT[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nnoise\n";
    (void)!write(STDOUT_FILENO, TEXT, sizeof TEXT - 1);
    (void)printf("%s", TEXT);
    (void)fflush(stdout);
    patchbay_reply_text(call, patchbay_str_of("printed"));
}

/* Keeps whoever runs it waiting for as long as it is told. */
static void do_block(patchbay_tool_call *call)
{
    int64_t ms = 0;
    (void)patchbay_json_int(patchbay_json_get(patchbay_args(call), "ms"), &ms);
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
    patchbay_reply_text(call, patchbay_str_of("blocked"));
}

static void report_progress(patchbay_tool_call *call)
{
    patchbay_progress(call, 1, 2, "half");
    patchbay_message(call, "warning", "a message");
    patchbay_reply_text(call, patchbay_str_of("done"));
}

static void hold(patchbay_tool_call *call)
{
    while (!patchbay_cancelled(call)) {
        (void)sched_yield();
    }
    patchbay_log(patchbay_call_toolset(call), PATCHBAY_LOG_WARNING, "hold was cancelled");
    patchbay_reply_text(call, patchbay_str_of("cancelled"));
}

static const patchbay_tool tools[] = {
    {.name = "abort", .handler = do_abort},
    {.name = "block",
     .handler = do_block,
     .input_schema = "{\"type\":\"object\",\"required\":[\"ms\"],\"properties\":{\"ms\":{\"type\":"
                     "\"integer\",\"minimum\":0}}}",
     .flags = PATCHBAY_NONBLOCKING},
    {.name = "echo", .handler = echo, .flags = PATCHBAY_NONBLOCKING},
    {.name = "exit", .handler = do_exit},
    {.name = "grow", .handler = do_grow},
    {.name = "hold", .handler = hold},
    {.name = "loop", .handler = do_loop, .flags = PATCHBAY_NONBLOCKING},
    {.name = "pid", .handler = tell_pid, .flags = PATCHBAY_NONBLOCKING},
    {.name = "print", .handler = do_print},
    {.name = "progress", .handler = report_progress},
    {.name = "segv", .handler = do_segv, .flags = PATCHBAY_NONBLOCKING},
    {.name = "segv_in_a_thread", .handler = do_segv},
    {.name = "word", .handler = tell_word, .flags = PATCHBAY_NONBLOCKING},
};

/* The same handler as the tool's. */
static const patchbay_resource resources[] = {
    {.uri = "misbehave:segv", .name = "segv", .handler = do_segv, .flags = PATCHBAY_NONBLOCKING},
};

/* ---- the toolset ----------------------------------------------------------------------------- */

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    (void)toolset;
    misbehave("create-crash");
    misbehave("create-exit");
    misbehave("create-loop");
    patchbay_out word = {0};
    patchbay_str fail = patchbay_json_get(config_json, "fail");
    if (fail.len > 0) {
        (void)snprintf(reterr->text, sizeof reterr->text, "told to fail: %.*s", (int)fail.len,
                       fail.ptr);
        return PATCHBAY_EINVAL;
    }
    patchbay_out_text(&word, "");
    (void)patchbay_json_decode(patchbay_json_get(config_json, "word"), &word);
    *ret_data = word.ptr != NULL ? word.ptr : calloc(1, 1);
    return *ret_data != NULL ? PATCHBAY_OK : PATCHBAY_ENOMEM;
}

static const patchbay_toolset_info info = {
    .tools = tools,
    .tool_count = sizeof tools / sizeof tools[0],
    .resources = resources,
    .resource_count = sizeof resources / sizeof resources[0],
    .setup = setup,
    .teardown = free,
    .flags = PATCHBAY_TOOLSET_SENDS_MESSAGES,
};

PATCHBAY_TOOLSET_OF(FIXTURE_NAME, "1.0.0", "Misbehaves as the tests want it.",
                    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                    "\"word\":{\"type\":\"string\"},\"fail\":{\"type\":\"string\"}}}",
                    info)
