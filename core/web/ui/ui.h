/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of the dashboard: its files at /ui, which are part of the program, and the exchange of a
 * one-time code for a session of the API. Served by listeners with `ui: true`. The files are for
 * everybody, since they show nothing: what is shown comes from the API, by the rights of who looks.
 * Thread: [loop].
 */
#ifndef HUB_WEB_UI_UI_H
#define HUB_WEB_UI_UI_H

#include "web/face.h"

/* Its instance is the hub_api. */
extern const hub_web_face HUB_WEB_UI;

#endif
