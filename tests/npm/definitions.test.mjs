// SPDX-License-Identifier: Apache-2.0
// The official clients keep every list that the hub would send: a definition that may be listed in a revision, as
// ../definitions/shapes.py has it and ../definitions/check.py holds the hub to, costs no client of that revision its
// list. And what is left out is left out for a reason: what no revision allows, some client throws the list away for.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { Client as ModernClient } from '@modelcontextprotocol/client';

const SHAPES = join(dirname(fileURLToPath(import.meta.url)), '..', 'definitions', 'shapes.py');
const MODERN = '2026-07-28';
const LISTS = {
    tools: ['tools', (client) => client.listTools()],
    resources: ['resources', (client) => client.listResources()],
    templates: ['resourceTemplates', (client) => client.listResourceTemplates()],
    prompts: ['prompts', (client) => client.listPrompts()],
};
const INFO = { name: 'definitions', version: '1' };
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };

let shapes;

before(() => {
    const run = spawnSync('/usr/bin/python3', ['-B', SHAPES], { encoding: 'utf8', maxBuffer: 1 << 30 });
    assert.equal(run.status, 0, run.stderr);
    shapes = run.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.ok(shapes.length > 10000);
});

/** A server of one list, whatever is in it. */
class Server {
    list = '';
    start = async () => {};
    close = async () => {};

    async send({ id, method, params }) {
        const head = '"resultType":"complete","ttlMs":0,"cacheScope":"private"';
        const result = {
            initialize: () => JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: CAPABILITIES, serverInfo: INFO }),
            'server/discover': () => `{${head},"supportedVersions":["${MODERN}"],"capabilities":${JSON.stringify(CAPABILITIES)}}`,
        }[method] ?? (() => (this.modern ? `{${head},${this.list}}` : `{${this.list}}`));
        if (id !== undefined) {
            const message = JSON.parse(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result()}}`);
            queueMicrotask(() => this.onmessage(message));
        }
    }
}

/** Whether a client keeps each list. */
async function verdicts(client, modern) {
    const server = new Server();
    server.modern = modern;
    await client.connect(server);
    const kept = [];
    for (const { kind, definition } of shapes) {
        const [member, list] = LISTS[kind];
        server.list = `"${member}":[${definition}]`;
        kept.push(await list(client).then(() => true, () => false));
    }
    await client.close();
    return kept;
}

// Numbers that are infinite to JavaScript pass through schemas as they are, though the client 2.x in its legacy mode does
// not like them: there is no reader of JSON Schema that they mean anything else to.
const isInfinite = ({ definition }) => /[0-9]{309}|1e400/.test(definition);

function check(kept, revisions) {
    const lost = shapes.filter((shape, i) => !kept[i] && shape.valid.some((r) => revisions.includes(r)) && !isInfinite(shape));
    assert.deepEqual(lost.slice(0, 5), [], `${lost.length} lists are thrown away`);
    assert.ok(kept.includes(false), 'some are');
}

const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

test('client 1.x', async () => check(await verdicts(new LegacyClient(INFO), false), LEGACY));

test('client 2.x, legacy', async () => {
    check(await verdicts(new ModernClient(INFO, { versionNegotiation: { mode: 'legacy' } }), false), LEGACY);
});

test('client 2.x, modern', async () => {
    const client = new ModernClient(INFO, { versionNegotiation: { mode: { pin: MODERN } } });
    check(await verdicts(client, true), [MODERN]);
});
