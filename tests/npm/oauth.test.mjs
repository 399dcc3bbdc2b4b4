// SPDX-License-Identifier: Apache-2.0
// The official clients log in by themselves to a hub that takes tokens of an identity provider (npm oidc-provider):
// discovery from the hub's challenge, registration, PKCE, resource; a further scope in the middle of a session.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';

import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import Provider from 'oidc-provider';

import { HUB, PLUGINS, PATIENT, makeFolder, servers, within } from './support.mjs';

const SCOPES = 'tools:read tools:write';
const REDIRECT = 'http://127.0.0.1:1/callback'; // nobody is there: the code is read off the redirect
const folder = makeFolder();

/** A provider whose user says yes to everything. */
async function startProvider() {
    const server = createServer();
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const provider = new Provider(issuer, {
        scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
        clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
        features: {
            devInteractions: { enabled: false },
            registration: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo: (ctx, resource) => ({ scope: SCOPES, audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
                useGrantedResource: () => true,
            },
        },
        // Clients register with the scopes that they knew of then: who registers may ask for more later.
        extraClientMetadata: { properties: ['any_scope'], validator: (ctx, key, value, metadata) => delete metadata.scope },
        interactions: { url: (ctx, { uid }) => `/login/${uid}` },
        async loadExistingGrant(ctx) {
            const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
            grant.addOIDCScope(`openid ${ctx.oidc.params.scope ?? ''}`);
            for (const resource of [ctx.oidc.params.resource].flat().filter(Boolean)) {
                grant.addResourceScope(resource, ctx.oidc.params.scope ?? '');
            }
            await grant.save();
            return grant;
        },
        findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    });
    const serve = provider.callback();
    server.on('request', (request, response) => {
        if (request.url.startsWith('/login/')) {
            provider.interactionFinished(request, response, { login: { accountId: 'ann' }, consent: {} }, { mergeWithLastSubmission: false });
        } else {
            serve(request, response);
        }
    });
    return { issuer, close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))) };
}

/** Do as a browser does, until somebody is sent back to the client: the code. */
async function logIn(url) {
    const cookies = new Map();
    let at = url;
    for (let hop = 0; hop < 10; hop++) {
        const response = await fetch(at, { redirect: 'manual', headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') } });
        for (const line of response.headers.getSetCookie()) {
            const [name, ...value] = line.split(';')[0].split('=');
            cookies.set(name, value.join('='));
        }
        const next = response.headers.get('location');
        assert.ok(next, `${at} answers ${response.status}: ${await response.text()}`);
        at = new URL(next, at);
        if (at.href.startsWith(REDIRECT)) {
            assert.equal(at.searchParams.get('error'), null, at.href);
            return at.searchParams;
        }
    }
    throw new Error('too many redirects');
}

/** What a client keeps, and where it was sent to log in. */
class Login {
    asked = [];
    get redirectUrl() {
        return REDIRECT;
    }
    get clientMetadata() {
        return {
            client_name: 'interoperability', redirect_uris: [REDIRECT], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
            token_endpoint_auth_method: 'none', application_type: 'native',
        };
    }
    clientInformation() {
        return this.information;
    }
    saveClientInformation(information) {
        this.information = information;
    }
    tokens() {
        return this.kept;
    }
    saveTokens(tokens) {
        this.kept = tokens;
    }
    saveCodeVerifier(verifier) {
        this.verifier = verifier;
    }
    codeVerifier() {
        return this.verifier;
    }
    saveDiscoveryState(state) {
        this.discovery = state;
    }
    discoveryState() {
        return this.discovery;
    }
    redirectToAuthorization(url) {
        this.asked.push(url);
    }
}

async function startHub(issuer) {
    const manifest = join(folder, 'hub.json');
    const write = (audience) => {
        const auth = { issuers: [{ issuer, audiences: [audience], scopes: ['tools:read'] }] };
        const rules = [{ who: { scopes: SCOPES.split(' ') }, tools: { match: ['everything:get-sum'] }, then: 'challenge' }];
        const toolsets = { everything: servers(folder).everything };
        writeFileSync(`${manifest}.new`, JSON.stringify({ listen: [{ http: '127.0.0.1:0' }], auth, access: { rules }, toolsets, limits: PATIENT }));
        renameSync(`${manifest}.new`, manifest);
    };
    write('nobody');
    const child = spawn(HUB, ['--config', manifest, '--plugins-dir', PLUGINS, '--log-level', 'info', '--log-format', 'json'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = new Promise((done) => child.on('exit', done));
    const waiting = new Map();
    const event = (name) => within(new Promise((done) => waiting.set(name, done)), name);
    createInterface({ input: child.stderr }).on('line', (line) => {
        const said = line.startsWith('{') ? JSON.parse(line) : {};
        waiting.get(said.event)?.(said);
    });
    const url = new URL((await event('listen.ready')).url);
    const reloaded = event('config.reloaded');
    write(url.href); // its own URL is what its tokens are for
    child.kill('SIGHUP');
    await reloaded;
    return { url, close: async () => (child.kill('SIGTERM'), assert.equal(await within(ended, 'the end of the hub'), 0)) };
}

let provider;
let served;

before(async () => {
    provider = await startProvider();
    served = await startHub(provider.issuer);
});

after(async () => {
    await served.close();
    await provider.close();
});

/** The scopes of tools that are asked for: clients add offline_access by themselves. */
const ours = (asked) => asked.get('scope').split(' ').filter((scope) => scope.startsWith('tools:')).sort();

const CLIENTS = [
    ['client 1.x', () => [new Client1({ name: 'interoperability', version: '1' }), Transport1]],
    ['client 2.x, legacy', () => [new Client2({ name: 'interoperability', version: '1' }, { versionNegotiation: { mode: 'legacy' } }), Transport2]],
    ['client 2.x, modern', () => [new Client2({ name: 'interoperability', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), Transport2]],
];

for (const [title, make] of CLIENTS) {
    describe(title, () => {
        const login = new Login();
        let client;
        let transport;

        const finish = async () => {
            const answer = await logIn(login.asked.at(-1));
            await transport.finishAuth(transport instanceof Transport2 ? answer : answer.get('code'));
        };

        test('is sent to log in, with all that the hub asks for', async () => {
            let Transport;
            [client, Transport] = make();
            transport = new Transport(served.url, { authProvider: login });
            await assert.rejects(within(client.connect(transport), 'the refusal'), /authoriz/i);
            const asked = login.asked.at(-1).searchParams;
            assert.equal(asked.get('resource'), served.url.href);
            assert.deepEqual(ours(asked), ['tools:read']);
            assert.equal(asked.get('code_challenge_method'), 'S256');
            assert.ok(login.information.client_id);
            await within(finish(), 'the token');
            assert.ok(login.kept.access_token);
        });

        test('connects and calls a tool', async () => {
            let Transport;
            [client, Transport] = make();
            transport = new Transport(served.url, { authProvider: login });
            await within(client.connect(transport), 'the connection');
            const result = await within(client.callTool({ name: 'everything__echo', arguments: { message: 'hello' } }), 'the answer');
            assert.match(result.content[0].text, /hello/);
        });

        test('asks for a further scope in the middle of a session', async () => {
            const before = login.asked.length;
            const call = () => client.callTool({ name: 'everything__get-sum', arguments: { a: 1, b: 2 } });
            await assert.rejects(within(call(), 'the refusal'));
            assert.equal(login.asked.length, before + 1);
            assert.deepEqual(ours(login.asked.at(-1).searchParams), SCOPES.split(' '));
            await within(finish(), 'the token');
            assert.match((await within(call(), 'the answer')).content[0].text, /3/);
            await client.close();
        });
    });
}
