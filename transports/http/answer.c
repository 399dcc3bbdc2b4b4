/* SPDX-License-Identifier: Apache-2.0 */
/* The writing half of connection.h. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/cors.h"
#include "http/internal.h"
#include "wire/dialect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { USUAL_HEADERS = 2 + HUB_HTTP_CORS_HEADERS };

/* Whether the connection ends with the answer that is being written. */
static bool ends(const hub_http_connection *connection)
{
    return !connection->keep_alive || connection->server->leaving;
}

/* The request in work is answered. */
static void finish(hub_http_connection *connection)
{
    hub_http_server *server = connection->server;
    bool close = ends(connection);
    connection->busy = false;
    connection->streaming = false;
    connection->relaying = false;
    connection->responder = NULL;
    free(connection->origin);
    connection->origin = NULL;
    hub_deadline_stop(&connection->deadline);
    hub_deadline_stop(&connection->expiring);
    if (connection->closing) {
        return;
    }
    if (close) {
        connection->closing = true;
        hub_link_close(connection->link, true);
    } else if (!connection->reading) {
        hub_deadline_start(&server->resumed, &connection->deadline, hub_clock_coarse_ms());
        hub_http_server_soon(server);
    }
}

/* Write, or give the connection up: the link ends by itself when a write fails, but not for want of
 * memory. */
static hub_err write_parts(hub_http_connection *connection, const hub_str *parts, size_t count)
{
    hub_err err = connection->closing ? HUB_ESTATE : hub_link_write(connection->link, parts, count);
    if (err != HUB_OK && !connection->closing) {
        connection->closing = true;
        hub_link_close(connection->link, false);
    }
    return err;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7), whatever the locale. */
static hub_str date_of(hub_http_server *server)
{
    static const char DAYS[] = "SunMonTueWedThuFriSat";
    static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    struct tm tm;
    if ((now != server->date_s || server->date[0] == '\0') && gmtime_r(&now, &tm) != NULL) {
        (void)snprintf(server->date, sizeof server->date, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
                       &DAYS[3 * tm.tm_wday], (unsigned)tm.tm_mday % 100, &MONTHS[3 * tm.tm_mon],
                       (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)tm.tm_hour % 100,
                       (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
        server->date_s = now;
    }
    return hub_str_of(server->date);
}

/* The headers that every response has, and room for more. */
static size_t usual_headers(const hub_http_connection *connection, const char *type,
                            hub_http_header *ret_headers)
{
    size_t n = 0;
    ret_headers[n++] = (hub_http_header){HUB_STR("Date"), date_of(connection->server)};
    if (type != NULL) {
        ret_headers[n++] = (hub_http_header){HUB_STR("Content-Type"), hub_str_of(type)};
    }
    if (connection->origin != NULL) {
        n += hub_http_cors_headers(hub_str_of(connection->origin), ret_headers + n);
    }
    return n;
}

hub_err hub_http_answer_whole(hub_http_connection *connection, const hub_http_answer *answer)
{
    hub_http_header headers[USUAL_HEADERS + HUB_HTTP_ANSWER_HEADERS];
    hub_str parts[1 + HUB_HTTP_ANSWER_PARTS];
    size_t n = usual_headers(connection, answer->type, headers);
    hub_http_response response = {
        .status = answer->status,
        .headers = headers,
        .framing =
            answer->status == 204 || answer->status == 304 ? HUB_HTTP_NO_BODY : HUB_HTTP_LENGTH,
        .close = ends(connection),
    };
    hub_assert(answer->header_count <= HUB_HTTP_ANSWER_HEADERS &&
               answer->count <= HUB_HTTP_ANSWER_PARTS);
    for (size_t i = 0; i < answer->header_count; i++) {
        headers[n++] = answer->headers[i];
    }
    for (size_t i = 0; i < answer->count; i++) {
        response.content_length += answer->parts[i].len;
        parts[1 + i] = answer->parts[i];
    }
    response.header_count = n;
    hub_buf *head = &connection->server->head;
    hub_buf_clear(head);
    hub_err err = hub_http_write_head(head, &response, NULL);
    if (err != HUB_OK) { /* there is nothing to say it with */
        hub_log(HUB_LOG_WARNING, "http.refused", HUB_F_TEXT("reason", hub_err_text(err)));
        connection->closing = true;
        hub_link_close(connection->link, false);
    } else {
        parts[0] = hub_buf_str(head);
        err = write_parts(connection, parts, connection->is_head ? 1 : 1 + answer->count);
    }
    finish(connection);
    return err;
}

hub_http_header hub_http_retry_after(uint32_t seconds, hub_http_retry_text *text)
{
    int len = snprintf(text->digits, sizeof text->digits, "%" PRIu32, seconds);
    return (hub_http_header){HUB_STR("Retry-After"), {.ptr = text->digits, .len = (size_t)len}};
}

void hub_http_answer_status(hub_http_connection *connection, int status)
{
    (void)hub_http_answer_whole(connection, &(hub_http_answer){.status = status});
}

void hub_http_answer_rpc(hub_http_connection *connection, int status, hub_http_header header,
                         hub_str id, hub_str error)
{
    hub_str parts[HUB_FRAME_PARTS];
    (void)hub_http_answer_whole(connection,
                                &(hub_http_answer){
                                    .status = status,
                                    .headers = &header,
                                    .header_count = header.name.len > 0 ? 1 : 0,
                                    .type = HUB_HTTP_JSON,
                                    .parts = parts,
                                    .count = hub_dialect_error(HUB_REVISION_NONE, id, error, parts),
                                });
}

static int code_of_status(int status)
{
    switch (status) {
    case 429:
    case 503:
        return HUB_RPC_OVERLOADED;
    default:
        return HUB_RPC_INVALID_REQUEST;
    }
}

void hub_http_answer_refusal(hub_http_connection *connection, int status, hub_http_header header,
                             const char *reason)
{
    hub_buf error;
    hub_buf_init(&error, HUB_LIMIT_LOG_LINE_BYTES);
    hub_dialect_add_error(&error, code_of_status(status), hub_str_of(reason), HUB_STR_EMPTY);
    hub_http_answer_rpc(connection, status, header, HUB_STR_EMPTY, hub_buf_str(&error));
    hub_buf_fini(&error);
}

void hub_http_answer_error(hub_http_connection *connection, int status, hub_str id, int code,
                           hub_str message, hub_str data)
{
    hub_buf error;
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_dialect_add_error(&error, code, message, data);
    hub_http_answer_rpc(connection, status, (hub_http_header){0}, id, hub_buf_str(&error));
    hub_buf_fini(&error);
}

void hub_http_answer_last(hub_http_connection *connection, int status, const char *reason)
{
    connection->keep_alive = false;
    connection->is_head = false;
    hub_http_answer_refusal(connection, status, (hub_http_header){0}, reason);
}

/* ---- event streams --------------------------------------------------------------------------- */

static hub_err write_content(hub_http_connection *connection, hub_str content)
{
    char line[HUB_HTTP_CHUNK_LINE_BYTES];
    if (connection->is_head) {
        return HUB_OK;
    }
    hub_deadline_start(&connection->server->quiet, &connection->deadline, hub_clock_coarse_ms());
    if (connection->is_1_0) {
        return write_parts(connection, &content, 1);
    }
    hub_str parts[] = {hub_http_chunk_line(content.len, line), content, HUB_HTTP_CHUNK_END};
    return write_parts(connection, parts, 3);
}

hub_err hub_http_answer_stream(hub_http_connection *connection, const hub_http_header *headers,
                               size_t header_count)
{
    static const hub_http_header OF_STREAMS[] = {
        {{.ptr = "Cache-Control", .len = 13}, {.ptr = "no-cache", .len = 8}},
        {{.ptr = "X-Accel-Buffering", .len = 17}, {.ptr = "no", .len = 2}},
    };
    hub_http_header all[USUAL_HEADERS + HUB_HTTP_ANSWER_HEADERS];
    size_t n = usual_headers(connection, "text/event-stream", all);
    hub_assert(header_count + 2 <= HUB_HTTP_ANSWER_HEADERS);
    all[n++] = OF_STREAMS[0];
    all[n++] = OF_STREAMS[1];
    for (size_t i = 0; i < header_count; i++) {
        all[n++] = headers[i];
    }
    connection->keep_alive = connection->keep_alive && !connection->is_1_0;
    hub_http_response response = {
        .status = 200,
        .headers = all,
        .header_count = n,
        .framing = connection->is_1_0 ? HUB_HTTP_NO_BODY : HUB_HTTP_CHUNKED,
        .close = ends(connection),
    };
    hub_buf *head = &connection->server->head;
    hub_buf_clear(head);
    hub_err err = hub_http_write_head(head, &response, NULL);
    hub_str text = hub_buf_str(head);
    connection->streaming = true;
    if (err != HUB_OK) {
        connection->closing = true;
        hub_link_close(connection->link, false);
    } else {
        err = write_parts(connection, &text, 1);
    }
    return err;
}

hub_err hub_http_answer_written(hub_http_connection *connection, hub_str events)
{
    return write_content(connection, events);
}

hub_err hub_http_answer_event(hub_http_connection *connection, const hub_http_event *event)
{
    hub_buf text;
    hub_buf_init(&text, connection->server->settings->limits.client_queue_bytes);
    hub_err err = hub_http_write_event(&text, event);
    if (err == HUB_OK) {
        err = write_content(connection, hub_buf_str(&text));
    } else { /* an event that is lost is worse than a stream that ends */
        connection->closing = true;
        hub_link_close(connection->link, false);
    }
    hub_buf_fini(&text);
    return err;
}

void hub_http_answer_comment(hub_http_connection *connection)
{
    (void)write_content(connection, HUB_HTTP_SSE_COMMENT);
}

void hub_http_answer_end(hub_http_connection *connection)
{
    if (!connection->is_1_0 && !connection->is_head) {
        hub_str last = HUB_HTTP_LAST_CHUNK;
        (void)write_parts(connection, &last, 1);
    }
    finish(connection);
}

/* ---- answers of others ----------------------------------------------------------------------- */

hub_err hub_http_answer_raw_head(hub_http_connection *connection, hub_str head)
{
    static const hub_str CLOSE = {.ptr = "Connection: close\r\n\r\n", .len = 21};
    hub_str parts[] = {head, HUB_STR_EMPTY};
    if (ends(connection)) { /* what the other one says of its own connection comes first */
        parts[0].len -= 2;
        parts[1] = CLOSE;
    }
    connection->relaying = true;
    return write_parts(connection, parts, parts[1].len > 0 ? 2 : 1);
}

hub_err hub_http_answer_raw(hub_http_connection *connection, hub_str bytes)
{
    connection->relaying = true;
    return write_parts(connection, &bytes, 1);
}

void hub_http_answer_raw_end(hub_http_connection *connection, bool closes)
{
    connection->keep_alive = connection->keep_alive && !closes;
    finish(connection);
}
