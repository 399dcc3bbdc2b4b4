// SPDX-License-Identifier: Apache-2.0
// How the tests run the official conformance suite, and read what it found.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { NODE, within } from './support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const package_ = join(here, 'node_modules', '@modelcontextprotocol', 'conformance');
const suite = join(package_, 'dist', 'index.js');

export const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28'];

/** What the suite has for 'server' or 'client': the names of its scenarios, by revision. */
export function scenarios(kind) {
    const listed = execFileSync(NODE, [suite, 'list', `--${kind}`], { encoding: 'utf8' });
    const all = [...listed.matchAll(/^ +- (\S+) \[(.*)\]/gm)].map(([, name, at]) => [name, at.split(',')]);
    return Object.fromEntries(REVISIONS.map((revision) => [revision, all.filter(([, at]) => at.includes(revision)).map(([name]) => name)]));
}

/** The scenarios that conformance to a revision requires, frozen at its release; the first one had none yet. */
export function required(kind, revision) {
    if (revision === REVISIONS[0]) {
        return [];
    }
    const text = readFileSync(join(package_, 'requirements', `${revision}.yaml`), 'utf8');
    const section = new RegExp(`^${kind}:\n((?: +- .*\n)+)`, 'm').exec(text)[1];
    return [...section.matchAll(/- (\S+)/g)].map((match) => match[1]);
}

/** Run the suite: what it checked, by scenario, and all it printed. It fails when a check did, which its files tell better. */
async function run(folder, prefix, args, env) {
    const results = mkdtempSync(join(folder, 'results-'));
    const printed = await new Promise((done) => {
        const child = execFile(NODE, [suite, ...args, '-o', results], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
            done(stdout + stderr),
        );
        child.stdin.end();
    });
    const checks = new Map();
    for (const name of readdirSync(results, { recursive: true }).filter((path) => path.endsWith('checks.json'))) {
        const scenario = new RegExp(`^${prefix}(.*?)-\\d{4}-\\d\\d-\\d\\dT`).exec(name)[1];
        checks.set(scenario, JSON.parse(readFileSync(join(results, name), 'utf8')));
    }
    return { checks, printed };
}

/** Test the server at a URL: with one scenario, or all that the revision has. */
export async function testServer(folder, url, revision, scenario) {
    const local = new URL('/mcp', url);
    local.hostname = 'localhost'; // what the suite takes for a local server
    const which = scenario === undefined ? ['--suite', 'all'] : ['--scenario', scenario];
    const { checks, printed } = await run(folder, 'server-', ['server', '--url', local.href, ...which, '--spec-version', revision]);
    if (checks.size === 0) {
        throw new Error(`the suite said:\n${printed}`);
    }
    return checks;
}

/** Test a client, a command without blanks in its words, with one scenario, of a revision or (undefined) of an extension: the
    checks, and all that was printed. */
export async function testClient(folder, command, revision, scenario, env) {
    const args = ['client', '--command', command.join(' '), '--scenario', scenario, ...(revision === undefined ? [] : ['--spec-version', revision])];
    const { checks, printed } = await run(folder, '', args, env);
    return { checks: checks.get(scenario), printed };
}

/** The checks that did not pass. */
export function unmet(checks) {
    return checks.filter(({ status }) => !['SUCCESS', 'INFO', 'SKIPPED'].includes(status));
}

/** A check that did not pass, for people. */
export function describeCheck({ id, status, errorMessage, description, details }) {
    return `${status} ${id}: ${errorMessage ?? description}\n${JSON.stringify(details)?.slice(0, 2000)}`;
}

/** The command of a server of either era that has what the suite wants to find. */
export const fixture = (era, transport) => ({ command: NODE, args: [join(here, 'fixtures', `conformance_${era}.mjs`), transport] });

/** Start such a server that listens: its url, and a way to end it. */
export async function listen(era) {
    const { command, args } = fixture(era, 'http');
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((done) => child.on('exit', done));
    const url = new Promise((done) => createInterface({ input: child.stdout }).once('line', done));
    return {
        url: await within(url, 'the server to listen'),
        close() {
            child.stdin.end();
            return within(ended, 'the end of the server');
        },
    };
}
