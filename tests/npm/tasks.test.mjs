// SPDX-License-Identifier: Apache-2.0
// Tasks, with clients and a server that others wrote. Of 2025-11-25: the official TypeScript SDK 1.x has them, and
// server-everything has a tool that runs as a task only, and asks its user while it does. Of the extension: the
// official client library, on the SDK 2.x. No server of the SDK has the extension, so its server is the suite's own.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
    CallToolResultSchema,
    ElicitRequestSchema,
    ErrorCode,
    TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { HUB, PATIENT, PLUGINS, hub, isOwnRace, makeFolder, signal, within } from './support.mjs';

const folder = makeFolder();
const TOOL = 'everything__simulate-research-query';

async function connect(onStatus) {
    const client = new Client({ name: 'tasks', version: '1' }, { capabilities: { elicitation: { form: {} } } });
    const errors = [];
    client.onerror = (error) => isOwnRace(error) || errors.push(error);
    client.setNotificationHandler(TaskStatusNotificationSchema, onStatus);
    await client.connect(new StdioClientTransport({ ...hub(folder), stderr: 'ignore' }));
    await client.listTools(); // so that it knows which tools are tasks
    return { client, errors };
}

/** Everything that a call says of itself, in order. */
async function collect(stream) {
    const said = [];
    for await (const message of stream) {
        said.push(message);
    }
    return said;
}

describe('tasks of SDK 1.x', { concurrency: true }, () => {
    const told = [];
    let client;
    let errors;

    before(async () => ({ client, errors } = await connect(({ params }) => told.push(params))));
    after(async () => {
        await client.close();
        assert.deepEqual(errors, [], 'the client saw nothing that it did not understand');
    });

    const begin = (args) => client.experimental.tasks.callToolStream({ name: TOOL, arguments: args }, CallToolResultSchema);

    test('are announced', () => {
        assert.deepEqual(client.getServerCapabilities().tasks, { cancel: {}, requests: { tools: { call: {} } } });
    });

    test('run to their end', async () => {
        const said = await within(collect(begin({ topic: 'hubs' })), 'the result');
        const [created] = said;
        assert.equal(created.type, 'taskCreated');
        assert.match(created.task.taskId, /^everything\.[0-9a-f]{32}\../);
        for (const { type, task } of said.slice(1, -1)) {
            assert.equal(type, 'taskStatus');
            assert.equal(task.taskId, created.task.taskId);
        }
        const { type, result } = said.at(-1);
        assert.equal(type, 'result');
        assert.match(result.content[0].text, /Research Report: hubs/);
        assert.equal(result._meta['io.modelcontextprotocol/related-task'].taskId, created.task.taskId);
        assert.ok(told.some(({ taskId }) => taskId === created.task.taskId), 'its changes are told');
    });

    test('ask while they run', async () => {
        const asked = [];
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
            asked.push(params);
            return { action: 'accept', content: { interpretation: 'technical' } };
        });
        const said = await within(collect(begin({ topic: 'python', ambiguous: true })), 'the result');
        assert.equal(asked.length, 1);
        assert.match(asked[0].message, /python/);
        assert.equal(asked[0]._meta['io.modelcontextprotocol/related-task'].taskId, said[0].task.taskId);
        assert.match(said.at(-1).result.content[0].text, /Research Report: python \(technical\)/);
    });

    test('can be cancelled', async () => {
        const stream = begin({ topic: 'nothing', ambiguous: true }); // it does not end before it has asked
        const { task } = (await within(stream.next(), 'the task')).value;
        const cancelled = await client.experimental.tasks.cancelTask(task.taskId);
        assert.equal(cancelled.taskId, task.taskId);
        assert.equal(cancelled.status, 'cancelled');
        assert.equal((await client.experimental.tasks.getTask(task.taskId)).status, 'cancelled');
        await stream.return();
    });

    test('are nobody else\'s', async () => {
        await assert.rejects(client.experimental.tasks.getTask('everything.00000000000000000000000000000000.1'), {
            code: ErrorCode.InvalidParams,
        });
    });

    test('are not what other tools run as', async () => {
        await assert.rejects(
            client.request(
                { method: 'tools/call', params: { name: 'everything__echo', arguments: { message: 'x' }, task: {} } },
                CallToolResultSchema,
            ),
            { code: ErrorCode.MethodNotFound },
        );
    });
});

/** Requests of the extension, which the SDK itself would not let through, on the SDK's own connection. */
function rawDispatch(transport, onAnswer) {
    const waiting = new Map();
    const take = transport.onmessage;
    transport.onmessage = (message, ...more) => {
        const answer = waiting.get(message.id);
        if (answer === undefined || message.method !== undefined) {
            take(message, ...more);
            return;
        }
        waiting.delete(message.id);
        answer(message.error ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result });
    };
    let count = 0;
    return async (request) => {
        const id = `raw-${++count}`;
        const answered = new Promise((done) => waiting.set(id, done));
        await transport.send({ jsonrpc: '2.0', id, ...request });
        const answer = await within(answered, request.method);
        onAnswer(request, answer);
        return answer;
    };
}

describe('tasks of the extension', () => {
    const SERVER = fileURLToPath(new URL('../support/task_upstream.py', import.meta.url));
    const clientInfo = { name: 'tasks', version: '1' };
    const seen = [];
    const updated = signal();
    const asked = [];
    let client;
    let session;

    before(async () => {
        const manifest = join(folder, 'extension.json');
        const args = [SERVER, '--era', 'modern'];
        writeFileSync(manifest, JSON.stringify({ toolsets: { up: { command: 'python3', args } }, limits: PATIENT }));
        const transport = new ModernStdio({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS], stderr: 'ignore' });
        client = new ModernClient(clientInfo, { versionNegotiation: { mode: 'auto' } });
        await within(client.connect(transport), 'the connection');
        await client.listTools();
        session = createTaskSessionFromClient(client, {
            endpointId: 'hub',
            rawDispatch: rawDispatch(transport, (request, answer) => {
                seen.push({ method: request.method, taskId: answer.result?.taskId });
                if (request.method === 'tasks/update') {
                    updated.fire();
                }
            }),
            v2RequestFraming: {
                protocolVersion: client.getNegotiatedProtocolVersion(),
                clientInfo,
                clientCapabilities: { elicitation: { form: {} } },
            },
            onInputRequest: async (request) => {
                asked.push(request);
                return { action: 'accept', content: { name: 'Ann' } };
            },
        });
    });
    after(async () => {
        await session.close();
        await client.close();
    });

    const drive = (what) => client.callTool({ name: 'up__drive', arguments: { task: 1, ...what } });

    test('run to their end, and ask while they run', async () => {
        const execution = await session.callTool('up__slow', {});
        const settled = execution.settle();
        const form = { message: 'who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
        await drive({ ask: { method: 'elicitation/create', params: form } });
        await within(updated.fired, 'the answer');
        await drive({ status: 'completed' });
        const result = resultFromTaskOutcome((await within(settled, 'the result')).outcome);
        assert.equal(result.content[0].text, 'the result of t-1');
        assert.deepEqual(result.answered, [{ action: 'accept', content: { name: 'Ann' } }]);
        assert.equal(asked.length, 1);
        const ids = new Set(seen.map(({ taskId }) => taskId).filter(Boolean));
        assert.equal(ids.size, 1);
        assert.match([...ids][0], /^up\.[0-9a-f]{32}\.4\.slow\.t-1$/);
    });
});
