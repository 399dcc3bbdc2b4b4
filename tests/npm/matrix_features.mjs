// SPDX-License-Identifier: Apache-2.0
// What is tried in each cell of the matrix: name -> test. A cell has
//   peer      the client (matrix_clients.mjs), connected to the hub, with others beside it
//   others    those others
//   hubs      a client at each of the hubs, where they are many: what one has learned, another may learn later
//   upstream  the era of the server behind the hub (fixtures/content.mjs says what it offers)
//   key       text that no other cell uses, fit for names
//   isTold    whether the server says for which call it asks something
//   tool()    the name of a tool of that server at the hub

import assert from 'node:assert/strict';

import { ICON, VIEW } from './fixtures/content.mjs';
import { within } from './support.mjs';

const byName = (all, name) => all.find((one) => one.name === name);

/** What a client ignores: the members that the eras add. */
const body = ({ _meta, resultType, ttlMs, cacheScope, ...rest }) => rest;

async function listTools({ peer, tool }) {
    const tools = await peer.list('tools');
    const echo = byName(tools, tool('echo'));
    assert.equal(echo.title, 'Echo');
    assert.equal(echo.description, 'Says what it was told \u{1f99c}');
    assert.deepEqual(echo.icons, [ICON]);
    assert.deepEqual(echo.annotations, { readOnlyHint: true, title: 'Echo' });
    assert.deepEqual(echo._meta['example.org/origin'], { deep: [1, null, { x: 'y' }] });
    assert.deepEqual(echo.inputSchema.required, ['text']);
    assert.ok(byName(tools, tool('weather')).outputSchema, 'the last page is there, too');
}

async function listResources({ peer }) {
    const resources = await peer.list('resources');
    const plain = byName(resources, 'plain');
    assert.equal(plain.uri, 'fixture://plain');
    assert.equal(plain.size, 12);
    assert.deepEqual(plain.icons, [ICON]);
    assert.deepEqual(byName(resources, 'blob').annotations, { audience: ['user'], priority: 0.5 });
    assert.ok(byName(resources, 'many-3'), 'the last page is there, too');
    const [item] = await peer.list('resourceTemplates');
    assert.equal(item.uriTemplate, 'fixture://item/{kind}/{id}');
}

async function listPrompts({ peer, tool }) {
    const prompts = await peer.list('prompts');
    assert.deepEqual(byName(prompts, tool('greet')).arguments, [{ name: 'who', required: true }, { name: 'tongue' }]);
    assert.ok(byName(prompts, tool('many-3')), 'the last page is there, too');
}

async function call({ peer, tool }) {
    const result = await peer.call(tool('echo'), { text: 'é \u2028 \u{1f600}' }, {}, { 'example.org/sent': { a: [1.5, null] } });
    assert.deepEqual(body(result), { content: [{ type: 'text', text: 'é \u2028 \u{1f600}' }] });
    assert.deepEqual(result._meta['example.org/got'], { a: [1.5, null] });
}

async function toolError({ peer, tool }) {
    const result = await peer.call(tool('fail'));
    assert.deepEqual(body(result), { content: [{ type: 'text', text: 'that went wrong' }], isError: true });
}

async function protocolError({ peer, tool }) {
    await assert.rejects(peer.call(tool('refuse')), { code: -31999, message: /not today/, data: { until: 'tomorrow' } });
    await assert.rejects(peer.call(tool('nope')), { code: -32602, message: /unknown tool/i });
    await assert.rejects(peer.client.getPrompt({ name: tool('greet'), arguments: {} }), { code: -32602, message: /greet whom/ });
}

async function structured({ peer, tool }) {
    await peer.list('tools'); // with the schemas at hand, clients validate
    const result = await peer.call(tool('weather'), { place: 'Łódź' });
    assert.deepEqual(result.structuredContent, { place: 'Łódź', degrees: 21.5 });
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
}

async function progress({ peer, tool, key }) {
    const seen = [];
    let result;
    const all = new Promise((done) => {
        const onprogress = (one) => seen.push(one) === 3 && done();
        result = peer.call(tool('steps'), { key }, { onprogress });
    });
    await within(all, 'progress');
    assert.deepEqual(
        seen.map(({ progress: at, total, message }) => [at, total, message]),
        [1, 2, 3].map((at) => [at, 3, `step ${at}`]),
    );
    await peer.call(tool('arrive'), { key });
    assert.equal((await result).content[0].text, 'arrived');
}

async function cancel({ peer, tool, key }) {
    const controller = new AbortController();
    const options = { signal: controller.signal, onprogress: () => controller.abort('enough') };
    await assert.rejects(within(peer.call(tool('wait'), { key }, options), 'the end of the cancelled call'), /enough/);
    assert.equal(await within(peer.text(tool('was_cancelled'), { key }), 'the cancellation at the server'), 'cancelled');
}

/** Have the server add to a list, and wait to be told and to see it. */
async function changed({ peer, hubs, tool, key }, kind, isThere) {
    const name = `new_${kind}_${key}`;
    assert.equal(await peer.text(tool('change'), { kind, name }), 'changed');
    for (const one of [peer, ...hubs]) {
        do {
            await one.told(kind); // perhaps of a change before this one
        } while (!(await one.list(kind)).some((item) => isThere(item, name)));
    }
}

async function toolsChanged(cell) {
    await changed(cell, 'tools', (one, name) => one.name === cell.tool(name));
    assert.match(await cell.peer.text(cell.tool(`new_tools_${cell.key}`)), /is new$/);
}

async function promptsChanged(cell) {
    await changed(cell, 'prompts', (one, name) => one.name === cell.tool(name));
}

async function resourcesChanged(cell) {
    await changed(cell, 'resources', (one, name) => one.uri === `fixture://new/${name}`);
    assert.equal((await cell.peer.read(`fixture://new/new_resources_${cell.key}`)).length, 1);
}

async function read({ peer }) {
    const [plain] = await peer.read('fixture://plain');
    const _meta = { 'example.org/x': 1 };
    assert.deepEqual(plain, { uri: 'fixture://plain', mimeType: 'text/plain', text: 'Hello \u2028 \u{1f600}', _meta });
    const [blob] = await peer.read('fixture://blob');
    assert.equal(blob.blob, 'AAH+/w==');
    const [item] = await peer.read('fixture://item/book/7');
    assert.deepEqual(JSON.parse(item.text), { kind: 'book', id: '7' });
}

async function unknownResource({ peer }) {
    // 2026-07-28 server/resources, Error Handling: -32602 takes the place of -32002.
    const code = peer.era === 'modern' ? -32602 : -32002;
    // The first one nobody has; the other fits a template, so the server is asked.
    for (const uri of ['fixture://nowhere', 'fixture://item/none/0']) {
        await assert.rejects(peer.read(uri), (error) => {
            assert.equal(error.code, code, error.message);
            assert.equal(error.data.uri, uri);
            return true;
        });
    }
}

/** Wait until the server has that many subscriptions to a resource, of all clients together. */
async function subscribed({ peer, tool }, uri, count) {
    assert.equal(await within(peer.text(tool('subscribed'), { uri, count }), `${count} subscriptions at the server`), 'so it is');
}

async function subscribe(cell) {
    const { peer, others, tool } = cell;
    const uri = 'fixture://many/0';
    const isIt = (params) => params.uri === uri;
    const unsubscribe = await within(peer.subscribe(uri), 'the subscription');
    await peer.call(tool('touch'), { uri });
    await peer.told('updated', isIt);
    await peer.call(tool('touch'), { uri });
    await peer.told('updated', isIt);
    await within(unsubscribe(), 'the end of the subscription');
    await subscribed(cell, uri, 0);
    [peer, ...others].forEach((one) => assert.deepEqual(one.unread('updated', isIt), [], 'told once, and nobody else'));
}

async function sharedSubscription(cell) {
    const { peer, others, tool } = cell;
    const uri = 'fixture://many/1';
    const isIt = (params) => params.uri === uri;
    const all = [peer, ...others];
    const ends = await within(Promise.all(all.map((one) => one.subscribe(uri))), 'the subscriptions');
    await subscribed(cell, uri, 1);
    await peer.call(tool('touch'), { uri });
    await Promise.all(all.map((one) => one.told('updated', isIt)));
    await within(Promise.all(ends.slice(1).map((end) => end())), 'the end of all but one');
    await subscribed(cell, uri, 1);
    await peer.call(tool('touch'), { uri });
    await peer.told('updated', isIt); // the last one still hears of it
    await within(ends[0](), 'the end of the last one');
    await subscribed(cell, uri, 0);
}

async function prompt({ peer, tool }) {
    const result = await peer.client.getPrompt({ name: tool('greet'), arguments: { who: 'Żaneta' } });
    assert.equal(result.description, 'Greets');
    assert.deepEqual(result.messages, [{ role: 'user', content: { type: 'text', text: 'Hello, Żaneta' } }]);
}

async function completion({ peer, tool }) {
    const ofPrompt = { ref: { type: 'ref/prompt', name: tool('greet') }, argument: { name: 'who', value: 'wo' } };
    assert.deepEqual((await peer.client.complete(ofPrompt)).completion, { values: ['world', 'women'], total: 2, hasMore: false });
    const ofTemplate = {
        ref: { type: 'ref/resource', uri: 'fixture://item/{kind}/{id}' },
        argument: { name: 'id', value: '' },
        context: { arguments: { kind: 'book' } },
    };
    assert.deepEqual((await peer.client.complete(ofTemplate)).completion.values, ['book1', 'book2', 'book3']);
}

async function logging({ peer, others, tool, key }) {
    const about = (topic) => (params) => params.data.topic === topic;
    // The server is told the level of who wants most.
    const [curious] = [...others, peer];
    await curious.callLogging('debug', tool('talk'), { topic: `${key} debug` });
    for (const level of ['debug', 'info', 'error']) {
        const told = await curious.told('log', about(`${key} debug`));
        assert.deepEqual(told, { level, logger: 'fixture', data: { topic: `${key} debug`, level } });
    }
    await peer.callLogging('info', tool('talk'), { topic: key });
    assert.equal((await peer.told('log', about(key))).level, 'info');
    assert.equal((await peer.told('log', about(key))).level, 'error');
    await peer.text(tool('echo'), { text: 'later' });
    assert.deepEqual(peer.unread('log', about(key)), [], 'debug is below info');
    [curious, ...others.filter((other) => other.era === 'modern')]
        .filter((other) => other !== peer)
        .forEach((other) => assert.deepEqual(other.unread('log', about(key)), [], 'nobody else was told'));
}

async function announcement({ peer, tool, key }) {
    const isIt = (params) => params.data.topic === `to all: ${key}`;
    await peer.callLogging('error', tool('announce'), { topic: `to all: ${key}` });
    assert.equal((await peer.told('log', isIt)).level, 'error');
}

async function apps({ peer, tool }) {
    const isModern = peer.era === 'modern';
    // A legacy client is told once. The one that started the hub was so before the server was there.
    if (isModern || !peer.startedHub) {
        const { extensions } = isModern ? (await peer.client.discover()).capabilities : peer.client.getServerCapabilities();
        assert.deepEqual(extensions['io.modelcontextprotocol/ui'], { mimeTypes: [VIEW.mimeType] });
    }
    const show = byName(await peer.list('tools'), tool('show'));
    assert.equal(show._meta.ui.resourceUri, VIEW.uri);
    const [view] = await peer.read(VIEW.uri);
    assert.deepEqual(view, { uri: VIEW.uri, mimeType: VIEW.mimeType, text: '<p>', _meta: { ui: { prefersBorder: true } } });
}

/** All clients call at the same time, each with requests of the same ids; each gets its own. */
async function everybody({ peer, others, tool }) {
    const all = [peer, ...others];
    const calls = all.flatMap((one, who) =>
        Array.from({ length: 8 }, async (_, n) => {
            const sent = `${who} ${n}`;
            assert.equal(await one.text(tool('echo'), { text: sent }), sent);
            assert.equal((await one.call(tool('weather'), { place: sent })).structuredContent.place, sent);
        }),
    );
    const steps = all.map(async (one, who) => {
        const key = `everybody ${who} ${Math.random()}`;
        let count = 0;
        const done = new Promise((resolve) => {
            const onprogress = () => ++count === 3 && resolve();
            one.call(tool('steps'), { key }, { onprogress }).then(() => resolve('too early'), resolve);
        });
        assert.equal(await done, undefined);
        await one.call(tool('arrive'), { key });
        assert.equal(count, 3, 'its own progress and nobody else\'s');
    });
    await within(Promise.all([...calls, ...steps]), 'all answers');
}

async function ping({ peer }) {
    assert.deepEqual(await peer.client.ping(), {});
}

export const FEATURES = {
    'tools: list, with pages, icons and _meta': listTools,
    'resources: list, templates': listResources,
    'prompts: list': listPrompts,
    'tools: call, with _meta': call,
    'tools: an error of the tool': toolError,
    'tools, prompts: an error of the protocol': protocolError,
    'tools: a structured result': structured,
    progress,
    cancel,
    'tools: list_changed': toolsChanged,
    'prompts: list_changed': promptsChanged,
    'resources: list_changed': resourcesChanged,
    'resources: read text, blob, by template': read,
    'resources: an unknown URI': unknownResource,
    'resources: subscribe, updated, unsubscribe': subscribe,
    'resources: one subscription for many clients': sharedSubscription,
    'prompts: get': prompt,
    'completion of prompts and templates': completion,
    'logging about a call': logging,
    'logging outside of calls': announcement,
    'MCP Apps: extension, view': apps,
    'everybody at once': everybody,
    ping,
};
