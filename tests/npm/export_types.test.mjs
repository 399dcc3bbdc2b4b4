// SPDX-License-Identifier: Apache-2.0
// What `patchbay export` prints, and how `call --from` answers, is what the official clients of model APIs take: the compiler
// holds it against their own types (REQUIREMENTS S2.29, S4.32).

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';

import { NODE, TIMEOUT_MS, hub, makeFolder } from './support.mjs';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const folder = makeFolder();
const { command, args } = hub(folder);

symlinkSync(fileURLToPath(new URL('node_modules', import.meta.url)), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');

async function patchbay(...words) {
    const { stdout } = await run(command, [...words, ...args], { timeout: TIMEOUT_MS, maxBuffer: 1 << 26, env: { ...process.env, HOME: folder } });
    return JSON.parse(stdout);
}

/** Whether each value has its type, in the eyes of the compiler; `imports` says where the types are. The complaints. */
async function check(name, imports, values) {
    const file = join(folder, `${name}.ts`);
    const lines = Object.entries(values).map(([type, value], i) => `export const value${i}: ${type} = ${JSON.stringify(value)};`);
    writeFileSync(file, `${imports}\n${lines.join('\n')}\n`);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext'];
    try {
        await run(NODE, [require.resolve('typescript/bin/tsc'), ...options, file], { timeout: TIMEOUT_MS, cwd: folder });
        return '';
    } catch (error) {
        return error.stdout || String(error);
    }
}

describe('exports and the official types', () => {
    test('openai, chat completions', async () => {
        const tools = await patchbay('export', '--format', 'openai');
        assert.ok(tools.length > 20, `${tools.length} tools`);
        const called = { id: 'c1', type: 'function', function: { name: 'everything__echo', arguments: '{"message":"hi"}' } };
        const said = await patchbay('call', '--from', 'openai', JSON.stringify(called));
        const imports = "import type OpenAI from 'openai';";
        assert.equal(await check('openai', imports, {
            'OpenAI.Chat.Completions.ChatCompletionTool[]': tools,
            'OpenAI.Chat.Completions.ChatCompletionMessageToolCall': called,
            'OpenAI.Chat.Completions.ChatCompletionToolMessageParam': said,
        }), '');
        const broken = [{ ...tools[0], type: 'functions' }];
        assert.match(await check('broken', imports, { 'OpenAI.Chat.Completions.ChatCompletionTool[]': broken }), /"functions"/);
    });

    test('openai, responses', async () => {
        const called = { type: 'function_call', call_id: 'c1', name: 'everything__echo', arguments: '{"message":"hi"}' };
        assert.equal(await check('responses', "import type OpenAI from 'openai';", {
            'OpenAI.Responses.FunctionTool[]': await patchbay('export', '--format', 'openai-responses'),
            'OpenAI.Responses.ResponseFunctionToolCall': called,
            'OpenAI.Responses.ResponseInputItem.FunctionCallOutput': await patchbay('call', '--from', 'openai', JSON.stringify(called)),
        }), '');
    });

    test('anthropic', async () => {
        const called = { type: 'tool_use', id: 't1', name: 'everything__get-tiny-image', input: {} };
        const said = await patchbay('call', '--from', 'anthropic', JSON.stringify(called));
        assert.ok(said.content.some((part) => part.type === 'image'), JSON.stringify(said).slice(0, 500));
        assert.equal(await check('anthropic', "import type Anthropic from '@anthropic-ai/sdk';", {
            'Anthropic.Tool[]': await patchbay('export', '--format', 'anthropic'),
            'Anthropic.ToolUseBlockParam': called,
            'Anthropic.ToolResultBlockParam': said,
        }), '');
    });

    test('gemini', async () => {
        const tools = await patchbay('export', '--format', 'gemini');
        assert.ok(tools[0].functionDeclarations.length > 20);
        assert.equal(await check('gemini', "import type { Tool } from '@google/genai';", { 'Tool[]': tools }), '');
    });

    test('mcp', async () => {
        const tools = await patchbay('export', '--format', 'mcp');
        assert.deepEqual(ListToolsResultSchema.parse({ tools }).tools.map(({ name }) => name), tools.map(({ name }) => name));
    });
});
