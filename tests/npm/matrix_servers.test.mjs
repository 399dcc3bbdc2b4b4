// SPDX-License-Identifier: Apache-2.0
// Every client of the matrix with servers that others wrote: server-everything over pipes and over HTTP,
// server-filesystem, server-memory. All of them are legacy servers.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { CLIENTS } from './matrix_clients.mjs';
import { closeAll, connectAll, startListening } from './matrix_cells.mjs';
import { makeFolder, servers, within } from './support.mjs';

const folder = makeFolder();
const { everything, files, memory } = servers(folder);

const ROOTS = { roots: [{ uri: `file://${folder}`, name: 'Work' }] };
const ADA = { action: 'accept', content: { name: 'Ada', check: true, integer: 7 } };
const SAID = { role: 'assistant', model: 'test', content: { type: 'text', text: 'said so' } };
const TEXT = 'demo://resource/dynamic/text/1';

const names = async (peer, kind) => (await peer.list(kind)).map((one) => one.name);

const EVERYTHING = {
    async 'lists tools, resources, templates and prompts'(peer) {
        // Some it announces only when it knows what clients can do.
        let tools = await names(peer, 'tools');
        while (!tools.includes('everything__trigger-elicitation-request')) {
            await peer.told('tools');
            tools = await names(peer, 'tools');
        }
        assert.ok(tools.includes('everything__get-structured-content'));
        assert.ok((await peer.list('resources')).length > 0);
        const templates = await peer.list('resourceTemplates');
        assert.ok(templates.some((one) => one.uriTemplate === 'demo://resource/dynamic/text/{resourceId}'));
        assert.ok((await names(peer, 'prompts')).includes('everything__args-prompt'));
    },
    async 'calls tools'(peer) {
        assert.equal(await peer.text('everything__echo', { message: 'é \u{1f600}' }), 'Echo: é \u{1f600}');
        assert.match(await peer.text('everything__get-sum', { a: 2, b: 40 }), /42/);
        const { content } = await peer.call('everything__get-tiny-image');
        assert.ok(content.some((block) => block.type === 'image' && block.mimeType === 'image/png'));
        const links = await peer.call('everything__get-resource-links', { count: 2 });
        assert.equal(links.content.filter((block) => block.type === 'resource_link').length, 2);
        const annotated = await peer.call('everything__get-annotated-message', { messageType: 'error' });
        assert.equal(annotated.content[0].annotations.priority, 1);
    },
    async 'gets a structured result'(peer) {
        const { structuredContent } = await peer.call('everything__get-structured-content', { location: 'Chicago' });
        assert.equal(structuredContent.temperature, 36);
    },
    async 'sees errors'(peer) {
        const bad = await peer.call('everything__get-sum', { a: 'two' }).catch((error) => error);
        assert.ok(bad.isError || bad.code === -32602, JSON.stringify(bad));
        await assert.rejects(peer.client.getPrompt({ name: 'everything__args-prompt', arguments: {} }), { code: -32602 });
    },
    async 'reads progress, and cancels'(peer) {
        const controller = new AbortController();
        const options = { signal: controller.signal, onprogress: ({ progress }) => progress >= 2 && controller.abort('enough') };
        const call = peer.call('everything__trigger-long-running-operation', { duration: 60, steps: 3000 }, options);
        await assert.rejects(within(call, 'the end of the cancelled call'), /enough/);
        assert.equal(await peer.text('everything__echo', { message: 'still there' }), 'Echo: still there');
    },
    async 'reads resources'(peer) {
        const [text] = await peer.read(TEXT);
        assert.match(text.text, /^Resource 1: /);
        const [blob] = await peer.read('demo://resource/dynamic/blob/2');
        assert.match(Buffer.from(blob.blob, 'base64').toString(), /^Resource 2: /);
        await assert.rejects(peer.read('demo://nowhere'));
    },
    async 'subscribes to a resource'(peer) {
        const unsubscribe = await within(peer.subscribe(TEXT), 'the subscription');
        assert.match(await peer.text('everything__toggle-subscriber-updates'), /^Started/);
        assert.equal((await peer.told('updated')).uri, TEXT);
        assert.match(await peer.text('everything__toggle-subscriber-updates'), /^Stopped/);
        await unsubscribe();
    },
    async 'gets prompts'(peer) {
        const { messages } = await peer.client.getPrompt({ name: 'everything__args-prompt', arguments: { city: 'Łódź' } });
        assert.match(messages[0].content.text, /Łódź/);
        const args = { resourceType: 'Text', resourceId: '3' };
        const embedded = await peer.client.getPrompt({ name: 'everything__resource-prompt', arguments: args });
        assert.ok(embedded.messages.some(({ content }) => content.type === 'resource' && content.resource.uri.endsWith('/text/3')));
    },
    async 'completes arguments'(peer) {
        const ref = { type: 'ref/prompt', name: 'everything__completable-prompt' };
        const argument = { name: 'name', value: 'E' };
        const { completion } = await peer.client.complete({ ref, argument, context: { arguments: { department: 'Sales' } } });
        assert.deepEqual(completion.values, ['Eve']);
        const ofTemplate = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' };
        const found = await peer.client.complete({ ref: ofTemplate, argument: { name: 'resourceId', value: '7' } });
        assert.deepEqual(found.completion.values, ['7']);
    },
    async 'is asked with a form'(peer) {
        const { content } = await peer.call('everything__trigger-elicitation-request');
        assert.match(JSON.stringify(content), /Ada/);
        const { params } = peer.asked.find(({ kind }) => kind === 'elicit');
        assert.deepEqual(params.requestedSchema.properties.titledSingleSelectEnum.oneOf[0], { const: 'hero-1', title: 'Superman' });
        assert.deepEqual(params.requestedSchema.required, ['name']);
    },
    async 'is asked to visit a URL'(peer) {
        const { content } = await peer.call('everything__trigger-url-elicitation', { url: 'https://example.org/visit' });
        assert.match(content[0].text, /completed the URL elicitation/);
        assert.ok(peer.asked.some(({ params }) => params?.url === 'https://example.org/visit'));
    },
    async 'is asked for sampling'(peer) {
        assert.match(await peer.text('everything__trigger-sampling-request', { prompt: 'why?', maxTokens: 5 }), /said so/);
        const { params } = peer.asked.find(({ kind }) => kind === 'sample');
        assert.match(params.messages[0].content.text, /why\?$/);
        assert.equal(params.maxTokens, 5);
    },
    async 'is asked for roots'(peer) {
        assert.match(await peer.text('everything__get-roots-list'), /Current MCP Roots \(1 total\)[^]*Work/);
    },
};

/** Its messages belong to no call. Over a pipe they come before the answer; over HTTP on a stream of their own, and a modern
 * client only hears what belongs to its call (2026-07-28 server/utilities/logging, Per-request log level). */
const LOGGING = {
    async 'hears what it logs'(peer) {
        await peer.callLogging('debug', 'everything__toggle-simulated-logging');
        await peer.told('log', (params) => /level.message/.test(params.data));
        assert.match(await peer.text('everything__toggle-simulated-logging'), /^Stopped/);
    },
};

const FILES_AND_MEMORY = {
    async 'files: reads, writes, is refused'(peer, key) {
        const path = join(folder, `${key}.txt`);
        await peer.text('files__write_file', { path, content: `é ${key}\n` });
        assert.equal(readFileSync(path, 'utf8'), `é ${key}\n`);
        assert.equal(await peer.text('files__read_text_file', { path }), `é ${key}\n`);
        const denied = await peer.call('files__read_text_file', { path: '/etc/hostname' });
        assert.equal(denied.isError, true);
        assert.match(denied.content[0].text, /denied/i);
    },
    async 'files: a structured result'(peer) {
        writeFileSync(join(folder, 'small.txt'), 'small\n');
        const result = await peer.call('files__get_file_info', { path: join(folder, 'small.txt') });
        assert.match(result.structuredContent.content, /size: 6/);
    },
    async 'memory: keeps what it is told'(peer, key) {
        const entity = { name: key, entityType: 'test', observations: ['first'] };
        const made = await peer.call('memory__create_entities', { entities: [entity] });
        assert.deepEqual(made.structuredContent.entities, [entity]);
        await peer.text('memory__add_observations', { observations: [{ entityName: key, contents: ['second'] }] });
        const found = await peer.call('memory__open_nodes', { names: [key] });
        assert.deepEqual(found.structuredContent.entities[0].observations, ['first', 'second']);
    },
};

function together(title, start, cases, legacyCases = {}) {
    describe(title, () => {
        const all = new Map();
        let server;

        before(async () => {
            server = await start();
            await connectAll(all, server.toolsets, { elicit: () => ADA, sample: () => SAID, roots: () => ROOTS });
        });
        after(() => closeAll(all).finally(() => server.close?.()));

        for (const client of Object.keys(CLIENTS)) {
            describe(client, () => {
                const own = CLIENTS[client].era === 'legacy' ? { ...cases, ...legacyCases } : cases;
                for (const [name, run] of Object.entries(own)) {
                    test(`${client} -> ${title}: ${name}`, () => run(all.get(client).peer, `from_${client.replaceAll(' ', '_')}`));
                }
            });
        }
    });
}

together('server-everything, stdio', () => ({ toolsets: { everything } }), { ...EVERYTHING, ...LOGGING });
together(
    'server-everything, HTTP',
    async () => {
        const { entry, close } = await startListening('everything.mjs');
        return { toolsets: { everything: entry }, close };
    },
    EVERYTHING,
    LOGGING,
);
together('server-filesystem and server-memory', () => ({ toolsets: { files, memory } }), FILES_AND_MEMORY);
