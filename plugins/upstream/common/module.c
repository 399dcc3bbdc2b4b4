/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

void upstream_module_call(void *inst, patchbay_call id, const patchbay_request *request)
{
    upstream_call(inst, id, request);
}

void upstream_module_cancel(void *inst, patchbay_call id)
{
    upstream_cancel(inst, id);
}

char *upstream_dup_text(patchbay_str raw, int32_t *ret_result)
{
    patchbay_out text = {0};
    patchbay_out_text(&text, "");
    int is_string = patchbay_json_decode(raw, &text);
    if (text.failed) {
        *ret_result = PATCHBAY_ENOMEM;
    } else if (!is_string || memchr(text.ptr, '\0', text.len) != NULL) {
        *ret_result = PATCHBAY_EINVAL;
    } else {
        return text.ptr;
    }
    patchbay_out_free(&text);
    return NULL;
}
