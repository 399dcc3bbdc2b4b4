// SPDX-License-Identifier: Apache-2.0
// Servers behind the hub over HTTP, as others run them: server-everything with its own main, over streamable HTTP and over
// HTTP+SSE. And a hub behind a hub, in both eras: nothing may be lost on the way through two.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { UPSTREAMS, closeAll, column, connectAll, startListening } from './matrix_cells.mjs';
import { CLIENTS } from './matrix_clients.mjs';
import { HUB, NODE, PATIENT, PLUGINS, makeFolder, serve, servers, within } from './support.mjs';

const SAY_ADDRESS = join(dirname(fileURLToPath(import.meta.url)), 'fixtures', 'say_address.mjs');
const ADA = { action: 'accept', content: { name: 'Ada', check: true, integer: 7 } };
const SAID = { role: 'assistant', model: 'test', content: { type: 'text', text: 'said so' } };

/** Start server-everything with one of its transports; its origin. */
async function startEverything(transport) {
    const { args } = servers(makeFolder()).everything;
    const child = spawn(NODE, ['--import', SAY_ADDRESS, ...args, transport], {
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { ...process.env, PORT: '0' },
    });
    const ended = new Promise((done) => child.on('exit', done));
    const said = new Promise((done) => createInterface({ input: child.stdout }).once('line', done));
    return {
        origin: await within(said, `server-everything over ${transport}`),
        async close() {
            child.stdin.end();
            await within(ended, `the end of server-everything over ${transport}`);
        },
    };
}

/** What the server says of its progress. The server asks for roots a moment after its start; when a call of a modern client is
 * asked instead, that client tells of its own round by the same way, without a total. */
const ofServer = (tell) => (one) => one.total !== undefined && tell(one);

const FEATURES = {
    async 'list and call'(peer) {
        const names = (await peer.list('tools')).map(({ name }) => name);
        assert.ok(names.includes('everything__get-structured-content'));
        assert.equal(await peer.text('everything__echo', { message: 'é \u{1f600}' }), 'Echo: é \u{1f600}');
        const { structuredContent } = await peer.call('everything__get-structured-content', { location: 'Chicago' });
        assert.equal(structuredContent.temperature, 36);
    },
    async errors(peer) {
        const bad = await peer.call('everything__get-sum', { a: 'two' }).catch((error) => error);
        assert.ok(bad.isError || bad.code === -32602, JSON.stringify(bad));
    },
    async progress(peer) {
        const seen = [];
        const controller = new AbortController();
        const onprogress = ofServer(({ progress }) => seen.push(progress) === 2 && controller.abort('enough'));
        const options = { signal: controller.signal, onprogress };
        const call = peer.call('everything__trigger-long-running-operation', { duration: 60, steps: 600 }, options);
        await assert.rejects(within(call, 'two steps'), /enough/);
        assert.deepEqual(seen, [1, 2]);
    },
    async cancelling(peer) {
        const controller = new AbortController();
        const options = { signal: controller.signal, onprogress: ofServer(() => controller.abort('enough')) };
        const call = peer.call('everything__trigger-long-running-operation', { duration: 60, steps: 600 }, options);
        await assert.rejects(within(call, 'the end of the cancelled call'), /enough/);
    },
    async 'resources, and their changes'(peer) {
        const uri = 'demo://resource/dynamic/text/1';
        const [text] = await peer.read(uri);
        assert.match(text.text, /^Resource 1: /);
        const unsubscribe = await within(peer.subscribe(uri), 'the subscription');
        await peer.text('everything__toggle-subscriber-updates');
        assert.equal((await peer.told('updated')).uri, uri);
        await peer.text('everything__toggle-subscriber-updates');
        await unsubscribe();
    },
    async 'prompts and completion'(peer) {
        const { messages } = await peer.client.getPrompt({ name: 'everything__args-prompt', arguments: { city: 'Łódź' } });
        assert.match(messages[0].content.text, /Łódź/);
        const ref = { type: 'ref/prompt', name: 'everything__completable-prompt' };
        const context = { arguments: { department: 'Sales' } };
        const { completion } = await peer.client.complete({ ref, argument: { name: 'name', value: 'E' }, context });
        assert.deepEqual(completion.values, ['Eve']);
    },
    async logging(peer) {
        if (peer.era === 'modern') {
            return; // this server logs outside of its calls, where a modern client hears nothing
        }
        await peer.callLogging('debug', 'everything__toggle-simulated-logging');
        await peer.told('log', ({ data }) => /-level message/.test(data));
        await peer.text('everything__toggle-simulated-logging');
    },
    async 'sampling and elicitation'(peer) {
        assert.match(await peer.text('everything__trigger-sampling-request', { prompt: 'why?', maxTokens: 5 }), /said so/);
        const { content } = await peer.call('everything__trigger-elicitation-request');
        assert.match(JSON.stringify(content), /Ada/);
    },
};

for (const [title, transport, entry] of [
    ['streamable HTTP', 'streamableHttp', (origin) => ({ url: `${origin}/mcp` })],
    ['HTTP+SSE', 'sse', (origin) => ({ url: `${origin}/sse`, type: 'sse' })],
    ['HTTP+SSE, found out', 'sse', (origin) => ({ url: `${origin}/sse` })],
]) {
    describe(`server-everything, ${title}`, () => {
        const all = new Map();
        let server;

        before(async () => {
            server = await startEverything(transport);
            const answers = { elicit: () => ADA, sample: () => SAID, roots: () => ({ roots: [] }) };
            await connectAll(all, { everything: entry(server.origin) }, answers);
        });
        after(() => closeAll(all).finally(() => server.close()));

        for (const client of Object.keys(CLIENTS)) {
            for (const [feature, run] of Object.entries(FEATURES)) {
                test(`${client}: ${feature}`, () => run(all.get(client).peer));
            }
        }
    });
}

/** Have a hub meet its servers: until then it cannot say what they can do. */
async function introduce(url) {
    const peer = new CLIENTS['modern HTTP'].Peer({});
    await peer.connect(CLIENTS['modern HTTP'].open(url));
    await peer.list('tools');
    await peer.close();
}

/** A hub that has nothing of its own, in front of a server of the matrix. */
function behindHub(script, protocol) {
    return async () => {
        const server = await startListening(script, 'http');
        const manifest = join(makeFolder(), 'patchbay.json');
        const hub = { naming: 'none', meta_tools: false };
        writeFileSync(manifest, JSON.stringify({ hub, toolsets: { inner: server.entry }, limits: PATIENT }));
        const inner = await serve({ command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS] });
        await introduce(inner.url);
        return {
            entry: { url: `${inner.url}/mcp`, protocol },
            async close() {
                await inner.close();
                await server.close();
            },
        };
    };
}

UPSTREAMS['hub, legacy'] = { era: 'legacy', start: behindHub('legacy.mjs', '2025-11-25') };
UPSTREAMS['hub, modern'] = { era: 'modern', start: behindHub('modern.mjs', '2026-07-28') };
column('hub, legacy');
column('hub, modern');
