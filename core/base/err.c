/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    const char *text;
} ERRORS[] = {
#define HUB_ERR_ROW(code, name, text) [HUB_##code] = {name, text},
    HUB_ERRORS(HUB_ERR_ROW)
#undef HUB_ERR_ROW
};

static void replace_controls(char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            *text = '?';
        }
    }
}

const char *hub_err_name(hub_err code)
{
    return ERRORS[code].name;
}

const char *hub_err_text(hub_err code)
{
    return ERRORS[code].text;
}

hub_err hub_fail(hub_error *reterr, hub_err code, const char *format, ...)
{
    if (reterr == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    reterr->code = code;
    (void)vsnprintf(reterr->text, sizeof reterr->text, format, args); /* cut when too long */
    va_end(args);
    replace_controls(reterr->text);
    return code;
}

void hub_error_prefix(hub_error *reterr, const char *format, ...)
{
    if (reterr == NULL) {
        return;
    }
    char inner[sizeof reterr->text];
    memcpy(inner, reterr->text, sizeof inner);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(reterr->text, sizeof reterr->text, format, args);
    va_end(args);
    size_t at = used < 0 ? 0 : (size_t)used;
    if (at + 3 < sizeof reterr->text) {
        memcpy(reterr->text + at, ": ", 2);
        size_t room = sizeof reterr->text - at - 2;
        size_t len = strnlen(inner, room - 1); /* cut when too long */
        memcpy(reterr->text + at + 2, inner, len);
        reterr->text[at + 2 + len] = '\0';
    }
    replace_controls(reterr->text);
}

_Noreturn void hub_assert_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "patchbay: bug: assertion '%s' failed at %s:%d\n", condition, file, line);
    abort();
}
