/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every key of a manifest, one row each: its kind, its bounds, its default and its description
 * stand there and nowhere else. The loader reads files by these rows, the proxies are handed their
 * settings by them, and patchbay-settings (core/config/describe) writes the JSON schema and the
 * reference manifest from them.
 *
 * A new setting of servers is one row of HUB_CONFIG_TOOLSET_KEYS with a `module_key`, and a module
 * that reads that key. A new setting of the hub is one row, and the member that it is read into.
 */
#ifndef HUB_CONFIG_KEYS_H
#define HUB_CONFIG_KEYS_H

#include "config/node.h"

struct hub_config_reader;

/* The longest time that any key may give: one day. More is a mistake. */
#define HUB_CONFIG_MOST_MS (24u * 3600 * 1000)

/* The bounds of most sizes. An error answer has to fit into the least. */
#define HUB_CONFIG_LEAST_BYTES 1024
#define HUB_CONFIG_MOST_BYTES  (1024u * 1024 * 1024)

typedef struct hub_config_word {
    const char *word; /* NULL ends a table */
    unsigned value;
    bool is_alias; /* accepted, but not offered in messages */
} hub_config_word;

/* What a value is. The comment says the type of the member that it is read into. */
typedef enum hub_config_kind {
    HUB_CONFIG_NO_KEY,        /* not a key here: a misspelt one may have meant it */
    HUB_CONFIG_TEXT,          /* const char *; not empty */
    HUB_CONFIG_BOOL,          /* bool */
    HUB_CONFIG_COUNT,         /* uint32_t */
    HUB_CONFIG_SIZE,          /* uint32_t, bytes: 4096 or "4KiB" */
    HUB_CONFIG_DURATION,      /* uint32_t, milliseconds: "30s" */
    HUB_CONFIG_WORD,          /* an enum, by `words` */
    HUB_CONFIG_CHOICE,        /* bool, by `words` */
    HUB_CONFIG_NAMES,         /* hub_names */
    HUB_CONFIG_TOOLSET_NAMES, /* hub_names, each a toolset's key */
    HUB_CONFIG_FOLDERS,       /* hub_names, absolute */
    HUB_CONFIG_PATH,          /* const char *, absolute; variables are expanded */
    HUB_CONFIG_ARGUMENTS,     /* a list of scalars; for a module */
    HUB_CONFIG_VARIABLES,     /* a map of scalars; for a module */
    HUB_CONFIG_HEADERS,       /* likewise; the names are those of headers */
    HUB_CONFIG_MAP,           /* a map with the keys of `keys` */
    HUB_CONFIG_MAP_OF,        /* names of the user's choice to such maps */
    HUB_CONFIG_LIST_OF,       /* a list of such maps */
    HUB_CONFIG_OTHER,         /* whatever `read` takes and `schema` says */
} hub_config_kind;

/* Which entries a key belongs to. Of toolsets: */
enum {
    HUB_CONFIG_OF_COMMAND = 1 << 0, /* a server that the hub starts */
    HUB_CONFIG_OF_URL = 1 << 1,     /* a server on the network */
    HUB_CONFIG_OF_SOCKET = 1 << 2,  /* a server at a Unix socket, which has a url, too */
    HUB_CONFIG_OF_PROCESS = 1 << 3, /* a module in a process of its own */
    HUB_CONFIG_OF_MODULE = 1 << 4,  /* a module; a file of another program has none */
    /* all servers; and all that are looked after as servers are */
    HUB_CONFIG_OF_SERVER = HUB_CONFIG_OF_COMMAND | HUB_CONFIG_OF_URL | HUB_CONFIG_OF_SOCKET,
    HUB_CONFIG_OF_UPSTREAM = HUB_CONFIG_OF_SERVER | HUB_CONFIG_OF_PROCESS,
};

/* Of listeners: */
enum {
    HUB_CONFIG_OF_HTTP = 1 << 0,
    HUB_CONFIG_OF_UNIX = 1 << 1,
};

typedef struct hub_config_key hub_config_key;

/* Read `node` into `target` + key->offset. */
typedef hub_err (*hub_config_read_fn)(struct hub_config_reader *reader, const hub_node *node,
                                      const hub_config_key *key, void *target);

/* One row. Members that are not written mean nothing to the row's kind. */
struct hub_config_key {
    const char *name; /* NULL ends a table */
    hub_config_kind kind;
    hub_config_read_fn read; /* NULL: as values of its kind are read */
    size_t offset;
    uint32_t least; /* of numbers, sizes, durations; of lists and maps, `most` entries */
    uint32_t most;
    bool has_zero;             /* 0 is allowed below `least`, too, and means "none" */
    bool has_no_default;       /* what holds without it is for `about` to say */
    uint32_t fallback;         /* the default of bools, numbers and words: what the member gets */
    const char *fallback_text; /* the default of other kinds, as a manifest says it */
    const hub_config_word *words;
    const hub_config_key *keys; /* of the map within; of all rows of a table that has it */
    const char *about;          /* for users: the schema and the reference show it */
    /* JSON Schema, where the kind does not say it: of the value; of the names of a map of maps;
     * what a map, or each of a list of maps, has beside its keys. */
    const char *schema;
    const char *example;    /* YAML: shown in the reference where there is no default */
    bool is_comment;        /* the reference shows the key in a comment */
    unsigned of;            /* entries that it belongs to; 0: all */
    const char *stands_for; /* the hub's own key that this word of another program means */
    const char *module_key; /* its name in what the module gets; NULL: the hub's own affair */
};

/* The manifest's tables, from its top keys down. */
extern const hub_config_key HUB_CONFIG_MANIFEST_KEYS[];
extern const hub_config_key HUB_CONFIG_PROFILE_KEYS[];
extern const hub_config_key HUB_CONFIG_POLICY_KEYS[];     /* of a profile */
extern const hub_config_key HUB_CONFIG_HUB_POLICY_KEYS[]; /* … and of the hub */
extern const hub_config_key HUB_CONFIG_TOOLSET_KEYS[];
extern const hub_config_key HUB_CONFIG_LIMIT_KEYS[];
extern const hub_config_key HUB_CONFIG_LISTEN_KEYS[];
extern const hub_config_key HUB_CONFIG_TLS_KEYS[]; /* of a listener */
extern const hub_config_key HUB_CONFIG_AUTH_KEYS[];
extern const hub_config_key HUB_CONFIG_ACCESS_KEYS[];
extern const hub_config_key HUB_CONFIG_MIDDLEWARE_KEYS[];
extern const hub_config_key HUB_CONFIG_RESULT_KEYS[];     /* of a toolset */
extern const hub_config_key HUB_CONFIG_HUB_RESULT_KEYS[]; /* … and of the hub */
extern const hub_config_word HUB_CONFIG_STARTUPS[];
extern const hub_config_word HUB_CONFIG_NAMINGS[];
extern const hub_config_word HUB_CONFIG_LEVELS[];
extern const hub_config_word HUB_CONFIG_FORMATS[];
extern const hub_config_word HUB_CONFIG_ISOLATIONS[];
extern const hub_config_word HUB_CONFIG_META_GROUPS[];

/* How many rows that one has, without its end. */
#define HUB_CONFIG_MIDDLEWARE_KEY_COUNT 3
#define HUB_CONFIG_MAX_RESULT_ROW       2 /* of these: max_result_bytes */
#define HUB_CONFIG_RESULT_KEY_COUNT     2

/* The rows of the largest table, with its end. */
#define HUB_CONFIG_MOST_KEYS 64

/* A toolset key from any name: lower case, one '-' for each character that a key cannot have, runs of
 * '_' made one and none at the end, a letter in front; "" when there is nothing to make it of. `key`
 * has room for the name and HUB_CONFIG_KEY_EXTRA bytes. */
void hub_config_make_key(hub_str name, char *key);
#define HUB_CONFIG_KEY_EXTRA sizeof "server-"

/* Where another program's file has its servers: a map or a list; NULL: nowhere that is known. */
const struct hub_node *hub_config_find_servers(const struct hub_node *root);

/* The row of that name, or NULL. */
const hub_config_key *hub_config_find_key(const hub_config_key *keys, hub_str name);

/* Whether a file that says nothing of this key has a default of it. */
bool hub_config_has_default(const hub_config_key *key);

/* How the hub spells the word of that value; the table has it. */
const char *hub_config_word_of(const hub_config_word *words, unsigned value);

/* Append a number as a manifest has it: "4MiB", "30s", "256". */
void hub_config_add_number(hub_buf *out, hub_config_kind kind, uint32_t number);

/* Append the default as a manifest has it, in YAML. The key has one. */
void hub_config_add_default(hub_buf *out, const hub_config_key *key);

/* Give each member that the rows are about its default. Members are zero before. errors: HUB_ENOMEM
 */
HUB_MUST_CHECK hub_err hub_config_set_defaults(struct hub_config_reader *reader,
                                               const hub_config_key *keys, void *target);

/* Read a value as its row says. */
HUB_MUST_CHECK hub_err hub_config_read_value(struct hub_config_reader *reader, const hub_node *node,
                                             const hub_config_key *key, void *target);

#endif
