// SPDX-License-Identifier: Apache-2.0
// Every client of the matrix, every feature, with servers of both SDKs behind the hub over WebSocket, by the package `ws`.

import { UPSTREAMS, column, startListening } from './matrix_cells.mjs';

for (const era of ['legacy', 'modern']) {
    UPSTREAMS[`${era} WebSocket`] = { era, isTold: false, start: () => startListening('socket.mjs', 'websocket', `${era}.mjs`) };
    column(`${era} WebSocket`);
}
