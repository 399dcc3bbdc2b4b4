/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of config/ share. */
#ifndef CONFIG_SUPPORT_H
#define CONFIG_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config/config.h"

#define ENV(...)     ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A configuration that must be good. */
static inline hub_config *parse_with(const char *name, const char *text, const char *const *env,
                                     const hub_config_overrides *overrides)
{
    hub_config *config = NULL;
    hub_error error = {.code = HUB_OK};
    hub_err err = hub_config_parse(name, hub_str_of(text), env, overrides, &config, &error);
    if (err != HUB_OK) {
        print_error("%s\n", error.text);
    }
    assert_int_equal(err, HUB_OK);
    assert_non_null(config);
    return config;
}

static inline hub_config *parse(const char *name, const char *text)
{
    return parse_with(name, text, NULL, NULL);
}

/* A document that must be refused with exactly this text, and code. */
static inline void expect_refused(const char *name, hub_str text, const char *const *env,
                                  hub_err code, const char *expected)
{
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    hub_err err = hub_config_parse(name, text, env, NULL, &config, &error);
    if (err != code || strcmp(error.text, expected) != 0) {
        print_error("document: " HUB_STR_FMT "\n", HUB_STR_ARG(text));
    }
    assert_string_equal(error.text, expected);
    assert_int_equal(err, code);
    assert_int_equal(error.code, code);
    assert_null(config);
}

/* What the module of a started server gets, but for the working folder that the file gave it. */
static inline void assert_server_json(const char *found, const char *expected)
{
    static const char CWD[] = ",\"cwd\":\"";
    const char *cwd = strstr(found, CWD);
    if (cwd == NULL || strstr(expected, CWD) != NULL) {
        assert_string_equal(found, expected);
        return;
    }
    const char *rest = strchr(cwd + sizeof CWD - 1, '"') + 1;
    char *without = malloc(strlen(found) + 1);
    assert_non_null(without);
    memcpy(without, found, (size_t)(cwd - found));
    memcpy(without + (cwd - found), rest, strlen(rest) + 1);
    assert_string_equal(without, expected);
    free(without);
}

static inline void assert_list(hub_names list, size_t count, const char *const *expected)
{
    assert_true(list.set);
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(list.items[i], expected[i]);
    }
}
#define ASSERT_LIST(list, ...)                                                                     \
    assert_list((list), COUNT(((const char *const[]){__VA_ARGS__})),                               \
                (const char *const[]){__VA_ARGS__})

#endif
