// SPDX-License-Identifier: Apache-2.0
// The dashboard in Debian's chromium: pages that note what must not happen, and what is looked at on each.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { TIMEOUT_MS } from './support.mjs';

export const BROWSER = process.env.PATCHBAY_CHROMIUM ?? '/usr/bin/chromium';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SCREENSHOTS = process.env.PATCHBAY_SCREENSHOTS; // a folder that pictures for docs/ go to
export const SIZES = [
    ['desk', { width: 1280, height: 800 }, 'light'],
    ['phone', { width: 360, height: 740 }, 'dark'],
];

export function launch(...flags) {
    return chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-dev-shm-usage', ...flags] });
}

/** A page that notes what must not happen. */
export async function open(browser, url, size, scheme = 'light') {
    const context = await browser.newContext({ viewport: size, colorScheme: scheme });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    const wrong = [];
    page.on('request', (request) => {
        if (new URL(request.url()).origin !== url) {
            wrong.push(`a request to ${request.url()}`);
        }
    });
    page.on('console', (message) => {
        // What the hub refuses is said in the page; the browser's own line about it is no fault.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
            wrong.push(message.text());
        }
    });
    page.on('pageerror', (error) => wrong.push(String(error)));
    await page.exposeFunction('reportPolicy', (text) => wrong.push(`policy: ${text}`));
    await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) => window.reportPolicy(`${event.violatedDirective} ${event.blockedURI}`)));
    return { page, wrong, close: () => context.close() };
}

export async function logIn(page, url, token) {
    await page.goto(`${url}/ui/`);
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
}

/** The rules of axe-core, run beside the page's own scripts. */
async function checkAccess(page) {
    const session = await page.context().newCDPSession(page);
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
    await session.send('Runtime.evaluate', { contextId, expression: AXE });
    const run = "axe.run({ resultTypes: ['violations'] }).then((found) => found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`))";
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { contextId, expression: run, awaitPromise: true, returnByValue: true });
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
    assert.deepEqual(result.value, []);
    await session.detach();
}

async function checkWidth(page) {
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(content <= window, `the page is ${content} wide in ${window}`);
}

export function view(page, name) {
    return page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true }).click();
}

/** Whether everybody can use what is shown, in that width. */
export async function check(page) {
    await checkAccess(page);
    await checkWidth(page);
}

/** A picture for docs/, where they are wanted. */
export async function picture(page, name) {
    if (SCREENSHOTS) {
        await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
    }
}

/** A client that stays, so that servers are wanted. */
export async function beClient(url, token, listed) {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const send = (body, more = {}) => fetch(`${url}/mcp`, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...body }), headers: { Authorization: `Bearer ${token}`, ...headers, ...more } });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const hello = await send({ id: 1, method: 'initialize', params });
    assert.equal(hello.status, 200);
    const session = { 'Mcp-Session-Id': hello.headers.get('mcp-session-id'), 'MCP-Protocol-Version': '2025-11-25' };
    await hello.text();
    await send({ method: 'notifications/initialized' }, session);
    assert.match(await (await send({ id: 2, method: 'tools/list' }, session)).text(), listed);
}
