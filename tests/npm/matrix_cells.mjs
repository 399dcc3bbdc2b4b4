// SPDX-License-Identifier: Apache-2.0
// One column of the matrix: a server behind the hub, and every client at once before it. A stdio client has the hub for a
// child; the first one's hub serves the clients that come over sockets, too.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { CLIENTS } from './matrix_clients.mjs';
import { FEATURES } from './matrix_features.mjs';
import { QUESTIONS } from './matrix_questions.mjs';
import { impossible } from './matrix_table.mjs';
import { HUB, NODE, PLUGINS, makeFolder, within } from './support.mjs';

export const ALL = { ...FEATURES, ...QUESTIONS };

const fixture = (name) => join(dirname(fileURLToPath(import.meta.url)), 'fixtures', name);

/** Start a server that listens by itself: its entry in the manifest. */
export async function startListening(script, ...args) {
    const child = spawn(NODE, [fixture(script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((done) => child.on('exit', done));
    const url = await within(new Promise((done) => createInterface({ input: child.stdout }).once('line', done)), `the URL of ${script}`);
    return {
        entry: { url },
        async close() {
            child.stdin.end();
            await within(ended, `the end of ${script}`);
        },
    };
}

const startsWithHub = (script, ...args) => ({ entry: { command: NODE, args: [fixture(script), ...args] }, close: async () => {} });

/** Further transports come here. `isTold`: a question of the server says which call it is for. */
export const UPSTREAMS = {
    'legacy stdio': { era: 'legacy', isTold: false, start: () => startsWithHub('legacy.mjs', 'stdio') },
    'legacy HTTP': { era: 'legacy', start: () => startListening('legacy.mjs', 'http') },
    'modern stdio': { era: 'modern', start: () => startsWithHub('modern.mjs', 'stdio') },
    'modern HTTP': { era: 'modern', start: () => startListening('modern.mjs', 'http') },
};

/** Connect a client that starts the hub; where the hub listens besides. */
async function startHub({ Peer, spawn: transport }, manifest, answers) {
    const flags = ['--stdio', '--http', '127.0.0.1:0', '--log-level', 'info', '--log-format', 'json'];
    const peer = new Peer(answers);
    peer.startedHub = true;
    const pipe = transport({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS, ...flags], stderr: 'pipe' });
    const noise = []; // what is no line of the log: a sanitizer speaks
    const url = new Promise((done) => {
        createInterface({ input: pipe.stderr }).on('line', (line) => {
            const event = line.startsWith('{') ? JSON.parse(line) : noise.push(line);
            if (event.event === 'listen.ready') {
                done(new URL(event.url).origin);
            }
        });
    });
    await peer.connect(pipe);
    await peer.list('tools'); // the server has been started
    return { peer, noise, url: await within(url, 'the hub to listen') };
}

/** All clients, by name. Those that share a hub have the same `url`. */
export async function connectAll(toolsets, answers = {}) {
    const manifest = join(makeFolder(), 'patchbay.json');
    writeFileSync(manifest, JSON.stringify({ toolsets }));
    const all = new Map();
    for (const [name, client] of Object.entries(CLIENTS).filter(([, one]) => one.spawn)) {
        all.set(name, await startHub(client, manifest, answers));
    }
    const [{ url }] = all.values();
    for (const [name, { Peer, open }] of Object.entries(CLIENTS).filter(([, one]) => one.open)) {
        const peer = new Peer(answers);
        await peer.connect(open(url));
        all.set(name, { peer, url });
    }
    return all;
}

/** End all, those last that hold the hub; nobody may have seen anything that it did not understand. */
export async function closeAll(all) {
    for (const [name, { peer, noise }] of [...all].reverse()) {
        assert.deepEqual(peer.errors, [], name);
        await peer.close(); // some report the end of their own streams as an error
        assert.deepEqual(noise ?? [], [], `the hub of ${name}`);
    }
}

export function column(name) {
    const { era, isTold = true, start } = UPSTREAMS[name];
    describe(`server: ${name}`, () => {
        let server;
        let all;

        before(async () => {
            server = await start();
            all = await connectAll({ fixture: server.entry });
        });
        after(async () => {
            await closeAll(all);
            await server.close();
        });

        for (const client of Object.keys(CLIENTS)) {
            describe(`client: ${client}`, () => {
                for (const [feature, run] of Object.entries(ALL)) {
                    const no = impossible(feature, CLIENTS[client].era, era);
                    if (no && !no.test) {
                        continue; // the table says why
                    }
                    test(`${client} -> ${name}: ${feature}${no ? ` (impossible: ${no.instead})` : ''}`, () => {
                        const { peer, url } = all.get(client);
                        const others = [...all.values()].filter((one) => one.url === url && one.peer !== peer).map((one) => one.peer);
                        const key = `${client}_${feature}`.replaceAll(/\W+/g, '_');
                        return (no?.test ?? run)({ peer, others, upstream: era, key, isTold, tool: (tool) => `fixture__${tool}` });
                    });
                }
            });
        }
    });
}
