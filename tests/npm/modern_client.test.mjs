// SPDX-License-Identifier: Apache-2.0
// The official TypeScript client 2.x, a modern client, through the hub: pinned to the modern
// revision, negotiating (it probes a hub of its own with server/discover), and as a legacy client.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { hub, isOwnRace, makeFolder, servers, signal, within } from './support.mjs';

const MODERN = '2026-07-28';
const folder = makeFolder();

async function connect(mode, server = hub(folder)) {
    const changed = signal();
    const client = new Client(
        { name: 'interoperability', version: '1' },
        {
            versionNegotiation: { mode },
            listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: changed.fire } },
        },
    );
    const errors = [];
    client.onerror = (error) => isOwnRace(error) || errors.push(error);
    await within(client.connect(new StdioClientTransport({ ...server, stderr: 'ignore' })), 'the connection');
    return { client, errors, changed: changed.fired };
}

for (const [title, mode, version] of [
    ['pinned', { pin: MODERN }, MODERN],
    ['negotiating', 'auto', MODERN],
    ['legacy', 'legacy', '2025-11-25'],
]) {
    describe(`client 2.x, ${title}`, () => {
        let client;
        let errors;
        let changed;

        before(async () => ({ client, errors, changed } = await connect(mode)));
        after(async () => {
            await client.close();
            assert.deepEqual(errors, [], 'the client saw nothing that it did not understand');
        });

        test('agrees on the revision', () => {
            assert.equal(client.getNegotiatedProtocolVersion(), version);
            assert.equal(client.getServerVersion().name, 'patchbay');
            assert.equal(client.getServerCapabilities().tools.listChanged, true);
        });

        test('lists the tools of both servers', async () => {
            const names = (await client.listTools()).tools.map((tool) => tool.name);
            for (const name of ['everything__echo', 'files__read_text_file', 'enable_toolset']) {
                assert.ok(names.includes(name), name);
            }
        });

        test('calls tools of both servers', async () => {
            const echo = await client.callTool({ name: 'everything__echo', arguments: { message: 'é \u{1f600}' } });
            assert.deepEqual(echo.content, [{ type: 'text', text: 'Echo: é \u{1f600}' }]);
            const file = await client.callTool({ name: 'files__read_text_file', arguments: { path: join(folder, 'hello.txt') } });
            assert.match(file.content[0].text, /^Hello from a file/);
        });

        test('gets structured content that fits the tool', async () => {
            const result = await client.callTool({ name: 'everything__get-structured-content', arguments: { location: 'Chicago' } });
            assert.equal(typeof result.structuredContent.temperature, 'number');
        });

        test('sees errors', async () => {
            const denied = await client.callTool({ name: 'files__read_text_file', arguments: { path: '/etc/hostname' } });
            assert.equal(denied.isError, true);
            await assert.rejects(client.callTool({ name: 'everything__nope', arguments: {} }), { code: -32602, message: /unknown tool/i });
        });

        test('reads progress', async () => {
            const seen = [];
            const controller = new AbortController();
            const onprogress = ({ progress }) => seen.push(progress) === 3 && controller.abort(new Error('enough'));
            const call = client.callTool(
                { name: 'everything__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
                { signal: controller.signal, onprogress },
            );
            await assert.rejects(within(call, 'three steps'), /enough/);
            assert.deepEqual(seen, [1, 2, 3]);
        });

        test('cancels a call', async () => {
            const controller = new AbortController();
            const call = client.callTool(
                { name: 'everything__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
                { signal: controller.signal, onprogress: () => controller.abort(new Error('enough')) },
            );
            await assert.rejects(within(call, 'the cancelled call'));
            assert.ok(await client.callTool({ name: 'everything__echo', arguments: { message: 'still there' } }));
        });

        test('sees list_changed after enable_toolset', async () => {
            const result = await client.callTool({ name: 'enable_toolset', arguments: { toolset: 'memory' } });
            assert.ok(!result.isError, JSON.stringify(result));
            await within(changed, 'list_changed');
            const names = (await client.listTools()).tools.map((tool) => tool.name);
            assert.ok(names.includes('memory__read_graph'));
        });
    });
}

test('the servers themselves are legacy: the hub bridges', async () => {
    const { client } = await connect('auto', servers(folder).everything);
    assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
    await client.close();
});
