/* SPDX-License-Identifier: Apache-2.0 */
/* add for a bundle (.mcpb). */
#ifndef HUB_CLI_BUNDLE_H
#define HUB_CLI_BUNDLE_H

#include "cli/cli.h"

/* Whether the argument of add is a bundle: a file or URL that ends with .mcpb. */
bool cli_is_bundle(const char *word);

/* Fetch it, unpack it, show it, and add it once somebody agrees. `digest` (64 hexadecimal digits) is
 * what its file must have; NULL: that of --digest, which a URL needs. `key`: of the toolset; NULL: one
 * made of its name. */
int cli_add_bundle(cli_options *options, const char *source, const char *digest, const char *key);

#endif
