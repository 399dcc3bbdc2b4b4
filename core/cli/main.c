/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/inherited.h"
#include "base/log.h"
#include "base/loop.h"
#include "cli/rows.h"
#include "modules/crash.h"
#include "state/secrets.h"
#include "redact/redact.h"
#include "tools/suspects.h"

#include <patchbay/plugin.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const cli_command CLI_COMMANDS[] = {
    {"serve", "[OPTION]...", "Serve the toolsets to a client (this is the default command).",
     "Without a listener (--http, --unix, or `listen` in the manifest) it serves one client over\n"
     "stdin and stdout, as MCP clients start it; with a listener, only with --stdio. The log says\n"
     "where it listens (event listen.ready). The hub reloads its configuration on SIGHUP, and\n"
     "when one of its files changes (event config.reloaded or config.refused).",
     0, cli_serve},
    {"list", "[tools|resources|prompts|toolsets|modules] [--json] [OPTION]...",
     "Show what the hub would offer. Without a word: tools.", NULL, 1, cli_list},
    {"status", "[--json] [--http URL|PORT [--token-file FILE] | --unix PATH]... [OPTION]...",
     "Show the state of a running hub's toolsets.",
     "Without an address, it asks the hub at the listeners of the manifest (--config). It tries\n"
     "Unix sockets first, then HTTP addresses, until a hub answers. Exit code: 0 when no toolset\n"
     "has failed, 1 when one has, 3 when no hub answers.",
     0, cli_status},
    {"top", "[--http URL|PORT [--token-file FILE] | --unix PATH]... [OPTION]...",
     "Watch a running hub in the terminal: rates, latencies and states, each second.",
     "Failed toolsets come first, then the busiest; q ends it. When it does not write to a\n"
     "terminal, it watches for one second, prints that, and ends. It finds the hub as `status` "
     "does.",
     0, cli_top},
    {"tail",
     "[toolset=KEY] [tool=NAME] [principal=NAME] [event=NAME] [--json] [--http URL|PORT "
     "[--token-file FILE] | --unix PATH]... [OPTION]...",
     "Follow the calls of a running hub, and what else happens, a line each.",
     "Each word is a condition, with * and ? as in file names. A line is printed when all "
     "conditions\n"
     "hold; nothing is printed until something happens. The hub wants the scope admin:read, or "
     "its\n"
     "own user on its Unix socket. Times are UTC. It ends with the hub. It finds the hub as "
     "`status`\n"
     "does.",
     CLI_MAX_LIST, cli_tail},
    {"ui", "[--http URL|PORT [--token-file FILE] | --unix PATH]... [OPTION]...",
     "Print a link to the dashboard of a running hub.",
     "The link is good once, within a minute, and shows what this command may see: on a Unix "
     "socket\n"
     "of the hub's own user everything, by a token what its scopes allow. A listener of the hub "
     "must\n"
     "say `ui: true`. Exit code: 3 when no hub answers.",
     0, cli_ui},
    {"call", "TOOL [JSON|-|NAME=VALUE...] [--json] [OPTION]...",
     "Call one tool and print its result; '-' reads the arguments from stdin.",
     "NAME=VALUE is text, or what the tool's schema wants instead, where VALUE is that: a number,\n"
     "true, a list. NAME:=JSON is JSON whatever the schema says.\n"
     "With --from the argument is the block by which a model asks for the call (anthropic: "
     "tool_use;\n"
     "openai: an entry of tool_calls, or a function_call), from stdin unless it is given, and what "
     "is\n"
     "printed is the block that answers it. Exit code: 6 when the tool reports an error, or there "
     "is\n"
     "no such tool.",
     CLI_MAX_LIST, cli_call},
    {"read", "URI [--json] [OPTION]...", "Read one resource and print its contents.",
     "Text and data go to stdout as they are; a terminal is shown text alone, without control\n"
     "characters. Exit code: 6 when there is no such resource, or it cannot be read.",
     1, cli_read},
    {"export", "--format FORMAT [--strict] [OPTION]...",
     "Print the tools in the form that a model API takes.",
     "Standard error names each part of a tool's schema that the API ignores or has no place for,\n"
     "once for each tool. The hub's own tools are not exported. Exit code: 6 when a tool was left "
     "out.",
     0, cli_export},
    {"check", "FILE [--connect] [--json] [OPTION]...",
     "Check a manifest; with --connect, also start every server in it.",
     "With --json each thing that is found is an object on a line of its own.", 1, cli_check},
    {"module", "inspect FILE.so [--config-json JSON|FILE|-] [--config FILE]",
     "Check a plugin file; show its description, tools, resources and prompts.",
     "Its configuration is given, or that of the first toolset of a manifest that is of this "
     "plugin.\n"
     "Without any, and where the plugin needs one, the description alone is shown.",
     2, cli_module},
    {"module-host", "FILE.so [--config-json -|FILE] [--memory-limit SIZE]",
     "Serve one plugin to a client over stdin and stdout.",
     "Toolsets with `isolation: process` are run so. The tools have the plugin's own names. With\n"
     "`--config-json -` the first line of stdin is the plugin's configuration.",
     1, cli_module_host},
    {"token",
     "new NAME [--expires 90d] [--scopes A,B] [--groups A,B] [--profile NAME] | list [--json] | "
     "revoke NAME|ID  [--tokens FILE]",
     "Create, list and revoke bearer tokens for HTTP clients.",
     "`new` prints the token once; the file keeps only its digest. Its owner is the\n"
     "principal token:NAME, with these scopes and groups; --profile pins it to one profile.\n"
     "A name may have several\n"
     "tokens: `revoke NAME` revokes all of them, `revoke ID` one. A running hub applies changes\n"
     "at once. The file is the one of --tokens, else of auth.tokens in the manifest (--config),\n"
     "else $XDG_CONFIG_HOME/patchbay/tokens.json.",
     2, cli_token},
    {"state", "check [--json] | export [--decrypt] | import FILE|- [--keep|--replace] | rekey",
     "Check, export and import what the hub remembers, and encrypt its secrets again.",
     "`export` writes a line of JSON for each record. Secrets stay encrypted, or are left out "
     "when\n"
     "they are not; --decrypt writes them as they are. `import` adds records; if one is there "
     "with\n"
     "other content nothing is imported, unless --keep or --replace says whose is to stay.\n"
     "`rekey` encrypts all secrets with the first key of the key file (`state: {key: FILE}`); put\n"
     "the older ones behind it. The store is the one of the manifest (--config), else\n"
     "$XDG_STATE_HOME/patchbay/state.db.",
     2, cli_state},
    {"secret", "set NAME | list [--json] | rm NAME  [--config FILE]",
     "Keep secrets in the store, for ${secret:NAME} in the manifest.",
     "`set` reads the value from stdin, or asks for it at a terminal without showing it; a "
     "newline\n"
     "at its end is left off. A running hub takes a new value at once. Values are never\n"
     "shown. The store is that of the manifest (--config): give the hub the same one.",
     2, cli_secret},
#ifdef PATCHBAY_HTTP
    {"login", "TOOLSET | list [--json] | logout TOOLSET  [--principal P] [--config FILE]",
     "Log in to the server of a toolset, or out again.",
     "Prints the address to log in at, opens it where there is a desktop, and waits for the "
     "browser\n"
     "to come back. Tokens are kept in the store; a running hub uses them at once. `logout` "
     "revokes\n"
     "and forgets them, `list` says what there is, without tokens: docs/LOGIN.md.",
     2, cli_login},
#endif
    {"toolset",
     "list | show NAME | build NAME ID... | edit NAME CHANGE [ID]... | "
     "equip NAME | unequip | delete NAME | export [NAME...] | import FILE|- | "
     "diff NAME [OTHER|FILE]  [--http URL|PORT [--token-file FILE] | --unix PATH]... [OPTION]...",
     "Build, look at, equip and exchange saved toolsets.",
     "A saved toolset is a selection of tools under a name: docs/SAVED-TOOLSETS.md. IDs are\n"
     "TOOLSET:TOOL. CHANGE is add or remove, with IDs; or accept: a definition that a server has\n"
     "changed is then the one that the saved toolset means. `diff NAME` shows such changes;\n"
     "`diff NAME OTHER` shows how two saved toolsets differ. `build` and `edit NAME remove` take "
     "patterns, too. A hub that runs, with "
     "the same manifest, follows at once. With --http or --unix a hub that runs is asked, as the "
     "user\n"
     "or the token that asks: then there is no export and no import.",
     CLI_MAX_LIST, cli_toolset},
    {"completion", "bash|zsh|fish", "Print a script for the shell that completes command lines.",
     "For the shell at hand: source <(patchbay completion bash). Packages install the scripts\n"
     "where shells look for them. Names of tools and toolsets are those of the manifest\n"
     "(--config); no server is started to learn them.",
     1, cli_completion},
    {"manual", "", "Print the source of the manual page, for scdoc.", NULL, 0, cli_manual},
    {"access", "explain PRINCIPAL TOOLSET:TOOL [--arguments JSON] | test FILE  [--config FILE]",
     "Say what the access rules of a manifest decide.",
     "`explain` says which rule decides for a principal, such as token:NAME or uid:1000. `test`\n"
     "holds the rules against a file of expectations: see docs/ACCESS.md. No server is started,\n"
     "and what servers say of their tools is not known.",
     3, cli_access},
    {"audit", "verify FILE...", "Check that audit files are as the hub has written them.",
     "Each line of an audit file (`log: {audit: FILE}`) is tied to the one before it by a digest:\n"
     "a line that was changed, removed, inserted or moved shows. Give rotated files, the oldest\n"
     "first; '-' is stdin. Keep the digest of the last line elsewhere to notice when a file is\n"
     "cut at its end, or written again. Exit code: 1 when something is not as it was written.",
     CLI_MAX_LIST, cli_audit},
    {"lock", "[--diff] [--config FILE] [OPTION]...",
     "Write down what all servers offer, as approved, into patchbay.lock beside the manifest.",
     "It starts every server. The file has a digest and the text of each tool and prompt, of the\n"
     "instructions, and the command or URL. Keep it with the manifest under version control.\n"
     "`policy: {pinned: withhold}` then keeps from clients what is not as the file has it. What\n"
     "cannot be reached stays as it was. Exit code: 5 when a server cannot be reached; with "
     "--diff\n"
     "1 when something has changed.",
     0, cli_lock},
    {"approve",
     "[TOOLSET[:TOOL]] [--show] [--config FILE] [--http URL|PORT [--token-file FILE] | --unix "
     "PATH]... [OPTION]...",
     "Take what a server offers now into patchbay.lock.",
     "Without a word it approves all that has changed; with TOOLSET what this toolset offers; "
     "with\n"
     "TOOLSET:TOOL one tool or prompt. --show prints what has changed, member by member, and\n"
     "writes nothing. A running hub takes an approval at once. With --http or --unix the hub that "
     "runs\n"
     "approves what its servers have told it, with its own lock file: no server is started.",
     1, cli_approve},
    {"init", "[--config FILE]", "Make a manifest with nothing in it.",
     "The commands that change a manifest change the one of --config, else the user's own:\n"
     "$XDG_CONFIG_HOME/patchbay/patchbay.yaml. They keep comments, order and layout, write\n"
     "nothing that the hub would not read, and replace the file at once. A running hub reloads it.",
     0, cli_init},
    {"search", "TEXT [--json] [--registry URL]",
     "Look for servers in the registry of MCP servers, by a part of their names.",
     "`patchbay add NAME` adds one that it finds. It asks the registry on the network. To search "
     "the\n"
     "tools of a hub, call its tool search_tools: docs/SEARCH.md.",
     1, cli_search},
    {"add",
     "NAME -- COMMAND [ARGUMENT]... | NAME URL | NAME --module PLUGIN | SERVER[@VERSION] | "
     "FILE.mcpb  "
     "[OPTION]...",
     "Add a server or a plugin to the manifest.",
     "SERVER is a name of the registry of MCP servers, such as io.github.owner/server. What it "
     "would "
     "run\n"
     "is shown, and you are asked; one version is written down, and never another one run. "
     "Packages of\n"
     "npm and PyPI are pinned by their version, images by their digest. What the server asks for "
     "is\n"
     "given by --input, or at the terminal; secrets go to the store. A bundle (FILE.mcpb, or its "
     "URL\n"
     "with --digest) is unpacked, shown and asked about in the same way; its files are held "
     "against\n"
     "their digest at each start.\n"
     "The file may be another program's, too, such as .mcp.json. Variables such as ${TOKEN} in\n"
     "values are expanded when the hub reads them: quote them from the shell.",
     CLI_MAX_LIST, cli_add},
    {"run-bundle", "--digest HEX -- FOLDER COMMAND [ARGUMENT]...",
     "Run a command if the files of a folder are the ones that were added.",
     "Servers of bundles are started so: see patchbay help add.", CLI_MAX_LIST, cli_run_bundle},
    {"remove", "NAME", "Take a toolset out of the manifest.", NULL, 1, cli_remove},
    {"enable", "NAME", "Switch a toolset of the manifest on.",
     "This changes the file. What clients switch for themselves is theirs: enable_toolset.", 1,
     cli_enable},
    {"disable", "NAME", "Switch a toolset of the manifest off, which keeps its settings.", NULL, 1,
     cli_disable},
    {"set", "KEY VALUE", "Give a key of the manifest a value.",
     "KEY is like toolsets.git.timeout, or a JSON pointer where names have dots in them\n"
     "(/toolsets/a.b/timeout). VALUE is what a manifest would have: 30s, true, [a, b], {a: b}.",
     2, cli_set},
    {"unset", "KEY", "Take a key out of the manifest.", NULL, 1, cli_unset},
    {"import",
     "[claude|claude-code|cline|cursor|gemini|lmstudio|opencode|vscode|windsurf|zed|FILE]",
     "Take servers over from other programs into the manifest.",
     "Without a word: from all of these that are there. Their files are read only. What cannot be\n"
     "taken over is told, and stops nothing else. Exit code: 3 when no server is imported.",
     1, cli_import},
    {"connect", "claude|claude-code|cline|cursor|gemini|lmstudio|opencode|vscode|windsurf|zed",
     "Write the hub into the configuration of a program.",
     "The program then starts the hub, with the manifest of --config. What else is in its file\n"
     "stays as it is; a copy of it is kept (FILE.before-patchbay). --undo takes the hub out.",
     1, cli_connect},
    {"doctor", "[--connect] [--json] [--config FILE]",
     "Say what is wrong with the installation, and what helps.",
     "It looks at the manifest and its variables, plugins, the programs that servers are started\n"
     "with and their versions, proxies, certificates, folders and listeners. With --connect it\n"
     "starts each server, and says which are slow. Exit code: 3 when there is a problem.",
     0, cli_doctor},
    {"version", "[--json]", "Print the version.", NULL, 0, cli_version},
    {"help", "[COMMAND [WORD]]", "Show help.", NULL, 2, cli_help},
    {NULL, NULL, NULL, NULL, 0, NULL},
};

const cli_command *cli_find_command(const char *name)
{
    for (const cli_command *command = CLI_COMMANDS; command->name != NULL; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

/* A line that no terminal obeys, in one piece; `shows` is whether what is not seen, or turns text
 * around, is written out. */
static void print_visibly(FILE *to, const char *before, hub_str text, bool shows)
{
    hub_buf line;
    hub_buf_init(&line, SIZE_MAX / 4);
    hub_buf_add(&line, hub_str_of(before));
    if (shows) {
        hub_suspects_add_visible(text, &line);
    } else {
        hub_buf_add(&line, text);
    }
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.ptr[i];
        line.ptr[i] = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? '?' : line.ptr[i];
    }
    hub_buf_add_char(&line, '\n');
    hub_str whole = hub_buf_ok(&line) ? hub_buf_str(&line) : HUB_STR("patchbay: out of memory\n");
    (void)fwrite(whole.ptr, 1, whole.len, to); /* nobody to tell when it is gone */
    hub_buf_fini(&line);
}

HUB_PRINTF(1, 0) static void say(const char *format, va_list args, bool may_be_row)
{
    char *text = NULL;
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    bool is_made = vasprintf(&text, format, args) >= 0;
    hub_str shown = is_made ? hub_str_of(text) : HUB_STR("out of memory");
    if (hub_redact(shown, &masked)) {
        shown = hub_buf_ok(&masked) ? hub_buf_str(&masked) : HUB_STR(HUB_REDACTED);
    }
    if (!may_be_row || !cli_row_complain(shown)) {
        print_visibly(stderr, "patchbay: ", shown, true);
    }
    hub_buf_fini(&masked);
    if (is_made) {
        free(text);
    }
}

void cli_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, true);
    va_end(args);
}

void cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, false);
    va_end(args);
}

void cli_add_line(hub_buf *out, hub_str text)
{
    size_t from = out->len;
    hub_suspects_add_visible(text, out);
    for (size_t i = from; i < out->len; i++) {
        unsigned char c = (unsigned char)out->ptr[i];
        out->ptr[i] = c < 0x20 || c == 0x7f ? '?' : out->ptr[i];
    }
}

void cli_print(hub_str text)
{
    print_visibly(stdout, "", text, isatty(STDOUT_FILENO) == 1);
}

void cli_report(hub_str text)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    bool is_masked = hub_redact(text, &masked);
    cli_print(!is_masked            ? text
              : hub_buf_ok(&masked) ? hub_buf_str(&masked)
                                    : HUB_STR(HUB_REDACTED));
    hub_buf_fini(&masked);
}

void cli_print_json(hub_str json)
{
    (void)fwrite(json.ptr, 1, json.len, stdout); /* escaped by whoever wrote the JSON */
    (void)putchar('\n');
}

int cli_version(cli_options *options)
{
    if (!options->json) {
        (void)puts("patchbay " PATCHBAY_VERSION);
        return EXIT_OK;
    }
    hub_buf row;
    char abi[32];
    (void)snprintf(abi, sizeof abi, "%" PRIu32 ".%" PRIu32, PATCHBAY_ABI_MAJOR(PATCHBAY_ABI),
                   PATCHBAY_ABI_MINOR(PATCHBAY_ABI));
    cli_row_begin(&row);
    cli_row_add(&row, "name", HUB_STR("patchbay"));
    cli_row_add(&row, "version", HUB_STR(PATCHBAY_VERSION));
    cli_row_add(&row, "abi", hub_str_of(abi));
    cli_row_print(&row);
    return EXIT_OK;
}

static void print_overview(void)
{
    (void)puts("patchbay: a hub for the Model Context Protocol\n\n"
               "usage: patchbay [COMMAND] [OPTION]...\n\ncommands:");
    for (const cli_command *command = CLI_COMMANDS; command->name != NULL; command++) {
        (void)printf("  %-11s %s\n", command->name, command->summary);
    }
    (void)puts("\nWithout a command it serves. The options of a command: patchbay help COMMAND");
}

static int print_help(const cli_command *command)
{
    (void)printf("usage: patchbay %s %s\n\n%s\n", command->name, command->synopsis,
                 command->summary);
    if (command->help != NULL) {
        (void)puts(command->help);
    }
    (void)puts("\noptions:");
    cli_print_options(command->name);
    return EXIT_OK;
}

bool cli_verb_next(const char **at, hub_str *ret_verb)
{
    const char *word = *at;
    while (*(word += strspn(word, " |[]")) != '\0') {
        size_t len = strcspn(word, " |[]");
        size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz-");
        *at = word + len;
        if (letters == len && word[0] != '-') {
            *ret_verb = (hub_str){.ptr = word, .len = len};
            return true;
        }
        word = *at;
    }
    return false;
}

/* Whether a word of a command's synopsis is one to be typed as it is: `token new`. */
static bool has_verb(const cli_command *command, const char *word)
{
    hub_str verb;
    for (const char *at = command->synopsis; cli_verb_next(&at, &verb);) {
        if (hub_str_is(verb, word)) {
            return true;
        }
    }
    return false;
}

/* A word that is no command: say what it may have meant. */
static int unknown_command(const char *word)
{
    const char *names[sizeof CLI_COMMANDS / sizeof CLI_COMMANDS[0]];
    size_t n = 0;
    for (const cli_command *command = CLI_COMMANDS; command->name != NULL; command++) {
        names[n++] = command->name;
    }
    names[n] = NULL;
    hub_str near = hub_str_nearest(hub_str_of(word), names);
    if (near.len > 0) {
        cli_complain("there is no command \"%s\"; did you mean \"" HUB_STR_FMT "\"?", word,
                     HUB_STR_ARG(near));
    } else {
        cli_complain("there is no command \"%s\": see patchbay help", word);
    }
    return EXIT_USAGE;
}

int cli_help(cli_options *options)
{
    if (options->argument_count == 0) {
        print_overview();
        return EXIT_OK;
    }
    const cli_command *command = cli_find_command(options->arguments[0]);
    if (command == NULL) {
        return unknown_command(options->arguments[0]);
    }
    if (options->argument_count > 1 && !has_verb(command, options->arguments[1])) {
        cli_complain("\"%s\" is one argument too many", options->arguments[1]);
        return EXIT_USAGE;
    }
    return print_help(command);
}

static int run(int argc, char **argv)
{
    const cli_command *command = &CLI_COMMANDS[0];
    int skip = 1;
    bool asks_version =
        argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0);
    if (argc > 1 && (argv[1][0] != '-' || asks_version)) {
        command = cli_find_command(asks_version ? "version" : argv[1]);
        skip = 2;
        if (command == NULL) {
            return unknown_command(argv[1]);
        }
    }
    if (argc == 1 && isatty(STDIN_FILENO)) {
        print_overview();
        return EXIT_OK;
    }
    static cli_options options; /* large, and needed for the whole run */
    int status = cli_options_read(argc - skip, argv + skip, command, &options);
    if (status == -1) {
        if (argc > 1 && skip == 1) {
            print_overview();
            return EXIT_OK;
        }
        return print_help(command);
    }
    return status == EXIT_OK ? command->run(&options) : status;
}

int cli_finish_output(int status)
{
    struct stat out;
    bool is_lost = fflush(stdout) != 0 || ferror(stdout) != 0;
    bool is_for_reader =
        fstat(STDOUT_FILENO, &out) == 0 && (S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode));
    if (!is_lost || is_for_reader) {
        return status;
    }
    cli_complain(
        "not all of the output could be written: look at where it goes (is the disk full?)");
    clearerr(stdout); /* it is said once */
    return status == EXIT_OK ? EXIT_INTERNAL : status;
}

int main(int argc, char **argv)
{
    hub_state_keys_take_environment();
    hub_inherited_init();
    hub_loop_init();
    hub_log_mask_by(hub_redact);
    hub_crash_setup();
    bool completes = argc > 1 && strcmp(argv[1], "complete") == 0;
    return cli_finish_output(completes ? cli_complete(argc - 2, argv + 2) : run(argc, argv));
}
