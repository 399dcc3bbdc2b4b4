/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is counted of calls: one entry for each tool that was called (or prompt, or other method of a
 * toolset), with one cell for each way to end. A cell has a counter for each class of principals, and
 * how long such calls took. Everything is made when it is first needed, and kept as long as the hub
 * lives: what a toolset did counts on when a reload brings it back. So how many time series there are
 * is bounded: what is beyond the bound is counted together, as tool "other". Thread: [loop].
 */
#ifndef HUB_HUB_METRICS_SERIES_H
#define HUB_HUB_METRICS_SERIES_H

#include "base/map.h"
#include "base/str.h"

/* The advised boundaries of the semantic conventions for MCP, and infinity. */
#define HUB_METRICS_BUCKETS        15
#define HUB_METRICS_FIRST_BOUND_US 10000
extern const uint64_t HUB_METRICS_BOUNDS_US[HUB_METRICS_BUCKETS - 1];
extern const char *const HUB_METRICS_BOUND_TEXTS[HUB_METRICS_BUCKETS];

/* What one histogram is to Prometheus: its buckets, sum and count. */
#define HUB_METRICS_HISTOGRAM_SERIES (HUB_METRICS_BUCKETS + 2)

/* W3C Trace Context: 32 hexadecimal digits. */
#define HUB_METRICS_TRACE_BYTES 32

/* Kinds of principals, as their names begin. */
typedef enum hub_metrics_class {
    HUB_METRICS_OTHER_CLASS,
    HUB_METRICS_LOCAL,
    HUB_METRICS_ANONYMOUS,
    HUB_METRICS_TOKEN,
    HUB_METRICS_JWT,
    HUB_METRICS_CERT,
    HUB_METRICS_UID,
    HUB_METRICS_CLASSES
} hub_metrics_class;

/* How a call ended. JSON-RPC errors are told apart by their code. */
typedef enum hub_metrics_end {
    HUB_METRICS_OK,
    HUB_METRICS_TOOL_ERROR,
    HUB_METRICS_RPC_INVALID_PARAMS,
    HUB_METRICS_RPC_METHOD_NOT_FOUND,
    HUB_METRICS_RPC_INTERNAL,
    HUB_METRICS_RPC_OTHER,
    HUB_METRICS_REFUSED,
    HUB_METRICS_CANCELLED,
    HUB_METRICS_UNAVAILABLE,
    HUB_METRICS_INVALID_INPUT,
    HUB_METRICS_NOT_IMPLEMENTED,
    HUB_METRICS_FAILED,
    HUB_METRICS_ENDS
} hub_metrics_end;

typedef struct hub_histogram {
    uint64_t counts[HUB_METRICS_BUCKETS]; /* of one bucket each, not of all below */
    uint64_t sum_us;
    /* The newest call with a trace: of which it was, when (since 1970), and how long it took. */
    char trace[HUB_METRICS_TRACE_BYTES];
    uint64_t trace_us;
    int64_t trace_at_ms; /* 0: there was none */
} hub_histogram;

typedef struct hub_metrics_cell {
    uint64_t ended[HUB_METRICS_CLASSES];
    hub_histogram server; /* from the request to its answer */
    hub_histogram
        client; /* … of which the server behind the hub took so long; empty: there is none */
} hub_metrics_cell;

typedef struct hub_series hub_series;
typedef struct hub_series_table hub_series_table;

struct hub_series {
    hub_series *next;                          /* of the table, oldest first */
    const char *method;                        /* a constant */
    const char *toolset;                       /* its key */
    const char *name;                          /* of the tool or prompt; empty: none */
    hub_metrics_cell *cells[HUB_METRICS_ENDS]; /* NULL: no call has ended so */
    uint64_t look_us;                          /* when a trace is looked for again; monotonic */
    uint64_t traced;                           /* the call whose trace that is; 0: none */
    char trace[HUB_METRICS_TRACE_BYTES];
    hub_series_table *table;
    UT_hash_handle hh;
    char key[]; /* method, toolset and name, each with its NUL */
};

/* owns:    the result, hub_series_table_destroy; NULL when out of memory */
hub_series_table *hub_series_table_create(void);
void hub_series_table_destroy(hub_series_table *table); /* NULL is fine */

/* So many time series at most, from now on; those that are there stay. */
void hub_series_table_limit(hub_series_table *table, size_t most);

/* The entry of that tool, or, where there is no room or no memory for one, or its name cannot be
 * a label, that of all others. * `method` is a constant. Lives as long as the table. */
hub_series *hub_series_of(hub_series_table *table, const char *method, hub_str toolset,
                          hub_str name);

/* The cell for an end. */
hub_metrics_cell *hub_series_open_cell(hub_series *series, hub_metrics_end end);

static inline hub_metrics_cell *hub_series_cell(hub_series *series, hub_metrics_end end)
{
    hub_metrics_cell *cell = series->cells[end];
    return cell != NULL ? cell : hub_series_open_cell(series, end);
}

const hub_series *hub_series_first(const hub_series_table *table);

/* Time series in use; calls that were counted as "other". */
size_t hub_series_table_used(const hub_series_table *table);
uint64_t hub_series_table_overflows(const hub_series_table *table);

/* The bucket of what took longer than the first bound. */
size_t hub_histogram_bucket(uint64_t took_us);

/* Most calls are below the first bound. */
static inline void hub_histogram_add(hub_histogram *histogram, uint64_t took_us)
{
    size_t at = took_us <= HUB_METRICS_FIRST_BOUND_US ? 0 : hub_histogram_bucket(took_us);
    histogram->counts[at]++;
    histogram->sum_us += took_us;
}

/* The words for labels. */
const char *hub_metrics_class_word(hub_metrics_class of);
const char *hub_metrics_outcome_word(hub_metrics_end end);
const char *hub_metrics_error_word(hub_metrics_end end); /* error.type; empty: none */

/* The class of a principal's name. */
extern const uint8_t HUB_METRICS_CLASS_BY_LETTER[256];
static inline hub_metrics_class hub_metrics_class_of(const char *principal)
{
    return (hub_metrics_class)HUB_METRICS_CLASS_BY_LETTER[(unsigned char)principal[0]];
}

#endif
