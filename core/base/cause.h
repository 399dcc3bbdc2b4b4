/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who causes what this thread does now, for events that change what clients see: their `by` names it.
 * A principal ("token:ann"), or one of the words below. Where something goes on later, who began it
 * keeps a copy, and sets it again. tests/check_events.py knows which events have it.
 * Thread: each has its own.
 */
#ifndef HUB_BASE_CAUSE_H
#define HUB_BASE_CAUSE_H

#include "base/log.h"

#define HUB_BY_HUB     "hub"    /* itself: time was up, a place came free */
#define HUB_BY_START   "start"  /* the hub begins */
#define HUB_BY_FILES   "files"  /* a file of the configuration, of tokens or of approvals changed */
#define HUB_BY_SIGNAL  "signal" /* SIGHUP */
#define HUB_BY_PLUGINS "plugins" /* a folder of plugins changed */
#define HUB_BY_SERVER  "server"  /* the toolset's own server, or its plugin */
#define HUB_BY_STORE   "store"   /* what is remembered; another process or replica wrote it */

/* Never NULL: HUB_BY_HUB where nobody has said. */
const char *hub_cause(void);

/* From now on it is that; returns what it was until now, to be set again. Both are borrowed. */
const char *hub_cause_set(const char *by);

/* The field of an event. */
#define HUB_F_BY HUB_F_TEXT("by", hub_cause())

#endif
