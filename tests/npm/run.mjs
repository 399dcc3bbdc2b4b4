// SPDX-License-Identifier: Apache-2.0
// Run the interoperability tests: run.mjs [NAME…] picks files whose name contains a NAME.
// The last line is "N passed, N failed".

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';

import { HUB } from './support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
// The longest are begun first, so that none is alone at the end; the first of them waits for downloads.
const LONGEST = ['first_start', 'conformance_client', 'definitions_clients', 'conformance_proxy', 'definitions', 'saved_everywhere',
    'upstream_http', 'dashboard_doing', 'dashboard', 'matrix_replicas', 'upstream_websocket', 'upstream_unix'];

function rank(name) {
    const place = LONGEST.indexOf(name.replace('.test.mjs', ''));
    return place < 0 ? LONGEST.length : place;
}

const files = readdirSync(here)
    .filter((name) => name.endsWith('.test.mjs') && (wanted.length === 0 || wanted.some((part) => name.includes(part))))
    .sort((one, other) => rank(one) - rank(other))
    .map((name) => join(here, name));

if (!existsSync(HUB)) {
    console.error(`there is no hub at ${HUB}: build it, or set PATCHBAY_BIN`);
    console.log('0 passed, 1 failed');
    process.exit(1);
}

// Hundreds of processes run the same packages: each is compiled once.
const compiled = mkdtempSync(join(tmpdir(), 'patchbay-npm-'));
process.env.NODE_COMPILE_CACHE = compiled;
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));

let passed = 0;
let failed = 0;
const seconds = new Map(); // of each file
for await (const { type, data } of run({ files, concurrency: 4 })) {
    const counts = data?.details?.type !== 'suite' && data?.name !== data?.file;
    if (type === 'test:complete' && data.name === data.file) {
        seconds.set(basename(data.file), data.details.duration_ms / 1000);
    }
    if (type === 'test:pass' && counts) {
        passed += 1;
    } else if (type === 'test:fail') {
        // A suite fails when one of its tests did, and by itself only when its hooks did.
        const cause = data.details.error?.cause ?? data.details.error;
        if (counts || data.details.error?.failureType !== 'subtestsFailed') {
            failed += 1;
            console.log(`\nFAILED ${data.file ? data.file.slice(here.length + 1) : ''}: ${data.name}`);
            console.log(cause?.stack ?? String(cause));
        }
    } else if (type === 'test:stderr') {
        process.stderr.write(data.message);
    }
}
for (const [file, took] of [...seconds].sort((one, other) => other[1] - one[1])) {
    console.log(`${file.padEnd(40)}${took.toFixed(1).padStart(7)} s`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
