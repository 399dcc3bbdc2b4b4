/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share. Thread: [loop]. */
#ifndef HUB_HUB_SKILLS_SKILLS_INTERNAL_H
#define HUB_HUB_SKILLS_SKILLS_INTERNAL_H

#include "hub/skills/skills.h"

typedef struct skill_gather skill_gather;

/* With a call. */
typedef struct call_skills {
    skill_gather *gather; /* of skills/list: what it is made of, until it is answered */
    char *toolset;        /* whose URIs its result is to be mapped to; NULL: it stays as it is */
    hub_buf result;       /* what its outcome has become */
} call_skills;

/* With a session: the lists that are being gathered. */
typedef struct session_skills {
    skill_gather *first;
} session_skills;

/* Whether some toolset that the client sees has skills. */
bool skills_are_served(const hub_request *request);

/* Answer that there is no such method, as where nobody has skills. */
void skills_refuse_method(const hub_request *request);

/* The call ends, or its session: nobody waits for what it asks for. */
void skill_gather_abandon(skill_gather *gather);
void skill_gather_destroy(skill_gather *gather);

#endif
