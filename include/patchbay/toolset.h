/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a toolset: a table of tools, a handler each, and one macro. Header-only.
 *
 *     #include <patchbay/toolset.h>
 *
 *     static void greet(patchbay_tool_call *call)
 *     {
 *         patchbay_reply_textf(call, "Hello, %s!", patchbay_arg_text(call, "name"));
 *     }
 *
 *     static const char greet_schema[] = PATCHBAY_JSON({
 *         "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}
 *     });
 *
 *     static const patchbay_tool tools[] = {
 *         {.name = "greet",
 *          .description = "Greets somebody by name.",
 *          .input_schema = greet_schema,
 *          .flags = PATCHBAY_TOOL_READ_ONLY,
 *          .handler = greet},
 *     };
 *
 *     PATCHBAY_TOOLSET("hello", "1.0.0", "Greets people.", tools)
 *
 * Arguments have been validated against input_schema before a handler runs, so what the schema
 * requires is there and has its type. Arguments that hold a NUL character are refused before the
 * handler, so that patchbay_arg_text of a required string is a string; a tool that can take them
 * says PATCHBAY_TOOL_TAKES_NUL and uses patchbay_arg_str.
 *
 * What a handler reads, and where it runs: call.h. What it answers: content.h. Besides tools there
 * are resources (resource.h) and prompts (prompt.h), and a handler may ask the client in between
 * (ask.h). A toolset with those fills in a patchbay_toolset_info, for PATCHBAY_TOOLSET_OF:
 *
 *     static const patchbay_toolset_info info = {
 *         .tools = tools,
 *         .tool_count = sizeof tools / sizeof tools[0],
 *         .resources = resources,
 *         .resource_count = sizeof resources / sizeof resources[0],
 *     };
 *     PATCHBAY_TOOLSET_OF("hello", "1.0.0", "Greets people.", NULL, info)
 */
#ifndef PATCHBAY_TOOLSET_H
#define PATCHBAY_TOOLSET_H

#include <patchbay/prompt.h>
#include <patchbay/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The oldest hub that the plugin can live with (patchbay_plugin.abi_min). This SDK looks for all
 * that is newer than 1.0 before it uses it, and does without. An author who uses something newer
 * and cannot do without says so before the first include:
 *
 *     #define PATCHBAY_NEEDS_ABI PATCHBAY_ABI_VERSION(1, 3)
 */
#ifndef PATCHBAY_NEEDS_ABI
#define PATCHBAY_NEEDS_ABI PATCHBAY_ABI_VERSION(1, 0)
#endif

/* patchbay_toolset_info.flags: what clients are told that the toolset can do. */
#define PATCHBAY_TOOLSET_SUBSCRIBABLE   0x1u /* patchbay_resource_updated tells of changes */
#define PATCHBAY_TOOLSET_SENDS_MESSAGES 0x2u /* handlers use patchbay_message */
#define PATCHBAY_TOOLSET_COMPLETES      0x4u /* completers come later; those of now are seen */

/* A whole toolset. Everything may be left out. */
typedef struct patchbay_toolset_info {
    const patchbay_tool *tools;
    size_t tool_count;
    /* Make what the toolset's handlers share, from its configuration. May replace lists with
     * patchbay_set_tools and the like. NULL: nothing to set up.
     * returns: PATCHBAY_OK with *ret_data set; or negative with a reason in reterr and nothing left
     *          behind, since teardown is not called then */
    int32_t (*setup)(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr);
    /* Free `data`. Worker jobs have ended; threads of one's own that hold deferred calls must have
     * ended when it returns (they may still reply meanwhile). NULL: nothing to free. */
    void (*teardown)(void *data);
    const patchbay_resource *resources;
    size_t resource_count;
    const patchbay_resource_template *templates;
    size_t template_count;
    const patchbay_prompt *prompts;
    size_t prompt_count;
    uint64_t flags; /* PATCHBAY_TOOLSET_… */
    /* Somebody wants to be told of changes of a resource (1), or nobody any more (0), for toolsets
     * that watch only what is wanted. [loop] NULL: does not matter. */
    void (*on_subscribe)(patchbay_toolset *toolset, const char *uri, int is_wanted);
} patchbay_toolset_info;

/* ---- the lists ------------------------------------------------------------------------------- */

static inline void patchbay_put_tools_(patchbay_toolset *toolset, const patchbay_tool *tools,
                                       size_t count)
{
    (void)pthread_mutex_lock(&toolset->lock);
    toolset->tools = tools;
    toolset->tool_count = count;
    (void)pthread_mutex_unlock(&toolset->lock);
}

/* An entry of a list is wrong: the log says why, and so does create() when it fails for it. */
static inline void patchbay_refuse_(patchbay_toolset *toolset, const char *why)
{
    patchbay_log(toolset, PATCHBAY_LOG_ERROR, why);
    (void)snprintf(toolset->refusal, sizeof toolset->refusal, "%s", why);
}

/* Make `tools` the toolset's tools, at set-up or later: clients are told. The array lives until the
 * next one is set, or teardown; what its `data` points to, as long as calls use it. [any], but one
 * such function at a time
 * returns: what patchbay_host_api.set_tools returns; on failure the old tools stay */
static inline int32_t patchbay_set_tools(patchbay_toolset *toolset, const patchbay_tool *tools,
                                         size_t count)
{
    const patchbay_tool *old = toolset->tools;
    size_t old_count = toolset->tool_count;
    char why[PATCHBAY_REFUSAL_BYTES];
    patchbay_out json;
    memset(&json, 0, sizeof json);
    patchbay_out_text(&json, "[");
    int32_t result = PATCHBAY_OK;
    for (size_t i = 0; i < count; i++) {
        patchbay_out_text(&json, i > 0 ? "," : "");
        patchbay_tool_json_(&json, &tools[i]);
        if (result == PATCHBAY_OK && patchbay_tool_wrong_(&tools[i], i, why, sizeof why) != 0) {
            patchbay_refuse_(toolset, why);
            result = PATCHBAY_EINVAL;
        }
    }
    patchbay_out_text(&json, "]");
    if (result == PATCHBAY_OK && json.failed) {
        result = PATCHBAY_ENOMEM;
    }
    if (result == PATCHBAY_OK) {
        patchbay_put_tools_(toolset, tools, count); /* a call of a new one may follow at once */
        result = toolset->api->set_tools(toolset->host, patchbay_str_make(json.ptr, json.len));
    }
    if (result != PATCHBAY_OK) {
        patchbay_put_tools_(toolset, old, old_count);
    }
    patchbay_out_free(&json);
    return result;
}

/* Hand a list to the hub, and free it. `problem` NULL: the author's table is in order. */
static inline int32_t patchbay_set_list_(patchbay_toolset *toolset, uint32_t kind,
                                         patchbay_out *list, const char *problem)
{
    int32_t result = PATCHBAY_ENOTFOUND; /* a hub that knows tools only */
    patchbay_out_text(list, "]");
    if (problem != NULL) {
        patchbay_refuse_(toolset, problem);
        result = PATCHBAY_EINVAL;
    } else if (list->failed) {
        result = PATCHBAY_ENOMEM;
    } else if (toolset->catalog != NULL) {
        result =
            toolset->catalog->set(toolset->host, kind, patchbay_str_make(list->ptr, list->len));
    }
    patchbay_out_free(list);
    return result;
}

/* What an entry of a table lacks: "resource number 2 has no name". `address` is its URI, called `key`.
 * NULL: nothing. */
static inline const char *patchbay_lacks_(char *text, size_t size, const char *entry, size_t index,
                                          const char *key, const char *address, const char *name,
                                          int has_handler)
{
    const char *lack = address == NULL ? key
                       : name == NULL  ? "name"
                       : !has_handler  ? "handler"
                                       : NULL;
    if (lack == NULL) {
        return NULL;
    }
    (void)snprintf(text, size, "%s number %lu has no %s", entry, (unsigned long)index + 1, lack);
    return text;
}

static inline void patchbay_put_resources_(patchbay_toolset *toolset,
                                           const patchbay_resource *resources, size_t count)
{
    (void)pthread_mutex_lock(&toolset->lock);
    toolset->resources = resources;
    toolset->resource_count = count;
    (void)pthread_mutex_unlock(&toolset->lock);
}

/* As patchbay_set_tools.
 * returns: what patchbay_catalog_v1.set returns, or PATCHBAY_ENOTFOUND: the hub knows tools only */
static inline int32_t patchbay_set_resources(patchbay_toolset *toolset,
                                             const patchbay_resource *resources, size_t count)
{
    const patchbay_resource *old = toolset->resources;
    size_t old_count = toolset->resource_count;
    const char *problem = NULL;
    char text[64];
    patchbay_out list;
    memset(&list, 0, sizeof list);
    patchbay_out_text(&list, "[");
    for (size_t i = 0; i < count; i++) {
        const patchbay_resource *entry = &resources[i];
        patchbay_out_text(&list, i > 0 ? "," : "");
        patchbay_resource_json_(&list, entry);
        if (problem == NULL) {
            problem = patchbay_lacks_(text, sizeof text, "resource", i, "uri", entry->uri,
                                      entry->name, entry->handler != NULL);
        }
    }
    if (problem == NULL) {
        patchbay_put_resources_(toolset, resources, count);
    }
    int32_t result = patchbay_set_list_(toolset, PATCHBAY_RESOURCES, &list, problem);
    if (result != PATCHBAY_OK) {
        patchbay_put_resources_(toolset, old, old_count);
    }
    return result;
}

static inline void patchbay_put_templates_(patchbay_toolset *toolset,
                                           const patchbay_resource_template *templates,
                                           size_t count)
{
    (void)pthread_mutex_lock(&toolset->lock);
    toolset->templates = templates;
    toolset->template_count = count;
    (void)pthread_mutex_unlock(&toolset->lock);
}

/* As patchbay_set_resources. */
static inline int32_t patchbay_set_templates(patchbay_toolset *toolset,
                                             const patchbay_resource_template *templates,
                                             size_t count)
{
    const patchbay_resource_template *old = toolset->templates;
    size_t old_count = toolset->template_count;
    const char *problem = NULL;
    char text[PATCHBAY_REFUSAL_BYTES];
    patchbay_out list;
    memset(&list, 0, sizeof list);
    patchbay_out_text(&list, "[");
    for (size_t i = 0; i < count; i++) {
        const patchbay_resource_template *entry = &templates[i];
        patchbay_out_text(&list, i > 0 ? "," : "");
        patchbay_template_json_(&list, entry);
        if (problem == NULL) {
            problem = patchbay_lacks_(text, sizeof text, "resource template", i, "uri_template",
                                      entry->uri_template, entry->name, entry->handler != NULL);
        }
        if (problem == NULL && !patchbay_is_template_(entry->uri_template, &list)) {
            (void)snprintf(text, sizeof text,
                           "uri_template \"%.100s\": only {name} and {+name} are known, 16 at most",
                           entry->uri_template);
            problem = text;
        }
    }
    if (problem == NULL) {
        patchbay_put_templates_(toolset, templates, count);
    }
    int32_t result = patchbay_set_list_(toolset, PATCHBAY_RESOURCE_TEMPLATES, &list, problem);
    if (result != PATCHBAY_OK) {
        patchbay_put_templates_(toolset, old, old_count);
    }
    return result;
}

static inline void patchbay_put_prompts_(patchbay_toolset *toolset, const patchbay_prompt *prompts,
                                         size_t count)
{
    (void)pthread_mutex_lock(&toolset->lock);
    toolset->prompts = prompts;
    toolset->prompt_count = count;
    (void)pthread_mutex_unlock(&toolset->lock);
}

/* As patchbay_set_resources. */
static inline int32_t patchbay_set_prompts(patchbay_toolset *toolset,
                                           const patchbay_prompt *prompts, size_t count)
{
    const patchbay_prompt *old = toolset->prompts;
    size_t old_count = toolset->prompt_count;
    const char *problem = NULL;
    char text[64];
    patchbay_out list;
    memset(&list, 0, sizeof list);
    patchbay_out_text(&list, "[");
    for (size_t i = 0; i < count; i++) {
        patchbay_out_text(&list, i > 0 ? "," : "");
        patchbay_prompt_json_(&list, &prompts[i]);
        if (problem == NULL) { /* a prompt's name is its address */
            problem = patchbay_lacks_(text, sizeof text, "prompt", i, "name", prompts[i].name,
                                      prompts[i].name, prompts[i].handler != NULL);
        }
    }
    if (problem == NULL) {
        patchbay_put_prompts_(toolset, prompts, count);
    }
    int32_t result = patchbay_set_list_(toolset, PATCHBAY_PROMPTS, &list, problem);
    if (result != PATCHBAY_OK) {
        patchbay_put_prompts_(toolset, old, old_count);
    }
    return result;
}

/* The content of a resource has changed: clients that subscribed to it are told. [any]
 * returns: as patchbay_catalog_v1.updated() */
static inline int32_t patchbay_resource_updated(const patchbay_toolset *toolset, const char *uri)
{
    return toolset->catalog != NULL ? toolset->catalog->updated(toolset->host, patchbay_str_of(uri))
                                    : PATCHBAY_ENOTFOUND;
}

/* Send a log message of no call in particular to all clients that want that level: see
 * patchbay_message. [any]
 * returns: as patchbay_client_v1.message(); PATCHBAY_ENOMEM */
static inline int32_t patchbay_message_all(const patchbay_toolset *toolset, const char *level,
                                           const char *text)
{
    int32_t result = PATCHBAY_ENOMEM;
    patchbay_call none = {0};
    patchbay_out data;
    memset(&data, 0, sizeof data);
    patchbay_out_string(&data, patchbay_str_of(text));
    if (!data.failed) {
        result =
            patchbay_message_(toolset, none, level, NULL, patchbay_str_make(data.ptr, data.len));
    }
    patchbay_out_free(&data);
    return result;
}

/* The toolset's shared data, as setup() made it. */
static inline void *patchbay_data_of(const patchbay_toolset *toolset)
{
    return toolset->data;
}

/* ---- running handlers, private --------------------------------------------------------------- */

/* Whether some string in valid JSON text holds a NUL character. */
static inline int patchbay_has_nul_(patchbay_str json)
{
    const char *at = json.ptr;
    const char *end = json.ptr + json.len;
    while ((at = (const char *)memchr(at, '\\', (size_t)(end - at))) != NULL) {
        if (end - at >= 6 && memcmp(at + 1, "u0000", 5) == 0) {
            return 1;
        }
        at += 2; /* past the escaped character: it may be a backslash itself */
    }
    return 0;
}

static inline void patchbay_handle_(patchbay_tool_call *call)
{
    if ((call->entry.flags & PATCHBAY_TAKES_NUL) == 0 && patchbay_has_nul_(call->args)) {
        patchbay_reply_error(call, PATCHBAY_INVALID_INPUT,
                             "the arguments hold a NUL character (\\u0000); send them without");
        return;
    }
#if defined(__cplusplus) && defined(__cpp_exceptions)
    try { /* the frames below are C: an exception must not reach them */
        call->entry.handler(call);
    } catch (const std::exception &thrown) {
        patchbay_threw_(call, thrown.what());
    } catch (...) {
        patchbay_threw_(call, PATCHBAY_UNKNOWN_EXCEPTION_);
    }
#else
    call->entry.handler(call);
#endif
}

static inline void patchbay_run_(void *arg)
{
    patchbay_tool_call *call = (patchbay_tool_call *)arg;
    patchbay_toolset *toolset = call->toolset;
    patchbay_call id = call->id;
    patchbay_handle_(call);
    patchbay_returned_(toolset, id);
}

static inline void patchbay_submit_(patchbay_tool_call *call)
{
    const patchbay_toolset *toolset = call->toolset;
    int32_t result = PATCHBAY_ENOTFOUND;
    if (toolset->worker != NULL) {
        result = toolset->worker->submit(toolset->host, patchbay_run_, call);
    }
    if (result != PATCHBAY_OK) {
        patchbay_reply_error(
            call, PATCHBAY_UNAVAILABLE, "%s",
            result == PATCHBAY_ELIMIT
                ? "too many calls of this toolset wait for a worker; try again in a moment"
            : result == PATCHBAY_ESTATE    ? "the toolset is being closed"
            : result == PATCHBAY_ENOTFOUND ? "this hub has no workers; the tool needs one"
                                           : "out of memory; try again in a moment");
        patchbay_returned_(call->toolset, call->id);
    }
}

/* ---- finding what was called, private: under the toolset's lock ------------------------------ */

static inline void patchbay_set_entry_(patchbay_tool_call *call, patchbay_handler *handler,
                                       void *data, uint64_t flags, const char *mime_type)
{
    call->entry.handler = handler;
    call->entry.data = data;
    call->entry.flags = flags;
    if (mime_type != NULL) {
        call->entry.mime_type = patchbay_call_copy(call, patchbay_str_of(mime_type)).ptr;
    }
}

static inline void patchbay_find_tool_(patchbay_tool_call *call)
{
    const patchbay_toolset *toolset = call->toolset;
    for (size_t i = 0; i < toolset->tool_count; i++) {
        const patchbay_tool *tool = &toolset->tools[i];
        if (patchbay_str_eq(patchbay_str_of(tool->name), call->name)) {
            patchbay_set_entry_(call, tool->handler, tool->data, tool->flags, NULL);
            return;
        }
    }
}

static inline void patchbay_find_resource_(patchbay_tool_call *call)
{
    const patchbay_toolset *toolset = call->toolset;
    if (memchr(call->name.ptr, '\0', call->name.len) != NULL) {
        return; /* no URI */
    }
    for (size_t i = 0; i < toolset->resource_count; i++) {
        const patchbay_resource *entry = &toolset->resources[i];
        if (strcmp(entry->uri, call->name.ptr) == 0) {
            patchbay_set_entry_(call, entry->handler, entry->data, entry->flags, entry->mime_type);
            return;
        }
    }
    patchbay_out variables;
    memset(&variables, 0, sizeof variables);
    for (size_t i = 0; i < toolset->template_count; i++) {
        const patchbay_resource_template *entry = &toolset->templates[i];
        if (patchbay_template_match_(entry->uri_template, call->name.ptr, &variables)) {
            patchbay_set_entry_(call, entry->handler, entry->data, entry->flags, entry->mime_type);
            break;
        }
    }
    if (call->entry.handler != NULL && !variables.failed) {
        call->args = patchbay_call_copy(call, patchbay_str_make(variables.ptr, variables.len));
    }
    patchbay_out_free(&variables);
}

/* returns: why the prompt cannot be had (a name to put into the sentence is in *ret_name); NULL
 * when it can */
static inline const char *patchbay_find_prompt_(patchbay_tool_call *call, const char **ret_name)
{
    const patchbay_toolset *toolset = call->toolset;
    for (size_t i = 0; i < toolset->prompt_count; i++) {
        const patchbay_prompt *prompt = &toolset->prompts[i];
        if (patchbay_str_eq(patchbay_str_of(prompt->name), call->name)) {
            patchbay_set_entry_(call, prompt->handler, prompt->data, prompt->flags, NULL);
            const char *wrong = patchbay_prompt_wrong_argument_(prompt, call->args);
            if (wrong != NULL) {
                *ret_name = patchbay_call_copy(call, patchbay_str_of(wrong)).ptr;
            }
            return wrong != NULL ? "the prompt wants this argument, a text: " : NULL;
        }
    }
    *ret_name = call->name.ptr;
    return "there is no such prompt: ";
}

static inline void patchbay_find_completer_(patchbay_tool_call *call, patchbay_str argument)
{
    const patchbay_toolset *toolset = call->toolset;
    for (size_t i = 0; i < toolset->prompt_count; i++) {
        const patchbay_prompt *prompt = &toolset->prompts[i];
        int same = patchbay_str_eq(patchbay_str_of(prompt->name), call->name);
        for (size_t k = 0; same && k < prompt->argument_count; k++) {
            const patchbay_prompt_argument *entry = &prompt->arguments[k];
            if (patchbay_json_is(argument, patchbay_str_of(entry->name))) {
                patchbay_set_entry_(call, entry->completer, prompt->data, prompt->flags, NULL);
            }
        }
    }
    for (size_t i = 0; i < toolset->template_count; i++) {
        const patchbay_resource_template *entry = &toolset->templates[i];
        int same = patchbay_str_eq(patchbay_str_of(entry->uri_template), call->name);
        for (size_t k = 0; same && k < entry->completer_count; k++) {
            if (patchbay_json_is(argument, patchbay_str_of(entry->completers[k].argument))) {
                patchbay_set_entry_(call, entry->completers[k].handler, entry->data, entry->flags,
                                    NULL);
            }
        }
    }
}

/* ---- the plugin's entries, used by PATCHBAY_TOOLSET ----------------------------------------- */

static inline int patchbay_is_(patchbay_str text, const char *word)
{
    return patchbay_str_eq(text, patchbay_str_of(word));
}

/* A call of some kind, in the list; NULL: out of memory. */
static inline patchbay_tool_call *patchbay_begin_(patchbay_toolset *toolset, patchbay_call id,
                                                  uint64_t kind, const patchbay_request *request)
{
    patchbay_tool_call *call = (patchbay_tool_call *)calloc(1, sizeof *call);
    if (call == NULL) {
        return NULL;
    }
    call->toolset = toolset;
    call->id = id;
    call->kind = kind;
    call->role = "user";
    call->running = 1;
    call->deadline_ms = request->deadline_ms;
    (void)pthread_mutex_lock(&toolset->lock);
    call->next = toolset->calls;
    if (call->next != NULL) {
        call->next->prev = call;
    }
    toolset->calls = call;
    (void)pthread_mutex_unlock(&toolset->lock);
    return call;
}

/* Copy what the call needs of the request; 0: out of memory. */
static inline int patchbay_take_request_(patchbay_tool_call *call, const patchbay_request *request)
{
    const patchbay_toolset *toolset = call->toolset;
    patchbay_str args = request->args_json;
    if (call->kind == PATCHBAY_CALL_PROMPT_) {
        args = patchbay_json_get(request->params_json, "arguments");
    } else if (call->kind == PATCHBAY_CALL_COMPLETION_) {
        patchbay_str argument = patchbay_json_get(request->params_json, "argument");
        args = patchbay_json_get(patchbay_json_get(request->params_json, "context"), "arguments");
        call->typed = patchbay_call_decode(call, patchbay_json_get(argument, "value"));
    }
    patchbay_reserve_(call, args.len);
    call->name = patchbay_call_copy(call, request->tool);
    call->args = patchbay_call_copy(call, args.len > 0 ? args : patchbay_str_of("{}"));
    call->meta = patchbay_call_copy(call, request->meta_json);
    call->capabilities = patchbay_str_of("{}");
    if (toolset->client != NULL) {
        patchbay_str can = toolset->client->get_capabilities(toolset->host, call->id);
        if (can.len > call->capabilities.len) {
            call->capabilities = patchbay_call_copy(call, can);
        }
    }
    return call->reserve != NULL && call->name.ptr != NULL && call->args.ptr != NULL &&
           call->meta.ptr != NULL && call->capabilities.ptr != NULL;
}

/* Find the entry that was called; 0: there is none, and the call is answered. */
static inline int patchbay_find_(patchbay_tool_call *call, const patchbay_request *request)
{
    patchbay_toolset *toolset = call->toolset;
    const char *problem = NULL;
    const char *name = NULL;
    (void)pthread_mutex_lock(&toolset->lock);
    if (call->kind == PATCHBAY_CALL_TOOL_) {
        patchbay_find_tool_(call);
    } else if (call->kind == PATCHBAY_CALL_READ_) {
        patchbay_find_resource_(call);
    } else if (call->kind == PATCHBAY_CALL_PROMPT_) {
        problem = patchbay_find_prompt_(call, &name);
    } else {
        patchbay_str argument = patchbay_json_get(request->params_json, "argument");
        patchbay_find_completer_(call, patchbay_json_get(argument, "name"));
    }
    (void)pthread_mutex_unlock(&toolset->lock);
    if (problem != NULL) {
        patchbay_out message;
        memset(&message, 0, sizeof message);
        patchbay_out_printf(&message, "%s%s", problem, name != NULL ? name : "?");
        patchbay_reply_rpc_error(call, PATCHBAY_RPC_INVALID_PARAMS,
                                 message.failed ? problem : message.ptr,
                                 patchbay_str_make(NULL, 0));
        patchbay_out_free(&message);
    } else if (call->entry.handler != NULL) {
        return 1;
    } else if (call->kind == PATCHBAY_CALL_TOOL_) {
        patchbay_reply_error(call, PATCHBAY_NOT_IMPLEMENTED, "the toolset has no such tool");
    } else if (call->kind == PATCHBAY_CALL_READ_) {
        patchbay_reply_not_found(call);
    } else {
        patchbay_reply(call); /* nothing comes to mind */
    }
    return 0;
}

/* Requests without a handler of their own. */
static inline void patchbay_answer_plain_(patchbay_toolset *toolset, patchbay_call id,
                                          const patchbay_request *request)
{
    int subscribes = patchbay_is_(request->method, "resources/subscribe");
    int32_t status = PATCHBAY_RESULT;
    patchbay_str text = patchbay_str_of("{}");
    if (subscribes || patchbay_is_(request->method, "resources/unsubscribe")) {
        char *uri = (char *)malloc(request->tool.len + 1);
        if (uri != NULL && toolset->info->on_subscribe != NULL) {
            memcpy(uri, request->tool.len > 0 ? request->tool.ptr : "", request->tool.len);
            uri[request->tool.len] = '\0';
            toolset->info->on_subscribe(toolset, uri, subscribes);
        }
        free(uri);
    } else if (!patchbay_is_(request->method, "logging/setLevel")) {
        status = PATCHBAY_NOT_IMPLEMENTED;
        text = patchbay_str_of("the toolset does not know this method");
    } /* else: the hub filters messages itself */
    (void)toolset->api->finish(toolset->host, id, status, text);
}

static inline void patchbay_toolset_call_(void *inst, patchbay_call id,
                                          const patchbay_request *request)
{
    patchbay_toolset *toolset = (patchbay_toolset *)inst;
    uint64_t kind = patchbay_is_(request->method, "tools/call")       ? PATCHBAY_CALL_TOOL_
                    : patchbay_is_(request->method, "resources/read") ? PATCHBAY_CALL_READ_
                    : patchbay_is_(request->method, "prompts/get")    ? PATCHBAY_CALL_PROMPT_
                    : patchbay_is_(request->method, "completion/complete")
                        ? PATCHBAY_CALL_COMPLETION_
                        : UINT64_MAX;
    if (kind == UINT64_MAX) {
        patchbay_answer_plain_(toolset, id, request);
        return;
    }
    patchbay_tool_call *call = patchbay_begin_(toolset, id, kind, request);
    if (call == NULL) {
        (void)toolset->api->finish(toolset->host, id, PATCHBAY_FAILED,
                                   patchbay_str_of("out of memory"));
    } else if (!patchbay_take_request_(call, request)) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
        patchbay_returned_(toolset, id);
    } else if (!patchbay_find_(call, request)) {
        patchbay_returned_(toolset, id);
    } else if ((call->entry.flags & PATCHBAY_NONBLOCKING) != 0) {
        patchbay_run_(call);
    } else {
        patchbay_submit_(call);
    }
}

static inline void patchbay_toolset_cancel_(void *inst, patchbay_call id)
{
    patchbay_toolset *toolset = (patchbay_toolset *)inst;
    (void)pthread_mutex_lock(&toolset->lock);
    patchbay_tool_call *call = patchbay_find_call_(toolset, id);
    if (call != NULL) {
        void (*on_cancel)(void *arg) = call->on_cancel;
        __atomic_store_n(&call->cancelled, 1, __ATOMIC_RELEASE);
        call->on_cancel = NULL;
        if (on_cancel != NULL) {
            on_cancel(call->cancel_arg);
        }
    }
    (void)pthread_mutex_unlock(&toolset->lock);
}

/* Whether something in the lists suggests values. */
static inline int patchbay_completes_(const patchbay_toolset *toolset)
{
    int found = (toolset->info->flags & PATCHBAY_TOOLSET_COMPLETES) != 0;
    for (size_t i = 0; i < toolset->prompt_count; i++) {
        for (size_t k = 0; k < toolset->prompts[i].argument_count; k++) {
            found |= toolset->prompts[i].arguments[k].completer != NULL;
        }
    }
    for (size_t i = 0; i < toolset->template_count; i++) {
        found |= toolset->templates[i].completer_count > 0;
    }
    return found;
}

static inline int32_t patchbay_set_capabilities_(patchbay_toolset *toolset)
{
    uint64_t flags = toolset->info->flags;
    patchbay_out out;
    memset(&out, 0, sizeof out);
    patchbay_out_text(&out, "{");
    if ((flags & PATCHBAY_TOOLSET_SUBSCRIBABLE) != 0) {
        patchbay_out_key(&out, "resources");
        patchbay_out_text(&out, "{\"subscribe\":true}");
    }
    if (patchbay_completes_(toolset)) {
        patchbay_out_key(&out, "completions");
        patchbay_out_text(&out, "{}");
    }
    if ((flags & PATCHBAY_TOOLSET_SENDS_MESSAGES) != 0) {
        patchbay_out_key(&out, "logging");
        patchbay_out_text(&out, "{}");
    }
    patchbay_out_text(&out, "}");
    int32_t result = out.failed ? PATCHBAY_ENOMEM : PATCHBAY_OK;
    if (result == PATCHBAY_OK && toolset->catalog != NULL && out.len > 2) {
        result =
            toolset->catalog->set_capabilities(toolset->host, patchbay_str_make(out.ptr, out.len));
    }
    patchbay_out_free(&out);
    return result;
}

/* Set the lists that set-up has not. */
static inline int32_t patchbay_set_lists_(patchbay_toolset *toolset, const char **ret_what)
{
    const patchbay_toolset_info *info = toolset->info;
    int32_t result = PATCHBAY_OK;
    *ret_what = "tools";
    if (toolset->tools == NULL) {
        result = patchbay_set_tools(toolset, info->tools, info->tool_count);
    }
    if (result == PATCHBAY_OK && toolset->resources == NULL && info->resource_count > 0) {
        *ret_what = "resources";
        result = patchbay_set_resources(toolset, info->resources, info->resource_count);
    }
    if (result == PATCHBAY_OK && toolset->templates == NULL && info->template_count > 0) {
        *ret_what = "resource templates";
        result = patchbay_set_templates(toolset, info->templates, info->template_count);
    }
    if (result == PATCHBAY_OK && toolset->prompts == NULL && info->prompt_count > 0) {
        *ret_what = "prompts";
        result = patchbay_set_prompts(toolset, info->prompts, info->prompt_count);
    }
    if (result == PATCHBAY_ENOTFOUND) {
        patchbay_log(toolset, PATCHBAY_LOG_WARNING,
                     "this hub knows no resources and prompts: only the tools can be used");
        return PATCHBAY_OK;
    }
    if (result == PATCHBAY_OK) {
        *ret_what = "capabilities";
        result = patchbay_set_capabilities_(toolset);
    }
    return result;
}

static inline void patchbay_find_interfaces_(patchbay_toolset *toolset)
{
    const patchbay_host_api *api = toolset->api;
    patchbay_host *host = toolset->host;
    toolset->worker = (const patchbay_worker_v1 *)api->get_interface(host, PATCHBAY_WORKER_V1);
    toolset->loop = (const patchbay_loop_v1 *)api->get_interface(host, PATCHBAY_LOOP_V1);
    toolset->client = (const patchbay_client_v1 *)api->get_interface(host, PATCHBAY_CLIENT_V1);
    toolset->catalog = (const patchbay_catalog_v1 *)api->get_interface(host, PATCHBAY_CATALOG_V1);
    if (toolset->catalog != NULL && !PATCHBAY_HAS(patchbay_catalog_v1, toolset->catalog, updated)) {
        toolset->catalog = NULL; /* a hub that knew tools only */
    }
}

static inline int32_t patchbay_setup_(patchbay_toolset *toolset, patchbay_str config_json,
                                      patchbay_error *reterr)
{
#if defined(__cplusplus) && defined(__cpp_exceptions)
    try { /* the frames below are C: an exception must not reach them */
        return toolset->info->setup(toolset, config_json, &toolset->data, reterr);
    } catch (const std::exception &thrown) {
        (void)snprintf(reterr->text, sizeof reterr->text, "setup() threw an exception: %s",
                       thrown.what());
    } catch (...) {
        (void)snprintf(reterr->text, sizeof reterr->text, "setup() threw an exception: %s",
                       PATCHBAY_UNKNOWN_EXCEPTION_);
    }
    return PATCHBAY_EINVAL;
#else
    return toolset->info->setup(toolset, config_json, &toolset->data, reterr);
#endif
}

static inline int32_t patchbay_toolset_create_(const patchbay_toolset_info *info,
                                               const patchbay_host_api *api, patchbay_host *host,
                                               patchbay_str config_json, void **ret_inst,
                                               patchbay_error *reterr)
{
    patchbay_toolset *toolset = (patchbay_toolset *)calloc(1, sizeof *toolset);
    if (toolset == NULL) {
        (void)snprintf(reterr->text, sizeof reterr->text, "out of memory");
        return PATCHBAY_ENOMEM;
    }
    toolset->api = api;
    toolset->host = host;
    toolset->info = info;
    (void)pthread_mutex_init(&toolset->lock, NULL);
    patchbay_find_interfaces_(toolset);
    int32_t result = PATCHBAY_OK;
    if (info->setup != NULL) {
        result = patchbay_setup_(toolset, config_json, reterr);
    }
    if (result == PATCHBAY_OK) {
        const char *what = NULL;
        result = patchbay_set_lists_(toolset, &what);
        if (result != PATCHBAY_OK) {
            if (toolset->refusal[0] != '\0') {
                (void)snprintf(reterr->text, sizeof reterr->text, "%s", toolset->refusal);
            } else {
                (void)snprintf(reterr->text, sizeof reterr->text, "%s the list of %s",
                               result == PATCHBAY_ENOMEM ? "out of memory for" : "the hub refused",
                               what);
            }
            if (info->teardown != NULL) {
                info->teardown(toolset->data);
            }
        }
    }
    if (result != PATCHBAY_OK && reterr->text[0] == '\0') { /* setup() passed on what it got */
        (void)snprintf(reterr->text, sizeof reterr->text, "%s", toolset->refusal);
    }
    if (result != PATCHBAY_OK) {
        (void)pthread_mutex_destroy(&toolset->lock);
        free(toolset);
        return result;
    }
    *ret_inst = toolset;
    return PATCHBAY_OK;
}

static inline void patchbay_toolset_destroy_(void *inst)
{
    patchbay_toolset *toolset = (patchbay_toolset *)inst;
    /* First the plugin's own threads end, which may still hold deferred calls. */
    if (toolset->info->teardown != NULL) {
        toolset->info->teardown(toolset->data);
    }
    while (toolset->calls != NULL) { /* jobs that the pool dropped, and calls never answered */
        patchbay_tool_call *call = toolset->calls;
        toolset->calls = call->next;
        patchbay_call_free_(call);
    }
    for (size_t i = 0; i < PATCHBAY_CALLS_KEPT; i++) {
        patchbay_call_free_(toolset->over[i]);
    }
    (void)pthread_mutex_destroy(&toolset->lock);
    free(toolset);
}

/* Define the plugin of a static table of tools. Use it once, at the end of the file, without a
 * semicolon behind it. */
#define PATCHBAY_TOOLSET(name_, version_, description_, tools_)                                    \
    PATCHBAY_TOOLSET_WITH(name_, version_, description_, tools_,                                   \
                          sizeof(tools_) / sizeof((tools_)[0]), NULL, NULL, NULL)

/* The same with configuration: its JSON Schema, and functions that make and free what the handlers
 * share. `tools_` may be NULL with count 0 when setup_ calls patchbay_set_tools. */
#define PATCHBAY_TOOLSET_WITH(name_, version_, description_, tools_, count_, schema_, setup_,      \
                              teardown_)                                                           \
    static const patchbay_toolset_info patchbay_info_ = {                                          \
        tools_, count_, setup_, teardown_, NULL, 0, NULL, 0, NULL, 0, 0, NULL,                     \
    };                                                                                             \
    PATCHBAY_TOOLSET_OF(name_, version_, description_, schema_, patchbay_info_)

/* The plugin of a static patchbay_toolset_info: resources, prompts and all. `schema_` is the JSON
 * Schema of its configuration; NULL: it takes none.
 * The declaration carries PATCHBAY_EXPORT for the definition, where C++ would ignore it. Names end
 * in an underscore so as not to shadow the author's. */
#define PATCHBAY_TOOLSET_OF(name_, version_, description_, schema_, info_)                         \
    static int32_t patchbay_create_(const patchbay_host_api *api_, patchbay_host *host_,           \
                                    patchbay_str config_, void **ret_inst_,                        \
                                    patchbay_error *reterr_)                                       \
    {                                                                                              \
        return patchbay_toolset_create_(&(info_), api_, host_, config_, ret_inst_, reterr_);       \
    }                                                                                              \
    PATCHBAY_EXPORT extern const patchbay_plugin patchbay_plugin_v1;                               \
    const patchbay_plugin patchbay_plugin_v1 = {                                                   \
        PATCHBAY_MAGIC,                                                                            \
        sizeof(patchbay_plugin),                                                                   \
        PATCHBAY_ABI,                                                                              \
        PATCHBAY_NEEDS_ABI,                                                                        \
        name_,                                                                                     \
        version_,                                                                                  \
        description_,                                                                              \
        schema_,                                                                                   \
        0,                                                                                         \
        patchbay_create_,                                                                          \
        patchbay_toolset_call_,                                                                    \
        patchbay_toolset_cancel_,                                                                  \
        patchbay_toolset_destroy_,                                                                 \
    };

#ifdef __cplusplus
}
#endif

#endif
