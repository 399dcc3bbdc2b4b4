/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/about.h"

#include "base/limits.h"
#include "base/line.h"
#include "redact/redact.h"
#include "wire/json.h"
#include "wire/mcp.h"

#include <stdlib.h>

/* Make a raw string a line of at most so many bytes, or lines; NULL when nothing is left of it. */
static hub_err read_text(hub_str raw, size_t max_bytes, bool keeps_lines, char **ret_text)
{
    hub_buf decoded;
    hub_buf masked;
    hub_buf line;
    hub_buf_init(&decoded, raw.len + 1);
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_buf_init(&line, max_bytes + 1);
    hub_err err = HUB_OK;
    if (hub_json_type_of(raw) == HUB_JSON_STRING) {
        err = hub_json_decode(raw, &decoded);
    }
    if (err == HUB_OK) {
        hub_str text = hub_buf_str(&decoded);
        text = hub_redact(text, &masked) ? hub_buf_str(&masked) : text;
        (keeps_lines ? hub_lines_add : hub_line_add)(&line, text, max_bytes);
        err = line.failed != HUB_OK ? line.failed : masked.failed;
    }
    *ret_text = err == HUB_OK && line.len > 0 ? hub_str_dup(hub_buf_str(&line)) : NULL;
    if (err == HUB_OK && line.len > 0 && *ret_text == NULL) {
        err = HUB_ENOMEM;
    }
    hub_buf_fini(&decoded);
    hub_buf_fini(&masked);
    hub_buf_fini(&line);
    return err == HUB_OK ? HUB_OK : HUB_ENOMEM;
}

hub_err hub_about_read(hub_str json, hub_about *ret_about)
{
    hub_about about = {.title = NULL};
    hub_str self = hub_json_get(json, HUB_STR("serverInfo"));
    if (self.len == 0) {
        self = hub_json_get(hub_json_get(json, HUB_STR("_meta")), HUB_STR(HUB_META_SERVER_INFO));
    }
    self = hub_json_type_of(self) == HUB_JSON_OBJECT ? self : json;
    const struct {
        hub_str raw;
        size_t max_bytes;
        char **text;
    } texts[] = {
        {hub_json_get(self, HUB_STR("title")), HUB_LIMIT_TITLE_BYTES, &about.title},
        {hub_json_get(self, HUB_STR("description")), HUB_LIMIT_DESCRIPTION_BYTES,
         &about.description},
        {hub_json_get(json, HUB_STR("instructions")), HUB_LIMIT_INSTRUCTIONS_BYTES,
         &about.instructions},
    };
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < sizeof texts / sizeof texts[0]; i++) {
        bool keeps_lines = texts[i].text == &about.instructions;
        err = read_text(texts[i].raw, texts[i].max_bytes, keeps_lines, texts[i].text);
    }
    if (err != HUB_OK) {
        hub_about_fini(&about);
        return err;
    }
    *ret_about = about;
    return HUB_OK;
}

void hub_about_fini(hub_about *about)
{
    free(about->title);
    free(about->description);
    free(about->instructions);
    *about = (hub_about){.title = NULL};
}

static void add_text(hub_buf *out, const char *key, const char *text)
{
    if (text != NULL) {
        hub_json_add_key(out, hub_str_of(key));
        hub_json_add_string(out, hub_str_of(text));
    }
}

void hub_about_write(const hub_about *about, hub_buf *out)
{
    hub_buf_add_char(out, '{');
    add_text(out, "title", about->title);
    add_text(out, "description", about->description);
    add_text(out, "instructions", about->instructions);
    hub_buf_add_char(out, '}');
}

const char *hub_about_instructions(const hub_about *about)
{
    return about->hides_instructions ? NULL : about->instructions;
}

const char *hub_about_purpose(const hub_about *about)
{
    const char *instructions = hub_about_instructions(about);
    return about->description != NULL ? about->description
           : instructions != NULL     ? instructions
                                      : about->title;
}
