/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A notebook, kept in memory: each note is a resource that clients can read and watch, a prompt
 * hands one to the model, and the user is asked before a note is written over.
 *
 * Every handler is PATCHBAY_NONBLOCKING, so all run on one thread and nothing needs a lock.
 */
#include <patchbay/toolset.h>

#define NOTES_MAX 100
#define LOOP      PATCHBAY_NONBLOCKING

typedef struct note {
    char name[41];
    char uri[48];
    char *text;
} note;

typedef struct notebook {
    note notes[NOTES_MAX];
    const char *names[NOTES_MAX];
    patchbay_resource list[NOTES_MAX];
    size_t count;
} notebook;

static note *find(notebook *book, const char *name)
{
    for (size_t i = 0; i < book->count; i++) {
        if (strcmp(book->notes[i].name, name) == 0) {
            return &book->notes[i];
        }
    }
    return NULL;
}

/* ---- resources: note://NAME ------------------------------------------------------------------ */

static void read_note(patchbay_tool_call *call)
{
    notebook *book = (notebook *)patchbay_toolset_data(call);
    const note *found = find(book, patchbay_arg_text(call, "name"));
    if (found != NULL) {
        patchbay_reply_text(call, patchbay_str_of(found->text));
    } else {
        patchbay_reply_not_found(call);
    }
}

/* The same for one in the list, which has no variables: it is the entry's data. */
static void read_listed(patchbay_tool_call *call)
{
    const note *listed = (const note *)patchbay_tool_data(call);
    patchbay_reply_text(call, patchbay_str_of(listed->text));
}

static void complete_name(patchbay_tool_call *call)
{
    const notebook *book = (const notebook *)patchbay_toolset_data(call);
    patchbay_reply_matches(call, book->names, book->count);
}

static const patchbay_completer completers[] = {{.argument = "name", .handler = complete_name}};

static const patchbay_resource_template templates[] = {
    {.uri_template = "note://{name}",
     .name = "note",
     .description = "A note by its name.",
     .mime_type = "text/plain",
     .completers = completers,
     .completer_count = 1,
     .handler = read_note,
     .flags = LOOP},
};

/* ---- the tool -------------------------------------------------------------------------------- */

static note *add(patchbay_toolset *toolset, notebook *book, const char *name)
{
    note *added = &book->notes[book->count];
    (void)snprintf(added->name, sizeof added->name, "%s", name);
    (void)snprintf(added->uri, sizeof added->uri, "note://%s", name);
    book->names[book->count] = added->name;
    patchbay_resource *entry = &book->list[book->count++];
    entry->uri = added->uri;
    entry->name = added->name;
    entry->mime_type = "text/plain";
    entry->handler = read_listed;
    entry->data = added;
    entry->flags = LOOP;
    if (patchbay_set_resources(toolset, book->list, book->count) != PATCHBAY_OK) {
        book->count--; /* the list is as it was */
        return NULL;
    }
    return added; /* clients are told */
}

static void save(patchbay_tool_call *call)
{
    notebook *book = (notebook *)patchbay_toolset_data(call);
    const char *name = patchbay_arg_text(call, "name");
    note *target = find(book, name);
    if (target == NULL && book->count == NOTES_MAX) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "the notebook is full: it has %d notes",
                             NOTES_MAX);
        return;
    }
    patchbay_str text = patchbay_arg_str(call, "text");
    char *copy = (char *)malloc(text.len + 1);
    if (copy == NULL) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
        return;
    }
    memcpy(copy, text.ptr, text.len + 1);
    if (target == NULL) {
        target = add(patchbay_call_toolset(call), book, name);
    }
    if (target == NULL) {
        free(copy);
        patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
        return;
    }
    free(target->text);
    target->text = copy;
    patchbay_resource_updated(patchbay_call_toolset(call), target->uri);
    patchbay_add_text(call, patchbay_str_of("Saved."));
    patchbay_add_resource_link(call, target->uri, target->name, NULL, "text/plain");
    patchbay_reply(call);
}

/* The user has answered: the arguments of the call are still there. */
static void save_if_wanted(patchbay_tool_call *call, const patchbay_answer *answer)
{
    if (patchbay_json_true(patchbay_answer_field(answer, "overwrite"))) {
        save(call);
    } else {
        patchbay_reply_textf(call, "The note was left as it is.");
    }
}

static const char note_schema[] = PATCHBAY_JSON({
    "type": "object",
    "required": ["name", "text"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z0-9-]{1,40}$"},
        "text": {"type": "string"}
    }
});

static const char overwrite_schema[] =
    PATCHBAY_JSON({
    "type": "object",
    "required": ["overwrite"],
    "properties": {"overwrite": {"type": "boolean"}}
});

static void write_note(patchbay_tool_call *call)
{
    notebook *book = (notebook *)patchbay_toolset_data(call);
    if (find(book, patchbay_arg_text(call, "name")) == NULL ||
        !patchbay_client_has(call, "elicitation")) {
        save(call);
        return;
    }
    patchbay_elicit(call, "confirm", "There is a note of that name. Write over it?",
                    overwrite_schema, save_if_wanted);
}

static const patchbay_tool tools[] = {
    {.name = "write_note",
     .description = "Writes a note, which can then be read as note://NAME.",
     .input_schema = note_schema,
     .flags = PATCHBAY_TOOL_IDEMPOTENT | PATCHBAY_TOOL_DESTRUCTIVE | LOOP,
     .handler = write_note},
};

/* ---- the prompt ------------------------------------------------------------------------------ */

static void summarise(patchbay_tool_call *call)
{
    notebook *book = (notebook *)patchbay_toolset_data(call);
    const note *found = find(book, patchbay_arg_text(call, "note"));
    if (found == NULL) {
        patchbay_reply_error(call, PATCHBAY_INVALID_INPUT, "there is no such note");
        return;
    }
    patchbay_add_resource_text(call, found->uri, "text/plain", patchbay_str_of(found->text));
    patchbay_add_text(call, patchbay_str_of("Summarise this note in one sentence."));
    patchbay_reply(call);
}

static const patchbay_prompt_argument summarise_arguments[] = {
    {.name = "note",
     .description = "The name of the note",
     .is_required = 1,
     .completer = complete_name},
};

static const patchbay_prompt prompts[] = {
    {.name = "summarise",
     .description = "Has a note summarised.",
     .arguments = summarise_arguments,
     .argument_count = 1,
     .handler = summarise,
     .flags = LOOP},
};

/* ---- the toolset ----------------------------------------------------------------------------- */

static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    (void)toolset;
    (void)config_json;
    (void)reterr;
    *ret_data = calloc(1, sizeof(notebook));
    return *ret_data != NULL ? PATCHBAY_OK : PATCHBAY_ENOMEM;
}

static void teardown(void *data)
{
    notebook *book = (notebook *)data;
    for (size_t i = 0; i < book->count; i++) {
        free(book->notes[i].text);
    }
    free(book);
}

static const patchbay_toolset_info info = {
    .tools = tools,
    .tool_count = 1,
    .setup = setup,
    .teardown = teardown,
    .templates = templates,
    .template_count = 1,
    .prompts = prompts,
    .prompt_count = 1,
    .flags = PATCHBAY_TOOLSET_SUBSCRIBABLE,
};

PATCHBAY_TOOLSET_OF("notes", "1.0.0", "Keeps notes.", NULL, info)
