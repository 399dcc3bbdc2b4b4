// SPDX-License-Identifier: Apache-2.0
// One hub, and clients that others wrote over every way into it at the same time: streamable HTTP of both eras,
// HTTP+SSE, WebSocket, and a stdio client behind mcp-remote. All see the same tools, and each is told once of a change.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { join } from 'node:path';

import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { NODE, hub, isOwnRace, makeFolder, mcpRemote, serve, within } from './support.mjs';

const folder = makeFolder();

/** Counts what it is told; `next()` waits for one more. */
class Told {
    count = 0;
    #waiting = [];

    tell = () => {
        this.count += 1;
        this.#waiting.splice(0).forEach((done) => done());
    };

    next() {
        return new Promise((done) => this.#waiting.push(done));
    }
}

function legacy(told) {
    const client = new Client({ name: 'interoperability', version: '1' });
    client.setNotificationHandler(ToolListChangedNotificationSchema, told.tell);
    return client;
}

function modern(mode, told) {
    return new ModernClient(
        { name: 'interoperability', version: '1' },
        {
            versionNegotiation: { mode },
            listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: told.tell } },
        },
    );
}

const KINDS = [
    ['SDK 1.x, streamable HTTP', legacy, (url) => new StreamableHTTPClientTransport(new URL(`${url}/mcp`))],
    ['SDK 1.x, HTTP+SSE', legacy, (url) => new SSEClientTransport(new URL(`${url}/sse`))],
    ['SDK 1.x, WebSocket', legacy, (url) => new WebSocketClientTransport(new URL(`${url.replace('http', 'ws')}/ws`))],
    [
        'mcp-remote',
        legacy,
        (url) => new StdioClientTransport({ command: NODE, args: [mcpRemote(), `${url}/mcp`, '--allow-http'], stderr: 'ignore' }),
    ],
    [
        'mcp-remote, HTTP+SSE',
        legacy,
        (url) =>
            new StdioClientTransport({
                command: NODE,
                args: [mcpRemote(), `${url}/sse`, '--allow-http', '--transport', 'sse-only'],
                stderr: 'ignore',
            }),
    ],
    ['client 2.x, modern', (told) => modern({ pin: '2026-07-28' }, told), (url) => new ModernHttp(new URL(`${url}/mcp`))],
    ['client 2.x, negotiating', (told) => modern('auto', told), (url) => new ModernHttp(new URL(`${url}/mcp`))],
    ['client 2.x, legacy', (told) => modern('legacy', told), (url) => new ModernHttp(new URL(`${url}/mcp`))],
];

describe('every way into one hub', () => {
    let server;
    const clients = [];

    before(async () => {
        server = await serve(hub(folder));
        for (const [title, make, transport] of KINDS) {
            const told = new Told();
            const client = make(told);
            const errors = [];
            client.onerror = (error) => isOwnRace(error) || errors.push(error);
            await within(client.connect(transport(server.url)), `the connection of ${title}`);
            clients.push({ title, client, told, errors });
        }
    });

    after(async () => {
        for (const { title, errors } of clients) {
            assert.deepEqual(errors, [], `${title} saw nothing that it did not understand`);
        }
        for (const { client } of clients) {
            await client.close(); // some report the end of their own streams as an error
        }
        await server.close();
    });

    test('the same tools', async () => {
        const lists = await Promise.all(clients.map(({ client }) => client.listTools()));
        // Clients add defaults and sort members as they parse: what they agree on is who and what.
        const seen = lists.map((list) => list.tools.map(({ name, description, annotations }) => ({ name, description, annotations })));
        assert.ok(seen[0].some((tool) => tool.name === 'everything__echo'));
        seen.forEach((tools, n) => assert.deepEqual(tools, seen[0], clients[n].title));
    });

    for (const [n, [title]] of KINDS.entries()) {
        test(`${title}: calls tools`, async () => {
            const { client } = clients[n];
            const echo = await client.callTool({ name: 'everything__echo', arguments: { message: 'é \u{1f600}' } });
            assert.deepEqual(echo.content, [{ type: 'text', text: 'Echo: é \u{1f600}' }]);
            const file = await client.callTool({ name: 'files__read_text_file', arguments: { path: join(folder, 'hello.txt') } });
            assert.match(file.content[0].text, /^Hello from a file/);
            await assert.rejects(client.callTool({ name: 'everything__nope', arguments: {} }), /unknown tool/i);
        });

        test(`${title}: reads progress`, async () => {
            const { client } = clients[n];
            const seen = [];
            const controller = new AbortController();
            const params = { name: 'everything__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } };
            const onprogress = ({ progress }) => seen.push(progress) === 3 && controller.abort(new Error('enough'));
            const options = { signal: controller.signal, onprogress };
            const call = client instanceof ModernClient ? client.callTool(params, options) : client.callTool(params, undefined, options);
            await assert.rejects(within(call, 'three steps'), /enough/);
            assert.deepEqual(seen, [1, 2, 3]);
        });

        test(`${title}: cancels a call`, async () => {
            const { client } = clients[n];
            const controller = new AbortController();
            const params = { name: 'everything__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } };
            const options = { signal: controller.signal, onprogress: () => controller.abort(new Error('enough')) };
            const call = client instanceof ModernClient ? client.callTool(params, options) : client.callTool(params, undefined, options);
            await assert.rejects(within(call, 'the cancelled call'));
            assert.ok(await client.callTool({ name: 'everything__echo', arguments: { message: 'still there' } }));
        });
    }

    test('many calls at once from all of them', async () => {
        const calls = clients.flatMap(({ client, title }) =>
            Array.from({ length: 20 }, async (_, n) => {
                const message = `${title} ${n}`;
                const result = await client.callTool({ name: 'everything__echo', arguments: { message } });
                assert.equal(result.content[0].text, `Echo: ${message}`);
            }),
        );
        await within(Promise.all(calls), 'all answers');
    });

    test('each is told once of a change', async () => {
        const counts = clients.map(({ told }) => told.count);
        const news = clients.map(({ told }) => told.next());
        const result = await clients[0].client.callTool({ name: 'enable_toolset', arguments: { toolset: 'memory' } });
        assert.ok(!result.isError, JSON.stringify(result));
        await within(Promise.all(news), 'list_changed at every client');
        // A notification that came twice would be here before the answer to a later request.
        const lists = await Promise.all(clients.map(({ client }) => client.listTools()));
        lists.forEach((list, n) => {
            assert.ok(list.tools.some((tool) => tool.name === 'memory__read_graph'), clients[n].title);
            assert.equal(clients[n].told.count, counts[n] + 1, clients[n].title);
        });
    });
});
