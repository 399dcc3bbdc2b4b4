/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text with variables. Values are held against a second, slower reading of the same rules; no
 * message shows a value; nothing is looked at twice; no file is read.
 */
#include "base/limits.h"
#include "config/expand.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4096 };

/* Values that would be expanded again, if they were looked at. */
static const char *const VARIABLES[] = {"A=canary-1",     "EMPTY=",          "AGAIN=${A}$$canary-2",
                                        "BAD=canary\xff", "A=canary-second", NULL};

static unsigned values_told;

static hub_err on_file(void *ctx, const char *path, hub_error *reterr)
{
    (void)ctx;
    (void)path;
    (void)reterr;
    abort(); /* there are none here */
}

static hub_err on_value(void *ctx, hub_str name, hub_str value, hub_error *reterr)
{
    (void)ctx;
    (void)reterr;
    hub_assert(name.len > 0 && value.ptr != NULL);
    values_told++;
    return HUB_OK;
}

static const char *value_of(hub_str name)
{
    static const char *const NAMES[] = {"A", "EMPTY", "AGAIN", "BAD"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (hub_str_is(name, NAMES[i])) {
            return strchr(VARIABLES[i], '=') + 1;
        }
    }
    return NULL;
}

/* What stands for ${BODY}; NULL when it is refused. */
static const char *expected_of(hub_str body, hub_str *ret_default)
{
    size_t dash = hub_str_find(body, HUB_STR(":-"));
    *ret_default = HUB_STR_EMPTY;
    if (hub_str_find(body, HUB_STR("${")) != SIZE_MAX) {
        return NULL;
    }
    if (dash != SIZE_MAX) {
        const char *value = value_of((hub_str){.ptr = body.ptr, .len = dash});
        *ret_default = hub_str_from(body, dash + 2);
        return value != NULL ? value : "";
    }
    if (hub_str_starts(body, HUB_STR("env:"))) {
        body = hub_str_from(body, 4);
    }
    return value_of(body);
}

/* The same as hub_expand, for text that that accepted. */
static void check_same(hub_str text, hub_str found)
{
    hub_buf wanted;
    hub_buf_init(&wanted, SIZE_MAX / 4);
    for (size_t at = 0; at < text.len;) {
        hub_str rest = hub_str_from(text, at);
        if (hub_str_starts(rest, HUB_STR("${"))) {
            size_t end = hub_str_find(rest, HUB_STR("}"));
            hub_str fallback;
            hub_assert(end != SIZE_MAX);
            const char *value =
                expected_of((hub_str){.ptr = rest.ptr + 2, .len = end - 2}, &fallback);
            hub_assert(value != NULL);
            hub_buf_add(&wanted, value[0] != '\0' ? hub_str_of(value) : fallback);
            at += end + 1;
            continue;
        }
        hub_buf_add_char(&wanted, text.ptr[at]);
        at += hub_str_starts(rest, HUB_STR("$$")) ? 2 : 1;
    }
    hub_assert(!hub_buf_ok(&wanted) || hub_str_eq(hub_buf_str(&wanted), found));
    hub_buf_fini(&wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const hub_expand_source source = {
        .env = VARIABLES, .has_files = false, .on_file = on_file, .on_value = on_value};
    hub_str text = {.ptr = (const char *)data, .len = size};
    hub_error error = {.text = ""};
    bool open_file = false;
    hub_buf out;
    hub_buf_init(&out, MOST_BYTES);
    values_told = 0;
    hub_err err = hub_expand(text, &source, &out, &open_file, &error);
    hub_assert(!open_file);
    if (err == HUB_OK) {
        check_same(text, hub_buf_str(&out));
        hub_assert(values_told == 0 || hub_str_find(text, HUB_STR("${")) != SIZE_MAX);
    } else {
        hub_assert(err == error.code && error.text[0] != '\0');
        /* The text itself may hold the word; then it proves nothing. */
        hub_assert(strstr(error.text, "canary") == NULL ||
                   hub_str_find(text, HUB_STR("canary")) != SIZE_MAX);
    }
    hub_buf_fini(&out);
    return 0;
}
