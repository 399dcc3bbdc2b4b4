// SPDX-License-Identifier: Apache-2.0
// The clients of the matrix that come over the network, every feature, at three replicas behind a balancer: as with one hub.

import { CLIENTS } from './matrix_clients.mjs';
import { ALL, column } from './matrix_cells.mjs';
import { missing, startReplicas } from './replicas.mjs';

const { Peer, open } = CLIENTS['legacy HTTP'];
const clients = Object.fromEntries(Object.entries(CLIENTS).filter(([, one]) => one.open));

// Each replica has a connection of its own to a server, and its own subscription there.
const { 'resources: one subscription for many clients': ofOneHub, ...features } = ALL;

async function connect(all, toolsets) {
    const replicas = await startReplicas(toolsets);
    const watchers = [];
    for (const url of replicas.each) {
        const peer = new Peer({}); // what the server can do is known to each from now on
        watchers.push(peer);
        await peer.connect(open(url));
        await peer.list('tools');
    }
    for (const [name, { Peer, open }] of Object.entries(clients)) {
        const entry = { peer: new Peer({}), noise: [], url: replicas.url };
        all.set(name, entry);
        await entry.peer.connect(open(replicas.url));
    }
    const close = () => Promise.all(watchers.map((peer) => peer.close())).finally(() => replicas.close());
    return { watchers, close };
}

for (const server of ['legacy HTTP', 'modern HTTP']) {
    column(server, { title: `replicas, server: ${server}`, clients, features, connect, skip: missing });
}
