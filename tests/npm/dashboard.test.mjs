// SPDX-License-Identifier: Apache-2.0
// The dashboard in Debian's chromium, on a desk and on a phone: what people do there, with axe-core clean, no report of
// the content security policy, and no request to anywhere else; and what a hostile server, or page, gets from it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { SignJWT, exportJWK, generateKeyPair } from 'jose';

import { NAMES } from './fixtures/hostile_server.mjs';
import { SIZES, beClient, check, launch, logIn as logInAt, open as openPage, picture, view } from './dashboard_browser.mjs';
import { HUB, NODE, PATIENT, PLUGINS, makeFolder, serve } from './support.mjs';

const HOSTILE = fileURLToPath(new URL('fixtures/hostile_server.mjs', import.meta.url));

const folder = makeFolder();
const tokenFile = join(folder, 'tokens.json');

function newToken(name, ...flags) {
    return execFileSync(HUB, ['token', 'new', name, '--tokens', tokenFile, ...flags], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

function manifest() {
    const path = join(folder, 'ui.json');
    const toolsets = {
        time: {},
        dead: { command: '/nonexistent/server' },
        evil: { command: NODE, args: [HOSTILE] },
        names: { command: NODE, args: [HOSTILE, 'names'] },
    };
    const access = { default: 'deny', rules: [{ who: { scopes: ['admin'] }, then: 'allow' }, { tools: { match: ['time:now'] }, then: 'allow' }] };
    writeFileSync(path, JSON.stringify({ hub: { remember: 'none' }, listen: [{ http: '127.0.0.1:0', ui: true }], auth: { tokens: tokenFile, issuers: [{ issuer: people.issuer, audiences: ['people'] }] }, toolsets, access, limits: PATIENT }));
    return path;
}

let browser;
let people;
let server;
let admin;
let own;

const open = (...how) => openPage(browser, server.url, ...how);
const logIn = (page, token) => logInAt(page, server.url, token);

async function ask(path, token, options = {}) {
    return fetch(`${server.url}${path}`, { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } });
}

/** An identity provider whose users are called as they like. */
async function invitePeople() {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const key = { ...(await exportJWK(publicKey)), kid: 'first', alg: 'ES256' };
    const provider = createServer(({ url }, response) => {
        const document = url.endsWith('/keys') ? { keys: [key] } : { issuer: people.issuer, jwks_uri: `${people.issuer}/keys` };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
    });
    await new Promise((done) => provider.listen(0, '127.0.0.1', done));
    const issuer = `http://127.0.0.1:${provider.address().port}`;
    const claim = (sub) => new SignJWT({ sub }).setProtectedHeader({ alg: 'ES256', kid: 'first', typ: 'at+jwt' }).setIssuer(issuer).setAudience('people').setIssuedAt().setExpirationTime('10m').sign(privateKey);
    return { issuer, claim, close: () => provider.close() };
}

before(async () => {
    people = await invitePeople();
    admin = newToken('boss', '--scopes', 'admin');
    own = newToken('guest');
    server = await serve({ command: HUB, args: ['--config', manifest(), '--plugins-dir', PLUGINS], listens: true });
    browser = await launch();
    await beClient(server.url, admin, /attack/);
});

after(async () => {
    await browser?.close();
    await server?.close();
    people?.close();
});

for (const [name, size, scheme] of SIZES) {
    describe(`the dashboard on a ${name}`, () => {
        test('why a server is down', async () => {
            const { page, wrong, close } = await open(size, scheme);
            await logIn(page, admin);
            await page.getByRole('heading', { level: 2 }).waitFor();
            await page.getByRole('table', { name: 'Toolsets' }).getByText('/nonexistent/server').first().waitFor();
            await check(page);
            await picture(page, `dashboard-overview-${name}`);
            await page.getByRole('link', { name: 'dead' }).click();
            await page.getByRole('alert').getByText('/nonexistent/server').waitFor();
            await check(page);
            assert.deepEqual(wrong, []);
            await close();
        });

        test('that the store cannot be used, and that a plugin was refused', async () => {
            const newer = join(folder, `newer-${name}`);
            mkdirSync(newer, { mode: 0o755 });
            writeFileSync(join(newer, 'time.so'), 'This is no library.\n', { mode: 0o644 });
            const path = join(folder, `store-${name}.json`);
            const state = join(folder, 'none.db');
            writeFileSync(state, 'This is no database, and long enough to be seen not to be one.\n'.repeat(100), { mode: 0o600 });
            writeFileSync(path, JSON.stringify({ listen: [{ http: '127.0.0.1:0', ui: true }], auth: { tokens: tokenFile }, toolsets: { time: {} }, state: { path: state } }));
            const hub = await serve({ command: HUB, args: ['--config', path, '--plugins-dir', newer, '--plugins-dir', PLUGINS], listens: true });
            await beClient(hub.url, admin, /now/); // somebody has asked the store
            const { page, wrong, close } = await openPage(browser, hub.url, size, scheme);
            await logInAt(page, hub.url, admin);
            await page.getByRole('alert').getByText(/^The store cannot be used.*none\.db/).waitFor();
            await page.getByRole('table', { name: 'Toolsets' }).getByText(/time\.so was refused: .*stays in use/).waitFor();
            await check(page);
            await page.getByRole('link', { name: 'time' }).click();
            await page.getByRole('alert').getByText(/time\.so was refused: .*stays in use/).waitFor();
            await check(page);
            assert.deepEqual(wrong, []);
            await close();
            await hub.close();
        });

        test('find a tool, and call it', async () => {
            const { page, wrong, close } = await open(size, scheme);
            await logIn(page, admin);
            await view(page, 'Tools');
            await page.getByLabel('Words').fill('time zones convert');
            await page.getByText(/^1 tool;/).waitFor();
            await check(page);
            await page.getByLabel('Words').fill('now');
            await page.getByRole('link', { name: 'time:now' }).click();
            await page.getByRole('heading', { name: 'time:now' }).waitFor();
            assert.equal(await page.getByText('Model APIs may refuse it').count(), 0);
            await check(page);
            await page.getByLabel('zone').fill('Europe/Berlin');
            await page.getByRole('button', { name: 'Call' }).click();
            await page.getByText(/It has answered/).waitFor();
            await page.getByText('Europe/Berlin').first().waitFor();
            await picture(page, `dashboard-tool-${name}`);
            await page.getByLabel('zone').fill('No/Where');
            await page.getByRole('button', { name: 'Call' }).click();
            await page.getByText(/It reports an error/).waitFor();
            await check(page);
            assert.deepEqual(wrong, []);
            await close();
        });

        test('see a call live', async () => {
            const { page, wrong, close } = await open(size, scheme);
            await logIn(page, admin);
            const streams = page.waitForResponse((response) => response.url().endsWith('/api/v1/events'));
            await view(page, 'Live');
            await streams;
            await ask('/api/v1/call', own, { method: 'POST', body: JSON.stringify({ name: 'time__now' }), headers: { 'Content-Type': 'application/json' } });
            const calls = page.getByRole('table', { name: 'Calls' });
            await calls.getByText('token:guest').waitFor();
            await calls.getByText('ok', { exact: true }).waitFor();
            await check(page);
            assert.deepEqual(wrong, []);
            await close();
        });

        test('all by keyboard', async () => {
            const { page, wrong, close } = await open(size, scheme);
            await page.goto(`${server.url}/ui/`);
            await page.getByLabel('Token').waitFor();
            await page.keyboard.type(admin);
            await page.keyboard.press('Enter');
            await page.getByRole('button', { name: 'Log out' }).waitFor();
            await page.getByRole('table', { name: 'Toolsets' }).waitFor();
            await page.getByRole('link', { name: 'Tools', exact: true }).focus();
            await page.keyboard.press('Enter');
            await page.getByLabel('Words').waitFor();
            await page.getByLabel('Words').focus();
            await page.keyboard.insertText('current weekday'); // at once: each key has a list of its own
            await page.getByText(/^1 tool;/).waitFor();
            await page.getByRole('link', { name: 'time:now' }).focus();
            await page.keyboard.press('Enter');
            await page.getByRole('button', { name: 'Call' }).focus();
            await page.keyboard.press('Enter');
            await page.getByText(/It has answered/).waitFor();
            assert.deepEqual(wrong, []);
            await close();
        });
    });
}

describe('who may see what', () => {
    test('somebody without admin sees their own', async () => {
        const { page, wrong, close } = await open(SIZES[0][1]);
        await logIn(page, own);
        const toolsets = page.getByRole('table', { name: 'Toolsets' });
        await toolsets.getByText('time').waitFor();
        assert.equal(await toolsets.getByText('evil').count(), 0);
        assert.equal(await page.getByRole('link', { name: 'Live' }).count(), 0);
        await view(page, 'Tools');
        await page.getByRole('link', { name: 'time:now' }).waitFor();
        assert.equal(await page.getByText('evil').count(), 0);
        await page.goto(`${server.url}/ui/#/toolset/evil`);
        await page.getByRole('alert').getByText(/admin:read/).waitFor();
        assert.deepEqual(wrong, []);
        await close();
    });

    test('a view that was left asks for nothing more', async () => {
        const { page, close } = await open(SIZES[0][1]);
        await page.clock.install();
        let asked = 0;
        let release;
        const held = new Promise((done) => (release = done));
        await page.route('**/api/v1/status', async (route) => {
            asked += 1;
            await held;
            await route.continue();
        });
        await logIn(page, own);
        await view(page, 'Principals');
        await page.getByRole('table', { name: 'Principals' }).waitFor();
        const answered = page.waitForResponse('**/api/v1/status');
        release();
        await (await answered).finished();
        const again = page.waitForResponse('**/api/v1/principals');
        await page.clock.runFor(60_000); // the view that is shown is asked for again
        await again;
        assert.equal(asked, 1);
        await close();
    });

    test('a wrong token', async () => {
        const { page, close } = await open(SIZES[0][1]);
        await page.goto(`${server.url}/ui/`);
        await page.getByLabel('Token').fill('pbt_none_0123456789012345678901234567890123456789012');
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.waitForFunction(() => sessionStorage.length === 0 && document.getElementById('token')?.value === '');
        assert.equal(await page.getByRole('navigation', { name: 'Views' }).getByRole('link').count(), 0);
        await close();
    });

    test('a link is good once, and a session ends with logout', async () => {
        const headers = { 'Content-Type': 'application/json' };
        const { code } = await (await ask('/api/v1/invite', admin, { method: 'POST', body: '{}', headers })).json();
        const { page, wrong, close } = await open(SIZES[0][1]);
        await page.goto(`${server.url}/ui/#code=${code}`);
        await page.getByRole('button', { name: 'Log out' }).waitFor();
        assert.equal(page.url(), `${server.url}/ui/`);
        const secret = await page.evaluate(() => sessionStorage.getItem('patchbay-token'));
        assert.equal((await page.context().cookies()).length, 0);
        assert.equal((await ask('/api/v1/me', secret)).status, 200);
        assert.equal((await ask('/mcp', secret, { method: 'POST', body: '{}', headers })).status, 401, 'it is good for the API alone');
        const again = await fetch(`${server.url}/ui/login`, { method: 'POST', body: JSON.stringify({ code }), headers });
        assert.equal(again.status, 403);
        await page.getByRole('button', { name: 'Log out' }).click();
        await page.getByLabel('Token').waitFor();
        assert.equal((await ask('/api/v1/me', secret)).status, 401);
        assert.deepEqual(wrong, []);
        await close();
    });
});

describe('those who want more', () => {
    test('a hostile server is text', async () => {
        const { page, wrong, close } = await open(SIZES[0][1]);
        await logIn(page, admin);
        await page.goto(`${server.url}/ui/#/toolset/evil`);
        await page.getByRole('heading', { name: 'evil' }).waitFor();
        await page.getByText('window.owned=1').first().waitFor();
        await page.goto(`${server.url}/ui/#/tools?toolset=evil`);
        await page.getByRole('link', { name: 'evil:attack' }).click();
        await page.getByRole('heading', { name: 'evil:attack' }).waitFor();
        const refused = await page.getByRole('row', { name: 'Model APIs may refuse it' }).innerText();
        assert.match(refused, /anyOf, not at the top .*; the argument <\/script>/);
        await page.getByRole('button', { name: 'Call' }).click();
        await page.getByText(/It has answered|It reports an error/).waitFor();
        await view(page, 'Live');
        assert.equal(await page.evaluate(() => window.owned), undefined);
        assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script, main a[href^="javascript"]').length), 0);
        assert.deepEqual(wrong, []);
        await close();
    });

    test('hostile names of people, tools and servers are text', async () => {
        for (const name of NAMES) {
            await beClient(server.url, await people.claim(name), /time__now/);
        }
        for (const [, size, scheme] of SIZES) {
            const { page, wrong, close } = await open(size, scheme);
            await logIn(page, admin);
            for (const [title, path] of [['Principals', 'people'], ['Tools', 'tools?toolset=names'], ['names', 'toolset/names']]) {
                await page.goto(`${server.url}/ui/#/${path}`);
                await page.getByRole('heading', { name: title }).first().waitFor();
                await page.getByText(/left\\u202eright|window\.owned=1/).first().waitFor();
                assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /[\u202e\u2066\u{e0041}]/u);
                await check(page);
            }
            assert.equal(await page.evaluate(() => window.owned), undefined);
            assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script, main [onclick], main a[href^="javascript"]').length), 0);
            assert.deepEqual(wrong, []);
            await close();
        }
    });

    test('a page of another local port', async () => {
        const other = createServer((request, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>other</title>'));
        await new Promise((done) => other.listen(0, '127.0.0.1', done));
        const context = await browser.newContext();
        const victim = await context.newPage();
        await logIn(victim, admin);
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${other.address().port}/`);
        const got = await page.evaluate(async (url) => {
            const told = [];
            for (const [path, options] of [
                ['/api/v1/me', { credentials: 'include' }],
                ['/api/v1/call', { method: 'POST', credentials: 'include', body: '{"name":"time__now"}' }],
                ['/api/v1/call', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'Content-Type': 'text/plain' }, body: '{"name":"time__now"}' }],
            ]) {
                try {
                    const answer = await fetch(url + path, options);
                    told.push(`${answer.type} ${answer.status}`);
                } catch {
                    told.push('nothing');
                }
            }
            const frame = document.createElement('iframe');
            frame.src = `${url}/ui/`;
            const loaded = new Promise((done) => frame.addEventListener('load', done));
            document.body.append(frame);
            await loaded;
            let text = 'nothing';
            try {
                text = frame.contentDocument?.body?.textContent ?? 'nothing';
            } catch {
                text = 'nothing';
            }
            return [...told, text];
        }, server.url);
        assert.ok(got.slice(0, 3).every((one) => one === 'nothing' || one === 'opaque 0' || one.endsWith(' 401') || one.endsWith(' 403')), JSON.stringify(got));
        assert.equal(got[3], 'nothing');
        await context.close();
        other.close();
    });

    test('a name that was rebound', async () => {
        const rebound = await launch('--host-resolver-rules=MAP evil.example 127.0.0.1');
        const page = await rebound.newPage();
        const { port } = new URL(server.url);
        for (const path of ['/ui/', '/ui/app.js', '/api/v1/me']) {
            const answer = await page.goto(`http://evil.example:${port}${path}`);
            assert.equal(answer.status(), 403, path);
        }
        await rebound.close();
    });

    test('what is sent with the pages', async () => {
        const page = await fetch(`${server.url}/ui/`);
        const policy = page.headers.get('content-security-policy');
        for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"]) {
            assert.ok(policy.includes(part), policy);
        }
        assert.ok(!policy.includes('unsafe'), policy);
        assert.equal(page.headers.get('set-cookie'), null);
        const tag = page.headers.get('etag');
        assert.match(tag, /^"[0-9a-f]{64}"$/);
        assert.equal((await fetch(`${server.url}/ui/`, { headers: { 'If-None-Match': tag } })).status, 304);
        assert.equal((await fetch(`${server.url}/ui/none.js`)).status, 404);
    });
});
