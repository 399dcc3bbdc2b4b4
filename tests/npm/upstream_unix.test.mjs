// SPDX-License-Identifier: Apache-2.0
// Every client of the matrix, every feature, with servers of both SDKs behind the hub over a Unix socket.

import { join } from 'node:path';

import { UPSTREAMS, column, startListening } from './matrix_cells.mjs';
import { makeFolder } from './support.mjs';

for (const era of ['legacy', 'modern']) {
    const start = () => startListening('socket.mjs', 'unix', `${era}.mjs`, join(makeFolder(), 'server.sock'));
    UPSTREAMS[`${era} Unix socket`] = { era, isTold: false, start };
    column(`${era} Unix socket`);
}
