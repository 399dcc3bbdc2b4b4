// SPDX-License-Identifier: Apache-2.0
// The official conformance suite, in server mode, against a hub that has none of it itself: what the suite wants to
// find is on a server behind the hub (fixtures/conformance_*), of either era, over pipes and over HTTP, and every client
// of every revision is served. The suite's own example server is not on npm; who has it running names it in
// CONFORMANCE_EXAMPLE_SERVER, and it is held against itself: through the hub nothing may be worse than without it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';

import { REVISIONS, describeCheck, fixture, listen, scenarios, testServer, unmet } from './conformance_suite.mjs';
import { HUB, PLUGINS, makeFolder, serve } from './support.mjs';

const folder = makeFolder();
const names = scenarios('server');
const [, LAST_LEGACY, MODERN] = REVISIONS;
const POLLING = 'server-sse-polling';
const example = process.env.CONFORMANCE_EXAMPLE_SERVER;

const KEY = 'a server of the handshake revisions gives its questions no names: "user_name" is not among those that the hub makes up';
const BLIND = 'a server of the handshake revisions is not told what the client of one call can do, and so cannot refuse it beforehand';

/** The checks that cannot pass with such a server behind the hub, at 2026-07-28. The server by itself fails them, too. */
const IMPOSSIBLE_FOR_LEGACY = {
    'input-required-result-basic-elicitation': { 'sep-2322-elicitation-incomplete': KEY },
    'input-required-result-ignore-extra-params': { 'sep-2322-ignore-unexpected-params': KEY },
    'server-stateless': {
        'sep-2575-server-rejects-undeclared-capability': BLIND,
        'sep-2575-missing-capability-http-400': BLIND,
    },
};

/** Scenarios that ask, and of which some leave before they have answered. A server on one pipe does not say for which call
 * it asks; while a stranger's call is open, the hub refuses to guess (DESIGN.md, "ask"). So each has a hub of its own. */
const asks = (name) => name.startsWith('input-required-result-');

let manifests = 0;

/** A hub with that one server behind it, under the server's own names. */
function startHub(upstream) {
    const manifest = join(folder, `hub-${++manifests}.json`);
    writeFileSync(manifest, JSON.stringify({ toolsets: { upstream }, limits: { discover_timeout: '60s' } }));
    return serve({
        command: HUB,
        args: ['--config', manifest, '--plugins-dir', PLUGINS, '--no-meta-tools', '--naming', 'none'],
    });
}

async function testThrough(upstream, revision, scenario) {
    const hub = await startHub(upstream);
    try {
        return await testServer(folder, hub.url, revision, scenario);
    } finally {
        await hub.close();
    }
}

/** Check what was found of a scenario: nothing but what is impossible may be unmet, and that must be. */
function judge(found, impossible = {}) {
    assert.ok(found, 'the suite ran it');
    const bad = unmet(found);
    assert.deepEqual(bad.filter(({ id }) => !(id in impossible)).map(describeCheck), []);
    assert.deepEqual([...new Set(bad.map(({ id }) => id))].sort(), Object.keys(impossible).sort());
    assert.ok(found.some(({ status }) => status !== 'SKIPPED'), 'something was checked');
}

/** All revisions with one server behind the hub, one after the other: on a pipe they would be in each other's way. */
async function testCell(era, transport) {
    const listening = transport === 'http' ? await listen(era) : undefined;
    const upstream = listening ? { url: listening.url } : fixture(era, 'stdio');
    const found = {};
    for (const revision of REVISIONS) {
        found[revision] = await testThrough(upstream, revision);
    }
    await listening?.close();
    return found;
}

/** The scenarios that ask, each by itself. */
async function testAsking() {
    const found = new Map();
    for (const name of names[MODERN].filter(asks)) {
        found.set(name, (await testThrough(fixture('legacy', 'stdio'), MODERN, name)).get(name));
    }
    return found;
}

/** What some scenarios find on a server without a hub. */
async function testAlone() {
    const server = await listen('legacy');
    const found = new Map();
    for (const name of Object.keys(IMPOSSIBLE_FOR_LEGACY)) {
        found.set(name, (await testServer(folder, server.url, MODERN, name)).get(name));
    }
    found.set(POLLING, (await testServer(folder, server.url, LAST_LEGACY, POLLING)).get(POLLING));
    await server.close();
    return found;
}

const cells = ['modern', 'legacy'].flatMap((era) => ['stdio', 'http'].map((transport) => ({ era, transport })));
let asking;
let alone;

before(async () => {
    const work = cells.map((cell) => async () => {
        cell.found = await testCell(cell.era, cell.transport);
    });
    work.push(async () => {
        alone = await testAlone();
    });
    const lane = async () => {
        for (let next = work.shift(); next !== undefined; next = work.shift()) {
            await next();
        }
    };
    // Much of it is waiting for clocks, of the suite's and of the hub's.
    [asking] = await Promise.all([testAsking(), lane(), lane(), lane()]);
});

for (const cell of cells) {
    const isPipe = cell.era === 'legacy' && cell.transport === 'stdio';
    for (const revision of REVISIONS) {
        const impossible = cell.era === 'legacy' && revision === MODERN ? IMPOSSIBLE_FOR_LEGACY : {};
        describe(`a ${cell.era} server behind the hub, over ${cell.transport}, ${revision}`, () => {
            for (const name of names[revision]) {
                test(name, () => {
                    const found = isPipe && revision === MODERN && asks(name) ? asking : cell.found[revision];
                    judge(found.get(name), impossible[name]);
                });
            }
        });
    }
}

describe('what cannot be had through the hub', () => {
    for (const [name, impossible] of Object.entries(IMPOSSIBLE_FOR_LEGACY)) {
        test(`${name}: nor without it`, () => {
            const bad = unmet(alone.get(name)).map(({ id }) => id);
            assert.ok(bad.length > Object.keys(impossible).length, `${bad}`);
        });
    }

    // A tool cannot close the stream between the hub and its client. Where the hub has none open, it answers with JSON,
    // and the suite finds nothing to test; the server by itself closes its own.
    test(`${POLLING}: the server closes its own stream`, () => {
        const summary = (checks) => checks.map(({ id, status }) => `${status} ${id}`);
        assert.ok(summary(alone.get(POLLING)).includes('SUCCESS server-sse-disconnect-resume'));
        for (const { era, transport, found } of cells) {
            assert.ok(summary(found[LAST_LEGACY].get(POLLING)).includes('INFO server-sse-content-type'), `${era} ${transport}`);
        }
    });
});

if (example !== undefined) {
    // It speaks both eras, and offers less in the modern one: to legacy clients the hub speaks as they do. Its
    // subscriptions/listen is answered with lines of JSON instead of an event stream, which no client can read.
    const NO_STREAM = /^sep-2575-server-sends-(tools|prompts)-list-changed-on-subscription$/;
    for (const revision of REVISIONS) {
        describe(`the suite's example server, ${revision}`, () => {
            let direct;
            let through;

            before(async () => {
                const upstream = { url: example, ...(revision === MODERN ? {} : { protocol: revision }) };
                direct = await testServer(folder, example, revision);
                through = await testThrough(upstream, revision);
            });

            for (const name of names[revision]) {
                test(name, () => {
                    const before_ = new Set(unmet(direct.get(name)).map(({ id }) => id));
                    const bad = unmet(through.get(name)).filter(({ id }) => !before_.has(id) && !NO_STREAM.test(id));
                    assert.deepEqual(bad.map(describeCheck), []);
                });
            }
        });
    }
}
