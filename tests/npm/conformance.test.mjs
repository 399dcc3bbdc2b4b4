// SPDX-License-Identifier: Apache-2.0
// The official conformance suite, in server mode, against the hub over HTTP: each of its scenarios
// is a test, at each revision. What it wants to find comes from a plugin written against the public
// SDK (tests/support/conformance_plugin.c). Nothing is expected to fail, not even where the suite
// only warns.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { HUB, makeFolder, NODE, serve } from './support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const package_ = join(here, 'node_modules', '@modelcontextprotocol', 'conformance');
const suite = join(package_, 'dist', 'index.js');
const requirements = (revision) => join(package_, 'requirements', `${revision}.yaml`);
const folder = makeFolder();

/** The scenarios for servers of a revision, as the suite lists them. */
function scenarios(revision) {
    const listed = execFileSync(NODE, [suite, 'list', '--server', '--spec-version', revision], { encoding: 'utf8' });
    return [...listed.matchAll(/^ +- (\S+)/gm)].map((match) => match[1]);
}

/** The scenarios that a server has to pass to conform to a revision, frozen at its release. */
function required(revision) {
    const text = readFileSync(requirements(revision), 'utf8');
    const section = /^server:\n((?: +- .*\n)+)/m.exec(text)[1];
    return [...section.matchAll(/- (\S+)/g)].map((match) => match[1]);
}

/** Build the plugin as its author would, into a folder of its own: nothing but the SDK is needed. */
function buildPlugin() {
    const source = join(root, 'tests', 'support', 'conformance_plugin.c');
    const include = join(root, 'include');
    const flags = ['-std=c11', '-fPIC', '-shared', '-fvisibility=hidden', `-I${include}`];
    execFileSync(process.env.CC ?? 'cc', [...flags, '-o', join(folder, 'conformance.so'), source]);
}

/** Run the suite: what it checked, by scenario. It fails when a check did, which its files tell better. */
async function runSuite(url, revision) {
    const results = join(folder, revision);
    const args = [suite, 'server', '--url', url, '--suite', 'all', '--spec-version', revision, '-o', results];
    const printed = await new Promise((done) => execFile(NODE, args, (error, stdout, stderr) => done(stdout + stderr)));
    const checks = new Map();
    for (const name of readdirSync(results)) {
        const [, scenario] = /^server-(.*?)-\d{4}-\d\d-\d\dT/.exec(name);
        checks.set(scenario, JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')));
    }
    assert.ok(checks.size > 0, `the suite said:\n${printed}`);
    return checks;
}

function describeCheck({ id, status, errorMessage, description, details }) {
    return `${status} ${id}: ${errorMessage ?? description}\n${JSON.stringify(details)?.slice(0, 2000)}`;
}

buildPlugin();
for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    describe(`conformance suite, ${revision}`, () => {
        const names = scenarios(revision);
        let hub;
        let checks;

        before(async () => {
            hub = await serve({
                command: HUB,
                args: ['--plugins-dir', folder, '--no-meta-tools', '--naming', 'none'],
            });
            const url = new URL('/mcp', hub.url);
            url.hostname = 'localhost'; // what the suite takes for a local server
            checks = await runSuite(url.href, revision);
        });
        after(() => hub.close());

        for (const name of names) {
            test(name, () => {
                const found = checks.get(name);
                assert.ok(found, 'the suite ran it');
                const bad = found.filter(({ status }) => !['SUCCESS', 'INFO', 'SKIPPED'].includes(status));
                assert.deepEqual(bad.map(describeCheck), []);
                assert.ok(found.some(({ status }) => status !== 'SKIPPED'), 'something was checked');
            });
        }

        if (existsSync(requirements(revision))) {
            test('what conformance requires is among them', () => {
                assert.deepEqual(required(revision).filter((name) => !names.includes(name)), []);
            });
        }
    });
}
