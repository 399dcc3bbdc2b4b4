/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket_frames.h"

#include <sys/random.h>
#include <wslay/wslay.h>

static const char NO_MEMORY[] = "has sent more than there is memory for";

enum {
    HEAD_BYTES = 14,     /* of a frame, at most, with its mask */
    CONTROL_BYTES = 125, /* of the payload of a control frame, at most */
    CONTROL = 0x8,       /* of an opcode */
    MASKED = 0x80,
    LENGTH = 0x7f,
};

struct ws_frames {
    wslay_event_context_ptr reader;
    wslay_frame_context_ptr writer;
    void (*on_message)(void *ctx, patchbay_str text);
    void *ctx;
    size_t max_message_bytes;

    patchbay_str input;                    /* what the reader may read now */
    char held[HEAD_BYTES + CONTROL_BYTES]; /* a head, or a control frame, as far as it has come */
    size_t held_len;
    uint64_t left; /* of the payload of the frame under way */
    int in_payload;
    int is_held; /* … which is a control frame */

    patchbay_out text; /* the message under way */
    int is_control;    /* the frame under way belongs to none */
    int is_stopped;
    const char *fault; /* what the server does wrong, if it was not wslay that noticed */
    patchbay_out close_text;

    patchbay_out answers; /* what the reader wants to send */
    ws_chunk *made;       /* what the writer is making */
};

static int make_mask(uint8_t *to, size_t len)
{
    return getrandom(to, len, 0) == (ssize_t)len ? 0 : -1;
}

/* ---- reading ------------------------------------------------------------------------------- */

static ssize_t give_input(wslay_event_context_ptr reader, uint8_t *to, size_t room, int flags,
                          void *ctx)
{
    ws_frames *frames = ctx;
    size_t len = frames->input.len < room ? frames->input.len : room;
    (void)flags;
    if (len == 0) {
        wslay_event_set_error(reader, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(to, frames->input.ptr, len);
    frames->input = patchbay_str_make(frames->input.ptr + len, frames->input.len - len);
    return (ssize_t)len;
}

static ssize_t take_answer(wslay_event_context_ptr reader, const uint8_t *bytes, size_t len,
                           int flags, void *ctx)
{
    ws_frames *frames = ctx;
    (void)reader;
    (void)flags;
    patchbay_out_raw(&frames->answers, patchbay_str_make((const char *)bytes, len));
    return (ssize_t)len;
}

static int give_mask(wslay_event_context_ptr reader, uint8_t *to, size_t len, void *ctx)
{
    (void)reader;
    (void)ctx;
    return make_mask(to, len);
}

static const char *meaning_of(int code)
{
    switch (code) {
    case WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA:
        return "sends text that is not UTF-8";
    case WSLAY_CODE_MESSAGE_TOO_BIG:
        return "sends a message that is too large (limits.upstream_message)";
    default:
        return "breaks the WebSocket protocol";
    }
}

/* The frame under way is read to its end, if that is there already; it is told no more. */
static void refuse(ws_frames *frames, uint16_t code, const char *what)
{
    frames->fault = what;
    (void)wslay_event_queue_close(frames->reader, code, NULL, 0); /* else it just ends */
    wslay_event_shutdown_read(frames->reader);
}

static void on_frame(wslay_event_context_ptr reader,
                     const struct wslay_event_on_frame_recv_start_arg *frame, void *ctx)
{
    ws_frames *frames = ctx;
    (void)reader;
    frames->is_control = wslay_is_ctrl_frame(frame->opcode);
    if (frame->opcode == WSLAY_BINARY_FRAME) {
        refuse(frames, WSLAY_CODE_UNSUPPORTED_DATA, "sends binary messages: MCP has text only");
    } else if (!frames->is_control &&
               frame->payload_length > frames->max_message_bytes - frames->text.len) {
        refuse(frames, WSLAY_CODE_MESSAGE_TOO_BIG, meaning_of(WSLAY_CODE_MESSAGE_TOO_BIG));
    }
}

static void on_chunk(wslay_event_context_ptr reader,
                     const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *ctx)
{
    ws_frames *frames = ctx;
    (void)reader;
    if (!frames->is_control && frames->fault == NULL) {
        patchbay_out_raw(&frames->text,
                         patchbay_str_make((const char *)chunk->data, chunk->data_length));
    }
}

static void on_whole(wslay_event_context_ptr reader,
                     const struct wslay_event_on_msg_recv_arg *message, void *ctx)
{
    ws_frames *frames = ctx;
    (void)reader;
    if (message->opcode == WSLAY_CONNECTION_CLOSE) {
        if (message->msg_length > 2) {
            patchbay_out_raw(&frames->close_text, patchbay_str_make((const char *)message->msg + 2,
                                                                    message->msg_length - 2));
        }
    } else if (message->opcode == WSLAY_TEXT_FRAME && frames->fault == NULL) {
        patchbay_str text = patchbay_str_make(frames->text.ptr, frames->text.len);
        if (frames->text.failed) {
            refuse(frames, WSLAY_CODE_INTERNAL_SERVER_ERROR, NO_MEMORY);
            return;
        }
        frames->on_message(frames->ctx, text);
        patchbay_out_free(&frames->text);
    }
}

static void describe_end(ws_frames *frames, ws_frames_end *end)
{
    end->by_server = wslay_event_get_close_received(frames->reader) && frames->fault == NULL;
    if (end->by_server) {
        end->code = wslay_event_get_status_code_received(frames->reader);
        end->code = end->code == WSLAY_CODE_NO_STATUS_RCVD ? 0 : end->code;
        (void)snprintf(end->text, sizeof end->text, "%.*s", (int)frames->close_text.len,
                       frames->close_text.ptr != NULL ? frames->close_text.ptr : "");
        return;
    }
    end->code = wslay_event_get_status_code_sent(frames->reader);
    (void)snprintf(end->text, sizeof end->text, "%s",
                   frames->fault != NULL ? frames->fault : meaning_of(end->code));
}

static ws_chunk *chunk_of(const patchbay_out *bytes)
{
    ws_chunk *chunk = bytes->len > 0 && !bytes->failed ? malloc(sizeof *chunk + bytes->len) : NULL;
    if (chunk != NULL) {
        chunk->next = NULL;
        chunk->len = bytes->len;
        chunk->sent = 0;
        memcpy(chunk->bytes, bytes->ptr, bytes->len);
    }
    return chunk;
}

/* ---- writing ------------------------------------------------------------------------------- */

static ssize_t take_output(const uint8_t *bytes, size_t len, int flags, void *ctx)
{
    ws_frames *frames = ctx;
    (void)flags;
    memcpy(frames->made->bytes + frames->made->len, bytes, len);
    frames->made->len += len;
    return (ssize_t)len;
}

static int give_frame_mask(uint8_t *to, size_t len, void *ctx)
{
    (void)ctx;
    return make_mask(to, len);
}

/* wslay masks as many bytes as it is given, with the mask of the frame. */
static int write_parts(ws_frames *frames, struct wslay_frame_iocb *frame, const patchbay_str *parts,
                       size_t part_count)
{
    for (size_t i = 0; i < part_count; i++) {
        size_t done = 0;
        while (done < parts[i].len) {
            frame->data = (const uint8_t *)parts[i].ptr + done;
            frame->data_length = parts[i].len - done;
            ssize_t written = wslay_frame_send(frames->writer, frame);
            if (written <= 0) {
                return 0;
            }
            done += (size_t)written;
        }
    }
    return 1;
}

/* A frame with something in it. */
static ws_chunk *make_frame(ws_frames *frames, uint8_t opcode, const patchbay_str *parts,
                            size_t part_count)
{
    struct wslay_frame_iocb frame = {.fin = 1, .opcode = opcode, .mask = 1};
    for (size_t i = 0; i < part_count; i++) {
        frame.payload_length += parts[i].len;
    }
    ws_chunk *chunk = malloc(sizeof *chunk + HEAD_BYTES + frame.payload_length);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->next = NULL;
    chunk->len = 0;
    chunk->sent = 0;
    frames->made = chunk;
    if (!write_parts(frames, &frame, parts, part_count)) {
        free(chunk);
        return NULL;
    }
    return chunk;
}

ws_chunk *ws_frames_message(ws_frames *frames, const patchbay_str *parts, size_t part_count)
{
    return make_frame(frames, WSLAY_TEXT_FRAME, parts, part_count);
}

ws_chunk *ws_frames_ping(ws_frames *frames)
{
    const patchbay_str payload = patchbay_str_of("patchbay");
    return make_frame(frames, WSLAY_PING, &payload, 1);
}

ws_chunk *ws_frames_close(ws_frames *frames, int code)
{
    const char bytes[] = {(char)(code >> 8), (char)code};
    const patchbay_str payload = patchbay_str_make(bytes, sizeof bytes);
    return make_frame(frames, WSLAY_CONNECTION_CLOSE, &payload, 1);
}

/* ---- the conversation ---------------------------------------------------------------------- */

/* The reader cannot make sense of a frame, and would close without a word. */
static int give_up(ws_frames *frames, int error, ws_chunk **ret_answers, ws_frames_end *ret_end)
{
    int is_memory = error == WSLAY_ERR_NOMEM || error == 0;
    ret_end->code = is_memory ? WSLAY_CODE_INTERNAL_SERVER_ERROR : WSLAY_CODE_PROTOCOL_ERROR;
    (void)snprintf(ret_end->text, sizeof ret_end->text, "%s",
                   is_memory ? NO_MEMORY : meaning_of(ret_end->code));
    *ret_answers = ws_frames_close(frames, ret_end->code);
    return frames->is_stopped;
}

/* Bytes that a head has for a length above 125. */
static size_t length_bytes(const char *head)
{
    unsigned length = (unsigned char)head[1] & LENGTH;
    if (length < 126) {
        return 0;
    }
    return length == 126 ? 2 : 8;
}

/* Bytes of a head, as far as the `len` bytes of it tell. */
static size_t head_size(const char *head, size_t len)
{
    if (len < 2) {
        return 2;
    }
    return 2 + length_bytes(head) + (((unsigned char)head[1] & MASKED) != 0 ? 4 : 0);
}

static uint64_t payload_length(const char *head)
{
    size_t count = length_bytes(head);
    uint64_t length = count == 0 ? (unsigned char)head[1] & LENGTH : 0;
    for (size_t i = 0; i < count; i++) {
        length = length << 8 | (unsigned char)head[2 + i];
    }
    return length;
}

static patchbay_str take_held(ws_frames *frames)
{
    patchbay_str held = patchbay_str_make(frames->held, frames->held_len);
    frames->held_len = 0;
    return held;
}

/* What the reader may have next; empty: more has to come. wslay judges the text of a close frame by
 * what of it comes at a time, so it gets control frames whole. */
static patchbay_str next_piece(ws_frames *frames, patchbay_str *bytes)
{
    static const patchbay_str NOTHING = {.ptr = NULL, .len = 0};
    if (!frames->in_payload) {
        frames->held[frames->held_len++] = bytes->ptr[0];
        *bytes = patchbay_str_make(bytes->ptr + 1, bytes->len - 1);
        if (frames->held_len < head_size(frames->held, frames->held_len)) {
            return NOTHING;
        }
        frames->left = payload_length(frames->held);
        frames->in_payload = frames->left > 0;
        frames->is_held = (frames->held[0] & CONTROL) != 0 && frames->left <= CONTROL_BYTES;
        return frames->in_payload && frames->is_held ? NOTHING : take_held(frames);
    }
    size_t len = frames->left < bytes->len ? (size_t)frames->left : bytes->len;
    patchbay_str piece = patchbay_str_make(bytes->ptr, len);
    *bytes = patchbay_str_make(bytes->ptr + len, bytes->len - len);
    frames->left -= len;
    frames->in_payload = frames->left > 0;
    if (!frames->is_held) {
        return piece;
    }
    memcpy(frames->held + frames->held_len, piece.ptr, len);
    frames->held_len += len;
    return frames->in_payload ? NOTHING : take_held(frames);
}

static int feed(ws_frames *frames, patchbay_str bytes)
{
    int error = 0;
    while (error == 0 && bytes.len > 0 && wslay_event_get_read_enabled(frames->reader)) {
        frames->input = next_piece(frames, &bytes);
        error = wslay_event_recv(frames->reader);
    }
    return error;
}

int ws_frames_read(ws_frames *frames, patchbay_str bytes, ws_chunk **ret_answers,
                   ws_frames_end *ret_end)
{
    int error = feed(frames, bytes);
    memset(ret_end, 0, sizeof *ret_end);
    if (error != 0 || wslay_event_send(frames->reader) != 0) {
        return give_up(frames, error, ret_answers, ret_end);
    }
    *ret_answers = chunk_of(&frames->answers);
    patchbay_out_free(&frames->answers);
    if (frames->is_stopped) {
        return 1; /* whoever has stopped it knows */
    }
    if (wslay_event_get_read_enabled(frames->reader) &&
        !wslay_event_get_close_received(frames->reader)) {
        return 1;
    }
    describe_end(frames, ret_end);
    return 0;
}

void ws_frames_stop(ws_frames *frames)
{
    frames->is_stopped = 1;
    wslay_event_shutdown_read(frames->reader);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static const struct wslay_event_callbacks READER = {
    .recv_callback = give_input,
    .send_callback = take_answer,
    .genmask_callback = give_mask,
    .on_frame_recv_start_callback = on_frame,
    .on_frame_recv_chunk_callback = on_chunk,
    .on_msg_recv_callback = on_whole,
};

static const struct wslay_frame_callbacks WRITER = {
    .send_callback = take_output,
    .genmask_callback = give_frame_mask,
};

ws_frames *ws_frames_create(size_t max_message_bytes,
                            void (*on_message)(void *ctx, patchbay_str text), void *ctx)
{
    ws_frames *frames = calloc(1, sizeof *frames);
    if (frames == NULL) {
        return NULL;
    }
    frames->on_message = on_message;
    frames->ctx = ctx;
    frames->max_message_bytes = max_message_bytes;
    int failed = wslay_event_context_client_init(&frames->reader, &READER, frames);
    if (failed != 0) {
        frames->reader = NULL; /* libwslay has freed what it still names */
    }
    if (failed != 0 || wslay_frame_context_init(&frames->writer, &WRITER, frames) != 0) {
        ws_frames_free(frames);
        return NULL;
    }
    wslay_event_config_set_no_buffering(frames->reader, 1);
    wslay_event_config_set_max_recv_msg_length(frames->reader, INT64_MAX); /* on_frame() has ours */
    return frames;
}

void ws_frames_free(ws_frames *frames)
{
    if (frames == NULL) {
        return;
    }
    if (frames->reader != NULL) {
        wslay_event_context_free(frames->reader);
    }
    if (frames->writer != NULL) {
        wslay_frame_context_free(frames->writer);
    }
    patchbay_out_free(&frames->text);
    patchbay_out_free(&frames->close_text);
    patchbay_out_free(&frames->answers);
    free(frames);
}
