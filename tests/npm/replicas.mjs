// SPDX-License-Identifier: Apache-2.0
// Three hubs with one store behind haproxy, round robin without stickiness (docs/SCALE.md).

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

import { HUB, PATIENT, PLUGINS, makeFolder, serve, within } from './support.mjs';

const onPath = (...names) =>
    (process.env.PATH ?? '')
        .split(delimiter)
        .concat('/usr/sbin')
        .flatMap((folder) => names.map((name) => join(folder, name)))
        .find(existsSync);
const STORE = onPath('valkey-server', 'redis-server');
const HAPROXY = onPath('haproxy');
const COUNT = 3;
const LIMITS = { ...PATIENT, drain_timeout: '100s' }; // nobody is cut off because a server starts slowly

/** What is missing to start them, or undefined. */
export const missing = (!STORE && 'a Valkey or Redis server') || (!HAPROXY && 'haproxy') || undefined;

async function startStore(folder) {
    const path = join(folder, 'store.sock');
    const child = spawn(STORE, ['--port', '0', '--save', '', '--appendonly', 'no', '--unixsocket', path], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const isReady = new Promise((done) => createInterface({ input: child.stdout }).on('line', (line) => line.includes('eady to accept') && done()));
    await within(isReady, 'the store');
    return { url: `valkey+unix://${path}`, close: () => child.kill('SIGKILL') };
}

/** The balancer has its socket from here: nobody else can take its port. */
async function startBalancer(folder, urls) {
    const socket = createServer();
    await new Promise((done) => socket.listen(0, '127.0.0.1', done));
    const { port } = socket.address();
    const servers = urls.map((url, i) => `    server hub${i} ${new URL(url).host} check inter 100 rise 1 fall 1`);
    const config = `defaults
    mode http
    option abortonclose
    option redispatch
    timeout connect 30s
    timeout check 60s
    timeout client 300s
    timeout server 300s
    timeout tunnel 300s
frontend front
    bind fd@3
    default_backend back
backend back
    balance roundrobin
    option httpchk GET /readyz
${servers.join('\n')}
`;
    writeFileSync(join(folder, 'haproxy.cfg'), config);
    const child = spawn(HAPROXY, ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: ['ignore', 'ignore', 'ignore', socket._handle.fd] });
    await new Promise((done) => child.once('spawn', done));
    socket.close();
    return { url: `http://127.0.0.1:${port}`, close: () => child.kill('SIGKILL') };
}

/** Start them all: the balancer's url, without path, and each hub's; ways to restart them, and to end them. `hub`: more keys of
    that section of the manifest. `programs`: of each replica, where it is another one. */
export async function startReplicas(toolsets, { leave = '0s', hub = {}, programs = [] } = {}) {
    const folder = makeFolder();
    const keys = join(folder, 'replicas.key');
    writeFileSync(keys, randomBytes(32).toString('hex'), { mode: 0o600 });
    const store = await startStore(folder);
    const net = `127.${1 + randomBytes(1)[0] % 250}.${randomBytes(1)[0]}`; // nobody else listens there
    const hubs = [];
    const start = async (i) => {
        const manifest = join(folder, `replica${i}.json`);
        const listen = [{ http: `${net}.${i + 1}:8787`, hosts: ['127.0.0.1', 'localhost', `${net}.${i + 1}`] }];
        const replicas = { key_file: keys, count: COUNT, listen: `${net}.${i + 1}:8790`, peers: ['127.0.0.0/8'], leave };
        writeFileSync(manifest, JSON.stringify({ hub: { name: 'matrix', ...hub }, state: { url: store.url }, listen, toolsets, replicas, limits: LIMITS }));
        const command = programs[i] ?? HUB;
        const plugins = command === HUB ? PLUGINS : join(dirname(command), '..', 'plugins');
        hubs[i] = await serve({ command, args: ['--config', manifest, '--plugins-dir', plugins], listens: true });
    };
    for (let i = 0; i < COUNT; i += 1) {
        await start(i);
    }
    const balancer = await startBalancer(folder, hubs.map(({ url }) => url));
    return {
        url: balancer.url,
        each: hubs.map(({ url }) => url),
        /** Restart them, one after the other; `others`: the programs that they are from then on. */
        async roll(others = programs) {
            programs = others;
            for (let i = 0; i < COUNT; i += 1) {
                await hubs[i].close();
                await start(i);
            }
        },
        async close() {
            balancer.close();
            await Promise.all(hubs.map((hub) => hub.close()));
            store.close();
        },
    };
}
