// SPDX-License-Identifier: Apache-2.0
// The official TypeScript SDK 1.x, a legacy client, through the hub.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { hub, isOwnRace, makeFolder, signal, within } from './support.mjs';

const folder = makeFolder();

async function connect(...flags) {
    const client = new Client({ name: 'interoperability', version: '1' });
    const errors = [];
    client.onerror = (error) => isOwnRace(error) || errors.push(error);
    await client.connect(new StdioClientTransport({ ...hub(folder, ...flags), stderr: 'ignore' }));
    return { client, errors };
}

describe('SDK 1.x', () => {
    let client;
    let errors;

    before(async () => ({ client, errors } = await connect()));
    after(async () => {
        await client.close();
        assert.deepEqual(errors, [], 'the client saw nothing that it did not understand');
    });

    test('knows the hub', () => {
        assert.equal(client.getServerVersion().name, 'patchbay');
        assert.equal(client.getServerCapabilities().tools.listChanged, true);
    });

    test('lists the tools of both servers', async () => {
        const names = (await client.listTools()).tools.map((tool) => tool.name);
        for (const name of ['everything__echo', 'everything__get-sum', 'files__read_text_file', 'files__list_directory', 'enable_toolset']) {
            assert.ok(names.includes(name), name);
        }
        assert.ok(!names.includes('memory__read_graph'));
    });

    test('calls a tool of server-everything', async () => {
        const result = await client.callTool({ name: 'everything__echo', arguments: { message: 'é \u{1f600}' } });
        assert.deepEqual(result.content, [{ type: 'text', text: 'Echo: é \u{1f600}' }]);
        const sum = await client.callTool({ name: 'everything__get-sum', arguments: { a: 2, b: 40 } });
        assert.match(sum.content[0].text, /42/);
    });

    test('gets structured content that fits the tool', async () => {
        await client.listTools();
        const result = await client.callTool({ name: 'everything__get-structured-content', arguments: { location: 'Chicago' } });
        assert.equal(typeof result.structuredContent.temperature, 'number');
    });

    test('gets images', async () => {
        const result = await client.callTool({ name: 'everything__get-tiny-image', arguments: {} });
        assert.ok(result.content.some((block) => block.type === 'image' && block.mimeType === 'image/png'));
    });

    test('calls a tool of server-filesystem', async () => {
        const result = await client.callTool({ name: 'files__read_text_file', arguments: { path: join(folder, 'hello.txt') } });
        assert.equal(result.content[0].text, 'Hello from a file: é \u2028 \u{1f600}\n');
    });

    test('sees the errors of a tool', async () => {
        const result = await client.callTool({ name: 'files__read_text_file', arguments: { path: '/etc/hostname' } });
        assert.equal(result.isError, true);
        assert.match(result.content[0].text, /denied/i);
    });

    test('sees a refusal of bad arguments', async () => {
        const result = await client.callTool({ name: 'everything__get-sum', arguments: { a: 'two' } }).catch((error) => error);
        assert.ok(result.isError === true || result.code === -32602, JSON.stringify(result));
    });

    test('is told that a tool is unknown', async () => {
        await assert.rejects(client.callTool({ name: 'everything__nope', arguments: {} }), { code: -32602, message: /unknown tool/i });
    });

    test('reads progress', async () => {
        const seen = [];
        const controller = new AbortController();
        const call = client.callTool(
            { name: 'everything__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
            undefined,
            { signal: controller.signal, onprogress: ({ progress }) => seen.push(progress) === 3 && controller.abort('enough') },
        );
        await assert.rejects(within(call, 'three steps'), /enough/);
        assert.deepEqual(seen, [1, 2, 3]);
    });

    test('cancels a call', async () => {
        const controller = new AbortController();
        const call = client.callTool(
            { name: 'everything__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
            undefined,
            { signal: controller.signal, onprogress: () => controller.abort('enough') },
        );
        await assert.rejects(within(call, 'the cancelled call'));
        assert.ok(await client.callTool({ name: 'everything__echo', arguments: { message: 'still there' } }));
    });

    test('calls many tools at once', async () => {
        const calls = Array.from({ length: 50 }, (_, n) => client.callTool({ name: 'everything__echo', arguments: { message: `m${n}` } }));
        const texts = (await Promise.all(calls)).map((result) => result.content[0].text);
        assert.deepEqual(texts, texts.map((_, n) => `Echo: m${n}`));
    });

    test('sees list_changed after enable_toolset', async () => {
        const changed = signal();
        client.setNotificationHandler(ToolListChangedNotificationSchema, changed.fire);
        const result = await client.callTool({ name: 'enable_toolset', arguments: { toolset: 'memory' } });
        assert.ok(!result.isError, JSON.stringify(result));
        await within(changed.fired, 'list_changed');
        const names = (await client.listTools()).tools.map((tool) => tool.name);
        assert.ok(names.includes('memory__read_graph'));
        assert.ok(await client.callTool({ name: 'memory__read_graph', arguments: {} }));
    });

    test('pings', async () => {
        assert.deepEqual(await client.ping(), {});
    });
});
