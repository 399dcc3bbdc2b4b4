// SPDX-License-Identifier: Apache-2.0
// The matrix as users read it: the tables of docs/COMPATIBILITY.md come from the tests. Run this to write them anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ALL, UPSTREAMS } from './matrix_cells.mjs';
import { CLIENTS } from './matrix_clients.mjs';
import { IMPOSSIBLE, impossible } from './matrix_table.mjs';

export const DOCUMENT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'COMPATIBILITY.md');

const BEGIN = '<!-- written by tests/npm/matrix_docs.mjs -->\n';
const END = '<!-- end -->\n';
const ERAS = ['legacy', 'modern'];
const PAIRS = ERAS.flatMap((client) => ERAS.map((upstream) => [client, upstream]));

/** The notes, each once: clause and what happens instead. */
const NOTES = [...new Set(IMPOSSIBLE.map(({ clause, instead }) => `${clause}. Instead, ${instead}.`))];

function cell(feature, client, upstream) {
    const no = impossible(feature, client, upstream);
    return no ? `[${NOTES.indexOf(`${no.clause}. Instead, ${no.instead}.`) + 1}]` : 'yes';
}

function render() {
    const rows = [
        ['feature', ...PAIRS.map(([client, upstream]) => `${client} client, ${upstream} server`)],
        ['---', ...PAIRS.map(() => '---')],
        ...Object.keys(ALL).map((feature) => [feature, ...PAIRS.map(([client, upstream]) => cell(feature, client, upstream))]),
    ];
    const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
    const notes = NOTES.map((note, n) => `${n + 1}. ${note}`).join('\n');
    const among = (kinds) => Object.keys(kinds).join(', ');
    return `Clients: ${among(CLIENTS)}. Servers: ${among(UPSTREAMS)}.\n\n${table}\n\n${notes}\n`;
}

/** The document as it is, and as it should be. */
export function compare() {
    const is = readFileSync(DOCUMENT, 'utf8');
    const [before, rest] = is.split(BEGIN);
    const [, after] = rest.split(END);
    return { is, should: `${before}${BEGIN}${render()}${END}${after}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    writeFileSync(DOCUMENT, compare().should);
}
