// SPDX-License-Identifier: Apache-2.0
// Every client of the matrix, every feature, with a legacy HTTP server behind the hub. See matrix_cells.mjs.

import { column } from './matrix_cells.mjs';

column('legacy HTTP');
