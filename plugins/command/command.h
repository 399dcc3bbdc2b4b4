/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the toolset `command`: which file holds what, and the types that they share.
 *
 *     config.c    the configuration becomes tools
 *     schema.c    their arguments: input_schema, or the short form `args`
 *     template.c  "{name}" in words: checked at setup, filled for a call
 *     env.c       the environment, and where the program may be
 *     child.c     fork, exec, signals, reaping
 *     run.c       one run: output, time, cancellation
 *     result.c    what the client gets
 *     json_check.c  whether output is JSON
 *     command.c   the plugin, and the handler of all its tools
 *
 * There is never a shell, and no word is ever split. What setup makes is constant; handlers run on
 * worker threads.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <patchbay/toolset.h>

#include <sys/types.h>

#define COMMAND_TOOLS_MAX    1000
#define COMMAND_WORDS_MAX    4096 /* of one command line, with what arrays expand to */
#define COMMAND_OUTPUT_USUAL (256u * 1024)
#define COMMAND_OUTPUT_MAX   (4u * 1024 * 1024)
#define COMMAND_TIMEOUT_MS   60000u
#define COMMAND_TIMEOUT_MAX  3600000u
#define COMMAND_GRACE_MS     2000u /* from SIGTERM to SIGKILL */

typedef enum command_piece_kind {
    COMMAND_TEXT,     /* itself */
    COMMAND_VALUE,    /* {name} */
    COMMAND_OPTIONAL, /* {name?}: the word is dropped when there is no value */
    COMMAND_SPREAD,   /* {name...}: a word for each element */
} command_piece_kind;

/* A part of a word. */
typedef struct command_piece {
    command_piece_kind kind;
    const char *text;      /* the text, or the argument's name */
    patchbay_str fallback; /* default in the schema, raw; empty: none */
} command_piece;

typedef struct command_template {
    command_piece *pieces;
    size_t count;
} command_template;

typedef enum command_output {
    COMMAND_OUTPUT_TEXT,
    COMMAND_OUTPUT_JSON,
    COMMAND_OUTPUT_LINES,
} command_output;

/* One configured tool. Everything it points to is the set's. */
typedef struct command_tool {
    const char *name;
    command_template *words; /* argv */
    size_t word_count;
    size_t dashes_at; /* index of the literal word "--", or word_count */
    int allow_dash;
    command_template input; /* stdin */
    int has_input;
    const char *cwd;         /* NULL: the hub's */
    char **env;              /* NULL-terminated */
    const char **candidates; /* where the program may be; NULL-terminated */
    uint64_t timeout_ms;
    size_t max_output;
    command_output output;
    int64_t *ok_codes;
    size_t ok_count;
} command_tool;

typedef struct command_block {
    struct command_block *next;
    void *align_;
} command_block;

/* What setup makes. */
typedef struct command_set {
    command_block *blocks; /* all memory of the set */
    patchbay_str config;   /* a copy: raw values point into it */
    patchbay_tool *tools;
    command_tool *commands; /* of tools[i].data */
    size_t count;
} command_set;

/* ---- config.c ---- */

int32_t command_setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                      patchbay_error *reterr);
void command_teardown(void *data);

/* Zeroed memory that lives as long as the set; NULL when there is none. */
void *command_keep(command_set *set, size_t size);
char *command_keep_text(command_set *set, patchbay_str text);

/* How many elements or members a raw value has. */
size_t command_count(patchbay_str raw);

/* Where setup fails: names the tool in front. returns: `code` */
typedef struct command_fault {
    patchbay_error *reterr;
    const char *tool; /* NULL: not about one */
} command_fault;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int32_t
command_fail(const command_fault *fault, int32_t code, const char *format, ...);

/* ---- template.c ---- */

/* Parse one word. `where` names it in faults ("argv[3]"). */
int32_t command_template_parse(command_set *set, patchbay_str text, const char *where,
                               command_template *ret, const command_fault *fault);

/* What came out of filling a template. */
typedef struct command_words {
    char **words; /* NULL-terminated; lives as long as the call */
    size_t count;
} command_words;

/* Make the command line of a call. returns: 0, or -1 with the sentence for the caller in `why` */
int command_fill_words(patchbay_tool_call *call, const command_tool *tool, command_words *ret,
                       char why[256]);
/* The same for the text of stdin; free `ret`. */
int command_fill_input(patchbay_tool_call *call, const command_tool *tool, patchbay_out *ret,
                       char why[256]);

/* ---- schema.c ---- */

/* The tool's input schema, and the defaults of its placeholders; refuses placeholders that no
 * argument stands behind. */
int32_t command_schema(command_set *set, patchbay_str raw_tool, command_tool *tool,
                       const char **ret_schema, const command_fault *fault);

/* The schema of structuredContent. */
const char *command_output_schema(command_output output);

/* ---- env.c ---- */

int32_t command_env(command_set *set, patchbay_str raw_tool, command_tool *tool,
                    const command_fault *fault);
int32_t command_candidates(command_set *set, const char *program, command_tool *tool,
                           const command_fault *fault);

/* ---- child.c ---- */

/* A running command. Descriptors are -1 when closed. */
typedef struct command_child {
    pid_t pid;
    int pid_fd; /* readable when it has ended */
    int out_fd; /* non-blocking */
    int err_fd; /* non-blocking */
    int lost;   /* somebody else reaped it: its number may be another's by now */
} command_child;

/* Start it, as the leader of its own process group. `input_fd` is its stdin, or -1 for none.
 * returns: 0; or an errno, with what it is about in `about` */
int command_start(const command_tool *tool, char *const *argv, int input_fd,
                  command_child *ret_child, const char **about);

/* A signal for the whole group. Only before command_reap: later the number may be another's. */
void command_signal(const command_child *child, int signal_number);

/* Whether the leader has ended; it is not reaped. */
int command_has_ended(command_child *child);

/* How it ended; closes everything. */
typedef struct command_end {
    int known; /* 0: somebody else reaped it */
    int exit_code;
    int signal_number; /* 0: it exited */
} command_end;

command_end command_reap(command_child *child);

/* ---- run.c ---- */

/* What one stream brought, at most `max` bytes of it. */
typedef struct command_capture {
    char *bytes;
    size_t len;
    size_t max;
    int keep_tail; /* keep the last bytes instead of the first */
    int cut;
} command_capture;

typedef enum command_stop {
    COMMAND_ENDED,
    COMMAND_TIMED_OUT,
    COMMAND_CANCELLED,
} command_stop;

typedef struct command_run {
    command_capture out;
    command_capture err;
    command_end end;
    command_stop stop;
    uint64_t duration_ms;
} command_run;

/* Run it to its end. returns: 0; or an errno, with what it is about in `about` */
int command_execute(patchbay_tool_call *call, const command_tool *tool, char *const *argv,
                    patchbay_str input, command_run *ret_run, const char **about);
void command_run_fini(command_run *run);

/* ---- result.c ---- */

void command_reply(patchbay_tool_call *call, const command_tool *tool, const command_run *run);

/* ---- command.c ---- */

/* The handler of every tool. */
void command_call(patchbay_tool_call *call);

/* ---- json_check.c ---- */

/* Index of the first byte that keeps `text` from being one JSON value (RFC 8259) of at most
 * `max_depth` levels; SIZE_MAX when it is one. */
size_t command_json_defect(patchbay_str text, size_t max_depth);

#endif
