/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manual page patchbay(1), as scdoc reads it: written from the tables of commands and options that
 * the program itself reads. By hand are what the program is, where its files are, and exit codes.
 */
#include "cli/cli.h"

#include "config/manual_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char HEAD[] =
    "patchbay(1)\n\n# NAME\n\n"
    "patchbay - a hub for the Model Context Protocol (MCP)\n\n# SYNOPSIS\n\n"
    "*patchbay* [_COMMAND_] [_OPTION_]... [_ARGUMENT_]...\n\n# DESCRIPTION\n";

static const char ABOUT[] =
    "Patchbay stands between AI clients and MCP servers. It serves the tools of plugins and of "
    "other servers to any client, over stdio, HTTP, WebSocket and Unix sockets, and decides what "
    "of "
    "it is shown. Toolsets can be enabled and disabled while it runs. Without a command it serves.";

/* A term, and what it means. */
typedef struct entry {
    const char *term;
    const char *text;
} entry;

static const entry FILES[] = {
    {"$XDG_CONFIG_HOME/patchbay/patchbay.yaml",
     "The manifest of a command line that names none, unless patchbay.yaml or hub.yaml is in the "
     "working folder; else /etc/patchbay/patchbay.yaml. None is read that others could have "
     "written."},
    {"$XDG_DATA_HOME/patchbay/bundles/", "Bundles that were added, unpacked."},
    {"$XDG_CONFIG_HOME/patchbay/tokens.json", "Tokens of HTTP clients, by their digests."},
    {"$XDG_CACHE_HOME/patchbay/", "The lists that servers gave when they were last asked."},
};

static const entry VARIABLES[] = {
    {"PATCHBAY_TOOLSET_ENABLED", "For a toolset that no file names: 0 or false leaves it out. Its "
                                 "name is in upper case, with an "
                                 "underscore for each character that is not a letter or digit."},
};

static const entry EXIT_CODES[] = {
    {"0", "All went well."},
    {"1", "An internal error; status: a toolset has failed."},
    {"2", "The command line is wrong."},
    {"3", "A manifest, or what it asks for, is wrong; status: no hub answers."},
    {"4", "The hub cannot listen."},
    {"5", "A toolset cannot be reached."},
    {"6", "The tool reports an error, or there is no such tool."},
};

static void add_entries(hub_buf *out, const char *title, const entry *entries, size_t count)
{
    hub_buf_printf(out, "\n# %s\n", title);
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(out, HUB_STR("\n*"));
        hub_manual_add(out, hub_str_of(entries[i].term));
        hub_buf_add(out, HUB_STR("*"));
        hub_manual_add_paragraph(out, 1, hub_str_of(entries[i].text));
    }
}

static void add_option(hub_buf *out, const cli_option *option)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_printf(out, "\n\t*%s*", option->name);
    if (option->alias != NULL) {
        hub_buf_printf(out, ", *%s*", option->alias);
    }
    if (option->value != NULL) {
        hub_buf_add_char(out, ' ');
        hub_manual_add(out, hub_str_of(option->value));
    }
    hub_buf_printf(&text, "%c%s.", toupper((unsigned char)option->help[0]), option->help + 1);
    hub_manual_add_paragraph(out, 2, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static void add_command(hub_buf *out, const cli_command *command)
{
    hub_buf_printf(out, "\n*patchbay %s*%s", command->name,
                   command->synopsis[0] != '\0' ? " " : "");
    hub_manual_add(out, hub_str_of(command->synopsis));
    hub_manual_add_paragraph(out, 1, hub_str_of(command->summary));
    if (command->help != NULL) {
        hub_manual_add_paragraph(out, 1, hub_str_of(command->help));
    }
    size_t at = 0;
    for (cli_option option; cli_option_next(&at, command->name, &option);) {
        add_option(out, &option);
    }
}

int cli_manual(cli_options *options)
{
    (void)options;
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_buf_add(&out, hub_str_of(HEAD));
    hub_manual_add_paragraph(&out, 0, hub_str_of(ABOUT));
    hub_buf_add(&out, HUB_STR("\n# COMMANDS\n"));
    for (const cli_command *command = CLI_COMMANDS; command->name != NULL; command++) {
        add_command(&out, command);
    }
    add_entries(&out, "FILES", FILES, sizeof FILES / sizeof FILES[0]);
    add_entries(&out, "ENVIRONMENT", VARIABLES, sizeof VARIABLES / sizeof VARIABLES[0]);
    add_entries(&out, "EXIT STATUS", EXIT_CODES, sizeof EXIT_CODES / sizeof EXIT_CODES[0]);
    hub_buf_add(&out, HUB_STR("\n# SEE ALSO\n\n*patchbay.yaml*(5)\n"));
    int status = hub_buf_ok(&out) ? EXIT_OK : EXIT_INTERNAL;
    if (status == EXIT_OK) {
        (void)fwrite(out.ptr, 1, out.len, stdout);
    }
    hub_buf_fini(&out);
    return status;
}
