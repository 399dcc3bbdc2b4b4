// SPDX-License-Identifier: Apache-2.0
// A saved toolset of four tools of three servers, two of npm and one of PyPI, with the inspector and through mcp-remote: built,
// equipped, called, and still there after a restart (REQUIREMENTS S3.17, S3.54, S3.79, S3.93).

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { HUB, NODE, PATIENT, PLUGINS, TIMEOUT_MS, makeFolder, mcpRemote, serve, servers, within } from './support.mjs';

const TIME_SERVER = 'mcp-server-time==2026.10.19';
const TOOLS = ['everything:echo', 'everything:get-sum', 'files:read_text_file', 'time:convert_time'];
const SHOWN = ['everything__echo', 'everything__get-sum', 'files__read_text_file', 'time__convert_time'];
const OWN = /-toolsets?$|^discover-all-tools$/;

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const inspector = join(dirname(require.resolve('@modelcontextprotocol/inspector/package.json')), 'clients/cli/build/index.js');
const python = fileURLToPath(new URL('../../build/npm-servers/python/bin/python', import.meta.url));

before(async () => {
    if (!existsSync(python)) {
        mkdirSync(dirname(dirname(dirname(python))), { recursive: true });
        await run('/usr/bin/python3', ['-m', 'venv', dirname(dirname(python))]);
    }
    await run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', TIME_SERVER]);
});

/** A hub of its own, whose store is in the folder; nothing is enabled. */
function hub(folder) {
    const { everything, files } = servers(folder);
    const time = { command: python, args: ['-m', 'mcp_server_time', '--local-timezone', 'UTC'] };
    const manifest = join(folder, 'patchbay.json');
    writeFileSync(manifest, JSON.stringify({
        hub: { meta_tools: ['saved'], startup: 'dynamic' },
        toolsets: { everything, files, time },
        state: join(folder, 'state.db'),
        limits: PATIENT,
    }));
    return { command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS], stderr: 'ignore' };
}

const NOON = { source_timezone: 'UTC', target_timezone: 'Asia/Tokyo', time: '12:00' };

for (const era of ['legacy', 'modern']) {
    test(`the inspector, ${era}`, async () => {
        const folder = makeFolder();
        const { command, args } = hub(folder);
        // Each run is another hub, which finds what the one before has left.
        async function inspect(...request) {
            const options = ['--protocol-era', era, '--format', 'json', '--quiet', '--method', ...request];
            const { stdout } = await run(NODE, [inspector, ...options, '--', command, ...args], {
                timeout: TIMEOUT_MS,
                maxBuffer: 1 << 26,
                env: { PATH: process.env.PATH, HOME: folder },
            });
            return JSON.parse(stdout).result;
        }
        const call = (name, ...given) => inspect('tools/call', '--tool-name', name, ...given.flatMap((one) => ['--tool-arg', one]));
        const built = await call('build-toolset', 'name=dev-essentials', `tools=${JSON.stringify(TOOLS)}`, 'autoEquip=true');
        assert.equal(built.structuredContent.savedTools, 4, JSON.stringify(built));
        const names = (await inspect('tools/list')).tools.map((tool) => tool.name).filter((name) => !OWN.test(name));
        assert.deepEqual(names.sort(), SHOWN);
        const said = await call('time__convert_time', ...Object.entries(NOON).map(([key, value]) => `${key}=${value}`));
        assert.match(said.content[0].text, /21:00/);
        const active = await call('get-active-toolset');
        assert.equal(active.structuredContent.equipped.name ?? active.structuredContent.equipped, 'dev-essentials');
    });
}

describe('through mcp-remote', () => {
    const folder = makeFolder();

    /** A client of a hub that serves HTTP, by way of the bridge; both end with it. */
    async function withClient(use) {
        const served = await serve(hub(folder));
        const bridge = { command: NODE, args: [mcpRemote(), `${served.url}/mcp`, '--transport', 'http-only'], stderr: 'ignore' };
        const client = new Client({ name: 'interoperability', version: '1' });
        try {
            await within(client.connect(new StdioClientTransport({ ...bridge, env: { PATH: process.env.PATH, HOME: folder } })), 'the bridge');
            const own = async () => (await client.listTools()).tools.map((tool) => tool.name).filter((name) => !OWN.test(name)).sort();
            await use(client, own);
        } finally {
            await client.close();
            await served.close();
        }
    }

    test('build, equip, call', () =>
        withClient(async (client, own) => {
            const built = await client.callTool({ name: 'build-toolset', arguments: { name: 'dev-essentials', tools: TOOLS } });
            assert.equal(built.structuredContent.savedTools, 4, JSON.stringify(built));
            await client.callTool({ name: 'equip-toolset', arguments: { name: 'dev-essentials' } });
            assert.deepEqual(await own(), SHOWN);
            const said = await client.callTool({ name: 'time__convert_time', arguments: NOON });
            assert.match(said.content[0].text, /21:00/);
        }));

    test('another hub has it still, equipped', () =>
        withClient(async (client, own) => {
            assert.deepEqual(await own(), SHOWN);
            const echo = await client.callTool({ name: 'everything__echo', arguments: { message: 'é' } });
            assert.deepEqual(echo.content, [{ type: 'text', text: 'Echo: é' }]);
        }));
});
