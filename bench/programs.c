/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro and access as one program, which does what the name says that it is called by: to optimise either as a whole,
 * with the hub in it, takes most of a minute.
 */
#include "programs.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int main(int argc, char **argv)
{
    bool is_access = strcmp(program_invocation_short_name, "access") == 0;
    return is_access ? access_main(argc, argv) : micro_main(argc, argv);
}
