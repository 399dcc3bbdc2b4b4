/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c once more, against the scanner as machines without SSE2 compile it. The linker takes
 * hub_json_scan from here and leaves the library's own aside. */
#define HUB_JSON_PORTABLE 1
#include "wire/json_scan.c"

#include "test_json.c"
