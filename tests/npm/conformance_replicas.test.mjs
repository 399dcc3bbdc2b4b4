// SPDX-License-Identifier: Apache-2.0
// The official conformance suite, in server mode, against three replicas behind a balancer without stickiness, in front of one server
// that has what the suite wants to find: as with one hub (conformance_proxy). With PATCHBAY_ROUNDS=all (./run-tests conformance).

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { REVISIONS, describeCheck, listen, scenarios, testServer, unmet } from './conformance_suite.mjs';
import { missing, startReplicas } from './replicas.mjs';
import { makeFolder } from './support.mjs';

const skip = missing ?? (process.env.PATCHBAY_ROUNDS !== 'all' && './run-tests conformance runs it');
const names = scenarios('server');

for (const revision of REVISIONS) {
    describe(`conformance suite at three replicas, ${revision}`, { skip }, () => {
        let server;
        let replicas;
        let checks;

        before(async () => {
            server = await listen('modern');
            replicas = await startReplicas({ upstream: { url: server.url } }, { hub: { meta_tools: false, naming: 'none' } });
            checks = await testServer(makeFolder(), replicas.url, revision);
        });
        after(async () => {
            await replicas.close();
            await server.close();
        });

        for (const name of names[revision]) {
            test(name, () => {
                const found = checks.get(name);
                assert.ok(found, 'the suite ran it');
                assert.deepEqual(unmet(found).map(describeCheck), []);
                assert.ok(found.some(({ status }) => status !== 'SKIPPED'), 'something was checked');
            });
        }
    });
}
