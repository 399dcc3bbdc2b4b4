/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a target says twice what it hears, in pieces too, and holds it against something else. */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

/* 1: it does. 0: it feeds its parser once, so that ./work counts what the parser costs. */
#ifndef FUZZ_ORACLE
#define FUZZ_ORACLE 1
#endif

#endif
