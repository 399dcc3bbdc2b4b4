// SPDX-License-Identifier: Apache-2.0
// The cells of the matrix that the specification makes impossible, with the clause that says so, and what happens
// instead. An entry holds for the clients and servers of its era; without one, for all.

import assert from 'node:assert/strict';

import { within } from './support.mjs';

async function noPing({ peer }) {
    await assert.rejects(peer.client.ping(), { code: 'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION' });
}

/** A call that asks for no log messages gets none. */
async function noAnnouncement({ peer, tool, key }) {
    await peer.call(tool('announce'), { topic: key });
    await peer.call(tool('echo'), { text: 'later' });
    assert.deepEqual(peer.unread('log', (params) => params.data.topic === key), []);
}

async function noCompletion({ peer, tool, key }) {
    peer.answers = { elicit: () => ({ action: 'accept' }) };
    await within(peer.call(tool('ask_url'), { page: `complete-${key}` }), 'the end of the call');
    await peer.call(tool('echo'), { text: 'later' });
    assert.deepEqual(peer.unread('complete'), []);
}

async function noRootsChanged({ peer }) {
    await assert.rejects(peer.client.sendRootsListChanged(), { code: 'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION' });
}

async function rootsAreAskedFor({ peer, tool }) {
    await peer.client.sendRootsListChanged();
    const roots = [{ uri: 'file:///moved' }];
    peer.answers = { roots: () => ({ roots }) };
    assert.deepEqual(JSON.parse(await within(peer.text(tool('ask_roots')), 'the end of the call')), { roots });
}

/** The server asks to visit the page, as it cannot say that it has to be visited. */
async function asksForPage({ peer, tool, key }) {
    const visit = async () => {
        await peer.call(tool('visit'), { page: key });
        return { action: 'accept' };
    };
    Object.assign(peer, { asked: [], answers: { elicit: visit } });
    assert.equal(await within(peer.text(tool('needs_page'), { page: key }), 'the end of the call'), 'welcome');
    assert.equal(peer.asked.length, 1);
    assert.equal(peer.asked[0].params.mode, 'url');
    assert.equal(peer.asked[0].params.url, `https://example.org/${key}`);
}

const COMPLETION = {
    feature: 'elicitation: the end of a URL elicitation',
    clause: '2026-07-28 changelog, Minor changes 11: `notifications/elicitation/complete` and `elicitationId` are removed',
    instead: 'the call is retried, and its result says how it ended',
    test: noCompletion,
};
const VISIT_FIRST = {
    feature: 'elicitation: the error that a URL must be visited first',
    clause: '2026-07-28 basic/index, Error Codes: -32042 is of 2025-11-25 only, and MUST NOT be sent',
    instead: 'the client is asked to visit the URL',
    test: asksForPage,
};
const ROOTS_CHANGED = {
    feature: 'roots: list_changed',
    clause: '2026-07-28 changelog, Major changes 5: `notifications/roots/list_changed` is removed',
};
const LOG_OUTSIDE = {
    feature: 'logging outside of calls',
    clause: '2026-07-28 server/utilities/logging, Per-request log level: a message belongs to the request that asked for it',
    instead: 'messages come with the calls that ask for them',
    test: noAnnouncement,
};

export const IMPOSSIBLE = [
    {
        feature: 'ping',
        client: 'modern',
        clause: '2026-07-28 changelog, Major changes 5: `ping` is removed',
        instead: 'any request tells whether the hub is there',
        test: noPing,
    },
    { ...LOG_OUTSIDE, client: 'modern' },
    { ...LOG_OUTSIDE, upstream: 'modern' },
    {
        feature: 'sampling: refused by the client',
        client: 'modern',
        clause: '2026-07-28 basic/patterns/mrtr, InputResponses: values are results, there is no place for an error',
        instead: 'the client gives its call up; the server learns of it when the question has expired',
    },
    { ...COMPLETION, client: 'modern' },
    { ...COMPLETION, upstream: 'modern' },
    { ...VISIT_FIRST, client: 'modern' },
    { ...VISIT_FIRST, upstream: 'modern' },
    {
        ...ROOTS_CHANGED,
        client: 'modern',
        instead: 'the client is asked for its roots by each call that needs them',
        test: noRootsChanged,
    },
    {
        ...ROOTS_CHANGED,
        upstream: 'modern',
        instead: 'the server asks for the roots in each call that needs them',
        test: rootsAreAskedFor,
    },
];

/** Why a feature is impossible between two eras, or undefined. */
export function impossible(feature, client, upstream) {
    return IMPOSSIBLE.find(
        (entry) =>
            entry.feature === feature && (entry.client ?? client) === client && (entry.upstream ?? upstream) === upstream,
    );
}
