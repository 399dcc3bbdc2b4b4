/* SPDX-License-Identifier: Apache-2.0 */
#include "http/failures.h"

#include "base/map.h"
#include "http/limits.h"

#include <stdlib.h>

enum { ADDRESS_BYTES = 64 }; /* an IPv6 address with a zone */

typedef struct failure {
    char address[ADDRESS_BYTES];
    uint32_t count;    /* since then */
    uint64_t since_ms; /* of the first of them */
    UT_hash_handle hh; /* uthash keeps the order of arrival */
} failure;

struct hub_http_failures {
    failure *table;
};

hub_http_failures *hub_http_failures_create(void)
{
    return calloc(1, sizeof(hub_http_failures));
}

static void forget(hub_http_failures *failures, failure *entry)
{
    HASH_DEL(failures->table, entry);
    free(entry);
}

void hub_http_failures_destroy(hub_http_failures *failures)
{
    if (failures == NULL) {
        return;
    }
    while (failures->table != NULL) {
        forget(failures, failures->table);
    }
    free(failures);
}

/* The entry of an address while it counts, else NULL. */
static failure *find(const hub_http_failures *failures, const char *address, uint64_t now_ms)
{
    failure *entry = NULL;
    HASH_FIND(hh, failures->table, address, (unsigned)strlen(address), entry);
    bool counts = entry != NULL && now_ms - entry->since_ms < HUB_HTTP_LIMIT_AUTH_WINDOW_MS;
    return counts ? entry : NULL;
}

uint32_t hub_http_failures_wait_s(const hub_http_failures *failures, const char *address,
                                  uint64_t now_ms)
{
    const failure *entry = find(failures, address, now_ms);
    if (entry == NULL || entry->count < HUB_HTTP_LIMIT_AUTH_FAILURES) {
        return 0;
    }
    uint64_t left_ms = HUB_HTTP_LIMIT_AUTH_WINDOW_MS - (now_ms - entry->since_ms);
    return (uint32_t)((left_ms + 999) / 1000);
}

/* For an address whose failures, if it has any, count no more. */
static void make_room(hub_http_failures *failures, const char *address)
{
    failure *entry = NULL;
    HASH_FIND(hh, failures->table, address, (unsigned)strlen(address), entry);
    if (entry != NULL) {
        forget(failures, entry);
    } else if (HASH_COUNT(failures->table) >= HUB_HTTP_LIMIT_AUTH_ADDRESSES) {
        forget(failures, failures->table);
    }
}

bool hub_http_failures_note(hub_http_failures *failures, const char *address, uint64_t now_ms)
{
    size_t len = strlen(address);
    failure *entry = find(failures, address, now_ms);
    if (entry != NULL) {
        entry->count++;
        return entry->count == HUB_HTTP_LIMIT_AUTH_FAILURES;
    }
    if (len >= ADDRESS_BYTES) {
        return false;
    }
    make_room(failures, address);
    entry = calloc(1, sizeof *entry);
    if (entry != NULL) {
        memcpy(entry->address, address, len);
        entry->count = 1;
        entry->since_ms = now_ms;
        HASH_ADD(hh, failures->table, address, (unsigned)len, entry);
        if (!hub_map_has_taken(&entry->hh)) {
            free(entry);
        }
    }
    return false;
}
