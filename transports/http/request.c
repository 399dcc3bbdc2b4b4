/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include "base/encoding.h"

#include <stddef.h>

/* ---- what can be wrong ----------------------------------------------------------------------- */

typedef enum defect {
    FINE,
    INCOMPLETE, /* not wrong */
    BLANK_LINES,
    CONTROL_BYTE,
    BARE_CR,
    BARE_LF,
    HEAD_SIZE,
    LINE_SIZE,
    REQUEST_LINE,
    METHOD_SIZE,
    METHOD_CONNECT,
    TARGET_SIZE,
    TARGET_FORM,
    AUTHORITY,
    VERSION_FORM,
    VERSION_OTHER,
    FOLDED_LINE,
    HEADER_NAME,
    HEADER_COUNT,
    HEADER_TWICE,
    HOST_MISSING,
    HOST_OTHER,
    LENGTH_AND_ENCODING,
    LENGTH_FORM,
    LENGTH_SIZE,
    ENCODING_FORM,
    ENCODING_OTHER,
    ENCODING_VERSION,
    EXPECTATION,
} defect;

static const struct {
    int status;
    const char *reason;
} DEFECTS[] = {
    [BLANK_LINES] = {400, "Too many blank lines before the request."},
    [CONTROL_BYTE] = {400, "The head of the request holds a control character."},
    [BARE_CR] = {400, "The head of the request holds a carriage return without a line feed."},
    [BARE_LF] = {400, "The head of the request holds a line feed without a carriage return."},
    [HEAD_SIZE] = {431, "The headers are larger than 16 KiB."},
    [LINE_SIZE] = {414, "The request line is larger than 16 KiB."},
    [REQUEST_LINE] = {400, "The request line is not METHOD TARGET VERSION."},
    [METHOD_SIZE] = {501, "The method is longer than 32 bytes."},
    [METHOD_CONNECT] = {405, "This server is not a proxy."},
    [TARGET_SIZE] = {414, "The request target is longer than 2048 bytes."},
    [TARGET_FORM] = {400, "The request target is neither a path nor an http URL."},
    [AUTHORITY] = {400, "The request target names no usable host."},
    [VERSION_FORM] = {400, "The request line does not end with an HTTP version."},
    [VERSION_OTHER] = {505, "This server speaks HTTP/1.1."},
    [FOLDED_LINE] = {400, "A header line begins with white space."},
    [HEADER_NAME] = {400, "A header line does not begin with a name and a colon."},
    [HEADER_COUNT] = {431, "There are more than 100 headers."},
    [HEADER_TWICE] = {400, "A header that may occur once occurs again."},
    [HOST_MISSING] = {400, "The Host header is missing."},
    [HOST_OTHER] = {400, "The Host header and the request target name different hosts."},
    [LENGTH_AND_ENCODING] = {400, "Content-Length and Transfer-Encoding exclude each other."},
    [LENGTH_FORM] = {400, "Content-Length is not a number."},
    [LENGTH_SIZE] = {413, "The body is larger than this server accepts."},
    [ENCODING_FORM] = {400, "Transfer-Encoding does not end with chunked, once."},
    [ENCODING_OTHER] = {501, "The only Transfer-Encoding of this server is chunked."},
    [ENCODING_VERSION] = {400, "HTTP/1.0 has no Transfer-Encoding."},
    [EXPECTATION] = {417, "The only Expect of this server is 100-continue."},
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* Look at one byte. FINE when it completes the head. */
static defect check_byte(hub_http_scan *scan, const char *bytes)
{
    size_t at = scan->checked;
    char c = bytes[at];
    bool after_cr = at > scan->line && bytes[at - 1] == '\r';
    if (!after_cr) {
        /* RFC 9112 section 2.2 lets a recipient take a bare LF for a line end. One that does and
         * one that does not see different requests: it is refused. */
        if (c == '\n') {
            return BARE_LF;
        }
        return c == '\r' || hub_http_is_text(c) ? INCOMPLETE : CONTROL_BYTE;
    }
    if (c != '\n') {
        return BARE_CR;
    }
    bool is_blank = scan->line + 1 == at;
    bool is_first = scan->line == scan->begin;
    scan->line = at + 1;
    if (is_blank && is_first) {
        scan->begin = scan->line;
        return ++scan->blank_lines > HUB_HTTP_LIMIT_BLANK_LINES ? BLANK_LINES : INCOMPLETE;
    }
    return is_blank ? FINE : INCOMPLETE;
}

/* Pass over bytes that decide nothing, up to the limit of a head. */
static void skip_plain(hub_http_scan *scan, hub_str bytes)
{
    size_t end = scan->begin + HUB_HTTP_LIMIT_HEAD_BYTES;
    hub_str rest = {.ptr = bytes.ptr, .len = bytes.len < end ? bytes.len : end};
    scan->checked += hub_http_plain_length(hub_str_from(rest, scan->checked));
}

/* Look at the bytes that are new. FINE when the head is complete: it ends at scan->checked. */
static defect check_bytes(hub_http_scan *scan, hub_str bytes)
{
    while (scan->checked < bytes.len) {
        if (scan->checked == scan->line || bytes.ptr[scan->checked - 1] != '\r') {
            skip_plain(scan, bytes);
        }
        if (scan->checked == bytes.len) {
            break;
        }
        if (scan->checked - scan->begin >= HUB_HTTP_LIMIT_HEAD_BYTES) {
            return scan->line == scan->begin ? LINE_SIZE : HEAD_SIZE;
        }
        defect found = check_byte(scan, bytes.ptr);
        scan->checked++;
        if (found != INCOMPLETE) {
            return found;
        }
    }
    return INCOMPLETE;
}

/* Take a line without its CRLF from the front of a head that check_bytes found complete: there is
 * no CR without LF in it. */
static hub_str take_line(hub_str *head)
{
    hub_str line = hub_str_between(head->ptr, memchr(head->ptr, '\r', head->len));
    *head = hub_str_from(*head, line.len + 2);
    return line;
}

/* ---- request line ---------------------------------------------------------------------------- */

/* Characters of a path or a query (RFC 3986 sections 3.3 and 3.4). */
static bool is_path(hub_str text)
{
    /* Letters, digits and -._~!$&'()*+,;=:@/? */
    static const hub_http_chars PLAIN = {{0, 0xafffffd2, 0x87ffffff, 0x47fffffe}};
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            if (hub_percent_byte(text, i) < 0) {
                return false;
            }
            i += 2;
        } else if (!hub_http_is_one_of(&PLAIN, c)) {
            return false;
        }
    }
    return true;
}

/* Host and port, without user information (RFC 9110 section 4.2.4). Whether it is one of ours is
 * for origin.h to say. */
static bool is_authority(hub_str text)
{
    /* Letters, digits and -._~:[] */
    static const hub_http_chars PLAIN = {{0, 0x07ff6000, 0xaffffffe, 0x47fffffe}};
    for (size_t i = 0; i < text.len; i++) {
        if (!hub_http_is_one_of(&PLAIN, text.ptr[i])) {
            return false;
        }
    }
    return text.len > 0;
}

/* The length of "http://" or "https://" at the start, or 0. */
static size_t scheme_length(hub_str target)
{
    static const hub_str SCHEMES[] = {{.ptr = "http://", .len = 7}, {.ptr = "https://", .len = 8}};
    for (size_t i = 0; i < 2; i++) {
        hub_str begin = {.ptr = target.ptr, .len = SCHEMES[i].len};
        if (target.len >= begin.len && hub_str_eq_nocase(begin, SCHEMES[i])) {
            return begin.len;
        }
    }
    return 0;
}

/* Origin-form; absolute-form is reduced to it (RFC 9112 section 3.2.2). Authority-form belongs to
 * CONNECT, asterisk-form to OPTIONS for a whole server: the hub has no use for either. */
static defect parse_target(hub_str target, hub_http_request *request)
{
    size_t scheme = scheme_length(target);
    if (scheme > 0) {
        hub_str rest = hub_str_from(target, scheme);
        size_t end = 0;
        while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?') {
            end++;
        }
        request->host = (hub_str){.ptr = rest.ptr, .len = end};
        if (!is_authority(request->host)) {
            return AUTHORITY;
        }
        target = hub_str_from(rest, end);
    } else if (target.len == 0 || target.ptr[0] != '/') {
        return TARGET_FORM;
    }
    if (!is_path(target)) {
        return TARGET_FORM;
    }
    const char *mark = target.len > 0 ? memchr(target.ptr, '?', target.len) : NULL;
    if (mark != NULL) {
        request->query = hub_str_between(mark + 1, target.ptr + target.len);
        target = hub_str_between(target.ptr, mark);
    }
    request->path = target.len > 0 ? target : HUB_STR("/");
    return FINE;
}

/* "HTTP/" DIGIT "." DIGIT, case-sensitive (RFC 9112 section 2.3). */
static bool is_version(hub_str text)
{
    return text.len == 8 && hub_str_starts(text, HUB_STR("HTTP/")) &&
           hub_http_is_digit(text.ptr[5]) && text.ptr[6] == '.' && hub_http_is_digit(text.ptr[7]);
}

static defect parse_request_line(hub_str line, hub_http_request *request)
{
    const char *first = memchr(line.ptr, ' ', line.len);
    const char *last = memrchr(line.ptr, ' ', line.len);
    if (first == last) { /* there is one, or none */
        return REQUEST_LINE;
    }
    hub_str target = hub_str_between(first + 1, last);
    hub_str version = hub_str_between(last + 1, line.ptr + line.len);
    request->method = hub_str_between(line.ptr, first);
    if (!hub_http_is_token(request->method)) {
        return REQUEST_LINE;
    }
    if (!is_version(version)) {
        return VERSION_FORM;
    }
    if (request->method.len > HUB_HTTP_LIMIT_METHOD_BYTES) {
        return METHOD_SIZE;
    }
    if (hub_str_is(request->method, "CONNECT")) {
        return METHOD_CONNECT;
    }
    if (target.len > HUB_HTTP_LIMIT_TARGET_BYTES) {
        return TARGET_SIZE;
    }
    /* Before the version, so that the preface of HTTP/2 ("PRI * HTTP/2.0") is plainly refused. */
    defect found = parse_target(target, request);
    if (found != FINE) {
        return found;
    }
    bool is_ours = hub_str_is(version, "HTTP/1.1") || hub_str_is(version, "HTTP/1.0");
    request->minor = version.ptr[7] - '0';
    return is_ours ? FINE : VERSION_OTHER;
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Take note of a header, and whether it is a second one where there may be one. */
static defect note_header(hub_http_request *request, hub_str text)
{
    hub_http_name name = hub_http_name_of(text);
    if (name == HUB_HTTP_OTHER) {
        if (!hub_http_is_token(text)) {
            return HEADER_NAME; /* white space before the colon: RFC 9112 section 5.1 */
        }
        bool is_second =
            hub_http_name_is_mcp(text) && hub_http_find_header(request, text, NULL) != NULL;
        return is_second ? HEADER_TWICE : FINE;
    }
    if (request->first[name] == 0) {
        /* Behind the last place that there is, it will not be kept. */
        request->first[name] = (uint8_t)(request->header_count + 1);
        return FINE;
    }
    return name < HUB_HTTP_ACCEPT ? HEADER_TWICE : FINE;
}

static defect parse_header(hub_str line, hub_http_request *request)
{
    if (hub_http_is_blank(line.ptr[0])) {
        return FOLDED_LINE; /* obs-fold: RFC 9112 section 5.2 */
    }
    const char *colon = memchr(line.ptr, ':', line.len);
    if (colon == NULL) {
        return HEADER_NAME;
    }
    hub_str name = hub_str_between(line.ptr, colon);
    defect found = note_header(request, name);
    if (found != FINE) {
        return found;
    }
    if (request->header_count == HUB_HTTP_LIMIT_HEADERS) {
        return HEADER_COUNT;
    }
    hub_str value = hub_http_trim(hub_str_between(colon + 1, line.ptr + line.len));
    request->headers[request->header_count++] = (hub_http_header){.name = name, .value = value};
    return FINE;
}

static defect parse_headers(hub_str head, hub_http_request *request)
{
    defect found = FINE;
    for (hub_str line = take_line(&head); line.len > 0 && found == FINE; line = take_line(&head)) {
        found = parse_header(line, request);
    }
    return found;
}

/* ---- what the headers mean ------------------------------------------------------------------- */

static defect read_host(hub_http_request *request)
{
    const hub_http_header *host = hub_http_known(request, HUB_HTTP_HOST);
    if (host == NULL) {
        return request->minor > 0 ? HOST_MISSING : FINE; /* RFC 9112 section 3.2 */
    }
    /* Section 3.2.2 has the target win. A client must send the same in both: where it does not, a
     * proxy may have routed by the other. */
    if (request->host.len > 0 && !hub_str_eq_nocase(request->host, host->value)) {
        return HOST_OTHER;
    }
    request->host = host->value;
    return FINE;
}

static defect read_length(hub_str digits, size_t max, size_t *ret_length)
{
    size_t length = 0;
    bool too_large = false;
    for (size_t i = 0; i < digits.len; i++) {
        if (!hub_http_is_digit(digits.ptr[i])) {
            return LENGTH_FORM;
        }
        size_t digit = (size_t)(digits.ptr[i] - '0');
        too_large = too_large || length > (SIZE_MAX - digit) / 10 || length * 10 + digit > max;
        length = too_large ? 0 : length * 10 + digit;
    }
    if (digits.len == 0) {
        return LENGTH_FORM;
    }
    *ret_length = length;
    return too_large ? LENGTH_SIZE : FINE;
}

/* Only exactly "chunked" is fine. 501 is for codings in front of a final chunked, which alone leave
 * no doubt about where the body ends; everything else MUST be 400 (RFC 9112 sections 6.1, 6.3). */
static defect check_encoding(hub_str value)
{
    size_t others = 0;
    hub_str element;
    while (hub_http_next_element(&value, &element)) {
        bool is_chunked = hub_str_eq_nocase(element, HUB_STR("chunked"));
        bool is_last = value.ptr == NULL;
        if (is_chunked != is_last || !hub_http_is_token(element)) {
            return ENCODING_FORM;
        }
        others += !is_chunked;
    }
    return others > 0 ? ENCODING_OTHER : FINE;
}

static defect read_framing(hub_http_request *request, size_t max_body_bytes)
{
    const hub_http_header *length = hub_http_known(request, HUB_HTTP_CONTENT_LENGTH);
    const hub_http_header *encoding = hub_http_known(request, HUB_HTTP_TRANSFER_ENCODING);
    if (length != NULL && encoding != NULL) {
        return LENGTH_AND_ENCODING; /* request smuggling: RFC 9112 section 11.2 */
    }
    if (encoding != NULL) {
        request->framing = HUB_HTTP_CHUNKED;
        return request->minor > 0 ? check_encoding(encoding->value) : ENCODING_VERSION;
    }
    if (length != NULL) {
        request->framing = HUB_HTTP_LENGTH;
        return read_length(length->value, max_body_bytes, &request->content_length);
    }
    return FINE;
}

/* RFC 9110 section 10.1.1. HTTP/1.0 has no 100. */
static defect read_expectation(hub_http_request *request)
{
    const hub_http_header *expect =
        request->minor > 0 ? hub_http_known(request, HUB_HTTP_EXPECT) : NULL;
    for (; expect != NULL; expect = hub_http_find_header(request, expect->name, expect)) {
        if (!hub_str_eq_nocase(expect->value, HUB_STR("100-continue"))) {
            return EXPECTATION;
        }
        request->expects_continue =
            request->framing == HUB_HTTP_CHUNKED || request->content_length > 0;
    }
    return FINE;
}

static defect parse_head(const hub_http_scan *scan, hub_str head, hub_http_request *request)
{
    defect found = parse_request_line(take_line(&head), request);
    if (found == FINE) {
        found = parse_headers(head, request);
    }
    if (found == FINE) {
        found = read_host(request);
    }
    if (found == FINE) {
        found = read_framing(request, scan->max_body_bytes);
    }
    if (found == FINE) {
        found = read_expectation(request);
    }
    /* RFC 9112 section 9.3. The keep-alive of HTTP/1.0 is an invitation to trouble with proxies. */
    bool says_more = hub_http_known(request, HUB_HTTP_CONNECTION) != NULL;
    request->keep_alive =
        request->minor > 0 &&
        !(says_more && hub_http_has_element(request, HUB_STR("connection"), HUB_STR("close")));
    return found;
}

/* ---- for the caller -------------------------------------------------------------------------- */

void hub_http_scan_init(hub_http_scan *scan, size_t max_body_bytes)
{
    *scan = (hub_http_scan){.max_body_bytes = max_body_bytes};
}

/* All but the headers, of which there are none then. */
static void clear(hub_http_request *request)
{
    memset(request, 0, offsetof(hub_http_request, headers));
}

hub_http_progress hub_http_request_next(hub_http_scan *scan, hub_str bytes,
                                        hub_http_request *ret_request)
{
    defect found = check_bytes(scan, bytes);
    if (found == INCOMPLETE) {
        return HUB_HTTP_MORE;
    }
    clear(ret_request);
    if (found == FINE) {
        hub_str head = hub_str_between(bytes.ptr + scan->begin, bytes.ptr + scan->checked);
        found = parse_head(scan, head, ret_request);
    }
    if (found != FINE) {
        clear(ret_request); /* nobody shall use half a request */
        ret_request->status = DEFECTS[found].status;
        ret_request->reason = DEFECTS[found].reason;
        return HUB_HTTP_REFUSED;
    }
    ret_request->used = scan->checked;
    return HUB_HTTP_DONE;
}

const hub_http_header *hub_http_find_header(const hub_http_request *request, hub_str name,
                                            const hub_http_header *after)
{
    size_t from = after != NULL ? (size_t)(after - request->headers) + 1 : 0;
    for (size_t i = from; i < request->header_count; i++) {
        if (hub_str_eq_nocase(request->headers[i].name, name)) {
            return &request->headers[i];
        }
    }
    return NULL;
}

bool hub_http_has_element(const hub_http_request *request, hub_str name, hub_str element)
{
    const hub_http_header *header = NULL;
    while ((header = hub_http_find_header(request, name, header)) != NULL) {
        hub_str rest = header->value;
        hub_str found;
        while (hub_http_next_element(&rest, &found)) {
            if (hub_str_eq_nocase(found, element)) {
                return true;
            }
        }
    }
    return false;
}
