/* SPDX-License-Identifier: Apache-2.0 */
#include "state/clash.h"

#include "base/buf.h"
#include "wire/json.h"

enum { OPENED_BYTES = 1024 * 1024 };

static hub_err refuse(hub_state_job *job, const hub_state_record *given, uint64_t version)
{
    hub_state_record there = *given;
    there.version = version;
    there.document = HUB_STR_EMPTY;
    if (!hub_state_job_add(job, &there)) {
        return HUB_ENOMEM;
    }
    return hub_fail(&job->error, HUB_ECONFLICT,
                    "the record \"" HUB_STR_FMT "\" of kind " HUB_STR_FMT
                    " and owner \"" HUB_STR_FMT
                    "\" is in the store already with other content (version %llu): nothing was "
                    "imported. Say whose is to stay: --keep the store's, or --replace it",
                    HUB_STR_ARG(given->key), HUB_STR_ARG(given->kind), HUB_STR_ARG(given->owner),
                    (unsigned long long)version);
}

/* Whether they differ in white space alone: an export has none. */
static bool is_same(hub_str a, hub_str b)
{
    hub_buf first;
    hub_buf second;
    if (hub_str_eq(a, b)) {
        return true;
    }
    hub_buf_init_secret(&first, OPENED_BYTES);
    hub_buf_init_secret(&second, OPENED_BYTES);
    hub_json_add_compact(&first, a);
    hub_json_add_compact(&second, b);
    bool is_same = hub_buf_ok(&first) && hub_buf_ok(&second) &&
                   hub_str_eq(hub_buf_str(&first), hub_buf_str(&second));
    hub_buf_fini(&second);
    hub_buf_fini(&first);
    return is_same;
}

hub_err hub_state_judge_clash(hub_state_job *job, const hub_state_record *given, hub_str there,
                              uint64_t version, bool *ret_is_written)
{
    *ret_is_written = false;
    if (is_same(there, given->document)) {
        job->report.same++;
        return HUB_OK;
    }
    if (job->clash == HUB_STATE_CLASH_REFUSE) {
        return refuse(job, given, version);
    }
    *ret_is_written = job->clash == HUB_STATE_CLASH_REPLACE;
    job->report.replaced += *ret_is_written;
    job->report.kept += !*ret_is_written;
    return HUB_OK;
}
