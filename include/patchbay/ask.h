/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the client in the middle of a call: for what its user says (elicitation), for what its
 * model says (sampling), for the folders it works in (roots).
 *
 *     static void rename_to(patchbay_tool_call *call, const patchbay_answer *answer)
 *     {
 *         const char *name = patchbay_answer_text(call, answer, "name");
 *         if (name == NULL) {
 *             patchbay_reply_textf(call, "Nothing was renamed.");
 *             return;
 *         }
 *         …
 *     }
 *
 *     static void rename(patchbay_tool_call *call)
 *     {
 *         patchbay_elicit(call, "new_name", "What is the new name?", schema, rename_to);
 *     }
 *
 * A handler that asked returns without a reply. The question is sent when it has returned, together
 * with all others that it asked, and the function that came with a question runs on the hub's loop
 * when its answer is there; it may ask again. It always runs, also when the client cannot be asked,
 * refuses, or is gone: then there is no answer in it, and a reply is as good as any (of a client
 * that is gone, nobody hears it).
 *
 * Each question of a call has a key of its own: a short name that clients may see. Several answers
 * come in any order; patchbay_open_questions says whether one was the last, and
 * patchbay_answer_to finds those that came before.
 *
 * Part of toolset.h, which includes it.
 */
#ifndef PATCHBAY_ASK_H
#define PATCHBAY_ASK_H

#include <patchbay/content.h>

#if defined(__cplusplus) && defined(__cpp_exceptions)
#include <exception>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The answer to a question, or why there is none. Lives as long as its call. */
struct patchbay_answer {
    const patchbay_answer *next_; /* private */
    const char *key;
    /* PATCHBAY_ANSWERED, PATCHBAY_REFUSED or PATCHBAY_NO_ANSWER, as in client.h; or negative, and
     * the question was not sent: PATCHBAY_ESTATE when the client did not declare that it can
     * answer such, PATCHBAY_EINVAL when the question is wrong, PATCHBAY_ENOTFOUND when this hub
     * cannot ask */
    int64_t status;
    /* PATCHBAY_ANSWERED: the result object; PATCHBAY_REFUSED: the error object; else a text */
    patchbay_str json;
};

/* ---- the machinery, private ------------------------------------------------------------------ */

static inline patchbay_tool_call *patchbay_find_call_(const patchbay_toolset *toolset,
                                                      patchbay_call id)
{
    patchbay_tool_call *call = toolset->calls;
    while (call != NULL && call->id.id != id.id) {
        call = call->next;
    }
    return call;
}

static inline void patchbay_fail_ask_(patchbay_tool_call *call)
{
    patchbay_reply_error(call, PATCHBAY_UNAVAILABLE,
                         "the client could not be asked now; try again in a moment");
}

/* The questions of one call that waits for its first answer, in the order asked; NULL: none. */
static inline patchbay_question_ *patchbay_take_questions_(patchbay_toolset *toolset)
{
    patchbay_question_ *ordered = NULL;
    (void)pthread_mutex_lock(&toolset->lock);
    patchbay_tool_call *call = toolset->calls;
    while (call != NULL && (call->questions == NULL || call->running || call->reply != 0)) {
        call = call->next;
    }
    while (call != NULL && call->questions != NULL) {
        patchbay_question_ *question = call->questions;
        call->questions = question->next;
        question->next = ordered;
        ordered = question;
    }
    (void)pthread_mutex_unlock(&toolset->lock);
    return ordered;
}

static inline void patchbay_on_answer_(void *arg, patchbay_call id, int32_t status,
                                       patchbay_str json);

static inline int32_t patchbay_send_question_(patchbay_question_ *question)
{
    const patchbay_toolset *toolset = question->toolset;
    patchbay_question sent;
    if (question->key.failed || question->params.failed) {
        return PATCHBAY_ENOMEM;
    }
    if (toolset->client == NULL) {
        return PATCHBAY_ENOTFOUND;
    }
    memset(&sent, 0, sizeof sent);
    sent.struct_size = sizeof sent;
    sent.key = patchbay_str_make(question->key.ptr, question->key.len);
    sent.method = patchbay_str_of(question->method);
    sent.params_json = patchbay_str_make(question->params.ptr, question->params.len);
    sent.on_answer = patchbay_on_answer_;
    sent.arg = question;
    return toolset->client->ask(toolset->host, question->call, &sent);
}

static inline const char *patchbay_ask_problem_(int32_t code)
{
    return code == PATCHBAY_ESTATE      ? "the client did not say that it can answer this"
           : code == PATCHBAY_EINVAL    ? "the question is not one that can be asked"
           : code == PATCHBAY_ESTALE    ? "the call is over"
           : code == PATCHBAY_ELIMIT    ? "the call asks too much"
           : code == PATCHBAY_ENOTFOUND ? "this hub cannot ask its clients"
                                        : "out of memory";
}

/* Send what all calls have asked: of each call together, and those that failed afterwards. */
static inline void patchbay_flush_(void *arg)
{
    patchbay_toolset *toolset = (patchbay_toolset *)arg;
    patchbay_question_ *question;
    while ((question = patchbay_take_questions_(toolset)) != NULL) {
        patchbay_question_ *failed = NULL;
        while (question != NULL) {
            patchbay_question_ *next = question->next;
            question->code = patchbay_send_question_(question);
            if (question->code != PATCHBAY_OK) {
                question->next = failed;
                failed = question;
            } /* else it is the answer's: gone with it */
            question = next;
        }
        while (failed != NULL) {
            patchbay_question_ *next = failed->next;
            int32_t code = (int32_t)failed->code;
            patchbay_on_answer_(failed, failed->call, code,
                                patchbay_str_of(patchbay_ask_problem_(code)));
            failed = next;
        }
    }
}

/* A call whose questions nobody has sent, or will; NULL when somebody has. */
static inline patchbay_tool_call *patchbay_reclaim_(patchbay_toolset *toolset, patchbay_call id)
{
    (void)pthread_mutex_lock(&toolset->lock);
    patchbay_tool_call *call = patchbay_find_call_(toolset, id);
    if (call != NULL && (call->running || call->questions == NULL || call->reply != 0)) {
        call = NULL;
    } else if (call != NULL) {
        call->running = 1;
    }
    (void)pthread_mutex_unlock(&toolset->lock);
    return call;
}

static inline void patchbay_returned_(patchbay_toolset *toolset, patchbay_call id);

/* Have the questions of all calls sent, on the loop; when that is refused, this one fails. */
static inline void patchbay_post_flush_(patchbay_toolset *toolset, patchbay_call id)
{
    int32_t result = PATCHBAY_ENOTFOUND;
    if (toolset->loop != NULL) {
        result = toolset->loop->post(toolset->host, patchbay_flush_, toolset);
    }
    /* Whatever flushes for another call takes these questions, too. */
    patchbay_tool_call *call = result != PATCHBAY_OK ? patchbay_reclaim_(toolset, id) : NULL;
    if (call != NULL) {
        patchbay_fail_ask_(call);
        patchbay_returned_(toolset, id);
    }
}

/* The toolset's code has returned: end the call when it has its reply; else send what it asked, or
 * see that it gets one. */
static inline void patchbay_returned_(patchbay_toolset *toolset, patchbay_call id)
{
    (void)pthread_mutex_lock(&toolset->lock);
    patchbay_tool_call *call = patchbay_find_call_(toolset, id);
    int replied = 0;
    int asked = 0;
    int failed = 0;
    int forgotten = 0;
    if (call != NULL) {
        call->running = 0;
        replied = call->reply == PATCHBAY_REPLY_SENT_;
    }
    if (call != NULL && call->reply == PATCHBAY_REPLY_NONE_) {
        failed = call->ask_failed;
        asked = call->questions != NULL && !call->is_over;
        forgotten = !call->deferred && (call->is_over || call->open_count == 0);
    }
    (void)pthread_mutex_unlock(&toolset->lock);
    if (replied) {
        patchbay_retire_(call);
    } else if (failed) {
        patchbay_fail_ask_(call);
    } else if (asked) {
        patchbay_post_flush_(toolset, id);
    } else if (forgotten) {
        patchbay_log_of_(
            call, "returned without a reply; patchbay_defer(call) keeps a call for a later one");
        patchbay_reply_error(call, PATCHBAY_FAILED, "the tool returned without a reply");
    }
}

/* The answer as the call keeps it; NULL when there is no memory. */
static inline const patchbay_answer *patchbay_keep_answer_(patchbay_tool_call *call,
                                                           const patchbay_question_ *question,
                                                           int32_t status, patchbay_str json)
{
    patchbay_answer *answer = (patchbay_answer *)patchbay_call_alloc(call, sizeof *answer);
    patchbay_str key =
        patchbay_call_copy(call, patchbay_str_make(question->key.ptr, question->key.len));
    patchbay_str kept = patchbay_call_copy(call, json);
    if (answer == NULL || key.ptr == NULL || kept.ptr == NULL) {
        return NULL;
    }
    answer->next_ = call->answers;
    answer->key = key.ptr;
    answer->status = status;
    answer->json = kept;
    call->answers = answer;
    return answer;
}

#if defined(__cplusplus) && defined(__cpp_exceptions)
#define PATCHBAY_UNKNOWN_EXCEPTION_ "something that is not a std::exception"

/* The toolset's code threw: say so in the log, and to the caller unless somebody replies. */
static inline void patchbay_threw_(patchbay_tool_call *call, const char *what)
{
    patchbay_out text;
    memset(&text, 0, sizeof text);
    patchbay_out_text(&text, "the handler of \"");
    patchbay_out_escaped(&text, call->name);
    patchbay_out_text(&text, "\" threw an exception: ");
    patchbay_out_escaped(&text, patchbay_str_of(what));
    if (!text.failed) {
        patchbay_log(call->toolset, PATCHBAY_LOG_ERROR, text.ptr);
    }
    patchbay_out_free(&text);
    (void)pthread_mutex_lock(&call->toolset->lock);
    int replies = call->deferred || call->reply != PATCHBAY_REPLY_NONE_;
    (void)pthread_mutex_unlock(&call->toolset->lock);
    if (!replies) {
        patchbay_reply_error(call, PATCHBAY_FAILED, "the tool threw an exception: %s", what);
    }
}
#endif

static inline void patchbay_run_then_(patchbay_tool_call *call, patchbay_then *then,
                                      const patchbay_answer *answer)
{
#if defined(__cplusplus) && defined(__cpp_exceptions)
    try { /* the frames below are C: an exception must not reach them */
        then(call, answer);
    } catch (const std::exception &thrown) {
        patchbay_threw_(call, thrown.what());
    } catch (...) {
        patchbay_threw_(call, PATCHBAY_UNKNOWN_EXCEPTION_);
    }
#else
    then(call, answer);
#endif
}

static inline void patchbay_on_answer_(void *arg, patchbay_call id, int32_t status,
                                       patchbay_str json)
{
    patchbay_question_ *question = (patchbay_question_ *)arg;
    patchbay_toolset *toolset = question->toolset;
    (void)pthread_mutex_lock(&toolset->lock);
    patchbay_tool_call *call = patchbay_find_call_(toolset, question->call);
    if (call != NULL && call->reply != PATCHBAY_REPLY_NONE_) {
        call = NULL; /* somebody is just replying: the answer comes too late */
    }
    if (call != NULL) {
        call->open_count--;
        call->running = 1;
        call->is_over |= status == PATCHBAY_NO_ANSWER || status == PATCHBAY_ESTALE;
    }
    (void)pthread_mutex_unlock(&toolset->lock);
    if (call != NULL) {
        const patchbay_answer *answer = patchbay_keep_answer_(call, question, status, json);
        if (answer != NULL) {
            patchbay_run_then_(call, question->then, answer);
        } else {
            patchbay_reply_error(call, PATCHBAY_FAILED, "out of memory");
        }
        patchbay_returned_(toolset, question->call);
    }
    (void)id; /* the question knows */
    patchbay_question_free_(question);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Note a question down; takes `params`. */
static inline void patchbay_ask_(patchbay_tool_call *call, const char *key, const char *method,
                                 patchbay_out params, patchbay_then *then)
{
    patchbay_toolset *toolset = call->toolset;
    patchbay_call id = call->id;
    patchbay_question_ *question = (patchbay_question_ *)calloc(1, sizeof *question);
    if (question != NULL) {
        question->toolset = toolset;
        question->call = id;
        question->then = then;
        question->method = method;
        question->params = params;
        patchbay_out_text(&question->key, key);
    } else {
        patchbay_out_free(&params);
    }
    (void)pthread_mutex_lock(&toolset->lock);
    if (question != NULL) {
        question->next = call->questions;
        call->questions = question;
        call->open_count++;
    } else {
        call->ask_failed = 1;
    }
    int returns = call->running; /* and then it is sent */
    (void)pthread_mutex_unlock(&toolset->lock);
    if (!returns && question == NULL) {
        patchbay_fail_ask_(call);
    } else if (!returns) {
        patchbay_post_flush_(toolset, id);
    }
}

/* Ask with any method that patchbay_client_v1.ask takes, a literal. `params_json` is its params
 * object, empty for none. The functions below put it together for you.
 * From a thread of the author's own that holds a deferred call: one question, and then hands off
 * the call. */
static inline void patchbay_ask(patchbay_tool_call *call, const char *key, const char *method,
                                patchbay_str params_json, patchbay_then *then)
{
    patchbay_out params;
    memset(&params, 0, sizeof params);
    patchbay_out_raw(&params, params_json);
    patchbay_ask_(call, key, method, params, then);
}

/* Ask the user to fill in a form (MCP client/elicitation). `schema_json` is a flat JSON Schema: an
 * object whose properties are strings, numbers, integers, booleans, or enumerations. */
static inline void patchbay_elicit(patchbay_tool_call *call, const char *key, const char *message,
                                   const char *schema_json, patchbay_then *then)
{
    patchbay_out params;
    memset(&params, 0, sizeof params);
    patchbay_out_text(&params, "{\"message\":");
    patchbay_out_string(&params, patchbay_str_of(message));
    patchbay_out_key(&params, "requestedSchema");
    patchbay_out_text(&params, schema_json);
    patchbay_out_text(&params, "}");
    patchbay_ask_(call, key, "elicitation/create", params, then);
}

/* Ask the user to open a URL and do there what must not pass through the client (MCP 2025-11-25
 * client/elicitation, URL mode). The answer says whether the user agreed, not what came of it.
 * `key` is the elicitation's id, too: make it unlike any other. */
static inline void patchbay_elicit_url(patchbay_tool_call *call, const char *key,
                                       const char *message, const char *url, patchbay_then *then)
{
    patchbay_out params;
    memset(&params, 0, sizeof params);
    patchbay_out_text(&params, "{\"mode\":\"url\"");
    patchbay_member_(&params, "message", message);
    patchbay_member_(&params, "url", url);
    patchbay_member_(&params, "elicitationId", key);
    patchbay_out_text(&params, "}");
    patchbay_ask_(call, key, "elicitation/create", params, then);
}

/* Say that what a user was sent to by URL is done, under the key that patchbay_elicit_url had. The
 * client that was asked is told, whether its call is over or not, and nobody else; clients of
 * 2026-07-28 have no such message. From any thread.
 * returns: as patchbay_client_v1.elicitation_complete(); PATCHBAY_ENOTFOUND also when the hub is
 *          older than that */
static inline int32_t patchbay_elicitation_complete(const patchbay_toolset *toolset,
                                                    const char *key)
{
    patchbay_call any;
    patchbay_out params;
    int32_t result = PATCHBAY_ENOTFOUND;
    any.id = 0;
    memset(&params, 0, sizeof params);
    patchbay_out_text(&params, "{\"elicitationId\":");
    patchbay_out_string(&params, patchbay_str_of(key));
    patchbay_out_text(&params, "}");
    if (params.failed) {
        result = PATCHBAY_ENOMEM;
    } else if (toolset->client != NULL &&
               PATCHBAY_HAS(patchbay_client_v1, toolset->client, elicitation_complete)) {
        result = toolset->client->elicitation_complete(toolset->host, any,
                                                       patchbay_str_make(params.ptr, params.len));
    }
    patchbay_out_free(&params);
    return result;
}

/* Ask the client's model (MCP client/sampling): one message of the user, and at most so many
 * tokens. For more, patchbay_ask with "sampling/createMessage". */
static inline void patchbay_sample(patchbay_tool_call *call, const char *key, const char *prompt,
                                   unsigned max_tokens, patchbay_then *then)
{
    patchbay_out params;
    memset(&params, 0, sizeof params);
    patchbay_out_text(&params, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\"");
    patchbay_member_(&params, "text", prompt);
    patchbay_out_printf(&params, "}}],\"maxTokens\":%u}", max_tokens);
    patchbay_ask_(call, key, "sampling/createMessage", params, then);
}

/* Ask for the folders that the client works in (MCP client/roots). */
static inline void patchbay_ask_roots(patchbay_tool_call *call, const char *key,
                                      patchbay_then *then)
{
    patchbay_ask(call, key, "roots/list", patchbay_str_make(NULL, 0), then);
}

/* ---- reading answers ------------------------------------------------------------------------- */

/* How many questions of the call have no answer yet, those of this very moment included. */
static inline uint64_t patchbay_open_questions(const patchbay_tool_call *call)
{
    pthread_mutex_t *lock = &call->toolset->lock;
    (void)pthread_mutex_lock(lock);
    uint64_t count = call->open_count;
    (void)pthread_mutex_unlock(lock);
    return count;
}

/* The latest answer to the question of that key; NULL when there is none yet. */
static inline const patchbay_answer *patchbay_answer_to(const patchbay_tool_call *call,
                                                        const char *key)
{
    const patchbay_answer *answer = call->answers;
    while (answer != NULL && strcmp(answer->key, key) != 0) {
        answer = answer->next_;
    }
    return answer;
}

/* Whether the user filled in the form, or agreed to open the URL. */
static inline int patchbay_answer_accepted(const patchbay_answer *answer)
{
    return answer->status == PATCHBAY_ANSWERED &&
           patchbay_json_is(patchbay_json_get(answer->json, "action"), patchbay_str_of("accept"));
}

/* A field of the form that the user filled in, as raw JSON: what the schema asks for should be
 * there, but it is the client that says so. Empty when it is absent, or nothing was filled in. */
static inline patchbay_str patchbay_answer_field(const patchbay_answer *answer, const char *field)
{
    if (!patchbay_answer_accepted(answer)) {
        return patchbay_str_make(NULL, 0);
    }
    return patchbay_json_get(patchbay_json_get(answer->json, "content"), field);
}

/* The same of a text, as a C string that lives as long as the call; NULL also when it is not a string,
 * or holds a NUL character. */
static inline const char *patchbay_answer_text(patchbay_tool_call *call,
                                               const patchbay_answer *answer, const char *field)
{
    patchbay_str text = patchbay_call_decode(call, patchbay_answer_field(answer, field));
    return text.ptr != NULL && memchr(text.ptr, '\0', text.len) == NULL ? text.ptr : NULL;
}

/* The text that the client's model answered: of one block, or of the first text among several. ptr
 * is NULL when there is none. Lives as long as the call. */
static inline patchbay_str patchbay_answer_sample(patchbay_tool_call *call,
                                                  const patchbay_answer *answer)
{
    patchbay_str block = patchbay_str_make(NULL, 0);
    patchbay_str key;
    if (answer->status == PATCHBAY_ANSWERED) {
        block = patchbay_json_get(answer->json, "content");
    }
    patchbay_json_iter several = patchbay_json_iterate(block);
    if (block.len > 0 && !several.is_object) {
        while (patchbay_json_next(&several, &key, &block) &&
               patchbay_json_get(block, "text").len == 0) {
        }
    }
    return patchbay_call_decode(call, patchbay_json_get(block, "text"));
}

/* The roots, for patchbay_json_iterate: a raw array of objects with `uri` and perhaps `name`; empty
 * when there is no answer. */
static inline patchbay_str patchbay_answer_roots(const patchbay_answer *answer)
{
    return answer->status == PATCHBAY_ANSWERED ? patchbay_json_get(answer->json, "roots")
                                               : patchbay_str_make(NULL, 0);
}

#ifdef __cplusplus
}
#endif

#endif
