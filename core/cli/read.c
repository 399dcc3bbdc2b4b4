/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/remembered.h"
#include "identity/base64url.h"
#include "wire/json.h"

#include <stdio.h>
#include <unistd.h>

static bool is_never_enough(void *ctx)
{
    (void)ctx;
    return false;
}

/* Read it; what no server is remembered to have, each is asked for. False: *ret_json is why not. */
static bool request(const cli_options *options, cli_local *local, uint64_t begun_ms,
                    hub_str *ret_json)
{
    uint64_t ignored_ms;
    hub_buf params;
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&params, HUB_STR("{\"uri\":"));
    hub_json_add_string(&params, hub_str_of(options->arguments[0]));
    hub_buf_add_char(&params, '}');
    bool good = cli_local_request(local, "resources/read", hub_buf_str(&params), ret_json);
    uint64_t elapsed_ms = hub_clock_now_ms() - begun_ms;
    if (!good && cli_remembered_count(local, options->profile, elapsed_ms, &ignored_ms) > 0) {
        cli_remembered_ask(local, options->profile, elapsed_ms, is_never_enough, NULL);
        good = cli_local_request(local, "resources/read", hub_buf_str(&params), ret_json);
    }
    hub_buf_fini(&params);
    return good;
}

/* Base64 of the other alphabet, with padding, as a blob has it (RFC 4648, section 4). */
static hub_err decode_blob(hub_str raw, hub_buf *out)
{
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = hub_json_decode(raw, &text);
    while (text.len > 0 && text.ptr[text.len - 1] == '=') {
        text.len--;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        text.ptr[i] = (char)(c == '+' ? '-' : c == '/' ? '_' : c);
    }
    err = err == HUB_OK ? hub_base64url_decode(hub_buf_str(&text), out) : err;
    hub_buf_fini(&text);
    return err;
}

static int print_contents(hub_str contents)
{
    hub_str raw = hub_json_get(contents, HUB_STR("text"));
    bool is_text = raw.len > 0;
    bool is_shown = isatty(STDOUT_FILENO);
    raw = is_text ? raw : hub_json_get(contents, HUB_STR("blob"));
    hub_buf bytes;
    hub_buf_init(&bytes, raw.len + 1);
    int status = EXIT_OK;
    if ((is_text ? hub_json_decode(raw, &bytes) : decode_blob(raw, &bytes)) != HUB_OK) {
        cli_complain("the server's data is not Base64 (RFC 4648)");
        status = EXIT_TOOL;
    } else if (is_text && is_shown) {
        cli_print(hub_buf_str(&bytes));
    } else if (is_shown) {
        cli_complain("%zu bytes of data: send stdout to a file", bytes.len);
        status = EXIT_USAGE;
    } else if (fwrite(bytes.ptr, 1, bytes.len, stdout) != bytes.len) {
        cli_complain("stdout cannot be written");
        status = EXIT_INTERNAL;
    }
    hub_buf_fini(&bytes);
    return status;
}

static int print_result(hub_str result)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(result, HUB_STR("contents")));
    hub_str key;
    hub_str contents;
    int status = EXIT_OK;
    while (status == EXIT_OK && hub_json_next(&it, &key, &contents)) {
        status = print_contents(contents);
    }
    return status;
}

int cli_read(cli_options *options)
{
    if (options->argument_count == 0) {
        cli_complain("no resource to read; usage: patchbay read URI (patchbay list resources)");
        return EXIT_USAGE;
    }
    cli_local *local = NULL;
    hub_str json;
    uint64_t begun_ms = hub_clock_now_ms();
    int status = cli_local_open(options, true, &local);
    if (status == EXIT_OK) {
        bool good = request(options, local, begun_ms, &json);
        if (options->json) {
            cli_print_json(json);
        } else if (good) {
            status = print_result(json);
        } else {
            cli_complain_of(json);
        }
        status = good ? status : EXIT_TOOL;
    }
    cli_local_close(local);
    return status;
}
