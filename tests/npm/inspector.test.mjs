// SPDX-License-Identifier: Apache-2.0
// The MCP Inspector's command line, in each of its protocol eras, through the hub.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import { NODE, TIMEOUT_MS, hub, makeFolder } from './support.mjs';

const folder = makeFolder();
const require = createRequire(import.meta.url);
const inspector = join(dirname(require.resolve('@modelcontextprotocol/inspector/package.json')), 'clients/cli/build/index.js');

/** Run the inspector on the hub; the JSON that it printed. */
async function inspect(era, ...request) {
    // The inspector ends its own options at "--" and hands the rest to the server.
    const { command, args } = hub(folder);
    const options = ['--protocol-era', era, '--format', 'json', '--quiet', ...request];
    const { stdout } = await promisify(execFile)(NODE, [inspector, ...options, '--', command, ...args], {
        timeout: TIMEOUT_MS,
        maxBuffer: 1 << 26,
        env: { PATH: process.env.PATH, HOME: folder },
    });
    return JSON.parse(stdout).result;
}

for (const era of ['legacy', 'auto', 'modern']) {
    describe(`inspector, ${era}`, () => {
        test('lists tools', async () => {
            const names = (await inspect(era, '--method', 'tools/list')).tools.map((tool) => tool.name);
            for (const name of ['everything__echo', 'files__read_text_file', 'enable_toolset']) {
                assert.ok(names.includes(name), name);
            }
        });

        test('calls a tool of server-everything', async () => {
            const result = await inspect(era, '--method', 'tools/call', '--tool-name', 'everything__echo', '--tool-arg', 'message=hi');
            assert.deepEqual(result.content, [{ type: 'text', text: 'Echo: hi' }]);
        });

        test('calls a tool of server-filesystem', async () => {
            const path = join(folder, 'hello.txt');
            const result = await inspect(era, '--method', 'tools/call', '--tool-name', 'files__read_text_file', '--tool-arg', `path=${path}`);
            assert.match(result.content[0].text, /^Hello from a file/);
        });
    });
}
