// SPDX-License-Identifier: Apache-2.0
// The official conformance suite, in client mode, with the hub as the client: the suite's server is the hub's only
// upstream, and a driver (conformance_driver.mjs) does over the hub what each scenario wants, once as a modern client of
// the hub and once as a legacy one. In the scenarios of auth/ somebody logs the hub in first (`patchbay login`), and what
// takes more later is asked of the driver's client; by default each of them is at the newest revision that has it, for one
// era or the other by turns, and at all revisions for both with PATCHBAY_ROUNDS=all. Of those of extensions the hub has
// client credentials.

import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { REVISIONS, describeCheck, required, scenarios, testClient, unmet } from './conformance_suite.mjs';
import { NODE, makeFolder } from './support.mjs';

const driver = join(dirname(fileURLToPath(import.meta.url)), 'conformance_driver.mjs');
const folder = makeFolder();
const all = scenarios('client');
const OLDEST = '2025-03-26'; // of which the suite has what clients fall back to, and nothing else
const EXTENSION = 'extension';
const names = {
    ...all,
    [OLDEST]: ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'],
    [EXTENSION]: ['auth/client-credentials-jwt', 'auth/client-credentials-basic'],
};
const GROUPS = [OLDEST, ...REVISIONS, EXTENSION];
const ERAS = ['modern', 'legacy'];

const order = [...new Set(Object.values(names).flat())];

function drives(era, revision, name) {
    const newest = GROUPS.findLast((one) => names[one].includes(name));
    const turn = order.indexOf(name) % ERAS.length;
    return !name.startsWith('auth/') || process.env.PATCHBAY_ROUNDS === 'all' || (revision === newest && ERAS[turn] === era);
}

const cells = ERAS.flatMap((era) =>
    GROUPS.flatMap((revision) => names[revision].filter((name) => drives(era, revision, name)).map((name) => ({ era, revision, name }))),
);

async function run(cell) {
    cell.found = await testClient(folder, [NODE, driver], cell.revision === EXTENSION ? undefined : cell.revision, cell.name, { DRIVER_CLIENT: cell.era });
}

before(async () => {
    // Those that look at the clock come first, by themselves.
    const [timed, rest] = [true, false].map((wanted) => cells.filter(({ name }) => (name === 'sse-retry') === wanted));
    for (const cell of timed) {
        await run(cell);
    }
    const lane = async () => {
        for (let cell = rest.pop(); cell !== undefined; cell = rest.pop()) {
            await run(cell);
        }
    };
    await Promise.all([lane(), lane()]);
});

for (const era of ERAS) {
    for (const revision of GROUPS) {
        describe(`the hub as a client, ${revision}, for a ${era} client of its own`, () => {
            for (const cell of cells.filter((one) => one.era === era && one.revision === revision)) {
                test(cell.name, () => {
                    const { checks, printed } = cell.found;
                    assert.ok(checks, `the suite said:\n${printed}`);
                    assert.deepEqual(unmet(checks).map(describeCheck), []);
                    assert.ok(checks.some(({ status }) => status === 'SUCCESS'), 'something was checked');
                    assert.match(printed, /OVERALL: PASSED/, 'the driver met nothing that it did not expect');
                });
            }
        });
    }
}

for (const revision of REVISIONS.slice(1)) {
    test(`what conformance to ${revision} requires of clients is among them`, () => {
        const missing = required('client', revision).filter((name) => !names[revision].includes(name));
        assert.deepEqual(missing, []);
    });
}
