/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A face (web/face.h) at work on one request of one connection: what it sees of the request, and
 * the exchange that it answers on, at once or later. Thread: [loop].
 */
#ifndef HTTP_FACE_H
#define HTTP_FACE_H

#include "http/internal.h"

/* Call the function of the task's row. When this returns, it has answered, or the connection waits.
 */
void hub_http_face_serve(const hub_http_task *task);

#endif
