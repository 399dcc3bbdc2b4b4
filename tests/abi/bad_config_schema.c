/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of its config object is JSON, but not a schema. */
#define STUB_CONFIG_SCHEMA "{\"type\": 42}"
#define STUB_NAME          "bad_config_schema"
#include "stub_plugin.h"
