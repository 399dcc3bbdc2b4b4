// SPDX-License-Identifier: Apache-2.0
// `patchbay login` to a server of the official SDK with its bearer middleware, at the login page of npm oidc-provider, in
// chromium: a first login, a user who says no, a browser that is closed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { launch } from './dashboard_browser.mjs';
import { logIn, sayWho, startProvider, startServer, visit } from './login_provider.mjs';
import { HUB, PLUGINS, makeFolder, within } from './support.mjs';

const folder = makeFolder();
const manifest = join(folder, 'hub.json');
const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), HOME: folder, PATH: '/nonexistent' }; // no browser of its own

/** A command of the hub's: what it writes, line by line, and how it ends. */
function run(...words) {
    const child = spawn(HUB, [...words, '--config', manifest, ...(words[0] === 'call' ? ['--plugins-dir', PLUGINS] : [])], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stderr.on('data', (data) => (err += data));
    const link = new Promise((done) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
            out += `${line}\n`;
            if (line.startsWith('{') && JSON.parse(line).url) {
                done(JSON.parse(line).url);
            }
        });
    });
    const ended = new Promise((done) => child.on('close', (code) => done({ code, out, err })));
    return { link: () => within(link, 'the link'), end: () => within(ended, 'the end of the command'), child };
}

let provider;
let server;
let browser;

before(async () => {
    provider = await startProvider();
    server = await startServer(provider.issuer);
    writeFileSync(manifest, JSON.stringify({ toolsets: { docs: { url: server.url } } }));
    browser = await launch();
});

after(async () => {
    await browser?.close();
    await server?.close();
    await provider?.close();
});

test('a user who says no', async () => {
    const login = run('login', 'docs', '--json');
    const { page, leave } = await visit(browser, await login.link());
    await sayWho(page, 'ann');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByText('The login has not worked').waitFor();
    const { code, err } = await login.end();
    assert.equal(code, 5, err);
    assert.match(err, /the user said no/);
    await leave();
});

test('a browser that is closed: the same link is good in another one', async () => {
    const login = run('login', 'docs', '--json');
    const link = await login.link();
    const first = await visit(browser, link);
    await sayWho(first.page, 'ann');
    await first.leave();
    await logIn(browser, link, 'bob');
    assert.equal((await login.end()).code, 0);
});

test('the server sees who has logged in', async () => {
    const { code, out, err } = await run('call', 'docs__whoami').end();
    assert.equal(code, 0, err);
    assert.match(out, /bob/);
});

test('a login that is ended is revoked, and another one can be made', async () => {
    assert.equal((await run('login', 'logout', 'docs').end()).code, 0);
    assert.equal(provider.revoked.length, 1);
    assert.equal((await run('call', 'docs__whoami').end()).code, 6);
    const login = run('login', 'docs', '--json');
    await logIn(browser, await login.link(), 'eve');
    assert.equal((await login.end()).code, 0);
    assert.match((await run('call', 'docs__whoami').end()).out, /eve/);
});
