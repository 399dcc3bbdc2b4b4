// SPDX-License-Identifier: Apache-2.0
// credentials: principal, in front of a server of the official SDK with its bearer middleware, and npm oidc-provider: each
// user of the hub logs in with an account of their own, and the server sees that account, whatever is refreshed meanwhile.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import Provider from 'oidc-provider';

import { HUB, PATIENT, PLUGINS, makeFolder, within } from './support.mjs';

const ACCOUNTS = ['ann', 'bob', 'eve'];
const ROUNDS = 20;
const USES = 5; // of one token, then the server refuses it: it is refreshed while calls are made
const folder = makeFolder();

async function listen(server) {
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${server.address().port}`;
}

const close = (server) => new Promise((done) => (server.closeAllConnections(), server.close(done)));

/** A provider: the cookie `account` says who is at the browser, and the user says yes to everything. */
async function startProvider() {
    const server = createServer();
    const issuer = await listen(server);
    const provider = new Provider(issuer, {
        scopes: ['openid', 'offline_access', 'mcp'],
        clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
        issueRefreshToken: async () => true,
        features: {
            devInteractions: { enabled: false },
            registration: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo: (ctx, resource) => ({ scope: 'mcp', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
                useGrantedResource: () => true,
            },
        },
        interactions: { url: (ctx, { uid }) => `/login/${uid}` },
        async loadExistingGrant(ctx) {
            const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
            grant.addOIDCScope(`openid offline_access ${ctx.oidc.params.scope ?? ''}`);
            for (const resource of [ctx.oidc.params.resource].flat().filter(Boolean)) {
                grant.addResourceScope(resource, ctx.oidc.params.scope ?? 'mcp');
            }
            await grant.save();
            return grant;
        },
        findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    });
    const serve = provider.callback();
    server.on('request', (request, response) => {
        if (request.url.startsWith('/login/')) {
            const account = /account=(\w+)/.exec(request.headers.cookie)[1];
            provider.interactionFinished(request, response, { login: { accountId: account }, consent: {} }, { mergeWithLastSubmission: false });
        } else {
            serve(request, response);
        }
    });
    return { issuer, close: () => close(server) };
}

/** A server of the SDK behind its bearer middleware: what it does depends on whose token comes with the request. */
async function startServer(issuer) {
    const app = express();
    const server = createServer(app);
    const origin = await listen(server);
    const url = `${origin}/mcp`;
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const seen = new Map(); // account -> tokens
    const uses = new Map(); // token -> how often it came
    const verifier = {
        async verifyAccessToken(token) {
            const { payload } = await jwtVerify(token, keys, { issuer, audience: url }).catch(() => {
                throw new InvalidTokenError('not one of ours');
            });
            uses.set(token, (uses.get(token) ?? 0) + 1);
            if (uses.get(token) > USES) {
                throw new InvalidTokenError('used too often');
            }
            seen.set(payload.sub, (seen.get(payload.sub) ?? new Set()).add(token));
            return { token, clientId: payload.client_id, scopes: payload.scope.split(' '), expiresAt: payload.exp, extra: { account: payload.sub } };
        },
    };
    app.use(express.json());
    app.get('/.well-known/oauth-protected-resource/mcp', (request, response) => response.json({ resource: url, authorization_servers: [issuer], scopes_supported: ['mcp'] }));
    const bearer = requireBearerAuth({ verifier, requiredScopes: ['mcp'], resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource/mcp` });
    app.post('/mcp', bearer, async (request, response) => {
        const account = request.auth.extra.account;
        const mcp = new McpServer({ name: 'accounts', version: '1' });
        mcp.registerTool('whoami', {}, async (extra) => ({ content: [{ type: 'text', text: extra.authInfo.extra.account }] }));
        mcp.registerTool(`only_${account}`, {}, async () => ({ content: [{ type: 'text', text: account }] }));
        const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
        response.on('close', () => mcp.close());
        await mcp.connect(transport);
        await transport.handleRequest(request, response, request.body);
    });
    app.all('/mcp', (request, response) => response.status(405).end());
    return { url, seen, close: () => close(server) };
}

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

/** Do as the browser of an account does: to the end of the redirects. */
async function browse(url, account) {
    const cookies = new Map([['account', account]]);
    let at = new URL(url);
    for (let hop = 0; hop < 10; hop++) {
        const response = await fetch(at, { redirect: 'manual', headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') } });
        for (const line of response.headers.getSetCookie()) {
            const [name, ...value] = line.split(';')[0].split('=');
            cookies.set(name, value.join('='));
        }
        const next = response.headers.get('location');
        if (next === null) {
            assert.equal(response.status, 200, `${at}: ${await response.text()}`);
            return;
        }
        at = new URL(next, at);
    }
    throw new Error('too many redirects');
}

const clients = new Map();
let provider;
let server;
let hub;

before(async () => {
    provider = await startProvider();
    server = await startServer(provider.issuer);
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
