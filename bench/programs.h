/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that are one (programs.c). */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

int access_main(int argc, char **argv);
int micro_main(int argc, char **argv);

#endif
