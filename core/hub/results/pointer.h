/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a part of a result by a JSON Pointer (RFC 6901). A text that is JSON itself, as many tools
 * answer, is gone into. A pure function; any thread.
 */
#ifndef HUB_HUB_RESULTS_POINTER_H
#define HUB_HUB_RESULTS_POINTER_H

#include "base/buf.h"

/* The raw value at `pointer`, in `json` or in `text`, which is initialised, and holds what the value
 * lies in if that is part of a text. At most `most_bytes` of JSON are read.
 * errors:  HUB_ENOTFOUND, HUB_EINVAL (it is no pointer), HUB_ELIMIT, HUB_ENOMEM; the text is for the
 *          client */
HUB_MUST_CHECK hub_err hub_result_point(hub_str json, hub_str pointer, size_t most_bytes,
                                        hub_buf *text, hub_str *ret_value, hub_error *reterr);

#endif
