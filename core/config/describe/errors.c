/* SPDX-License-Identifier: Apache-2.0 */
/* docs/ERRORS.md, from the table of errors. */
#include "config/describe/describe.h"

#include "wire/mcp.h"

#include <string.h>

/* One row of a table; `code` is what clients see. */
typedef struct error_row {
    const char *code;
    const char *more; /* a second column, or NULL */
    const char *cause;
    const char *cure;
} error_row;

#define RPC_ROW(name, code, cause, cure)       {#code, #name, cause, cure},
#define TOOL_ROW(name, retryable, cause, cure) {"TOOL_" #name, #retryable, cause, cure},
#define OPERATION_ROW(name, cause, cure)       {"E_" #name, NULL, cause, cure},
#define HTTP_ROW(status, cause, cure)          {#status, NULL, cause, cure},

static const error_row RPC[] = {HUB_RPC_ERRORS(RPC_ROW)};
static const error_row TOOL[] = {HUB_TOOL_ERRORS(TOOL_ROW)};
static const error_row OPERATION[] = {HUB_OPERATION_ERRORS(OPERATION_ROW)};
static const error_row HTTP[] = {HUB_HTTP_ERRORS(HTTP_ROW)};

static const struct {
    const char *title;
    const char *about;
    const char *columns;
    const error_row *rows;
    size_t count;
} TABLES[] = {
    {"JSON-RPC errors", "`error.code` of an answer. `error.data` says more where it can.",
     "| code | name | cause | what helps |\n|---|---|---|---|\n", RPC, sizeof RPC / sizeof *RPC},
    {"Failed tools",
     "A tool's failure is a result with `isError`. `_meta[\"patchbay/error\"]` has `code`, "
     "`message` "
     "and `retryable`;\n`structuredContent` has them too, unless the tool promises a schema of its "
     "own. `retryable` is what the table says unless the\ncause is known better: a missing program "
     "is not worth another try.",
     "| code | retryable | cause | what helps |\n|---|---|---|---|\n", TOOL,
     sizeof TOOL / sizeof *TOOL},
    {"Failed changes of toolsets",
     "The same place has these codes where one of the hub's own tools fails.",
     "| code | cause | what helps |\n|---|---|---|\n", OPERATION,
     sizeof OPERATION / sizeof *OPERATION},
    {"HTTP", "Status of an answer over HTTP.", "| status | cause | what helps |\n|---|---|---|\n",
     HTTP, sizeof HTTP / sizeof *HTTP},
};

static void add_row(const error_row *row, hub_buf *out)
{
    hub_buf_printf(out, "| %s | ", row->code);
    if (row->more != NULL) {
        hub_buf_printf(out, "%s | ", row->more);
    }
    hub_buf_printf(out, "%s | %s |\n", row->cause, row->cure);
}

void hub_describe_errors(hub_buf *out)
{
    hub_buf_add(out,
                HUB_STR("# Errors\n\nEvery error that the hub itself answers, with its cause and "
                        "what helps. What a server behind the hub answers passes\n"
                        "unchanged, and is not here. The tables are written from "
                        "`core/wire/errors.h`. Exit codes of the command line are in\n"
                        "[CONFIGURATION.md](CONFIGURATION.md#command-line).\n"));
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        hub_buf_printf(out, "\n## %s\n\n%s\n\n%s", TABLES[i].title, TABLES[i].about,
                       TABLES[i].columns);
        for (size_t r = 0; r < TABLES[i].count; r++) {
            add_row(&TABLES[i].rows[r], out);
        }
    }
}
