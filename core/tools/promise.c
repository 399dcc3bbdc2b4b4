/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/promise.h"

#include "tools/schema.h"
#include "wire/json.h"

#include <stdlib.h>
#include <string.h>

struct hub_promise {
    unsigned refs;
    hub_schema *schema;
    char tool[]; /* its name, for the message */
};

hub_err hub_promise_make(hub_str tool, hub_str schema, hub_promise **ret_promise, hub_error *reterr)
{
    hub_promise *promise = calloc(1, sizeof *promise + tool.len + 1);
    if (promise == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    promise->refs = 1;
    memcpy(promise->tool, tool.ptr, tool.len);
    hub_err err = hub_schema_compile(schema, &promise->schema, reterr);
    if (err != HUB_OK) {
        hub_promise_unref(promise);
        hub_error_prefix(reterr, "outputSchema");
        return err;
    }
    *ret_promise = promise;
    return HUB_OK;
}

hub_promise *hub_promise_ref(hub_promise *promise)
{
    if (promise != NULL) {
        promise->refs++;
    }
    return promise;
}

void hub_promise_unref(hub_promise *promise)
{
    if (promise != NULL && --promise->refs == 0) {
        hub_schema_destroy(promise->schema);
        free(promise);
    }
}

hub_err hub_promise_check(const hub_promise *promise, hub_str result, hub_error *reterr)
{
    hub_error why;
    hub_str structured = hub_json_get(result, HUB_STR("structuredContent"));
    if (structured.len == 0) {
        return hub_fail(reterr, HUB_EINVAL,
                        "tool \"%s\" answered without the structuredContent that its outputSchema "
                        "promises",
                        promise->tool);
    }
    hub_err err = hub_schema_validate(promise->schema, structured, "structuredContent", &why);
    return err == HUB_OK ? HUB_OK
                         : hub_fail(reterr, err, "tool \"%s\" broke its outputSchema: %s",
                                    promise->tool, why.text);
}
