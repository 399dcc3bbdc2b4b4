// SPDX-License-Identifier: Apache-2.0
// Saved toolsets with the official clients, legacy and modern: four tools of three servers are built into one, equipped, and
// called; another hub, on the same store, has them still; and the tools of a server that is stopped come by themselves when it is
// started (REQUIREMENTS S3.1, S3.17, S3.54, S3.67, S3.68, S3.79).

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join } from 'node:path';
import { chmodSync, renameSync, writeFileSync } from 'node:fs';

import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { HUB, PATIENT, PLUGINS, isOwnRace, makeFolder, servers, within } from './support.mjs';

const TOOLS = ['everything:echo', 'everything:get-sum', 'files:read_text_file', 'memory:read_graph'];
const SHOWN = ['everything__echo', 'everything__get-sum', 'files__read_text_file', 'memory__read_graph'];
const OWN = /-toolsets?$|^discover-all-tools$/;

/** A hub of its own, whose store is in the folder; nothing is enabled. */
function hub(folder, toolsets = servers(folder), more = {}) {
    const manifest = join(folder, 'patchbay.json');
    writeFileSync(manifest, JSON.stringify({
        hub: { meta_tools: ['saved'], startup: 'dynamic' },
        toolsets,
        ...more,
        state: join(folder, 'state.db'),
        limits: PATIENT,
    }));
    return { command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS], stderr: 'ignore' };
}

/** What each client is told by when the list has changed. */
const TOLD = { legacy: ToolListChangedNotificationSchema, modern: 'notifications/tools/list_changed' };

const CLIENTS = {
    legacy: (server) => [new LegacyClient({ name: 'interoperability', version: '1' }), new LegacyTransport(server)],
    modern: (server) => [
        new ModernClient({ name: 'interoperability', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
        new ModernTransport(server),
    ],
};

for (const [era, make] of Object.entries(CLIENTS)) {
    describe(`saved toolsets, ${era} client`, () => {
        const folder = makeFolder();
        const errors = [];

        async function connect() {
            const [client, transport] = make(hub(folder));
            client.onerror = (error) => isOwnRace(error) || errors.push(error);
            await within(client.connect(transport), 'the connection');
            return client;
        }

        const ask = async (client, name, args = {}) => {
            const result = await within(client.callTool({ name, arguments: args }), name);
            assert.ok(!result.isError, JSON.stringify(result.content));
            return result.structuredContent;
        };
        const own = async (client) => (await client.listTools()).tools.map((tool) => tool.name).filter((name) => !OWN.test(name));

        test('build, equip, call', async () => {
            const client = await connect();
            assert.deepEqual(await own(client), []);
            assert.equal((await ask(client, 'build-toolset', { name: 'dev-essentials', tools: TOOLS })).savedTools, 4);
            const equipped = await ask(client, 'equip-toolset', { name: 'dev-essentials' });
            assert.deepEqual([equipped.tools.sort(), equipped.warnings], [SHOWN, []]);
            assert.deepEqual((await own(client)).sort(), SHOWN);
            const sum = await client.callTool({ name: 'everything__get-sum', arguments: { a: 2, b: 40 } });
            assert.match(sum.content[0].text, /42/);
            const text = await client.callTool({ name: 'files__read_text_file', arguments: { path: join(folder, 'hello.txt') } });
            assert.match(text.content[0].text, /^Hello from a file/);
            assert.ok((await client.callTool({ name: 'memory__read_graph', arguments: {} })).content);
            await client.close();
        });

        test('another hub has them still', async () => {
            const client = await connect();
            const found = await ask(client, 'list-saved-toolsets');
            assert.deepEqual(found.toolsets.map(({ name, toolCount }) => [name, toolCount]), [['dev-essentials', 4]]);
            if ((await ask(client, 'get-active-toolset')).equipped === null) {
                await ask(client, 'equip-toolset', { name: 'dev-essentials' });
            }
            assert.deepEqual((await own(client)).sort(), SHOWN);
            const echo = await client.callTool({ name: 'everything__echo', arguments: { message: 'é' } });
            assert.deepEqual(echo.content, [{ type: 'text', text: 'Echo: é' }]);
            await client.close();
            assert.deepEqual(errors, [], 'the client saw nothing that it did not understand');
        });

        test('one server is stopped, and comes back with its tools', async () => {
            const down = makeFolder();
            const command = join(down, 'everything');
            const { everything } = servers(down);
            const start = () => {
                const quoted = [everything.command, ...everything.args].map((word) => `'${word}'`).join(' ');
                writeFileSync(`${command}.new`, `#!/bin/sh\nexec ${quoted}\n`);
                chmodSync(`${command}.new`, 0o700);
                renameSync(`${command}.new`, command);
            };
            const [client, transport] = make(hub(down, {
                ...servers(down),
                everything: { command, restart_delay: '50ms', restart_delay_max: '200ms' },
            }, { saved_toolsets: { both: { tools: TOOLS } } }));
            client.onerror = (error) => isOwnRace(error) || errors.push(error);
            await within(client.connect(transport), 'the connection');
            const equipped = await ask(client, 'equip-toolset', { name: 'both' });
            assert.deepEqual(equipped.tools.sort(), SHOWN.filter((name) => !name.startsWith('everything')));
            assert.match(equipped.warnings.join(), /server "everything" is unavailable, skipping tools: echo,get-sum/);
            const came = within(new Promise((resolve, reject) => {
                const look = async () => ((await own(client)).sort().join() === SHOWN.join() ? resolve() : undefined);
                client.setNotificationHandler(TOLD[era], () => look().catch(reject));
            }), 'the list with the tools of the server that is back');
            if (era === 'modern') {
                await within(client.listen({ toolsListChanged: true }), 'the acknowledgement');
            }
            start();
            await came;
            const echo = await client.callTool({ name: 'everything__echo', arguments: { message: 'back' } });
            assert.deepEqual(echo.content, [{ type: 'text', text: 'Echo: back' }]);
            await client.close();
        });
    });
}
