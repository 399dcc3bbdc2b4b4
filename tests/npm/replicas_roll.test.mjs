// SPDX-License-Identifier: Apache-2.0
// Three replicas behind a balancer are restarted, one after the other, while official clients go on calling: no call fails,
// and no session begins anew.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { CLIENTS } from './matrix_clients.mjs';
import { missing, startReplicas } from './replicas.mjs';
import { makeFolder, servers } from './support.mjs';

const CALLERS = ['legacy HTTP', 'legacy HTTP', 'modern HTTP', 'modern HTTP'];

describe('a roll of three replicas', { skip: missing }, () => {
    let replicas;
    const peers = [];

    before(async () => {
        replicas = await startReplicas({ everything: servers(makeFolder()).everything, beta: { module: 'time', active: false } }, { leave: '2s' });
        for (const name of CALLERS) {
            const { Peer, open } = CLIENTS[name];
            const peer = new Peer({});
            peer.transport = open(replicas.url);
            await peer.connect(peer.transport);
            assert.ok((await peer.list('tools')).some((tool) => tool.name === 'everything__echo'));
            peers.push(peer);
        }
    });

    after(async () => {
        await Promise.all(peers.map((peer) => peer.close()));
        await replicas.close();
    });

    test('no call fails, and no session begins anew', async () => {
        const sessions = peers.map((peer) => peer.transport.sessionId);
        let isOver = false;
        let count = 0;
        const callers = peers.map(async (peer, i) => {
            while (!isOver || count <= 10 * peers.length) {
                const message = `${i}:${(count += 1)}`;
                assert.equal(await peer.text('everything__echo', { message }), `Echo: ${message}`);
            }
        });
        const rolled = replicas.roll().finally(() => (isOver = true));
        await Promise.all([rolled, ...callers]);
        assert.ok(count > 10 * peers.length);
        assert.deepEqual(peers.map((peer) => peer.transport.sessionId), sessions);
    });
});
