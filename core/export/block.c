/* SPDX-License-Identifier: Apache-2.0 */
#include "export/block.h"

#include "wire/json.h"

/* ---- what a model asks for ------------------------------------------------------------------- */

/* The arguments as an object: what is a text is taken for one, and an empty one for none. */
static hub_err take_arguments(hub_block *block, hub_str raw, hub_buf *text, hub_error *reterr)
{
    hub_str value = raw;
    if (hub_json_type_of(raw) == HUB_JSON_STRING) {
        if (hub_json_decode(raw, text) != HUB_OK) {
            return hub_fail(reterr, HUB_ENOMEM, "out of memory");
        }
        bool is_empty = hub_str_trim(hub_buf_str(text)).len == 0;
        if (!is_empty && hub_json_check(hub_buf_str(text), &value, NULL) != HUB_OK) {
            return hub_fail(reterr, HUB_EINVAL, "the arguments in the block are not JSON");
        }
        value = is_empty ? HUB_STR("{}") : value;
    }
    block->arguments = value.len > 0 ? value : HUB_STR("{}");
    return hub_json_type_of(block->arguments) == HUB_JSON_OBJECT
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL, "the arguments in the block are not a JSON object");
}

hub_err hub_block_read(bool is_anthropic, hub_str json, hub_buf *text, hub_block *ret_block,
                       hub_error *reterr)
{
    hub_str type = hub_json_get(json, HUB_STR("type"));
    hub_str function = hub_json_get(json, HUB_STR("function"));
    hub_str arguments;
    *ret_block = (hub_block){.kind = HUB_BLOCK_ANTHROPIC};
    if (is_anthropic && hub_json_string_is(type, HUB_STR("tool_use"))) {
        ret_block->id = hub_json_get(json, HUB_STR("id"));
        ret_block->name = hub_json_get(json, HUB_STR("name"));
        arguments = hub_json_get(json, HUB_STR("input"));
    } else if (!is_anthropic && hub_json_string_is(type, HUB_STR("function_call"))) {
        ret_block->kind = HUB_BLOCK_RESPONSES;
        ret_block->id = hub_json_get(json, HUB_STR("call_id"));
        ret_block->name = hub_json_get(json, HUB_STR("name"));
        arguments = hub_json_get(json, HUB_STR("arguments"));
    } else if (!is_anthropic && hub_json_type_of(function) == HUB_JSON_OBJECT) {
        ret_block->kind = HUB_BLOCK_OPENAI;
        ret_block->id = hub_json_get(json, HUB_STR("id"));
        ret_block->name = hub_json_get(function, HUB_STR("name"));
        arguments = hub_json_get(function, HUB_STR("arguments"));
    } else {
        return hub_fail(reterr, HUB_EINVAL, "%s",
                        is_anthropic ? "this is not a block of the type \"tool_use\""
                                     : "this is neither an entry of tool_calls nor a block of the "
                                       "type \"function_call\"");
    }
    if (hub_json_type_of(ret_block->id) != HUB_JSON_STRING ||
        hub_json_type_of(ret_block->name) != HUB_JSON_STRING) {
        return hub_fail(reterr, HUB_EINVAL, "the block lacks an id, or the name of a tool");
    }
    return take_arguments(ret_block, arguments, text, reterr);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bool is_of_type(hub_str item, const char *type)
{
    return hub_json_string_is(hub_json_get(item, HUB_STR("type")), hub_str_of(type));
}

/* Append an item of a result as Anthropic's block. */
static void add_block(hub_str item, hub_buf *out)
{
    hub_str text = hub_json_get(item, HUB_STR("text"));
    hub_json_add_comma(out);
    hub_str data = hub_json_get(item, HUB_STR("data"));
    hub_str mime = hub_json_get(item, HUB_STR("mimeType"));
    if (is_of_type(item, "image") && data.len > 0 && mime.len > 0) {
        hub_buf_add(out,
                    HUB_STR("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":"));
        hub_buf_add(out, mime);
        hub_buf_add(out, HUB_STR(",\"data\":"));
        hub_buf_add(out, data);
        hub_buf_add(out, HUB_STR("}}"));
        return;
    }
    hub_buf_add(out, HUB_STR("{\"type\":\"text\",\"text\":"));
    if (is_of_type(item, "text") && hub_json_type_of(text) == HUB_JSON_STRING) {
        hub_buf_add(out, text);
    } else {
        hub_json_add_string(out, item);
    }
    hub_buf_add_char(out, '}');
}

/* Append what an item says, as plain text. */
static hub_err add_plain(hub_str item, hub_buf *out)
{
    hub_str text = hub_json_get(item, HUB_STR("text"));
    if (out->len > 0) {
        hub_buf_add_char(out, '\n');
    }
    if (is_of_type(item, "text") && hub_json_type_of(text) == HUB_JSON_STRING) {
        return hub_json_decode(text, out);
    }
    hub_buf_add(out, item);
    return out->failed;
}

static hub_err add_text_of(hub_str result, hub_buf *out)
{
    hub_str content = hub_json_get(result, HUB_STR("content"));
    hub_str key;
    hub_str item;
    hub_err err = HUB_OK;
    hub_buf plain;
    hub_buf_init(&plain, SIZE_MAX / 4);
    if (hub_json_type_of(content) != HUB_JSON_ARRAY) {
        hub_buf_add(&plain, result);
        content = HUB_STR("[]");
    }
    for (hub_json_iter it = hub_json_iterate(content);
         err == HUB_OK && hub_json_next(&it, &key, &item);) {
        err = add_plain(item, &plain);
    }
    hub_json_add_string(out, hub_buf_str(&plain));
    err = err == HUB_OK ? plain.failed : err;
    hub_buf_fini(&plain);
    return err;
}

static hub_err answer_anthropic(const hub_block *block, hub_str result, bool is_error, hub_buf *out)
{
    hub_str content = hub_json_get(result, HUB_STR("content"));
    hub_str key;
    hub_str item;
    hub_err err = HUB_OK;
    hub_buf_add(out, HUB_STR("{\"type\":\"tool_result\",\"tool_use_id\":"));
    hub_buf_add(out, block->id);
    hub_buf_add(out, HUB_STR(",\"content\":"));
    if (hub_json_type_of(content) == HUB_JSON_ARRAY) {
        hub_buf_add_char(out, '[');
        for (hub_json_iter it = hub_json_iterate(content); hub_json_next(&it, &key, &item);) {
            add_block(item, out);
        }
        hub_buf_add_char(out, ']');
    } else {
        err = add_text_of(result, out);
    }
    hub_buf_add(out, is_error ? HUB_STR(",\"is_error\":true}") : HUB_STR("}"));
    return err;
}

hub_err hub_block_answer(const hub_block *block, hub_str result, bool is_error, hub_buf *out)
{
    hub_err err;
    if (block->kind == HUB_BLOCK_ANTHROPIC) {
        err = answer_anthropic(block, result, is_error, out);
    } else {
        bool is_responses = block->kind == HUB_BLOCK_RESPONSES;
        hub_buf_add(out, is_responses ? HUB_STR("{\"type\":\"function_call_output\",\"call_id\":")
                                      : HUB_STR("{\"role\":\"tool\",\"tool_call_id\":"));
        hub_buf_add(out, block->id);
        hub_buf_add(out, is_responses ? HUB_STR(",\"output\":") : HUB_STR(",\"content\":"));
        err = add_text_of(result, out);
        hub_buf_add_char(out, '}');
    }
    return err == HUB_OK ? out->failed : err;
}
