// SPDX-License-Identifier: Apache-2.0
// Each kind of bad definition costs itself alone (FINDINGS A1): a server sends twelve good tools, resources, templates and
// prompts with all those between them that no revision allows (../definitions/shapes.py), and the official clients for
// Node (1.x, 2.x), Python and Go list the twelve through a hub, each in the oldest and the newest revision that it speaks or
// in two others, so that all revisions are among them; in every one that they speak with PATCHBAY_ROUNDS=all. And what may
// be listed costs those for Python and Go no list, as definitions.test.mjs holds it for Node.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { HUB, NODE, PATIENT, PLUGINS, TIMEOUT_MS, makeFolder } from './support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const clients = join(here, 'clients');
const build = resolve(here, '../../build/clients');
const run = promisify(execFile);

const PYTHON_CLIENT = 'mcp==2.3.0';
const OLD_PYTHON_CLIENT = 'mcp==1.30.0';
const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const MODERN = '2026-07-28';
const EACH = process.env.PATCHBAY_ROUNDS === 'all';
const COUNT = 12;
const GOOD = {
    tools: (name) => ({ name, inputSchema: { type: 'object' } }),
    resources: (name) => ({ name, uri: `x:good/${name}` }),
    templates: (name) => ({ name, uriTemplate: `x:good/${name}/{a}` }),
    prompts: (name) => ({ name }),
};

const folder = makeFolder();
const names = Array.from({ length: COUNT }, (_, n) => `t${n}`);
let hub;
let shapes; // all definitions, one JSON line each

/** The arrays of a server's lists, as texts: what is bad stands between what is good. */
function lists() {
    const run = spawnSync('/usr/bin/python3', ['-B', join(here, '../definitions/shapes.py')], { encoding: 'utf8', maxBuffer: 1 << 30 });
    assert.equal(run.status, 0, run.stderr);
    shapes = run.stdout;
    const bad = { tools: [], resources: [], templates: [], prompts: [] };
    for (const line of shapes.trimEnd().split('\n')) {
        const { kind, definition, valid, without } = JSON.parse(line);
        if (valid.length === 0 && without.length === 0) {
            bad[kind].push(definition);
        }
    }
    return Object.fromEntries(Object.entries(bad).map(([kind, definitions]) => {
        assert.ok(definitions.length > 4000, `${definitions.length} bad ${kind}`);
        // JSON by its grammar, of which some clients lose the whole message.
        definitions.push(JSON.stringify({ ...GOOD[kind]('half'), description: '\ud83d' }));
        for (const number of ['1e400', '-1e309', `1${'0'.repeat(309)}`]) {
            definitions.push(JSON.stringify({ ...GOOD[kind]('beyond'), _meta: { number: 0 } }).replace(':0}', `:${number}}`));
        }
        const good = names.map((name) => JSON.stringify(GOOD[kind](name)));
        const half = COUNT / 2;
        return [kind, `[${[...good.slice(0, half), ...definitions, ...good.slice(half)].join(',')}]`];
    }));
}

before(() => {
    const file = join(folder, 'lists.json');
    const manifest = join(folder, 'patchbay.json');
    writeFileSync(file, JSON.stringify(lists()));
    const capabilities = JSON.stringify({ tools: {}, resources: {}, prompts: {}, extensions: { 'a/b': 5 } }); // no object
    const args = [resolve(here, '../support/recorder_server.py'), '--content', '--lists', file, '--capabilities', capabilities];
    writeFileSync(manifest, JSON.stringify({
        toolsets: { up: { command: '/usr/bin/python3', args: ['-B', ...args], startup_timeout: '2m' } },
        limits: PATIENT,
    }));
    hub = [HUB, '--config', manifest, '--plugins-dir', PLUGINS, '--no-meta-tools', '--log-level', 'error'];
});

/** The client lists the twelve, and nothing else, in each of the revisions: in the few by default. */
async function check(lister, revisions, few) {
    for (const revision of EACH ? revisions : few) {
        const asked = revision === MODERN ? hub : ['/usr/bin/python3', '-B', join(clients, 'as_revision.py'), revision, ...hub];
        const [command, ...args] = [...lister, revision, ...asked];
        const { stdout } = await run(command, args, { timeout: TIMEOUT_MS, env: process.env });
        const found = JSON.parse(stdout);
        assert.equal(found.revision, revision);
        for (const kind of Object.keys(GOOD)) {
            const own = found[kind].map((name) => name.replace(/^up__/, '')).sort();
            assert.deepEqual(own, [...names].sort(), `${kind} in ${revision}`);
        }
    }
}

test('client 1.x for Node', async () => check([NODE, join(clients, 'list.mjs'), '1'], LEGACY, ['2024-11-05', '2025-11-25']));

test('client 2.x for Node', async () => check([NODE, join(clients, 'list.mjs'), '2'], [...LEGACY, MODERN], ['2025-03-26', MODERN]));

/** A Python that has a client. */
async function pythonWith(client, name) {
    const python = join(build, name, 'bin', 'python');
    if (!existsSync(python)) {
        await run('/usr/bin/python3', ['-m', 'venv', join(build, name)]);
    }
    await run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', client]);
    return python;
}

/** Each definition that may be listed, alone in a list: no list is thrown away. */
function keeps(command, ...args) {
    const reader = spawnSync(command, args, { input: shapes, encoding: 'utf8', maxBuffer: 1 << 30 });
    assert.equal(reader.status, 0, reader.stderr);
    assert.deepEqual(reader.stdout.split('\n').slice(0, 5), [''], 'lists are thrown away');
}

test('client for Python', async () => {
    const python = await pythonWith(PYTHON_CLIENT, 'python');
    keeps(python, '-B', join(clients, 'keep.py'));
    await check([python, '-B', join(clients, 'list.py')], [...LEGACY, MODERN], ['2025-06-18', MODERN]);
});

test('client 1.x for Python', async () => keeps(await pythonWith(OLD_PYTHON_CLIENT, 'python1'), '-B', join(clients, 'keep.py')));

/** Why the Go client cannot be built here, or null. */
function lacksGo() {
    const version = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', env: { ...process.env, GOTOOLCHAIN: 'local' } });
    const [, minor] = /^go1\.(\d+)/.exec(version.stdout ?? '') ?? [];
    return version.error ? 'go is not installed' : Number(minor) >= 25 ? null : `it needs go 1.25, here is ${version.stdout.trim()}`;
}

test('client for Go', async (t) => {
    const lack = lacksGo();
    if (lack) {
        console.error(`definitions_clients: the client for Go is skipped: ${lack}`);
        t.skip(lack);
        return;
    }
    const lister = join(build, 'go', 'lister');
    // What runs for a moment need not be optimised: that takes a third of the time, of which most is Go's own library's.
    await run('go', ['build', '-gcflags=all=-N -l', '-ldflags=-s -w', '-o', lister, '.'], { cwd: join(clients, 'go') });
    keeps(lister, 'keep');
    await check([lister], [...LEGACY, MODERN], ['2025-11-25', MODERN]);
});
