#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// What a list of tools costs a model's context: bytes, and tokens of o200k_base (npm gpt-tokenizer), of all that tools/list has.
//
//     PATCHBAY_BIN=build/release/core/patchbay node bench/context/run.mjs
//
// Needs `npm ci` in tests/npm. The definitions are those of three public servers (everything, filesystem, memory), over and over
// until there are 50, 500 and 2,000 tools, 25 in each toolset. Prints a table for docs/PERFORMANCE.md.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NPM = new URL('../../tests/npm/', import.meta.url);
const SELF = fileURLToPath(import.meta.url);
const COUNTS = [50, 500, 2000];
const PER_TOOLSET = 25;

/** An MCP server with the tools of a file. */
function serve(file) {
    const tools = JSON.parse(readFileSync(file, 'utf8'));
    const answers = {
        initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'context', version: '1' } }),
        'tools/list': () => ({ tools }),
        ping: () => ({}),
    };
    createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        if (id !== undefined) {
            const answer = answers[method] ? { result: answers[method]() } : { error: { code: -32601, message: 'unknown' } };
            process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
        }
    });
}

async function main() {
    const { HUB, NODE, PLUGINS, RawConversation, hub, makeFolder } = await import(new URL('support.mjs', NPM));
    const { encode } = await import(pathToFileURL(createRequire(NPM).resolve('gpt-tokenizer/encoding/o200k_base')));
    const folder = makeFolder();

    const { command, args } = hub(folder);
    const exported = execFileSync(command, ['export', '--format', 'mcp', ...args], { maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'ignore'] });
    const definitions = JSON.parse(exported).map((tool) => ({ ...tool, name: tool.name.replace(/^.*?__/, '') }));

    async function measure(count, settings) {
        const toolsets = {};
        for (let at = 0; at < count; at += PER_TOOLSET) {
            const key = `server${at / PER_TOOLSET + 1}`;
            const file = join(folder, `${key}.json`);
            const tools = Array.from({ length: Math.min(PER_TOOLSET, count - at) }, (_, i) => definitions[(at + i) % definitions.length]);
            writeFileSync(file, JSON.stringify(tools));
            toolsets[key] = { command: NODE, args: [SELF, '--serve', file] };
        }
        const manifest = join(folder, `${count}.json`);
        const { saved_toolsets, ...own } = settings(toolsets);
        writeFileSync(manifest, JSON.stringify({
            hub: { remember: 'none', page_size: 100000, ...own },
            toolsets,
            ...(saved_toolsets && { saved_toolsets }),
            limits: { discover_timeout: '50s', straggler_timeout: '0s' },
        }));
        const talk = await new RawConversation({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS] }).open();
        const { tools } = JSON.parse(await talk.request('tools/list')).result;
        await talk.close();
        const text = JSON.stringify(tools);
        return { tools: tools.length, bytes: Buffer.byteLength(text), tokens: encode(text).length };
    }

    const ten = (toolsets) => {
        const [first, second] = Object.keys(toolsets);
        const of = (key, from) => definitions.slice(from, from + 5).map((tool) => `${key}:${tool.name}`);
        const tools = [...of(first, 0), ...of(second, PER_TOOLSET % definitions.length)];
        return { startup: 'dynamic', meta_tools: ['saved'], equip: 'ten', saved_toolsets: { ten: { tools } } };
    };
    const WAYS = [
        ['all tools listed', () => ({ meta_tools: false })],
        ['a saved toolset of 10, and the group `saved`', ten],
        ['`expose: search`', () => ({ expose: 'search' })],
    ];
    console.log('| tools behind the hub | what is listed | tools | bytes | tokens |\n|---|---|---|---|---|');
    for (const count of COUNTS) {
        for (const [name, settings] of WAYS) {
            const { tools, bytes, tokens } = await measure(count, settings);
            console.log(`| ${count.toLocaleString('en')} | ${name} | ${tools.toLocaleString('en')} | ${bytes.toLocaleString('en')} | ${tokens.toLocaleString('en')} |`);
        }
    }
}

if (process.argv[2] === '--serve') {
    serve(process.argv[3]);
} else {
    await main();
}
