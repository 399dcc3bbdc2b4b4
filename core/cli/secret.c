/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay secret set|list|rm: what ${secret:NAME} in a manifest stands for. */
#include "cli/cli.h"

#include "base/limits.h"
#include "cli/ask.h"
#include "config/expand.h"
#include "config/stored_secrets.h"
#include "wire/json.h"

#include <errno.h>
#include <stdio.h>

enum { LIST_BYTES = 1024 * 1024 };

static int complain(hub_err err, const char *why)
{
    cli_complain("%s", why);
    return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
}

/* The value, without the newline at its end. Complains when it is none. */
static int read_value(const char *name, hub_buf *value)
{
    char question[HUB_LIMIT_SECRET_NAME_BYTES + 64];
    (void)snprintf(question, sizeof question, "value of %s (it is not shown): ", name); /* fits */
    bool is_read = cli_ask_can() ? cli_ask_line(question, true, value) : cli_ask_read(value, false);
    if (!is_read && hub_buf_ok(value)) {
        cli_complain("stdin cannot be read: %s", strerrordesc_np(errno));
        return EXIT_INTERNAL;
    }
    if (hub_buf_ok(value) && value->len > 0 && value->ptr[value->len - 1] == '\n') {
        value->len--;
    }
    if (!hub_buf_ok(value) || value->len > HUB_LIMIT_SECRET_VALUE_BYTES) {
        cli_complain("a secret has at most %u bytes", HUB_LIMIT_SECRET_VALUE_BYTES);
        return EXIT_USAGE;
    }
    if (value->len == 0) {
        cli_complain("the secret is empty: give its value on stdin, as in `patchbay secret set "
                     "%s < FILE`",
                     name);
        return EXIT_USAGE;
    }
    if (memchr(value->ptr, '\0', value->len) != NULL || !hub_is_utf8(hub_buf_str(value))) {
        cli_complain("the secret is not UTF-8 text: a manifest cannot have it");
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

static int set_secret(const cli_options *options, hub_state_sync *store)
{
    const char *name = options->arguments[1];
    const hub_state_id id = {.kind = &HUB_SECRET_KIND, .key = hub_str_of(name)};
    hub_error why = {.code = HUB_OK};
    hub_buf value;
    hub_buf document;
    hub_buf_init_secret(&value,
                        HUB_LIMIT_SECRET_VALUE_BYTES + 4096); /* to see that there is more */
    hub_buf_init_secret(&document, 8 * HUB_LIMIT_SECRET_VALUE_BYTES);
    int status = read_value(name, &value);
    hub_err err = HUB_OK;
    if (status == EXIT_OK) {
        hub_json_add_string(&document, hub_buf_str(&value));
        err = hub_buf_ok(&document)
                  ? hub_state_sync_put(store, &id, HUB_STATE_ANY, hub_buf_str(&document), &why)
                  : hub_fail(&why, HUB_ENOMEM, "out of memory");
    }
    hub_buf_fini(&document);
    hub_buf_fini(&value);
    return err == HUB_OK ? status : complain(err, why.text);
}

static int remove_secret(const cli_options *options, hub_state_sync *store)
{
    const char *name = options->arguments[1];
    const hub_state_id id = {.kind = &HUB_SECRET_KIND, .key = hub_str_of(name)};
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_state_sync_delete(store, &id, &why);
    if (err == HUB_ENOTFOUND) {
        cli_complain("there is no secret \"%s\" in the store", name);
        return EXIT_CONFIG;
    }
    return err == HUB_OK ? EXIT_OK : complain(err, why.text);
}

typedef struct listing {
    hub_buf out;
    bool is_json;
} listing;

static void add_name(void *ctx, const hub_state_record *record)
{
    listing *list = ctx;
    if (list->is_json) {
        hub_json_add_comma(&list->out);
        hub_json_add_string(&list->out, record->key);
    } else {
        hub_buf_add(&list->out, list->out.len > 0 ? HUB_STR("\n") : HUB_STR_EMPTY);
        hub_buf_add(&list->out, record->key);
    }
}

static int list_secrets(const cli_options *options, hub_state_sync *store)
{
    listing list = {.is_json = options->json};
    hub_error why = {.code = HUB_OK};
    hub_buf_init(&list.out, LIST_BYTES);
    hub_buf_add(&list.out, list.is_json ? HUB_STR("[") : HUB_STR_EMPTY);
    hub_err err = hub_state_sync_each(store, &HUB_SECRET_KIND, add_name, &list, &why);
    if (err == HUB_OK && list.is_json) {
        hub_buf_add_char(&list.out, ']');
        cli_print_json(hub_buf_str(&list.out));
    } else if (err == HUB_OK && list.out.len > 0) {
        cli_print(hub_buf_str(&list.out));
    }
    hub_buf_fini(&list.out);
    return err == HUB_OK ? EXIT_OK : complain(err, why.text);
}

static const struct {
    const char *name;
    size_t arguments;
    int (*run)(const cli_options *options, hub_state_sync *store);
} VERBS[] = {{"set", 2, set_secret}, {"list", 1, list_secrets}, {"rm", 2, remove_secret}};

int cli_secret(cli_options *options)
{
    const char *word = options->argument_count > 0 ? options->arguments[0] : "";
    hub_state_sync *store = NULL;
    size_t verb = 0;
    while (verb < sizeof VERBS / sizeof VERBS[0] && strcmp(word, VERBS[verb].name) != 0) {
        verb++;
    }
    if (verb == sizeof VERBS / sizeof VERBS[0]) {
        cli_complain("say what to do: secret set NAME, secret list, or secret rm NAME");
        return EXIT_USAGE;
    }
    if (options->argument_count != VERBS[verb].arguments) {
        cli_complain("secret %s wants %s", word, verb == 1 ? "no name" : "the name of a secret");
        return EXIT_USAGE;
    }
    if (verb != 1 && !hub_is_secret_name(hub_str_of(options->arguments[1]))) {
        cli_complain(
            "\"%s\" cannot be the name of a secret: it has at most %d letters, digits, '_', "
            "'-' and '.', and begins with none of the last",
            options->arguments[1], HUB_LIMIT_SECRET_NAME_BYTES);
        return EXIT_USAGE;
    }
    int status = cli_open_store(options, &store, NULL);
    if (status == EXIT_OK) {
        status = VERBS[verb].run(options, store);
    }
    hub_state_sync_close(store);
    return status;
}
