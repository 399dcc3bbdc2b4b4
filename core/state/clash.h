/* SPDX-License-Identifier: Apache-2.0 */
/* What an import does with a record that is there already: the same for every engine. Any thread. */
#ifndef HUB_STATE_CLASH_H
#define HUB_STATE_CLASH_H

#include "state/engine.h"

/* Judge a record of an import against the document that is there, with its version: both opened. It is
 * counted in the job's report. *ret_is_written: it is to be written.
 * errors:  HUB_ECONFLICT (nothing may be imported: the job says why, and has the record), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_judge_clash(hub_state_job *job, const hub_state_record *given,
                                             hub_str there, uint64_t version, bool *ret_is_written);

#endif
