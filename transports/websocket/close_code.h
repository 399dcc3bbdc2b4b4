/* SPDX-License-Identifier: Apache-2.0 */
/* Why a WebSocket closes, as numbers on the wire (RFC 6455, section 7.4.1). */
#ifndef TRANSPORTS_WEBSOCKET_CLOSE_CODE_H
#define TRANSPORTS_WEBSOCKET_CLOSE_CODE_H

typedef enum hub_ws_code {
    HUB_WS_NONE = 0, /* a close frame without a code */
    HUB_WS_NORMAL = 1000,
    HUB_WS_GOING_AWAY = 1001,
    HUB_WS_PROTOCOL_ERROR = 1002,
    HUB_WS_UNSUPPORTED = 1003,
    HUB_WS_BAD_TEXT = 1007,
    HUB_WS_POLICY = 1008,
    HUB_WS_TOO_BIG = 1009,
    HUB_WS_INTERNAL = 1011,
    HUB_WS_TRY_AGAIN = 1013,
    HUB_WS_EXPIRED = 4401, /* private use: what HTTP says with 401 */
} hub_ws_code;

#endif
