// SPDX-License-Identifier: Apache-2.0
// What comes through the hub is what the servers wrote, byte for byte, but for the tool's name.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { RawConversation, hub, makeFolder, rawElements, servers } from './support.mjs';

const folder = makeFolder();
const CALLS = {
    everything: [
        ['echo', { message: 'é \u{1f600} \u2028' }],
        ['get-sum', { a: 0.1, b: 0.2 }],
        ['get-tiny-image', {}],
        ['get-structured-content', { location: 'Chicago' }],
        ['get-annotated-message', { messageType: 'error', includeImage: true }],
        ['get-resource-links', { count: 3 }],
        ['get-sum', { a: 'not a number' }],
    ],
    files: [
        ['read_text_file', { path: join(folder, 'hello.txt') }],
        ['list_directory', { path: folder }],
        ['read_text_file', { path: '/etc/hostname' }],
        ['read_text_file', {}],
    ],
};

describe('fidelity', () => {
    let through;

    before(async () => (through = await new RawConversation(hub(folder)).open()));
    after(async () => assert.equal(await through.close(), 0));

    for (const server of Object.keys(CALLS)) {
        test(`definitions of server-${server}`, async () => {
            const direct = await new RawConversation(servers(folder)[server]).open();
            const own = rawElements(await direct.request('tools/list'), 'tools');
            const line = await through.request('tools/list');
            assert.ok(own.size > 5);
            for (const [name, raw] of own) {
                const expected = raw.replace(`"name":${JSON.stringify(name)}`, `"name":${JSON.stringify(`${server}__${name}`)}`);
                assert.ok(line.includes(expected), `${name}: ${expected}`);
            }
            await direct.close();
        });

        test(`results of server-${server}`, async () => {
            const direct = await new RawConversation(servers(folder)[server]).open();
            for (const [name, args] of CALLS[server]) {
                const own = JSON.parse(await direct.request('tools/call', { name, arguments: args }));
                const got = await through.request('tools/call', { name: `${server}__${name}`, arguments: args });
                const [member, value] = 'result' in own ? ['result', own.result] : ['error', own.error];
                // The server knows the tool by its own name, and so do its messages.
                assert.ok(got.includes(`"${member}":${JSON.stringify(value)}`), `${name}: ${got.slice(0, 500)}`);
            }
            await direct.close();
        });
    }
});
