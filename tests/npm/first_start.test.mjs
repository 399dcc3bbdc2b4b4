// SPDX-License-Identifier: Apache-2.0
// The first minute: five servers that npx and uvx have to download, from caches that are empty. `list tools` shows the
// tools of all, `check --connect` reaches all, both end with 0 (S3.8).

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { before, describe, test } from 'node:test';

import { HUB, PLUGINS } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-first-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// Registries and authorities as the user has them; only what was downloaded before is not there.
const PASSED = [/^npm_config_(?!cache)/i, /^NODE_EXTRA_CA_CERTS$/, /^SSL_CERT_/, /^UV_(?!CACHE)/, /^PIP_/, /_proxy$/i];
const path = [join(folder, 'uv', 'bin'), process.env.PATH].join(delimiter);
const passed = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.some((one) => one.test(name))));
const home = userInfo().homedir;

function entries(caches) {
    const env = { ...passed, HOME: home, npm_config_cache: join(caches, 'npm'), UV_CACHE_DIR: join(caches, 'uv') };
    const npx = (name, ...args) => ({ command: 'npx', args: ['-y', `@modelcontextprotocol/server-${name}`, ...args], env });
    const uvx = (name) => ({ command: 'uvx', args: [`mcp-server-${name}`], env });
    return {
        everything: npx('everything'),
        filesystem: npx('filesystem', folder),
        memory: { ...npx('memory'), env: { ...env, MEMORY_FILE_PATH: join(caches, 'memory.jsonl') } },
        time: uvx('time'),
        fetch: uvx('fetch'),
    };
}

/** Run the hub's command on the five servers, the first time with empty caches: {code, out, err}. */
async function run(name, programs, ...command) {
    const caches = join(folder, name);
    const file = join(folder, name, '.mcp.json');
    mkdirSync(caches, { recursive: true });
    writeFileSync(file, JSON.stringify({ mcpServers: entries(caches) }));
    const child = spawn(HUB, [...command.map((word) => (word === 'FILE' ? file : word)), '--plugins-dir', PLUGINS], {
        env: { ...process.env, PATH: programs, XDG_CACHE_HOME: join(caches, 'hub') },
        stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { out: '', err: '' };
    child.stdout.on('data', (data) => (said.out += data));
    child.stderr.on('data', (data) => (said.err += data));
    const code = await new Promise((done) => child.on('close', done));
    return { code, ...said };
}

describe('the first start of servers that must be downloaded', () => {
    before(() => {
        const quiet = { stdio: 'ignore', env: { ...process.env, HOME: home } };
        execFileSync('python3', ['-m', 'venv', join(folder, 'uv')], quiet);
        execFileSync(join(folder, 'uv', 'bin', 'pip'), ['install', '-q', 'uv==0.13.9'], quiet);
    });

    test('list tools shows the tools of all, and the second time starts none', async () => {
        const command = ['list', 'tools', '--config', 'FILE'];
        const { code, out, err } = await run('list', path, ...command);
        assert.equal(code, 0, err);
        for (const key of ['everything', 'filesystem', 'memory', 'time', 'fetch']) {
            assert.match(out, new RegExp(`^${key}__`, 'm'), err);
        }
        assert.match(err, /waiting for 5 servers to start/);
        const again = await run('list', folder, ...command); // where no program is that could be started
        assert.equal(again.code, 0, again.err);
        assert.equal(again.out, out);
        assert.doesNotMatch(again.err, /waiting/);
    });

    test('check --connect reaches all', async () => {
        const { code, out, err } = await run('check', path, 'check', 'FILE', '--connect');
        assert.equal(code, 0, out + err);
        for (const key of ['everything', 'filesystem', 'memory', 'time', 'fetch']) {
            assert.match(out, new RegExp(`^${key}: \\d+ tools?\\b`, 'm'), out + err);
        }
    });
});
