// SPDX-License-Identifier: Apache-2.0
// What is tried in each cell of the matrix (see matrix_features.mjs), continued: what servers ask of clients.

import assert from 'node:assert/strict';

import { FORM } from './fixtures/content.mjs';
import { within } from './support.mjs';

const ADA = { action: 'accept', content: { name: 'Ada', age: 36 } };
const SAID = { role: 'assistant', model: 'test', content: { type: 'text', text: 'something' }, stopReason: 'endTurn' };
const ROOTS = { roots: [{ uri: 'file:///work', name: 'Work' }] };

/** Run a test with these answers; the questions that came. Nobody else may have been asked. */
async function asking({ peer, others }, answers, work) {
    [peer, ...others].forEach((one) => Object.assign(one, { asked: [], answers: {} }));
    peer.answers = answers;
    await within(work(), 'the end of the call');
    others.forEach((other) => assert.deepEqual(other.asked, [], 'nobody else was asked'));
    return peer.asked;
}

const json = async ({ peer, tool }, name, args) => JSON.parse(await peer.text(tool(name), args));

/** The parts of a form that were written by the server. */
function isForm(params, message = FORM.message) {
    assert.equal(params.message, message);
    assert.deepEqual(params.requestedSchema, FORM.requestedSchema);
}

async function form(cell) {
    for (const answer of [ADA, { action: 'decline' }, { action: 'cancel' }]) {
        const asked = await asking(cell, { elicit: () => answer }, async () => {
            assert.deepEqual(await json(cell, 'ask_form'), answer);
        });
        assert.equal(asked.length, 1);
        isForm(asked[0].params);
    }
}

async function url(cell) {
    const page = `page-${cell.key}`;
    const asked = await asking(cell, { elicit: () => ({ action: 'accept' }) }, async () => {
        assert.deepEqual(await json(cell, 'ask_url', { page }), { action: 'accept' });
    });
    const [{ params }] = asked;
    assert.equal(params.mode, 'url');
    assert.equal(params.url, `https://example.org/${page}`);
    // 2025-11-25 client/elicitation, URL Mode: it has an id, which is the server's when that is a legacy one.
    if (cell.peer.era === 'legacy') {
        assert.ok(cell.upstream === 'modern' ? params.elicitationId : params.elicitationId === page);
    }
}

async function sample(cell) {
    const asked = await asking(cell, { sample: () => SAID }, async () => {
        assert.deepEqual(await json(cell, 'ask_sample'), SAID);
    });
    assert.equal(asked[0].params.maxTokens, 17);
    assert.equal(asked[0].params.systemPrompt, 'Be brief');
    assert.equal(asked[0].params.messages[0].content.text, 'Say something');
}

async function roots(cell) {
    const asked = await asking(cell, { roots: () => ROOTS }, async () => {
        assert.deepEqual(await json(cell, 'ask_roots'), ROOTS);
    });
    assert.equal(asked.length, 1);
}

async function twice(cell) {
    const answers = [ADA, { action: 'accept', content: { name: 'Ada Lovelace' } }];
    const asked = await asking(cell, { elicit: () => answers[cell.peer.asked.length - 1] }, async () => {
        assert.deepEqual(await json(cell, 'ask_twice'), answers);
    });
    isForm(asked[0].params);
    isForm(asked[1].params, 'Really, Ada?');
}

async function several(cell) {
    const answers = { elicit: () => ADA, sample: () => SAID, roots: () => ROOTS };
    const asked = await asking(cell, answers, async () => {
        assert.deepEqual(await json(cell, 'ask_all'), [ADA, SAID, ROOTS]);
    });
    assert.deepEqual(asked.map(({ kind }) => kind).sort(), ['elicit', 'roots', 'sample']);
}

async function inPrompt(cell) {
    const asked = await asking(cell, { elicit: () => ADA }, async () => {
        const { messages } = await cell.peer.client.getPrompt({ name: cell.tool('interview') });
        assert.deepEqual(JSON.parse(messages[0].content.text), ADA);
    });
    isForm(asked[0].params);
}

async function inResource(cell) {
    const asked = await asking(cell, { elicit: () => ADA }, async () => {
        const [content] = await cell.peer.read('fixture://interview');
        assert.deepEqual(JSON.parse(content.text), ADA);
    });
    isForm(asked[0].params);
}

async function refused(cell) {
    const refuse = () => {
        throw new Error('I had rather not');
    };
    await asking(cell, { sample: refuse }, async () => {
        const outcome = await cell.peer.call(cell.tool('ask_sample')).catch((error) => error);
        assert.ok(outcome instanceof Error || outcome.isError, JSON.stringify(outcome));
        assert.match(JSON.stringify(outcome) + outcome.message, /had rather not/);
    });
}

/** All clients call a tool that asks, at the same time. */
async function everybodyAsked({ peer, others, tool, key, isTold }) {
    const all = [peer, ...others];
    const outcomes = all.map((one, who) => {
        const message = `${key} ${who}`;
        Object.assign(one, { asked: [], answers: { elicit: () => ({ action: 'accept', content: { name: message } }) } });
        return one.text(tool('ask_form'), { message }).then(
            (text) => ({ one, message, name: JSON.parse(text).content.name }),
            (error) => ({ one, message, error }),
        );
    });
    for (const { one, message, name, error } of await within(Promise.all(outcomes), 'all answers')) {
        one.asked.forEach(({ params }) => assert.equal(params.message, message, 'a question of its own'));
        if (isTold) {
            assert.equal(name, message);
        } else {
            // It may be that nobody can tell whose question it is: then nobody is asked.
            assert.ok(name === message || /no single client/.test(error.message), error?.message);
        }
    }
}

async function completeNotification(cell) {
    const page = `complete-${cell.key}`;
    await asking(cell, { elicit: () => ({ action: 'accept' }) }, () => json(cell, 'ask_url', { page }));
    assert.deepEqual(await cell.peer.told('complete', ({ elicitationId }) => elicitationId === page), { elicitationId: page });
}

async function needsPage(cell) {
    const page = `needs-${cell.key}`;
    const need = { mode: 'url', message: 'Please visit first', url: `https://example.org/${page}`, elicitationId: page };
    await assert.rejects(cell.peer.call(cell.tool('needs_page'), { page }), { code: -32042, data: { elicitations: [need] } });
    await cell.peer.call(cell.tool('visit'), { page });
    await cell.peer.told('complete', ({ elicitationId }) => elicitationId === page);
    assert.equal(await cell.peer.text(cell.tool('needs_page'), { page }), 'welcome');
}

async function rootsChanged(cell) {
    const before = Number(await cell.peer.text(cell.tool('roots_changes'), { atLeast: 0 }));
    await cell.peer.client.sendRootsListChanged();
    await within(cell.peer.text(cell.tool('roots_changes'), { atLeast: before + 1 }), 'the change at the server');
}

export const QUESTIONS = {
    'elicitation: form': form,
    'elicitation: URL': url,
    'elicitation: twice in one call': twice,
    'elicitation: in prompts/get': inPrompt,
    'elicitation: in resources/read': inResource,
    sampling: sample,
    'sampling: refused by the client': refused,
    roots,
    'elicitation, sampling and roots at once': several,
    'elicitation: everybody at once, nobody by mistake': everybodyAsked,
    'elicitation: the end of a URL elicitation': completeNotification,
    'elicitation: the error that a URL must be visited first': needsPage,
    'roots: list_changed': rootsChanged,
};
