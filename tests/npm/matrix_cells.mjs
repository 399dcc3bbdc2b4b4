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
import { HUB, NODE, PATIENT, PLUGINS, makeFolder, within } from './support.mjs';

export const ALL = { ...FEATURES, ...QUESTIONS };

const fixture = (name) => join(dirname(fileURLToPath(import.meta.url)), 'fixtures', name);

/** Start a server that listens by itself: its entry in the manifest. */
export async function startListening(script, ...args) {
    const child = spawn(NODE, [fixture(script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((done) => child.on('exit', done));
    const line = new Promise((done) => createInterface({ input: child.stdout }).once('line', done));
    const url = await within(line, `the URL of ${script}`);
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

/** Connect a client that starts the hub. */
async function startHub(entry, transport, manifest) {
    const flags = ['--stdio', '--http', '127.0.0.1:0', '--log-level', 'info', '--log-format', 'json'];
    const pipe = transport({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS, ...flags], stderr: 'pipe' });
    const url = new Promise((done) => {
        createInterface({ input: pipe.stderr }).on('line', (line) => {
            const event = line.startsWith('{') ? JSON.parse(line) : entry.noise.push(line);
            if (event.event === 'listen.ready') {
                done(new URL(event.url).origin);
            }
        });
    });
    entry.peer.startedHub = true;
    await entry.peer.connect(pipe);
    await entry.peer.list('tools'); // the server has been started
    entry.url = await within(url, 'the hub to listen');
}

/** Connect all clients, by name: those that start a hub, then the others to the first one's. Who shares a hub has the same
 * `url`; `noise` is what the hub said besides its log, as a sanitizer does. */
export async function connectAll(all, toolsets, answers = {}) {
    const manifest = join(makeFolder(), 'patchbay.json');
    writeFileSync(manifest, JSON.stringify({ toolsets, limits: PATIENT }));
    const kinds = Object.entries(CLIENTS);
    const inOrder = [...kinds.filter(([, one]) => one.spawn), ...kinds.filter(([, one]) => one.open)];
    for (const [name, { Peer, spawn: transport, open }] of inOrder) {
        const entry = { peer: new Peer(answers), noise: [] };
        const [first] = all.values();
        all.set(name, entry);
        if (transport) {
            await startHub(entry, transport, manifest);
        } else {
            entry.url = first.url;
            await entry.peer.connect(open(entry.url));
        }
    }
}

/** End all, those last that hold the hub; nobody may have seen anything that it did not understand. */
export async function closeAll(all) {
    const seen = [...all].map(([name, { peer, noise }]) => ({ name, errors: [...peer.errors], noise }));
    for (const { peer } of [...all.values()].reverse()) {
        await peer.close(); // some report the end of their own streams as an error
    }
    assert.deepEqual(seen, [...all.keys()].map((name) => ({ name, errors: [], noise: [] })));
}

/** `connect` may return the hubs, to be closed after the clients, with a client at each: its `watchers`; `features` are what is tried. */
export function column(name, { title = `server: ${name}`, clients = CLIENTS, features = ALL, connect = connectAll, skip = false } = {}) {
    const { era, isTold = true, start } = UPSTREAMS[name];
    describe(title, { skip }, () => {
        const all = new Map();
        let server;
        let hubs;

        before(async () => {
            server = await start();
            hubs = await connect(all, { fixture: server.entry });
        });
        after(() =>
            closeAll(all)
                .finally(() => hubs?.close())
                .finally(() => server.close()),
        );

        for (const client of Object.keys(clients)) {
            describe(`client: ${client}`, () => {
                for (const [feature, run] of Object.entries(features)) {
                    const no = impossible(feature, CLIENTS[client].era, era);
                    if (no && !no.test) {
                        continue; // the table says why
                    }
                    test(`${client} -> ${name}: ${feature}${no ? ` (impossible: ${no.instead})` : ''}`, () => {
                        const { peer, url } = all.get(client);
                        const others = [...all.values()]
                            .filter((one) => one.url === url && one.peer !== peer)
                            .map((one) => one.peer);
                        const key = `${client}_${feature}`.replaceAll(/\W+/g, '_');
                        const { watchers = [] } = hubs ?? {};
                        return (no?.test ?? run)({ peer, others, hubs: watchers, upstream: era, key, isTold, tool: (tool) => `fixture__${tool}` });
                    });
                }
            });
        }
    });
}
