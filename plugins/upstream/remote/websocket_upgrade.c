/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket_upgrade.h"

#include "header_value.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <strings.h>
#include <sys/random.h>

static const char GUID[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, section 1.3 */

enum { KEY_BYTES = 16, STATUS_LINE_BYTES = 12 /* "HTTP/1.1 101" */ };

/* ---- asking -------------------------------------------------------------------------------- */

int ws_upgrade_begin(ws_upgrade *upgrade)
{
    unsigned char random[KEY_BYTES];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_len = 0;
    char text[sizeof upgrade->key + sizeof GUID];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return 0;
    }
    (void)EVP_EncodeBlock((unsigned char *)upgrade->key, random, sizeof random);
    int len = snprintf(text, sizeof text, "%s%s", upgrade->key, GUID);
    if (EVP_Digest(text, (size_t)len, digest, &digest_len, EVP_sha1(), NULL) != 1) {
        return 0;
    }
    (void)EVP_EncodeBlock((unsigned char *)upgrade->accept, digest, (int)digest_len);
    return 1;
}

static int equals(patchbay_str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* Up to the first `end`, which is taken off, too. */
static patchbay_str take_until(patchbay_str *text, char end)
{
    const char *at = text->len > 0 ? memchr(text->ptr, end, text->len) : NULL;
    size_t len = at != NULL ? (size_t)(at - text->ptr) : text->len;
    size_t used = at != NULL ? len + 1 : len;
    patchbay_str taken = patchbay_str_make(text->ptr, len);
    *text = patchbay_str_make(text->ptr + used, text->len - used);
    return taken;
}

/* Configured headers: an empty one is written "NAME;" for libcurl, and "NAME:" for servers.
 * returns: whether there is an Authorization among them */
static int write_headers(const char *headers, patchbay_out *out)
{
    patchbay_str lines = patchbay_str_of(headers);
    int has_authorization = 0;
    while (lines.len > 0) {
        patchbay_str line = take_until(&lines, '\n');
        patchbay_str name = line;
        if (line.len > 0 && line.ptr[line.len - 1] == ';' &&
            memchr(line.ptr, ':', line.len) == NULL) {
            name.len--;
            patchbay_out_raw(out, name);
            patchbay_out_text(out, ":\r\n");
            continue;
        }
        name = take_until(&line, ':');
        has_authorization |= equals(name, "authorization");
        patchbay_out_raw(out, name);
        patchbay_out_text(out, ":");
        patchbay_out_raw(out, line);
        patchbay_out_text(out, "\r\n");
    }
    return has_authorization;
}

static void write_user(CURLU *url, patchbay_out *out)
{
    char *user = NULL;
    char *password = NULL;
    patchbay_out both = {0};
    (void)curl_url_get(url, CURLUPART_USER, &user, CURLU_URLDECODE);
    (void)curl_url_get(url, CURLUPART_PASSWORD, &password, CURLU_URLDECODE);
    if (user != NULL) {
        patchbay_out_printf(&both, "%s:%s", user, password != NULL ? password : "");
        patchbay_out_text(out, "Authorization: Basic ");
        patchbay_out_base64(out, both.ptr, both.len);
        patchbay_out_text(out, "\r\n");
        out->failed |= both.failed;
    }
    patchbay_out_free(&both);
    curl_free(user);
    curl_free(password);
}

/* "GET PATH?QUERY HTTP/1.1" and "Host: HOST:PORT", without the port where it is the usual one. */
static int write_target(CURLU *url, patchbay_out *out)
{
    char *host = NULL;
    char *port = NULL;
    char *path = NULL;
    char *query = NULL;
    int ok = curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
             curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK;
    (void)curl_url_get(url, CURLUPART_PORT, &port, CURLU_NO_DEFAULT_PORT);
    (void)curl_url_get(url, CURLUPART_QUERY, &query, 0);
    if (ok) {
        patchbay_out_printf(out, "GET %s%s%s HTTP/1.1\r\nHost: %s%s%s\r\n", path,
                            query != NULL ? "?" : "", query != NULL ? query : "", host,
                            port != NULL ? ":" : "", port != NULL ? port : "");
    }
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_free(query);
    return ok;
}

int ws_upgrade_write(const ws_upgrade *upgrade, const char *url, const char *headers,
                     patchbay_out *out)
{
    CURLU *parsed = curl_url();
    int ok = parsed != NULL &&
             curl_url_set(parsed, CURLUPART_URL, url, CURLU_URLENCODE) == CURLUE_OK &&
             write_target(parsed, out);
    if (ok) {
        patchbay_out_printf(out,
                            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Protocol: mcp\r\n",
                            upgrade->key);
        if (!write_headers(headers, out)) {
            write_user(parsed, out);
        }
        patchbay_out_text(out, "\r\n");
    }
    curl_url_cleanup(parsed);
    return ok && !out->failed;
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* The headers that matter. Empty: not there. */
typedef struct head {
    int is_switched; /* Connection: Upgrade */
    patchbay_str upgrade;
    patchbay_str accept;
    patchbay_str protocol;
    patchbay_str extensions;
    patchbay_str location;
} head;

static patchbay_str trimmed(patchbay_str text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t')) {
        text = patchbay_str_make(text.ptr + 1, text.len - 1);
    }
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

static int has_control(patchbay_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return 1;
        }
    }
    return 0;
}

static int lists(patchbay_str list, const char *word)
{
    while (list.len > 0) {
        if (equals(trimmed(take_until(&list, ',')), word)) {
            return 1;
        }
    }
    return 0;
}

/* One header. 0 when it is none, or comes twice where it must not. */
static int take_header(patchbay_str line, head *found)
{
    const struct {
        const char *name;
        patchbay_str *value;
    } wanted[] = {
        {"upgrade", &found->upgrade},
        {"sec-websocket-accept", &found->accept},
        {"sec-websocket-protocol", &found->protocol},
        {"sec-websocket-extensions", &found->extensions},
        {"location", &found->location},
    };
    if (line.len == 0 || memchr(line.ptr, ':', line.len) == NULL || has_control(line)) {
        return 0;
    }
    patchbay_str name = take_until(&line, ':');
    patchbay_str value = trimmed(line);
    found->is_switched |= equals(name, "connection") && lists(value, "upgrade");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (equals(name, wanted[i].name)) {
            if (wanted[i].value->len > 0) {
                return 0;
            }
            *wanted[i].value = value;
        }
    }
    return header_is_token(name);
}

static int read_headers(patchbay_str lines, head *found)
{
    while (lines.len > 0) {
        patchbay_str line = take_until(&lines, '\n');
        if (line.len == 0 || line.ptr[line.len - 1] != '\r') {
            return 0;
        }
        line.len--;
        if (!take_header(line, found)) {
            return 0;
        }
    }
    return 1;
}

/* What is wrong with an answer of 101; NULL when nothing is. */
static const char *check(const ws_upgrade *upgrade, const head *found)
{
    if (!equals(found->upgrade, "websocket") || !found->is_switched) {
        return "switches to another protocol than WebSocket";
    }
    if (!patchbay_str_eq(found->accept, patchbay_str_of(upgrade->accept))) {
        return "accepts another WebSocket than the one that was asked for";
    }
    if (found->protocol.len > 0 && !patchbay_str_eq(found->protocol, patchbay_str_of("mcp"))) {
        return "has chosen a subprotocol that was not offered";
    }
    return found->extensions.len > 0 ? "has chosen an extension that was not offered" : NULL;
}

/* Up to and with the empty line; 0 when it has not come. */
static size_t head_length(patchbay_str bytes)
{
    for (size_t i = 3; i < bytes.len; i++) {
        if (bytes.ptr[i] == '\n' && memcmp(bytes.ptr + i - 3, "\r\n\r", 3) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* "HTTP/1.1 101": the status, or 0 when that is not how it begins. */
static int read_status(patchbay_str bytes)
{
    static const char BEGIN[] = "HTTP/1.";
    int status = 0;
    if (bytes.len <= STATUS_LINE_BYTES || memcmp(bytes.ptr, BEGIN, sizeof BEGIN - 1) != 0 ||
        (bytes.ptr[7] != '0' && bytes.ptr[7] != '1') || bytes.ptr[8] != ' ') {
        return 0;
    }
    for (size_t i = STATUS_LINE_BYTES - 3; i < STATUS_LINE_BYTES; i++) {
        if (bytes.ptr[i] < '0' || bytes.ptr[i] > '9') {
            return 0;
        }
        status = status * 10 + (bytes.ptr[i] - '0');
    }
    char next = bytes.ptr[STATUS_LINE_BYTES];
    int is_old = bytes.ptr[7] == '0'; /* an old proxy can refuse, but not switch */
    return (next == ' ' || next == '\r') && !(is_old && status == 101) ? status : 0;
}

static ws_upgrade_state refuse(ws_upgrade_answer *answer, int status, const char *why)
{
    answer->status = status;
    answer->why = why;
    return UPGRADE_REFUSED;
}

ws_upgrade_state ws_upgrade_read(const ws_upgrade *upgrade, patchbay_str bytes,
                                 ws_upgrade_answer *ret_answer)
{
    static const char NO_HTTP[] = "does not answer in HTTP/1.1";
    head found = {.upgrade = {.len = 0}};
    size_t most = bytes.len < UPGRADE_HEAD_BYTES ? bytes.len : UPGRADE_HEAD_BYTES;
    size_t len = head_length(patchbay_str_make(bytes.ptr, most));
    int status = read_status(bytes);
    *ret_answer = (ws_upgrade_answer){.used = len};
    if (status == 0 && (len > 0 || bytes.len > STATUS_LINE_BYTES)) {
        return refuse(ret_answer, 0, NO_HTTP);
    }
    if (len == 0) {
        return most < UPGRADE_HEAD_BYTES
                   ? UPGRADE_MORE
                   : refuse(ret_answer, 0, "answers with a head of more than 16384 bytes");
    }
    patchbay_str lines = patchbay_str_make(bytes.ptr, len - 2); /* less the empty line */
    (void)take_until(&lines, '\n');
    int is_whole = read_headers(lines, &found);
    ret_answer->location = found.location;
    if (status != 101) {
        return refuse(ret_answer, status, NULL); /* whatever else is wrong with it */
    }
    if (!is_whole) {
        return refuse(ret_answer, status, "answers with headers that are none");
    }
    const char *wrong = check(upgrade, &found);
    return wrong == NULL ? UPGRADE_DONE : refuse(ret_answer, status, wrong);
}
