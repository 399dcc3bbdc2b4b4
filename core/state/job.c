/* SPDX-License-Identifier: Apache-2.0 */
#include "state/engine.h"

#include <stdlib.h>

enum { FIRST_ROOM = 4 };

bool hub_state_job_keep(hub_state_job *job, hub_str text, hub_str *ret_kept)
{
    char *copy = hub_arena_strdup(job->arena, text);
    if (copy == NULL) {
        (void)hub_fail(&job->error, HUB_ENOMEM, "out of memory");
        return false;
    }
    *ret_kept = (hub_str){.ptr = copy, .len = text.len};
    return true;
}

/* Room for one more record. What the array was before stays in the arena. */
static bool make_room(hub_state_job *job)
{
    size_t room = job->found_room > 0 ? 2 * job->found_room : FIRST_ROOM;
    if (job->found_count < job->found_room) {
        return true;
    }
    hub_state_record *grown = hub_arena_array(job->arena, room, sizeof *grown);
    if (grown == NULL) {
        (void)hub_fail(&job->error, HUB_ENOMEM, "out of memory");
        return false;
    }
    if (job->found_count > 0) {
        memcpy(grown, job->found, job->found_count * sizeof *grown);
    }
    job->found = grown;
    job->found_room = room;
    return true;
}

bool hub_state_job_add(hub_state_job *job, const hub_state_record *record)
{
    hub_state_record copy = *record;
    bool is_kept = make_room(job) && hub_state_job_keep(job, record->scope, &copy.scope) &&
                   hub_state_job_keep(job, record->kind, &copy.kind) &&
                   hub_state_job_keep(job, record->owner, &copy.owner) &&
                   hub_state_job_keep(job, record->key, &copy.key) &&
                   hub_state_job_keep(job, record->key_id, &copy.key_id) &&
                   hub_state_job_keep(job, record->document, &copy.document);
    if (is_kept) {
        job->found[job->found_count++] = copy;
    }
    return is_kept;
}
