// SPDX-License-Identifier: Apache-2.0
// Users who call the hub with tokens of npm oidc-provider, where they have logged in, in front of servers of the official SDK:
// their tokens are exchanged there (RFC 8693), or for an assertion (ID-JAG) that another oidc-provider takes (RFC 7523).
// What is not of the provider itself is verified, and signed, by jose.

import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SignJWT, createRemoteJWKSet, jwtVerify } from 'jose';
import { errors } from 'oidc-provider';

import { browse, startKindProvider, startServer } from './login_provider.mjs';
import { HUB, PATIENT, PLUGINS, makeFolder, serve, within } from './support.mjs';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TYPE = 'urn:ietf:params:oauth:token-type:';
const AUDIENCE = 'https://hub.example/mcp';
const BACK = 'https://app.example/back';
const ACCOUNTS = ['ann', 'bob'];
const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' }); // of assertions
const client = (id, grant, more = {}) => ({
    client_id: id, client_secret: `secret-of-${id}-${randomUUID()}`, grant_types: [grant], redirect_uris: [], response_types: [],
    token_endpoint_auth_method: 'client_secret_basic', ...more,
});
const APP = client('app', 'authorization_code', { redirect_uris: [BACK], response_types: ['code'] }); // where users log in
const EXCHANGER = client('exchanger', EXCHANGE);
const CHAT = client('patchbay', JWT_BEARER);

/** A token of the provider's own for an account, good at a server. */
async function issue({ oidc }, account, resource) {
    const { client: asker, provider } = oidc;
    const token = new provider.AccessToken({ accountId: account, client: asker, gty: 'exchange', scope: 'mcp' });
    token.resourceServer = new provider.ResourceServer(resource, { scope: 'mcp', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600 });
    return { access_token: await token.save(), token_type: 'Bearer', expires_in: 600 };
}

function refuse() {
    throw new errors.InvalidGrant('not a good one');
}

/** RFC 8693, at the provider of the users: for a token, or for an assertion. */
function addExchange(at) {
    const keys = createRemoteJWKSet(new URL(`${at.issuer}/jwks`));
    const sign = (account, { audience, resource, scope }) => new SignJWT({ resource, scope, client_id: CHAT.client_id })
        .setProtectedHeader({ alg: 'ES256', typ: 'oauth-id-jag+jwt' }).setIssuer(at.issuer).setSubject(account).setAudience(audience)
        .setJti(randomUUID()).setIssuedAt().setExpirationTime('5m').sign(signing.privateKey);
    at.provider.registerGrantType(EXCHANGE, async (ctx) => {
        const { subject_token: subject, subject_token_type: type, requested_token_type: wanted, resource } = ctx.oidc.params;
        const audience = { [`${TYPE}access_token`]: AUDIENCE, [`${TYPE}id_token`]: APP.client_id }[type] ?? refuse();
        const { payload } = await jwtVerify(subject, keys, { issuer: at.issuer, audience }).catch(refuse);
        ctx.body = wanted === `${TYPE}id-jag`
            ? { access_token: await sign(payload.sub, ctx.oidc.params), issued_token_type: wanted, token_type: 'N_A', expires_in: 300 }
            : { ...(await issue(ctx, payload.sub, resource)), issued_token_type: `${TYPE}access_token` };
    }, ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope']);
}

/** RFC 7523, at the provider of a server: each assertion is good once. */
function addAssertions(at, idp) {
    const known = new Set();
    at.provider.registerGrantType(JWT_BEARER, async (ctx) => {
        const { assertion, resource } = ctx.oidc.params;
        const { payload } = await jwtVerify(assertion, signing.publicKey, { issuer: idp, audience: at.issuer, typ: 'oauth-id-jag+jwt' }).catch(refuse);
        if (payload.client_id !== ctx.oidc.client.clientId || payload.resource !== resource || known.has(payload.jti)) {
            refuse();
        }
        known.add(payload.jti);
        ctx.body = await issue(ctx, payload.sub, resource);
    }, ['assertion', 'resource', 'scope']);
}

/** A user logs in at the provider: the tokens that an application gets there. */
async function logIn({ issuer }, account) {
    const verifier = randomBytes(32).toString('base64url');
    const words = {
        response_type: 'code', client_id: APP.client_id, redirect_uri: BACK, scope: 'openid mcp', resource: AUDIENCE, state: 'x',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
    };
    const at = await browse(`${issuer}/auth?${new URLSearchParams(words)}`, account, BACK);
    const form = { grant_type: 'authorization_code', code: at.searchParams.get('code'), redirect_uri: BACK, code_verifier: verifier, resource: AUDIENCE };
    const headers = { Authorization: `Basic ${btoa(`${APP.client_id}:${APP.client_secret}`)}` };
    const answer = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form), headers });
    assert.equal(answer.status, 200);
    return answer.json();
}

const connections = [];
let idp;
let chatProvider;
let docs;
let chat;
let hub;
const tokens = {}; // of each account, at the provider of the users

/** A client with one of a user's tokens. */
async function connect(token) {
    const made = new Client({ name: 'interoperability', version: '1' });
    const headers = { Authorization: `Bearer ${token}` };
    await within(made.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`), { requestInit: { headers } })), 'a connection');
    connections.push(made);
    return made;
}

async function call(from, name) {
    const { isError = false, content } = await within(from.callTool({ name, arguments: {} }), 'an answer');
    return isError ? `failed: ${content[0].text}` : content[0].text;
}

before(async () => {
    idp = await startKindProvider({ settings: { clients: [APP, EXCHANGER] } });
    addExchange(idp);
    chatProvider = await startKindProvider({ settings: { clients: [CHAT] } });
    addAssertions(chatProvider, idp.issuer);
    docs = await startServer(idp.issuer);
    chat = await startServer(chatProvider.issuer);
    const known = ({ client_id, client_secret }) => ({ client_id, client_secret });
    const manifest = join(makeFolder(), 'hub.json');
    writeFileSync(manifest, JSON.stringify({
        hub: { remember: 'none' },
        auth: { issuers: [{ issuer: idp.issuer, audiences: [AUDIENCE, APP.client_id] }] },
        toolsets: {
            docs: { url: docs.url, credentials: 'principal', auth: { grant: 'token_exchange', issuer: idp.issuer, ...known(EXCHANGER) } },
            chat: {
                url: chat.url, credentials: 'principal',
                auth: { grant: 'id_jag', identity_provider: { issuer: idp.issuer, ...known(EXCHANGER) }, issuer: chatProvider.issuer, ...known(CHAT) },
            },
        },
        limits: PATIENT,
    }));
    hub = await serve({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS] });
    for (const account of ACCOUNTS) {
        tokens[account] = await logIn(idp, account);
    }
});

after(async () => {
    await Promise.all(connections.map((one) => one.close()));
    await hub?.close();
    for (const one of [docs, chat, idp, chatProvider]) {
        await one?.close();
    }
});

for (const [name, kind] of [['docs', 'access_token'], ['chat', 'id_token']]) {
    test(`${name}: each user by what came of their own ${kind}, and again when that is refused`, async () => {
        const clients = [];
        for (const account of ACCOUNTS) {
            clients.push(await connect(tokens[account][kind]));
        }
        for (let round = 0; round < 3; round++) {
            const answers = await Promise.all(clients.map((one) => call(one, `${name}__whoami`)));
            assert.deepEqual(answers, ACCOUNTS);
            (name === 'docs' ? docs : chat).expire();
        }
    });
}

test('no server has seen a token of the users, and nobody a token of another kind', async () => {
    const seen = [docs, chat].flatMap((one) => [...one.seen.values()].flatMap((those) => [...those]));
    const own = ACCOUNTS.flatMap((account) => [tokens[account].access_token, tokens[account].id_token]);
    assert.deepEqual(seen.filter((token) => own.includes(token)), []);
    assert.equal(chatProvider.asked.length, ACCOUNTS.length * 3);
    for (const token of own) {
        assert.ok(!JSON.stringify(chatProvider.asked).includes(token));
    }
});
