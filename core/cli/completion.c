/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of command lines. The scripts for shells only ask: `patchbay complete WORD...` says
 * what the last word may become, by the tables of commands and options that the program itself
 * reads, and by the manifest. No server is started for it: what was never learned is not offered.
 */
#include "cli/cli.h"
#include "cli/manifest_edit.h"
#include "cli/toolset_documents.h"

#include "hub/kernel/hub.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "tools/shown.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *shell;
    const char *script;
} SCRIPTS[] = {
    {"bash", "_patchbay() {\n"
             "    local word about\n"
             "    COMPREPLY=()\n"
             "    while IFS=$'\\t' read -r word about; do\n"
             "        case $word in\n"
             "        :file) compopt -o default; COMPREPLY=(); return ;;\n"
             "        :dir) compopt -o dirnames; COMPREPLY=(); return ;;\n"
             "        *) COMPREPLY+=(\"$word\") ;;\n"
             "        esac\n"
             "    done < <(\"${COMP_WORDS[0]}\" complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
             "2>/dev/null)\n"
             "}\n"
             "complete -F _patchbay patchbay"},
    {"zsh", "#compdef patchbay\n"
            "_patchbay() {\n"
            "    local word about\n"
            "    local -a found\n"
            "    while IFS=$'\\t' read -r word about; do\n"
            "        case $word in\n"
            "        :file) _files; return ;;\n"
            "        :dir) _files -/; return ;;\n"
            "        *) found+=(\"${word//:/\\\\:}:$about\") ;;\n"
            "        esac\n"
            "    done < <(\"${words[1]}\" complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
            "    _describe patchbay found\n"
            "}\n"
            "if [ \"$funcstack[1]\" = _patchbay ]; then\n"
            "    _patchbay\n"
            "else\n"
            "    compdef _patchbay patchbay\n"
            "fi"},
    {"fish", "function __patchbay_complete\n"
             "    set -l words (commandline -opc)\n"
             "    set -l word (commandline -ct)\n"
             "    for line in ($words[1] complete $words[2..-1] \"$word\" 2>/dev/null)\n"
             "        switch $line\n"
             "            case ':file'\n"
             "                __fish_complete_path \"$word\"\n"
             "            case ':dir'\n"
             "                __fish_complete_directories \"$word\"\n"
             "            case '*'\n"
             "                echo $line\n"
             "        end\n"
             "    end\n"
             "end\n"
             "complete -c patchbay -f -a '(__patchbay_complete)'"},
};

int cli_completion(cli_options *options)
{
    const char *shell = options->argument_count > 0 ? options->arguments[0] : "";
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof SCRIPTS[0]; i++) {
        if (strcmp(shell, SCRIPTS[i].shell) == 0) {
            (void)puts(SCRIPTS[i].script);
            return EXIT_OK;
        }
    }
    cli_complain("name the shell: patchbay completion bash, zsh or fish");
    return EXIT_USAGE;
}

/* What is being completed. */
typedef struct command_line {
    int count; /* of words, the last of which is the one to complete */
    char **words;
    const cli_command *command;
    hub_str begin;    /* what is there of the last word */
    const char *head; /* of a list: what stands in front of that, with its comma */
    size_t head_len;
} command_line;

/* Of a description, the first line. */
static void offer(const command_line *line, hub_str word, hub_str about)
{
    if (!hub_str_starts(word, line->begin)) {
        return;
    }
    size_t end = hub_str_find(about, HUB_STR("\n"));
    about.len = end == SIZE_MAX ? about.len : end;
    (void)printf("%.*s" HUB_STR_FMT "\t", (int)line->head_len, line->head, HUB_STR_ARG(word));
    cli_print(about);
}

/* The options of the command line so far; NULL: they are wrong. */
static cli_options *read_options(const command_line *line)
{
    static cli_options options; /* large */
    int skip = line->words[0][0] == '-' ? 0 : 1;
    int status =
        cli_options_read(line->count - 1 - skip, line->words + skip, line->command, &options);
    return status == EXIT_OK ? &options : NULL;
}

/* A hub as the command line so far would make it; NULL when it would make none. */
static cli_local *open_hub(const command_line *line)
{
    cli_options *options = read_options(line);
    cli_local *local = NULL;
    if (options == NULL || cli_local_open(options, true, &local) != EXIT_OK) {
        return NULL;
    }
    return local;
}

static void offer_tools(const command_line *line)
{
    cli_local *local = open_hub(line);
    if (local == NULL) {
        return;
    }
    const hub_shown *tools =
        hub_sight_shown(hub_session_sight(cli_local_session(local)), HUB_KIND_TOOL);
    hub_shown_place place = {0};
    for (const hub_entry *entry; (entry = hub_shown_next(tools, &place)) != NULL;) {
        offer(line, entry->exposed, HUB_STR_EMPTY);
    }
    cli_local_close(local);
}

static void offer_toolsets(const command_line *line)
{
    cli_local *local = open_hub(line);
    if (local == NULL) {
        return;
    }
    const hub_orchestrator *hub = cli_local_hub(local);
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        offer(line, hub_str_of(hub_toolset_key(toolset)), HUB_STR_EMPTY);
    }
    cli_local_close(local);
}

/* What the file has that a command would change: not the one that the hub would read. A name that a
 * shell would take apart is not offered. */
static void offer_entries(const command_line *line)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    manifest_edit edit;
    cli_options *options = read_options(line);
    if (options == NULL || cli_manifest_begin(&edit, options, false) != EXIT_OK) {
        return;
    }
    hub_edit_path path = cli_manifest_toolset(&edit, "", NULL);
    path.count--;
    const hub_node *entries = cli_manifest_find(&edit, &path);
    const hub_node *one = entries != NULL ? entries->first : NULL;
    for (; one != NULL; one = one->next) {
        if (one->key != NULL && one->key[0] != '-' && one->key[strspn(one->key, PLAIN)] == '\0') {
            offer(line, hub_str_of(one->key), HUB_STR_EMPTY);
        }
    }
    cli_manifest_abandon(&edit);
}

static void offer_name(void *ctx, hub_str name, hub_str about)
{
    offer(ctx, name, about);
}

/* Names of saved toolsets. */
static void offer_saved(const command_line *line)
{
    static const cli_options NO_OPTIONS = {.owner = NULL};
    cli_local *local = open_hub(line);
    if (local != NULL) {
        cli_saved_each_name(&NO_OPTIONS, local, offer_name, (void *)(uintptr_t)line);
    }
    cli_local_close(local);
}

static void offer_commands(const command_line *line)
{
    for (const cli_command *command = CLI_COMMANDS; command->name != NULL; command++) {
        offer(line, hub_str_of(command->name), hub_str_of(command->summary));
    }
}

static void offer_options(const command_line *line)
{
    size_t at = 0;
    for (cli_option option; cli_option_next(&at, line->command->name, &option);) {
        offer(line, hub_str_of(option.name), hub_str_of(option.help));
    }
}

static void offer_verbs(const command_line *line)
{
    hub_str verb;
    for (const char *at = line->command->synopsis; cli_verb_next(&at, &verb);) {
        offer(line, verb, HUB_STR_EMPTY);
    }
}

static bool has_word(const char *text, const char *word)
{
    return text != NULL && strstr(text, word) != NULL;
}

/* Of "a,b,c" only what is behind the last comma is completed. */
static void offer_list_of_toolsets(command_line *line)
{
    const char *comma = memrchr(line->begin.ptr, ',', line->begin.len);
    if (comma != NULL) {
        line->head = line->begin.ptr;
        line->head_len = (size_t)(comma - line->begin.ptr) + 1;
        line->begin = hub_str_from(line->begin, line->head_len);
    }
    offer_toolsets(line);
}

static void offer_value(command_line *line, const cli_option *option)
{
    if (option->words != NULL) {
        for (const hub_config_word *word = option->words; word->word != NULL; word++) {
            if (!word->is_alias) {
                offer(line, hub_str_of(word->word), HUB_STR_EMPTY);
            }
        }
    } else if (strcmp(option->name, "--equip") == 0) {
        offer_saved(line);
    } else if (has_word(option->value, "A,B")) {
        offer_list_of_toolsets(line);
    } else if (has_word(option->value, "DIR")) {
        (void)puts(":dir");
    } else if (has_word(option->value, "FILE") || has_word(option->value, "PATH")) {
        (void)puts(":file");
    }
}

/* The option of this name that takes a value; false: none. */
static bool find_option(const cli_command *command, hub_str name, cli_option *ret_option)
{
    for (size_t at = 0; cli_option_next(&at, command->name, ret_option);) {
        bool is_it = hub_str_is(name, ret_option->name) ||
                     (ret_option->alias != NULL && hub_str_is(name, ret_option->alias));
        if (is_it && ret_option->value != NULL) {
            return true;
        }
    }
    return false;
}

/* What the argument of a command is, where it is no verb and no file. */
static const struct {
    const char *command;
    void (*offer)(const command_line *line);
} ARGUMENTS[] = {
    {"help", offer_commands},  {"call", offer_tools},      {"approve", offer_toolsets},
    {"enable", offer_entries}, {"disable", offer_entries}, {"remove", offer_entries},
};

static void offer_argument(command_line *line)
{
    const char *synopsis = line->command->synopsis;
    const char *name = line->command->name;
    hub_str verb;
    const char *at = synopsis;
    for (size_t i = 0; i < sizeof ARGUMENTS / sizeof ARGUMENTS[0]; i++) {
        if (strcmp(name, ARGUMENTS[i].command) == 0) {
            ARGUMENTS[i].offer(line);
            return;
        }
    }
    if (strcmp(name, "login") == 0) {
        offer_toolsets(line);
        if (line->count <= 2) {
            offer_verbs(line);
        }
    } else if (strcmp(name, "toolset") == 0 && line->count > 2) {
        offer_saved(line);
    } else if (line->count <= 2 && cli_verb_next(&at, &verb)) {
        offer_verbs(line);
    } else if (has_word(synopsis, "FILE")) {
        (void)puts(":file");
    }
}

/* bash splits "--naming=flat" into three words; of ours the one in the middle goes. */
static int join_words(int argc, char **argv)
{
    int count = 0;
    for (int i = 0; i < argc; i++) {
        bool is_equals = strcmp(argv[i], "=") == 0 && count > 0;
        if (is_equals && i + 1 == argc) {
            argv[i][0] = '\0'; /* nothing of the value is there yet */
            is_equals = false;
        }
        if (!is_equals) {
            argv[count++] = argv[i];
        }
    }
    return count;
}

int cli_complete(int argc, char **argv)
{
    command_line line = {.count = join_words(argc, argv), .words = argv, .head = ""};
    if (line.count == 0) {
        return EXIT_USAGE;
    }
    const char *last = argv[line.count - 1];
    line.begin = hub_str_of(last);
    if (line.count == 1 && last[0] != '-') {
        offer_commands(&line);
        return EXIT_OK;
    }
    line.command = cli_find_command(argv[0][0] == '-' ? "serve" : argv[0]);
    if (line.command == NULL) {
        return EXIT_OK;
    }
    cli_option option;
    const char *equals = last[0] == '-' ? strchr(last, '=') : NULL;
    if (equals != NULL && find_option(line.command, hub_str_between(last, equals), &option)) {
        line.head = last;
        line.head_len = (size_t)(equals - last) + 1;
        line.begin = hub_str_of(equals + 1);
        offer_value(&line, &option);
    } else if (line.count > 1 &&
               find_option(line.command, hub_str_of(argv[line.count - 2]), &option)) {
        line.count--; /* the option has no value yet: it is not read */
        offer_value(&line, &option);
    } else if (last[0] == '-') {
        offer_options(&line);
    } else {
        offer_argument(&line);
    }
    return EXIT_OK;
}
