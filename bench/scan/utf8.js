// SPDX-License-Identifier: Apache-2.0
// simdutf's validation of files, as Node has it built in: "FILE simdutf BYTES NANOSECONDS", the fastest of many runs.
//
//     node utf8.js RUNS FILE...
"use strict";
const { isUtf8 } = require("node:buffer");
const { readFileSync } = require("node:fs");

const [runs, ...files] = process.argv.slice(2);
for (const file of files) {
  const bytes = readFileSync(file);
  let best = Infinity;
  for (let run = 0; run < Number(runs); run++) {
    const start = process.hrtime.bigint();
    if (!isUtf8(bytes)) throw new Error(`${file} is not UTF-8`);
    best = Math.min(best, Number(process.hrtime.bigint() - start));
  }
  console.log(`${file} simdutf ${bytes.length} ${best}`);
}
