/* SPDX-License-Identifier: Apache-2.0 */
#include "greet.h"

#include "scripts.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_VERSION = 7, WHY_BYTES = 384, NOTICE_BYTES = 256 };

/* Of one connection; freed by its last reply, which comes when the connection ends at the latest. */
typedef struct greeter {
    valkey_greeting of;
    unsigned waiting; /* replies that have not come */
    bool is_told;
    char notice[NOTICE_BYTES];
} greeter;

/* What errors of the server mean for who runs the hub. */
static const struct {
    const char *prefix;
    const char *text;
} MEANINGS[] = {
    {"NOAUTH", "the store wants a password: give it with `state: {url: …, password: …}`"},
    {"WRONGPASS", "the store refuses the user name or the password"},
    {"NOPERM", "the store's user may not do what the hub needs (docs/SCALE.md has its ACL)"},
    {"READONLY", "the store is a read-only copy: give the address of the primary"},
    {"OOM", "the store is out of memory: raise its maxmemory"},
    {"MISCONF", "the store cannot save to its disk and refuses changes"},
    {"LOADING", "the store is reading its data from disk"},
    {"BUSY", "the store is busy with a long script"},
    {"MASTERDOWN", "the store is a copy that has lost its primary"},
    {"CLUSTERDOWN", "the store is in cluster mode, which Patchbay does not use"},
    {"MOVED", "the store is in cluster mode, which Patchbay does not use"},
};

void valkey_explain(const char *error, char *ret_why, size_t size)
{
    const char *meaning = "the store answers with an error";
    for (size_t i = 0; i < sizeof MEANINGS / sizeof MEANINGS[0]; i++) {
        if (strncmp(error, MEANINGS[i].prefix, strlen(MEANINGS[i].prefix)) == 0) {
            meaning = MEANINGS[i].text;
        }
    }
    (void)snprintf(ret_why, size, "%s (%.200s)", meaning, error);
}

static void tell(greeter *of, const char *why)
{
    if (!of->is_told) {
        of->is_told = true;
        of->of.on_greeted(of->of.ctx, why, of->notice);
    }
}

/* Count a reply. NULL: nobody is to be told any more, and the greeter may be gone. */
static const redisReply *take(redisAsyncContext *redis, void *reply, greeter *of)
{
    const redisReply *found = reply;
    char why[WHY_BYTES];
    of->waiting--;
    bool is_wanted = redis->data != NULL && !of->is_told && found != NULL;
    if (is_wanted && found->type == REDIS_REPLY_ERROR) {
        valkey_explain(found->str, why, sizeof why);
        tell(of, why);
        is_wanted = false;
    }
    if (!is_wanted && of->waiting == 0 && of->of.channel == NULL) {
        free(of);
    }
    return is_wanted ? found : NULL;
}

static void on_plain(redisAsyncContext *redis, void *reply, void *ctx)
{
    (void)take(redis, reply, ctx);
}

/* ---- what kind of server it is --------------------------------------------------------------- */

/* The value of a line "NAME:VALUE" of INFO; empty: there is none. */
static hub_str find_value(hub_str info, const char *name)
{
    char line[64];
    (void)snprintf(line, sizeof line, "\n%s:", name);
    size_t at = hub_str_find(info, hub_str_of(line));
    if (at >= info.len) {
        return HUB_STR_EMPTY;
    }
    hub_str rest = hub_str_from(info, at + strlen(line));
    size_t end = hub_str_find(rest, HUB_STR("\r\n"));
    return (hub_str){.ptr = rest.ptr, .len = end < rest.len ? end : rest.len};
}

/* Why it cannot be used; "": it can. */
static void judge(hub_str info, char *ret_why, size_t size)
{
    hub_str mode = find_value(info, "redis_mode");
    hub_str version = find_value(info, "redis_version");
    unsigned major = 0;
    for (size_t i = 0; i < version.len && version.ptr[i] >= '0' && version.ptr[i] <= '9' && i < 3;
         i++) {
        major = major * 10 + (unsigned)(version.ptr[i] - '0');
    }
    ret_why[0] = '\0';
    if (hub_str_is(mode, "cluster") || hub_str_is(mode, "sentinel")) {
        (void)snprintf(
            ret_why, size,
            "the store is in %.*s mode, which Patchbay does not use: give the address of "
            "one primary without it",
            (int)mode.len, mode.ptr);
    } else if (major < LEAST_VERSION) {
        (void)snprintf(ret_why, size,
                       "the store is version %.*s: Patchbay wants Valkey, or Redis %d or newer",
                       (int)version.len, version.ptr, LEAST_VERSION);
    } else if (hub_str_is(find_value(info, "role"), "slave")) {
        (void)snprintf(ret_why, size,
                       "the store is a read-only copy: give the address of the primary");
    }
}

static void note(hub_str info, char *ret_notice, size_t size)
{
    hub_str policy = find_value(info, "maxmemory_policy");
    bool evicts = policy.len > 0 && !hub_str_is(policy, "noeviction");
    ret_notice[0] = '\0';
    if (evicts) {
        (void)snprintf(ret_notice, size,
                       "the store drops records when its memory is full (maxmemory-policy %.*s): "
                       "set it to noeviction",
                       (int)policy.len, policy.ptr);
    } else if (hub_str_is(find_value(info, "aof_enabled"), "0")) {
        (void)snprintf(ret_notice, size,
                       "the store has no append-only file: the last changes are lost when it ends "
                       "suddenly (appendonly yes)");
    }
}

static void on_info(redisAsyncContext *redis, void *reply, void *ctx)
{
    greeter *of = ctx;
    const redisReply *found = take(redis, reply, of);
    char why[WHY_BYTES];
    if (found == NULL) {
        return;
    }
    hub_str info = {.ptr = found->str, .len = found->len};
    judge(info, why, sizeof why);
    note(info, of->notice, sizeof of->notice);
    if (why[0] != '\0') {
        tell(of, why);
    }
}

/* The last reply: layout and epoch. */
static void on_hello(redisAsyncContext *redis, void *reply, void *ctx)
{
    greeter *of = ctx;
    const redisReply *found = take(redis, reply, of);
    if (found == NULL) {
        return;
    }
    const redisReply *layout =
        found->type == REDIS_REPLY_ARRAY && found->elements == 2 ? found->element[0] : NULL;
    bool is_known = layout != NULL &&
                    (layout->type == REDIS_REPLY_NIL || strcmp(layout->str, VALKEY_LAYOUT) == 0);
    tell(of, is_known ? NULL
                      : "the store is of a newer version of Patchbay: use that version, or another "
                        "database of the server");
    free(of);
}

/* ---- listening ------------------------------------------------------------------------------- */

/* The confirmation, and then every message; with NULL at its end. */
static void on_heard(redisAsyncContext *redis, void *reply, void *ctx)
{
    greeter *of = ctx;
    const redisReply *found = reply;
    if (found == NULL) {
        free(of);
        return;
    }
    if (redis->data == NULL) {
        return;
    }
    if (found->type == REDIS_REPLY_ERROR) {
        char why[WHY_BYTES];
        valkey_explain(found->str, why, sizeof why);
        tell(of, why);
    } else if (!of->is_told) {
        tell(of, NULL);
    } else {
        of->of.on_message(of->of.ctx);
    }
}

/* ---- the words ------------------------------------------------------------------------------- */

static bool say(greeter *of, redisCallbackFn *on_reply, int argc, const char **argv)
{
    size_t bytes[VALKEY_KEYS + 8];
    for (int i = 0; i < argc; i++) {
        bytes[i] = strlen(argv[i]);
    }
    bool is_said = redisAsyncCommandArgv(of->of.redis, on_reply, of, argc, argv, bytes) == REDIS_OK;
    of->waiting += is_said;
    return is_said;
}

static bool say_who(greeter *of)
{
    const hub_state_address *address = of->of.address;
    const char *auth[] = {"AUTH", address->user, of->of.password};
    const char *alone[] = {"AUTH", of->of.password};
    char number[16];
    (void)snprintf(number, sizeof number, "%u", address->database);
    const char *database[] = {"SELECT", number};
    bool is_said = true;
    if (of->of.password != NULL) {
        is_said =
            address->user[0] != '\0' ? say(of, on_plain, 3, auth) : say(of, on_plain, 2, alone);
    }
    return is_said && (address->database == 0 || say(of, on_plain, 2, database));
}

static bool say_what(greeter *of)
{
    const char *info[] = {"INFO"};
    const char *hello[VALKEY_KEYS + 5] = {"EVAL", VALKEY_STATE_SCRIPT, VALKEY_KEYS_TEXT};
    for (size_t i = 0; i < VALKEY_KEYS; i++) {
        hello[3 + i] = VALKEY_KEY_NAMES[i];
    }
    hello[3 + VALKEY_KEYS] = "hello";
    hello[4 + VALKEY_KEYS] = "";
    return say(of, on_info, 1, info) && say(of, on_hello, VALKEY_KEYS + 5, hello);
}

bool valkey_greet(const valkey_greeting *greeting)
{
    greeter *of = calloc(1, sizeof *of);
    if (of == NULL) {
        return false;
    }
    of->of = *greeting;
    const char *subscribe[] = {"SUBSCRIBE", greeting->channel};
    bool is_said =
        say_who(of) && (greeting->channel != NULL ? say(of, on_heard, 2, subscribe) : say_what(of));
    if (!is_said && of->waiting == 0) {
        free(of);
    }
    return is_said;
}
