// SPDX-License-Identifier: Apache-2.0
// The official conformance suite, in server mode, against the hub over HTTP: each of its scenarios
// is a test, at each revision. What it wants to find comes from a plugin written against the public
// SDK (tests/support/conformance_plugin.c). Nothing is expected to fail, not even where the suite
// only warns.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { REVISIONS, describeCheck, required, scenarios, testServer, unmet } from './conformance_suite.mjs';
import { HUB, makeFolder, serve } from './support.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = makeFolder();
const names = scenarios('server');

/** Build the plugin as its author would, into a folder of its own: nothing but the SDK is needed. */
function buildPlugin() {
    const source = join(root, 'tests', 'support', 'conformance_plugin.c');
    const include = join(root, 'include');
    const flags = ['-std=c11', '-fPIC', '-shared', '-fvisibility=hidden', `-I${include}`];
    execFileSync(process.env.CC ?? 'cc', [...flags, '-o', join(folder, 'conformance.so'), source]);
}

buildPlugin();
for (const revision of REVISIONS) {
    describe(`conformance suite, ${revision}`, () => {
        let hub;
        let checks;

        before(async () => {
            hub = await serve({
                command: HUB,
                args: ['--plugins-dir', folder, '--no-meta-tools', '--naming', 'none'],
            });
            checks = await testServer(folder, hub.url, revision);
        });
        after(() => hub.close());

        for (const name of names[revision]) {
            test(name, () => {
                const found = checks.get(name);
                assert.ok(found, 'the suite ran it');
                assert.deepEqual(unmet(found).map(describeCheck), []);
                assert.ok(found.some(({ status }) => status !== 'SKIPPED'), 'something was checked');
            });
        }

        const wanted = required('server', revision);
        if (wanted.length > 0) {
            test('what conformance requires is among them', () => {
                assert.deepEqual(wanted.filter((name) => !names[revision].includes(name)), []);
            });
        }
    });
}
