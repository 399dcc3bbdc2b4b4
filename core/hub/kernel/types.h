/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the kernel, by name. What they are made of is the kernel's own (objects.h). */
#ifndef HUB_HUB_KERNEL_TYPES_H
#define HUB_HUB_KERNEL_TYPES_H

typedef struct hub_audience hub_audience;
typedef struct hub_binding hub_binding;
typedef struct hub_call hub_call;
typedef struct hub_call_table hub_call_table;
typedef struct hub_client hub_client;
typedef struct hub_orchestrator hub_orchestrator;
typedef struct hub_port hub_port;
typedef struct hub_principal hub_principal;
typedef struct hub_gate hub_gate;
typedef struct hub_lens hub_lens;
typedef struct hub_profile hub_profile;
typedef struct hub_session hub_session;
typedef struct hub_station hub_station;
typedef struct hub_toolset hub_toolset;

#endif
