// SPDX-License-Identifier: Apache-2.0
// What the official conformance suite starts as the client under test: `driver URL`, with the scenario in the
// environment. It starts the hub with that URL as its only upstream, and does over the hub what the scenario wants.
// DRIVER_CLIENT says how it speaks to the hub: "modern" or "legacy".

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { HUB, PLUGINS, isOwnRace, makeFolder } from './support.mjs';

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context, DRIVER_CLIENT: era } = process.env;
const MODES = { modern: { pin: '2026-07-28' }, legacy: 'legacy' };

const isAuth = scenario.startsWith('auth/');
const known = JSON.parse(context ?? '{}');

/** Where the server says that it is logged in to, as whoever writes an entry finds out. */
async function issuerOf(url) {
    const { origin, pathname } = new URL(url);
    for (const place of [pathname, '']) {
        const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${place}`);
        if (answer.ok) {
            return (await answer.json()).authorization_servers[0];
        }
    }
    throw new Error('the server names no authorization server');
}

/** What the entry says of the login: what the scenario has told the client beforehand. */
async function authOf(url) {
    if (scenario === 'auth/basic-cimd') {
        return { client_document: 'https://conformance-test.local/client-metadata.json' };
    }
    if (known.client_id === undefined) {
        return 'oauth';
    }
    const { client_id, client_secret, private_key_pem: private_key, signing_algorithm: algorithm } = known;
    const grant = scenario.startsWith('auth/client-credentials') ? 'client_credentials' : undefined;
    return { grant, issuer: await issuerOf(url), client_id, client_secret, private_key, algorithm };
}

/** A browser whose user says yes: the suite's pages send it on at once. */
const browse = async (link) => (await fetch(link)).text();

/** `patchbay login`, to its end, good or bad: what the suite wants of it, it checks. */
async function logIn(manifest) {
    const child = spawn(HUB, ['login', 'mock', '--config', manifest], { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('http') && browse(line));
    await once(child, 'close');
}

async function args(url) {
    const folder = makeFolder();
    const manifest = join(folder, 'patchbay.json');
    const entry = isAuth ? { url, auth: await authOf(url) } : { url };
    writeFileSync(manifest, JSON.stringify({ state: join(folder, 'state.db'), toolsets: { mock: entry }, limits: { discover_timeout: '60s' } }));
    if (isAuth) {
        await logIn(manifest);
    }
    return ['--config', manifest, '--plugins-dir', PLUGINS, '--no-meta-tools', '--naming', 'none', '--log-level', 'debug'];
}

async function listNames(client) {
    return (await client.listTools()).tools.map((tool) => tool.name);
}

/** What to do, by scenario; an answer that is no success ends the driver with an error. */
const STEPS = {
    initialize: listNames,

    async tools_call(client) {
        assert.deepEqual(await listNames(client), ['add_numbers']);
        await client.callTool({ name: 'add_numbers', arguments: { a: 5, b: 3 } });
    },

    async 'elicitation-sep1034-client-defaults'(client) {
        client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
        await client.callTool({ name: 'test_client_elicitation_defaults', arguments: {} });
    },

    async 'sse-retry'(client) {
        const { content } = await client.callTool({ name: 'test_reconnection', arguments: {} });
        assert.equal(content[0].text, 'Reconnection test completed successfully');
    },

    'request-metadata': listNames,
    'json-schema-ref-no-deref': listNames,

    async 'json-schema-2020-12-preservation'(client) {
        const { tools } = await client.listTools();
        const schema = tools.find((tool) => tool.name === 'json_schema_2020_12_tool').inputSchema;
        await client.callTool({ name: 'json_schema_echo', arguments: { schema } });
    },

    async 'http-standard-headers'(client) {
        for (const { name } of (await client.listTools()).tools) {
            await client.callTool({ name, arguments: {} });
        }
        for (const { uri } of (await client.listResources()).resources) {
            await client.readResource({ uri });
        }
        for (const { name } of (await client.listPrompts()).prompts) {
            await client.getPrompt({ name });
        }
    },

    async 'http-custom-headers'(client) {
        await client.listTools();
        for (const call of JSON.parse(context).toolCalls) {
            await client.callTool(call);
        }
    },

    async 'http-invalid-tool-headers'(client) {
        for (const { name } of (await client.listTools()).tools) {
            await client.callTool({ name, arguments: {} });
        }
    },

    // Another call is made while the first waits for its answer: neither may see what is the other's.
    async 'sep-2322-client-request-state'(client) {
        client.setRequestHandler('elicitation/create', async () => {
            await client.callTool({ name: 'test_mrtr_unrelated', arguments: {} });
            return { action: 'accept', content: { confirmed: true } };
        });
        for (const name of ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_no_result_type']) {
            await client.callTool({ name, arguments: {} });
        }
    },
};

/** Every tool is called, whatever comes of it; where that takes more scopes, or another login, the user says yes. */
async function useAll(client) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
        await browse(params.url);
        return { action: 'accept' };
    });
    for (const name of await listNames(client)) {
        await client.callTool({ name, arguments: {} }).catch((error) => console.error(`${name}: ${error.message}`));
    }
}

const client = new Client(
    { name: 'conformance-driver', version: '1' },
    { versionNegotiation: { mode: MODES[era] }, capabilities: { elicitation: { form: { applyDefaults: true }, ...(isAuth && { url: {} }) } } },
);
const errors = [];
client.onerror = (error) => isOwnRace(error) || errors.push(error);
await client.connect(new StdioClientTransport({ command: HUB, args: await args(process.argv.at(-1)), stderr: 'inherit' }));
await (isAuth ? useAll : STEPS[scenario])(client);
await client.close();
assert.deepEqual(errors, [], 'the client saw nothing that it did not understand');
