/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/metrics/series.h"

#include "base/limits.h"

#include <stdlib.h>

/* spec: OpenTelemetry semantic conventions for MCP, mcp.server.operation.duration */
const uint64_t HUB_METRICS_BOUNDS_US[HUB_METRICS_BUCKETS - 1] = {
    HUB_METRICS_FIRST_BOUND_US,
    20000,
    50000,
    100000,
    200000,
    500000,
    1000000,
    2000000,
    5000000,
    10000000,
    30000000,
    60000000,
    120000000,
    300000000,
};
const char *const HUB_METRICS_BOUND_TEXTS[HUB_METRICS_BUCKETS] = {
    "0.01", "0.02", "0.05", "0.1",  "0.2",   "0.5",   "1.0",  "2.0",
    "5.0",  "10.0", "30.0", "60.0", "120.0", "300.0", "+Inf",
};

enum {
    /* A cell: a counter for each class, and two histograms. */
    CELL_SERIES = HUB_METRICS_CLASSES + 2 * HUB_METRICS_HISTOGRAM_SERIES,
    /* What is set aside for "other", whose cells are always to be had. */
    OTHER_SERIES = HUB_METRICS_ENDS * CELL_SERIES,
};

struct hub_series_table {
    hub_series *by_key; /* uthash */
    hub_series *first;
    hub_series *last;
    hub_series *other;
    size_t most;
    size_t used;
    hub_metrics_cell spare[HUB_METRICS_ENDS]; /* of "other": there is no memory to ask for */
};

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const CLASSES[HUB_METRICS_CLASSES] = {
    [HUB_METRICS_LOCAL] = "local",       [HUB_METRICS_ANONYMOUS] = "anonymous",
    [HUB_METRICS_TOKEN] = "token",       [HUB_METRICS_JWT] = "jwt",
    [HUB_METRICS_CERT] = "cert",         [HUB_METRICS_UID] = "uid",
    [HUB_METRICS_OTHER_CLASS] = "other",
};

static const struct {
    const char *outcome;
    const char *error;
} ENDS[HUB_METRICS_ENDS] = {
    [HUB_METRICS_OK] = {"ok", ""},
    [HUB_METRICS_TOOL_ERROR] = {"tool_error", "tool_error"},
    [HUB_METRICS_RPC_INVALID_PARAMS] = {"error", "-32602"},
    [HUB_METRICS_RPC_METHOD_NOT_FOUND] = {"error", "-32601"},
    [HUB_METRICS_RPC_INTERNAL] = {"error", "-32603"},
    [HUB_METRICS_RPC_OTHER] = {"error", "_OTHER"},
    [HUB_METRICS_REFUSED] = {"refused", "refused"},
    [HUB_METRICS_CANCELLED] = {"cancelled", "cancelled"},
    [HUB_METRICS_UNAVAILABLE] = {"unavailable", "unavailable"},
    [HUB_METRICS_INVALID_INPUT] = {"invalid_input", "invalid_input"},
    [HUB_METRICS_NOT_IMPLEMENTED] = {"not_implemented", "not_implemented"},
    [HUB_METRICS_FAILED] = {"failed", "failed"},
};

const char *hub_metrics_class_word(hub_metrics_class of)
{
    return CLASSES[of];
}

const char *hub_metrics_outcome_word(hub_metrics_end end)
{
    return ENDS[end].outcome;
}

const char *hub_metrics_error_word(hub_metrics_end end)
{
    return ENDS[end].error;
}

/* Kinds begin with different letters. What is not named here is HUB_METRICS_OTHER_CLASS. */
const uint8_t HUB_METRICS_CLASS_BY_LETTER[256] = {
    ['l'] = HUB_METRICS_LOCAL, ['a'] = HUB_METRICS_ANONYMOUS, ['t'] = HUB_METRICS_TOKEN,
    ['j'] = HUB_METRICS_JWT,   ['c'] = HUB_METRICS_CERT,      ['u'] = HUB_METRICS_UID,
};

/* ---- entries --------------------------------------------------------------------------------- */

static hub_series *make_series(hub_series_table *table, const char *method, hub_str toolset,
                               hub_str name)
{
    size_t method_len = strlen(method);
    hub_series *series = calloc(1, sizeof *series + method_len + toolset.len + name.len + 3);
    if (series == NULL) {
        return NULL;
    }
    char *at = series->key;
    series->table = table;
    series->method = method;
    (void)hub_str_put(&at, hub_str_of(method));
    series->toolset = ++at; /* behind a NUL */
    (void)hub_str_put(&at, toolset);
    series->name = ++at;
    (void)hub_str_put(&at, name);
    return series;
}

static void append(hub_series_table *table, hub_series *series)
{
    if (table->last != NULL) {
        table->last->next = series;
    } else {
        table->first = series;
    }
    table->last = series;
}

hub_series_table *hub_series_table_create(void)
{
    hub_series_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    table->other = make_series(table, "other", HUB_STR("other"), HUB_STR("other"));
    if (table->other == NULL) {
        free(table);
        return NULL;
    }
    append(table, table->other);
    table->most = HUB_LIMIT_METRICS_SERIES;
    return table;
}

void hub_series_table_destroy(hub_series_table *table)
{
    if (table == NULL) {
        return;
    }
    HASH_CLEAR(hh, table->by_key);
    hub_series *next;
    for (hub_series *series = table->first; series != NULL; series = next) {
        next = series->next;
        for (size_t i = 0; series != table->other && i < HUB_METRICS_ENDS; i++) {
            free(series->cells[i]);
        }
        free(series);
    }
    free(table);
}

void hub_series_table_limit(hub_series_table *table, size_t most)
{
    table->most = most;
}

static bool has_room(const hub_series_table *table)
{
    return table->used + CELL_SERIES + OTHER_SERIES <= table->most;
}

/* Whether it can be a label: a control character would end a line, or the text. */
static bool is_printable(hub_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

hub_series *hub_series_of(hub_series_table *table, const char *method, hub_str toolset,
                          hub_str name)
{
    hub_series *found;
    if (!is_printable(name)) {
        return table->other;
    }
    hub_series *made = make_series(table, method, toolset, name);
    if (made == NULL) {
        return table->other;
    }
    size_t len = strlen(method) + toolset.len + name.len + 2;
    HASH_FIND(hh, table->by_key, made->key, len, found);
    if (found != NULL || !has_room(table)) {
        free(made);
        return found != NULL ? found : table->other;
    }
    HASH_ADD_KEYPTR(hh, table->by_key, made->key, len, made);
    if (!hub_map_has_taken(&made->hh)) {
        free(made);
        return table->other;
    }
    append(table, made);
    return made;
}

/* The one of all others is never refused, and needs no memory. */
hub_metrics_cell *hub_series_open_cell(hub_series *series, hub_metrics_end end)
{
    hub_series_table *table = series->table;
    bool is_other = series == table->other;
    hub_metrics_cell *cell = !is_other && has_room(table) ? calloc(1, sizeof *cell) : NULL;
    if (cell != NULL) {
        series->cells[end] = cell;
        table->used += CELL_SERIES;
        return cell;
    }
    if (table->other->cells[end] == NULL) {
        table->other->cells[end] = &table->spare[end];
    }
    return table->other->cells[end];
}

const hub_series *hub_series_first(const hub_series_table *table)
{
    return table->first;
}

size_t hub_series_table_used(const hub_series_table *table)
{
    return table->used;
}

uint64_t hub_series_table_overflows(const hub_series_table *table)
{
    uint64_t count = 0;
    for (size_t end = 0; end < HUB_METRICS_ENDS; end++) {
        for (size_t i = 0; i < HUB_METRICS_CLASSES; i++) {
            count += table->spare[end].ended[i];
        }
    }
    return count;
}

size_t hub_histogram_bucket(uint64_t took_us)
{
    size_t at = 0;
    while (at < HUB_METRICS_BUCKETS - 1 && took_us > HUB_METRICS_BOUNDS_US[at]) {
        at++;
    }
    return at;
}
