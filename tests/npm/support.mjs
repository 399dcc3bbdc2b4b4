// SPDX-License-Identifier: Apache-2.0
// What the interoperability tests share: where the hub and the servers are, and raw lines.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');

// A home of its own for each test process: what hubs remember of servers is not for the next run.
process.env.HOME = mkdtempSync(join(tmpdir(), 'patchbay-home-'));
delete process.env.XDG_CACHE_HOME;
process.on('exit', () => rmSync(process.env.HOME, { recursive: true, force: true }));

export const TIMEOUT_MS = Number(process.env.PATCHBAY_TEST_TIMEOUT ?? 120) * 1000;
export const NODE = process.execPath;

// Limits of a hub whose servers are all to be in its first list, on a slow machine, too: clients wait a minute for that.
export const PATIENT = { discover_timeout: '50s', straggler_timeout: '0s' };

function hubBinary() {
    if (process.env.PATCHBAY_BIN) {
        return process.env.PATCHBAY_BIN;
    }
    const found = ['release', 'asan', 'dev'].map((preset) => join(root, 'build', preset, 'core', 'patchbay'));
    return found.find(existsSync) ?? found[0];
}

export const HUB = hubBinary();
export const PLUGINS = process.env.PATCHBAY_PLUGINS ?? join(dirname(HUB), '..', 'plugins');

function serverScript(name) {
    return join(here, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js');
}

/** A folder for one test file, with a file in it; removed at the end of the process. */
export function makeFolder() {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-npm-'));
    writeFileSync(join(folder, 'hello.txt'), 'Hello from a file: é \u2028 \u{1f600}\n');
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
}

/** How to start each server by itself: {command, args}. */
export function servers(folder) {
    return {
        everything: { command: NODE, args: [serverScript('everything')] },
        files: { command: NODE, args: [serverScript('filesystem'), folder] },
        memory: {
            command: NODE,
            args: [serverScript('memory')],
            env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
        },
    };
}

/** How to start the hub with those servers behind it; `memory` waits to be enabled, also where an earlier hub of the
 * same folder has enabled it. */
export function hub(folder, ...flags) {
    const { everything, files, memory } = servers(folder);
    const manifest = join(folder, 'patchbay.json');
    const toolsets = { everything, files, memory: { ...memory, active: false } };
    writeFileSync(manifest, JSON.stringify({ hub: { remember: 'none' }, toolsets, limits: PATIENT }));
    return { command: HUB, args: ['--config', manifest, '--plugins-dir', PLUGINS, ...flags] };
}

/** The script of mcp-remote, a bridge from stdio to a URL. */
export function mcpRemote() {
    return join(here, 'node_modules', 'mcp-remote', 'dist', 'proxy.js');
}

/** Start a hub that serves HTTP, also where its manifest does not say so: its url, without path, and a way to end it. */
export async function serve({ command, args, listens = false }, ...flags) {
    const http = listens ? [] : ['--http', '127.0.0.1:0'];
    const child = spawn(command, [...args, ...http, '--log-level', 'info', '--log-format', 'json', ...flags], {
        stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((done) => child.on('exit', (code) => done(code)));
    const url = new Promise((done, fail) => {
        createInterface({ input: child.stderr }).on('line', (line) => {
            const event = line.startsWith('{') ? JSON.parse(line) : {};
            if (event.event === 'listen.ready') {
                done(new URL(event.url).origin);
            }
        });
        ended.then((code) => fail(new Error(`the hub ended with ${code}`)));
    });
    return {
        url: await within(url, 'the hub to listen'),
        async close() {
            child.kill('SIGTERM');
            assert.equal(await within(ended, 'the end of the hub'), 0);
        },
    };
}

/** Wait for a promise, but not for ever. */
export async function within(promise, what) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`waited for ${what} for ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    });
    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

/** A promise with its resolver outside. */
export function signal() {
    let fire;
    const fired = new Promise((resolvePromise) => {
        fire = resolvePromise;
    });
    return { fire, fired };
}

/** A bare legacy conversation with a server, one line per message, nothing parsed and printed again. */
export class RawConversation {
    #child;
    #waiting = new Map();
    #id = 0;

    constructor({ command, args, env }) {
        this.#child = spawn(command, args, {
            stdio: ['pipe', 'pipe', 'ignore'],
            env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
        });
        this.ended = new Promise((done) => this.#child.on('exit', (code) => done(code)));
        createInterface({ input: this.#child.stdout, crlfDelay: Infinity }).on('line', (line) => {
            const message = JSON.parse(line);
            if (message.method === 'ping') {
                this.#write({ jsonrpc: '2.0', id: message.id, result: {} });
            }
            this.#waiting.get(message.id)?.(line);
        });
    }

    #write(message) {
        this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    }

    /** Send a request; the answer is the raw line. */
    request(method, params = {}) {
        const id = ++this.#id;
        const answered = new Promise((done) => this.#waiting.set(id, done));
        this.#write({ jsonrpc: '2.0', id, method, params });
        return within(answered, method);
    }

    async open() {
        await this.request('initialize', {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'raw', version: '1' },
        });
        this.#write({ jsonrpc: '2.0', method: 'notifications/initialized' });
        return this;
    }

    /** End it the polite way; the exit code. */
    close() {
        this.#child.stdin.end();
        return within(this.ended, 'the end of the process');
    }
}

/** The raw text of each element of result[key] in a line, by the element's name. The servers print
 * with JSON.stringify, so printing their elements again gives their own bytes; that is checked. */
export function rawElements(line, key) {
    const message = JSON.parse(line);
    const found = new Map();
    for (const element of message.result[key]) {
        const raw = JSON.stringify(element);
        if (!line.includes(raw)) {
            throw new Error(`cannot find the bytes of ${element.name}`);
        }
        found.set(element.name, raw);
    }
    return found;
}

/** The SDKs handle notifications a moment later than responses: progress that came just before its
 * result is reported as belonging to nothing. They do that with any server. */
export function isOwnRace(error) {
    return /progress notification for an unknown token/.test(error.message);
}
