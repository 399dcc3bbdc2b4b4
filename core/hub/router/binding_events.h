/* SPDX-License-Identifier: Apache-2.0 */
/* What the instance behind a binding says, of its catalog, of its calls, of itself: who hears of it.
 * The context of the events is the binding. Thread: [loop]. */
#ifndef HUB_HUB_ROUTER_BINDING_EVENTS_H
#define HUB_HUB_ROUTER_BINDING_EVENTS_H

#include "modules/instance.h"

extern const hub_instance_events HUB_BINDING_EVENTS;

#endif
