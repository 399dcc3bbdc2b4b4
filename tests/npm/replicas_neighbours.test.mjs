// SPDX-License-Identifier: Apache-2.0
// Replicas of two neighbouring versions work together, and through a roll from the one to the other and back: official clients of both
// eras get their own answers, and lose a session at most, of which they are told. PATCHBAY_PREVIOUS names the program of another
// version, with its plugins and engines where a build has them (docs/SCALE.md).

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { CLIENTS } from './matrix_clients.mjs';
import { missing, startReplicas } from './replicas.mjs';
import { HUB, makeFolder, servers } from './support.mjs';

const OTHER = process.env.PATCHBAY_PREVIOUS;
const CALLERS = ['legacy HTTP', 'legacy HTTP', 'modern HTTP', 'modern HTTP'];
const CALLS = 12; // so that round robin comes to each replica several times

describe('replicas of two versions', { skip: missing ?? (!OTHER && 'PATCHBAY_PREVIOUS is not set') }, () => {
    let replicas;
    const peers = [];

    async function connect(name) {
        const { Peer, open } = CLIENTS[name];
        const peer = new Peer({});
        peer.transport = open(replicas.url);
        await peer.connect(peer.transport);
        return peer;
    }

    async function call(i, message) {
        assert.equal(await peers[i].text('everything__echo', { message }), `Echo: ${message}`);
    }

    before(async () => {
        const toolsets = { everything: servers(makeFolder()).everything, beta: { module: 'time', active: false } };
        replicas = await startReplicas(toolsets, { leave: '2s', programs: [OTHER, HUB, OTHER] });
        for (const name of CALLERS) {
            peers.push(await connect(name));
        }
    });

    after(async () => {
        await Promise.all(peers.map((peer) => peer.close()));
        await replicas.close();
    });

    test('each answers for the sessions of the others', async () => {
        const sessions = peers.map((peer) => peer.transport.sessionId);
        for (let count = 0; count < CALLS; count += 1) {
            await Promise.all(peers.map((_, i) => call(i, `${i}:${count}`)));
        }
        assert.deepEqual(peers.map((peer) => peer.transport.sessionId), sessions);
    });

    for (const [title, programs] of [
        ['from one version to the other', [HUB, OTHER, HUB]],
        ['and back', [OTHER, HUB, OTHER]],
    ]) {
        test(`a roll ${title} costs a session at most, and no answer is wrong`, async (t) => {
            let isOver = false;
            let lost = 0;
            let right = 0;
            const callers = CALLERS.map(async (name, i) => {
                while (!isOver) {
                    try {
                        await call(i, `${i}:${right}`);
                        right += 1;
                    } catch (error) {
                        // The client of the SDK says a 404 with the words of the hub, or its number.
                        assert.match(`${error.code} ${error.message}`, /404|[Ss]ession/);
                        lost += 1;
                        await peers[i].close().catch(() => {});
                        peers[i] = await connect(name);
                    }
                }
            });
            await Promise.all([replicas.roll(programs).finally(() => (isOver = true)), ...callers]);
            t.diagnostic(`${right} right, ${lost} sessions lost`);
            assert.ok(right > CALLS);
            assert.ok(lost <= 3 * CALLERS.length);
        });
    }
});
