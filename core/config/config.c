/* SPDX-License-Identifier: Apache-2.0 */
/* The order of things: defaults, files, command line, and the rules that hold between all of them.
 */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"

#include <stdlib.h>
#include <sys/stat.h>

enum {
    /* Strings of the configuration, and nodes while it is read: far above what the largest allowed
     * files take, far below what hurts. */
    CONFIG_MAX_BYTES = 256 * 1024 * 1024,
    SCRATCH_MAX_BYTES = 512 * 1024 * 1024,
};

static hub_err set_defaults(hub_config_reader *reader)
{
    reader->config.arena = reader->arena;
    reader->config.settings.limits.ask_gather_ms = HUB_LIMIT_ASK_GATHER_MS;
    hub_err err = hub_config_set_defaults(reader, HUB_CONFIG_MANIFEST_KEYS, reader);
    reader->default_name = reader->config.settings.name;
    return err;
}

/* A manifest's own section; other programs have some of these words, too, for something else. */
static const char *own_section(const hub_node *root)
{
    static const char *const SECTIONS[] = {"hub",    "modules",  "toolsets",
                                           "policy", "profiles", "state"};
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++) {
        if (hub_node_find(root, SECTIONS[i]) != NULL) {
            return SECTIONS[i];
        }
    }
    const hub_node *listen = hub_node_find(root, "listen");
    if (listen != NULL && listen->kind == HUB_NODE_LIST) {
        return "listen";
    }
    const hub_node *auth = hub_node_find(root, "auth");
    bool is_ours = auth != NULL && auth->kind == HUB_NODE_MAP;
    is_ours = is_ours &&
              (hub_node_find(auth, "tokens") != NULL || hub_node_find(auth, "issuers") != NULL);
    return is_ours ? "auth" : NULL;
}

/* A manifest's own sections beside another program's would be lost without a word. */
static hub_err check_unmixed(const hub_config_reader *reader, const hub_node *root,
                             const hub_node *servers)
{
    const char *own = own_section(root);
    return own == NULL ? HUB_OK
                       : hub_node_fail(servers, reader->reterr, HUB_EINVAL,
                                       "cannot stand beside \"%s\": move the servers into "
                                       "\"toolsets\"",
                                       own);
}

/* What paths in a file are relative to. A pipe has no folder: the working folder. */
static const char *folder_of(hub_config_reader *reader, const char *file, bool is_pipe)
{
    return is_pipe ? hub_file_absolute(NULL, ".", reader->scratch)
                   : hub_file_folder(file, reader->scratch);
}

/* Make a document of a text. All are parsed before any is read: what one of them says of the store
 * decides where secrets in another come from. */
static hub_err parse_text(hub_config_reader *reader, const char *file, bool is_pipe, hub_str text)
{
    hub_config_document document = {.name = hub_arena_strdup(reader->scratch, hub_str_of(file)),
                                    .folder = folder_of(reader, file, is_pipe),
                                    .is_pipe = is_pipe};
    if (document.name == NULL || document.folder == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err =
        hub_node_read(document.name, text, reader->scratch, &document.root, reader->reterr);
    if (err == HUB_OK) { /* of another program's file, each entry counts by itself */
        err = hub_node_check(document.root, hub_config_find_servers(document.root), reader->reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    hub_config_document *grown = hub_config_grow(reader, reader->documents, reader->document_count,
                                                 sizeof *reader->documents);
    if (grown == NULL) {
        return hub_config_no_memory(reader);
    }
    reader->documents = grown;
    reader->documents[reader->document_count++] = document;
    return HUB_OK;
}

static hub_err read_document(hub_config_reader *reader, const hub_config_document *document)
{
    static const hub_config_key TOP = {.keys = HUB_CONFIG_MANIFEST_KEYS};
    const hub_node *servers = hub_config_find_servers(document->root);
    reader->folder = document->folder;
    reader->is_foreign = servers != NULL;
    if (servers != NULL) {
        hub_err err = check_unmixed(reader, document->root, servers);
        return err == HUB_OK ? hub_config_read_servers(reader, servers) : err;
    }
    return hub_config_read_map(reader, document->root, &TOP, reader);
}

hub_err hub_config_note_file(hub_config *config, const char *path, bool is_manifest,
                             hub_error *reterr)
{
    hub_config_file *file = hub_arena_alloc(config->arena, sizeof *file);
    char *absolute = hub_file_absolute(NULL, path, config->arena);
    if (file == NULL || absolute == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", path);
    }
    *file = (hub_config_file){.next = config->files,
                              .path = absolute,
                              .stamp = hub_file_look(path),
                              .is_manifest = is_manifest};
    config->files = file;
    return HUB_OK;
}

static hub_err note_included(void *ctx, const char *path, hub_error *reterr)
{
    hub_config_reader *reader = ctx;
    return hub_config_note_file(&reader->config, path, false, reterr);
}

static hub_err parse_file(hub_config_reader *reader, const char *file)
{
    unsigned mode = 0;
    hub_err noted = hub_config_note_file(&reader->config, file, true, reader->reterr);
    if (noted != HUB_OK) {
        return noted;
    }
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = hub_file_read(file, &text, &mode, reader->reterr);
    if (err == HUB_OK) {
        err = parse_text(reader, file, !reader->config.files->stamp.is_regular, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    if (err == HUB_OK && (mode & S_IWOTH) != 0) {
        const hub_node place = {.file = file, .line = 1};
        err = hub_config_warn(reader, &place, "every user of this machine can change this file");
    }
    return err;
}

static int compare_toolsets(const void *a, const void *b)
{
    const hub_config_toolset *const *left = a;
    const hub_config_toolset *const *right = b;
    int order = strcmp((*left)->settings.key, (*right)->settings.key);
    return order != 0 ? order : (*left < *right ? -1 : 1);
}

static hub_err refuse_repeated(hub_config_reader *reader, hub_config_toolset *toolset,
                               const hub_config_toolset *first)
{
    hub_config_attempt attempt;
    if (toolset->is_foreign) {
        hub_config_begin_attempt(reader, &attempt);
    }
    hub_err err = hub_node_fail(toolset->node, reader->reterr, HUB_EINVAL,
                                "there is a toolset \"%s\" already, from %.160s",
                                toolset->settings.key, first->settings.source);
    toolset->is_refused = toolset->is_foreign;
    return toolset->is_foreign ? hub_config_end_attempt(reader, &attempt, err, NULL) : err;
}

/* The same key twice: in one file two names may have become one, and files may repeat each other.
 */
static hub_err check_unique(hub_config_reader *reader)
{
    size_t count = reader->toolset_count;
    if (count < 2) {
        return HUB_OK;
    }
    hub_config_toolset **sorted =
        hub_arena_array(reader->scratch, count, sizeof(hub_config_toolset *));
    if (sorted == NULL) {
        return hub_config_no_memory(reader);
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &reader->toolsets[i];
    }
    qsort(sorted, count, sizeof *sorted, compare_toolsets);
    hub_err err = HUB_OK;
    const hub_config_toolset *first = sorted[0];
    for (size_t i = 1; err == HUB_OK && i < count; i++) {
        if (strcmp(first->settings.key, sorted[i]->settings.key) == 0) {
            err = refuse_repeated(reader, sorted[i], first);
        } else {
            first = sorted[i];
        }
    }
    return err;
}

static hub_err finish_toolset(hub_config_reader *reader, hub_config_toolset *toolset)
{
    const hub_limits *limits = &reader->config.settings.limits;
    if (toolset->settings.call_timeout_ms == 0) {
        toolset->settings.call_timeout_ms = limits->call_timeout_ms;
    }
    hub_err err = hub_config_finish_middleware(reader, &toolset->middleware, &toolset->settings);
    if (err == HUB_OK) {
        err = hub_config_finish_results(reader, toolset, &toolset->settings);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_isolation(reader, toolset->node, toolset->is_isolation_said,
                                          &toolset->settings);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_login(reader, toolset);
    }
    if (err == HUB_OK && toolset->settings.call_timeout_ms > limits->call_ceiling_ms) {
        err = hub_config_warn(reader, toolset->node,
                              "its timeout is longer than limits.call_ceiling, which "
                              "ends every call");
    }
    return err;
}

/* The same with errors of its own, where one entry may not stop the others. */
static hub_err try_to_finish(hub_config_reader *reader, hub_config_toolset *toolset)
{
    hub_config_attempt attempt;
    if (!toolset->is_foreign) {
        return finish_toolset(reader, toolset);
    }
    hub_config_begin_attempt(reader, &attempt);
    hub_err err = finish_toolset(reader, toolset);
    toolset->is_refused = err != HUB_OK;
    return hub_config_end_attempt(reader, &attempt, err, toolset->settings.key);
}

static hub_err finish_toolsets(hub_config_reader *reader)
{
    hub_settings *settings = &reader->config.settings;
    size_t count = 0;
    hub_toolset_settings *toolsets =
        hub_arena_array(reader->arena, reader->toolset_count, sizeof *toolsets);
    if (toolsets == NULL) {
        return hub_config_no_memory(reader);
    }
    for (size_t i = 0; i < reader->toolset_count; i++) {
        hub_config_toolset *toolset = &reader->toolsets[i];
        hub_err err = toolset->is_refused ? HUB_OK : try_to_finish(reader, toolset);
        if (err != HUB_OK) {
            return err;
        }
        if (!toolset->is_refused) {
            toolsets[count++] = toolset->settings;
        }
    }
    settings->toolsets = toolsets;
    settings->toolset_count = count;
    settings->toolsets_listed = reader->is_listed;
    return hub_config_finish_refused(reader);
}

static hub_err finish(hub_config_reader *reader, const hub_config_overrides *overrides)
{
    const hub_limits *limits = &reader->config.settings.limits;
    hub_err err = check_unique(reader);
    if (err == HUB_OK) {
        err = hub_config_check_variables(reader);
    }
    if (err == HUB_OK) {
        err = hub_config_apply_overrides(reader, overrides);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_profiles(reader, overrides);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_listens(reader);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_replicas(reader);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_access(reader);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_cache(reader);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_state(reader);
    }
    if (err == HUB_OK && limits->call_ceiling_ms < limits->call_timeout_ms) {
        err = hub_node_fail(reader->call_limit_node, reader->reterr, HUB_EINVAL,
                            "call_ceiling (%u ms) is shorter than call_timeout (%u ms)",
                            limits->call_ceiling_ms, limits->call_timeout_ms);
    }
    if (err == HUB_OK) {
        err = hub_config_finish_pins(reader, overrides != NULL && overrides->ignores_lock);
    }
    if (err == HUB_OK) {
        err = finish_toolsets(reader);
    }
    if (err == HUB_OK) {
        hub_config_offer_results(reader);
    }
    hub_config_finish_saved(reader);
    reader->config.warnings = reader->warnings;
    reader->config.warning_count = reader->warning_count;
    return err;
}

/* One document from memory (`text` not NULL), or files. */
typedef struct sources {
    const char *const *files;
    size_t count;
    const hub_str *text; /* of the only file */
} sources;

static hub_err parse_sources(hub_config_reader *reader, const sources *from)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < from->count; i++) {
        err = from->text != NULL ? parse_text(reader, from->files[i], false, *from->text)
                                 : parse_file(reader, from->files[i]);
    }
    return err;
}

static hub_err read_documents(hub_config_reader *reader)
{
    hub_err err = reader->document_count > 0 ? hub_config_digest_sections(reader) : HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < reader->document_count; i++) {
        err = read_document(reader, &reader->documents[i]);
    }
    return err;
}

static void end_generation(hub_generation *generation)
{
    hub_config *config = (hub_config *)generation;
    hub_redact_set_destroy(config->secrets);
    hub_arena_destroy(config->arena); /* the configuration itself lies in it, too */
}

static void open_reader(hub_config_reader *reader, const sources *from, const char *const *env,
                        bool is_lenient, hub_error *reterr)
{
    *reader = (hub_config_reader){
        .arena = hub_arena_create(CONFIG_MAX_BYTES),
        .scratch = hub_arena_create(SCRATCH_MAX_BYTES),
        .secrets = hub_redact_set_create(),
        .variables = {.env = env,
                      .is_lenient = is_lenient,
                      .has_files = from->text == NULL,
                      .on_file = note_included,
                      .on_value = hub_config_hide_variable,
                      .find_secret = from->text == NULL ? hub_config_find_secret : NULL},
        .reterr = reterr,
    };
    reader->variables.ctx = reader;
}

static void close_reader(hub_config_reader *reader)
{
    hub_state_sync_close(reader->store);
    hub_redact_set_destroy(reader->secrets);
    hub_arena_destroy(reader->scratch);
    hub_arena_destroy(reader->arena);
}

/* The configuration is the arena's from now on, and the caller's. */
static hub_config *hand_over(hub_config_reader *reader, hub_config *config)
{
    *config = reader->config;
    config->secrets = reader->secrets;
    reader->secrets = NULL;
    config->generation = (hub_generation){.refs = 1, .number = 1, .destroy = end_generation};
    config->settings.generation = &config->generation;
    reader->arena = NULL;
    return config;
}

static hub_err load(const sources *from, const char *const *env,
                    const hub_config_overrides *overrides, hub_config **ret_config,
                    hub_error *reterr)
{
    hub_config_reader reader;
    hub_err err = HUB_ENOMEM;
    hub_config *config = NULL;
    open_reader(&reader, from, env, overrides != NULL && overrides->lenient_variables, reterr);
    if (reader.arena != NULL && reader.scratch != NULL && reader.secrets != NULL) {
        config = hub_arena_alloc(reader.arena, sizeof *config);
    }
    if (config == NULL) {
        close_reader(&reader);
        return hub_fail(reterr, HUB_ENOMEM, "the configuration: out of memory");
    }
    err = set_defaults(&reader);
    if (err == HUB_OK) {
        err = parse_sources(&reader, from);
    }
    if (err == HUB_OK) {
        err = read_documents(&reader);
    }
    if (err == HUB_OK) {
        err = finish(&reader, overrides);
    }
    if (err == HUB_OK) {
        *ret_config = hand_over(&reader, config);
    }
    close_reader(&reader);
    return err;
}

hub_err hub_config_load_state(const char *const *files, size_t file_count, const char *const *env,
                              hub_config **ret_config, hub_error *reterr)
{
    const sources from = {.files = files, .count = file_count};
    hub_config_reader reader;
    hub_config *config = NULL;
    hub_err err = HUB_ENOMEM;
    open_reader(&reader, &from, env, false, reterr);
    if (reader.arena != NULL && reader.scratch != NULL && reader.secrets != NULL) {
        config = hub_arena_alloc(reader.arena, sizeof *config);
    }
    err = config != NULL ? set_defaults(&reader)
                         : hub_fail(reterr, HUB_ENOMEM, "the configuration: out of memory");
    if (err == HUB_OK) {
        err = parse_sources(&reader, &from);
    }
    if (err == HUB_OK) {
        err = hub_config_find_state(&reader, &reader.config.settings.state, reterr);
    }
    if (err == HUB_OK) {
        *ret_config = hand_over(&reader, config);
    }
    close_reader(&reader);
    return err;
}

hub_err hub_config_load(const char *const *files, size_t file_count, const char *const *env,
                        const hub_config_overrides *overrides, hub_config **ret_config,
                        hub_error *reterr)
{
    const sources from = {.files = files, .count = file_count};
    return load(&from, env, overrides, ret_config, reterr);
}

hub_err hub_config_parse(const char *name, hub_str text, const char *const *env,
                         const hub_config_overrides *overrides, hub_config **ret_config,
                         hub_error *reterr)
{
    const sources from = {.files = &name, .count = 1, .text = &text};
    return load(&from, env, overrides, ret_config, reterr);
}

void hub_config_destroy(hub_config *config)
{
    if (config != NULL) {
        hub_settings_unref(&config->settings);
    }
}
