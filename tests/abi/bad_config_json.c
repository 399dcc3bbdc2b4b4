/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of its config object is not JSON. */
#define STUB_CONFIG_SCHEMA "{\"type\": "
#define STUB_NAME          "bad_config_json"
#include "stub_plugin.h"
