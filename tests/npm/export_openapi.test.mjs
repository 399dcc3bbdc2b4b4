// SPDX-License-Identifier: Apache-2.0
// The door for agents without MCP: a public validator accepts the document, and a client that a public generator makes of it
// calls tools (REQUIREMENTS S2.29, S4.47).

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { Validator } from '@seriousme/openapi-schema-validator';
import { generateApi } from 'swagger-typescript-api';

import { PATIENT, hub, makeFolder, serve, servers } from './support.mjs';

const folder = makeFolder();

describe('the document of openapi.json', () => {
    let door;
    let document;

    before(async () => {
        const { command, args } = hub(folder);
        const manifest = join(folder, 'patchbay.json');
        const said = JSON.parse(readFileSync(manifest, 'utf8'));
        const toolsets = servers(folder);
        writeFileSync(manifest, JSON.stringify({ ...said, toolsets, limits: PATIENT, listen: [{ http: '127.0.0.1:0', rest: true }] }));
        door = await serve({ command, args, listens: true });
        document = await (await fetch(`${door.url}/openapi.json`)).json();
    });
    after(() => door?.close());

    test('is valid', async () => {
        const validator = new Validator();
        const { valid, errors } = await validator.validate(document);
        assert.ok(valid, JSON.stringify(errors));
        assert.equal(validator.version, '3.1');
        assert.ok(Object.keys(document.paths).length > 25);
        const broken = structuredClone(document);
        delete broken.paths['/tools/everything__echo'].post.requestBody.content;
        assert.equal((await new Validator().validate(broken)).valid, false);
    });

    test('makes a client that calls tools', async () => {
        const { files } = await generateApi({ spec: structuredClone(document), toJS: true, silent: true });
        const script = files.find(({ fileExtension }) => fileExtension === '.js' || fileExtension === '.mjs');
        assert.ok(script, files.map(({ fileName, fileExtension }) => fileName + fileExtension).join());
        const file = join(folder, 'client.mjs');
        writeFileSync(file, script.fileContent);
        const { Api } = await import(pathToFileURL(file));
        const { tools } = new Api({ baseUrl: door.url });
        const sum = await tools.everythingGetSum({ a: 2, b: 40 });
        assert.equal(sum.status, 200);
        assert.match(sum.data.content[0].text, /42/);
        const text = await tools.filesReadTextFile({ path: join(folder, 'hello.txt') });
        assert.match(text.data.content[0].text, /^Hello from a file/);
        const listed = await tools.listToolsets({});
        assert.ok(listed.data.content.length > 0);
        await assert.rejects(tools.everythingGetSum({ a: 'two' }, { path: '/tools/nobody' }), (refused) => {
            assert.equal(refused.status, 404);
            assert.match(refused.error.error.message, /nobody/);
            return true;
        });
    });
});
