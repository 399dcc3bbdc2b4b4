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

/* Take over a finished text, but for control characters and bytes that are not UTF-8: those are
 * '?', as is the start of a character that the end of the buffer cut off. */
static void set_text(hub_error *error, const char *text)
{
    hub_str rest = hub_str_of(text);
    char *out = error->text;
    while (rest.len > 0) {
        size_t length = hub_str_utf8_length(rest);
        if (length == 0 || hub_str_is_control(rest, length)) {
            length = length > 0 ? length : 1;
            *out++ = '?';
        } else {
            memcpy(out, rest.ptr, length);
            out += length;
        }
        rest = hub_str_from(rest, length);
    }
    *out = '\0';
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
    char text[sizeof reterr->text]; /* the arguments may point into *reterr */
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args); /* cut when too long */
    va_end(args);
    reterr->code = code;
    set_text(reterr, length >= 0 ? text : format);
    return code;
}

void hub_error_prefix(hub_error *reterr, const char *format, ...)
{
    if (reterr == NULL) {
        return;
    }
    char text[sizeof reterr->text];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t at = length < 0 ? 0 : (size_t)length;
    if (at < sizeof text) {
        hub_str tail[] = {HUB_STR(": "), hub_str_of(reterr->text)};
        for (size_t i = 0; i < 2; i++) {
            size_t room = sizeof text - 1 - at;
            size_t len = tail[i].len < room ? tail[i].len : room; /* cut when too long */
            memcpy(text + at, tail[i].ptr, len);
            at += len;
        }
        text[at] = '\0';
    }
    set_text(reterr, text);
}

_Noreturn void hub_assert_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "patchbay: bug: assertion '%s' failed at %s:%d\n", condition, file, line);
    abort();
}
