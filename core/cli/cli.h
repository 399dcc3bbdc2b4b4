/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: `patchbay [COMMAND] [OPTION]… [ARGUMENT]…`. main.c finds the command, options.c
 * reads what follows it, one file per command does the rest.
 *
 * stdout carries protocol (serve) or the answer (all others); everything else goes to stderr.
 * Precedence: flag, environment, file, default.
 */
#ifndef HUB_CLI_CLI_H
#define HUB_CLI_CLI_H

#include "config/config.h"
#include "config/keys.h"
#include "hub/orchestrator/orchestrator.h"
#include "state/sync.h"

/* Exit codes; documented in docs/CONFIGURATION.md. */
enum {
    EXIT_OK = 0,
    EXIT_INTERNAL = 1,    /* a bug, or no memory */
    EXIT_USAGE = 2,       /* the command line is wrong */
    EXIT_CONFIG = 3,      /* a manifest, or what it asks for, is wrong */
    EXIT_LISTEN = 4,      /* the clients' side cannot be served */
    EXIT_UNREACHABLE = 5, /* a toolset cannot be reached (check --connect, list) */
    EXIT_TOOL = 6,        /* the tool said it failed, or there is no such tool (call) */
};

enum { CLI_MAX_LIST = 256 };

/* What a command of saved toolsets needs of a hub of its own. */
typedef enum cli_saves {
    CLI_SAVES_NOT,
    CLI_SAVES_CHOICE, /* it has the tools of its choice … */
    CLI_SAVES,        /* … it starts nothing that is not asked for … */
    CLI_SAVES_LOOK,   /* … but knows what is equipped */
} cli_saves;

/* A command line, read. Strings are the process's arguments. */
typedef struct cli_options {
    const char *configs[CLI_MAX_LIST];
    size_t config_count;
    const char *plugin_dirs[CLI_MAX_LIST];
    size_t plugin_dir_count;
    const char *http[CLI_MAX_LIST];
    size_t http_count;
    const char *sockets[CLI_MAX_LIST];
    size_t socket_count;
    const char *allowed_hosts[CLI_MAX_LIST];
    size_t allowed_host_count;
    const char *allowed_origins[CLI_MAX_LIST];
    size_t allowed_origin_count;
    const char *profile;          /* NULL: default */
    const char *expires;          /* token new; NULL: never */
    const char *scopes;           /* token new: names with commas between; NULL: none */
    const char *groups;           /* likewise */
    const char *access_arguments; /* access explain: a JSON object; NULL: none */
    const char *config_json;      /* a module's: as cli_one_module_read takes it */
    const char *memory_limit;     /* module-host: a size; NULL: none */
    const char *tool;             /* call: its name; else NULL */
    const char *ca;               /* status: trusted authorities; NULL: the system's */
    const char *token_file;       /* status: holds the bearer token to ask with; NULL: none */
    bool stdio;
    bool json;
    bool connect;
    bool decrypt;      /* state export: secrets as they are */
    bool keep;         /* state import: records that are there stay … */
    bool replace;      /* … or do not */
    bool links_all;    /* modules are linked that no toolset names, too */
    bool refresh;      /* list: the same, as the command line says it */
    bool tells_config; /* the command says itself what is wrong with the configuration */
    bool asks_anew;    /* servers are to be asked what they offer, whatever is remembered of them */
    void (*on_step)(const char *what); /* check: see hub_settings; else NULL */
    hub_config_overrides overrides;
    const char *module;             /* add: the plugin's name; else NULL */
    const char *cwd;                /* add: the folder that the server works in; NULL: none */
    const char *description;        /* add: what it is for; NULL: nothing said */
    const char *envs[CLI_MAX_LIST]; /* add: NAME=VALUE */
    size_t env_count;
    const char *headers[CLI_MAX_LIST]; /* add: "NAME: VALUE" */
    size_t header_count;
    bool device;       /* login: with a browser of any machine */
    const char *owner; /* toolset, login: the principal whose it is; NULL: local, the hub's own */
    bool shares;       /* toolset: for all */
    cli_saves saves;
    const char *registry; /* search, add: its URL; NULL: the official one */
    const char *name;     /* add: the toolset's key; NULL: one made of the server's name */
    const char *package;  /* add: npm, pypi, oci, mcpb or remote; NULL: the first that there is */
    const char *digest;   /* add: of an image or a bundle; run-bundle: of its files */
    const char *inputs[CLI_MAX_LIST]; /* add: NAME=VALUE, of what a server asks for */
    size_t input_count;
    const char *workspace; /* import: what ${workspaceFolder} is; NULL: not said */
    bool yes;              /* add: nobody is asked */
    bool disabled;         /* add: it is switched off */
    const char *format;    /* export: what for; NULL: not said */
    const char *from;      /* call: whose block it is; NULL: none */
    bool strict;           /* export: a tool that would lose something is an error */
    bool removes;          /* connect: take the hub out again */
    bool diff;             /* lock, approve: show what has changed, and write nothing */
    bool dry_run;          /* show what would be written */
    bool found_config;     /* the manifest was found by itself: nobody named it */
    const char *arguments[CLI_MAX_LIST + 1]; /* what is no option; room for a NULL */
    size_t argument_count;
} cli_options;

typedef struct cli_command {
    const char *name;
    const char *synopsis; /* what follows `patchbay NAME` */
    const char *summary;  /* one line */
    const char *help;     /* more lines; may be NULL */
    size_t max_arguments;
    int (*run)(cli_options *options);
} cli_command;

/* Read argv behind the command's name. On failure a line on stderr says what is wrong, be it that
 * an option is another command's.
 * returns: EXIT_OK or EXIT_USAGE; -1 when --help was asked for */
int cli_options_read(int argc, char **argv, const cli_command *command, cli_options *ret_options);

/* An option of a command, as help shows it. */
typedef struct cli_option {
    const char *name;
    const char *alias; /* NULL: none */
    const char *value; /* what it is called; NULL: it takes none */
    const char *help;
    const hub_config_word *words; /* all values that there are; NULL: others */
} cli_option;

/* The command's option at *at or behind it, and go on behind that; begin with 0. False: no more. */
bool cli_option_next(size_t *at, const char *command, cli_option *ret_option);

/* $XDG_CONFIG_HOME/patchbay/patchbay.yaml, be it there or not; NULL: there is no home. Lives as long
 * as the process. */
const char *cli_own_manifest(void);

/* The manifest of the working folder, if it is not the one at this path (NULL: of nobody): "patchbay.yaml"
 * or "hub.yaml"; NULL: there is none. */
const char *cli_other_manifest(const char *path);

/* The manifest of a command line that names none: patchbay.yaml or hub.yaml of the working folder,
 * else the installed one. Absolute, lives as long as the process. NULL: there is none that can be
 * trusted, which a line on stderr says. */
const char *cli_find_manifest(void);

/* The same without the working folder: the user's own, else the machine's. */
const char *cli_find_installed(void);

const cli_command *cli_find_command(const char *name); /* NULL: there is none */

/* The word of a synopsis at *at or behind it that is to be typed as it is, like `new` of token; begin
 * with the synopsis. False: no more. */
bool cli_verb_next(const char **at, hub_str *ret_verb);

/* Print the options that mean something to a command. */
void cli_print_options(const char *command);

/* Load the configuration that the options name, and set up the log. `quiet`: show errors only,
 * unless a log level was asked for. On failure a line on stderr says why. owns:    *ret_config
 * returns: EXIT_OK, EXIT_USAGE (a flag has a bad value) or EXIT_CONFIG */
int cli_load_config(cli_options *options, bool quiet, hub_config **ret_config);

/* The same for a reload: nothing is set up, nothing complained of, cli_complete_config is still to
 * be called. [any]; blocks, reads files. errors:  those of hub_config_load */
HUB_MUST_CHECK hub_err cli_read_config(cli_options *options, hub_config **ret_config,
                                       hub_error *reterr);

/* Take this hub's place below the hubs that started it, if any did (modules/process_chain.h): before
 * the first child, and before there are threads. `tool` is what it calls if that is all that it
 * does, else NULL. On failure a line on stderr says why.
 * returns: EXIT_OK, EXIT_CONFIG (the hub would start itself, over and over), EXIT_INTERNAL */
int cli_join_chain(const cli_options *options, const char *tool);

/* What the same files say of the store alone, opened: whatever is wrong elsewhere, or not there yet.
 * On failure a line on stderr says why. owns:    *ret_sync and *ret_config (may be NULL: it is not
 * wanted)
 * returns: EXIT_OK, EXIT_CONFIG, EXIT_INTERNAL */
int cli_open_store(const cli_options *options, hub_state_sync **ret_sync, hub_config **ret_config);

/* Settings that the command line knows better than the files: where this program's own plugins are
 * (nowhere, if --plugins-dir says where plugins are), who may be enabled. */
void cli_complete_config(const cli_options *options, hub_config *config);

/* The folder of the plugins that came with this program: where an installation has it, seen from
 * the program, so that it can be anywhere; or, for a program that was built and not installed, the
 * one of the build; or where it was configured to be installed. When there is none of these, all
 * where an installation may have it. Absolute; lives as long as the process. */
hub_names cli_own_plugin_dirs(void);

/* Read what serving over the network takes beside the configuration: hub_config_load_network. On
 * failure a line on stderr says why.
 * returns: EXIT_OK, EXIT_CONFIG, EXIT_LISTEN (nobody has to authenticate, and it is not loopback)
 */
int cli_load_network(hub_config *config);

/* A hub inside this process, for commands that look at it or use it. */
typedef struct cli_local cli_local;

/* Make one and, with `start`, start it and be a client of it. On failure a line on stderr says why.
 * returns: EXIT_OK, EXIT_USAGE, EXIT_CONFIG, EXIT_INTERNAL */
int cli_local_open(cli_options *options, bool start, cli_local **ret_local);

/* The same with a configuration that is there already, started; no client of it is made. Takes
 * `config`. */
int cli_local_open_with(hub_config *config, cli_local **ret_local);
struct ev_loop *cli_local_loop(cli_local *local);
void cli_local_close(cli_local *local); /* NULL is fine */
hub_orchestrator *cli_local_hub(cli_local *local);
hub_config *cli_local_config(cli_local *local);
hub_session *cli_local_session(cli_local *local); /* NULL: no client was made */

/* Make a request and wait for its answer. `params` is a JSON object without `_meta`, or empty.
 * `*ret_json` is the result or the error object, valid until the next request. False for an error.
 */
bool cli_local_request(cli_local *local, const char *method, hub_str params, hub_str *ret_json);

/* Wait until all servers have told what they offer, or as soon as is_enough(ctx) says that this
 * suffices. It is asked before anything is started, too. */
void cli_local_learn(cli_local *local, bool (*is_enough)(void *ctx), void *ctx);

/* Append all of stdin, or a word that is not "-". False when it cannot be read, or is too much.
 * (call.c) */
bool cli_read_word(const char *word, hub_buf *out);

/* Append all pages of tools/list, or of "resources" or "prompts", as one array. EXIT_OK, or it has
 * been said why not. (list.c) */
int cli_collect(cli_local *local, const char *kind, hub_buf *out);

/* Write what a word of `list` stands for as a table. (list.c) */
void cli_print_list(const char *word, hub_str array);

/* Say what an error object says. (call.c) */
void cli_complain_of(hub_str error);

/* Append text from elsewhere so that it stays on its line, and no terminal obeys it. */
void cli_add_line(hub_buf *out, hub_str text);

/* Write to stdout, with a newline. Text from elsewhere loses its control characters. */
void cli_print(hub_str text);
void cli_print_json(hub_str json);

/* The same as cli_print for the hub's own words: secrets that it knows are masked. */
void cli_report(hub_str text);
void cli_complain(const char *format, ...) HUB_PRINTF(1, 2);

/* Whether a text can name a principal; else it is complained of. */
bool cli_is_principal(const char *text);

/* What happens meanwhile: a line on stderr, whatever the answer is. */
void cli_note(const char *format, ...) HUB_PRINTF(1, 2);

/* The end of a process: write what is not written yet to stdout, and complain when not all of the output is there. One
 * who reads a pipe, and has gone, has had enough.
 * returns: `status`, or EXIT_INTERNAL in place of EXIT_OK */
int cli_finish_output(int status);

/* The commands, ended by one without name (main.c). */
extern const cli_command CLI_COMMANDS[];

int cli_serve(cli_options *options);
int cli_list(cli_options *options);
int cli_export(cli_options *options);
int cli_call_block(cli_options *options); /* call --from */
int cli_status(cli_options *options);
int cli_top(cli_options *options);
int cli_tail(cli_options *options);
int cli_ui(cli_options *options);
int cli_call(cli_options *options);
int cli_read(cli_options *options);
int cli_check(cli_options *options);
int cli_module(cli_options *options);
int cli_module_host(cli_options *options);
int cli_token(cli_options *options);
int cli_state(cli_options *options);
int cli_secret(cli_options *options);
int cli_login(cli_options *options);
int cli_toolset(cli_options *options);
int cli_access(cli_options *options);
int cli_lock(cli_options *options);
int cli_approve(cli_options *options);
int cli_audit(cli_options *options);
int cli_version(cli_options *options);
int cli_init(cli_options *options);
int cli_add(cli_options *options);
int cli_search(cli_options *options);
int cli_run_bundle(cli_options *options);
int cli_remove(cli_options *options);
int cli_enable(cli_options *options);
int cli_disable(cli_options *options);
int cli_set(cli_options *options);
int cli_unset(cli_options *options);
int cli_import(cli_options *options);
int cli_connect(cli_options *options);
int cli_doctor(cli_options *options);
int cli_completion(cli_options *options);
int cli_manual(cli_options *options);

/* Print what the last of these words of a command line may become, for the scripts of
 * cli_completion: one candidate a line, a tab, what it is; or ":file" or ":dir". */
int cli_complete(int argc, char **argv);
int cli_help(cli_options *options);

#endif
