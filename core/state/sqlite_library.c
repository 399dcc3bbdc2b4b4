/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite_library.h"

#include "base/library.h"

#include <pthread.h>

#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "sqlite3_" #name, offsetof(hub_sqlite_library, name)                                       \
    }

static const hub_library_function FUNCTIONS[] = {
    FUNCTION(open_v2),      FUNCTION(close_v2),       FUNCTION(extended_result_codes),
    FUNCTION(system_errno), FUNCTION(errmsg),         FUNCTION(busy_timeout),
    FUNCTION(limit),        FUNCTION(get_autocommit), FUNCTION(prepare_v2),
    FUNCTION(step),         FUNCTION(finalize),       FUNCTION(bind_text),
    FUNCTION(bind_blob),    FUNCTION(bind_int64),     FUNCTION(column_blob),
    FUNCTION(column_bytes), FUNCTION(column_int64),
};

static const char LIBRARY[] = "libsqlite3.so.0";
static const char CURE[] = "install it (Debian: libsqlite3-0), or say `state: off`";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next two */
static hub_sqlite_library library;
static bool is_loaded;

hub_err hub_sqlite_library_load(const hub_sqlite_library **ret_library, hub_error *reterr)
{
    (void)pthread_mutex_lock(&lock);
    hub_err err = is_loaded
                      ? HUB_OK
                      : hub_library_load(LIBRARY, CURE, FUNCTIONS,
                                         sizeof FUNCTIONS / sizeof FUNCTIONS[0], &library, reterr);
    is_loaded = err == HUB_OK;
    (void)pthread_mutex_unlock(&lock);
    *ret_library = &library;
    return err;
}
