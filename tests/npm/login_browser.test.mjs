// SPDX-License-Identifier: Apache-2.0
// `patchbay login` to a server of the official SDK with its bearer middleware, at the login page of npm oidc-provider, in
// chromium: a first login, a user who says no, a browser that is closed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import Provider from 'oidc-provider';

import { launch } from './dashboard_browser.mjs';
import { HUB, PLUGINS, TIMEOUT_MS, makeFolder, within } from './support.mjs';

const folder = makeFolder();
const manifest = join(folder, 'hub.json');
const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), HOME: folder, PATH: '/nonexistent' }; // no browser of its own

async function listen(server) {
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${server.address().port}`;
}

const close = (server) => new Promise((done) => (server.closeAllConnections(), server.close(done)));

/** A provider with pages of its own: a form for the name, and a question whether the client may. */
async function startProvider() {
    const server = createServer();
    const issuer = await listen(server);
    const provider = new Provider(issuer, {
        scopes: ['openid', 'offline_access', 'mcp'],
        clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
        features: {
            devInteractions: { enabled: true },
            registration: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo: (ctx, resource) => ({ scope: 'mcp', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
                useGrantedResource: () => true,
            },
        },
        findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    });
    server.on('request', provider.callback());
    return { issuer, close: () => close(server) };
}

async function startServer(issuer) {
    const app = express();
    const server = createServer(app);
    const origin = await listen(server);
    const url = `${origin}/mcp`;
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const verifier = {
        async verifyAccessToken(token) {
            const { payload } = await jwtVerify(token, keys, { issuer, audience: url }).catch(() => {
                throw new InvalidTokenError('not one of ours');
            });
            return { token, clientId: payload.client_id, scopes: payload.scope.split(' '), expiresAt: payload.exp, extra: { account: payload.sub } };
        },
    };
    app.use(express.json());
    app.get('/.well-known/oauth-protected-resource/mcp', (request, response) => response.json({ resource: url, authorization_servers: [issuer], scopes_supported: ['mcp'] }));
    app.post('/mcp', requireBearerAuth({ verifier, requiredScopes: ['mcp'], resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource/mcp` }), async (request, response) => {
        const mcp = new McpServer({ name: 'accounts', version: '1' });
        mcp.registerTool('whoami', {}, async (extra) => ({ content: [{ type: 'text', text: extra.authInfo.extra.account }] }));
        const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
        response.on('close', () => mcp.close());
        await mcp.connect(transport);
        await transport.handleRequest(request, response, request.body);
    });
    app.all('/mcp', (request, response) => response.status(405).end());
    return { url, close: () => close(server) };
}

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

async function visit(link) {
    const context = await browser.newContext();
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByPlaceholder('Enter any login').waitFor();
    return { page, leave: () => context.close() };
}

async function sayWho(page, name) {
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).waitFor();
}

test('a user who says no', async () => {
    const login = run('login', 'docs', '--json');
    const { page, leave } = await visit(await login.link());
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
    const first = await visit(link);
    await sayWho(first.page, 'ann');
    await first.leave();
    const second = await visit(link);
    await sayWho(second.page, 'bob');
    await second.page.getByRole('button', { name: 'Continue' }).click();
    await second.page.getByText('The login is done').waitFor();
    await second.leave();
    assert.equal((await login.end()).code, 0);
});

test('the server sees who has logged in', async () => {
    const { code, out, err } = await run('call', 'docs__whoami').end();
    assert.equal(code, 0, err);
    assert.match(out, /bob/);
});

test('a login that is ended is revoked, and another one can be made', async () => {
    assert.equal((await run('login', 'logout', 'docs').end()).code, 0);
    assert.equal((await run('call', 'docs__whoami').end()).code, 6);
    const login = run('login', 'docs', '--json');
    const { page, leave } = await visit(await login.link());
    await sayWho(page, 'eve');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The login is done').waitFor();
    await leave();
    assert.equal((await login.end()).code, 0);
    assert.match((await run('call', 'docs__whoami').end()).out, /eve/);
});
