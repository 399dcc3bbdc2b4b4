// SPDX-License-Identifier: Apache-2.0
// What people do in the dashboard, on a desk and on a phone: build a toolset and equip it, approve a definition that has
// changed, read the rule that decides, revoke a token, copy the line for a client, look who is there and what is
// configured. And what those get who have put their texts where these views show them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { SIZES, beClient, check, launch, logIn, open, picture, view } from './dashboard_browser.mjs';
import { EVIL } from './fixtures/hostile_server.mjs';
import { TOOLS } from './fixtures/shop_server.mjs';
import { HUB, NODE, PLUGINS, makeFolder, serve } from './support.mjs';

const fixture = (name) => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));
const folder = makeFolder();
const tokenFile = join(folder, 'tokens.json');
const lockFile = join(folder, 'patchbay.lock');
const digest = `sha256:${'0'.repeat(64)}`; // of no definition

function newToken(name, ...flags) {
    return execFileSync(HUB, ['token', 'new', name, '--tokens', tokenFile, ...flags], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** A lock file in which one tool of each server was something else. */
function writeFiles() {
    const path = join(folder, 'ui.json');
    const shop = { command: NODE, args: [fixture('shop_server')] };
    const toolsets = { time: {}, 'shop-desk': shop, 'shop-phone': shop, 'the-evil': { command: NODE, args: [fixture('hostile_server')] } };
    writeFileSync(path, JSON.stringify({
        hub: { remember: 'none' }, listen: [{ http: '127.0.0.1:0', ui: true }], auth: { tokens: tokenFile }, toolsets,
        policy: { pinned: 'warn' }, log: { audit: join(folder, 'audit.log') },
        access: { default: 'deny', rules: [{ who: { scopes: ['admin'] }, then: 'allow' }, { tools: { match: ['time:*'] }, then: 'allow' }, { tools: { match: ['shop-*:order'] }, then: 'deny', reason: `nobody pays here ${EVIL}` }] },
    }));
    execFileSync(HUB, ['lock', '--config', path, '--plugins-dir', PLUGINS], { stdio: 'ignore' });
    const lock = JSON.parse(readFileSync(lockFile, 'utf8'));
    for (const key of ['shop-desk', 'shop-phone']) {
        lock.toolsets[key].tools.order = { digest, definition: { ...TOOLS[1], description: 'Orders an article.' } };
    }
    lock.toolsets['the-evil'].tools.attack = { digest, definition: { name: 'attack', description: `before ${EVIL}`, inputSchema: { type: 'object' } } };
    writeFileSync(lockFile, JSON.stringify(lock));
    writeFileSync(path, readFileSync(path, 'utf8').replace('"warn"', '"withhold"'));
    return path;
}

let browser;
let server;
let admin;
let guest;

async function ask(path, token, method = 'GET', body = undefined) {
    const answer = await fetch(`${server.url}/api/v1${path}`, { method, body: body && JSON.stringify(body), headers: { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) } });
    assert.equal(answer.status, 200, `${method} ${path}: ${await answer.clone().text()}`);
    return answer.json();
}

/** Wait until the call of a tool is in the audit: it is written by a thread of its own, after the answer. */
async function recorded(name) {
    const deadline = Date.now() + 120_000;
    while (!(await ask('/audit', admin)).records.some((one) => one.name === name)) {
        assert.ok(Date.now() < deadline, `${name} is not recorded`);
    }
}

before(async () => {
    admin = newToken('boss', '--scopes', 'admin');
    guest = newToken('guest');
    for (const [name] of SIZES) {
        newToken(`old-${name}`);
    }
    server = await serve({ command: HUB, args: ['--config', writeFiles(), '--plugins-dir', PLUGINS], listens: true });
    await beClient(server.url, admin, /shop-phone__track/);
    browser = await launch();
});

after(async () => {
    await browser?.close();
    await server?.close();
});

for (const [name, size, scheme] of SIZES) {
    describe(`in the dashboard on a ${name}`, () => {
        async function visit(title, token = admin) {
            const { page, wrong, close } = await open(browser, server.url, size, scheme);
            await logIn(page, server.url, token);
            await view(page, title);
            await page.getByRole('heading', { level: 2 }).waitFor();
            return { page, done: async () => { assert.deepEqual(wrong, []); await close(); } };
        }

        test('build a toolset, and equip it', async () => {
            const { page, done } = await visit('Saved');
            await check(page);
            await page.getByRole('link', { name: 'Build one' }).click();
            await page.getByLabel('Name', { exact: true }).fill(`kit-${name}`);
            await page.getByLabel('What it is for').fill('What one needs every day');
            await page.getByLabel('Find tools').fill('parcel');
            await page.getByRole('group', { name: `shop-${name}` }).getByLabel(/^track/).check();
            await page.getByLabel('Find tools').fill('');
            await page.getByRole('group', { name: 'time' }).getByLabel(/^now/).check();
            await page.getByText(/^2 tools, about \d+ tokens/).waitFor();
            await check(page);
            await page.evaluate(() => scrollTo(0, 0));
            await picture(page, `dashboard-build-${name}`);
            await page.getByRole('button', { name: 'Save' }).click();
            await page.getByRole('heading', { name: `kit-${name}` }).waitFor();
            await page.getByRole('table', { name: 'Tools' }).getByText('as it was saved').first().waitFor();
            await page.getByRole('button', { name: 'Equip' }).click();
            await page.getByRole('button', { name: 'Unequip' }).waitFor();
            await check(page);
            const shown = await ask('/tools', admin);
            assert.deepEqual(shown.tools.filter((one) => one.name).map((one) => one.id).sort(), [`shop-${name}:track`, 'time:now']);
            await page.getByRole('button', { name: 'Compare' }).click();
            await page.getByText('No difference.').waitFor();
            await page.getByRole('button', { name: 'Unequip' }).click();
            await page.getByRole('button', { name: 'Equip', exact: true }).waitFor();
            await page.getByRole('link', { name: 'Edit' }).click();
            await page.getByRole('group', { name: `shop-${name}` }).getByLabel(/^find/).check();
            await page.getByRole('button', { name: 'Save' }).click();
            await page.getByRole('link', { name: `shop-${name}:find` }).waitFor();
            await page.getByRole('button', { name: 'Delete' }).click();
            await page.getByRole('heading', { name: 'Saved toolsets' }).waitFor();
            await page.getByText('There is none yet.').waitFor();
            await done();
        });

        test('approve a definition that has changed', async () => {
            const { page, done } = await visit('Approvals');
            const card = page.locator('section', { hasText: `shop-${name}:order` });
            await card.getByText('has changed, and is kept from clients').waitFor();
            await card.getByText('Orders an article, and pays with the card on file.').waitFor();
            await check(page);
            await picture(page, `dashboard-approvals-${name}`);
            await card.getByRole('button', { name: `Approve shop-${name}:order` }).click();
            await page.getByText(`Approve shop-${name}:order: done.`).waitFor();
            await card.waitFor({ state: 'detached' });
            const lock = JSON.parse(readFileSync(lockFile, 'utf8'));
            assert.notEqual(lock.toolsets[`shop-${name}`].tools.order.digest, digest);
            await done();
        });

        test('read the rule that decides', async () => {
            const { page, done } = await visit('Tools');
            await page.getByLabel('Words').fill(`shop-${name} order`);
            await page.getByRole('link', { name: 'time:now' }).waitFor({ state: 'detached' }); // another list is about to come
            await page.getByRole('link', { name: `shop-${name}:order` }).click();
            await page.getByRole('heading', { name: 'The rule that decides' }).waitFor();
            await page.getByText('allow', { exact: true }).waitFor();
            await page.getByLabel('For whom').fill('token:guest');
            await page.getByRole('button', { name: 'Explain' }).click();
            await page.getByText('deny', { exact: true }).waitFor();
            await page.getByText(/nobody pays here/).waitFor();
            await check(page);
            await done();
        });

        test('revoke a token', async () => {
            const { page, done } = await visit('Tokens');
            await page.getByRole('button', { name: `Revoke old-${name}` }).click();
            await page.locator('td', { hasText: `old-${name}` }).waitFor({ state: 'detached' });
            await check(page);
            await page.getByText('Make a token').click();
            await page.getByLabel('Whose it is').fill(`new-${name}`);
            await page.getByRole('button', { name: 'Make', exact: true }).click();
            await page.getByText(/^pbt_/).waitFor();
            await check(page);
            const names = (await ask('/tokens', admin)).tokens.map((one) => one.name);
            assert.ok(names.includes(`new-${name}`) && !names.includes(`old-${name}`), names.join());
            await done();
        });

        test('copy the line for Claude Code', async () => {
            const { page, done } = await visit('Connect');
            await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
            await page.getByRole('button', { name: 'Copy the set-up of Claude Code' }).click();
            await page.getByText('Copied: Claude Code.').waitFor();
            const line = await page.evaluate(() => navigator.clipboard.readText());
            assert.equal(line, `claude mcp add --transport http patchbay ${server.url}/mcp --header "Authorization: Bearer YOUR_TOKEN"`);
            await check(page);
            await done();
        });

        test('who is there, what is configured, what was recorded', async () => {
            const { page, done } = await visit('Principals');
            await page.getByRole('table', { name: 'Principals' }).getByText('token:boss').waitFor();
            await check(page);
            await view(page, 'Configuration');
            await page.getByText('Nothing: the files are as the hub has read them.').waitFor();
            await page.getByRole('table', { name: 'Limits' }).waitFor();
            await check(page);
            await ask('/call', admin, 'POST', { name: 'time__now' });
            await recorded('now');
            await view(page, 'Audit');
            await page.getByRole('table', { name: 'Records' }).getByText('time:now').first().waitFor();
            await check(page);
            await done();
        });
    });
}

describe('those without a right, and those who want more', () => {
    test('somebody without admin is offered their own views', async () => {
        const { page, wrong, close } = await open(browser, server.url, SIZES[0][1]);
        await logIn(page, server.url, guest);
        const titles = await page.getByRole('navigation', { name: 'Views' }).getByRole('link').allTextContents();
        assert.deepEqual(titles, ['Overview', 'Tools', 'Saved', 'Logins', 'Principals', 'Connect']);
        await view(page, 'Principals');
        await page.getByRole('table', { name: 'Principals' }).getByText('token:guest').waitFor();
        assert.equal(await page.getByText('token:boss').count(), 0);
        assert.deepEqual(wrong, []);
        await close();
    });

    test('hostile texts in differences, reasons, saved toolsets and the audit are text', async () => {
        await ask('/saved', admin, 'POST', { name: 'bad', description: EVIL.slice(0, 200), tools: ['time:now'], replace: true });
        const { page, wrong, close } = await open(browser, server.url, SIZES[0][1]);
        await logIn(page, server.url, admin);
        await view(page, 'Approvals');
        await page.getByText('It holds what a reader does not see as it is').waitFor();
        await page.getByText(/before <\/script>/).first().waitFor();
        for (const [title, text] of [['Saved', 'bad'], ['Audit', 'time:now'], ['Configuration', 'nobody pays here']]) {
            await view(page, title);
            await page.getByText(text).first().waitFor();
        }
        await page.goto(`${server.url}/ui/#/toolbox/bad`);
        await page.getByRole('heading', { name: 'bad' }).waitFor();
        for (const path of ['tool', 'toolbox', 'build', 'toolset']) {
            await page.goto(`${server.url}/ui/#/${path}/${encodeURIComponent(EVIL)}`);
            await page.getByRole('alert').waitFor();
        }
        assert.equal(await page.evaluate(() => window.owned), undefined);
        assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script, main a[href^="javascript"]').length), 0);
        assert.deepEqual(wrong, []);
        await close();
    });

    test('after logout the same page gets nothing', async () => {
        const { page, wrong, close } = await open(browser, server.url, SIZES[0][1]);
        const { code } = await ask('/invite', admin, 'POST', {});
        await page.goto(`${server.url}/ui/#code=${code}`);
        await page.getByRole('button', { name: 'Log out' }).waitFor();
        const secret = await page.evaluate(() => sessionStorage.getItem('patchbay-token'));
        await page.getByRole('button', { name: 'Log out' }).click();
        await page.getByLabel('Token').waitFor();
        for (const path of ['/tokens', '/approvals', '/configuration', '/principals', '/saved', '/audit']) {
            const answer = await fetch(`${server.url}/api/v1${path}`, { headers: { Authorization: `Bearer ${secret}` } });
            assert.equal(answer.status, 401, path);
        }
        await page.goBack();
        assert.equal(await page.getByRole('table').count(), 0);
        assert.deepEqual(wrong, []);
        await close();
    });
});
