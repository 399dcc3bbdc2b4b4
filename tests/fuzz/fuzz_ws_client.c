/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a WebSocket server says: however it is cut, the same comes out of it. Input: one byte for
 * the pieces; then the answer to the handshake if it begins with an H, else frames.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "../../plugins/upstream/remote/websocket_frames.h"
#include "../../plugins/upstream/remote/websocket_upgrade.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 1000 };

typedef struct heard {
    patchbay_out messages;
    ws_frames_end end;
    int goes_on;
} heard;

static void on_message(void *ctx, patchbay_str text)
{
    heard *h = ctx;
    REQUIRE(text.len <= MOST);
    patchbay_out_raw(&h->messages, text);
    patchbay_out_text(&h->messages, "|");
}

static void hear(const char *bytes, size_t size, size_t piece, heard *h)
{
    ws_frames *frames = ws_frames_create(MOST, on_message, h);
    REQUIRE(frames != NULL);
    patchbay_out_text(&h->messages, "");
    h->goes_on = 1;
    for (size_t at = 0; h->goes_on && at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;
        ws_chunk *answers = NULL;
        h->goes_on = ws_frames_read(frames, patchbay_str_make(bytes + at, len), &answers, &h->end);
        free(answers);
    }
    ws_frames_free(frames);
}

static void try_frames(const char *bytes, size_t size, size_t piece)
{
    const size_t pieces[] = {size + 1, 1, piece};
    const size_t ways = FUZZ_ORACLE ? 3 : 1;
    heard all[3];
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < ways; i++) {
        hear(bytes, size, pieces[i], &all[i]);
        REQUIRE(all[i].goes_on == all[0].goes_on);
        REQUIRE(all[i].end.code == all[0].end.code);
        REQUIRE(all[i].end.by_server == all[0].end.by_server);
        REQUIRE(strcmp(all[i].end.text, all[0].end.text) == 0);
        REQUIRE(patchbay_str_eq(patchbay_str_make(all[i].messages.ptr, all[i].messages.len),
                                patchbay_str_make(all[0].messages.ptr, all[0].messages.len)));
    }
    for (size_t i = 0; i < ways; i++) {
        patchbay_out_free(&all[i].messages);
    }
}

static void try_answer(const char *bytes, size_t size)
{
    static const ws_upgrade EXAMPLE = {.key = "dGhlIHNhbXBsZSBub25jZQ==",
                                       .accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="};
    ws_upgrade_answer first = {.used = 0};
    ws_upgrade_state decided = UPGRADE_MORE;
    for (size_t len = FUZZ_ORACLE ? 0 : size; len <= size; len++) {
        ws_upgrade_answer answer;
        ws_upgrade_state state = ws_upgrade_read(&EXAMPLE, patchbay_str_make(bytes, len), &answer);
        REQUIRE(answer.used <= len);
        if (decided == UPGRADE_MORE) {
            decided = state;
            first = answer;
        }
        REQUIRE(state == decided); /* more bytes do not change it */
        REQUIRE(answer.status == first.status && answer.why == first.why);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 && data[1] == 'H') {
        try_answer((const char *)data + 1, size - 1);
    } else if (size > 1) {
        try_frames((const char *)data + 1, size - 1, 2u + data[0]);
    }
    return 0;
}
