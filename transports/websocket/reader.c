/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/reader.h"

#include "base/buf.h"
#include "websocket/limits.h"

#include <stdlib.h>
#include <wslay/wslay.h>

/* What is needed while something is under way. */
typedef struct ws_frames {
    wslay_event_context_ptr wslay;
    const hub_ws_reader *reader;
    hub_str input; /* what wslay may read now */
    hub_buf text;  /* the message under way, or the last one */
    bool is_done;  /* wslay has seen the end of the message or control frame */
    size_t control_len;
    char control[HUB_WS_HEAD_BYTES + HUB_WS_CONTROL_BYTES]; /* a frame, then its payload */
} ws_frames;

/* ---- libwslay -------------------------------------------------------------------------------- */

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *to, size_t len, int flags, void *ctx)
{
    ws_frames *frames = ctx;
    (void)flags;
    size_t step = frames->input.len < len ? frames->input.len : len;
    if (step == 0) {
        wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(to, frames->input.ptr, step);
    frames->input = hub_str_from(frames->input, step);
    return (ssize_t)step;
}

/* What wslay would answer is for the caller to write; only its verdict is of interest. */
static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t len, int flags,
                       void *ctx)
{
    (void)wslay;
    (void)bytes;
    (void)flags;
    (void)ctx;
    return (ssize_t)len;
}

static void on_chunk(wslay_event_context_ptr wslay,
                     const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *ctx)
{
    ws_frames *frames = ctx;
    (void)wslay;
    if (!hub_ws_is_control(frames->reader->head.opcode)) {
        hub_buf_add(&frames->text,
                    (hub_str){.ptr = (const char *)chunk->data, .len = chunk->data_length});
    }
}

static void on_message(wslay_event_context_ptr wslay,
                       const struct wslay_event_on_msg_recv_arg *message, void *ctx)
{
    ws_frames *frames = ctx;
    (void)wslay;
    frames->is_done = true;
    if (wslay_is_ctrl_frame(message->opcode)) {
        frames->control_len = message->msg_length;
        if (message->msg_length > 0) {
            memcpy(frames->control, message->msg, message->msg_length);
        }
    }
}

static const struct wslay_event_callbacks CALLBACKS = {
    .recv_callback = on_recv,
    .send_callback = on_send,
    .on_frame_recv_chunk_callback = on_chunk,
    .on_msg_recv_callback = on_message,
};

static ws_frames *open_frames(const hub_ws_reader *reader)
{
    ws_frames *frames = calloc(1, sizeof *frames);
    if (frames == NULL ||
        wslay_event_context_server_init(&frames->wslay, &CALLBACKS, frames) != 0) {
        free(frames);
        return NULL;
    }
    wslay_event_config_set_no_buffering(frames->wslay, 1);
    wslay_event_config_set_max_recv_msg_length(frames->wslay, INT64_MAX); /* we have our own */
    frames->reader = reader;
    hub_buf_init(&frames->text, reader->max_message_bytes);
    return frames;
}

static void close_frames(ws_frames *frames)
{
    if (frames != NULL) {
        wslay_event_context_free(frames->wslay);
        hub_buf_fini(&frames->text);
        free(frames);
    }
}

size_t hub_ws_reader_bytes(const hub_ws_reader *reader)
{
    const ws_frames *frames = reader->frames;
    return frames != NULL ? sizeof *frames + frames->text.cap : 0;
}

static hub_ws_fault make_fault(hub_ws_code code, const char *reason)
{
    return (hub_ws_fault){.code = code, .reason = reason};
}

/* Let wslay read bytes of one frame. What it can still object to is the text in it. */
static hub_ws_fault feed(ws_frames *frames, hub_str bytes)
{
    frames->input = bytes;
    if (wslay_event_recv(frames->wslay) != 0) {
        return make_fault(HUB_WS_INTERNAL, "out of memory");
    }
    (void)wslay_event_send(frames->wslay); /* to nobody: nothing of it can fail */
    if (wslay_event_get_read_enabled(frames->wslay) ||
        wslay_event_get_close_received(frames->wslay)) {
        return make_fault(HUB_WS_NONE, NULL);
    }
    if (wslay_event_get_status_code_sent(frames->wslay) == WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA) {
        return make_fault(HUB_WS_BAD_TEXT, "the text is not UTF-8");
    }
    return make_fault(HUB_WS_PROTOCOL_ERROR, hub_ws_is_control(frames->reader->head.opcode)
                                                 ? "the close code must not be used"
                                                 : "the frame breaks the protocol");
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* What is wrong with a frame where it stands, and with so much in it. */
static hub_ws_fault check_place(const hub_ws_reader *reader, const hub_ws_head *head)
{
    bool is_amid = reader->fragments > 0;
    size_t have = reader->frames->text.len;
    if (hub_ws_is_control(head->opcode)) {
        return make_fault(HUB_WS_NONE, NULL);
    }
    if (head->opcode == HUB_WS_CONTINUATION && !is_amid) {
        return make_fault(HUB_WS_PROTOCOL_ERROR, "there is nothing to be continued");
    }
    if (head->opcode != HUB_WS_CONTINUATION && is_amid) {
        return make_fault(HUB_WS_PROTOCOL_ERROR, "a message begins within another one");
    }
    if (head->length > reader->max_message_bytes - (is_amid ? have : 0)) {
        return make_fault(HUB_WS_TOO_BIG, "the message is larger than the hub takes");
    }
    if (reader->fragments >= HUB_WEBSOCKET_LIMIT_FRAGMENTS) {
        return make_fault(HUB_WS_POLICY, "the message has too many fragments");
    }
    return make_fault(HUB_WS_NONE, NULL);
}

static void start_frame(hub_ws_reader *reader, hub_ws_event *event)
{
    ws_frames *frames = reader->frames;
    event->fault = check_place(reader, &reader->head);
    if (event->fault.code != HUB_WS_NONE) {
        return;
    }
    frames->is_done = false;
    hub_str bytes = {.ptr = reader->head_bytes, .len = reader->head_len};
    if (hub_ws_is_control(reader->head.opcode)) {
        /* wslay checks the text of a close frame as if it always came whole. So it does. */
        memcpy(frames->control, bytes.ptr, bytes.len);
        frames->control_len = bytes.len;
    } else {
        if (reader->fragments == 0) {
            hub_buf_clear(&frames->text);
        }
        reader->fragments++;
        event->fault = feed(frames, bytes);
    }
    /* The mask belongs to the header, but a header is judged by what stands before it. */
    reader->in_payload = true;
    reader->left = reader->head.length + (size_t)(reader->head.bytes - reader->head_len);
    event->opcode = reader->head.opcode;
    event->kind = HUB_WS_EVENT_HEAD;
}

/* Read on in a header. Bytes used. */
static size_t read_head(hub_ws_reader *reader, hub_str bytes, hub_ws_event *event)
{
    size_t used = 0;
    while (used < bytes.len && event->kind == HUB_WS_EVENT_NONE &&
           event->fault.code == HUB_WS_NONE) {
        reader->head_bytes[reader->head_len++] = bytes.ptr[used++];
        const hub_str so_far = {.ptr = reader->head_bytes, .len = reader->head_len};
        if (hub_ws_head_read(so_far, &reader->head, &event->fault)) {
            start_frame(reader, event);
        }
    }
    return used;
}

static void end_frame(hub_ws_reader *reader, hub_ws_event *event)
{
    ws_frames *frames = reader->frames;
    reader->in_payload = false;
    reader->head_len = 0;
    if (hub_ws_is_control(reader->head.opcode)) {
        event->fault = feed(frames, (hub_str){.ptr = frames->control, .len = frames->control_len});
    }
    if (event->fault.code != HUB_WS_NONE || !frames->is_done) {
        return;
    }
    event->text = (hub_str){.ptr = frames->control, .len = frames->control_len};
    switch (reader->head.opcode) {
    case HUB_WS_PING:
        event->kind = HUB_WS_EVENT_PING;
        break;
    case HUB_WS_PONG:
        event->kind = HUB_WS_EVENT_PONG;
        break;
    case HUB_WS_CLOSE:
        event->kind = HUB_WS_EVENT_CLOSE;
        break;
    default:
        reader->fragments = 0;
        event->kind = HUB_WS_EVENT_MESSAGE;
        event->text = hub_buf_str(&frames->text);
        if (!hub_buf_ok(&frames->text)) {
            event->fault = make_fault(HUB_WS_INTERNAL, "out of memory");
        }
        break;
    }
}

/* Read on in a payload. Bytes used. */
static size_t read_payload(hub_ws_reader *reader, hub_str bytes, hub_ws_event *event)
{
    ws_frames *frames = reader->frames;
    size_t used = reader->left < bytes.len ? (size_t)reader->left : bytes.len;
    const hub_str part = {.ptr = bytes.ptr, .len = used};
    if (hub_ws_is_control(reader->head.opcode)) {
        if (used > 0) {
            memcpy(frames->control + frames->control_len, part.ptr, used);
            frames->control_len += used;
        }
    } else if (used > 0) {
        event->fault = feed(frames, part);
    }
    reader->left -= used;
    if (reader->left == 0 && event->fault.code == HUB_WS_NONE) {
        end_frame(reader, event);
    }
    return used;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void hub_ws_reader_init(hub_ws_reader *reader, size_t max_message_bytes)
{
    *reader = (hub_ws_reader){.max_message_bytes = max_message_bytes};
}

void hub_ws_reader_fini(hub_ws_reader *reader)
{
    close_frames(reader->frames);
    reader->frames = NULL;
}

size_t hub_ws_reader_next(hub_ws_reader *reader, hub_str bytes, hub_ws_event *ret_event)
{
    size_t used = 0;
    *ret_event = (hub_ws_event){.kind = HUB_WS_EVENT_NONE};
    if (reader->is_over) {
        return bytes.len;
    }
    if (reader->frames == NULL && (reader->frames = open_frames(reader)) == NULL) {
        ret_event->fault = make_fault(HUB_WS_INTERNAL, "out of memory");
    }
    while (ret_event->kind == HUB_WS_EVENT_NONE && ret_event->fault.code == HUB_WS_NONE &&
           used < bytes.len) {
        hub_str rest = hub_str_from(bytes, used);
        used += reader->in_payload ? read_payload(reader, rest, ret_event)
                                   : read_head(reader, rest, ret_event);
    }
    if (ret_event->fault.code != HUB_WS_NONE) {
        ret_event->kind = HUB_WS_EVENT_FAULT;
    }
    reader->is_over =
        ret_event->kind == HUB_WS_EVENT_FAULT || ret_event->kind == HUB_WS_EVENT_CLOSE;
    return used;
}

bool hub_ws_reader_is_amid(const hub_ws_reader *reader)
{
    return reader->fragments > 0 || reader->head_len > 0;
}

void hub_ws_reader_rest(hub_ws_reader *reader)
{
    if (!hub_ws_reader_is_amid(reader)) {
        hub_ws_reader_fini(reader);
    }
}
