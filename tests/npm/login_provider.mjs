// SPDX-License-Identifier: Apache-2.0
// What hubs log in to in these tests, in the process of a test: npm oidc-provider, whose pages a browser is shown, and a
// server of the official SDK behind its bearer middleware, which sees whose token comes.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';

import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import Provider from 'oidc-provider';

import { TIMEOUT_MS } from './support.mjs';

async function listen(server) {
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${server.address().port}`;
}

const close = (server) => new Promise((done) => (server.closeAllConnections(), server.close(done)));

/** A provider; each refresh token is good once, and the second use of one ends all that came of its login. Options:
 * `settings` and `features` of its own, `handle` for requests that the provider is not to see (it says whether it has
 * taken one). `asked` has what was asked for each token that was given, `revoked` the logins that have been ended. */
export async function startProvider({ settings = {}, features = {}, handle = () => false } = {}) {
    const server = createServer();
    const issuer = await listen(server);
    const provider = new Provider(issuer, {
        scopes: ['openid', 'offline_access', 'mcp'],
        clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
        issueRefreshToken: async () => true,
        rotateRefreshToken: true,
        features: {
            devInteractions: { enabled: true },
            registration: { enabled: true },
            revocation: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo: (ctx, resource) => ({ scope: 'mcp', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
                useGrantedResource: () => true,
            },
            ...features,
        },
        findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
        ...settings,
    });
    const asked = [];
    provider.on('grant.success', (ctx) => asked.push({ ...ctx.oidc.params }));
    const revoked = [];
    provider.on('grant.revoked', (ctx, id) => revoked.push(id));
    const serve = provider.callback();
    server.on('request', (request, response) => handle(request, response, provider) || serve(request, response));
    return { issuer, provider, asked, revoked, close: () => close(server) };
}

/** A provider: the cookie `account` says who is at the browser, and the user says yes to everything. */
export function startKindProvider({ settings = {}, features = {} } = {}) {
    return startProvider({
        settings: {
            ...settings,
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
        },
        features: { ...features, devInteractions: { enabled: false } },
        handle(request, response, provider) {
            if (!request.url.startsWith('/login/')) {
                return false;
            }
            const account = /account=(\w+)/.exec(request.headers.cookie)[1];
            provider.interactionFinished(request, response, { login: { accountId: account }, consent: {} }, { mergeWithLastSubmission: false });
            return true;
        },
    });
}

/** A server whose tool `whoami` says whose token has come. Options: `add(mcp, account)` for more tools, `uses`: how often
 * one token is good. `issuer` may be set: where it is logged in to. `seen` has the tokens of each account. */
export async function startServer(issuer, { add = () => {}, uses = Infinity } = {}) {
    const app = express();
    const server = createServer(app);
    const origin = await listen(server);
    const url = `${origin}/mcp`;
    const made = { url, issuer, seen: new Map(), close: () => close(server) };
    const used = new Map(); // tokens, to how often they came
    /** No token that has come so far is good any more. */
    made.expire = () => used.forEach((_, token) => used.set(token, Infinity));
    const keys = new Map(); // by issuer
    const keysOf = (at) => keys.get(at) ?? keys.set(at, createRemoteJWKSet(new URL(`${at}/jwks`))).get(at);
    const verifier = {
        async verifyAccessToken(token) {
            const { payload } = await jwtVerify(token, keysOf(made.issuer), { issuer: made.issuer, audience: url }).catch(() => {
                throw new InvalidTokenError('not one of ours');
            });
            used.set(token, (used.get(token) ?? 0) + 1);
            if (used.get(token) > uses || used.get(token) === Infinity) {
                throw new InvalidTokenError('used too often');
            }
            made.seen.set(payload.sub, (made.seen.get(payload.sub) ?? new Set()).add(token));
            return { token, clientId: payload.client_id, scopes: payload.scope.split(' '), expiresAt: payload.exp, extra: { account: payload.sub } };
        },
    };
    app.use(express.json());
    app.get('/.well-known/oauth-protected-resource/mcp', (request, response) => response.json({ resource: url, authorization_servers: [made.issuer], scopes_supported: ['mcp'] }));
    app.post('/mcp', requireBearerAuth({ verifier, requiredScopes: ['mcp'], resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource/mcp` }), async (request, response) => {
        const mcp = new McpServer({ name: 'accounts', version: '1' });
        mcp.registerTool('whoami', {}, async (extra) => ({ content: [{ type: 'text', text: extra.authInfo.extra.account }] }));
        add(mcp, request.auth.extra.account);
        const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
        response.on('close', () => mcp.close());
        await mcp.connect(transport);
        await transport.handleRequest(request, response, request.body);
    });
    app.all('/mcp', (request, response) => response.status(405).end());
    return made;
}

/** Do as the browser of an account does: to the end of the redirects, or to one that begins with `until`:
 * where that is. */
export async function browse(url, account, until = 'no such place') {
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
            return at;
        }
        at = new URL(next, at);
        if (at.href.startsWith(until)) {
            return at;
        }
    }
    throw new Error('too many redirects');
}

/** A browser at the link of a login: nobody has logged in there yet. */
export async function visit(browser, link) {
    const context = await browser.newContext();
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByPlaceholder('Enter any login').waitFor();
    return { page, leave: () => context.close() };
}

export async function sayWho(page, name) {
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).waitFor();
}

/** Log in as somebody at a link, to the end. */
export async function logIn(browser, link, name) {
    const { page, leave } = await visit(browser, link);
    await sayWho(page, name);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The login is done').waitFor();
    await leave();
}

/** Take the clock of the provider and of its servers another way than the hub's, for what `work` does. */
export async function withClock(seconds, work) {
    const RealDate = globalThis.Date;
    globalThis.Date = class extends RealDate {
        constructor(...values) {
            super(...(values.length > 0 ? values : [RealDate.now() + seconds * 1000]));
        }

        static now() {
            return RealDate.now() + seconds * 1000;
        }
    };
    try {
        await work();
    } finally {
        globalThis.Date = RealDate;
    }
}
