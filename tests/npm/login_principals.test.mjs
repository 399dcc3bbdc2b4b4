// SPDX-License-Identifier: Apache-2.0
// credentials: principal, in front of a server of the official SDK with its bearer middleware, and npm oidc-provider: each
// user of the hub logs in with an account of their own, and the server sees that account, whatever is refreshed meanwhile.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { browse, startKindProvider, startServer } from './login_provider.mjs';
import { HUB, PATIENT, PLUGINS, makeFolder, within } from './support.mjs';

const ACCOUNTS = ['ann', 'bob', 'eve'];
const ROUNDS = 20;
const USES = 5; // of one token, then the server refuses it: it is refreshed while calls are made
const folder = makeFolder();

/** What a server has for one account alone. */
const addOwn = (mcp, account) => mcp.registerTool(`only_${account}`, {}, async () => ({ content: [{ type: 'text', text: account }] }));

function startHub(url) {
    const tokens = join(folder, 'tokens.json');
    const bearers = new Map(ACCOUNTS.map((name) => [name, execFileSync(HUB, ['token', 'new', name, '--tokens', tokens], { encoding: 'utf8' }).trim()]));
    const manifest = join(folder, 'hub.json');
    writeFileSync(manifest, JSON.stringify({ listen: [{ http: '127.0.0.1:0' }], auth: { tokens }, toolsets: { docs: { url, credentials: 'principal' } }, limits: PATIENT }));
    const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), HOME: folder };
    const child = spawn(HUB, ['--config', manifest, '--plugins-dir', PLUGINS, '--log-format', 'json'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = new Promise((done) => child.on('exit', done));
    const waiting = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
        const said = line.startsWith('{') ? JSON.parse(line) : {};
        waiting.filter((wait) => wait.is(said)).forEach((wait) => wait.done(said));
    });
    const event = (is, what) => within(new Promise((done) => waiting.push({ is, done })), what);
    return { bearers, event, end: async () => (child.kill('SIGTERM'), assert.equal(await within(ended, 'the end of the hub'), 0)) };
}

const clients = new Map();
let provider;
let server;
let hub;

before(async () => {
    provider = await startKindProvider();
    server = await startServer(provider.issuer, { add: addOwn, uses: USES });
    hub = startHub(server.url);
    const url = new URL((await hub.event((said) => said.event === 'listen.ready', 'the listener')).url);
    for (const account of ACCOUNTS) {
        const client = new Client({ name: 'interoperability', version: '1' });
        const headers = { Authorization: `Bearer ${hub.bearers.get(account)}` };
        await within(client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } })), 'a connection');
        clients.set(account, client);
    }
});

after(async () => {
    for (const client of clients.values()) {
        await client.close();
    }
    await hub.end();
    await server.close();
    await provider.close();
});

const call = (account, name = 'docs__whoami') => within(clients.get(account).callTool({ name, arguments: {} }), `the answer to ${account}`);

test('each is told a link of their own, and logs in', async () => {
    const links = new Set();
    for (const account of ACCOUNTS) {
        const refused = await call(account);
        assert.ok(refused.isError, JSON.stringify(refused));
        const link = /https?:\/\/\S+\/auth\?\S+/.exec(refused.content[0].text)[0];
        links.add(link);
        const token = hub.event((said) => said.event === 'login.token' && said.principal === `token:${account}`, 'the token');
        await browse(link, account);
        await token;
    }
    assert.equal(links.size, ACCOUNTS.length);
});

test('the server sees whose call it is, while tokens are refreshed', async () => {
    for (let round = 0; round < ROUNDS; round++) {
        const answers = await Promise.all(ACCOUNTS.map((account) => call(account)));
        assert.deepEqual(answers.map((answer) => answer.content[0].text), ACCOUNTS);
    }
    for (const account of ACCOUNTS) {
        assert.ok(server.seen.get(account).size >= ROUNDS / USES, `${account} had ${server.seen.get(account).size} tokens`);
    }
});

test('each has the tools that are there for them', async () => {
    for (const account of ACCOUNTS) {
        const { tools } = await within(clients.get(account).listTools(), 'the list');
        assert.deepEqual(tools.map((tool) => tool.name).filter((name) => name.startsWith('docs__')), [`docs__only_${account}`, 'docs__whoami']);
        assert.equal((await call(account, `docs__only_${account}`)).content[0].text, account);
    }
});
