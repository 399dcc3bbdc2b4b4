// SPDX-License-Identifier: Apache-2.0
// What becomes of a login at npm oidc-provider, whose refresh tokens are good once, while two hubs with one store use it in
// front of a server of the official SDK; who is asked for a login is a user of chromium.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { launch } from './dashboard_browser.mjs';
import { logIn, sayWho, startProvider, startServer, visit, withClock } from './login_provider.mjs';
import { HUB, PATIENT, PLUGINS, makeFolder, signal, within } from './support.mjs';

const AT_ONCE = 10; // calls of one client
const OFF_S = 120;  // a clock
const folder = makeFolder();
const manifest = join(folder, 'hub.json');
const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), HOME: folder, PATH: '/nonexistent' }; // no browser of its own
const robot = generateKeyPairSync('ec', { namedCurve: 'P-256' });

let provider;
let server;
let browser;
let held; // set: the provider keeps who asks for a token waiting, and calls this

/** `patchbay login docs`: the link, and its end. */
function login() {
    const child = spawn(HUB, ['login', 'docs', '--json', '--config', manifest], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const link = new Promise((done) => {
        createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('{') && done(JSON.parse(line).url));
    });
    const ended = new Promise((done) => child.on('exit', (code, killed) => done(code ?? killed)));
    return { link: () => within(link, 'the link'), end: () => within(ended, 'the end of the login'), child };
}

/** A hub, and its client, which also waits for what the hub logs. With `ask` its user can be sent to a link, and logs in there as whoever that says. */
async function startHub(ask) {
    const client = new Client({ name: 'interoperability', version: '1' }, { capabilities: ask ? { elicitation: { url: {} } } : {} });
    if (ask) {
        client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
            await logIn(browser, params.url, ask(params.url));
            return { action: 'accept' };
        });
    }
    const transport = new StdioClientTransport({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS], env, stderr: 'pipe' });
    const lines = new EventEmitter();
    createInterface({ input: transport.stderr }).on('line', (line) => lines.emit(line.split(' ').slice(2, 4).join(' ')));
    client.logs = async (event) => within(once(lines, event), `a hub to log ${event}`);
    await within(client.connect(transport), 'the hub');
    return client;
}

async function call(client, name = 'docs__whoami') {
    const { isError = false, content } = await within(client.callTool({ name, arguments: {} }), 'an answer');
    return { isError, text: content[0].text };
}

const good = (text) => ({ isError: false, text });
const refreshed = () => provider.asked.filter(({ grant_type }) => grant_type === 'refresh_token');
const hubs = [];
let user = 'bob'; // who is at the browser when a call asks for a login
const links = []; // where it was sent to

before(async () => {
    const keys = { keys: [{ ...robot.publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] };
    provider = await startProvider({
        settings: {
            clients: [{ client_id: 'robot', grant_types: ['client_credentials'], redirect_uris: [], response_types: [], token_endpoint_auth_method: 'private_key_jwt', jwks: keys }],
            clientAuthMethods: ['none', 'private_key_jwt'],
        },
        features: { clientCredentials: { enabled: true } },
        handle: (request) => request.url === '/token' && held !== undefined && (held(), true),
    });
    server = await startServer(provider.issuer);
    const auth = {
        grant: 'client_credentials', issuer: provider.issuer, client_id: 'robot',
        private_key: robot.privateKey.export({ format: 'pem', type: 'pkcs8' }),
    };
    writeFileSync(manifest, JSON.stringify({ hub: { remember: 'none' }, toolsets: { docs: { url: server.url }, robot: { url: server.url, auth } }, limits: PATIENT }));
    browser = await launch();
});

after(async () => {
    await Promise.all(hubs.map((hub) => hub.close()));
    await browser?.close();
    await server?.close();
    await provider?.close();
});

test('a hub that is killed between code and token: another login is as good', async () => {
    const first = login();
    const asked = signal();
    held = asked.fire;
    const { page, leave } = await visit(browser, await first.link());
    await sayWho(page, 'ann');
    const clicked = page.getByRole('button', { name: 'Continue' }).click().catch(() => {}); // nobody answers that browser
    await within(asked.fired, 'the hub to ask for a token');
    first.child.kill('SIGKILL');
    assert.equal(await first.end(), 'SIGKILL');
    held = undefined;
    await leave();
    await clicked;
    const second = login();
    await logIn(browser, await second.link(), 'ann');
    assert.equal(await second.end(), 0);
    hubs.push(await startHub((link) => (links.push(link), user)), await startHub());
    for (const hub of hubs) {
        assert.deepEqual(await call(hub), good('ann'));
    }
});

test('a token that is refused is refreshed, each time by the newest refresh token', async () => {
    for (let round = 0; round < 3; round++) {
        server.expire();
        assert.deepEqual(await call(hubs[0]), good('ann'));
    }
    assert.equal(new Set(refreshed().map(({ refresh_token }) => refresh_token)).size, 3);
    assert.deepEqual(provider.revoked, []);
});

test('two hubs at once: one refreshes, and the other uses what it gets', async () => {
    for (let round = 0; round < 3; round++) {
        const before = refreshed().length;
        server.expire();
        const answers = await Promise.all(hubs.flatMap((hub) => Array.from({ length: AT_ONCE }, () => call(hub))));
        assert.deepEqual(answers, Array(2 * AT_ONCE).fill(good('ann')));
        assert.equal(refreshed().length, before + 1);
    }
    assert.deepEqual(provider.revoked, []); // as it would be, had a refresh token come twice
});

for (const [seconds, words] of [[OFF_S, 'behind'], [-OFF_S, 'ahead']]) {
    test(`a hub whose clock is ${words} by 2 minutes: refreshed, and logged in as itself`, () => withClock(seconds, async () => {
        server.expire();
        assert.deepEqual(await call(hubs[0]), good('ann'));
        assert.deepEqual(await call(hubs[1]), good('ann'));
        assert.deepEqual(await call(hubs[0], 'robot__whoami'), good('robot'));
    }));
}

test('a refresh token that is revoked: its user logs in again, and the call goes on', async () => {
    for (const { refresh_token } of refreshed().slice(-1)) {
        const { grantId } = await provider.provider.RefreshToken.find(refresh_token);
        await provider.provider.RefreshToken.revokeByGrantId(grantId);
    }
    server.expire();
    const refused = await call(hubs[1]);
    assert.ok(refused.isError);
    assert.match(refused.text, /wants a login/);
    assert.deepEqual(await call(hubs[1], 'robot__whoami'), good('robot')); // nothing else stops
    const heard = hubs[1].logs('login.token toolset=docs');
    assert.deepEqual(await call(hubs[0]), good('bob'));
    assert.equal(links.length, 1);
    await heard;
    assert.deepEqual(await call(hubs[1]), good('bob'));
});

test('another authorization server: a login there, and nothing of the other one goes to it', async () => {
    const said = [];
    const other = await startProvider({
        handle(request) {
            said.push(JSON.stringify([request.url, request.headers]));
            const emit = request.emit.bind(request);
            request.emit = (name, ...values) => (name === 'data' && said.push(String(values[0])), emit(name, ...values));
            return false;
        },
    });
    server.issuer = other.issuer;
    user = 'eve';
    assert.deepEqual(await call(hubs[0]), good('eve'));
    assert.ok(links.at(-1).startsWith(`${other.issuer}/`), links.at(-1));
    const secrets = [...server.seen.get('bob'), ...refreshed().map(({ refresh_token }) => refresh_token), ...new Set(provider.asked.map(({ client_id }) => client_id))];
    for (const secret of secrets.filter((secret) => secret !== undefined && secret !== 'robot')) {
        assert.ok(!said.join('').includes(secret));
    }
    await other.close();
});

for (const [seconds, words] of [[OFF_S, 'behind'], [-OFF_S, 'ahead']]) {
    test(`a first login with a clock that is ${words} by 2 minutes`, () => withClock(seconds, async () => {
        server.issuer = provider.issuer;
        assert.equal(await new Promise((done) => spawn(HUB, ['login', 'logout', 'docs', '--config', manifest], { env, stdio: 'ignore' }).on('exit', done)), 0);
        server.expire(); // whether the hub has heard of that yet, or not
        user = words;
        assert.deepEqual(await call(hubs[0]), good(words));
    }));
}
