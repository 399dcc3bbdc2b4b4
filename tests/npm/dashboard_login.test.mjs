// SPDX-License-Identifier: Apache-2.0
// Logging the hub in to a server from the dashboard, on a desk and on a phone: the page of the authorization server is
// opened in a tab of its own, and comes back to the hub.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { SIZES, check, launch, logIn, open, view } from './dashboard_browser.mjs';
import { startLoginServer } from './fixtures/login_server.mjs';
import { HUB, PLUGINS, makeFolder, serve } from './support.mjs';

const folder = makeFolder();
const tokenFile = join(folder, 'tokens.json');

let browser;
let server;
let mail;
let admin;

before(async () => {
    admin = execFileSync(HUB, ['token', 'new', 'boss', '--tokens', tokenFile, '--scopes', 'admin'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    mail = await startLoginServer();
    const key = join(folder, 'state.key');
    writeFileSync(key, `${'5a'.repeat(32)}\n`, { mode: 0o600 });
    const manifest = join(folder, 'ui.json');
    writeFileSync(manifest, JSON.stringify({ state: { key }, listen: [{ http: '127.0.0.1:0', ui: true }], auth: { tokens: tokenFile }, toolsets: { mail: { url: mail.url }, time: {} } }));
    server = await serve({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS], listens: true });
    browser = await launch();
});

after(async () => {
    await browser?.close();
    await server?.close();
    await mail?.close();
});

for (const [name, size, scheme] of SIZES) {
    describe(`in the dashboard on a ${name}`, () => {
        test('log in to a server, and out again', async () => {
            const { page, wrong, close } = await open(browser, server.url, size, scheme);
            await logIn(page, server.url, admin);
            await view(page, 'Logins');
            await page.getByText('The hub is logged in nowhere.').waitFor();
            await check(page);
            await page.getByLabel('To the server of').selectOption('mail');
            await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
            const link = page.getByRole('link', { name: 'Open the page that logs in to mail' });
            await link.waitFor();
            await check(page);
            const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
            assert.equal(await tab.evaluate(() => window.opener), null);
            await tab.getByRole('link', { name: 'Yes, it may' }).click();
            await tab.getByText('The login is done').waitFor();
            await tab.close();
            await view(page, 'Overview');
            await view(page, 'Logins');
            await page.getByRole('table', { name: 'Logins' }).getByText('logged in', { exact: true }).waitFor();
            await check(page);
            await page.getByRole('button', { name: 'Log out of mail' }).click();
            await page.getByText('The hub is logged in nowhere.').waitFor();
            assert.deepEqual(wrong, []);
            await close();
        });
    });
}
