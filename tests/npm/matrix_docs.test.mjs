// SPDX-License-Identifier: Apache-2.0
// The document says what the matrix tries, and the table of exceptions speaks of nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ALL } from './matrix_cells.mjs';
import { compare } from './matrix_docs.mjs';
import { IMPOSSIBLE } from './matrix_table.mjs';

test('docs/COMPATIBILITY.md is what the matrix says', () => {
    const { is, should } = compare();
    assert.equal(is, should, 'run: node tests/npm/matrix_docs.mjs');
});

test('each exception is of a feature, and has its clause', () => {
    for (const { feature, clause, instead, client, upstream } of IMPOSSIBLE) {
        assert.ok(feature in ALL, feature);
        assert.match(clause, /^20\d\d-\d\d-\d\d [a-z/-]+, .+/);
        assert.ok(instead);
        assert.ok((client ?? upstream) !== undefined, `${feature} is not impossible everywhere`);
    }
});
