/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a shared library that is loaded when it is needed. It stays loaded. Thread: [any]; who
 * may load the same from two threads holds a lock.
 */
#ifndef HUB_BASE_LIBRARY_H
#define HUB_BASE_LIBRARY_H

#include "base/err.h"

#include <stddef.h>

/* A function, and where its address goes: `offset` bytes into the struct of the library. */
typedef struct hub_library_function {
    const char *name;
    size_t offset;
} hub_library_function;

/* Fill `ret_functions` with the addresses of all `count` functions of `file` ("libcurl.so.4"); `cure`
 * says what to do when it is not there ("install it (Debian: libcurl4)").
 * errors:  HUB_EUNAVAILABLE (it cannot be loaded, or is too old): nothing stays loaded, and
 *          ret_functions may be written in part */
HUB_MUST_CHECK hub_err hub_library_load(const char *file, const char *cure,
                                        const hub_library_function *functions, size_t count,
                                        void *ret_functions, hub_error *reterr);

#endif
